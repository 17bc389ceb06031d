"""Read TOML as a Document: data with the position of every top-level key."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from rocefort.base.documents.excerpts import remember_text
from rocefort.base.documents.read import Document, Mark, YamlPath, read_text
from rocefort.base.errors import BadInput

KEY = re.compile(r"""^\s*(?:\[+\s*)?["']?([\w-]+)["']?\s*(?:[.=\]]\s*|$)""", re.ASCII)
PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def read_toml(path: Path) -> Document:
    """Read one TOML file; raises BadInput with the place of a syntax error."""
    text = read_text(path)
    remember_text(str(path), text)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = PLACE.search(str(error))
        what = PLACE.sub("", str(error))
        line, column = place.groups() if place and place[1] else (text.count("\n") + 1, 1)
        what = f"not TOML: {what[:1].lower()}{what[1:]}"
        raise BadInput(
            what,
            how='write each key once: KEY = "VALUE"',
            file=str(path),
            line=int(line),
            column=int(column),
        ) from None
    except (RecursionError, ValueError):  # thousands of brackets, or of digits
        what = "nested too deep, or a number is too long"
        raise BadInput(what, file=str(path), how='write short values: KEY = "VALUE"') from None
    values: dict[YamlPath, Mark] = {}
    keys: dict[YamlPath, Mark] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = KEY.match(line)
        if match and match[1] in data and (match[1],) not in keys:
            keys[match[1],] = (number, match.start(1) + 1)
            values[match[1],] = (number, match.end() + 1)
    return Document(str(path), data, values, keys)
