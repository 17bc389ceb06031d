"""Cables and round trips of a running lab, which `rdma run` changes during a round."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep

from rocefort.base.errors import BadInput, Refused, ServiceFailed
from rocefort.fleet.connections import Connections
from rocefort.lab.experiments.fault_injection import FAILOVER_PATIENCE_S
from rocefort.lab.lab_cli import FAULTS_FILE, IN_FORCE_FILE, runs_in
from rocefort.lab.network import await_law, detection_s, running_network
from rocefort.lab.twin.faults import break_lab, mend_lab, require_mended
from rocefort.lab.twin.registry import Registry, connections_of, write_whole
from rocefort.lab.twin.twin import Twin

LINK_DOWN = "link-down"
ANSWER_S = 30.0  # for the process of the emulated switches
LOOK_S = 0.05


def cables_of(access: Connections) -> TwinCables | EmulatedCables:
    """Return the cables of the lab that a connections file leads to.

    Raises BadInput if it leads to no lab of this machine, Refused if the lab is broken already.
    """
    file = Path(access.file_name).resolve()
    registry = Registry()
    if name := _twin_of(registry, file):
        require_mended(registry, registry.find(name))
        return TwinCables(registry, name)
    if runs_in(file.parent):
        cables = EmulatedCables(file.parent)
        cables.require_whole()
        return cables
    raise BadInput(
        f"{access.file_name} leads to no lab that runs on this machine",
        where="--cable-by",
        how="name the connections file of `lab up` or `lab cli`, or let a person take the cable: "
        "--cable-by person",
    )


def _twin_of(registry: Registry, file: Path) -> str:
    """Return the twin that a connections file leads to; empty: none."""
    for name in registry.names():
        mine = connections_of(registry, registry.find(name))
        if mine is not None and mine.resolve() == file:
            return name
    return ""


def paths_of(access: Connections) -> TwinPaths:
    """Return the paths of the twin that a connections file leads to.

    Raises BadInput if it leads to no twin of this machine with guests.
    """
    registry = Registry()
    name = _twin_of(registry, Path(access.file_name).resolve())
    if not name or not registry.find(name).guests:
        raise BadInput(
            f"{access.file_name} leads to no twin with guests on this machine",
            where="--round-trips",
            how="name the connections file of `lab up --guests`, or leave the option out",
        )
    return TwinPaths(Twin.find(name, registry))


# A guest delays what it receives. Behind its output, netem would hold packets that its TCP counts
# as not yet sent. QUEUE packets are more than a window of a path.
QUEUE = 200_000
DELAY = """\
set -e
modprobe -a ifb act_mirred sch_netem
ip link add wan0 type ifb
ip link set wan0 up
tc qdisc add dev {nic} handle ffff: ingress
tc filter add dev {nic} parent ffff: protocol all matchall action mirred egress redirect dev wan0
tc qdisc add dev wan0 root netem limit {queue} delay {delay_us}us{reorder}
"""
UNDO = """\
tc qdisc del dev {nic} ingress 2>/dev/null
ip link del wan0 2>/dev/null
true
"""


@dataclass
class TwinPaths:
    """Round trips between guests of a twin: each end delays what it receives by half."""

    twin: Twin
    delayed: list[str] = field(default_factory=list)

    def lengthen(self, servers: Sequence[str], round_trip_ms: float, reorder: float) -> None:
        """Delay what servers receive; raises BadInput for one that is no guest."""
        # netem sends this share at once, ahead of what it delays.
        shuffled = f" reorder {reorder:g}%" if reorder else ""
        for name in servers:
            if name not in self.twin.record.guests:
                how = "name servers of `lab up --guests`"
                raise BadInput(f"{name} is no guest of {self.twin.record.name}", how=how)
            self.delayed.append(name)
            self._run(name, DELAY, delay_us=round(round_trip_ms * 500), reorder=shuffled)

    def restore(self) -> None:
        """End every delay."""
        while self.delayed:
            self._run(self.delayed.pop(), UNDO)

    def _run(self, server: str, script: str, **values: object) -> None:
        nic = self.twin.topology.by_host[server].links[0].name
        text = script.format(nic=nic, queue=QUEUE, **values)
        code, output = self.twin.run(server, ("sh", "-c", text))
        if code:
            last = (output.strip() or "no output").splitlines()[-1]
            raise ServiceFailed(f"its path cannot be delayed: {last}", where=server)


@dataclass(frozen=True)
class TwinCables:
    """Cables of a twin: both ends lose carrier."""

    registry: Registry
    name: str

    def take(self, cables: Sequence[str]) -> None:
        """Take cables away; raises BadInput for one that the twin lacks."""
        for cable in cables:
            break_lab(self.registry, self.name, LINK_DOWN, cable.replace(" ", ":", 1))

    def put_back(self) -> None:
        """Put them back, and wait until the kernels use them again; raises ServiceFailed."""
        mend_lab(self.registry, self.name)
        twin = Twin.find(self.name, self.registry)
        limit_s = FAILOVER_PATIENCE_S + detection_s(twin)
        if not await_law(twin, running_network(twin), (), limit_s).holds:
            what = f"is not whole {limit_s:.0f} s after its cables were put back"
            raise ServiceFailed(what, where=self.name)


@dataclass(frozen=True)
class EmulatedCables:
    """Cables between emulated switches: a file of faults that their process follows."""

    state: Path

    def require_whole(self) -> None:
        """Raise Refused if a fault is in force, which `put_back` would end, too."""
        file = self.state / FAULTS_FILE
        if rows := json.loads(file.read_text("utf-8")) if file.exists() else []:
            what = f"is broken on purpose: {rows[0]['fault']} {rows[0]['where']}"
            raise Refused(what, where=str(self.state), how="end this lab, and start it again")

    def take(self, cables: Sequence[str]) -> None:
        """Take cables away; raises BadInput for one that the lab lacks."""
        self._set([(LINK_DOWN, cable.replace(" ", "@", 1)) for cable in cables])

    def put_back(self) -> None:
        """Put them back; raises ServiceFailed if the lab does not answer."""
        self._set([])

    def _set(self, faults: Sequence[tuple[str, str]]) -> None:
        rows = [{"fault": fault, "where": where} for fault, where in faults]
        write_whole(self.state / FAULTS_FILE, json.dumps(rows))
        keys = sorted(" ".join(each) for each in faults)
        until = monotonic() + ANSWER_S
        while monotonic() < until:
            answer = self.state / IN_FORCE_FILE
            known = json.loads(answer.read_text("utf-8")) if answer.exists() else {}
            if refused := known.get("refused"):
                raise BadInput(next(iter(refused.values())), where=next(iter(refused)))
            if sorted(known.get("there", [])) == keys:
                return
            sleep(LOOK_S)
        how = "see `lab.log` in its directory"
        raise ServiceFailed("the emulated switches do not answer", where=str(self.state), how=how)
