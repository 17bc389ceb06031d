"""Changes of the network during a round: cables that are away, and long round trips.

A lab is a twin or emulated switches on this machine. Its module is loaded by name, because a lab
depends on this package.
"""

from __future__ import annotations

import sys
import termios
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from select import select
from time import monotonic, sleep
from typing import Protocol, TextIO, cast

from rocefort.base.errors import RocefortError, Stopped
from rocefort.base.features import optional_module
from rocefort.base.streams import is_terminal
from rocefort.fleet.connections import Connections
from rocefort.models.wording import listing
from rocefort.rdma.rdma_plan import RdmaPlan, Round
from rocefort.rdma.results import CableEvent

LABS = "rocefort.lab.cables"  # module with `cables_of` and `paths_of`
LAB = "lab"
BACK_S = 60.0  # for a person who puts cables back, without a terminal; assumed
ROUTES_S = 40.0  # until routes use the cables again, more than BGP's connect-retry; assumed
LOOK_S = 0.2
Say = Callable[[str], None]


class CableControl(Protocol):
    """Takes cables away, and puts them back; raises RocefortError. A cable is `DEVICE PORT`."""

    def take(self, cables: Sequence[str]) -> None:
        """Take cables away."""

    def put_back(self) -> None:
        """Put back every cable that was taken, and wait until routes use it."""


class PathControl(Protocol):
    """Gives the path between two servers a round trip; raises RocefortError."""

    def lengthen(self, servers: Sequence[str], round_trip_ms: float, reorder: float) -> None:
        """Delay what the servers receive, half of the round trip each; reorder: percent."""

    def restore(self) -> None:
        """End every delay."""


@dataclass(frozen=True)
class PersonalCables:
    """Cables that a person takes away at a message.

    terminal: where the person presses Enter; None: the person has BACK_S instead. stopped: whether
    a stop of the run was requested.
    """

    say: Say
    stopped: Callable[[], bool] = lambda: False
    terminal: TextIO | None = None

    def take(self, cables: Sequence[str]) -> None:
        """Ask the person to take cables away."""
        self.say(f"now: take {listing(cables)} away")

    def put_back(self) -> None:
        """Ask the person to put the cables back, and wait until routes use them; raises Stopped.

        The next round, which may be without a failure, would begin without the cables otherwise.
        """
        if self.terminal is None:
            self.say(f"now: put the cables back within {BACK_S:g} s")
            self._wait(BACK_S)
        else:
            termios.tcflush(self.terminal, termios.TCIFLUSH)  # keys of before the message
            self.say("now: put the cables back, then press Enter")
            while not select([self.terminal], [], [], LOOK_S)[0]:
                self._wait(0)
            self.terminal.readline()
        self.say(f"routes have {ROUTES_S:g} s to use the cables again")
        self._wait(ROUTES_S)

    def _wait(self, seconds: float) -> None:
        until = monotonic() + seconds
        while not self.stopped():
            if (rest := until - monotonic()) <= 0:
                return
            sleep(min(LOOK_S, rest))
        raise Stopped("the run was stopped before the cables were back")


def cable_control(
    plan: RdmaPlan, access: Connections, say: Say, stopped: Callable[[], bool]
) -> CableControl | None:
    """Return who takes the cables of a plan; None if it takes none.

    Raises as `lab_cables`.
    """
    takers = {each.cable_by for each in plan.rounds if each.cable_by}
    if not takers:
        return None
    if LAB not in takers:
        return PersonalCables(say, stopped, sys.stdin if is_terminal(sys.stdin) else None)
    return lab_cables(access)


def lab_cables(access: Connections) -> CableControl:
    """Return the cables of the lab that connections lead to.

    Raises BadInput if it is no lab of this machine, Refused if it has another fault.
    """
    module = optional_module(LABS, "a lab is to take cables away")
    return cast("CableControl", module.cables_of(access))


def path_control(plan: RdmaPlan, access: Connections) -> PathControl | None:
    """Return the lab that sets the round trips of a plan; None if it has none.

    Raises BadInput if connections lead to no lab of this machine with guests.
    """
    if all(each.round_trip_ms is None for each in plan.rounds):
        return None
    module = optional_module(LABS, "a lab is to set round trips")
    return cast("PathControl", module.paths_of(access))


@contextmanager
def path_lengthened(each: Round, control: PathControl | None) -> Iterator[str]:
    """Give the path of a round its round trip during the block.

    Yields the reason why the round cannot be measured; empty: it can.
    """
    if each.round_trip_ms is None:
        yield ""
        return
    if control is None:
        yield "no lab sets its round trip"
        return
    try:
        try:
            servers = each.runs[0].servers
            control.lengthen(servers, each.round_trip_ms, each.reorder_percent)
        except RocefortError as error:
            yield str(error)
        else:
            yield ""
    finally:
        control.restore()


@contextmanager
def cables_away(
    each: Round, control: CableControl | None, events: list[CableEvent]
) -> Iterator[None]:
    """Take the cables of a round away during the block, and put them back after it.

    events: gets what happened, also without success. A block that ends earlier leaves the cables.
    """
    if control is None or each.cable_at_s is None:
        yield
        return
    over, taken, back = threading.Event(), list[datetime](), list[datetime]()
    problems: list[str] = []

    def attempt(act: Callable[[], None]) -> bool:
        try:
            act()
        except RocefortError as error:
            problems.append(str(error))
        except Exception as error:  # noqa: BLE001 - of any kind: a thread would lose it
            problems.append(f"{type(error).__name__}: {error}")
        else:
            return True
        return False

    def take() -> None:
        if not over.wait(each.cable_at_s):
            taken.append(datetime.now(UTC))
            attempt(lambda: control.take(each.fault_links))

    thread = threading.Thread(target=take, name="rdma-cables", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        if taken and attempt(control.put_back):
            back.append(datetime.now(UTC))
        events.append(
            CableEvent(
                round=each.number,
                cables=each.fault_links,
                by=each.cable_by or "person",
                taken_at=taken[0] if taken else None,
                back_at=back[0] if back else None,
                problem="; ".join(problems),
            )
        )
