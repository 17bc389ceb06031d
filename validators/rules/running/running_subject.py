"""Subject of rules that compare running configurations with the intent of a fabric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from rocefort.models.change.edits import Edit
from rocefort.models.network.network import Position
from rocefort.validators.rules.registry import Subject


@dataclass(frozen=True)
class RunningComparison:
    """Running configurations beside a fabric.

    source: directory of the texts, or the switches. missing: switches of the fabric without a
    text; they are judged as intended. strangers: position of each text of no switch, by sysname.
    renamed: sysname in the text of a switch, by its name in the fabric. copies: switch whose text a
    switch runs, which has its own, too; it is judged as intended. withheld: number of differences
    of a switch from the text with its sysname, which is that of another one. edits: differences
    from the running to the intended configuration. facts: differences of model and release.
    """

    source: str
    missing: tuple[str, ...] = ()
    strangers: Mapping[str, Position] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    copies: Mapping[str, str] = field(default_factory=dict)
    withheld: Mapping[str, int] = field(default_factory=dict)
    edits: Mapping[str, tuple[Edit, ...]] = field(default_factory=dict)
    facts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunningSubject(Subject):
    """Running configurations of a fabric under one rule."""

    running: RunningComparison

    given: ClassVar[str] = "the running configurations of a fabric"


@dataclass(frozen=True, slots=True)
class VoteSubject(Subject):
    """Configurations without intent, under one rule."""

    given: ClassVar[str] = "configurations without a fabric"
