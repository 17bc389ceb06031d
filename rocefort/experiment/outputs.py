"""Result of the command of `experiment`, for the schema of all outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rocefort.experiment.model import ExperimentResult

OUTPUTS: Final[Mapping[str, Any]] = {"experiment": ExperimentResult}
