"""Result of the command of `paper`, for the schema of all outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rocefort.paper.model import Papers

OUTPUTS: Final[Mapping[str, Any]] = {"paper": Papers}
