"""Results of the commands of `tune`, by command, for the schema of all outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rocefort.tune.compare_model import AlgorithmTable, WatermarkTable
from rocefort.tune.model import MeasuredSearch, SearchResult, Simulation
from rocefort.tune.stage_throughput import StageCurve

OUTPUTS: Final[Mapping[str, Any]] = {
    "tune simulate": Simulation,
    "tune search": SearchResult,
    "tune measure": MeasuredSearch,
    "tune compare bytetuning": WatermarkTable,
    "tune compare heps": AlgorithmTable,
    "tune compare stages": StageCurve,
}
