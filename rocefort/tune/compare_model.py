"""Tables of published systems, computed by the simulator."""

from __future__ import annotations

from pydantic import Field

from rocefort.models.base import Frozen
from rocefort.tune.model import ConfidenceInterval


class WatermarkColumn(Frozen):
    """Watermarks of the switches, with what they give."""

    name: str
    control: str = Field(description="Congestion control of the NICs.")
    source: str = Field(description="Source of the watermarks.")
    refused: str = Field(default="", description="Why the rules refuse them; empty: they do not.")
    cells: dict[str, float] = Field(description="Kmin, Kmax and headroom, cells of the switches.")
    pmax_percent: float
    alpha: float
    objectives: dict[str, float] = Field(
        description="Each objective of ByteTuning, 0 to 1, more is better; empty: no DCQCN."
    )


class WatermarkRow(Frozen):
    """Measure of the table, with the interval of its mean for each column."""

    measure: str
    unit: str
    values: tuple[ConfidenceInterval, ...]


class SearchAxis(Frozen):
    """Parameter of the search space, as the document names it."""

    name: str
    unit: str
    values: tuple[float, ...]


class LossRow(Frozen):
    """One flow whose packets are lost at a rate."""

    percent: float = Field(description="Share of its packets that arrive corrupted.")
    gbps: ConfidenceInterval = Field(description="Payload that the receiver got, Gb/s.")
    resent_percent: ConfidenceInterval = Field(
        description="Payload that was sent again, percent of what the receiver got."
    )


class WatermarkTable(Frozen):
    """Result of `tune compare bytetuning`."""

    publication: str
    objective: str
    beta: float
    gamma: float
    method: str
    combinations: int
    axes: tuple[SearchAxis, ...]
    refused: dict[str, int] = Field(description="Combinations that rules refuse, by reason.")
    evaluated: int
    search_seed: int = Field(description="Seed of the candidates; no seed of the table.")
    seeds: tuple[int, ...] = Field(description="Seeds of the table.")
    columns: tuple[WatermarkColumn, ...]
    rows: tuple[WatermarkRow, ...]
    losses: tuple[LossRow, ...] = Field(description="Throughput by loss rate.")
    loss_text: str = Field(description="Traffic of the losses, as a sentence.")
    assumptions: tuple[str, ...]
    not_modelled: tuple[str, ...]
    simulated: int = Field(description="Simulations that this command ran.")
    reused: int = Field(description="Simulations whose results the folder had.")


class AlgorithmFigures(Frozen):
    """Bandwidth and latency of one situation."""

    gbps: ConfidenceInterval = Field(description="Payload that the receiver got, Gb/s.")
    latency_us: ConfidenceInterval = Field(description="One way of a message of 2 bytes, us.")


class AlgorithmRow(Frozen):
    """Congestion control with its published figures and ours."""

    control: str
    published_gbps: float | None
    published_us: float | None
    alone: AlgorithmFigures = Field(description="One sender.")
    loaded: AlgorithmFigures = Field(description="Several senders to one receiver.")


class AlgorithmTable(Frozen):
    """Result of `tune compare heps`."""

    publication: str
    fabric: str
    ecn: str = Field(description="ECN of the fabric, which DCQCN has.")
    senders: tuple[str, ...] = Field(description="Servers of the loaded runs; alone: the first.")
    receiver: str
    seeds: tuple[int, ...]
    rows: tuple[AlgorithmRow, ...]
    order: tuple[str, ...] = Field(description="Order of the algorithms, theirs and ours.")
    assumptions: tuple[str, ...]
    not_modelled: tuple[str, ...]
    simulated: int = Field(description="Simulations that this command ran.")
    reused: int = Field(description="Simulations whose results the folder had.")
