"""What trials of a running lab find: opinions compared, chaos, failover, the spread of flows."""

from __future__ import annotations

from rocefort.models.base import Frozen


class OpinionRow(Frozen):
    """Next-hop sets of one state of a fabric, compared by every two of those who have an opinion.

    differing: by `kernel, engine` and the like; batfish: where its answers came from, empty: none.
    """

    fabric: str
    state: str
    compared: int
    differing: dict[str, int]
    batfish: str = ""
    first: str = ""  # of the differences


class ChaosStep(Frozen):
    """One thing that was broken, or all mended, and whether the kernels came to the prediction.

    done: what it was; at_s: since the begin; took_s: until kernels agreed, or the deadline.
    """

    number: int
    at_s: float
    done: str
    compared: int
    differing: int
    took_s: float
    first: str = ""


class Chaos(Frozen):
    """A seeded sequence of faults; stopped: why it ended before its time."""

    lab: str
    seed: int
    minutes: float
    deadline_s: float
    timers: tuple[str, ...]
    steps: tuple[ChaosStep, ...] = ()
    stopped: str = ""

    @property
    def failed(self) -> bool:
        """Whether the law did not hold after a step."""
        return any(step.differing for step in self.steps)


class SpreadRow(Frozen):
    """One equal path of a leaf. counted: packets at the spine; foretold: by the leaf's own hash."""

    spine: str
    port: str  # of the spine
    counted: int
    expected: float
    foretold: int


class FlowSpread(Frozen):
    """Flows of one pair of servers over the equal paths of the source's leaf.

    chance: that fair choices are as uneven as this or more; bound: the least that is taken.
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
        """Whether all flows came, spread as equal choices do."""
        return sum(row.counted for row in self.rows) == self.flows and self.chance >= self.bound


class FailoverRow(Frozen):
    """One fault under load. window_ms: the longest of any flow, None: not over when it was mended.

    hit: flows that lost packets; settled_s: until kernels had what is predicted, None: they had
    not within the limit; mending_ms: the longest window while it was mended.
    """

    fault: str
    where: str
    hit: int
    lost: int
    window_ms: float | None
    settled_s: float | None
    mending_ms: float | None


class Failover(Frozen):
    """How long flows are without their packets, by fault."""

    lab: str
    source: str
    destination: str
    flows: int
    rate: int  # packets a second, of each flow
    timers: tuple[str, ...]
    limit_s: float
    rows: tuple[FailoverRow, ...]


class UnderLoad(Frozen):
    """What flows and sessions of a lab came to while something was done to it.

    reset: sessions that were there before and are not the same any more; longest_ms: without a
    packet of one flow, None: not over at the end.
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
