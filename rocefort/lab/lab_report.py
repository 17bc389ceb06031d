"""Results of commands on labs and of experiments in them, for programs and as reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rocefort.lab.twin.status import LabHop, LabStatus, LabTrace
from rocefort.models.base import Frozen
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Block, Code, Items, Note, Section, Table, TableColumn, columns


class OpinionRow(Frozen):
    """Next-hop sets of one state of a fabric, compared between every two sources.

    differing: by pair of sources, such as `kernel, engine`. batfish: source of its answers; empty:
    none.
    """

    fabric: str
    state: str
    compared: int
    differing: dict[str, int]
    batfish: str = ""
    first: str = ""  # of the differences


class Opinions(Frozen):
    """Comparison of next hops in one or more labs."""

    rows: tuple[OpinionRow, ...]


class ChaosStep(Frozen):
    """One fault, or the repair of all, and whether the kernels reached the predicted state.

    done: the act. at_s: since the begin. took_s: until the kernels agreed, or the deadline.
    """

    number: int
    at_s: float
    done: str
    compared: int
    differing: int
    took_s: float
    first: str = ""


class Chaos(Frozen):
    """Sequence of random faults from a seed; stopped: why it ended early."""

    lab: str
    seed: int
    minutes: float
    deadline_s: float
    timers: tuple[str, ...]
    steps: tuple[ChaosStep, ...] = ()
    stopped: str = ""

    @property
    def failed(self) -> bool:
        """Whether kernels differed from the prediction after a step."""
        return any(step.differing for step in self.steps)


class SpreadRow(Frozen):
    """One equal path of a leaf. counted: packets at the spine; foretold: by the leaf's hash."""

    spine: str
    port: str  # of the spine
    counted: int
    expected: float
    foretold: int


class FlowSpread(Frozen):
    """Spread of one server pair's flows over the equal paths of the source's leaf.

    chance: probability that fair choices are at least as uneven. bound: the lowest that passes.
    """

    lab: str
    source: str
    destination: str
    leaf: str
    flows: int
    rows: tuple[SpreadRow, ...]
    chi_square: float
    freedom: int
    chance: float
    bound: float

    @property
    def fair(self) -> bool:
        """Whether all flows arrived, spread as by fair choices."""
        return sum(row.counted for row in self.rows) == self.flows and self.chance >= self.bound


class FailoverRow(Frozen):
    """One fault under load. window_ms: longest outage of any flow; None: until the repair.

    hit: flows that lost packets. settled_s: until kernels had the predicted state; None: not within
    the limit. mending_ms: longest outage during the repair.
    """

    fault: str
    where: str
    hit: int
    lost: int
    window_ms: float | None
    settled_s: float | None
    mending_ms: float | None


class Failover(Frozen):
    """Outage of flows, by fault."""

    lab: str
    source: str
    destination: str
    flows: int
    rate: int  # packets a second, of each flow
    timers: tuple[str, ...]
    limit_s: float
    rows: tuple[FailoverRow, ...]


class UnderLoad(Frozen):
    """Flows and sessions of a lab during a change.

    reset: sessions that existed before and are no longer the same. longest_ms: longest outage of
    one flow; None: not over at the end.
    """

    lab: str
    flows: int
    rate: int  # packets a second, of each flow
    seconds: float
    sent: int
    lost: int
    longest_ms: float | None
    sessions: int  # before
    gained: int  # sessions
    reset: tuple[str, ...] = ()


PAIRS = ("kernel, engine", "kernel, batfish", "engine, batfish")
ORDINAL = (
    "Timings are ordinal: they rank the faults by cost on this machine. "
    "BFD and FIB of a switch have other timings."
)


def opinions_report(rows: Sequence[OpinionRow]) -> Section:
    """One row a state, then what differs, and a sum."""
    heads = (TableColumn("fabric"), TableColumn("state"), TableColumn("sets"))
    pairs = (TableColumn(f"differ: {pair}", "right") for pair in PAIRS)
    cells = tuple(
        (row.fabric, row.state, row.compared, *(row.differing.get(pair) for pair in PAIRS))
        for row in rows
    )
    return Section("", (Table((*heads, *pairs), cells), *map(Note, _opinions(rows))))


def _opinions(rows: Sequence[OpinionRow]) -> Iterator[str]:
    yield from (f"differs: {row.fabric}, {row.state}: {row.first}" for row in rows if row.first)
    yield from dict.fromkeys(f"Batfish on {r.fabric}: {r.batfish}" for r in rows if r.batfish)
    silent = sum(not row.batfish for row in rows)
    if silent:
        yield f"Batfish has no recorded answers on {silent} of {count_of(len(rows), 'state')}: -"
    sets, differ = sum(r.compared for r in rows), sum(sum(r.differing.values()) for r in rows)
    yield f"{sets} next-hop sets in {count_of(len(rows), 'state')}, {differ} differences"


def chaos_head(found: Chaos) -> Iterator[str]:
    """Return the steps, and the conditions after each step."""
    yield f"chaos on {found.lab}: seed {found.seed}, {found.minutes:g} minutes"
    yield from (f"timers: {timers}" for timers in found.timers)
    yield (
        "after each step the kernels must have the routes that the embedded engine predicts for "
        f"the fabric with what is broken, within {found.deadline_s:.0f} s"
    )


def step_text(step: ChaosStep) -> str:
    """One line a step."""
    law = f"{step.compared} next-hop sets as predicted after {step.took_s:.1f} s"
    if step.differing:
        law = f"{step.differing} of {step.compared} differ after {step.took_s:.0f} s: {step.first}"
    return f"{step.number:>4}  {step.at_s:>7.1f} s  {step.done}: {law}"


def chaos_sum(found: Chaos) -> str:
    """Return the outcome in a sentence."""
    bad = sum(bool(step.differing) for step in found.steps)
    why = f"; stopped: {found.stopped}" if found.stopped else ""
    return (
        f"{count_of(len(found.steps), 'step')}, {bad} against the law; all faults are repaired{why}"
    )


def spread_report(found: FlowSpread) -> Section:
    """One row a path, and how likely that is."""
    lost = found.flows - sum(row.counted for row in found.rows)
    verdict = "fair" if found.chance >= found.bound else "NOT FAIR"
    freedom = "1 degree" if found.freedom == 1 else f"{found.freedom} degrees"
    rows = tuple(
        (row.spine, row.port, row.counted, f"{row.expected:.1f}", row.foretold)
        for row in found.rows
    )
    heads = (
        *columns("spine", "port", "packets"),
        TableColumn("fair", "right"),
        TableColumn("by hash"),
    )
    return Section(
        "",
        (
            Note(
                f"{found.flows} flows of UDP 4791, {found.source} to {found.destination}, each "
                f"from its own source port, over the equal paths of {found.leaf}:"
            ),
            Table(heads, rows),
            Note(f"{lost} packets did not come" if lost else "every packet came"),
            Note(
                f"chi-square {found.chi_square:.2f} with {freedom} of freedom: chance "
                f"{found.chance:.3g}, bound {found.bound:g}: {verdict}"
            ),
            Note("by hash: where the leaf's kernel sends each flow, asked of it one by one"),
        ),
    )


def failover_report(found: Failover) -> Section:
    """Losses by fault, with what they were measured under."""
    head = (
        f"{found.flows} flows of UDP 4791, {found.source} to {found.destination}, each "
        f"{found.rate} packets/s"
    )
    notes = [Note(head), *(Note(f"timers: {timers}") for timers in found.timers)]
    if not found.rows:  # the user interrupted it
        return Section("", (*notes, Note("nothing was measured")))
    figures = (TableColumn(title, "right") for title in ("longest loss", "routes rest", "mending"))
    table = Table(
        (*columns("fault", "where", "hit", "lost"), *figures),
        tuple(
            (
                row.fault,
                row.where,
                row.hit,
                row.lost,
                _ms(row.window_ms, "until repaired"),
                f"> {found.limit_s:.0f} s" if row.settled_s is None else f"{row.settled_s:.1f} s",
                _ms(row.mending_ms, "-"),
            )
            for row in found.rows
        ),
    )
    legend = Note("hit: flows that lost packets; mending: the longest loss during the repair")
    return Section("", (*notes, table, legend, Note(ORDINAL)))


def _ms(value: float | None, without: str) -> str:
    if value is None:
        return without
    return "none" if not value else f"{value:.0f} ms"


def load_report(found: UnderLoad) -> Section:
    """Show the lost packets and the reset sessions."""
    return Section("", tuple(map(Note, _load(found))))


def _load(found: UnderLoad) -> Iterator[str]:
    yield (
        f"{found.flows} flows of UDP 4791 between all servers, each {found.rate} packets/s, for "
        f"{found.seconds:.1f} s"
    )
    longest = _ms(found.longest_ms, "one that did not end")
    yield f"{found.lost} of {found.sent} packets lost, the longest loss of a flow: {longest}"
    gained = f"{found.gained} more than before"
    yield f"{len(found.reset)} of {found.sessions} BGP sessions reset, {gained}"
    yield from (f"reset: {session}" for session in found.reset)
    yield ORDINAL


class Labs(Frozen):
    """Labs on this machine."""

    labs: tuple[LabStatus, ...]


class FaultKind(Frozen):
    """Fault that a lab can inject, and its effect."""

    name: str
    effect: str


class FaultKinds(Frozen):
    """Faults that a lab can inject."""

    faults: tuple[FaultKind, ...]


class RepairedFaults(Frozen):
    """Faults of a lab that were repaired."""

    repaired: tuple[str, ...]


class LabGrowth(Frozen):
    """Nodes that a running lab got; cables: their number."""

    lab: str
    switches: tuple[str, ...]
    servers: tuple[str, ...]
    cables: int


class LabAccess(Frozen):
    """SSH access of an emulated switch or server."""

    name: str
    host: str
    port: int
    user: str


class LabAccesses(Frozen):
    """Command lines of a lab that runs; connections: file for the other commands."""

    connections: str
    accesses: tuple[LabAccess, ...]
    notes: tuple[str, ...]


class GuestImage(Frozen):
    """Image of the guests; packages: their number."""

    kernel: str
    packages: int


HEADS = (TableColumn("lab"), TableColumn("fabric"), TableColumn("state", wraps=True))


def labs_report(labs: Iterable[LabStatus]) -> Iterator[Block]:
    """One row a lab."""
    rows = tuple((lab.name, lab.fabric, _state(lab)) for lab in labs)
    yield Table(HEADS, rows) if rows else Note("no twin is up")


def _state(lab: LabStatus) -> str:
    if not lab.whole:
        return f"not whole: {'; '.join(lab.wrong)}"
    nodes = f"{count_of(lab.switches, 'switch')}, {count_of(lab.servers, 'server')}"
    return f"{nodes}, {lab.established} of {lab.sessions} sessions up"


def status_report(lab: LabStatus) -> Section:
    """A lab with what is wrong in it, and what its kernel lacks."""
    title = f"{lab.name}: fabric {lab.fabric}, {_state(lab)}"
    return Section(title, (Items(tuple(_status(lab))),))


def _status(lab: LabStatus) -> Iterator[str]:
    if lab.whole:
        cables = count_of(lab.cables, "cable")
        yield f"up since {lab.started:%Y-%m-%d %H:%M:%S} UTC, FRR {lab.frr}, {cables}"
        yield from (f"guest {text}" for text in lab.guests)
        if lab.connections:
            yield f"connections: {lab.connections}"
        yield from (f"wrong: {text}" for text in lab.wrong)
    yield from (f"this kernel has {text}" for text in lab.lacks)


def lab_trace_report(trace: LabTrace) -> Iterator[Block]:
    """One row a hop."""
    flow = f"UDP {trace.source}:{trace.source_port} to {trace.destination}"
    rows = tuple((number, hop.node, _hop(hop)) for number, hop in enumerate(trace.hops))
    end = Note(f"stops at {trace.stopped}" if trace.stopped else "arrives")
    yield Section(f"{flow}:{trace.destination_port}", (Table((TableColumn(),) * 3, rows), end))


def fault_kinds(faults: Iterable[tuple[str, str]]) -> FaultKinds:
    """Return faults by name and effect, for programs."""
    return FaultKinds(faults=tuple(FaultKind(name=name, effect=text) for name, text in faults))


def faults_report(found: FaultKinds) -> Table:
    """One row a fault: how it is named, and what it does."""
    rows = tuple((fault.name, fault.effect) for fault in found.faults)
    return Table((TableColumn(), TableColumn(wraps=True)), rows)


def repaired_report(done: RepairedFaults) -> Code:
    """Show one line a fault."""
    lines = tuple(f"repaired: {fault}" for fault in done.repaired)
    return Code(lines or ("no fault is injected",))


def lab_growth_report(done: LabGrowth) -> Code:
    """Show the nodes that a lab got."""
    named = ", ".join((*done.switches, *done.servers)) or "no node"
    added = f"lab {done.lab}: added {named} and {count_of(done.cables, 'cable')}"
    rest = "existing nodes are unchanged; `rocefort plan` and `apply` configure the rest"
    return Code((added, rest))


def guest_report(image: GuestImage) -> Code:
    """Show the kernel of an image."""
    return Code((f"guest with kernel {image.kernel}, {image.packages} packages",))


def accesses_report(running: LabAccesses) -> Iterator[Block]:
    """Show the SSH command of each switch and server."""
    rows = tuple((a.name, f"ssh -p {a.port} {a.user}@{a.host}") for a in running.accesses)
    yield Table(columns("", ""), rows)
    yield Code(running.notes)


def _hop(hop: LabHop) -> str:
    words = [f"in {hop.arrives}"] if hop.arrives else []
    words += [f"out {hop.leaves}"] if hop.leaves else []
    words += [f"to {hop.via}"] if hop.via else []
    return " ".join(words)
