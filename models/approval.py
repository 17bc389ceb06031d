"""Approvals of waves: what a fabric asks of them, and what one says."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

from pydantic import Field

from rocefort.models.base import Frozen


class Approvals(Frozen):
    """What a fabric asks of approvals."""

    required: bool = Field(
        default=False, description="Whether every wave waits until somebody approves it."
    )
    not_author: bool = Field(
        default=True, description="Whether who made a plan may not approve its waves."
    )
    expires_h: float = Field(
        default=24, gt=0, le=8760, description="How long an approval holds, hours."
    )


@dataclass(frozen=True, slots=True)
class Approval:
    """One approval: of one wave of one plan, for one run of it.

    run: a random word that the run has from its beginning, so an approval cannot serve another.
    at: when, ISO 8601 with its offset. signature: of `content`, by an SSH key; empty: none.
    """

    plan: str
    wave: str
    run: str
    by: str
    at: str
    signature: str = ""

    @property
    def content(self) -> str:
        """What is signed: all but the signature, in one form."""
        told = asdict(replace(self, signature=""))
        return json.dumps(told, sort_keys=True, separators=(",", ":"))
