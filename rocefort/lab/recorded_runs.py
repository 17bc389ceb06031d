"""Choice of the recorded perftest run that a server of a twin replays, by probe packets.

A namespace has no RDMA, so the programs' output is recorded. Probe packets that cross the twin
decide on a good run, one of a blocked path, or one of a path with too small an MTU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rocefort.emulator.emulated_site import BANDWIDTH, BLOCKED
from rocefort.emulator.servers.ssh_hosts import NEWEST_RUNS, Sample, read_sample
from rocefort.lab.twin.registry import Registry
from rocefort.lab.twin.traffic.roce_probes import SMALL, not_delivered, pair_length, wires
from rocefort.lab.twin.twin import Twin

TWIN_NOTE = (
    "packets of RoCE cross the twin, and their result selects the recorded run: "
    "correctness is judged, speed is not"
)
# A latency run sends small packets, which get through.
TOO_LONG = {BANDWIDTH: f"{NEWEST_RUNS}/fail.path_mtu_1500"}
PATIENCE_S = 3.0  # perftest sends lost packets again; sessions may still be coming up


@dataclass(frozen=True)
class ReplayedByTwin:
    """Choice of samples for the servers of one lab."""

    registry: Registry
    lab: str

    def choose(self, client: str, words: Sequence[str]) -> Sample | None:
        """Return the sample of a client's run; None: a good one."""
        twin = Twin.find(self.lab, self.registry)
        server = next((h.name for h in twin.topology.hosts if h.address in words), None)
        if server is None or words[0] not in BLOCKED:
            return None
        name = self._name(twin, (client, server), words)
        return read_sample(name) if name else None

    @staticmethod
    def _name(twin: Twin, pair: tuple[str, str], words: Sequence[str]) -> str | None:
        marks = [after for option, after in pairwise(words) if option in ("--tclass", "-R")]
        tclass = int(marks[0]) if marks and marks[0].isdecimal() else 0
        full = pair_length(twin, pair)
        both = [pair, pair[::-1]]
        with wires(twin, pair, tclass) as probes:
            if not_delivered(probes, both, SMALL, PATIENCE_S):
                return BLOCKED[words[0]]
            if words[0] in TOO_LONG and not_delivered(probes, both, full, PATIENCE_S):
                return TOO_LONG[words[0]]
        return None
