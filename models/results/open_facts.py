"""A fact that no source confirms, where it is used, and the command that settles it."""

from __future__ import annotations

from rocefort.models.base import Frozen


class OpenFact(Frozen):
    """One point to settle on a first real switch.

    of: a syntax family, a switch model, or `any release`. used: the switches that it matters to.
    ask: what to enter there; `?` stands for the help of the command line, ` / ` leads into a view.
    """

    of: str
    fact: str
    ask: str
    used: tuple[str, ...] = ()


class OpenFacts(Frozen):
    """The acceptance list of a fabric, or of all that Rocefort knows."""

    name: str
    switches: int = 0
    facts: tuple[OpenFact, ...] = ()
