"""Approvals of waves: the fabric's policy, and the content of one approval."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from rocefort.models.base import Frozen
from rocefort.models.wording import count_of, named

# NAME [options] KEYTYPE KEY: ssh-keygen(1), ALLOWED SIGNERS.
Signer = Annotated[
    str,
    StringConstraints(
        pattern=r"^[!-~]+( [ -~]+)? (ssh|ecdsa|sk)-[!-~]+ [A-Za-z0-9+/=]+( [ -~]*)?$"
    ),
]


class Approvals(Frozen):
    """Policy of a fabric for approvals and signatures.

    A plan is subject to the policy of its base. The policy that the change itself brings does not
    count for it.
    """

    required: bool = Field(default=False, description="Whether every wave waits for an approval.")
    not_author: bool = Field(
        default=True, description="Whether the author of a plan may not approve its waves."
    )
    expires_h: float = Field(
        default=24,
        gt=0,
        le=8760,
        json_schema_extra=named("a time in hours"),
        description="Time until an approval expires, hours.",
    )
    count: int = Field(
        default=1,
        ge=1,
        le=9,
        json_schema_extra=named("a number of people"),
        description="Number of different people who approve each wave.",
    )
    from_switches: int = Field(
        default=1,
        ge=1,
        json_schema_extra=named("a number of switches"),
        description="Smallest number of switches whose change needs approval. A service-affecting "
        "change always needs it.",
    )
    signed: bool = Field(
        default=False, description="Whether a plan is applied only if one of the signers signed it."
    )
    signers: tuple[Signer, ...] = Field(
        default=(),
        description="People who may sign plans and approvals, as lines of an OpenSSH file of "
        "allowed signers. With signers, approvals have to be signed.",
        examples=[["ada@example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFvk"]],
    )

    @model_validator(mode="after")
    def _somebody_can_sign(self) -> Self:
        if self.signed and not self.signers:
            raise ValueError("signed without signers; name them: NAME KEYTYPE KEY")
        return self

    def asked_of(self, switches: int, *, service_affecting: bool) -> bool:
        """Whether a change of so many switches needs approval."""
        return self.required and (switches >= self.from_switches or service_affecting)

    def __str__(self) -> str:
        parts = []
        if self.required:
            who = "1 person" if self.count == 1 else f"{self.count} people"
            other = ", not the plan's author" if self.not_author else ""
            small = self.from_switches
            of_many = f", from {small} switches on or if service is affected" if small > 1 else ""
            parts.append(f"{who} per wave{other}{of_many}, valid for {self.expires_h:g} h")
        else:
            parts.append("none")
        if self.signed:
            parts.append("the plan is signed")
        if self.signers:
            parts.append(f"signatures of {count_of(len(self.signers), 'signer')}")
        return "; ".join(parts)

    @property
    def in_force(self) -> Approvals:
        """Policy without the values that have no effect, for a comparison."""
        signers = tuple(sorted(set(self.signers)))
        if not self.required:
            return Approvals(signed=self.signed, signers=signers)
        return self.model_copy(update={"signers": signers})

    def joined(self, other: Approvals) -> Approvals:
        """Return the policy that requires all that either requires; its signers are in both.

        Raises ValueError where both have signers and no signer is in both.
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
class WaveApproval:
    """Approval of one wave of one plan, for one run of it.

    run: a random word that identifies the run, so that an approval is not valid for another run.
    at: time, ISO 8601 with its offset. outside: user and reason of the request to begin outside a
    window that it approves, too; empty: none. signature: of `content`, by an SSH key; empty: none.
    user: of the operating system, who gave it; `by` may be another name of the same person.
    """

    plan: str
    wave: str
    run: str
    by: str
    at: str
    outside: str = ""
    signature: str = ""
    user: str = ""

    @classmethod
    def of_json(cls, text: str) -> Self | None:
        """Read the approval in a row of the journal; None if the row has none."""
        try:
            return cls(**{key: str(value) for key, value in json.loads(text).items()})
        except (ValueError, TypeError, AttributeError):
            return None

    @property
    def content(self) -> str:
        """Text that the signature covers: all other fields, as canonical JSON."""
        fields = asdict(replace(self, signature=""))
        for name in ("outside", "user"):
            if not fields[name]:
                del fields[name]  # as earlier versions sign it
        return json.dumps(fields, sort_keys=True, separators=(",", ":"))
