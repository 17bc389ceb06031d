"""Candidates of a search, and results of searches, simulations and measured candidates.

kbytes are of 1,000 bytes, Gb/s are of payload.
"""

from __future__ import annotations

from pydantic import Field

from rocefort.models.base import Frozen
from rocefort.tune.scenario import Marking, NicKey, Scenario


class Settings(Frozen):
    """Thresholds of switches and parameters of NICs, kbytes of 1,000 bytes.

    A value that is left out is as the scenario has it.
    """

    ecn: Marking | None = None
    alpha: float | None = None
    xoff_kbytes: float | None = None
    xon_kbytes: float | None = None
    headroom_kbytes: float | None = None
    nic: dict[NicKey, int] = Field(default_factory=dict)

    def applied(self, scenario: Scenario) -> Scenario:
        """Return a scenario with these settings."""
        update: dict[str, object] = {}
        if self.ecn is not None:
            update["ecn"] = self.ecn
        keys = ("alpha", "headroom_kbytes", "xoff_kbytes", "xon_kbytes")
        buffer = {key: value for key in keys if (value := getattr(self, key)) is not None}
        if self.alpha is not None:
            buffer |= {"xoff_kbytes": None, "xon_kbytes": None}
        if buffer:
            update["buffer"] = scenario.buffer.like(**buffer)
        if self.nic:
            update["nic"] = scenario.nic.like(**dict(self.nic.items()))
        return scenario.like(**update)


class Completion(Frozen):
    """Times from a flow's start until its sender has the last ACK, us, over all flows."""

    min: float
    mean: float
    p50: float
    p99: float
    max: float


class QueueUse(Frozen):
    """Data in the queue of the port with the longest one, kbytes, over the measured time."""

    mean: float
    p50: float
    p95: float
    p99: float
    max: float


class GroupMeasures(Frozen):
    """Measures of one group of flows; those of finite flows end with the last of them."""

    goodput_gbps: float = Field(description="Payload that the group's receivers got, Gb/s.")
    slowest_gbps: float = Field(description="Goodput of its slowest flow, Gb/s.")
    completion_us: Completion | None = Field(
        description="Completion times of its flows that ended, us; none: no flow ended."
    )
    unfinished: float = Field(description="Number of its finite flows that did not end.")


class PortPauses(Frozen):
    """Pauses of one port by its peer."""

    pauses: float = Field(description="Pause frames that the peer sent.")
    paused_us: float = Field(description="Time for which the peer paused the port, us.")


class Measures(Frozen):
    """Measures of a simulation, from `measure_from_ms` to its end.

    Where RoCE and TCP are together, goodput, fairness, completion and unfinished are of RoCE.
    """

    goodput_gbps: float = Field(description="Payload that all receivers got, Gb/s.")
    fairness: float = Field(description="Jain's index of the flows' goodput; 1: all equal.")
    completion_us: Completion | None = Field(
        description="Completion times of the flows that ended, us; none: no flow ended."
    )
    unfinished: float = Field(description="Number of finite flows that did not end.")
    groups: dict[str, GroupMeasures] = Field(
        description="Measures of each group, if the scenario has groups beside `flows`."
    )
    queue_kbytes: QueueUse = Field(description="Queue of the port with the largest mean, kbytes.")
    marks: float = Field(description="Packets that switches marked.")
    pauses: float = Field(description="Pause frames that switches sent.")
    paused_us: float = Field(description="Time for which ports paused their peers, us, added up.")
    paused_ports: dict[str, PortPauses] = Field(
        description="Pauses by port, sender>switch: those that were paused in a run."
    )
    drops: float = Field(description="Packets of RoCE that switches dropped.")
    tcp_drops: float = Field(description="Packets of TCP that switches dropped.")
    resent_kbytes: float = Field(description="Payload that was sent again after drops, kbytes.")


class SimulationRun(Measures):
    """Measures of one seed."""

    seed: int
    end_ms: float = Field(description="Simulated time, ms.")
    queue_port: str = Field(description="Port of `queue_kbytes`: switch>neighbor.")
    events: int = Field(description="Events that were simulated.")


class Simulation(Measures):
    """Result of a scenario: means over its runs."""

    scenario: str
    congestion_control: str
    nic_profile: str
    seeds: tuple[int, ...]
    runs: tuple[SimulationRun, ...]
    not_modelled: tuple[str, ...] = Field(description="What the simulator leaves out.")


class Figure(Frozen):
    """Measure of a scenario over its seeds."""

    goal: str
    unit: str
    mean: float
    lowest: float
    highest: float


class ScenarioFigures(Frozen):
    """Measures of one scenario."""

    scenario: str
    figures: tuple[Figure, ...]


class SwitchValue(Frozen):
    """Value of a candidate in the unit that switches or NICs take."""

    gbps: int | None = Field(
        default=None, description="Speed of the ports that have it, Gb/s; none: all ports alike."
    )
    key: str = Field(description="kmin_kbytes, kmax_kbytes, .., or nic. and a NIC's parameter.")
    value: float
    unit: str = Field(default="", description="kbytes are of 1,024 bytes, as a CloudEngine's.")


class Option(Frozen):
    """Candidate, or a reference, with its measures."""

    name: str
    source: str = ""
    refused: str = Field(default="", description="Why the rules refuse it; empty: they do not.")
    settings: Settings
    values: dict[str, float] = Field(description="Value of each searched parameter, if it has one.")
    switch_values: tuple[SwitchValue, ...] = Field(
        description="Its settings at each port speed, in the units that switches take."
    )
    ratios: dict[str, float] = Field(
        description="Ratio to the start point by goal, below 1 is better; mean over scenarios."
    )
    scenarios: tuple[ScenarioFigures, ...]


class Parameter(Frozen):
    """Searched parameter with its values, and the share of each goal's variance that it explains.

    The shares are of the evaluated candidates, by the logarithm of the ratio, first order.
    """

    name: str
    values: tuple[float, ...]
    shares: dict[str, float]


class Certainty(Frozen):
    """Comparison of the choice with another option, seed by seed, with seeds that chose nothing."""

    against: str
    seeds: int
    better: int = Field(description="Number of these seeds in which the choice is better.")
    score: float = Field(description="Mean difference of the objective; below 0: it is better.")
    lowest: float
    highest: float


class OtherObjective(Frozen):
    """Best candidate by an objective of ByteTuning."""

    objective: str
    values: dict[str, float]
    ratios: dict[str, float]


class HeatMap(Frozen):
    """Ratio of a goal by two parameters: the best of all candidates that have both values."""

    goal: str
    x: str
    y: str
    x_values: tuple[float, ...]
    y_values: tuple[float, ...]
    rows: tuple[tuple[float | None, ...], ...]


class QueueSeries(Frozen):
    """Mean queue of the fullest port in consecutive windows, kbytes."""

    scenario: str
    option: str
    until_us: tuple[float, ...]
    kbytes: tuple[float, ...]


class SearchResult(Frozen):
    """Result of `tune search`."""

    search: str = Field(description="Fabric, or scenarios.")
    objective: str
    method: str
    seeds: tuple[int, ...] = Field(description="The first compares all candidates, all the front.")
    fresh_seeds: tuple[int, ...] = Field(description="Seeds of the certainty; they chose nothing.")
    combinations: int
    refused: dict[str, int] = Field(description="Combinations that rules refuse, by reason.")
    evaluated: int
    notes: tuple[str, ...] = Field(
        default=(), description="Early end of the search; kind of ECN that the choice replaces."
    )
    simulated: int = Field(description="Simulations that this command ran.")
    reused: int = Field(description="Simulations whose results the folder had.")
    start: Option
    chosen: Option
    best: dict[str, Option] = Field(description="Best candidate by objective.")
    resolution_percent: float = Field(description="Members of the front differ by more.")
    front: tuple[Option, ...] = Field(description="Candidates that no other dominates.")
    references: tuple[Option, ...]
    byte_tuning: tuple[OtherObjective, ...]
    parameters: tuple[Parameter, ...]
    certainty: tuple[Certainty, ...]
    heat_maps: tuple[HeatMap, ...]
    queues: tuple[QueueSeries, ...]
    not_modelled: tuple[str, ...]
    written: tuple[str, ...] = Field(default=(), description="Profiles written to the fabric.")


class MeasuredFigures(Frozen):
    """Figures of one incast to a server behind the canary leaf.

    A transfer of equal size lasts as long as its rate is low, so the median and the slowest sender
    stand for completion times.
    """

    goodput_gbps: float = Field(description="Rate of all senders together.")
    median_gbps: float = Field(description="Rate of the median sender.")
    slowest_gbps: float = Field(description="Rate of the slowest sender.")
    pauses: int | None = Field(description="PFC frames that the leaf sent; null: not read.")


class MeasuredTrial(Frozen):
    """One trial of one candidate, or a measurement of today's values without a trial."""

    name: str
    values: dict[str, float]
    run: str = Field(default="", description="Id of the run in the database of runs.")
    figures: MeasuredFigures | None = None
    ratios: dict[str, float] = Field(
        default_factory=dict, description="Ratio to today's values by goal, below 1 is better."
    )
    problem: str = Field(default="", description="Why there are no figures.")


class MeasuredSearch(Frozen):
    """Result of `tune measure`."""

    search: str = Field(description="Fabric.")
    objective: str
    canary: str
    target: str = Field(description="Server that receives.")
    senders: tuple[str, ...]
    window: str
    trial_s: int = Field(description="Timer of each trial, s of the switch.")
    today: tuple[MeasuredTrial, ...] = Field(description="Today's values, before and after.")
    trials: tuple[MeasuredTrial, ...]
    noise_percent: float | None = Field(
        description="Difference of the objective between the two measurements of today's values."
    )
    chosen: str = Field(description="Name of the best candidate; empty: none is clearly better.")
    verdict: str
    not_measured: tuple[str, ...]
    stopped: bool = Field(default=False, description="Whether an operator stopped it.")
    written: tuple[str, ...] = Field(default=(), description="Profiles written to the fabric.")
