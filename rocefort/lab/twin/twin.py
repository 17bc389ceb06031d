"""Twin of one fabric: start, state, change and end."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from ipaddress import IPv4Interface, IPv4Network
from typing import Any, Self, TypeVar

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, Refused
from rocefort.dialects.frr import DAEMONS
from rocefort.lab.guest.qemu import Accel
from rocefort.lab.twin import requirements
from rocefort.lab.twin.builder import Builder
from rocefort.lab.twin.frr import Daemons
from rocefort.lab.twin.guests import Guests, prepare, with_guests
from rocefort.lab.twin.kernel_routes import Fib, KernelState, read_fib, summary_of, wait_settled
from rocefort.lab.twin.namespaces import inside, marked, raise_neighbour_limit, run
from rocefort.lab.twin.registry import LabRecord, Registry, reap
from rocefort.lab.twin.topology import BACKSTAGE, Host, TwinTopology, topology_of
from rocefort.models.network.network import Network
from rocefort.models.wording import count_of

LIMIT_S = 120.0  # to converge; 8 spines and 64 leaves take some seconds on an idle machine
BFD_SESSIONS = 64  # with more, two cores send packets late, and working links seem dead
SPARE_NEIGHBOURS = 512
T = TypeVar("T")
Sessions = Mapping[str, tuple[str, ...]]
QUIET: Callable[[str], None] = lambda _: None  # noqa: E731 - a default


@dataclass(frozen=True)
class TwinOptions:
    """Options of a lab.

    bfd: None: used if there are few enough sessions. limit_s: to converge. expected: peers by
    switch whose sessions are waited for; None: all that are configured at both ends. guests:
    servers that QEMU runs; accel: its accelerator. finish: further setup before the lab counts as
    up.
    """

    bfd: bool | None = None
    other_frr: bool = False
    limit_s: float = LIMIT_S
    expected: Sessions | None = None
    guests: tuple[str, ...] = ()
    accel: Accel = "auto"
    finish: Callable[[Twin], object] | None = None


@dataclass
class Twin:
    """A lab that is up. Created by `up` or `find`."""

    registry: Registry
    record: LabRecord
    topology: TwinTopology
    choice: TwinOptions = field(default_factory=TwinOptions)

    @classmethod
    def up(
        cls,
        network: Network,
        name: str,
        choice: TwinOptions | None = None,
        registry: Registry | None = None,
        say: Callable[[str], None] = QUIET,
    ) -> Self:
        """Bring a network up under a name, and wait until it has converged.

        Raises ServiceFailed if this machine lacks a requirement, Refused if a lab of that name is
        up; then nothing is left behind. Remains of a killed start under the name are removed first.
        """
        choice, registry = choice or TwinOptions(), registry or Registry()
        requirements.require_host(other_frr=choice.other_frr)
        have = requirements.probe()
        bfd = _few_sessions(network) if choice.bfd is None else choice.bfd
        topology = topology_of(network, requirements.features_of(have), bfd=bfd)
        topology = with_guests(topology, choice.guests)
        guests = _guests(choice, say)
        with registry.lock(name):
            _clear(registry, name)
            version, lacks = requirements.frr_version(), requirements.lacks(have)
            record = registry.begin(name, network.name, bfd=bfd, frr=version, lacks=lacks)
            record = record.model_copy(update=guests)
            registry.save(record)
            twin = cls(registry, record, topology, choice)
            try:
                twin._build(TwinTopology(name=network.name), topology, say)
                if choice.finish is not None:
                    choice.finish(twin)
                twin._mark_complete()
            except BaseException:
                reap(registry, record)
                raise
        return twin

    @classmethod
    def find(cls, name: str, registry: Registry | None = None) -> Self:
        """Return a lab by its name. Raises BadInput without one, ServiceFailed if not whole."""
        registry = registry or Registry()
        record = registry.find(name)
        return cls(registry, record, registry.topology(record))

    @property
    def _builder(self) -> Builder:
        return Builder(self.record.id, self.registry.directory(self.record.id))

    def _build(self, old: TwinTopology, new: TwinTopology, say: Callable[[str], None]) -> None:
        if limit := raise_neighbour_limit(self.registry.root, neighbours_of(new)):
            say(f"this machine now keeps {limit} neighbours, until the last lab is down")
        self._builder.change(old, new)
        self.topology = new
        self.registry.save_topology(self.record, new)
        booting = self._boot(old, new)
        seconds = self.converge()
        say(f"converged {seconds:.1f} s after the last daemon was started")
        if booting:
            seconds = self.guests.wait(booting)
            say(f"{count_of(len(booting), 'guest')} ready {seconds:.1f} s later")
        if self.record.guests and not self.guests.ports:
            self.guests.open()

    def _mark_complete(self) -> None:
        """Record that the lab is whole."""
        self.record = self.record.model_copy(update={"status": "up"})
        self.registry.save(self.record)

    @property
    def guests(self) -> Guests:
        """Servers that are guests."""
        return Guests(self.registry, self.record)

    def _boot(self, old: TwinTopology, new: TwinTopology) -> list[Host]:
        """Start the guests that are new, dead, or changed."""
        booting = [
            host
            for host in new.hosts
            if host.guest
            and (old.by_host.get(host.name) != host or not self.guests.running(host.name))
        ]
        if booting:
            self.guests.stop([host.name for host in booting])
            self.guests.start(booting, self.guests.image)
        return booting

    def apply(
        self,
        network: Network,
        expected: Sessions | None = None,
        say: Callable[[str], None] = QUIET,
    ) -> None:
        """Change the running lab into another network; equal parts are not touched.

        expected: as in TwinOptions, of the new network.

        Raises Refused if the lab is not whole, ServiceFailed if a step fails: then the lab is in
        between, and its record is marked so.
        """
        self.require_whole()
        requirements.require_host(other_frr=self.choice.other_frr)
        new = topology_of(
            network, requirements.features_of(requirements.probe()), bfd=self.record.bfd
        )
        new = with_guests(new, set(self.record.guests) & new.by_host.keys())
        self.choice = replace(self.choice, expected=expected)
        with self.registry.lock(self.record.name):
            self.record = self.record.model_copy(update={"status": "changing"})
            self.registry.save(self.record)
            self._build(self.topology, new, say)
            self._mark_complete()

    def require_whole(self) -> None:
        """Raise Refused if a change of the lab was interrupted."""
        if self.record.status != "up":
            how = f"rocefort lab down {self.record.name}, and up again"
            raise Refused(f"lab {self.record.name} is not whole: a change was broken off", how=how)

    def down(self) -> None:
        """Remove the lab."""
        take_down(self.record.name, self.registry)

    def converge(self, limit_s: float | None = None, gone: Collection[str] = ()) -> float:
        """Wait until sessions are up and routes are stable; returns the seconds.

        gone: pairs `switch peer` whose sessions are not waited for, after a failure.
        """
        sessions = self.topology.sessions if self.choice.expected is None else self.choice.expected
        expected = {
            name: tuple(peer for peer in peers if f"{name} {peer}" not in gone)
            for name, peers in sessions.items()
        }
        return wait_settled(self, expected, limit_s or self.choice.limit_s)

    def look(self, names: Collection[str] | None = None) -> dict[str, KernelState]:
        """Return the state of switches that run BGP: their sessions, and the kernel's routes."""
        return self._of_bgp_switches(self._look, names)

    def chosen(self) -> dict[str, Mapping[str, Any]]:
        """Return BGP tables of all switches that have one, as bgpd writes them."""
        return self._of_bgp_switches(self._table)

    def own(self, switch: str) -> set[IPv4Network]:
        """Return subnets of a switch's own addresses, in use or not."""
        links = self.topology.by_switch[switch].links
        return {IPv4Interface(text).network for link in links for text in link.addresses}

    def _of_bgp_switches(
        self, ask: Callable[[str], T], names: Collection[str] | None = None
    ) -> dict[str, T]:
        plans = self.topology.by_switch
        switches = [
            n for n, plan in plans.items() if "bgpd" in plan.texts and n in (names or plans)
        ]
        jobs = ((self._builder.namespace(name), partial(ask, name)) for name in switches)
        return dict(zip(switches, inside(jobs), strict=True))

    def _look(self, name: str) -> KernelState:
        with self.daemons(name).vty("bgpd") as vty:
            states, counts = summary_of(vty.read("show bgp ipv4 unicast summary json"))
        return KernelState(states, counts, self._ip_route())

    def _table(self, name: str) -> Mapping[str, Any]:
        with self.daemons(name).vty("bgpd") as vty:
            table: Mapping[str, Any] = vty.read("show bgp ipv4 unicast json")
        return table

    def _ip_route(self) -> str:
        return run(self.record.id, ("ip", "-j", "-4", "route", "show"))

    def fib(self, node: str, protocols: Sequence[str] = ()) -> Fib:
        """Return next hops by prefix in the kernel of a node; protocols: only of these."""
        return self.fibs([node], protocols)[node]

    def fibs(
        self, nodes: Sequence[str] | None = None, protocols: Sequence[str] = ()
    ) -> dict[str, Fib]:
        """Return tables of several nodes; by default of all switches."""
        names = list(self.topology.by_switch) if nodes is None else list(nodes)
        texts = inside((self._namespace(name), self._ip_route) for name in names)
        return {n: read_fib(text, protocols) for n, text in zip(names, texts, strict=True)}

    def _namespace(self, node: str) -> str:
        if node not in self.topology.nodes:
            names = (name for name in self.topology.nodes if name != BACKSTAGE)
            raise BadInput(f"lab {self.record.name} has no {node!r}", how=nearest(node, names))
        return self._builder.namespace(node)

    def within(self, node: str, work: Callable[[], T]) -> T:
        """Run a function in a thread inside the namespace of a node."""
        return inside([(self._namespace(node), work)])[0]

    def run(self, node: str, command: Sequence[str], text: str = "") -> tuple[int, str]:
        """Run a command inside a node: returns exit code, and output of both streams."""
        words = self.guests.ssh(command) if node in self.record.guests else command
        done = inside([(self._namespace(node), partial(self._run, words, text))])[0]
        return done.returncode, done.stdout

    def _run(self, command: Sequence[str], text: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 - the user's command, in the lab
            list(command),
            input=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            env=marked(self.record.id),
        )

    def execute(self, node: str, command: Sequence[str]) -> int:
        """Run a command inside a node on the streams of this process; returns its exit code.

        `vtysh` gets the node's daemons. Raises BadInput if there is no such command.
        """
        words = list(command)
        if words[0] == "vtysh" and node in self.topology.by_switch:
            directory = self.daemons(node).directory
            words[1:1] = ["--vty_socket", str(directory)]
        if node in self.record.guests:
            words = self.guests.ssh(words)
        elif shutil.which(words[0]) is None:
            raise BadInput(f"this machine has no command {words[0]!r}", where=node)
        call = partial(subprocess.call, words, env=marked(self.record.id))
        return inside([(self._namespace(node), call)])[0]

    def daemons(self, switch: str) -> Daemons:
        """Return the daemons of a switch, with their command lines."""
        self._namespace(switch)
        return self._builder.daemons(switch)

    def ip(self, node: str, lines: Sequence[str]) -> None:
        """Run lines of `ip -batch` inside a node, by kernel names."""
        self._namespace(node)
        self._builder.ip(node, lines)

    def dead(self) -> list[tuple[str, str]]:
        """Return daemons that were started and do not run any more: switch, daemon."""
        return [
            (plan.name, name)
            for plan in self.topology.switches
            for name in DAEMONS
            if name in plan.texts and not self.daemons(plan.name).running(name)
        ]


def take_down(name: str, registry: Registry | None = None) -> None:
    """Remove a lab by its name, whole or not. Raises BadInput if there is none."""
    registry = registry or Registry()
    registry.find(name)
    with registry.lock(name):
        reap(registry, registry.find(name))


def _clear(registry: Registry, name: str) -> None:
    """Remove the rest of a killed process under the name. Raises Refused for a lab that is up."""
    if name not in registry.names():
        return
    record = registry.find(name)
    if record.status == "up":
        raise Refused(f"a lab called {name} is up", how=f"rocefort lab down {name}, or use --name")
    reap(registry, record)


def _guests(choice: TwinOptions, say: Callable[[str], None]) -> dict[str, object]:
    """Return the record's data of guests. Raises ServiceFailed if none can run."""
    if not choice.guests:
        return {}
    image, accel = prepare(choice.accel, say, len(choice.guests))
    return {"guests": choice.guests, "image": str(image.directory), "accel": accel}


def _few_sessions(network: Network) -> bool:
    speakers = (node.device.bgp for node in network.nodes)
    return sum(len(bgp.peers) for bgp in speakers if bgp is not None) <= BFD_SESSIONS


def neighbours_of(topology: TwinTopology) -> int:
    """Return an upper estimate: one at each end of each cable, and every management port's."""
    managed = sum(link.name.startswith("MEth") for p in topology.switches for link in p.links)
    return 2 * len(topology.cables) + managed + SPARE_NEIGHBOURS
