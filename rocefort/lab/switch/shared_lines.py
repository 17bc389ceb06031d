"""Start of switches whose equal lines are kept once: ports say the same on every switch."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from rocefort.dialects.vrp.interpreter.interpreter import Lines
from rocefort.dialects.vrp.text.config_tree import ConfigLine
from rocefort.dialects.vrp.unowned_lines import whole_tree
from rocefort.lab.switch.switch import EmulatedSwitch


@dataclass
class Pool:
    """Lines and blocks of lines seen so far; let it go once all switches have started."""

    _lines: dict[ConfigLine, ConfigLine] = field(default_factory=dict)
    _blocks: dict[Lines, Lines] = field(default_factory=dict)

    def share(self, lines: Lines) -> Lines:
        """The same lines, made of what was seen before where it is equal."""
        own = tuple(self._line(line) for line in lines)
        return self._blocks.setdefault(own, own)

    def _line(self, line: ConfigLine) -> ConfigLine:
        # Where a line stood in its file means nothing on a switch.
        shared = ConfigLine(sys.intern(line.text), 0, self.share(line.children))
        return self._lines.setdefault(shared, shared)


def start(switch: EmulatedSwitch, pool: Pool, *, whole: bool) -> None:
    """Read the start-up text once; whole: with the lines that no command is known for."""
    lines = whole_tree(switch.startup, switch.family) if whole else switch.running
    switch.running = switch.saved = pool.share(lines)
    switch.startup = ""
