"""Steps of a review: what a change in git does to a fabric, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocefort.dialects.vrp.parse import Parsed, parse
from rocefort.dialects.vrp.provenance import changed_lines
from rocefort.documents.difference import document_changes
from rocefort.documents.read import Document
from rocefort.errors import BadInput, Problem
from rocefort.models.difference import Difference
from rocefort.models.fabric_routing import Capacity
from rocefort.models.finding import Report
from rocefort.models.network import Network, Node, Role, Sources
from rocefort.models.review import (
    Blast,
    FindingsChange,
    IntentChange,
    ManagementPath,
    Review,
    SwitchLines,
)
from rocefort.reports.review_json import review_json
from rocefort.reports.review_markdown import review_markdown
from rocefort.reports.review_page import review_page
from rocefort.reports.review_sarif import review_sarif
from rocefort.rollout.blast import blast_radius
from rocefort.rollout.difference import Side, difference
from rocefort.rollout.management_path import management_path
from rocefort.steps.comparing import switches_of
from rocefort.steps.reporting import rule_texts
from rocefort.steps.review_advice import advice_on, without_live_patches
from rocefort.steps.review_drain import Sight
from rocefort.steps.review_findings import findings_change
from rocefort.steps.review_lines import origins, switch_lines
from rocefort.steps.review_renames import (
    Renames,
    under_new_names,
    with_old_sysnames,
)
from rocefort.steps.review_sides import ReviewSide, Sides, read_sides
from rocefort.steps.review_verification import Asking, Outcome, Version, verify_both
from rocefort.steps.together import put_together
from rocefort.steps.verifying import TOKEN
from rocefort.validators import check, titles
from rocefort.validators.batfish_access import service_at
from rocefort.validators.engines import Engine

MARKDOWN, PAGE, JSON, SARIF = "review.md", "review.html", "review.json", "review.sarif"


@dataclass(frozen=True)
class ReviewRequest:
    """As it was asked for on the command line."""

    fabric: Path | None
    base: str
    head: str
    engine: Engine
    batfish: str
    failures: str | None = None


@dataclass(frozen=True)
class _Text:
    """A switch's configuration with what it says."""

    text: str
    parsed: Parsed


def make_review(asked: ReviewRequest) -> Review:
    """Review a change; raises BadInput, ServiceFailed or Refused, and then there is no review."""
    service = service_at(asked.batfish, os.environ.get(TOKEN, ""))
    sides, names = under_new_names(read_sides(asked.fabric, asked.base, asked.head))
    base, head = sides.base, sides.head
    before = base.derived if base else None
    after = head.derived
    if after is None:  # a head that does not parse is refused where it is read
        raise LookupError(head.path)
    was, will = _switches(sides, names)
    changed = without_live_patches(_difference(sides, was, will))
    touched = [switch.device for switch in changed.changed if switch.change.edits]
    fresh = [switch.device for switch in changed.only_after]
    asked_for = list(will.switches) if base and not before else [*touched, *fresh]
    texts, network = _read_back(after.network, will, asked_for)
    version = Version(before.network, base.sources) if base and before else None
    asking = Asking(asked.engine, service, asked.failures)
    verified = verify_both(version, Version(network, head.sources), changed, asking)
    report = check(network, head.sources)
    found = _findings(version, network, report, verified)
    intent = tuple(_intent(sides))
    sight = _sight(sides, names, changed, network, verified)
    lines: tuple[SwitchLines, ...] = ()
    blast, management = Blast(), ManagementPath()
    if sight is not None:
        told = {name: texts[name] for name in touched}
        lines = tuple(_lines(sight, was, will, told, intent))
        blast = blast_radius(sight.before, network, changed, sight.intents)
        management = management_path(sight.before, network, changed)
    return Review(
        fabric=after.fabric.fabric,
        file=head.path,
        base=sides.base_title,
        head=head.title,
        notes=sides.notes,
        base_problems=base.problems if base else (),
        intent=intent,
        difference=changed,
        lines=lines,
        advice=advice_on(sight, intent) if sight else (),
        blast=blast,
        management=management,
        findings=found,
        report=report.joined(verified.head),
        verification=verified.told,
    )


def write_review(review: Review, directory: Path, page_url: str = PAGE) -> list[Path]:
    """Write all four forms, and put them in place together once all are written.

    page_url: where the page will be. Raises BadInput where they cannot be written.
    """
    names = titles()
    files = {
        MARKDOWN: review_markdown(review, names, page=page_url),
        PAGE: review_page(review, names),
        JSON: review_json(review),
        SARIF: review_sarif(review, rule_texts()),
    }
    return put_together(files, directory)


def _sight(
    sides: Sides, names: Renames, changed: Difference, network: Network, verified: Outcome
) -> Sight | None:
    """What the effects of a change are judged by; None where there is nothing to compare with."""
    before, after = sides.base.derived if sides.base else None, sides.head.derived
    if before is None or after is None:
        return None
    return Sight(
        before=before.network,
        after=network,
        change=changed,
        intents={s.name: s for fabric in (before.fabric, after.fabric) for s in fabric.servers},
        renames=names,
        file=sides.head.path,
        canary=after.fabric.rollout.canary,
        solved=verified.start,
        retired=tuple(_retired(after.fabric.capacity)),
    )


def _lines(
    sight: Sight,
    was: Side,
    will: Side,
    texts: Mapping[str, _Text],
    intent: Sequence[IntentChange],
) -> Iterator[SwitchLines]:
    """Changed lines of the switches that have both texts, with the YAML that each comes from."""
    old = origins(was.sources, sight.before, intent, head=False)
    new = origins(will.sources, sight.after, intent, head=True)
    for name, now in texts.items():
        found = changed_lines(was.switches[name].rendered, now.text, now.parsed)
        yield switch_lines(name, found, old, new)


def _retired(capacity: Capacity) -> Iterator[tuple[Role, int]]:
    yield from ((Role.SPINE, id_) for id_ in capacity.retired_spines)
    yield from ((Role.LEAF, id_) for id_ in capacity.retired_leaves)


def _switches(sides: Sides, names: Renames) -> tuple[Side, Side]:
    """The switches of both sides; each is rendered once, when its text is first asked for."""
    if sides.base is None:
        return Side(sides.base_title, {}, Sources()), _side(sides.head)
    return with_old_sysnames(_side(sides.base), names), _side(sides.head)


def _difference(sides: Sides, was: Side, will: Side) -> Difference:
    """The change of every switch; none is told where the base could not be derived."""
    if sides.base is not None and sides.base.derived is None:
        return Difference(before=sides.base_title, after=will.name, compared=0, switches=())
    return difference(was, will, sides.head.families)


def _side(side: ReviewSide) -> Side:
    derived = side.derived
    network = derived.network if derived else None
    switches = dict(switches_of(network, side.sources, {})) if network else {}
    return Side(side.title, switches, side.sources)


def _read_back(
    network: Network, side: Side, names: Collection[str]
) -> tuple[Mapping[str, _Text], Network]:
    """Texts of some switches, and the network as those texts say it.

    A switch with the Device that the base has was read back when that was reviewed. Raises
    BadInput where a text does not say what was derived.
    """
    wanted = set(names)
    found: dict[str, _Text] = {}
    nodes: list[Node] = []
    problems: list[Problem] = []
    for node in network.nodes:
        if node.name not in wanted:
            nodes.append(node)
            continue
        text = side.switches[node.name].rendered
        parsed = parse(text, f"{node.name}.cfg")
        if parsed.unmodelled or parsed.device != node.device:
            problems.append(Problem(node.name, "its text does not say what was derived"))
        found[node.name] = _Text(text, parsed)
        nodes.append(node.model_copy(update={"device": parsed.device}))
    if problems:
        raise BadInput(problems=problems)
    return found, network.model_copy(update={"nodes": tuple(nodes)})


def _findings(
    base: Version | None, network: Network, report: Report, verified: Outcome
) -> FindingsChange:
    """Findings of the head against those of the base; all are new where there is no base."""
    now = report.joined(verified.head).findings
    if base is None:
        return findings_change((), now)
    same = base.network == network
    was = report if same else check(base.network, base.sources)
    before = was.joined(verified.base) if verified.base else was
    return findings_change(before.findings, now)


def _intent(sides: Sides) -> Iterator[IntentChange]:
    """What differs in the fabric, then in the repository's hardware and profiles."""
    base, head = sides.base, sides.head
    if base is None:  # all of it is new, which a note says
        return
    names = dict.fromkeys((*head.others, *base.others))
    found: list[tuple[str, Document | None, Document | None]] = [
        (f"{name}: ", base.others.get(name), head.others.get(name)) for name in names
    ]
    if base.document:
        found.insert(0, ("", base.document, head.document))
    for prefix, old, new in found:
        for change in document_changes(old, new):
            yield change.model_copy(
                update={
                    "path": prefix + change.path,
                    "before_at": base.names.place(change.before_at),
                    "after_at": head.names.place(change.after_at),
                }
            )
