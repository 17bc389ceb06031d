"""Report page: study a fabric, and write one HTML file with its findings and their places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocefort import __version__
from rocefort.base.clock import utc_now
from rocefort.base.progress import Step, tracked
from rocefort.design.git_revisions import commit_state
from rocefort.design.subject import ReadNetwork, write_files
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.data import sources_of
from rocefort.models.finding import Report, Severity
from rocefort.models.network.network import Network, Node, Position, Sources, SwitchRole
from rocefort.models.wording import count_of
from rocefort.reports.page_parts import PageTable, as_json_value
from rocefort.reports.wording import (
    because,
    by_cause,
    group_items,
    name_ranges,
    severity_counts,
    unjudged,
    verdict,
)
from rocefort.reports.writers.pages import PageHead, framed_page
from rocefort.validators.checks import check, titles
from rocefort.validators.facts.headroom import PortDemand, port_demands
from rocefort.validators.routing.engine import ENGINE, analyse
from rocefort.validators.routing_results import RoutingState, SegmentPair, SessionStatus
from rocefort.validators.rules.verification.answers import verify, verify_failures
from rocefort.verification.capacity import DemandFile, capacity_of
from rocefort.verification.failures import study_failures
from rocefort.verification.page.content import (
    BufferFit,
    DeviceBudget,
    PageContent,
    PortBudget,
    Provenance,
)
from rocefort.verification.page.ecmp import failure_table, matrix_of, paths_of
from rocefort.verification.page.findings_section import (
    KINDS,
    UNJUDGED,
    WAIVED,
    VerdictGroup,
    alerts_of,
    groups_of,
    worst_of,
)
from rocefort.verification.page.network_tables import packed_texts, tables_of
from rocefort.verification.page.pictures import LEVELS, OVER, picture, topology_of

__all__ = ["BufferFit", "DeviceBudget", "PageContent", "PortBudget", "Provenance", "page"]

LABELS = {
    "error": "error",
    "warning": "warning",
    "info": "info",
    WAIVED: "waived",
    UNJUDGED: "not judged",
}
SCRIPTS = tuple(
    f"page{part}.js" for part in ("_common", "_combobox", "_tables", "_topology", "_routing", "")
)
MOST = 20  # sessions and server pairs named


def page(content: PageContent) -> str:
    """The page of a fabric; same content, same bytes."""
    groups = groups_of(content)
    worst = worst_of(content.network, groups)
    tables = _tables(content)
    topology = topology_of(content.network, worst)
    paths = paths_of(content.network, content.routing)
    matrix = matrix_of(paths)
    unjudged_causes = _by_cause(content.report, groups)
    shown: dict[str, object] = {
        "content": content,
        "network": content.network,
        "sizes": _sizes(content.network),
        "kinds": KINDS,
        "labels": LABELS,
        "alerts": alerts_of(content.network, groups, worst.common, content.titles),
        "findings": _by_rule(group for group in groups if group.kind != UNJUDGED),
        "unjudged": unjudged_causes,
        "topology": topology,
        "common": worst.common,
        "counts": worst.counts,
        "bars": list(_bars(content)),
        "capacity": picture(content.capacity),
        "routing": _routing(content.routing),
        "most": MOST,
        "levels": (*((name, f"to {share:.0%}") for share, name in LEVELS), (OVER, "more")),
        "paths": paths,
        "matrix": matrix,
        "tables": tables,
    }
    data = {
        "labels": LABELS,
        "groups": [_group(group) for group in groups],
        "tables": as_json_value(tables),
        "topology": topology.as_json_value(),
        **packed_texts(content.texts),
        "paths": paths.as_json_value() if paths else None,
        "matrix": matrix.as_json_value() if matrix and not matrix.uniform else None,
    }
    sections = (
        ("topology", "Topology"),
        ("findings", "Findings"),
        *((("unjudged", "Not judged"),) if unjudged_causes else ()),
        ("routing", "Routing"),
        *((("ecmp", "ECMP"),) if matrix else ()),
        ("budget", "Budget"),
        *((("capacity", "Capacity"),) if shown["capacity"] else ()),
        *((table.id, table.title) for table in tables),
        ("configurations", "Configurations"),
    )
    head = _head(content, sections)
    return framed_page("page.html.j2", head, shown, files=SCRIPTS, data=data)


def _head(content: PageContent, sections: tuple[tuple[str, str], ...]) -> PageHead:
    network, report = content.network, content.report
    read = ["read from configurations"] if network.origin == "text" else []
    words = verdict(report)
    return PageHead(
        title=f"{network.name}: {words}",
        heading=network.name,
        verdict=words,
        tone="failed" if report.failed else "clean",
        sizes=(*_sizes(network), *read),
        tiles=(*_tiles(report), ("quiet", count_of(len(report.rules), "rule"))),
        provenance=_provenance(content),
        sections=sections,
    )


def _provenance(content: PageContent) -> list[tuple[str, str]]:
    """Names and values of the origin of the page."""
    made = content.provenance
    if made is None:
        return []
    return [
        ("Made", f"{made.made_text} by Rocefort {made.version}"),
        ("From", f"{made.source}, {made.revision_text}"),
        ("Routing", f"verified by the {made.engine}" if content.routing else "not verified"),
    ]


def _tables(content: PageContent) -> tuple[PageTable, ...]:
    failures = failure_table(content.failures, content.failures_note)
    return (*((failures,) if failures else ()), *tables_of(content))


def _sizes(network: Network) -> list[str]:
    roles = [node.role for node in network.nodes]
    sizes = [
        count_of(roles.count(SwitchRole.SPINE), "spine"),
        count_of(roles.count(SwitchRole.LEAF), "leaf"),
    ]
    if None in roles:
        sizes.append(f"{count_of(roles.count(None), 'switch')} of unknown role")
    sizes.append(
        "links not known" if network.links is None else count_of(len(network.links), "link")
    )
    servers = network.servers
    sizes.append("servers not known" if servers is None else count_of(len(servers), "server"))
    return sizes


def _tiles(report: Report) -> list[tuple[str, str]]:
    """Kind and words of each count in the head."""
    words = {
        severity: f"{count} info" if severity is Severity.INFO else count_of(count, severity)
        for severity, count in severity_counts(report).items()
    }
    waived = [(WAIVED, f"{len(report.waived)} waived")] if report.waived else []
    return [*((s.value, text) for s, text in words.items()), *waived, (UNJUDGED, unjudged(report))]


def _by_rule(groups: Iterable[VerdictGroup]) -> dict[tuple[str, str], list[VerdictGroup]]:
    return group_items(groups, lambda group: group.heading)


def _by_cause(
    report: Report, groups: Iterable[VerdictGroup]
) -> dict[str, dict[tuple[str, str], list[VerdictGroup]]]:
    """Verdicts that were not judged: by cause with its count, then by rule."""
    unjudged_groups = [group for group in groups if group.kind == UNJUDGED]
    return {
        because(len(entries), cause): _by_rule(g for g in unjudged_groups if g.cause == cause)
        for cause, entries in by_cause(report.not_judged).items()
    }


def _group(group: VerdictGroup) -> dict[str, object]:
    """A group for the script: it draws the places, and the notes in the configurations."""
    return {
        "kind": group.kind,
        "rule": group.rule,
        "message": group.message,
        "places": [
            [
                place.where.device,
                place.where.interface,
                place.text_line,
                f"{place.where.file}:{place.where.line}" if place.where.file else None,
            ]
            for place in group.places
        ],
    }


@dataclass(frozen=True, slots=True)
class Bar:
    """Budgets of switches that are alike; shares in percent of the bar.

    The whole bar is the buffer, or the demand where that is larger: then `end_percent` is where
    the buffer ends. An unknown buffer or demand is not drawn at all.
    """

    devices: tuple[str, ...]
    name: str
    hardware: str
    budget: DeviceBudget
    drawn: bool
    xoff_percent: float
    headroom_percent: float
    end_percent: float | None
    words: str
    split: str


def _bars(content: PageContent) -> Iterator[Bar]:
    """One bar for all switches with the same hardware and figures; the worst first."""
    models = {n.name: n.hardware.model for n in content.network.nodes if n.hardware}

    def same(budget: DeviceBudget) -> tuple[object, ...]:
        figures = budget.model_copy(update={"device": "", "ports": ()})
        return figures, len(budget.ports), models.get(budget.device, "hardware not known")

    order = (BufferFit.OVER, BufferFit.UNKNOWN, BufferFit.UNCONFIRMED, BufferFit.FITS)
    alike = group_items(content.budgets, same).items()
    for (*_, model), budgets in sorted(alike, key=lambda item: order.index(item[1][0].fit)):
        yield _bar(tuple(budget.device for budget in budgets), str(model), budgets[0])


def _bar(devices: tuple[str, ...], model: str, budget: DeviceBudget) -> Bar:
    size, over = budget.buffer_kbytes or 0, budget.fit is BufferFit.OVER
    scale = max(size, budget.demand_kbytes or 0, 1)
    return Bar(
        devices=devices,
        name=", ".join(name_ranges(devices)),
        hardware=model,
        budget=budget,
        drawn=budget.fit is not BufferFit.UNKNOWN,
        xoff_percent=100 * (budget.xoff_kbytes or 0) / scale,
        headroom_percent=100 * (budget.headroom_kbytes or 0) / scale,
        end_percent=100 * size / scale if over else None,
        words=_budget_words(budget),
        split=_split(budget),
    )


def _budget_words(budget: DeviceBudget) -> str:
    demand, size = budget.demand_kbytes, budget.buffer_kbytes
    if demand is None:
        had = "a buffer that is not known either" if size is None else f"{_kbytes(size)} of buffer"
        return f"what the ports may take of {had} cannot be added up"
    if size is None:
        return f"{_kbytes(demand)} of a buffer that is not known"
    share = f"{_kbytes(demand)} of {_kbytes(size)}, {100 * demand / max(size, 1):.1f} %"
    return f"{share}: {_kbytes(demand - size)} too much" if budget.fit is BufferFit.OVER else share


def _split(budget: DeviceBudget) -> str:
    parts = (("xoff", budget.xoff_kbytes), ("headroom", budget.headroom_kbytes))
    told = [f"{name} {'not known' if kb is None else _kbytes(kb)}" for name, kb in parts]
    ports = [count_of(len(budget.ports), "lossless port")] if budget.ports else []
    return ", ".join((*told, *ports))


def _kbytes(number: int) -> str:
    return f"{number:,} KB"


def _lost_pairs_text(pair: SegmentPair) -> str:
    """`compute to storage: 3 of 12 pairs, first node01 to store01`."""
    lost, first = pair.pairs - pair.delivered, " to ".join(pair.witness or ())
    return f"{pair.source} to {pair.destination}: {lost:,} of {pair.pairs:,} pairs, first {first}"


def _routing(state: RoutingState | None) -> dict[str, object] | None:
    """Return the results of a verification in the words of the page."""
    if state is None:
        return None
    widths = Counter(route.width for route in state.routes)
    reached = state.reachability
    return {
        "engine": state.engine,
        "up": sum(s.status is SessionStatus.ESTABLISHED for s in state.sessions),
        "sessions": len(state.sessions),
        "down": [
            f"{s.device} {s.peer}: {s.status.value}"
            for s in state.sessions
            if s.status is not SessionStatus.ESTABLISHED
        ],
        "routes": len(state.routes),
        "widths": [f"{widths[width]:,} of width {width}" for width in sorted(widths)],
        "pairs": reached.pairs,
        "delivered": reached.delivered,
        "lost": [_lost_pairs_text(pair) for pair in reached.by_segment() if pair.witness],
    }


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
    """Provenance of a page made of a fabric or of a directory of configurations."""
    state = commit_state(source)
    return Provenance(
        made=utc_now(),
        version=__version__,
        engine=f"{ENGINE} engine of Rocefort {__version__}",
        source=state.path,
        revision=state.commit,
        uncommitted=state.uncommitted,
    )
