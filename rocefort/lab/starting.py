"""Start of an emulated switch from the text that it has saved."""

from __future__ import annotations

from rocefort.dialects.vrp.interpret import forget_lines
from rocefort.dialects.vrp.kept import whole_tree
from rocefort.lab.sharing import Pool
from rocefort.lab.switch import EmulatedSwitch

__all__ = ["forget_lines", "start"]


def start(switch: EmulatedSwitch, pool: Pool, *, whole: bool) -> None:
    """Read the start-up text once; whole: with the lines that no command is known for."""
    lines = whole_tree(switch.startup, switch.family) if whole else switch.running
    switch.running = switch.saved = pool.share(lines)
    switch.startup = ""
