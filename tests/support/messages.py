"""Messages of a command without the lines of files that it shows below them."""

from __future__ import annotations

import re

EXCERPT = re.compile(r"  +\d* \| ")


def messages(err: str) -> str:
    """Return standard error without excerpts of files."""
    return "".join(line for line in err.splitlines(keepends=True) if not EXCERPT.match(line))
