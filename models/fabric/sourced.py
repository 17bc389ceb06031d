"""What every named profile has: where its values were read, and which of them nobody confirms."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from rocefort.models.base import Description, Frozen, Name


class Sourced(Frozen):
    """A profile whose values come from a source, but for those that it names as assumed."""

    source: Description | None = Field(
        default=None, description="Where its values were read; none: the author's own."
    )
    sources: dict[Name, Description] = Field(
        default_factory=dict, description="Single values that were read elsewhere: key, source."
    )
    confirmed: bool = Field(
        default=True, description="Whether the maker of the device confirms its values."
    )
    assumed: tuple[Name, ...] = Field(
        default=(), description="Keys of this profile whose values no source gives."
    )

    @model_validator(mode="after")
    def _names_its_own_keys(self) -> Self:
        """A mark on a key that is not there would mark nothing."""
        for key in (*self.assumed, *self.sources):
            if key not in type(self).model_fields or key in Sourced.model_fields:
                raise ValueError(f"{key!r} is marked, but is no value of it; name one of its keys")
        return self

    def source_of(self, key: str) -> str | None:
        """Where one value was read; None where nobody says."""
        return None if key in self.assumed else self.sources.get(key, self.source)

    def is_confirmed(self, key: str) -> bool:
        """Whether one value is confirmed."""
        return self.confirmed and key not in self.assumed
