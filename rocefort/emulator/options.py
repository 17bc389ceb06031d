"""Options of a lab: listening address, behaviour of its switches, faults."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, Problem, Refused
from rocefort.emulator.state.model import EmulatedState
from rocefort.emulator.state.state_faults import STATE_FAULTS, StateFault, read_state_fault
from rocefort.emulator.switch.personality import DEFAULT, FAULTS, LineFault, Personality, read_fault
from rocefort.emulator.switch.switch import CandidateMode, EmulatedSwitch
from rocefort.models.network.servers import HostPlan

LISTEN = re.compile(
    r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<four>[0-9.]+)):(?P<port>\d{1,5})", re.ASCII
)
FAULT = re.compile(r"(?P<switch>[^:@]+):(?P<name>[a-z-]+)(?:@(?P<what>.+))?", re.DOTALL)
FIRST_PORT, LAST_PORT = 1024, 65535


@dataclass(frozen=True)
class LabOptions:
    """The options of `lab cli`; listen: address and first port, 0 for free ones."""

    listen: tuple[str, int] = ("127.0.0.1", 0)
    personality: Personality = DEFAULT
    candidate: CandidateMode = "own"
    faults: tuple[str, ...] = ()  # SWITCH:NAME@WHAT
    factory: tuple[str, ...] = ()  # switches that start out of their box: day 0 comes first
    power_loss: bool = False  # of every switch, before the start
    keep: bool = False  # whether switches continue from their last state
    whole: bool = False  # lines that match no command stay in the start-up configuration
    log: Path | None = None  # audit log of the switches: rocefort.emulator.switch.audit_log
    time_scale: float = 1.0  # how fast the timers of the switches run
    servers: Mapping[str, HostPlan] = field(default_factory=dict)  # settings, for their reader


def read_listen(text: str, *, others: bool) -> tuple[str, int]:
    """Parse `127.0.0.1:2200`. others: an address that others can reach is allowed.

    Raises BadInput; Refused for such an address without that.
    """
    match = LISTEN.fullmatch(text)
    port = int(match["port"]) if match else -1
    try:
        address = ipaddress.ip_address(match["six"] or match["four"]) if match else None
    except ValueError:
        address = None
    if match is None or address is None or not (port == 0 or FIRST_PORT <= port <= LAST_PORT):
        how = f"write 127.0.0.1:PORT or [::1]:PORT, the first port from {FIRST_PORT} to {LAST_PORT}"
        raise BadInput(f"{text!r} is no address and port", where="--listen", how=how)
    if not address.is_loopback and not others:
        what = f"others can reach {address}, and log in with a password that is no secret"
        raise Refused(what, where="--listen", how="add --open-to-others if that is intended")
    return str(address), port


def read_faults(
    texts: Iterable[str], switches: Collection[str]
) -> list[tuple[str, LineFault | StateFault]]:
    """Parse faults, each with its switch; raises BadInput with every wrong one."""
    problems: list[Problem] = []
    faults = []
    for text in texts:
        try:
            faults.append(_parsed_fault(text, switches))
        except BadInput as error:
            problems += [replace(problem, subject=f"--fault {text}") for problem in error.problems]
    if problems:
        raise BadInput(problems=problems)
    return faults


def read_factory(names: Iterable[str], switches: Collection[str]) -> frozenset[str]:
    """Return the switches that start out of their box; raises BadInput with every wrong one."""
    chosen = [name.strip() for text in names for name in text.split(",")]
    problems = [
        Problem(f"--factory {name}", f"no switch is called {name!r}", nearest(name, switches))
        for name in chosen
        if name not in switches
    ]
    if problems:
        raise BadInput(problems=problems)
    return frozenset(chosen)


def _parsed_fault(text: str, switches: Collection[str]) -> tuple[str, LineFault | StateFault]:
    match = FAULT.fullmatch(text)
    if match is None:
        raise BadInput("is no fault", how="write SWITCH:NAME or SWITCH:NAME@WHAT")
    if match["switch"] not in switches:
        how = nearest(match["switch"], switches)
        raise BadInput(f"no switch is called {match['switch']!r}", how=how)
    if match["name"] in STATE_FAULTS:
        return match["switch"], read_state_fault(match["name"], match["what"] or "")
    if match["name"] not in FAULTS:
        how = nearest(match["name"], (*FAULTS, *STATE_FAULTS))
        raise BadInput(f"no fault is called {match['name']!r}", how=how)
    return read_fault(text)


def inject(
    faults: Iterable[tuple[str, LineFault | StateFault]],
    switches: Mapping[str, EmulatedSwitch],
    model: EmulatedState,
) -> None:
    """Start faults; raises BadInput for an unknown port, and a line that a switch refuses."""
    for name, fault in faults:
        if isinstance(fault, StateFault):
            model.inject(name, fault)
        else:
            _check_line(switches[name], fault)
            switches[name].faults += (fault,)


def _check_line(switch: EmulatedSwitch, fault: LineFault) -> None:
    """Raise BadInput for a candidate of another user that no user can have."""
    if fault.name == "foreign-candidate" and fault.match:
        try:
            switch.enter(0, (), fault.match)
        except BadInput as refusal:
            what = f"the switch refuses the line {fault.match!r} ({refusal.problems[0].what})"
            how = "write a line of the system view, such as foreign-candidate@vlan batch 4094"
            where = f"--fault {switch.name}:{fault.name}@{fault.match}"
            raise BadInput(what, where=where, how=how) from None


def faults_help() -> tuple[tuple[str, str], ...]:
    """Return every fault with its effect."""
    return tuple(sorted({**FAULTS, **STATE_FAULTS}.items()))
