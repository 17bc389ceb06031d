"""Choice of a dialect: by the data of a syntax family, or by the text of unknown hardware."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Protocol

from rocefort.dialects.dialect import Dialect
from rocefort.errors import BadInput
from rocefort.syntax_families import load_families

ENTRY_POINTS = "rocefort.dialects"  # group of entry points of installed packages


class OfDialect(Protocol):
    """A syntax family, a switch, a change of one: it names its dialect where that is known."""

    @property
    def dialect(self) -> str | None:
        """Name of its package; None: not known."""


def dialect_of(known: OfDialect | None) -> Dialect:
    """The dialect that something names; the first of the data for a text about no switch."""
    name = known.dialect if known else None
    return load_dialect(name or next(iter(dialects())))


def reader_of(text: str) -> str:
    """Name of the dialect that recognises a text; where none does, of the first of the data.

    That one's parser then reports what is wrong.
    """
    known = dialects()
    return next((name for name in known if load_dialect(name).is_config(text)), known[0])


@cache
def dialects() -> tuple[str, ...]:
    """Names of the dialects of the shipped families, in the order of the file."""
    return tuple(dict.fromkeys(family.dialect for family in load_families().values()))


@cache
def load_dialect(name: str) -> Dialect:
    """The dialect of a package here, or of an installed one by its entry point; raises BadInput.

    Data that is reviewed names a dialect, so a name never is a module to import.
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
