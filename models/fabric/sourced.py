"""Base of named profiles: the source of each value, and whether it is confirmed."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from rocefort.models.base import Description, Frozen, Name


class Sourced(Frozen):
    """Profile whose values have a source, except those that it names as assumed."""

    source: Description | None = Field(
        default=None,
        examples=["data sheet of March 2024"],
        description="Where its values were read; none: the author's own.",
    )
    sources: dict[Name, Description] = Field(
        default_factory=dict,
        examples=[{"cnp_dscp": "answer of the vendor, May 2024"}],
        description="Single values that were read elsewhere: key, source.",
    )
    confirmed: bool = Field(
        default=True, description="Whether the maker of the device confirms its values."
    )
    assumed: tuple[Name, ...] = Field(
        default=(),
        examples=[["cnp_dscp"]],
        description="Keys of this profile whose values no source gives.",
    )

    @model_validator(mode="after")
    def _names_its_own_keys(self) -> Self:
        """Refuse a source or an assumption for a key that the profile does not have."""
        for key in (*self.assumed, *self.sources):
            if key not in type(self).model_fields or key in Sourced.model_fields:
                raise ValueError(f"{key!r} is marked, but is no value of it; name one of its keys")
        return self

    def source_of(self, key: str) -> str | None:
        """Source of one value; None where no source is given."""
        return None if key in self.assumed else self.sources.get(key, self.source)

    def is_confirmed(self, key: str) -> bool:
        """Whether a vendor's document confirms one value."""
        return self.confirmed and key not in self.assumed
