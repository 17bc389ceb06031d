"""Equal lines of configuration kept once: the ports of a fabric say the same on every switch."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from rocefort.dialects.vrp.interpret import Lines
from rocefort.dialects.vrp.tree import ConfigLine


@dataclass
class Pool:
    """Lines and blocks of lines seen so far; let it go once all switches have started."""

    _lines: dict[tuple[str, int], ConfigLine] = field(default_factory=dict)
    _blocks: dict[tuple[int, ...], Lines] = field(default_factory=dict)

    def share(self, lines: Lines) -> Lines:
        """The same lines, made of what was seen before where it is equal."""
        own = tuple(self._line(line) for line in lines)
        # By identity, for the lines are shared already: no deep comparison.
        return self._blocks.setdefault(tuple(map(id, own)), own)

    def _line(self, line: ConfigLine) -> ConfigLine:
        children = self.share(line.children) if line.children else ()
        key = (line.text, id(children))  # a block that was seen lives as long as the pool
        found = self._lines.get(key)
        if found is None:
            # Where a line stood in its file means nothing on a switch.
            found = self._lines[key] = ConfigLine(sys.intern(line.text), 0, children)
        return found
