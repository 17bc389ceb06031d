"""Study a fabric for its report page, and say what the page was made of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rocefort import __version__
from rocefort.base.clock import utc_now
from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.base.progress import Step, tracked
from rocefort.design.git_revisions import commit_of, existing, git, top_of
from rocefort.design.subject import ReadNetwork, write_files
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.data import sources_of
from rocefort.models.finding import Report
from rocefort.models.network.network import Node, Position, Sources
from rocefort.validators.checks import check, titles
from rocefort.validators.facts.headroom import PortDemand, port_demands
from rocefort.validators.routing.engine import ENGINE, analyse
from rocefort.validators.rules.verification.subject import verify, verify_failures
from rocefort.verification.capacity import DemandFile, capacity_of
from rocefort.verification.failures import study_failures
from rocefort.verification.page.content import DeviceBudget, PageContent, PortBudget, Provenance
from rocefort.verification.page.page import page

PAGE = "index.html"


def fabric_page(
    subject: ReadNetwork, given: DemandFile | None = None, provenance: Provenance | None = None
) -> str:
    """HTML page of a fabric: topology, findings, embedded verification, and every text.

    given: a traffic demand to compare with its capacity.
    """
    network = subject.network
    solution = analyse(network, subject.sources)
    failing = study_failures(subject, None, solution)

    def report_of(sources: Sources) -> Report:
        report = check(network, sources).joined(verify(network, solution.state, sources, solution))
        study = failing.study
        return report.joined(verify_failures(network, study, sources)) if study else report

    texts: dict[str, Position] = {}
    for name, text in tracked(subject.texts.items(), "places"):
        dialect = dialect_of(network.by_name[name])
        texts |= sources_of(dialect.parse(text, f"{name}.cfg"), f"{name}.cfg")
    demands = port_demands(network)
    with Step("page"):
        return page(
            PageContent(
                network=network,
                report=report_of(subject.sources),
                texts=subject.texts,
                text_report=report_of(Sources(texts)),
                routing=solution.state,
                budgets=tuple(_budget(node, demands.get(node.name, ())) for node in network.nodes),
                titles=titles(),
                failures=failing.study,
                failures_note=failing.note,
                capacity=capacity_of(subject, given, solution) if given and given.demand else None,
                provenance=provenance,
            )
        )


def write_page(text: str, directory: Path) -> Path:
    """Write the page atomically."""
    (path,) = write_files({PAGE: text}, directory)
    return path


def _budget(node: Node, demands: Sequence[PortDemand]) -> DeviceBudget:
    fact = node.hardware.buffer_kbytes if node.hardware else None
    return DeviceBudget(
        device=node.name,
        buffer_kbytes=fact.value if fact else None,
        buffer_confirmed=fact.confirmed if fact else True,
        buffer_source=fact.source if fact else "",
        xoff_kbytes=_sum([demand.xoff_kbytes for demand in demands]),
        headroom_kbytes=_sum([demand.kept_kbytes for demand in demands]),
        ports=tuple(
            PortBudget(
                interface=demand.port.end.interface,
                speed_gbps=demand.port.speed_gbps,
                cable_m=demand.port.cable_m,
                xoff_kbytes=demand.xoff_kbytes,
                headroom_kbytes=demand.headroom_kbytes,
                needed_kbytes=demand.needed_kbytes,
            )
            for demand in demands
        ),
    )


def _sum(values: Sequence[int | None]) -> int | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers) if len(numbers) == len(values) else None


def provenance_of(source: Path) -> Provenance:
    """Provenance of a page made of a fabric or of a directory of configurations.

    Outside of git, without git, and before the first commit there is no revision. Uncommitted are
    changes of any tracked file, because a site's hardware and profiles count too, and a source
    that git does not track.
    """
    path = (existing(source) or source).resolve()
    shown, revision, uncommitted = path, "", None
    try:
        top = top_of(path).resolve()
        shown = path.relative_to(top)
        revision = commit_of(top, "HEAD")
        status = ("status", "--porcelain")
        uncommitted = bool(
            git(top, *status, "--untracked-files=no")
            or git(top, *status, "--ignored", "--", str(path))
        )
    except (BadInput, ServiceFailed):
        pass  # the page shows that there is none
    return Provenance(
        made=utc_now(),
        version=__version__,
        engine=f"{ENGINE} engine of Rocefort {__version__}",
        source=str(shown),
        revision=revision,
        uncommitted=uncommitted,
    )
