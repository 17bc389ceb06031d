"""Jinja2 environment for plain text: strict, without blank lines from control blocks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, overload

from jinja2 import Environment, FileSystemLoader, StrictUndefined

E = TypeVar("E", bound=Environment)


@overload
def text_templates(folder: Path, guard: Callable[[object], str] | None = None) -> Environment: ...


@overload
def text_templates(folder: Path, guard: Callable[[object], str] | None, kind: type[E]) -> E: ...


def text_templates(
    folder: Path,
    guard: Callable[[object], str] | None = None,
    kind: type[Environment] = Environment,
) -> Environment:
    """Return the plain-text templates of a folder; every value passes the guard."""
    return kind(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        finalize=guard,
        autoescape=False,
    )
