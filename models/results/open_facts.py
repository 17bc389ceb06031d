"""Open facts: facts that no source confirms, with the command that confirms each."""

from __future__ import annotations

from rocefort.models.base import Frozen


class OpenFact(Frozen):
    """Fact to confirm on a first real switch.

    of: a syntax family, a switch model, or `any release`. used: the switches that it concerns.
    ask: input for the switch; `?` is the help of the command line, ` / ` enters a view.
    """

    of: str
    fact: str
    ask: str
    used: tuple[str, ...] = ()


class OpenFacts(Frozen):
    """Acceptance list of a fabric, or of all hardware data."""

    name: str
    switches: int = 0
    facts: tuple[OpenFact, ...] = ()
