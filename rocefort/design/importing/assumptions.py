"""Assumptions of an import and differences between switches, for the user and as YAML comments."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from rocefort.base.documents.read import YamlPath, path_text
from rocefort.models.base import Frozen, check_description, check_name
from rocefort.models.device.device import Device
from rocefort.models.hardware.hardware import Family, Hardware
from rocefort.models.vote import Vote
from rocefort.models.wording import listing

Data = dict[str, Any]  # data for YAML: mappings, lists, words, numbers and addresses
T = TypeVar("T", bound=Hashable)
MOST_NAMED = 4  # switches that a sentence lists


@dataclass(frozen=True, slots=True)
class SwitchText:
    """Switch with the content of its text."""

    device: Device
    file: str
    software: str | None = None  # release in the text's header or an output
    model: str | None = None  # hardware in the text or an output
    # Number of lines that the text would not have if a hardware of a family had written it.
    unlike: Callable[[Hardware, Family], int] = field(default=lambda *_: 0, compare=False)

    @property
    def name(self) -> str:
        """Sysname of the switch."""
        return self.device.name


@dataclass
class Notes:
    """Notes of an import, filled while it builds a fabric.

    assumed: reasons of values that no text contains, by YAML path. differences: sentences on values
    that differ between switches, with the value that was chosen.
    """

    assumed: dict[YamlPath, str] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)

    def assume(self, path: YamlPath, why: str) -> None:
        """Note that no text contains the value at a path."""
        self.assumed.setdefault(path, why)

    def majority(self, what: str, values: Mapping[str, T]) -> T | None:
        """Return the most common value of switches, by name; of a tie the first. None: no value.

        It notes one sentence for all that differ.
        """
        if not values:
            return None
        vote = Vote(values)
        if not vote.unanimous:
            others = (
                f"{_words(value)} on {_names(vote.voters(value))}"
                for value in vote.counts
                if value != vote.taken
            )
            tie = " of a tie" if vote.tied else ""
            self.differences.append(
                f"{what}: {_words(vote.taken)} is taken{tie}; {listing(others)}"
            )
        return vote.taken

    def sentences(self) -> list[str]:
        """Return one line for each value that no text contains."""
        return [f"{path_text(path)}: {why}" for path, why in self.assumed.items()]


def writable(description: str | None) -> bool:
    """Whether a fabric accepts a description; a switch accepts some that a fabric does not."""
    return description is not None and _passes(check_description, description)


def nameable(name: str | None) -> bool:
    """Whether a fabric can have a name."""
    return name is not None and _passes(check_name, name)


def _passes(check: Callable[[str], str], value: str) -> bool:
    try:
        check(value)
    except ValueError:
        return False
    return True


def _words(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, tuple):
        return ", ".join(_words(item) for item in value if item is not None) or "nothing"
    if isinstance(value, Frozen):
        fields = {n: getattr(value, n) for n in sorted(value.model_fields_set)}
        return " ".join(f"{n} {_words(item)}" for n, item in fields.items() if item is not None)
    return str(value)


def _names(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return listing([*names[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])])
