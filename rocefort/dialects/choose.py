"""Choice of a dialect: by the data of a syntax family, or by a text of unknown hardware."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module

from rocefort.dialects.dialect import Dialect
from rocefort.errors import BadInput
from rocefort.families import load_families
from rocefort.models.hardware import Family


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
    """The dialect of a package here, or of a module by its full name; raises BadInput for none."""
    path = name if "." in name else f"rocefort.dialects.{name}.dialect"
    try:
        dialect: Dialect = import_module(path).DIALECT
    except ModuleNotFoundError as error:
        if error.name is None or not f"{path}.".startswith(f"{error.name}."):
            raise  # the dialect is there, and imports what is not
        how = "name a package of rocefort.dialects, or a module by its full name"
        raise BadInput(f"no dialect {name!r}", where="syntax family", how=how) from None
    return dialect
