"""Choice of a dialect: by the data of a syntax family, or by a text of unknown hardware."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from rocefort.dialects.dialect import Dialect
from rocefort.families import load_families
from rocefort.models.hardware import Family


def dialect_of(family: Family | None, text: str = "") -> Dialect:
    """The dialect that a syntax family names; where it is not known, the one that reads the text.

    Of a text that none recognises, the first of the data: its parser reports what is wrong.
    """
    if family is not None:
        return load_dialect(family.dialect)
    first, *others = dialects()
    return next((dialect for dialect in others if dialect.is_config(text)), first)


@cache
def dialects() -> tuple[Dialect, ...]:
    """Every dialect that the shipped families name, in the order of the file."""
    names = dict.fromkeys(family.dialect for family in load_families().values())
    return tuple(load_dialect(name) for name in names)


@cache
def load_dialect(name: str) -> Dialect:
    """The dialect of a package in rocefort.dialects, or of a module by its full name."""
    path = name if "." in name else f"rocefort.dialects.{name}.dialect"
    dialect: Dialect = import_module(path).DIALECT
    return dialect
