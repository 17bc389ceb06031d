"""Mask the secrets in configuration text, so that no message, log or sanitized text shows one."""

import re

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


def mask_secrets(text: str) -> str:
    """Copy `text`, one or many lines, with every secret replaced by `<removed>`."""
    return _CIPHER_TEXT.sub(MASK, _SECRET.sub(lambda found: found["key"] + MASK, text))
