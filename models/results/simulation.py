"""Results of a packet simulation. kbytes are of 1,000 bytes, Gb/s are of payload."""

from __future__ import annotations

from pydantic import Field

from rocefort.models.base import Frozen


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


class Measures(Frozen):
    """Measures of a simulation, from `measure_from_ms` to its end."""

    goodput_gbps: float = Field(description="Payload that all receivers got, Gb/s.")
    fairness: float = Field(description="Jain's index of the flows' goodput; 1: all equal.")
    completion_us: Completion | None = Field(
        description="Completion times of the flows that ended, us; none: no flow ended."
    )
    unfinished: float = Field(description="Number of finite flows that did not end.")
    queue_kbytes: QueueUse = Field(description="Queue of the port with the largest mean, kbytes.")
    marks: float = Field(description="Packets that switches marked.")
    pauses: float = Field(description="Pause frames that switches sent.")
    paused_us: float = Field(description="Time for which ports paused their peers, us, added up.")
    drops: float = Field(description="Data packets that switches dropped.")
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
