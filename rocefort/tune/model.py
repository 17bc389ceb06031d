"""Candidates of a search, and results of searches, simulations and measured candidates.

kbytes are of 1,000 bytes, Gb/s are of payload.
"""

from __future__ import annotations

from typing import Literal

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


class SwitchUse(Frozen):
    """Traffic of one switch over the measured time."""

    switch: str
    goodput_gbps: float = Field(description="Payload of the flows that cross it, Gb/s.")
    queue_kbytes: float = Field(description="Mean of its data queues, added up, kbytes.")
    sent_gbps: float = Field(
        default=0, description="Packets of RoCE and TCP that it sent, over the whole run, Gb/s."
    )
    marks: float = Field(default=0, description="Packets that it marked.")


class FlowsUse(Frozen):
    """Traffic of all flows; the queue of a flow is the mean of those on its path, added up."""

    count: int
    mean_gbps: float = Field(description="Mean goodput of a flow, Gb/s.")
    highest_gbps: float = Field(description="Goodput of the fastest flow, Gb/s.")
    spread_gbps: float = Field(description="Standard deviation of the flows' goodput, Gb/s.")
    queue_kbytes: float = Field(description="Mean queue of a flow, kbytes.")
    harmonic_queue_kbytes: float = Field(description="Harmonic mean of the flows' queues, kbytes.")
    least_queue_kbytes: float = Field(description="Smallest queue of a flow, kbytes.")


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
    corrupted: float = Field(default=0, description="Packets that arrived corrupted.")
    resent_kbytes: float = Field(
        description="Payload that was sent again after drops and corruption, kbytes."
    )
    switches: tuple[SwitchUse, ...] = Field(description="Traffic by switch.")
    flows: FlowsUse = Field(description="Traffic by flow, as statistics over the flows.")


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
    ratios: dict[str, float | None] = Field(
        description="Figure by the start point's, by goal: 1.01 is 1 % more. More goodput is "
        "better, less of the others. Goodput and completion times: geometric mean over scenarios; "
        "queue and pauses: of their sums. Null: the start point's is 0."
    )
    scenarios: tuple[ScenarioFigures, ...]


class SearchedParameter(Frozen):
    """Searched parameter with its values, and the share of each goal's variance that it explains.

    The shares are of the evaluated candidates, by the logarithm of the ratio, first order.
    """

    name: str
    values: tuple[float, ...]
    shares: dict[str, float | None] = Field(
        description="By goal; null: the candidates differ by less than the seeds."
    )


class ConfidenceInterval(Frozen):
    """Mean of paired differences, a value for each seed, with its confidence interval."""

    mean: float
    low: float
    high: float


class ChangedKey(Frozen):
    """Key of a switch or NIC that a verdict changes, with its value at ports of one speed."""

    gbps: int | None = Field(description="Speed of the ports, Gb/s; null: all ports alike.")
    key: str = Field(description="As that of a value of a switch: kmin_kbytes, kmax_kbytes, ..")
    unit: str = Field(description="Kbytes are of 1,024 bytes, as a CloudEngine's.")
    today: float | None = Field(description="Today's value; null: left to the switch or NIC.")
    new: float | None


class MeasureEffect(Frozen):
    """Measure of a scenario with today's and the best candidate's values, over the fresh seeds."""

    scenario: str
    measure: str = Field(description="Goodput, completion p99, queue, pauses, drops, ..")
    unit: str
    today: float = Field(description="Mean with today's values.")
    new: float = Field(description="Mean with the candidate's values.")
    difference: ConfidenceInterval = Field(
        description="New value minus today's, seed by seed, in the unit."
    )
    higher_is_better: bool
    judgement: Literal["better", "worse", "within noise"] = Field(
        description="Within noise: the interval of the difference contains 0."
    )

    @property
    def percent(self) -> float | None:
        """Change of the mean, percent of today's; None: today's is 0."""
        return 100 * (self.new - self.today) / self.today if self.today else None


class ReferenceComparison(Frozen):
    """Best candidate beside a shipped reference, over the first 20 fresh seeds."""

    reference: str
    source: str
    refused: str = Field(default="", description="Why the rules refuse it; empty: they do not.")
    drops: float = Field(description="Mean packets that it drops, all scenarios.")
    fault: str = Field(description="Why it is never recommended; empty: it may be.")
    gain_percent: ConfidenceInterval = Field(
        description="How much better the candidate is by the objective, percent."
    )
    dominates: bool = Field(
        description="Whether the reference drops nothing, is better on one measure or more, and "
        "worse on none; means over the scenarios."
    )


class Independence(Frozen):
    """Parameters on which a scenario does not depend: no measure moves by 0.1 % with them."""

    scenario: str
    parameters: tuple[str, ...]
    every: bool = Field(description="Whether these are all searched parameters.")


class BorderHit(Frozen):
    """Parameter whose best value is the lowest or highest of those that were tried."""

    parameter: str
    value: float
    end: Literal["lowest", "highest"]


class RaceRound(Frozen):
    """Round of the race: so many candidates were compared over so many seeds."""

    candidates: int
    seeds: int


class SearchVerdict(Frozen):
    """Verdict of a search: keep today's values or change them, by seeds that chose nothing.

    Differences are paired by seed. The objective is a sum of logarithms of ratios; scenarios count
    alike (geometric mean).
    """

    decision: Literal["keep", "change"]
    sentence: str = Field(description="The whole verdict in one sentence.")
    reason: str = Field(description="Why; the sentence contains it.")
    fault: str = Field(description="Why the best candidate is never recommended; empty: it may be.")
    gain_percent: ConfidenceInterval = Field(
        description="How much better the best candidate is by the objective, percent of today's."
    )
    confidence_percent: float = Field(description="Confidence of all intervals.")
    seeds: tuple[int, ...] = Field(description="Fresh seeds; they chose nothing.")
    scenarios: tuple[str, ...]
    changes: tuple[ChangedKey, ...] = Field(description="What the best candidate changes.")
    effects: tuple[MeasureEffect, ...] = Field(description="Every scenario and measure.")
    references: tuple[ReferenceComparison, ...]
    tried: int = Field(description="Candidates that were simulated.")
    candidates: int = Field(description="Candidates that no rule refuses.")
    race: tuple[RaceRound, ...]
    independent: tuple[Independence, ...]
    border: tuple[BorderHit, ...]


class OtherObjective(Frozen):
    """Best candidate by an objective of ByteTuning, with the weights that choose it."""

    objective: str
    betas: tuple[float, ...] = Field(description="Weights of throughput that choose it.")
    gamma: float = Field(description="Weight of the spread of goodput between flows.")
    values: dict[str, float]
    value: float = Field(description="Objective of the candidate with the first weight, 0 to 1.")
    start: float = Field(description="Objective of the start point with the same weight.")
    ratios: dict[str, float | None] = Field(description="As those of an option.")


class HeatMap(Frozen):
    """Goal by two parameters: the best of the candidates that have both values, lossless ones."""

    goal: str
    x: str
    y: str
    x_values: tuple[float, ...]
    y_values: tuple[float, ...]
    rows: tuple[tuple[float | None, ...], ...] = Field(
        description="Figure by the start point's, as those of an option; null: there is none."
    )
    kinds: tuple[tuple[Literal["ratio", "from 0", "lossy", "none"], ...], ...] = Field(
        description="Of each cell: from 0: the start point has 0; lossy: all candidates drop "
        "packets or leave flows unfinished; none: all are refused or not tried."
    )


class QueueSeries(Frozen):
    """Mean queue of the fullest port in consecutive windows, kbytes."""

    scenario: str
    option: str
    port: str = Field(description="Port of the longest queue: switch>neighbor.")
    thresholds: dict[str, float] = Field(
        description="Kmin, Kmax, and static xoff and xon at this port, kbytes."
    )
    until_us: tuple[float, ...]
    kbytes: tuple[float, ...]


class SearchResult(Frozen):
    """Result of `tune search`."""

    verdict: SearchVerdict
    search: str = Field(description="Fabric, or scenarios.")
    objective: str
    method: str
    seeds: tuple[int, ...] = Field(description="The first compares all candidates, all the front.")
    combinations: int
    refused: dict[str, int] = Field(description="Combinations that rules refuse, by reason.")
    evaluated: int
    notes: tuple[str, ...] = Field(
        default=(), description="Early end of the search; kind of ECN that the choice replaces."
    )
    simulated: int = Field(description="Simulations that this command ran.")
    reused: int = Field(description="Simulations whose results the folder had.")
    start: Option
    chosen: Option = Field(description="Best candidate; the verdict is whether to use it.")
    best: dict[str, Option] = Field(description="Best candidate by objective.")
    noise_percent: dict[str, float] = Field(
        description="By goal: less difference from the start point is within noise, percent."
    )
    resolution_percent: float = Field(description="Members of the front differ by more.")
    front: tuple[Option, ...] = Field(description="Candidates that no other dominates.")
    references: tuple[Option, ...]
    byte_tuning: tuple[OtherObjective, ...]
    parameters: tuple[SearchedParameter, ...]
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
    ratios: dict[str, float | None] = Field(
        default_factory=dict,
        description="Figure by today's; more of the rates is better, fewer pauses. Null: today has "
        "none.",
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
    outside: str = ""
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
