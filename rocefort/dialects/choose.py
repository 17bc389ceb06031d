"""Choice of a dialect: by the data of a syntax family, or by a text of unknown hardware."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec

from rocefort.dialects.dialect import Dialect
from rocefort.errors import BadInput
from rocefort.families import load_families
from rocefort.models.hardware import Family

ENTRY_POINTS = "rocefort.dialects"  # group of entry points of installed packages


def dialect_of(family: Family | None, text: str = "") -> Dialect:
    """The dialect that a syntax family names; where it is not known, the one that reads the text.

    Of a text that none recognises, the first of the data: its parser reports what is wrong.
    """
    if family is not None:
        return load_dialect(family.dialect)
    return reader_of(text, dialects())


def reader_of(text: str, known: Sequence[Dialect]) -> Dialect:
    """The first dialect that recognises a text; the first of all where none does."""
    return next((dialect for dialect in known if dialect.is_config(text)), known[0])


@cache
def dialects() -> tuple[Dialect, ...]:
    """Every dialect that the shipped families name, in the order of the file."""
    names = dict.fromkeys(family.dialect for family in load_families().values())
    return tuple(load_dialect(name) for name in names)


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
