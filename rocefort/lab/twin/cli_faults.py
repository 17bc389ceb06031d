"""Faults of a twin's command lines: faults of the dialogue, and counters that rise.

Injected faults are in the lab's file of faults. The process of the command lines follows that file.
It writes the faults in force to another file, which confirms them to the caller.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from types import MappingProxyType

from rocefort.base.errors import BadInput, RocefortError, ServiceFailed
from rocefort.emulator.state.model import EmulatedState
from rocefort.emulator.state.state_faults import (
    PLAIN,
    QUEUED,
    STATE_FAULTS,
    InjectedFault,
    StateFault,
    read_state_fault,
)
from rocefort.emulator.switch.personality import FAULTS, NEEDS_LINE, WITHOUT, LineFault, read_fault
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.lab.twin.registry import LabRecord, Registry, lines_directory, lines_run, write_whole

IN_THE_KERNEL = ("link-down", "wrong-cable", "wrong-mtu")  # a twin breaks these for real
LINE_FAULTS: Mapping[str, str] = MappingProxyType(
    {**FAULTS, **{name: STATE_FAULTS[name] for name in STATE_FAULTS if name not in IN_THE_KERNEL}}
)
PATIENCE_S = 30.0  # for the process of the command lines, which checks ten times a second
WHERE = re.compile(r"(?P<switch>[^@*]+)(?P<rest>.*)", re.DOTALL)
IMPOSTOR = "wrong-host-key"
FaultKey = tuple[str, str]  # fault, where


def form_of(name: str) -> str:
    """Return the form of a fault's place."""
    if name in STATE_FAULTS:
        queue = "[ queue N]" if name in QUEUED else ""
        return "NODE@PORT" if name in PLAIN else f"NODE@PORT{queue}=COUNT"
    if name in WITHOUT:
        return "NODE"
    return "NODE@LINE[*TIMES]" if name in NEEDS_LINE else "NODE[@LINE[*TIMES]]"


def read_line_fault(
    name: str, where: str, switches: Iterable[str]
) -> tuple[str, LineFault | StateFault]:
    """Parse a fault of a switch's command line, `leaf03@commit*1`. Raises BadInput."""
    names = tuple(switches)
    match = WHERE.fullmatch(where)
    if match is None or match["switch"] not in names:
        how = f"write {form_of(name)} with one of: {', '.join(names)}"
        raise BadInput(f"{where!r} names no switch", how=how)
    switch, rest = match["switch"], match["rest"]
    if name in STATE_FAULTS:
        return switch, read_state_fault(name, rest.removeprefix("@"))
    return read_fault(f"{switch}:{name}{rest}")


def in_force_file(registry: Registry, record: LabRecord) -> Path:
    """Return the file with the faults in force, written by the command lines."""
    return lines_directory(registry, record) / "faults.json"


def await_lines(registry: Registry, record: LabRecord, fault: FaultKey, *, there: bool) -> None:
    """Wait until the command lines have followed; the caller does not hold the lab's lock.

    there: whether the fault is to be in force. Raises BadInput if they refuse it, ServiceFailed if
    they do not answer.
    """
    until = monotonic() + PATIENCE_S
    file, text = in_force_file(registry, record), " ".join(fault)
    while lines_run(registry, record) and monotonic() < until:
        state = json.loads(file.read_text("utf-8")) if file.exists() else {}
        if there and text in state.get("refused", {}):
            raise BadInput(state["refused"][text], where=fault[1])
        if (text in state.get("there", [])) == there:
            return
        sleep(0.02)
    if there or lines_run(registry, record):
        what = "the command lines of its switches do not answer"
        how = f"see `rocefort lab status {record.name}`"
        raise ServiceFailed(what, where=record.name, how=how)


@dataclass
class LineFaults:
    """Faults in force, in the process of the command lines.

    injected: the lab's file of injected faults; in_force: the file of faults in force.
    """

    injected: Path
    in_force: Path
    switches: Mapping[str, EmulatedSwitch]
    model: EmulatedState
    names: Collection[str] = tuple(LINE_FAULTS)  # faults that it puts in force
    renew: set[str] = field(default_factory=set)  # switches whose listener shows another key
    unreported: bool = False
    _seen: tuple[int, int] = (0, 0)
    _active: dict[FaultKey, tuple[str, LineFault | InjectedFault]] = field(default_factory=dict)
    _refused: dict[str, str] = field(default_factory=dict)

    def changed(self) -> bool:
        """Whether the file has changed since the last `follow`."""
        if not self.injected.exists():
            return False
        stat = self.injected.stat()
        before, self._seen = self._seen, (stat.st_mtime_ns, stat.st_ino)
        return before != self._seen

    def follow(self) -> None:
        """Start and end faults as in the file; faults that already run continue."""
        self.unreported = True
        rows = json.loads(self.injected.read_text("utf-8"))
        required = {(row["fault"], row["where"]) for row in rows if row["fault"] in self.names}
        self._refused = {}
        for gone in [key for key in self._active if key not in required]:
            self._end(gone)
        for fresh in sorted(required - self._active.keys()):
            try:
                self._begin(fresh)
            except RocefortError as error:
                self._refused[" ".join(fresh)] = error.problems[0].what

    def _begin(self, key: FaultKey) -> None:
        name, fault = read_line_fault(*key, self.switches)
        switch = self.switches[name]
        if isinstance(fault, StateFault):
            self.model.inject(name, fault)
            self._active[key] = name, self.model.faults[-1][1]
            return
        switch.strikes.pop(fault, None)
        switch.faults += (fault,)
        self._active[key] = name, fault
        self._renew(name, fault)

    def _end(self, key: FaultKey) -> None:
        name, fault = self._active.pop(key)
        switch = self.switches[name]
        if isinstance(fault, InjectedFault):
            self.model.faults.remove((name, fault))
            return
        switch.faults = tuple(active for active in switch.faults if active is not fault)
        self._renew(name, fault)

    def _renew(self, name: str, fault: LineFault) -> None:
        if fault.name == IMPOSTOR:
            self.renew.add(name)

    def report(self) -> None:
        """Write the faults in force."""
        self.unreported = False
        in_force = [" ".join(key) for key in self._active]
        write_whole(self.in_force, json.dumps({"there": in_force, "refused": self._refused}))
