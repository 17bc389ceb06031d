"""Faults in the saved configurations of HEPS, one line at a time, and what a check reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Texts = Mapping[str, str]


@dataclass(frozen=True)
class Line:
    """Edit of one text: a line of a view becomes another, or goes; old "": the new one is added.

    switch: name, or several names. view: its first line; "" for the system view.
    """

    switch: str
    view: str
    old: str
    new: str = ""


def with_faults(texts: Texts, edits: Iterable[Line]) -> dict[str, str]:
    """Return texts after edits; each edit has to change its texts."""
    changed = dict(texts)
    for edit in edits:
        for name in edit.switch.split():
            lines = changed[name].splitlines()
            _apply(lines, edit)
            text = "\n".join(lines) + "\n"
            assert text != changed[name], edit
            changed[name] = text
    return changed


def _apply(lines: list[str], edit: Line) -> None:
    """Edit the lines of one text; a line is indented below its view, and may have lines below."""
    start = lines.index(edit.view) if edit.view else -1
    depth = _depth(edit.view) + 1 if edit.view else 0
    new = [" " * depth + part for part in edit.new.splitlines()]
    if not edit.old:
        lines[start + 1 : start + 1] = new
        return
    at = lines.index(" " * depth + edit.old, start + 1)
    below = at + 1
    while not edit.new and lines[below].startswith(" " * (depth + 1)):
        below += 1
    lines[at:below] = new


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def write_texts(texts: Texts, directory: Path) -> Path:
    """Write NAME.cfg of each switch."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (directory / f"{name}.cfg").write_text(text, encoding="utf-8")
    return directory


@dataclass(frozen=True)
class Found:
    """Error or warning: its rule, its switch, the line of its file, and its message."""

    rule: str
    switch: str
    line: str
    message: str


def findings_of(run: Callable[..., Any], *words: object) -> list[Found]:
    """Errors and warnings of a command, each with the text of its line."""
    output = json.loads(run(*words, "--format", "json").out)
    return [_found(row) for row in output["findings"] if row["severity"] != "info"]


def _found(row: dict[str, Any]) -> Found:
    where = row["where"]
    file, line = where.get("file"), where.get("line")
    text = Path(file).read_text(encoding="utf-8").splitlines()[line - 1] if line else ""
    return Found(row["rule"], where.get("device") or "", text.strip(), row["message"])
