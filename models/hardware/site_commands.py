"""Commands that a site adds to the command table of its switches, each with its effect."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Annotated, Literal

from pydantic import Field

from rocefort.models.base import Frozen
from rocefort.models.hardware.hardware import Family, FamilyName

Words = Annotated[str, Field(min_length=1)]


class SiteCommand(Frozen):
    """A command that no model of Rocefort has, and its effect."""

    view: Words = Field(
        examples=["system"],
        description="View of the line: `system`, `interface`, `bgp`, `bgp-af`, `aaa` and "
        "others, or one that a command of the site opens.",
    )
    format: Words = Field(
        examples=["frobnicate ( <name> )"],
        description="Format of the line, in the notation of the vendor's reference. A value "
        "in ( ) is replaced by another one; the other words are the line's key.",
    )
    undo: tuple[Words, ...] = Field(
        default=(),
        examples=[["frobnicate"]],
        description="Formats that remove the line, without the word undo: its key, or all of it. "
        "None: the words before the value.",
    )
    opens: Words | None = Field(
        default=None,
        examples=["qos"],
        description="New view that the line opens, for other commands of the site.",
    )
    families: tuple[FamilyName, ...] = Field(
        default=(),
        examples=[["v300-g1"]],
        description="Syntax families that have the command; none: all.",
    )
    order: Literal["first", "last"] = Field(
        default="last",
        description="Place in a plan. `first`, in the system view: other lines refer to this one, "
        "so it is set before them and removed after them.",
    )
    effect: Words = Field(
        examples=["the switch reports to the frobnicator by this name"],
        description="Effect of the line on the switch, in one sentence.",
    )
    affects_service: bool = Field(
        examples=[False], description="Whether a change of the line can affect traffic or sessions."
    )
    source: Words = Field(
        examples=["vendor's note of March 2024"], description="Where the facts were read."
    )
    confirmed: bool = Field(
        default=True,
        description="Whether the vendor's documents state it. If not, TXT001 reports it, and a "
        "change of the line counts as one that affects service.",
    )


class SiteCommands(Frozen):
    """Content of a file of inventory/catalogue."""

    commands: tuple[SiteCommand, ...] = Field(description="Commands that the site adds.")


@dataclass(frozen=True)
class PlacedCommand:
    """A command of a site, with the positions of its keys for errors."""

    command: SiteCommand
    places: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    def where(self, key: str = "") -> str:
        """Return the position of a key, or of the whole command."""
        places = dict(self.places)
        return places.get(key) or places.get("", "")


class SiteFamily(Family):
    """Syntax family with the commands that a site adds."""

    commands: tuple[PlacedCommand, ...]

    def file_of(self, command: SiteCommand) -> str:
        """Return the file of a command, from the folder of the site."""
        place = next(placed.where() for placed in self.commands if placed.command == command)
        return "/".join(PurePath(place.partition(":")[0]).parts[-3:])

    @property
    def shipped(self) -> Family:
        """The family without those commands."""
        return Family.model_construct(**{name: getattr(self, name) for name in Family.model_fields})
