"""Mask the secrets in configuration text, so that no message, log or sanitized text shows one."""

import re
from collections.abc import Iterator

MASK = "<removed>"

# A keyword after which VRP expects a secret: the word that follows is one. The places are those
# of the command reference: `password { cipher | simple }`, `local-user .. password
# irreversible-cipher`, `authentication-mode .. password`, the `cipher` of ntp and snmp,
# `snmp-agent community`, `privacy-mode aes256 [ cipher ]`. `ssh server cipher` lists algorithms.
_SECRET = re.compile(
    r"""(?P<key>
        \bpassword[ \t]+(?:irreversible-cipher|cipher|simple)[ \t]+
      | (?<!\bserver[ ])\b(?:irreversible-cipher|cipher|simple)[ \t]+
      | \bpassword[ \t]+(?!(?:irreversible-cipher|cipher|simple)\b)
      | \bcommunity[ \t]+(?:read|write)[ \t]+(?!cipher\b)
      | \b(?:authentication-mode|privacy-mode)[ \t]+\S+[ \t]+(?!cipher\b|password\b)
      )
      (?P<value>"[^"\n]*"|\S+)""",
    re.VERBOSE,
)
# Stored cipher text, wherever it stands: %^%#..%^%#, $1c$..$, $1d$..$, %+%##!!!..%+%#
_CIPHER_TEXT = re.compile(r"%\^%#\S*?%\^%#|%\+%#\S*?%\+%#|\$1[a-z]\$\S+\$")


# One of them is in every line in which `_SECRET` finds something, and in few others.
_HINTS = ("password", "cipher", "simple", "community", "authentication-mode", "privacy-mode")


def mask_secrets(text: str) -> str:
    """Copy `text`, one or many lines, with every secret replaced by `<removed>`."""
    parts, done = [], 0
    for start in sorted({text.rfind("\n", 0, at) + 1 for at in _hinted(text)}):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = _SECRET.sub(lambda found: found["key"] + MASK, text[start:end])
        parts += [text[done:start], line]
        done = end
    return _CIPHER_TEXT.sub(MASK, "".join((*parts, text[done:])))


def _hinted(text: str) -> Iterator[int]:
    """Where a hint stands: a search for fixed words, as a whole configuration is mostly others."""
    for hint in _HINTS:
        at = text.find(hint)
        while at >= 0:
            yield at
            at = text.find(hint, at + 1)
