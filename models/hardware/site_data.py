"""Data of a site on its own switches: their answers to a probe, and commands that it adds."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from pathlib import PurePath
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rocefort.models.base import Frozen, Name
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


Line = Annotated[str, Field(min_length=1)]


class FormOutcome(StrEnum):
    """Answer of a switch to a form that is typed into its candidate configuration."""

    TAKEN = "taken"  # every line is saved as it was typed
    REFUSED = "refused"  # with an error about a line of the form
    CHANGED = "saved otherwise"  # taken, but a typed line is not among the saved ones
    ASKED = "asked"  # with a question, which is answered no
    UNTRIED = "not tried"
    DISPUTED = "disputed"  # one probe shows it as it is written, and another does not

    @property
    def is_settled(self) -> bool:
        """Whether a switch took the form, or showed that it does not have it as it is written."""
        return self is FormOutcome.TAKEN or self.is_wrong

    @property
    def is_wrong(self) -> bool:
        """Whether the switch does not have the form as it is written."""
        return self in (FormOutcome.REFUSED, FormOutcome.CHANGED)


class FormEvidence(Frozen):
    """One form of a command on a switch: what was typed, and what came of it."""

    form: Line = Field(
        examples=["frobnicate N"], description="Form, as the data of the family name it."
    )
    outcome: FormOutcome = Field(description="What the switch made of it.", examples=["taken"])
    typed: tuple[Line, ...] = Field(
        default=(),
        examples=[["frobnicate 7"]],
        description="Lines that were typed, indented by their view; a last `?` is for help.",
    )
    reply: str = Field(
        default="",
        examples=["Error: Unrecognized command found at '^' position."],
        description="Words of the switch, or the reason why nothing was typed.",
    )
    saved: tuple[Line, ...] = Field(
        default=(),
        examples=[["frobnicate 7"]],
        description="Lines that the candidate then has of it, or the listed words.",
    )
    missing: tuple[Line, ...] = Field(
        default=(), description="Typed lines that the candidate does not have.", examples=[[]]
    )
    earlier: str = Field(
        default="",
        examples=["leaf01 on 2026-11-27"],
        description="Earlier probe that settled it, if the last one did not.",
    )

    def after(self, before: FormEvidence, probe: str) -> FormEvidence:
        """Return the evidence of two probes; probe: the words for the earlier one.

        An answer that settles nothing keeps the earlier one. Two that differ settle nothing, until
        the file is removed.
        """
        if before.outcome is FormOutcome.DISPUTED:
            return before
        probe = before.earlier or probe
        if not self.outcome.is_settled and before.outcome.is_settled:
            return before.model_copy(update={"earlier": probe})
        both = self.outcome.is_settled and before.outcome.is_settled
        if both and self.outcome.is_wrong != before.outcome.is_wrong:
            reply = f"{before.outcome.value} by {probe}, and {self.outcome.value} by the next probe"
            reply = ": ".join(filter(None, (reply, before.reply, self.reply)))
            return FormEvidence(
                form=self.form, outcome=FormOutcome.DISPUTED, typed=self.typed, reply=reply
            )
        return self

    @model_validator(mode="after")
    def _has_its_evidence(self) -> Self:
        """Refuse an outcome that the recorded words do not show."""
        wrong = {
            FormOutcome.TAKEN: not self.typed or not self.saved or bool(self.missing),
            FormOutcome.REFUSED: not self.typed or not self.reply,
            FormOutcome.CHANGED: not self.typed or not self.missing,
        }
        if wrong.get(self.outcome, False):
            needs = {
                FormOutcome.TAKEN: "typed and saved lines, and no missing one",
                FormOutcome.REFUSED: "typed lines and the words of the switch (reply)",
                FormOutcome.CHANGED: "typed lines and the missing ones",
            }
            raise ValueError(
                f"the outcome {self.outcome.value!r} needs {needs[self.outcome]}; probe again"
            )
        return self


VALUES = ("deadlock_interval_ms", "drop_profiles", "cell_bytes", "buffer_kbytes")  # no ranges


class FactEvidence(Frozen):
    """One number of a family or a model, as a switch shows it: a range or a value."""

    field: Literal[
        "pfc_queues",
        "xoff_kbytes",
        "deadlock_detect_time",
        "deadlock_recovery_time",
        "deadlock_interval_ms",
        "ecn_bytes",
        "ecn_cells",
        "drop_profiles",
        "cell_bytes",
        "buffer_kbytes",
    ] = Field(description="Key of the hardware data.", examples=["xoff_kbytes"])
    asked: Line = Field(
        examples=["frobnicate ?"],
        description="What was typed; ` / ` enters a view.",
    )
    reply: str = Field(description="Words of the switch.", examples=["INTEGER<1-30720>"])
    low: int | None = Field(default=None, ge=0, description="Lowest value.", examples=[1])
    high: int | None = Field(default=None, gt=0, description="Highest value.", examples=[30720])
    value: int | None = Field(default=None, gt=0, description="The number, if it is no range.")
    disputed: bool = Field(
        default=False, description="Whether two probes differ; then it is not settled."
    )

    @property
    def is_settled(self) -> bool:
        """Whether the words show the fact."""
        return self.value is not None or self.low is not None

    def after(self, before: FactEvidence, probe: str) -> FactEvidence:
        """Return the evidence of two probes, as that of a form."""
        if before.disputed or (before.is_settled and not self.is_settled):
            return before
        if not before.is_settled or self.text == before.text:
            return self
        reply = f"{before.text} by {probe}, and {self.text} by the next probe"
        return FactEvidence(field=self.field, asked=self.asked, reply=reply, disputed=True)

    @property
    def text(self) -> str:
        """The number or the range, for a person."""
        return f"{self.low} to {self.high}" if self.value is None else str(self.value)

    @model_validator(mode="after")
    def _is_a_range_or_a_value(self) -> Self:
        """Refuse half a range, an empty one, and a range beside a value."""
        if (self.low is None) != (self.high is None):
            raise ValueError("a range needs both low and high; probe again")
        wrong, right = (self.low, "value") if self.field in VALUES else (self.value, "low and high")
        if wrong is not None:
            raise ValueError(f"{self.field} is given by {right}; probe again")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"the range {self.low} to {self.high} is empty; probe again")
        return self


class SwitchFacts(Frozen):
    """Content of a file of inventory/facts: the answers of one switch to a probe.

    They count for switches of the same model and release.
    """

    device: Name = Field(description="Switch that was probed.", examples=["leaf01"])
    model: Name = Field(description="Its model.", examples=["CE8850-64CQ-EI"])
    release: Line = Field(description="Its release.", examples=["V200R022C00SPC500"])
    family: FamilyName = Field(description="Its syntax family.", examples=["v200"])
    probed_on: date = Field(description="Day of the probe.", examples=["2026-11-27"])
    forms: tuple[FormEvidence, ...] = Field(default=(), description="Forms of commands.")
    facts: tuple[FactEvidence, ...] = Field(default=(), description="Numbers.")
    complete: bool = Field(
        default=False, description="Last line; a file without it is cut off.", examples=[True]
    )

    @property
    def source(self) -> str:
        """The evidence as a source: switch, model, release and day."""
        return f"{self.device} ({self.model}, {self.release}), probed on {self.probed_on}"

    def after(self, before: SwitchFacts) -> SwitchFacts:
        """Return these answers with the earlier ones of the same model and release."""
        probe = f"{before.device} on {before.probed_on}"
        forms = {form.form: form for form in before.forms}
        numbers = {fact.field: fact for fact in before.facts}
        update = {
            "forms": tuple(
                each.after(forms[each.form], probe) if each.form in forms else each
                for each in self.forms
            ),
            "facts": tuple(
                each.after(numbers[each.field], probe) if each.field in numbers else each
                for each in self.facts
            ),
        }
        return self.model_copy(update=update)

    def is_of(self, model: str, release: str) -> bool:
        """Whether the answers count for a model and a release, with or without its last part."""
        near = release.startswith(self.release) or self.release.startswith(release)
        return self.model == model and near
