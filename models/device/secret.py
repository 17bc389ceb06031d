"""Secrets of a switch by reference: states of a secret in a Device, and placeholders in text.

A Device never contains a secret, only its state. The state is the reference in the intent
(`env:BGP_PASSWORD`, `file:/run/keys/bgp version 2`), `encrypted` if a switch stores it so, or
`readable` if the text shows it. A rotation is another reference or another version.
"""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field, WithJsonSchema

from rocefort.models.base import Frozen, check_reference
from rocefort.models.wording import named

# Keys whose value is a reference; another value may be the secret itself.
SECRET_KEYS = frozenset({"password", "authentication", "privacy", "credential"})
CIPHER: Final = "encrypted"
CLEAR: Final = "readable"
# One word of a path or a variable's name, without a character that closes the placeholder.
REFERENCE = r"(?:env:[A-Za-z_][A-Za-z0-9_]*|file:[!-;=@-~]+|keyring:[!-.0-;=@-~]+/[!-;=@-~]+)"
STATED = re.compile(rf"{CIPHER}|{CLEAR}|{REFERENCE}(?: version \d{{1,9}})?", re.ASCII)
# The blank is intended: a switch takes one word there, so it refuses the line (V300R023C00, `peer
# password`: "without spaces") and never stores a placeholder as a password.
PLACEHOLDER = re.compile(rf"<secret ({STATED.pattern})>", re.ASCII)


def check_secret_reference(value: str) -> str:
    """Accept a reference that fits into a configuration line."""
    check_reference(value)
    if not re.fullmatch(REFERENCE, value, re.ASCII):
        raise ValueError(
            f"{value[:60]!r} cannot stand in a configuration line; use printable ASCII without "
            "blanks, '<', '>' and '?'"
        )
    return value


def check_stated(value: str) -> str:
    """Accept the state of a secret; the error does not repeat the value, which may be one."""
    if not STATED.fullmatch(value):
        raise ValueError("a secret that is neither a reference nor 'encrypted' nor 'readable'")
    return value


SecretReference = Annotated[
    str,
    AfterValidator(check_secret_reference),
    WithJsonSchema({"type": "string", "pattern": f"^{REFERENCE}$"}),
]
Stated = Annotated[str, AfterValidator(check_stated)]


class Authentication(Frozen):
    """MD5 authentication of BGP sessions (RFC 2385): one password at both ends."""

    password: SecretReference = Field(
        description="Where the password is: never the password itself.",
        examples=["env:BGP_PASSWORD"],
    )
    version: int = Field(
        default=1,
        ge=1,
        le=999_999_999,
        json_schema_extra=named("a version of the password"),
        description="Counted up when the password is changed in place: so a rotation shows.",
    )

    @property
    def stated(self) -> str:
        """State of the secret in a Device; the first version has no number."""
        return self.password + (f" version {self.version}" if self.version > 1 else "")


def placeholder(stated: str) -> str:
    """Return the placeholder of a secret in text."""
    return f"<secret {stated}>"


def is_reference(stated: str | None) -> bool:
    """Whether the state is a reference of the intent; a switch's text has none."""
    return stated not in (None, CIPHER, CLEAR)


def reference_of(stated: str) -> str:
    """Return the reference without its version."""
    return stated.partition(" ")[0]
