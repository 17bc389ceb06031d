"""Lines of a file that may contain a secret, and whether a message repeats them.

A secret that is written into a file by mistake may be on the line of its key or on lines below it,
as a value or read as a key. A reference, such as `env:NAME`, is no secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache

from napalm_cloudengine.masking import has_login, is_secret_word
from rocefort.models.base import Frozen
from rocefort.models.device.secret import SECRET_KEYS

KEY_STEMS = ("hash", "snmp", "salt", "wpa", "radius", "tacacs")  # in keys; no names in VRP
NEAR = 0.8  # a key with a typing mistake
SHORT = 4  # letters of a word that is compared as a whole
WORD = re.compile(r"[^\W\d][\w]*")
VALUE = r"""["']?(?:env:[^\W\d]\w*|(?:file|key|keyring):[\w./~@+-]+)["']?(?=[ ]*(?:[,}]|$))"""
REFERENCE = re.compile(rf"""(?<![\w-])[\w-]++["']?[ ]*[:=][ ]*{VALUE}""")
BARE = re.compile(r"""(?<![\w-])[\w-]++["']?[ ]*:[ ]*$""")  # a key whose value is below it
# The guard before a word keeps the time linear: each word is read once, not from each letter.
KEY = re.compile(
    r"""(?:(?<![^\s'"{\[,:=])|(?=[:=]))([^\s'"{\[,][^\s'"{\[,:=]*)["']?[ ]*[:=](?=\s|$)"""
)
BEGIN = re.compile(rf"""^(?P<dashes>[ ]*(?:-[ ]+)*)(?:[{{\[]+[ ]*)?["']?{KEY.pattern}""")
PART = re.compile(r"""[^\s'"\\{}\[\],:=!&*#]+""")
USERS = re.compile(r"""(?:^|[\s{,])["']?users["']?[ ]*:(?=\s|$)""")
NOWHERE = 1 << 30  # right of every line


def may_be_secret(lines: Sequence[str], line: int) -> bool:
    """Whether a line may contain a secret, or continue the value of a secret key above it."""
    row = BARE.sub("", REFERENCE.sub("", lines[line - 1].rstrip()))
    return sounds_secret(row) or below_secret(lines, line) or of_users(lines, line)


def of_users(lines: Sequence[str], line: int) -> bool:
    """Whether a line is of a list of users: the second word of an entry may be a password."""
    row = lines[line - 1]
    if USERS.search(row):
        return True
    indent, is_item = _indent(row), row.lstrip().startswith("-")
    for above in reversed(lines[: line - 1]):
        code = above.strip()
        if not code or code.startswith("#"):
            continue
        # a list may begin in the column of its key
        if _indent(above) < indent or (
            is_item and _indent(above) == indent and not code.startswith("-")
        ):
            if USERS.search(above):
                return True
            indent, is_item = _indent(above), code.startswith("-")
    return False


def below_secret(lines: Sequence[str], line: int) -> bool:
    """Whether a line may continue a secret above it.

    A secret ends where a line with a key of a model is indented less. One with an open quote or
    bracket does not end: its rest may be anywhere.
    """
    row = lines[line - 1]
    indent, ends = _indent(row), _indent(row) if _begins_with_own_key(row) else NOWHERE
    for above in reversed(lines[: line - 1]):
        code = re.split(r"(?:^|\s)#", above, maxsplit=1)[0].rstrip()
        if not code:
            continue
        begin = BEGIN.match(code)
        column = len(begin["dashes"]) if begin else _indent(code)
        below_key = BARE.search(code) and indent > column  # its value is indented more
        ended = ends <= column if below_key else ends < column
        if not (ended and _is_closed(code)) and sounds_secret(REFERENCE.sub("", code)):
            return True
        indent = _indent(code)
        if _begins_with_own_key(code):
            ends = min(ends, indent)
    return False


def has_own_keys(lines: Sequence[str], line: int) -> bool:
    """Whether every key of a line, or the one above a line without a key, is a key of a model."""
    for row in reversed(lines[:line]):
        if keys := KEY.findall(row):
            return all(map(_is_own_key, keys))
    return True


def repeats_line(message: str, row: str, keys: Iterable[str], *, whole: bool = False) -> bool:
    """Whether a message repeats some of these keys, or words of a line that are no keys of a model.

    The value of a line that begins with a key of a model is none of the secret above it, except
    where the `whole` line may be secret.
    """
    unknown = [key for key in KEY.findall(row) if not _is_own_key(key)]
    texts = [*keys, *unknown] if _begins_with_own_key(row) and not whole else [*keys, row]
    return any(
        _contains(message, part)
        for text in texts
        for part in PART.findall(text)
        if part not in _own_keys() and not _is_own_key(part)
    )


def without_unknown_keys(path: str) -> tuple[str, list[str]]:
    """Return a path as text up to its first key that is of no model, and the rest."""
    for part in re.finditer(r"[^.\[]+", re.sub(r"\[\d+\]", lambda m: " " * len(m[0]), path)):
        if part[0].strip() and not (_is_own_key(part[0].strip()) or sounds_secret(part[0])):
            return path[: part.start()].rstrip(".["), [path[part.start() :]]
    return path, []


def sounds_secret(text: str) -> bool:
    """Whether a text has a word like the name of a secret, `credntial`, or a login in a URL."""
    return has_login(text) or any(_secret_word(word.lower()) for word in WORD.findall(text))


@lru_cache(maxsize=10_000)
def _secret_word(word: str) -> bool:
    return (
        is_secret_word(word)
        or any(stem in word for stem in KEY_STEMS)
        or bool(get_close_matches(word, SECRET_KEYS, 1, 0.7))
    )


def _is_own_key(word: str) -> bool:
    """Whether a word is a key of a model, or near one, and no name of a secret; or a number."""
    return word.isdecimal() or (not sounds_secret(word) and _near_key(word, _own_keys()))


@lru_cache(maxsize=10_000)
def _near_key(word: str, keys: frozenset[str]) -> bool:
    return word in keys or bool(get_close_matches(word.casefold(), keys, 1, NEAR))


def _own_keys() -> frozenset[str]:
    """Return keys of the models that are imported: one of them reads the file."""
    return _keys_of(tuple(_below(Frozen)))


@lru_cache(maxsize=8)
def _keys_of(models: tuple[type[Frozen], ...]) -> frozenset[str]:
    return frozenset(name for model in models for name in model.model_fields)


def _below(model: type[Frozen]) -> Iterator[type[Frozen]]:
    for one in model.__subclasses__():
        yield one
        yield from _below(one)


def _begins_with_own_key(row: str) -> bool:
    begin = BEGIN.match(row)
    return begin is not None and _is_own_key(begin[2])


def _is_closed(row: str) -> bool:
    brackets = all(row.count(one) == row.count(end) for one, end in ("[]", "{}"))
    return brackets and row.count('"') % 2 == 0 and row.count("'") % 2 == 0


def _contains(message: str, word: str) -> bool:
    if len(word) >= SHORT:
        return word in message
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", message) is not None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
