"""Syntax of a switch: a family of the command table, and the commands that its site adds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from rocefort.dialects.vrp.commands.catalogue import rows_by_view
from rocefort.dialects.vrp.commands.command import Row
from rocefort.models.hardware.hardware import SyntaxFamily

MOST_SITES = 32  # syntaxes of sites in a cache: both sides of a review, and some fabrics


@dataclass(frozen=True)
class SiteSyntax:
    """Syntax family with rows of a site: a key of the caches, as the family itself is.

    first: beginnings of lines that a patch sets before all others.
    """

    family: SyntaxFamily
    rows: tuple[Row, ...] = field(hash=False)  # their hash takes longer than a lookup
    first: tuple[str, ...] = field(default=(), hash=False)


Syntax = SyntaxFamily | SiteSyntax


def family_of(syntax: Syntax) -> SyntaxFamily:
    """Return the family of a syntax."""
    return syntax.family if isinstance(syntax, SiteSyntax) else syntax


def site_rows(syntax: Syntax | None) -> tuple[Row, ...]:
    """Return the rows that the site adds."""
    return syntax.rows if isinstance(syntax, SiteSyntax) else ()


@lru_cache(maxsize=MOST_SITES)
def rows_with(syntax: Syntax) -> Mapping[str, tuple[Row, ...]]:
    """Return the rows of each view that a syntax has."""
    shipped, own, family = rows_by_view(), site_rows(syntax), family_of(syntax)
    return {
        view: tuple(
            row
            for row in (*shipped.get(view, ()), *own)
            if row.view == view and family in row.families
        )
        for view in dict.fromkeys((*shipped, *(row.view for row in own)))
    }
