"""Jinja2 as all texts here are written with it: strict, and line by line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def text_templates(folder: Path, guard: Callable[[object], str] | None = None) -> Environment:
    """Templates of a folder that write plain text; every value in them passes the guard."""
    return Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        finalize=guard,
        autoescape=False,  # noqa: S701 - the output is no HTML
    )
