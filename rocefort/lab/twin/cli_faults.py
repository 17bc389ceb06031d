"""Faults of a twin's command lines: faults of the dialogue, and counters that rise.

Injected faults are in the lab's file of faults. The process of the command lines follows that file.
It writes the faults in force to another file, which confirms them to the caller.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from types import MappingProxyType

from rocefort.errors import BadInput, RocefortError, ServiceFailed
from rocefort.lab.state.counters import InjectedFault
from rocefort.lab.state.model import EmulatedState
from rocefort.lab.state.state_faults import (
    PLAIN,
    QUEUED,
    STATE_FAULTS,
    StateFault,
    read_state_fault,
)
from rocefort.lab.switch.faults import FAULTS, NEEDS_LINE, WITHOUT, LineFault, read_fault
from rocefort.lab.switch.switch import EmulatedSwitch
from rocefort.lab.twin.cli_process import lines_directory, lines_run
from rocefort.lab.twin.registry import LabRecord, Registry, write_whole

IN_THE_KERNEL = ("link-down", "wrong-cable", "wrong-mtu")  # a twin breaks these for real
LINE_FAULTS: Mapping[str, str] = MappingProxyType(
    {**FAULTS, **{name: STATE_FAULTS[name] for name in STATE_FAULTS if name not in IN_THE_KERNEL}}
)
PATIENCE_S = 30.0  # for the process of the command lines, which checks ten times a second
WHERE = re.compile(r"(?P<switch>[^@*]+)(?P<rest>.*)", re.DOTALL)
IMPOSTOR = "wrong-host-key"
Noted = tuple[str, str]  # fault, where


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
    known = tuple(switches)
    found = WHERE.fullmatch(where)
    if found is None or found["switch"] not in known:
        how = f"write {form_of(name)} with one of: {', '.join(known)}"
        raise BadInput(f"{where!r} names no switch", how=how)
    switch, rest = found["switch"], found["rest"]
    if name in STATE_FAULTS:
        return switch, read_state_fault(name, rest.removeprefix("@"))
    return read_fault(f"{switch}:{name}{rest}")


def told_file(registry: Registry, record: LabRecord) -> Path:
    """Return the file with the faults in force, written by the command lines."""
    return lines_directory(registry, record) / "faults.json"


def await_lines(registry: Registry, record: LabRecord, fault: Noted, *, there: bool) -> None:
    """Wait until the command lines have followed; the caller does not hold the lab's lock.

    there: whether the fault is to be in force. Raises BadInput if they refuse it, ServiceFailed if
    they do not answer.
    """
    until = monotonic() + PATIENCE_S
    file, text = told_file(registry, record), " ".join(fault)
    while lines_run(registry, record) and monotonic() < until:
        told = json.loads(file.read_text("utf-8")) if file.exists() else {}
        if there and text in told.get("refused", {}):
            raise BadInput(told["refused"][text], where=fault[1])
        if (text in told.get("there", [])) == there:
            return
        sleep(0.02)
    if there or lines_run(registry, record):
        what = "the command lines of its switches do not answer"
        how = f"see `rocefort lab status {record.name}`"
        raise ServiceFailed(what, where=record.name, how=how)


@dataclass
class LineFaults:
    """Faults in force, in the process of the command lines.

    noted: the lab's file of injected faults; `told`: the file of faults in force.
    """

    noted: Path
    told: Path
    switches: Mapping[str, EmulatedSwitch]
    model: EmulatedState
    renew: set[str] = field(default_factory=set)  # switches whose listener shows another key
    untold: bool = False
    _seen: tuple[int, int] = (0, 0)
    _there: dict[Noted, tuple[str, LineFault | InjectedFault]] = field(default_factory=dict)
    _refused: dict[str, str] = field(default_factory=dict)

    def changed(self) -> bool:
        """Whether the file has changed since the last `follow`."""
        if not self.noted.exists():
            return False
        stat = self.noted.stat()
        before, self._seen = self._seen, (stat.st_mtime_ns, stat.st_ino)
        return before != self._seen

    def follow(self) -> None:
        """Start and end faults as in the file; faults that already run continue."""
        self.untold = True
        rows = json.loads(self.noted.read_text("utf-8"))
        wanted = {(row["fault"], row["where"]) for row in rows if row["fault"] in LINE_FAULTS}
        self._refused = {}
        for gone in [noted for noted in self._there if noted not in wanted]:
            self._end(gone)
        for fresh in sorted(wanted - self._there.keys()):
            try:
                self._begin(fresh)
            except RocefortError as error:
                self._refused[" ".join(fresh)] = error.problems[0].what

    def _begin(self, noted: Noted) -> None:
        name, fault = read_line_fault(*noted, self.switches)
        switch = self.switches[name]
        if isinstance(fault, StateFault):
            self.model.inject(name, fault)
            self._there[noted] = name, self.model.faults[-1][1]
            return
        switch.strikes.pop(fault, None)
        switch.faults += (fault,)
        self._there[noted] = name, fault
        self._renew(name, fault)

    def _end(self, noted: Noted) -> None:
        name, fault = self._there.pop(noted)
        switch = self.switches[name]
        if isinstance(fault, InjectedFault):
            self.model.faults.remove((name, fault))
            return
        switch.faults = tuple(one for one in switch.faults if one is not fault)
        self._renew(name, fault)

    def _renew(self, name: str, fault: LineFault) -> None:
        if fault.name == IMPOSTOR:
            self.renew.add(name)

    def tell(self) -> None:
        """Write the faults in force."""
        self.untold = False
        there = [" ".join(noted) for noted in self._there]
        write_whole(self.told, json.dumps({"there": there, "refused": self._refused}))
