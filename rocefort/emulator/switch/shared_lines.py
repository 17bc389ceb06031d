"""Start of many switches with equal lines stored once: ports have equal lines on every switch."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from rocefort.dialects.vrp.interpreter.interpreter import Lines
from rocefort.dialects.vrp.text.config_tree import ConfigLine
from rocefort.dialects.vrp.unowned_lines import whole_tree
from rocefort.emulator.switch.switch import EmulatedSwitch


@dataclass
class Pool:
    """Lines and blocks of lines seen so far; free it once all switches have started."""

    _lines: dict[ConfigLine, ConfigLine] = field(default_factory=dict)
    _blocks: dict[Lines, Lines] = field(default_factory=dict)

    def share(self, lines: Lines) -> Lines:
        """Return the same lines, with equal parts replaced by earlier objects."""
        own = tuple(self._line(line) for line in lines)
        return self._blocks.setdefault(own, own)

    def _line(self, line: ConfigLine) -> ConfigLine:
        # The line number in the file has no meaning on a switch.
        shared = ConfigLine(sys.intern(line.text), 0, self.share(line.children))
        return self._lines.setdefault(shared, shared)


def start(switch: EmulatedSwitch, pool: Pool, *, whole: bool) -> None:
    """Parse the start-up text once; whole: include lines that match no known command."""
    lines = whole_tree(switch.startup, switch.family) if whole else switch.running
    switch.running = switch.saved = pool.share(lines)
    switch.startup = ""
