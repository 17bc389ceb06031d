"""Mask the secrets in configuration text, so that no message, log or sanitized text shows one."""

import re
from difflib import get_close_matches
from functools import lru_cache

MASK = "<removed>"  # as NAPALM's own drivers have it in a sanitized configuration

# Words before a secret in VRP, by their sections in the command reference:
# `password { cipher | simple }`, `local-user .. password irreversible-cipher`, the `cipher` of NTP
# and SNMP, `snmp-agent community`; a plain-text key follows the algorithm that uses it and, for a
# routing protocol, its number.
_FORM = r"(?:irreversible-)?cipher|simple|plain"
_BEFORE = (
    rf"{_FORM}|password|secret|shared-key|key-string|securityname"
    r"|community[ \t]+(?:read|write)|pre-shared-key"
    r"|\S*(?:authentication|privacy)-mode (?:md5|sha|hmac-|aes|des|3des)\S*(?:[ \t]+\d+)?"
)
ENDS_IN_FORM = re.compile(rf"(?<!\S)(?:{_FORM})$", re.ASCII)  # complete lines have more
_HINTS = re.compile(
    "cipher|simple|plain|password|secret|key|securityname|community|authentication|privacy"
)
_LAST = re.compile(rf"(?<!\S)(?:{_BEFORE})$", re.ASCII)
# Parts of words that are names of secrets in commands and in keys of any system.
STEMS = (
    *("pass", "pwd", "secret", "cred", "auth", "priv", "key", "token", "communit", "cipher"),
    *("psk", "md5"),
)
WHOLE_PARTS = ("pin", "pw", "otp", "sha")  # in other words these are no names: `spine`
_SECRET_WORD = re.compile(
    rf"{'|'.join(STEMS)}|(?<![^\W_])(?:{'|'.join(WHOLE_PARTS)})(?![^\W_])", re.IGNORECASE
)
_SHARED = re.compile(r"\bserver shared$", re.IGNORECASE)  # `radius server shared-key`, incomplete
_SPELLED = ("password", "secret", "community")  # words with typing mistakes: `pasword`
_LONGEST = 20  # letters of a word that may have a typing mistake
_PAIR = re.compile(r"[^\s=:]+[=:](?=\S)")  # `password:` in a word with its value
REST = ".."
# Cipher text as a switch saves it, in any position: %^%#..%^%#, %+%##!!!..%+%#, $1d$..$, and older
_CIPHER_TEXT = re.compile(r"(?:%\^%#|%\+%#|%@%@|@%@%|%\$%\$|\$1[a-z]\$)\S*", re.ASCII)
# The user and password of a URL; one slash where it was read as a path. A password that is not
# encoded may contain a slash. Group 2 has all of the word, so that the time is linear.
_LOGIN = re.compile(r"(:/{1,2})(?:[^\s/@]*:(\S*)|[^\s/@]+@)")


def secret_pattern(placeholder: str = r"(?!)") -> re.Pattern[str]:
    """Compile a pattern of a secret in a line, with the words before it.

    placeholder: a pattern of references to a secret, which are not masked: they have no group
    `secret`. A match has them too, so that no word before them is read twice.
    """
    return re.compile(
        # `ssh server cipher aes256_gcm`, of a client, and `cipher-suite exclude cipher mode cbc`
        # list algorithms
        rf"(?<!\S)(?<!\bssh server )(?<!\bssh client )(?<!\bexclude )"
        rf"(?P<before>(?:(?:{_BEFORE})[ \t]+(?=\S))++)"
        rf"(?:{placeholder}|(?P<secret>\"[^\"\n]*\"|(?:\S|[\r\f\v](?=\S))+))",
        re.ASCII,
    )


_SECRET = secret_pattern()


def mask_secrets(text: str, pattern: re.Pattern[str] = _SECRET) -> str:
    """Copy `text`, one or many lines, with every secret replaced by `<removed>`."""
    rows = (
        pattern.sub(_masked_secret, row) if _HINTS.search(row) else row for row in text.split("\n")
    )
    return mask_logins(_CIPHER_TEXT.sub(MASK, "\n".join(rows)))


def _masked_secret(match: re.Match[str]) -> str:
    return match[0] if match["secret"] is None else match["before"] + MASK


def mask_logins(text: str) -> str:
    """Copy a text with the user and password of every URL replaced by `<removed>`."""
    return _LOGIN.sub(_masked_login, text) if ":/" in text else text


def _masked_login(match: re.Match[str]) -> str:
    _, at, host = ("@" if match[2] is None else match[2]).rpartition("@")
    return f"{match[1]}{MASK}@{host}" if at else match[0]


def has_login(text: str) -> bool:
    """Whether a text has the user or the password of a URL."""
    return mask_logins(text) != text


@lru_cache(maxsize=10_000)
def is_secret_word(word: str) -> bool:
    """Whether a word resembles the name of a secret."""
    near = len(word) <= _LONGEST and get_close_matches(word.casefold(), _SPELLED, 1, 0.8)
    return bool(_SECRET_WORD.search(word) or near)


def ends_before_secret(line: str) -> bool:
    """Whether the last word of a line precedes a secret, which a terminal may have wrapped."""
    words = line.split()
    return bool(words) and (is_secret_word(words[-1]) or _LAST.search(line) is not None)


def cut_at_secret_word(line: str) -> str:
    """Copy a line of an unknown command up to a word like the name of a secret, then `..`.

    The line has passed `mask_secrets`: words before a mask stay.
    """
    head, mask, tail = line.rpartition(f"{MASK} ")
    words = tail.split()
    for number, word in enumerate(words, 1):
        pair = _PAIR.match(word)
        if pair and is_secret_word(pair[0]):
            return f"{head}{mask}{' '.join([*words[: number - 1], pair[0]])}{REST}"
        two_words = " ".join(words[max(0, number - 2) : number])
        is_name = is_secret_word(word) or _SHARED.search(two_words)
        if is_name and number < len(words) and MASK not in words[number:]:
            return f"{head}{mask}{' '.join([*words[:number], REST])}"
    return line


def cut_path(path: str) -> str:
    """Copy a line with its views, `VIEW / LINE`, each up to a word like the name of a secret."""
    return " / ".join(map(cut_at_secret_word, path.split(" / ")))
