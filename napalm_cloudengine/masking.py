"""Mask the secrets in configuration text, so that no message, log or sanitized text shows one."""

import re

MASK = "<removed>"  # as NAPALM's own drivers have it in a sanitized configuration

# Words before a secret in VRP, by their sections in the command reference:
# `password { cipher | simple }`, `local-user .. password irreversible-cipher`, the `cipher` of NTP
# and SNMP, `snmp-agent community`; a plain-text key follows the algorithm that uses it and, for a
# routing protocol, its number.
_BEFORE = (
    r"(?:irreversible-)?cipher|simple|plain|password|secret|shared-key|key-string|securityname"
    r"|community[ \t]+(?:read|write)|pre-shared-key"
    r"|\S*(?:authentication|privacy)-mode (?:md5|sha|hmac-|aes|des|3des)\S*(?:[ \t]+\d+)?"
)
_HINTS = re.compile(
    "cipher|simple|plain|password|secret|key|securityname|community|authentication|privacy"
)
# Cipher text as a switch saves it, in any position: %^%#..%^%#, %+%##!!!..%+%#, $1d$..$, and older
_CIPHER_TEXT = re.compile(r"(?:%\^%#|%\+%#|%@%@|@%@%|%\$%\$|\$1[a-z]\$)\S*", re.ASCII)
# The user and password of a URL; one slash where it was read as a path. A password that is not
# encoded may contain a slash.
LOGIN = re.compile(r"(:/{1,2})(?:[^\s/@]*:\S*|[^\s/@]+)@")


def secret_pattern(placeholder: str = r"(?!)") -> re.Pattern[str]:
    """Compile a pattern of a secret in a line: group 1 is the text before it.

    placeholder: a pattern of references to a secret, which are not masked.
    """
    return re.compile(
        # `ssh server cipher aes256_gcm`, of a client, and `cipher-suite exclude cipher mode cbc`
        # list algorithms
        rf"(?<!\S)(?<!\bssh server )(?<!\bssh client )(?<!\bexclude )((?:(?:{_BEFORE})[ \t]+)+)"
        rf"(?!(?:(?:{_BEFORE})[ \t]+)*{placeholder})"
        r"(?:\"[^\"\n]*\"|\S+)",
        re.ASCII,
    )


_SECRET = secret_pattern()


def mask_secrets(text: str, pattern: re.Pattern[str] = _SECRET) -> str:
    """Copy `text`, one or many lines, with every secret replaced by `<removed>`."""
    rows = (
        pattern.sub(rf"\g<1>{MASK}", row) if _HINTS.search(row) else row
        for row in text.splitlines(keepends=True)
    )
    return mask_logins(_CIPHER_TEXT.sub(MASK, "".join(rows)))


def mask_logins(text: str) -> str:
    """Copy a text with the user and password of every URL replaced by `<removed>`."""
    return LOGIN.sub(rf"\g<1>{MASK}@", text) if ":/" in text else text
