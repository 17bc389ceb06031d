"""Options that commands of `tune` share, with their text in `--help`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rocefort.base.command_line import values


class SearchObjectiveOption(StrEnum):
    """Objective of a search; OBJECTIVES and BYTE_TUNING of rocefort.tune.search."""

    LATENCY = "latency"
    THROUGHPUT = "throughput"
    BOTH = "both"
    BYTETUNING_THROUGHPUT = "bytetuning-throughput"
    BYTETUNING_LATENCY = "bytetuning-latency"


BETA, GAMMA = 0.5, 1.0  # of rocefort.tune.search.byte_tuning, which loads slowly
Beta = Annotated[
    float,
    typer.Option(min=0, max=1, help="Weight of throughput in ByteTuning's objectives; 0 to 1."),
]
Gamma = Annotated[
    float,
    typer.Option(
        min=0,
        max=values.MOST,
        help="Weight of the spread between flows in bytetuning-latency.",
    ),
]
Evaluations = Annotated[
    int, typer.Option(min=1, help="Most candidates of a method that is no grid.")
]
ResultsFolder = Annotated[
    Path | None,
    typer.Option(
        help="Folder of simulations that are done; by default in the user's cache.",
        **values.DIR,
    ),
]
