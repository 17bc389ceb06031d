"""Facts of a site: what its own switches answered to a probe, with the evidence of each answer."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rocefort.models.base import Frozen, Name
from rocefort.models.hardware.hardware import FamilyName

Line = Annotated[str, Field(min_length=1)]


class FormOutcome(StrEnum):
    """Answer of a switch to a form that is typed into its candidate configuration."""

    TAKEN = "taken"  # every line is saved as it was typed
    REFUSED = "refused"  # with an error about a line of the form
    CHANGED = "saved otherwise"  # taken, but a typed line is not among the saved ones
    ASKED = "asked"  # with a question, which is answered no
    UNTRIED = "not tried"

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
    low: int | None = Field(default=None, description="Lowest value.", examples=[1])
    high: int | None = Field(default=None, description="Highest value.", examples=[30720])
    value: int | None = Field(default=None, description="The number, if it is no range.")

    @property
    def is_settled(self) -> bool:
        """Whether the words show the fact."""
        return self.value is not None or self.low is not None

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

    @property
    def source(self) -> str:
        """The evidence as a source: switch, model, release and day."""
        return f"{self.device} ({self.model}, {self.release}), probed on {self.probed_on}"

    def is_of(self, model: str, release: str) -> bool:
        """Whether the answers count for a model and a release, with or without its last part."""
        near = release.startswith(self.release) or self.release.startswith(release)
        return self.model == model and near
