"""Steps of `lab up` and of the commands on a lab that is up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rocefort.base.errors import BadInput, Refused, ServiceFailed
from rocefort.design.subject import subject_of
from rocefort.lab.guest_connections import guest_names, lead_to_guests, speed_note
from rocefort.lab.roce_probes import TWIN_NOTE
from rocefort.lab.twin.faults import ActiveFault, break_lab, mend_lab
from rocefort.lab.twin.registry import Registry
from rocefort.lab.twin.requirements import require_host, require_root
from rocefort.lab.twin.status import LabStatus, status_of
from rocefort.lab.twin.twin import Twin, TwinOptions, take_down
from rocefort.lab.twin_cli import start_lines
from rocefort.models.network.network import Network
from rocefort.models.wording import count_of
from rocefort.validators.routing.engine import solve
from rocefort.validators.routing.external_peers import with_outside
from rocefort.validators.routing_results import SessionStatus


def bring_up(
    fabric: Path,
    name: str | None,
    choice: TwinOptions,
    say: Callable[[str], None],
    guests: str = "",
) -> Twin:
    """Bring a fabric's twin up with its command lines, and report what it leaves out.

    guests: servers that QEMU runs, besides those of the choice: names with commas, or all.
    """
    require_host(other_frr=choice.other_frr)
    subject = subject_of(fabric, None)
    network = with_outside(subject.network)
    guests_by_name = dict.fromkeys((*choice.guests, *guest_names(network, guests)))

    def finish(twin: Twin) -> None:
        start_lines(twin.registry, twin.record, subject.network, subject.texts)
        if twin.record.guests:
            lead_to_guests(twin)

    expected = expected_sessions(network)
    chosen = replace(choice, expected=expected, guests=tuple(guests_by_name), finish=finish)
    try:
        twin = Twin.up(network, name or network.name, chosen, say=say)
    except OSError as error:
        what = f"cannot come up: {error.strerror}"
        how = "check that /run is not full; nothing is left behind"
        raise ServiceFailed(what, where=name or network.name, how=how) from None
    say(f"note: {speed_note(twin) if twin.record.guests else TWIN_NOTE}")
    for note in notes_of(twin):
        say(f"note: {note}")
    return twin


def expected_sessions(network: Network) -> dict[str, tuple[str, ...]] | None:
    """Return peers by switch whose sessions the embedded engine predicts as up; None if it refuses.

    A fabric with a fault also comes up: sessions that cannot come up are not waited for.
    """
    try:
        state = solve(network)
    except Refused:
        return None
    peers_by_switch: dict[str, list[str]] = {}
    for session in state.sessions:
        if session.status is SessionStatus.ESTABLISHED:
            peers_by_switch.setdefault(session.device, []).append(str(session.peer))
    return {switch: tuple(peers) for switch, peers in peers_by_switch.items()}


def notes_of(twin: Twin) -> list[str]:
    """Return configured features that the twin leaves out, with the number of switches."""
    switches_by_note: dict[str, list[str]] = {}
    for plan in twin.topology.switches:
        for note in plan.notes:
            switches_by_note.setdefault(note, []).append(plan.name)
    return [
        f"{note} ({names[0] if len(names) == 1 else count_of(len(names), 'switch')})"
        for note, names in switches_by_note.items()
    ]


def the_lab(name: str | None) -> str:
    """Return the given lab, or the only one if none is given."""
    names = Registry().names()
    if name is not None or len(names) == 1:
        return name or names[0]
    if not names:
        raise BadInput("no twin is up", how="`rocefort lab up FABRIC` starts one")
    raise BadInput(f"labs are up: {', '.join(names)}", how="name one with --name")


def find_lab(name: str | None) -> Twin:
    """Return a lab to work in. Raises ServiceFailed without root."""
    require_root()
    return Twin.find(the_lab(name))


def end_lab(name: str) -> None:
    """Take a lab down, by its name alone."""
    require_root()
    take_down(name)


def all_labs() -> list[LabStatus]:
    """Return the status of every lab on this machine."""
    require_root()
    return [status_of(name) for name in Registry().names()]


def one_lab(name: str | None) -> LabStatus:
    """Return the status of one lab."""
    require_root()
    return status_of(the_lab(name))


def break_one(name: str, fault: str, where: str) -> ActiveFault:
    """Inject a fault into a lab."""
    require_root()
    return break_lab(Registry(), name, fault, where)


def require_all(what: str) -> None:
    """Check that everything is to be fixed. Raises BadInput for a part of it."""
    if what != "all":
        how = "leave it out, or write all: faults that share cables are fixed together"
        raise BadInput(f"{what!r} cannot be fixed alone", how=how)


def repair_faults(name: str) -> tuple[ActiveFault, ...]:
    """Fix all injected faults of a lab; the routes may take a while to come back."""
    require_root()
    return mend_lab(Registry(), name)
