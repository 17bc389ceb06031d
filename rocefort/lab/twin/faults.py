"""Faults that a user injects into a lab and fixes: one table.

    break_lab(registry, "heps", "silent-loss", "leaf01:100GE1/0/25=50")
    mend_lab(registry, "heps")

A fault is recorded before it is injected, so that another process can repair it.
"""

from __future__ import annotations

import inspect
import os
import re
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Literal

from pydantic import TypeAdapter

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, Refused, RocefortError
from rocefort.dialects.frr import kernel_name
from rocefort.lab.twin.builder import Builder
from rocefort.lab.twin.cli_faults import (
    LINE_FAULTS,
    await_lines,
    form_of,
    read_line_fault,
)
from rocefort.lab.twin.config_sync import change_lab, patient_lock
from rocefort.lab.twin.namespaces import inside, ip_batch, run
from rocefort.lab.twin.registry import LabRecord, Registry, write_whole
from rocefort.lab.twin.topology import BACKSTAGE, TwinTopology, VethPair, backstage_port
from rocefort.lab.twin.twin import Twin
from rocefort.models.base import Frozen

WHERE = re.compile(r"(?P<node>[^:=,]+)(?::(?P<port>[^=,]+))?(?:=(?P<value>\d+))?")
MOST_PERCENT = 100
DEAD = "dead"  # flag of `ip route` for a path whose port is down, until zebra removes it
REWRITE_S = 2.0  # it takes milliseconds; without zebra no process removes them
SILENT_TABLE = "broken"  # table of a silent node; for a port its name follows
Needs = Literal["a node", "a port", "two ports", "a command line"]
FORMS: dict[Needs, str] = {
    "a node": "NODE",
    "a port": "NODE:PORT",
    "two ports": "NODE:PORT,NODE:PORT",
    "a command line": "NODE",
}


class ActiveFault(Frozen):
    """One injected fault; removed, laid: cables that it took out and put in."""

    fault: str
    where: str
    removed: tuple[VethPair, ...] = ()
    laid: tuple[VethPair, ...] = ()

    def __str__(self) -> str:
        return f"{self.fault} {self.where}"


BROKEN = TypeAdapter(tuple[ActiveFault, ...])


@dataclass(frozen=True)
class FaultPlace:
    """Place of a fault; port: its kernel name, empty for a whole node."""

    node: str
    port: str = ""
    value: int | None = None


@dataclass(frozen=True)
class LockedLab:
    """A lab during a change, under its lock."""

    registry: Registry
    record: LabRecord
    topology: TwinTopology

    @property
    def builder(self) -> Builder:
        """Builder of its namespaces."""
        return Builder(self.record.id, self.registry.directory(self.record.id))

    def run(self, node: str, words: Sequence[str], text: str = "", *, check: bool = True) -> None:
        """Run a command in a node."""
        work = partial(run, self.record.id, tuple(words), text, where=node, check=check)
        inside([(self.builder.namespace(node), work)])

    def recable(self, gone: Sequence[VethPair], laid: Sequence[VethPair]) -> None:
        """Remove cables and add others; ports keep the settings of their switches."""
        new = self._cabled(gone, laid)
        change_lab(self.registry, self.record, self.topology, new)

    def restore(self, laid: Sequence[VethPair], removed: Sequence[VethPair]) -> None:
        """Put cables back for others, after any interruption of the change that removed them.

        It is not known which of them exist: every end is removed, and all cables are created again.
        """
        ends: dict[str, list[str]] = {}
        for node, port in {end for cable in (*laid, *removed) for end in cable.ends}:
            ends.setdefault(node, []).append(f"link del dev {port}")
        for node, lines in ends.items():
            self.run(node, ("ip", "-force", "-batch", "-"), "\n".join(lines) + "\n", check=False)
        bare, new = self._cabled((*laid, *removed), ()), self._cabled(laid, removed)
        change_lab(self.registry, self.record, bare, new)

    def _cabled(self, gone: Sequence[VethPair], laid: Sequence[VethPair]) -> TwinTopology:
        remaining = tuple(c for c in self.topology.cables if c not in gone and c not in laid)
        return self.topology.model_copy(update={"cables": (*remaining, *laid)})


FaultAction = Callable[[LockedLab, FaultPlace], None]
Recable = Callable[[TwinTopology, Sequence[FaultPlace]], tuple[list[VethPair], list[VethPair]]]


@dataclass(frozen=True)
class InjectableFault:
    """One kind of fault: its places, how to begin and end it, or the cables that it changes.

    value: meaning of the N of `=N`; empty: no value. line: name of a command-line fault, which the
    lab's command lines follow without a call here.
    """

    needs: Needs
    begin: FaultAction | None = None
    end: FaultAction | None = None
    recable: Recable | None = None  # cables to take out, and to put in
    value: str = ""
    line: str = ""

    @property
    def help(self) -> str:
        """Effect in one sentence."""
        if self.line:
            text = LINE_FAULTS[self.line]
            return f"{text[0].upper()}{text[1:]}."
        return (inspect.getdoc(self.begin or self.recable) or "").splitlines()[0]

    @property
    def form(self) -> str:
        """Form of its place."""
        if self.line:
            return form_of(self.line)
        return FORMS[self.needs] + (f"[={self.value}]" if self.value else "")


def _link_down(
    topology: TwinTopology, places: Sequence[FaultPlace]
) -> tuple[list[VethPair], list[VethPair]]:
    """The cable is unplugged: both ends lose carrier."""
    (place,) = places
    gone = [cable for cable in topology.cables if (place.node, place.port) in cable.ends]
    return gone, _loose_ends(gone)


def _node_down(
    topology: TwinTopology, places: Sequence[FaultPlace]
) -> tuple[list[VethPair], list[VethPair]]:
    """The node is cut off: all its cables are unplugged; its daemons continue, alone."""
    (place,) = places
    gone = [
        cable
        for cable in topology.cables
        if place.node in (cable.a, cable.b) and BACKSTAGE not in (cable.a, cable.b)
    ]
    return gone, _loose_ends(gone)


def _loose_ends(cables: Sequence[VethPair]) -> list[VethPair]:
    """Return a cable that leads nowhere for each end."""
    return [
        VethPair(a=node, a_port=port, b=BACKSTAGE, b_port=backstage_port(node, port))
        for cable in cables
        for node, port in cable.ends
        if node != BACKSTAGE
    ]


def _wrong_cable(
    topology: TwinTopology, places: Sequence[FaultPlace]
) -> tuple[list[VethPair], list[VethPair]]:
    """Two cables are swapped at these ends: LLDP reports the wrong switch."""
    first, second = ((place.node, place.port) for place in places)
    far, farther = topology.far(*first), topology.far(*second)
    gone = [c for c in topology.cables if first in c.ends or second in c.ends]
    if far is None or farther is None or len(gone) != 2:
        raise BadInput("these are not the ends of two cables", how="name two cabled ports")
    laid = [
        VethPair(a=here[0], a_port=here[1], b=there[0], b_port=there[1])
        for here, there in ((first, farther), (second, far))
    ]
    return gone, laid


def _lose(bench: LockedLab, place: FaultPlace) -> None:
    """Packets are lost both ways without an error, carrier stays up; all of them without =N."""
    share = 100 if place.value is None else place.value
    if not 1 <= share <= MOST_PERCENT:
        raise BadInput(f"{share} percent", where=place.node, how="write =1 to =100")
    some = "" if share == MOST_PERCENT else f"numgen random mod {MOST_PERCENT} < {share} "
    _filter(bench, place, f"{some}counter drop", "ingress", "egress")


def _silence(bench: LockedLab, place: FaultPlace) -> None:
    """All packets of a node are lost without an error; carrier stays up and its daemons run."""
    ports = sorted({p for c in bench.topology.cables for n, p in c.ends if n == place.node})
    chains = "".join(
        f'chain {hook}_{number} {{ type filter hook {hook} device "{port}" priority 0; drop; }}\n'
        for number, port in enumerate(ports)
        if not port.startswith("MEth")
        for hook in ("ingress", "egress")
    )
    bench.run(place.node, ("nft", "-f", "-"), f"table netdev {SILENT_TABLE} {{\n{chains}}}\n")


def _mark(bench: LockedLab, place: FaultPlace) -> None:
    """ECN-capable packets that leave are marked CE; all without =N, else those above N/s."""
    limit = "" if place.value is None else f"limit rate over {place.value}/second "
    _filter(bench, place, f"ip ecn != not-ect {limit}counter ip ecn set ce", "egress")


def _filter(bench: LockedLab, place: FaultPlace, rule: str, *hooks: str) -> None:
    chains = "".join(
        f'chain {hook} {{ type filter hook {hook} device "{place.port}" priority 0; {rule}; }}\n'
        for hook in hooks
    )
    text = f"table netdev {SILENT_TABLE}_{place.port} {{\n{chains}}}\n"
    bench.run(place.node, ("nft", "-f", "-"), text)


def _unfilter(bench: LockedLab, place: FaultPlace) -> None:
    table = f"{SILENT_TABLE}_{place.port}" if place.port else SILENT_TABLE
    words = ("nft", "delete", "table", "netdev", table)
    bench.run(place.node, words, check=False)  # a new port has no table


def _slow(bench: LockedLab, place: FaultPlace) -> None:
    """The port sends no more than N Mb/s, 10 without =N."""
    rate = f"{place.value or 10}mbit"
    words = f"tc qdisc replace dev {place.port} root tbf rate {rate} burst 128kb latency 50ms"
    bench.run(place.node, words.split())


def _unslow(bench: LockedLab, place: FaultPlace) -> None:
    bench.run(place.node, f"tc qdisc del dev {place.port} root".split(), check=False)


def _shrink(bench: LockedLab, place: FaultPlace) -> None:
    """The port has an MTU of N bytes, 1500 without =N, whatever its configuration."""
    words = f"ip link set dev {place.port} mtu {place.value or 1500}"
    bench.run(place.node, words.split())


def _unshrink(bench: LockedLab, place: FaultPlace) -> None:
    plan = bench.topology.by_switch[place.node]
    mtu = plan.by_link[place.port].mtu
    if mtu is not None:
        bench.run(place.node, f"ip link set dev {place.port} mtu {mtu}".split())


def _kill_bgpd(bench: LockedLab, place: FaultPlace) -> None:
    """bgpd of a switch is killed: zebra removes its routes from the kernel, its peers lose it."""
    daemons = bench.builder.daemons(place.node)
    if not daemons.running("bgpd"):
        raise BadInput("runs no bgpd", where=place.node)
    os.kill(int((daemons.directory / "bgpd.pid").read_text("ascii")), signal.SIGKILL)


def _start_bgpd(bench: LockedLab, place: FaultPlace) -> None:
    daemons, texts = bench.builder.daemons(place.node), bench.topology.by_switch[place.node].texts
    if not daemons.running("bgpd") and "bgpd" in texts:
        start = partial(daemons.start, (("bgpd", texts["bgpd"]),))
        inside([(bench.builder.namespace(place.node), start)])


FAULTS: dict[str, InjectableFault] = {
    "link-down": InjectableFault("a port", recable=_link_down),
    "node-down": InjectableFault("a node", recable=_node_down),
    "silent-loss": InjectableFault("a port", _lose, _unfilter, value="PERCENT"),
    "rate-limit": InjectableFault("a port", _slow, _unslow, value="MBIT_S"),
    "ce-mark": InjectableFault("a port", _mark, _unfilter, value="PACKETS_S"),
    "wrong-mtu": InjectableFault("a port", _shrink, _unshrink, value="BYTES"),
    "wrong-cable": InjectableFault("two ports", recable=_wrong_cable),
    "bgpd-killed": InjectableFault("a node", _kill_bgpd, _start_bgpd),
    "silent-node": InjectableFault("a node", _silence, _unfilter),
    **{name: InjectableFault("a command line", line=name) for name in LINE_FAULTS},
}


def faults_help() -> tuple[tuple[str, str], ...]:
    """Return each fault with its effect."""
    return tuple((f"{name} {kind.form}", kind.help) for name, kind in FAULTS.items())


def break_lab(registry: Registry, name: str, fault: str, where: str) -> ActiveFault:
    """Inject a fault. Raises BadInput for an unknown fault or place, Refused if it is there."""
    kind = FAULTS.get(fault)
    if kind is None:
        raise BadInput(f"no fault is called {fault!r}", how=nearest(fault, FAULTS))
    with patient_lock(registry, name):
        bench = _bench(registry, name)
        active = active_faults(registry, bench.record)
        if kind.line:
            fault_record = _break_line(bench, fault, where, active)
        else:
            fault_record = _break_node(bench, kind, ActiveFault(fault=fault, where=where), active)
    if kind.line:
        _await_break(bench, fault_record)
    return fault_record


def _break_node(
    bench: LockedLab, kind: InjectableFault, request: ActiveFault, active: tuple[ActiveFault, ...]
) -> ActiveFault:
    places = _places(bench.topology, kind, request.where)
    place = request.where.partition("=")[0]
    _refuse_twice(bench, request.where, [k for k in active if k.where.partition("=")[0] == place])
    removed, laid = kind.recable(bench.topology, places) if kind.recable else ([], [])
    fault_record = request.model_copy(update={"removed": tuple(removed), "laid": tuple(laid)})
    _note(bench, (*active, fault_record))
    if kind.begin is not None:
        try:  # one command, all or nothing: if it is refused, nothing is broken
            kind.begin(bench, places[0])
        except RocefortError:
            _note(bench, active)
            raise
    if kind.recable is not None:
        _set_ports_down(bench, removed, places[0].node)
        bench.recable(removed, laid)
        if loose := [cable.b_port for cable in laid if cable.b == BACKSTAGE]:
            bench.builder.ip(BACKSTAGE, [f"link set dev {port} down" for port in loose])
    return fault_record


def _break_line(
    bench: LockedLab, fault: str, where: str, active: tuple[ActiveFault, ...]
) -> ActiveFault:
    read_line_fault(fault, where, bench.topology.by_switch)
    _refuse_twice(bench, where, [k for k in active if (k.fault, k.where) == (fault, where)])
    fault_record = ActiveFault(fault=fault, where=where)
    _note(bench, (*active, fault_record))
    return fault_record


def _await_break(bench: LockedLab, fault_record: ActiveFault) -> None:
    """Wait for the command lines, which need the lock for their own work."""
    try:
        await_lines(
            bench.registry, bench.record, (fault_record.fault, fault_record.where), there=True
        )
    except RocefortError:
        with patient_lock(bench.registry, bench.record.name):
            active = active_faults(bench.registry, bench.record)
            _note(bench, tuple(other for other in active if other != fault_record))
        raise


def _refuse_twice(bench: LockedLab, where: str, taken: Sequence[ActiveFault]) -> None:
    if taken:
        how = f"rocefort lab mend {bench.record.name}"
        raise Refused(f"is broken already: {taken[0]}", where=where, how=how)


def mend_lab(registry: Registry, name: str) -> tuple[ActiveFault, ...]:
    """Repair every injected fault, the last first, and return them.

    This includes faults of an interrupted injection: each is recorded before anything is done.
    """
    fixed: list[ActiveFault] = []
    with patient_lock(registry, name):
        bench = _bench(registry, name)
        while active := active_faults(registry, bench.record):
            _repair_fault(_bench(registry, name), active[-1])
            _note(bench, active[:-1])
            fixed.append(active[-1])
    for fault in fixed:
        if FAULTS[fault.fault].line:
            await_lines(registry, bench.record, (fault.fault, fault.where), there=False)
    return tuple(fixed)


def _repair_fault(bench: LockedLab, last: ActiveFault) -> None:
    kind = FAULTS[last.fault]
    if kind.end is not None:
        kind.end(bench, *_places(bench.topology, kind, last.where))
    if kind.recable is not None:
        bench.restore(last.laid, last.removed)


def active_faults(registry: Registry, record: LabRecord) -> tuple[ActiveFault, ...]:
    """Return the injected faults of a lab."""
    file = broken_file(registry, record)
    return BROKEN.validate_json(file.read_bytes()) if file.exists() else ()


def require_mended(registry: Registry, record: LabRecord) -> None:
    """Raise Refused if a fault is injected."""
    if active := active_faults(registry, record):
        how = f"rocefort lab mend {record.name}"
        raise Refused(f"is broken on purpose: {active[0]}", where=record.name, how=how)


def broken_file(registry: Registry, record: LabRecord) -> Path:
    """Return the file of injected faults."""
    return registry.directory(record.id) / "broken.json"


def _note(bench: LockedLab, active: tuple[ActiveFault, ...]) -> None:
    write_whole(broken_file(bench.registry, bench.record), BROKEN.dump_json(active).decode())


def _bench(registry: Registry, name: str) -> LockedLab:
    twin = Twin.find(name, registry)
    return LockedLab(registry, twin.record, twin.topology)


def _set_ports_down(bench: LockedLab, cables: Sequence[VethPair], node_first: str) -> None:
    """Set ports down before they are created again.

    A kernel drops a route of several paths whole when one of its ports vanishes. It keeps the other
    paths when the port only goes down, as a switch does, whose ports do not vanish. The given node
    goes first, because two namespaces cannot change at once: packets that it still sends by a port
    whose far end is down are lost.
    """
    ends: dict[str, list[str]] = {}
    for node, port in {end for cable in cables for end in cable.ends}:
        ends.setdefault(node, []).append(f"link set dev {port} down")
    works = [
        (bench.builder.namespace(node), partial(ip_batch, bench.record.id, lines, where=node))
        for node, lines in ends.items()
    ]
    first = bench.builder.namespace(node_first)
    for one_of_two in (True, False):
        inside(work for work in works if (work[0] == first) is one_of_two)
    until = monotonic() + REWRITE_S
    command = ("ip", "-4", "route", "show")
    ask = partial(run, bench.record.id, command)
    while monotonic() < until:
        tables = inside([(namespace, ask) for namespace, _ in works])
        if not any(DEAD in table.split() for table in tables):
            return
        sleep(0.01)


def _places(topology: TwinTopology, kind: InjectableFault, where: str) -> list[FaultPlace]:
    """Parse the places of a fault. Raises BadInput."""
    parts = [WHERE.fullmatch(part) for part in where.split(",")]
    number = 2 if kind.needs == "two ports" else 1
    if len(parts) != number or not all(parts):
        raise BadInput(f"{where!r} is no place of this fault", how=f"write {kind.form}")
    return [_fault_place(topology, kind, part) for part in parts if part is not None]


def _fault_place(topology: TwinTopology, kind: InjectableFault, part: re.Match[str]) -> FaultPlace:
    node, port, value = part["node"], part["port"], part["value"]
    if (port is not None) == (kind.needs == "a node") or (value and not kind.value):
        raise BadInput(f"{part[0]!r} is no place of this fault", how=f"write {kind.form}")
    if node not in topology.by_switch:
        raise BadInput(f"no switch is called {node!r}", how=nearest(str(node), topology.by_switch))
    link = kernel_name(port) if port else ""
    cabled = {end[1] for cable in topology.cables for end in cable.ends if end[0] == node}
    if link and link not in cabled:
        raise BadInput(f"no cable is at {port}", where=node, how="name a port by the switch's text")
    return FaultPlace(node, link, int(value) if value else None)
