"""Traffic demand compared with fabric capacity, with and without failures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, Problem
from rocefort.change.effects.drain import can_drain, with_drained
from rocefort.design.load.documents import demand_beside, load_demand
from rocefort.design.subject import ReadNetwork, subject_of
from rocefort.models.network.demand import Demand, with_beamlines
from rocefort.models.network.network import Network, SwitchRole
from rocefort.models.wording import count_of, listing
from rocefort.reports.blocks import Block, Note, Section, Table, TableColumn
from rocefort.reports.wording import group_items, name_ranges
from rocefort.validators.capacity.capacity import capacity
from rocefort.validators.capacity.capacity_results import (
    AfterFailure,
    CapacityReport,
    DemandTotals,
    Kind,
    Use,
)
from rocefort.validators.routing.engine import Solution


@dataclass(frozen=True)
class DemandFile:
    """A traffic demand and its file; both empty without a named file or one beside the fabric."""

    demand: Demand | None = None
    file: str = ""


def demand_of(fabric: Path | None, named: Path | None, network: Network) -> DemandFile:
    """Load the named demand, or the one beside the fabric, and add that of its beamlines.

    Raises as `load_demand` does.
    """
    path = named or (demand_beside(fabric) if fabric else None)
    demand = load_demand(path, network).demand if path else None
    return DemandFile(with_beamlines(demand, network), str(path or ""))


def judge_capacity(
    fabric: Path, named: Path | None, scope: str | None = None, drained: Sequence[str] = ()
) -> CapacityReport:
    """Compare a demand with a fabric as its rendered text describes it.

    scope: of failures. drained: switches that announce nothing, as in a maintenance window; raises
    BadInput for those that cannot be drained.
    """
    subject = subject_of(fabric, None)
    given = demand_of(fabric, named, subject.network)
    if not drained:
        return capacity_of(subject, given, scope=scope)
    apart = with_drained(subject.network, _drainable(subject.network, drained))
    report = capacity_of(replace(subject, network=apart), given, scope=scope)
    needed = {"spines_needed": None, "spines_needed_after": None}  # of spines in service alone
    return report.model_copy(update={"drained": tuple(drained), **needed})


@dataclass(frozen=True)
class MaintenanceState:
    """State with a spine drained and a cable lost, in which the fullest cable is fullest."""

    spine: str
    worst: AfterFailure


def maintenance_of(
    subject: ReadNetwork, given: DemandFile, whole: CapacityReport
) -> MaintenanceState | None:
    """Worst state of a maintenance window; None: no spine can be drained, or no cable be lost.

    whole: report without a drained spine. Of spines whose failure has the same effect, one is
    drained.
    """
    kinds = [one.at[0] for one in whole.failures if one.kind == "spine"]
    nodes = subject.network.by_name
    states = []
    for spine in (name for name in kinds if can_drain(nodes[name].device)):
        apart = with_drained(subject.network, [spine])
        report = capacity_of(replace(subject, network=apart), given)
        links = [one for one in report.failures if one.kind == "link"]
        worst = max(links, key=lambda one: (one.cut_gbps, one.utilisation), default=None)
        states += [MaintenanceState(spine, worst)] if worst else []
    return max(states, key=lambda one: (one.worst.cut_gbps, one.worst.utilisation), default=None)


def _drainable(network: Network, names: Sequence[str]) -> Sequence[str]:
    """Return the names; raises BadInput for switches that are no spines, or have no policy."""
    spines = {node.name: node for node in network.role(SwitchRole.SPINE)}
    problems = [
        Problem(name, "is not a spine", nearest(name, spines))
        if name not in spines
        else Problem(name, "cannot be drained", "give its peers an export policy")
        for name in names
        if name not in spines or not can_drain(spines[name].device)
    ]
    if problems:
        raise BadInput(problems=problems)
    return names


def capacity_of(
    subject: ReadNetwork,
    given: DemandFile,
    solution: Solution | None = None,
    scope: str | None = None,
) -> CapacityReport:
    """Compare a demand with a network; solution: of the routing engine, if there is one."""
    report = capacity(subject.network, given.demand, subject.sources, solution, scope)
    if report.asked is None:
        return report
    return report.model_copy(update={"asked": report.asked.model_copy(update={"file": given.file})})


MOST_ROWS, MOST_GROUPS = (
    24,
    12,
)  # rows of each kind of part, and of failures; then a sum
TITLES: dict[Kind, str] = {
    "leaf": "uplinks of",
    "spine": "links of",
    "bisection": "bisection",
    "servers": "server ports of",
}
NO_DEMAND = "no demand: no --demand and no demand.yaml next to the fabric; capacity:"
USED = "used: the fullest cable, or server port, in it; worst: after the worst single failure."
LEFT = "left: after the worst single failure."
SPREAD = (
    "Each flow is spread over its senders and receivers by the speed of their ports, "
    "and evenly over equal paths, as ECMP does."
)


def capacity_report(capacity: CapacityReport) -> Iterator[Block]:
    """Show the demand, the capacity, the rest after failures, and whether the demand fits."""
    asked = capacity.asked
    yield from _head(capacity)
    if asked:
        yield Section("", tuple(_demand(asked)))
    yield Section("", tuple(_uses(capacity)))
    if asked:
        yield Section("", tuple(_failures(capacity)))
    if capacity.failures_note:
        yield Section("", (Note(capacity.failures_note),))
    yield from map(Note, verdicts(capacity))


def _head(capacity: CapacityReport) -> Iterator[Note]:
    asked = capacity.asked
    size = f"{count_of(capacity.spines, 'spine')} x {count_of(capacity.leaves, 'leaf')}"
    if capacity.drained:
        size += f", {listing(capacity.drained)} drained"
    if asked is None:
        yield Note(f"{capacity.fabric}: {size}")
        yield Note(NO_DEMAND)
        return
    yield Note(f"{capacity.fabric}: {number(asked.peak_gbps)} Gb/s at peak against {size}")
    yield Note(f"demand: {'; source: '.join(filter(None, (asked.file, asked.source)))}")
    if asked.assumed:
        yield Note(f"assumed, which no source confirms: {', '.join(asked.assumed)}")


def _demand(asked: DemandTotals) -> Iterator[Block]:
    rows = [("peak of the facility", number(asked.peak_gbps), "")]
    rows += [(words, number(gbps), "") for words, gbps in asked.flows]
    days = (
        ("an average day", asked.daily_tb, asked.daily_gbps, asked.daily_hours),
        ("the busiest day", asked.busiest_tb, asked.busiest_gbps, asked.busiest_hours),
    )
    for day, volume, average, hours in days:
        if volume is not None and average is not None and hours is not None:
            beside = f"{number(volume)} TB over 24 hours, or {hours:.2f} hours at peak"
            rows.append((day, number(average), beside))
    heads = (
        TableColumn("demand", wraps=True),
        TableColumn("Gb/s", "right"),
        TableColumn(wraps=True),
    )
    yield Table(heads, tuple(rows))
    yield Note(SPREAD)


def demand_words(asked: DemandTotals) -> str:
    """Return the demand in one sentence, for a page."""
    parts = [f"{number(asked.peak_gbps)} Gb/s at peak"]
    if asked.daily_tb is not None and asked.daily_gbps is not None:
        parts.append(
            f"{number(asked.daily_tb)} TB a day, {number(asked.daily_gbps)} Gb/s on average"
        )
    parts.append(f"by {asked.file}" if asked.file else "")
    parts.append(f"assumed: {', '.join(asked.assumed)}" if asked.assumed else "")
    return "; ".join(filter(None, parts))


def _uses(capacity: CapacityReport) -> Iterator[Block]:
    """Show one table of all parts; parts with the same numbers share a row."""
    asked = bool(capacity.asked)
    figures = ("out", "in", "of", "used", "worst", "headroom") if asked else ("all", "left")
    rows, rest = [], []
    for kind, title in TITLES.items():
        groups = list(equal_uses(capacity.of(kind)))
        for uses in groups[:MOST_ROWS]:
            names = "" if kind == "bisection" else ", ".join(name_ranges(u.name for u in uses))
            rows.append((f"{title} {names}".strip(), *_figures(uses[0], asked=asked)))
        if more := [use for uses in groups[MOST_ROWS:] for use in uses]:
            most = percent(max(use.utilisation for use in more))
            rest.append(Note(f"{title}: {len(groups) - MOST_ROWS} more, none above {most}"))
    yield Note(USED if asked else LEFT)
    heads = (TableColumn("Gb/s", wraps=True), *(TableColumn(title, "right") for title in figures))
    yield Table(heads, tuple(rows))
    yield from rest


def _figures(use: Use, *, asked: bool) -> tuple[str, ...]:
    if not asked:
        is_shown = use.left_gbps is not None and use.kind != "servers"
        return number(use.capacity_gbps), number(use.left_gbps or 0) if is_shown else "-"
    return (
        number(use.out_gbps),
        number(use.in_gbps),
        number(use.capacity_gbps),
        percent(use.utilisation),
        "-" if use.after is None or use.kind == "servers" else percent(use.after),
        number(use.headroom_gbps),
    )


def equal_uses(uses: Sequence[Use]) -> Iterator[list[Use]]:
    """Group parts with the same numbers; if there are too many to show, the fullest first."""
    groups = list(group_items(uses, _numbers).values())
    if len(groups) > MOST_ROWS:
        groups.sort(key=lambda group: (-group[0].utilisation, -(group[0].after or 0)))
    yield from groups


def _numbers(use: Use) -> tuple[float | None, ...]:
    sizes = use.capacity_gbps, use.left_gbps
    return (use.out_gbps, use.in_gbps, *sizes, use.utilisation, use.after)


def _failures(capacity: CapacityReport) -> Iterator[Block]:
    """Show single failures with equal cost in one row, the worst first."""
    order = sorted(capacity.failures, key=lambda one: (-one.cut_gbps, -one.utilisation))
    rows = []
    for one in order[:MOST_GROUPS]:
        gone = number(one.lost_gbps + one.cut_gbps) if one.lost_gbps + one.cut_gbps else "-"
        factor = "-" if one.factor is None else f"{one.factor:.2f}"
        rows.append((failure_words(one), percent(one.utilisation), factor, gone))
    figures = (TableColumn(title, "right") for title in ("fullest", "factor", "no path, Gb/s"))
    yield Table((TableColumn("after the loss of", wraps=True), *figures), tuple(rows))
    if more := sum(len(one.failures) for one in order[MOST_GROUPS:]):
        yield Note(f"{count_of(more, 'further failure')}, after which it is no fuller")


def failure_words(one: AfterFailure) -> str:
    """`spine01 or spine02`, `one of 6 links of leaf02 to leaf04`."""
    names = list(name_ranges(one.at))
    count = len(one.failures)
    if one.kind == "pair":
        return one.failures[0] if count == 1 else f"one of {count} pairs like {one.failures[0]}"
    if one.kind == "link":
        return f"{one.failures[0]}" if count == 1 else f"one of {count} links of {listing(names)}"
    if count == 1:
        return names[0]
    return " or ".join(names) if len(names) == count else f"one of {', '.join(names)}"


def verdicts(capacity: CapacityReport) -> Iterator[str]:
    """State with numbers whether the demand fits, with and without a failure."""
    asked = capacity.asked
    if asked is None:
        return
    yield from _whole(capacity, asked)
    if asked.is_partial:
        yield (
            f"not judged: the flows are {number(asked.flows_gbps)} of {number(asked.peak_gbps)} "
            "Gb/s at peak; no flow carries the rest"
        )
    yield from _worst(capacity, asked)
    lost = capacity.most_lost
    if lost:
        yield (
            f"single-homed: the loss of {failure_words(lost)} takes {number(lost.lost_gbps)} Gb/s "
            "of demand with its own servers, besides overloaded links"
        )
    yield from _required_lines(capacity)


def _whole(capacity: CapacityReport, asked: DemandTotals) -> Iterator[str]:
    share, top = capacity.utilisation, _fullest_server(capacity)
    ports = sum(use.capacity_gbps for use in capacity.of("servers"))
    if share > 1:
        fits = asked.flows_gbps + (capacity.headroom_gbps or 0)
        yield (
            f"does not fit: {capacity.fullest} is loaded to {percent(share)} of its speed; "
            f"{number(fits)} of {number(asked.flows_gbps)} Gb/s fit between leaves, "
            f"{number(asked.flows_gbps - fits)} are too many"
        )
    if top and top.utilisation > 1:
        yield (
            f"does not fit: {top.fullest} on {top.name} is loaded to {percent(top.utilisation)} "
            f"of its port; the ports of all servers in the fabric are {number(ports)} Gb/s"
        )
    if asked.no_path_gbps:
        first = f", first {asked.no_path}" if asked.no_path else ""
        yield (
            f"does not fit: {number(asked.no_path_gbps)} Gb/s have no path{first}; "
            "`rocefort verify` shows the reason"
        )
    if capacity.fits and capacity.factor is None:
        yield "fits: nothing crosses the spines"
    elif capacity.fits:
        yield (
            f"fits: the fullest cable, {capacity.fullest}, is used to {percent(share)}; headroom "
            f"{_headroom(capacity.factor, capacity.headroom_gbps)}"
        )


def _fullest_server(capacity: CapacityReport) -> Use | None:
    return max(capacity.of("servers"), key=lambda use: use.utilisation, default=None)


def _headroom(factor: float | None, gbps: float | None) -> str:
    return f"{factor or 0:.2f} times the demand, {number(gbps or 0)} Gb/s"


def _worst(capacity: CapacityReport, asked: DemandTotals) -> Iterator[str]:
    worst = capacity.worst
    if worst is None or capacity.factor is None:
        return
    bad = sum(len(one.failures) for one in capacity.failures if not one.fits)
    total = sum(len(one.failures) for one in capacity.failures)
    some = " of those studied" if capacity.failures_note else ""
    some += f" ({capacity.audit})" if capacity.audit else ""
    noun, of_failures = ("pair", " of failures") if capacity.pairs else ("single failure", "")
    if not bad:
        yield (
            f"fits after each of {count_of(total, noun)}{of_failures}{some}: after the worst, the "
            f"loss of {failure_words(worst)}, the fullest cable is used to "
            f"{percent(worst.utilisation)}; headroom {_headroom(worst.factor, worst.headroom_gbps)}"
        )
        return
    cut = f", and {number(worst.cut_gbps)} Gb/s have no path" if worst.cut_gbps else ""
    fits = asked.flows_gbps - worst.lost_gbps - worst.cut_gbps + (worst.headroom_gbps or 0)
    full = (
        f"loads {worst.fullest} to {percent(worst.utilisation)}{cut}: {number(max(fits, 0))} of "
        f"{number(asked.flows_gbps)} Gb/s fit"
        if worst.utilisation > 1
        else f"leaves {number(worst.cut_gbps)} Gb/s without a path"
    )
    start = "warning: it" if capacity.fits else "it"
    yield (
        f"{start} does not fit after {bad} of {count_of(total, noun)}{of_failures}{some}; the "
        f"worst, the loss of {failure_words(worst)}, {full}"
    )
    cables = [one for one in capacity.failures if one.kind == "link"]
    if cables and all(one.fits for one in cables):
        fullest = max(one.utilisation for one in cables)
        number_of = sum(len(one.failures) for one in cables)
        yield (
            f"it fits after the loss of any of {count_of(number_of, 'cable')}: the fullest cable "
            f"is then used to {percent(fullest)}"
        )


def _required_lines(capacity: CapacityReport) -> Iterator[str]:
    now, after = capacity.spines_needed, capacity.spines_needed_after
    if now is None and after is None:
        return
    parts = []
    if now:
        parts.append(f"{count_of(now, 'spine')} with the same links would carry it between leaves")
    if after and now:
        parts.append(f"{after} also after one failure")
    elif after:
        parts.append(
            f"{count_of(after, 'spine')} with the same links would carry it after one failure, too"
        )
    room = capacity.reserved_spines
    reserved = f"; the fabric reserves room for {room}" if room is not None else ""
    yield f"{', '.join(parts)} (now {capacity.spines}){reserved}"


def number(value: float) -> str:
    """`1,600`, `457.1`."""
    return f"{round(value, 1):,.1f}".removesuffix(".0") if abs(value) < 1e6 else f"{value:,.0f}"


def percent(share: float) -> str:
    """`62.5 %`, `457 %`: never rounded to 100 % from above."""
    value = share * 100
    if value < 100:
        return f"{min(value, 99.9):.1f} %"
    return f"{value:,.0f} %" if value == 100 or value >= 100.5 else f"{value:.2f} %"
