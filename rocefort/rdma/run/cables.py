"""Cables that are away during a part of a round: taken by a lab, or by a person at a printed time.

A lab is a twin or emulated switches on this machine. Its module is loaded by name, because a lab
depends on this package.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol, cast

from rocefort.base.errors import RocefortError
from rocefort.base.features import optional_module
from rocefort.fleet.connections import Connections
from rocefort.models.wording import listing
from rocefort.rdma.rdma_plan import RdmaPlan, Round
from rocefort.rdma.results import CableEvent

LABS = "rocefort.lab.cables"  # module with `cables_of`
Say = Callable[[str], None]


class CableControl(Protocol):
    """Takes cables away, and puts them back; raises RocefortError. A cable is `DEVICE PORT`."""

    def take(self, cables: Sequence[str]) -> None:
        """Take cables away."""

    def put_back(self) -> None:
        """Put back every cable that was taken, and wait until routes use it."""


@dataclass(frozen=True)
class PersonalCables:
    """Cables that a person takes away at a message."""

    say: Say

    def take(self, cables: Sequence[str]) -> None:
        """Ask the person to take cables away."""
        self.say(f"now: take {listing(cables)} away")

    def put_back(self) -> None:
        """Ask the person to put the cables back."""
        self.say("now: put the cables back")


def cable_control(plan: RdmaPlan, access: Connections, say: Say) -> CableControl | None:
    """Return who takes the cables of a plan; None if it takes none.

    Raises BadInput if they belong to no lab of this machine, Refused if the lab has another fault.
    """
    takers = {each.cable_by for each in plan.rounds if each.cable_by}
    if not takers:
        return None
    if "lab" not in takers:
        return PersonalCables(say)
    module = optional_module(LABS, "a lab is to take cables away")
    return cast("CableControl", module.cables_of(access))


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
    over, taken = threading.Event(), list[datetime]()
    problems: list[str] = []

    def take() -> None:
        if not over.wait(each.cable_at_s):
            taken.append(datetime.now(UTC))
            try:
                control.take(each.fault_links)
            except RocefortError as error:
                problems.append(str(error))

    thread = threading.Thread(target=take, name="rdma-cables", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        ended = datetime.now(UTC)
        if taken:
            try:
                control.put_back()
            except RocefortError as error:
                problems.append(str(error))
        events.append(
            CableEvent(
                round=each.number,
                cables=each.fault_links,
                by=each.cable_by or "person",
                taken_at=taken[0] if taken else None,
                back_at=ended if taken else None,
                problem="; ".join(problems),
            )
        )
