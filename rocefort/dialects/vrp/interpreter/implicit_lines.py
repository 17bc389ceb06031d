"""Lines that a switch writes automatically: defaults, which need no owner."""

from __future__ import annotations

from functools import cache, lru_cache

from rocefort.dialects.syntax_families import load_families
from rocefort.dialects.vrp.commands.match import identify
from rocefort.dialects.vrp.commands.syntax import Syntax
from rocefort.dialects.vrp.interpreter.execute import view_kind
from rocefort.dialects.vrp.interpreter.interpreter import VrpRefusal, apply_lines
from rocefort.models.hardware.hardware import SyntaxFamily
from rocefort.models.hardware.media import whole_port
from rocefort.models.network.network import TextLine


def written_by_itself(line: TextLine, family: SyntaxFamily | None = None) -> bool:
    """Whether a switch of a family saves a line itself, or it states a default of the family.

    family: None for a switch of unknown release: any family may save it, and it must state the
    default of each that has the command. A line that an operator adds below such a line is a
    separate line and needs an owner.
    """
    return _written_by_itself(line.path, line.text, family)


@lru_cache(maxsize=4096)  # a line with a default takes 0.3 ms, and switches repeat them
def _written_by_itself(path: tuple[str, ...], text: str, family: SyntaxFamily | None) -> bool:
    families = (family,) if family else tuple(SyntaxFamily)
    if any(" / ".join((*path, text)) in _saved_lines(each) for each in families):
        return True
    answers = [_says_default(path, text, each) for each in families]
    verdicts = [each for each in answers if each is not None]
    return bool(verdicts) and all(verdicts)


@cache
def _saved_lines(family: SyntaxFamily) -> frozenset[str]:
    return frozenset(each.line for each in load_families()[family].saved_lines)


def _says_default(path: tuple[str, ...], text: str, family: Syntax) -> bool | None:
    """Whether a family drops the line because it states a default; None: no such command."""
    row = identify(view_kind(path, family), text, family).row
    if row is None:
        return None
    if not row.default:
        return False
    views = tuple(map(whole_port, path))  # a part of a port exists beside the split alone
    try:
        return apply_lines((), views, family) == apply_lines((), (*views, text), family)
    except VrpRefusal:
        return False
