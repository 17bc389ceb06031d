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
PUBLISHED_NIC, PUBLISHED_BUDGET = "hpcc-simulator", 400  # of tables of published systems
FIRST_SEED = 1001  # of these tables; those of searches are smaller
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
Seeds = Annotated[
    int, typer.Option(metavar="NUMBER", min=1, max=100, help="Number of runs of each cell.")
]
Workers = Annotated[int, typer.Option(min=0, help="Number of workers; 0: one for each core.")]


def table_seeds(number: int) -> tuple[int, ...]:
    """Return the seeds of a table of a published system."""
    return tuple(range(FIRST_SEED, FIRST_SEED + number))
