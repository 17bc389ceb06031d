"""Simple model of switch state, computed from all running configurations and the cabling.

A port is up when both ends of its cable are enabled. The routing of the fabric is a callable,
because the lab does not import a routing engine. Counters are zero, except for injected faults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput
from rocefort.dialects.vrp.interpreter.interpreter import Lines
from rocefort.emulator.state import ports as state_ports
from rocefort.emulator.state import routing_state, state_faults
from rocefort.emulator.state.ports import Cabling, PortContext, PortsOfSwitch
from rocefort.emulator.state.routing_state import (
    BgpRoute,
    EstablishedSession,
    HoldTimers,
    PeerEnd,
    SessionFacts,
    table_of,
)
from rocefort.emulator.state.state_faults import InjectedFault, Port, StateFault
from rocefort.emulator.switch.state_source import (
    AiEcnState,
    AlarmState,
    BgpPath,
    EchoReply,
    EchoRequest,
    InterfaceState,
    LldpAdvertisement,
    NeighbourState,
    PeerState,
    PfcState,
    QueueState,
    RouteState,
    StationState,
    VlanState,
)
from rocefort.emulator.switch.switch import EmulatedSwitch, configured_peers
from rocefort.models.device.device import Device

T = TypeVar("T")
LLDP_HOLD_S, LLDP_INTERVAL_S = 120, 30  # V300R023C00 defaults of LLDP
KEPT_SWITCHES = 32  # number of cached Devices: that of a spine has some hundred kbytes
LINK_DOWN = "0x8520003"  # V300R023C00, `display alarm active`


@dataclass(frozen=True, slots=True)
class ComputedRoutes:
    """Result of a routing engine: BGP peers and learned routes, by switch.

    paths: computes the BGP table of one switch, because all of them need much memory. sessions:
    those that are established between switches of the lab. orphaned: ends that would be established
    if any switch had the address of their peer.
    """

    peers: Mapping[str, Sequence[PeerState]]
    routes: Mapping[str, Sequence[BgpRoute]] = field(default_factory=dict)
    paths: Callable[[str], Sequence[BgpPath]] = lambda _: ()
    sessions: Sequence[SessionFacts] = ()
    orphaned: frozenset[PeerEnd] = frozenset()


# Running configurations by switch, and the ports that do not reach their planned far end.
Routing = Callable[[Mapping[str, Lines], frozenset[Port]], ComputedRoutes]


def no_routing(running: Mapping[str, Lines], dead: frozenset[Port]) -> ComputedRoutes:  # noqa: ARG001
    """Return every configured peer as Idle: the display of a lab without a routing model."""
    return ComputedRoutes({name: configured_peers(config) for name, config in running.items()})


@dataclass
class EmulatedState:
    """`StateSource` for emulated switches.

    cabling: the other end of each cabled port, both ways, servers by name; None: not known, and
    every enabled port is up. ports: names of a switch's ports in order, with speeds in Mb/s; a
    switch without an entry shows the interfaces of its configuration.
    """

    switches: Mapping[str, EmulatedSwitch]
    cabling: Cabling | None = None
    ports: Mapping[str, PortsOfSwitch] = field(default_factory=dict)
    routing: Routing = no_routing
    faults: list[tuple[str, InjectedFault]] = field(default_factory=list)
    _devices: dict[str, tuple[Lines, Device]] = field(default_factory=dict)
    _states: dict[str, tuple[object, Sequence[InterfaceState]]] = field(default_factory=dict)
    _routing_inputs: tuple[object, ...] = ()
    _matching: ComputedRoutes = field(
        default_factory=lambda: ComputedRoutes({})
    )  # as if every session received its messages
    _down: frozenset[Port] = frozenset()  # ports of sessions that match and are not up
    _routed: ComputedRoutes = field(default_factory=lambda: ComputedRoutes({}))
    _established: dict[tuple[PeerEnd, PeerEnd], EstablishedSession] = field(default_factory=dict)
    _orphaned_since: dict[PeerEnd, tuple[float, int]] = field(default_factory=dict)
    _since: dict[tuple[str, str, str], float] = field(default_factory=dict)

    @property
    def _timers(self) -> HoldTimers:
        """Hold timers of BGP sessions; the model holds their state."""
        return HoldTimers(
            lambda switch: self.switches[switch].changed, self._established, self._orphaned_since
        )

    def inject(self, switch: str, fault: StateFault) -> None:
        """Inject a fault from now on. Raises BadInput for an unknown switch or port."""
        if switch not in self.switches:
            how = nearest(switch, self.switches)
            raise BadInput(f"no switch is called {switch!r}", how=how)
        self._check(switch, fault.interface)
        if fault.far is not None and fault.far[0] in self.switches:
            self._check(*fault.far)
        self.faults.append((switch, InjectedFault(fault, self.switches[switch].clock())))

    def _check(self, switch: str, interface: str) -> None:
        if all(state.name != interface for state in self.interfaces(switch)):
            raise BadInput(f"no port is called {interface}", where=switch)

    def _of(self, switch: str) -> list[InjectedFault]:
        return [injected for name, injected in self.faults if name == switch]

    def device(self, switch: str) -> Device:
        """Return the running configuration of a switch as a Device; parsed again after a change."""
        running = self.switches[switch].running
        cached = self._devices.get(switch)
        if cached is None or cached[0] is not running:
            cached = (running, state_ports.read_running(switch, running))
            _keep_value(self._devices, switch, cached)
        return cached[1]

    def _uncounted(self, switch: str) -> Sequence[InterfaceState]:
        """Return every interface without its counters.

        Computed again when any running configuration or fault changes.
        """
        running = tuple(each.running for each in self.switches.values())
        ports = self.ports.get(switch, {})
        inputs = running, tuple(self.faults), self.cabling, ports
        cached = self._states.get(switch)
        if cached is None or cached[0] != inputs:
            cabling, dead = self._cabling(), self._dead_ends()
            context = PortContext(switch, self.device(switch), ports, cabling, dead)
            cached = (inputs, state_ports.interfaces(context))
            _keep_value(self._states, switch, cached)
        return cached[1]

    def _cabling(self) -> Cabling | None:
        wrong = {
            (name, injected.fault.interface): injected.fault.far
            for name, injected in self.faults
            if injected.fault.far is not None
        }
        return state_ports.replugged(self.cabling or {}, wrong) if wrong else self.cabling

    def _dead_ends(self) -> Callable[[Port], bool]:
        """Return a test whether an end sends nothing: a fault, or the end is shut."""
        shut: dict[str, frozenset[str]] = {}  # by the running configurations
        broken = [injected for _, injected in self.faults if injected.fault.name == "link-down"]

        def dead(port: Port) -> bool:
            switch, interface = port
            if broken and any(i.on(interface) for i in self._of(switch) if i in broken):
                return True
            if switch not in self.switches:
                return False  # a server is always up
            if switch not in shut:
                shut[switch] = state_ports.shut_ports(self.switches[switch].running)
            return interface in shut[switch]

        return dead

    def interfaces(self, switch: str) -> Sequence[InterfaceState]:
        """Return every interface with its counters, physical ones first."""
        if switch not in self.switches:
            return ()
        now, injected = self.switches[switch].clock(), self._of(switch)
        return [
            state_faults.with_counters(
                state, [fault for fault in injected if fault.on(state.name)], now
            )
            for state in self._uncounted(switch)
        ]

    def vlans(self, switch: str) -> Sequence[VlanState]:
        """Return every VLAN, by number."""
        if switch not in self.switches:
            return ()
        running = self.switches[switch].running
        return state_ports.vlans(self.device(switch), self._uncounted(switch), running)

    def stations(self, switch: str) -> Sequence[StationState]:
        """Return the servers behind switched interfaces that are up, by interface."""
        if switch not in self.switches:
            return ()
        servers = {
            port: far
            for (name, port), far in self._plugged(switch).items()
            if name == switch and far[0] not in self.switches
        }
        return state_ports.stations(self.device(switch), self.interfaces(switch), servers)

    def neighbours(self, switch: str) -> Sequence[NeighbourState]:
        """Return LLDP neighbours that are switches of the lab; LLDP of servers is not modelled."""
        if switch not in self.switches or not self.device(switch).lldp:
            return ()
        own, cabling = self.switches[switch], self._plugged(switch)
        expires = LLDP_HOLD_S - int(own.clock() - own.booted) % LLDP_INTERVAL_S
        rows = []
        for state in self.interfaces(switch):
            far = cabling.get((switch, state.name))
            if far and state.physical == "up" and far[0] in self.switches:
                neighbour = self.switches[far[0]]
                if state_ports.has_line(neighbour.running, "lldp enable"):
                    fields = neighbour.hostname, far[1], expires, far[0]
                    rows.append(NeighbourState(state.name, *fields))
        return rows

    def _plugged(self, switch: str) -> Cabling:  # noqa: ARG002 - a twin uses it
        """Return the cables as they are plugged at a switch."""
        return self._cabling() or {}

    def announced(self, neighbour: NeighbourState) -> LldpAdvertisement:
        """Return the LLDP data of a switch of the lab, from its running configuration."""
        return state_ports.lldp_advertisement(self.switches[neighbour.switch], neighbour.port)

    def ping(self, switch: str, echo: EchoRequest) -> Sequence[EchoReply | None]:
        """Return replies of switches with routes there and back; servers do not reply."""
        return routing_state.ping(self, self.switches, self._cabling(), switch, echo)

    def peers(self, switch: str) -> Sequence[PeerState]:
        """Return BGP peers as routed now."""
        routed = self._routing()
        return [
            replace(peer, state="Established") if self._lingers(switch, peer) else peer
            for peer in routed.peers.get(switch, ())
        ]

    def _lingers(self, switch: str, peer: PeerState) -> bool:
        """Whether a session is up though its peer has lost its address: this end got no message."""
        end = switch, str(peer.address)
        orphaned = end in self._matching.orphaned
        return orphaned and self._timers.lingers(end, self.switches[switch].clock())

    def peer_age_s(self, switch: str, peer: str) -> int:
        """Return the seconds since a query first saw the peer in its state."""
        if switch not in self.switches:
            return 0
        state = next((p.state for p in self.peers(switch) if str(p.address) == peer), "")
        own = self.switches[switch]
        return max(0, int(own.clock() - self._since.get((switch, peer, state), own.booted)))

    def routes(self, switch: str) -> Sequence[RouteState]:
        """Return connected, static and BGP routes of the public table."""
        if switch not in self.switches:
            return ()
        learned = self._routing().routes.get(switch, ())
        return table_of(self.device(switch), self._uncounted(switch), learned)

    def bgp_paths(self, switch: str) -> Sequence[BgpPath]:
        """Return the paths that the routing engine uses; the others are not known."""
        return self._routing().paths(switch) if switch in self.switches else ()

    def _routing(self) -> ComputedRoutes:
        """Solve the routing again only if a running configuration has changed since the last call.

        Also when a session ends by its timer: for the routing, its port then carries nothing.
        """
        now = 0.0
        for switch in self.switches.values():
            switch.tick()
            now = switch.clock()
        running = {name: switch.running for name, switch in self.switches.items()}
        dead = self._dead_ports()
        inputs = (dead, *running.values())
        same = len(inputs) == len(self._routing_inputs) and dead == self._routing_inputs[0]
        if not same or any(
            a is not b for a, b in zip(inputs[1:], self._routing_inputs[1:], strict=True)
        ):
            same, self._routing_inputs, self._matching = False, inputs, self.routing(running, dead)
        ended = self._timers.down(self._matching.sessions, now)
        down = frozenset(session.port for session in ended)
        if not same or down != self._down:
            before, self._down = self._routed, down
            self._routed = self.routing(running, dead | down) if down else self._matching
            self._note_ages(before)
        return self._routed

    def _note_ages(self, before: ComputedRoutes) -> None:
        seen: dict[tuple[str, str, str], float] = {}
        for name, peers in self._routed.peers.items():
            own = self.switches[name]
            old_states = {str(peer.address): peer.state for peer in before.peers.get(name, ())}
            for peer in peers:
                key = (name, str(peer.address), peer.state)
                started = own.booted if not before.peers else own.clock()
                seen[key] = (
                    self._since.get(key, started)
                    if old_states.get(str(peer.address)) == peer.state
                    else started
                )
        self._since = seen

    def _dead_ports(self) -> frozenset[Port]:
        """Return ports of cut cables, and of cables that do not lead to their planned far end."""
        actual, planned = self._cabling() or {}, self.cabling or {}
        moved = {port for port in planned if actual.get(port) != planned[port]}
        cut = {
            (name, injected.fault.interface)
            for name, injected in self.faults
            if injected.fault.name == "link-down"
        }
        far = {actual[port] for port in cut if port in actual}
        return frozenset(port for port in moved | cut | far if port[0] in self.switches)

    def pfc(self, switch: str) -> Sequence[PfcState]:
        """Return PFC counters of the lossless queues of ports with PFC on."""
        if switch not in self.switches:
            return ()
        now = self.switches[switch].clock()
        return state_faults.pfc(self.device(switch), self._of(switch), now)

    def queues(self, switch: str, interface: str) -> Sequence[QueueState]:
        """Return the eight queues of a port."""
        state = next((s for s in self.interfaces(switch) if s.name == interface), None)
        if state is None or not state_ports.is_port(interface):
            return ()
        now, device = self.switches[switch].clock(), self.device(switch)
        injected = [fault for fault in self._of(switch) if fault.on(interface)]
        return state_faults.queues(device, state, injected, now)

    def ai_ecn(self, switch: str) -> Sequence[AiEcnState]:
        """Return AI-ECN of ports that are up with PFC on; it runs on no others (V300R023C00)."""
        if switch not in self.switches:
            return ()
        up = {state.name for state in self.interfaces(switch) if state.physical == "up"}
        return state_faults.ai_ecn(self.device(switch), up, self._of(switch))

    def alarms(self, switch: str) -> Sequence[AlarmState]:
        """Return `linkDown` alarms of enabled ports whose cable carries nothing."""
        if switch not in self.switches:
            return ()
        cabled = self._cabling() or {}
        states = [s for s in self.interfaces(switch) if (switch, s.name) in cabled]
        down = [state.name for state in states if state.physical == "down"]
        own = self.switches[switch]
        return [
            AlarmState(
                number,
                LINK_DOWN,
                "Major",
                max(0, int(own.clock() - own.booted)),
                f"The interface status changes. (ifName={name}, AdminStatus=UP, OperStatus=DOWN, "
                "Reason=The interface physical link is down.)",
            )
            for number, name in enumerate(down, 1)
        ][::-1]


def _keep_value(cache: dict[str, T], switch: str, value: T) -> None:
    """Cache a value of a switch, and drop the oldest values."""
    while len(cache) >= KEPT_SWITCHES:
        cache.pop(next(iter(cache)))
    cache[switch] = value
