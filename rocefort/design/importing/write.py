"""Write the YAML of an imported fabric, in the order of keys, with comments on assumptions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from rocefort.base.documents.read import YamlPath
from rocefort.design.importing.assumptions import Data, Notes
from rocefort.design.load.json_schema import MODELINE

WIDTH = 96
PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9._/-]*")
ADDRESS = re.compile(r"\d+(\.\d+){3}(/\d+)?")
PORT = re.compile(r"(?<!\d)\d+GE\d+/\d+/\d+")
KEYWORDS = ("true", "false", "null")
ORDER = (
    *("fabric", "capacity", "pools", "routing", "mtu", "cables", "lossless", "profiles"),
    *("segments", "spines", "leaves", "links_per_pair", "links", "servers", "management"),
    *("security", "services", "rdma", "rollout"),
)
HEADS: Mapping[str, str] = {
    "capacity": "Allocation is sized by this. Assumed: what is in use; raise it before it grows.",
    "routing": "EBGP as the switches have it.",
    "cables": "Metres; no configuration contains them.",
    "segments": "One a VLAN of the leaves' gateways, and the out-of-band network.",
    "spines": "An id is permanent. Pins: what allocation would give otherwise.",
    "links": "Links whose ports, subnets or passwords are not those that ids give.",
    "servers": "By the descriptions of leaf ports; addresses are by port, not from texts.",
    "security": "Passwords are on the switches, not here.",
    "rdma": "Assumed: replace it by what a first measurement gives.",
}


def fabric_text(data: Data, notes: Notes, origin: str) -> str:
    """Return the text of fabric.yaml; origin: the directory of the configurations."""
    lines = [
        MODELINE,
        "#",
        f"# Imported from the configurations in {one_line(origin)}. Values that no text contains",
        "# are marked `assumed`: replace them by those of your site.",
        *(f"# Switches differ in {one_line(line)}." for line in notes.differences),
    ]
    for key in ORDER:
        value = data.get(key)
        if value in (None, {}, []):
            continue
        if key != "fabric" and (key in HEADS or isinstance(value, dict | list)):
            lines.append("")
        if key in HEADS:
            lines.append(f"# {HEADS[key]}")
        lines += _entry(key, value, (key,), notes, "")
    return "\n".join(lines) + "\n"


def one_line(text: str) -> str:
    """Replace characters that would end a comment."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _entry(key: str, value: object, path: YamlPath, notes: Notes, indent: str) -> Iterator[str]:
    """Yield `key: value`, on one line if it fits, with a comment if the value is assumed."""
    why = notes.assumed.get(path)
    comment = f"  # assumed: {one_line(why)}" if why else ""
    head, inline = f"{indent}{_word(key)}:", _inline(value)
    block = isinstance(value, dict | list) and bool(value) and not indent
    if not block and _fits(value, path, notes, len(head) + len(inline)):
        yield f"{head} {inline}{comment}"
        return
    yield head + comment
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _entry(str(name), item, (*path, name), notes, indent + "  ")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _item(item, (*path, index), notes, indent + "  ")


def _fits(value: object, path: YamlPath, notes: Notes, width: int) -> bool:
    """Whether a value fits on one line: words, and short collections without a comment inside."""
    if not isinstance(value, dict | list):
        return True
    rows = value.values() if isinstance(value, dict) else value
    flat = not any(isinstance(row, dict | list) for row in rows)
    noted = any(len(at) > len(path) and at[: len(path)] == path for at in notes.assumed)
    return flat and not noted and width < WIDTH


def _item(value: object, path: YamlPath, notes: Notes, indent: str) -> Iterator[str]:
    inline = _inline(value)
    if not isinstance(value, dict) or _fits(value, path, notes, len(indent) + len(inline) + 2):
        yield f"{indent}- {inline}"
        return
    lines: list[str] = []
    for name, item in value.items():
        lines += _entry(str(name), item, (*path, name), notes, indent + "  ")
    first, *rest = lines
    yield f"{indent}- {first[len(indent) + 2 :]}"
    yield from rest


def _inline(value: object) -> str:
    """Return a value in flow style."""
    if isinstance(value, dict):
        rows = (f"{_word(str(name))}: {_inline(item)}" for name, item in value.items())
        return "{" + ", ".join(rows) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return _word(str(value))


def _word(text: str) -> str:
    """Return text as a YAML word, in quotes if YAML would read another value."""
    plain = PLAIN.fullmatch(text) and text.lower() not in KEYWORDS
    if plain or ADDRESS.fullmatch(text) or PORT.fullmatch(text):
        return text
    return json.dumps(text)
