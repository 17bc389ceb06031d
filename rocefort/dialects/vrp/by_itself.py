"""Lines that a switch writes by itself: what holds anyway, so that nobody has to own them."""

from __future__ import annotations

from functools import lru_cache

from rocefort.dialects.vrp.execute import view_kind
from rocefort.dialects.vrp.identity import identify
from rocefort.dialects.vrp.interpret import VrpRefusal, apply_lines
from rocefort.models.hardware import SyntaxFamily
from rocefort.models.network import TextLine

# Views and line, as a text has them, with what the command reference of V300R023C00 says. What an
# operator adds below such a line is a line of its own and has to be owned.
PRESENT = {
    "aaa / authentication-scheme default": "`authentication-scheme`: exists, cannot be deleted",
    "aaa / domain default": "`domain`: exists by default, cannot be deleted",
    "aaa / domain default_admin": "`domain`: exists by default, cannot be deleted",
    "user-interface con 0": "`display current-configuration`: there with nothing configured",
    "stp mode mstp": "`stp mode`: MSTP by default",
}


def written_by_itself(line: TextLine) -> bool:
    """Whether a line says what holds without it, on every syntax family that has the command."""
    return _written_by_itself(line.path, line.text)


@lru_cache(maxsize=65536)
def _written_by_itself(path: tuple[str, ...], text: str) -> bool:
    if " / ".join((*path, text)) in PRESENT:
        return True
    said = [_says_default(path, text, family) for family in SyntaxFamily]
    known = [each for each in said if each is not None]
    return bool(known) and all(known)


def _says_default(path: tuple[str, ...], text: str, family: SyntaxFamily) -> bool | None:
    """Whether a family does not keep the line because it says a default; None: no such command."""
    row = identify(view_kind(path, family), text, family).row
    if row is None:
        return None
    if not row.default:
        return False
    try:
        return apply_lines((), path, family) == apply_lines((), (*path, text), family)
    except VrpRefusal:
        return False
