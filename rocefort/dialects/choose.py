"""Choice of a dialect: by the data of a syntax family, or by the text of unknown hardware."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Protocol

from rocefort.base.errors import BadInput
from rocefort.dialects.dialect import Dialect
from rocefort.dialects.syntax_families import load_families

ENTRY_POINTS = "rocefort.dialects"  # entry-point group of installed packages


class OfDialect(Protocol):
    """A syntax family, a switch, or its change: each names its dialect where that is known."""

    @property
    def dialect(self) -> str | None:
        """Return the name of its package; None: not known."""


def dialect_of(known: OfDialect | None) -> Dialect:
    """Return the dialect of an object; for a text without a switch, the first in the data."""
    name = known.dialect if known else None
    return load_dialect(name or next(iter(dialects())))


def reader_of(text: str) -> str:
    """Return the name of the dialect that recognises a text, or else of the first in the data.

    The parser of that dialect then reports the error.
    """
    names = dialects()
    return next((name for name in names if load_dialect(name).is_config(text)), names[0])


@cache
def dialects() -> tuple[str, ...]:
    """Return names of the dialects of the shipped families, in the order of the file."""
    return tuple(dict.fromkeys(family.dialect for family in load_families().values()))


@cache
def load_dialect(name: str) -> Dialect:
    """Return the dialect of a package here, or of an installed one's entry point; raises BadInput.

    Reviewed data name a dialect, so a name is never imported as a module.
    """
    path = f"rocefort.dialects.{name}.dialect"
    package = find_spec(f"rocefort.dialects.{name}") if name.isidentifier() else None
    if package and package.submodule_search_locations and find_spec(path):
        shipped: Dialect = import_module(path).DIALECT
        return shipped
    for entry in entry_points(group=ENTRY_POINTS, name=name):
        installed: Dialect = entry.load()
        return installed
    how = f"name a package of rocefort.dialects, or install one with an entry point {ENTRY_POINTS}"
    raise BadInput(f"no dialect {name!r}", where="syntax family", how=how)
