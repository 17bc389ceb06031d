"""Approvals of waves: what a fabric asks of them, and what one says."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from rocefort.models.base import Frozen

# NAME [options] KEYTYPE KEY: ssh-keygen(1), ALLOWED SIGNERS.
Signer = Annotated[
    str,
    StringConstraints(
        pattern=r"^[!-~]+( [ -~]+)? (ssh|ecdsa|sk)-[!-~]+ [A-Za-z0-9+/=]+( [ -~]*)?$"
    ),
]


class Approvals(Frozen):
    """What a fabric asks of approvals and signatures.

    The policy that counts for a plan is that of its base, not that of the change itself.
    """

    required: bool = Field(
        default=False, description="Whether every wave waits until somebody approves it."
    )
    not_author: bool = Field(
        default=True, description="Whether who made a plan may not approve its waves."
    )
    expires_h: float = Field(
        default=24, gt=0, le=8760, description="How long an approval holds, hours."
    )
    count: int = Field(
        default=1, ge=1, le=9, description="How many different people approve each wave."
    )
    from_switches: int = Field(
        default=1,
        ge=1,
        description="Fewest switches of a change that has to be approved; one that affects service "
        "always has to.",
    )
    signed: bool = Field(
        default=False, description="Whether a plan is applied only if one of the signers signed it."
    )
    signers: tuple[Signer, ...] = Field(
        default=(),
        description="Who may sign plans and approvals, as lines of an OpenSSH file of allowed "
        "signers. With signers, approvals have to be signed.",
        examples=[["ada@example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFvk"]],
    )

    @model_validator(mode="after")
    def _somebody_can_sign(self) -> Self:
        if self.signed and not self.signers:
            raise ValueError("signed without signers; name them: NAME KEYTYPE KEY")
        return self

    def asked_of(self, switches: int, *, service_affecting: bool) -> bool:
        """Whether a change of this size has to be approved."""
        return self.required and (switches >= self.from_switches or service_affecting)

    def joined(self, other: Approvals) -> Approvals:
        """The policy that asks for all that either asks for; its signers are those of both.

        Raises ValueError where one asks for signatures, and nobody is a signer of both.
        """
        required = [each for each in (self, other) if each.required] or [self, other]
        common = tuple(signer for signer in self.signers if signer in other.signers)
        signers = common if self.signers and other.signers else self.signers or other.signers
        if self.signers and other.signers and not common:
            raise ValueError("no signer is one of both policies")
        return Approvals(
            required=self.required or other.required,
            not_author=any(each.not_author for each in required),
            expires_h=min(self.expires_h, other.expires_h),
            count=max(each.count for each in required),
            from_switches=min(each.from_switches for each in required),
            signed=self.signed or other.signed,
            signers=signers,
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

    @classmethod
    def of_json(cls, text: str) -> Self | None:
        """The approval of a row of the journal; None where that is no approval."""
        try:
            return cls(**{key: str(value) for key, value in json.loads(text).items()})
        except (ValueError, TypeError, AttributeError):
            return None

    @property
    def content(self) -> str:
        """What is signed: all but the signature, in one form."""
        told = asdict(replace(self, signature=""))
        return json.dumps(told, sort_keys=True, separators=(",", ":"))
