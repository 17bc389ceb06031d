"""Secrets in VRP text: masked where text is shown, read as a fact, checked before typing."""

from __future__ import annotations

import hashlib
import re

from napalm_cloudengine.masking import mask_secrets, secret_pattern
from rocefort.base.errors import BadInput
from rocefort.models.device.secret import CIPHER, CLEAR, PLACEHOLDER

# A placeholder stays: it marks the position of a secret, and contains none.
_SECRET = secret_pattern(PLACEHOLDER.pattern)
# Encrypted secrets as a switch saves them: V200 and V300 forms, and two older ones; and the
# replacements of a secret by other tools and people.
STORED = re.compile(
    r"%\^%#\S*%\^%#|%\+%##\S*|\$1[a-z]\$\S+|%@%@\S*%@%@|@%@%\S*@%@%|%\$%\$\S*%\$%\$|\S{22}!!",
    re.ASCII,
)
TAKEN_OUT = re.compile(r"\*+|<[^<>]*>", re.ASCII)
# V300R023C00, `peer password`: 1 to 255 characters, no blank and no `?` (a key press); here also
# only ASCII. A quote would begin a quoted word.
TYPED = re.compile(r"[!#->@-~]{1,255}", re.ASCII)


def masked_text(text: str) -> str:
    """Mask the passwords, ciphers and communities of a text; references stay."""
    return mask_secrets(text, _SECRET)


def stated_secret(form: str, value: str) -> str:
    """Return a Device's value for the secret after `cipher` or `simple`: see models.secret.

    `cipher` with a value that no switch saves is as readable as `simple`: a user typed it.
    """
    placeholder = PLACEHOLDER.fullmatch(value)
    if placeholder:
        return placeholder[1]
    stored = form == "cipher" and (STORED.fullmatch(value) or TAKEN_OUT.fullmatch(value))
    return CIPHER if stored else CLEAR


def check_typed(value: str, reference: str) -> str:
    """Accept a secret that a command line takes as one word; an error does not repeat it.

    A value that resembles a switch's cipher is refused: the switch would accept it as a cipher.
    """
    if not TYPED.fullmatch(value):
        raise BadInput(
            "the secret cannot be typed as one word",
            where=reference,
            how="use 1 to 255 printable ASCII characters without blanks, '?' and '\"'",
        )
    if STORED.fullmatch(value):
        raise BadInput(
            "the secret looks like one that a switch has encrypted, and would be taken for it",
            where=reference,
            how="store the password itself",
        )
    return value


def as_saved(text: str) -> str:
    """Return text as a switch would save it, with a stand-in for each encrypted secret."""

    def saved(match: re.Match[str]) -> str:
        return "readable" if match[1] == CLEAR else cipher_of(match[1])

    return PLACEHOLDER.sub(saved, text)


def cipher_of(secret: str) -> str:
    """Return the cipher of an emulated switch; a real one encrypts, each time differently."""
    if STORED.fullmatch(secret):
        return secret
    return f"%^%#{hashlib.sha256(secret.encode()).hexdigest()}%^%#"
