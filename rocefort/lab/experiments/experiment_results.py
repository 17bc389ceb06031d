"""Results of experiments in a running lab: routing comparison, chaos, failover, flow spread."""

from __future__ import annotations

from rocefort.models.base import Frozen


class OpinionRow(Frozen):
    """Next-hop sets of one state of a fabric, compared between every two sources.

    differing: by pair of sources, such as `kernel, engine`. batfish: source of its answers; empty:
    none.
    """

    fabric: str
    state: str
    compared: int
    differing: dict[str, int]
    batfish: str = ""
    first: str = ""  # of the differences


class Opinions(Frozen):
    """Comparison of next hops in one or more labs."""

    rows: tuple[OpinionRow, ...]


class ChaosStep(Frozen):
    """One fault, or the repair of all, and whether the kernels reached the predicted state.

    done: the act. at_s: since the begin. took_s: until the kernels agreed, or the deadline.
    """

    number: int
    at_s: float
    done: str
    compared: int
    differing: int
    took_s: float
    first: str = ""


class Chaos(Frozen):
    """Sequence of random faults from a seed; stopped: why it ended early."""

    lab: str
    seed: int
    minutes: float
    deadline_s: float
    timers: tuple[str, ...]
    steps: tuple[ChaosStep, ...] = ()
    stopped: str = ""

    @property
    def failed(self) -> bool:
        """Whether kernels differed from the prediction after a step."""
        return any(step.differing for step in self.steps)


class SpreadRow(Frozen):
    """One equal path of a leaf. counted: packets at the spine; foretold: by the leaf's hash."""

    spine: str
    port: str  # of the spine
    counted: int
    expected: float
    foretold: int


class FlowSpread(Frozen):
    """Spread of one server pair's flows over the equal paths of the source's leaf.

    chance: probability that fair choices are at least as uneven. bound: the lowest that passes.
    """

    lab: str
    source: str
    destination: str
    leaf: str
    flows: int
    rows: tuple[SpreadRow, ...]
    chi_square: float
    freedom: int
    chance: float
    bound: float

    @property
    def fair(self) -> bool:
        """Whether all flows arrived, spread as by fair choices."""
        return sum(row.counted for row in self.rows) == self.flows and self.chance >= self.bound


class FailoverRow(Frozen):
    """One fault under load. window_ms: longest outage of any flow; None: until the repair.

    hit: flows that lost packets. settled_s: until kernels had the predicted state; None: not within
    the limit. mending_ms: longest outage during the repair.
    """

    fault: str
    where: str
    hit: int
    lost: int
    window_ms: float | None
    settled_s: float | None
    mending_ms: float | None


class Failover(Frozen):
    """Outage of flows, by fault."""

    lab: str
    source: str
    destination: str
    flows: int
    rate: int  # packets a second, of each flow
    timers: tuple[str, ...]
    limit_s: float
    rows: tuple[FailoverRow, ...]


class UnderLoad(Frozen):
    """Flows and sessions of a lab during a change.

    reset: sessions that existed before and are no longer the same. longest_ms: longest outage of
    one flow; None: not over at the end.
    """

    lab: str
    flows: int
    rate: int  # packets a second, of each flow
    seconds: float
    sent: int
    lost: int
    longest_ms: float | None
    sessions: int  # before
    gained: int  # sessions
    reset: tuple[str, ...] = ()
