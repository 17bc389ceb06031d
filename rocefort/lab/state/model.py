"""The simple model behind a lab: state computed from what all switches run, and their cabling.

A port is up when both ends of its cable are enabled; the routing of the fabric is a callable, for
the lab knows no routing engine. Counters are zero but for what faults make of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from rocefort.dialects.vrp.interpreter.interpreter import Lines
from rocefort.errors import BadInput
from rocefort.lab.state import counters, ping
from rocefort.lab.state import ports as state_ports
from rocefort.lab.state.counters import InjectedFault
from rocefort.lab.state.hold_timers import EstablishedSession, HoldTimers, PeerEnd, SessionFacts
from rocefort.lab.state.ports import Cabling, PortContext, PortsOfSwitch
from rocefort.lab.state.routes import BgpRoute, table_of
from rocefort.lab.state.state_faults import Port, StateFault
from rocefort.lab.switch.state_source import (
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
)
from rocefort.lab.switch.switch import EmulatedSwitch, configured_peers
from rocefort.models.device.device import Device

T = TypeVar("T")
LLDP_HOLD_S, LLDP_INTERVAL_S = 120, 30  # V300R023C00 defaults of LLDP
KEPT_SWITCHES = 32  # of which a Device is kept: that of a spine has some hundred kbytes
LINK_DOWN = "0x8520003"  # V300R023C00, `display alarm active`


@dataclass(frozen=True, slots=True)
class ComputedRoutes:
    """What a routing engine says: BGP peers and learned routes, by switch.

    paths: asked for the BGP table of one switch, which takes much memory for all. sessions: those
    that are established, and not with the outside. lonely: ends that would be if any switch had
    the address of their peer.
    """

    peers: Mapping[str, Sequence[PeerState]]
    routes: Mapping[str, Sequence[BgpRoute]] = field(default_factory=dict)
    paths: Callable[[str], Sequence[BgpPath]] = lambda _: ()
    sessions: Sequence[SessionFacts] = ()
    lonely: frozenset[PeerEnd] = frozenset()


# Running configurations by switch, and the ports that carry nothing to where they should.
Routing = Callable[[Mapping[str, Lines], frozenset[Port]], ComputedRoutes]


def no_routing(running: Mapping[str, Lines], dead: frozenset[Port]) -> ComputedRoutes:  # noqa: ARG001
    """Every configured peer, Idle: what is shown where nobody models the routing."""
    return ComputedRoutes({name: configured_peers(config) for name, config in running.items()})


@dataclass
class EmulatedState:
    """`Behind` for emulated switches.

    cabling: the other end of each cabled port, both ways, servers by name; None: not known, and
    every enabled port is up. ports: names of a switch's ports in order, with speeds in Mb/s;
    a switch that is not there shows the interfaces that its configuration names.
    """

    switches: Mapping[str, EmulatedSwitch]
    cabling: Cabling | None = None
    ports: Mapping[str, PortsOfSwitch] = field(default_factory=dict)
    routing: Routing = no_routing
    faults: list[tuple[str, InjectedFault]] = field(default_factory=list)
    _devices: dict[str, tuple[Lines, Device]] = field(default_factory=dict)
    _states: dict[str, tuple[object, Sequence[InterfaceState]]] = field(default_factory=dict)
    _asked: tuple[object, ...] = ()
    _matching: ComputedRoutes = field(
        default_factory=lambda: ComputedRoutes({})
    )  # as if all ends heard each other
    _down: frozenset[Port] = frozenset()  # of sessions that match and are not up
    _routed: ComputedRoutes = field(default_factory=lambda: ComputedRoutes({}))
    _kept: dict[tuple[PeerEnd, PeerEnd], EstablishedSession] = field(default_factory=dict)
    _gone: dict[PeerEnd, tuple[float, int]] = field(default_factory=dict)
    _since: dict[tuple[str, str, str], float] = field(default_factory=dict)

    @property
    def _timers(self) -> HoldTimers:
        """Of BGP sessions; what they remember is the model's own, as the rest of its state."""
        return HoldTimers(lambda switch: self.switches[switch].changed, self._kept, self._gone)

    def inject(self, switch: str, fault: StateFault) -> None:
        """From now on a fault is there. Raises BadInput for what the switch does not have."""
        if switch not in self.switches:
            known = ", ".join(self.switches)
            raise BadInput(f"no switch is called {switch!r}", how=f"use one of: {known}")
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
        """What a switch runs; read anew when it runs something else."""
        running = self.switches[switch].running
        known = self._devices.get(switch)
        if known is None or known[0] is not running:
            known = (running, state_ports.read_running(switch, running))
            _keep_value(self._devices, switch, known)
        return known[1]

    def _uncounted(self, switch: str) -> Sequence[InterfaceState]:
        """Every interface without its counters.

        Found anew when any switch runs something else, or another fault is there.
        """
        running = tuple(each.running for each in self.switches.values())
        ports = self.ports.get(switch, {})
        asked = running, tuple(self.faults), self.cabling, ports
        known = self._states.get(switch)
        if known is None or known[0] != asked:
            cabling, dead = self._cabling(), self._dead_ends()
            sight = PortContext(switch, self.device(switch), ports, cabling, dead)
            known = (asked, state_ports.interfaces(sight))
            _keep_value(self._states, switch, known)
        return known[1]

    def _cabling(self) -> Cabling | None:
        wrong = {
            (name, injected.fault.interface): injected.fault.far
            for name, injected in self.faults
            if injected.fault.far is not None
        }
        return state_ports.replugged(self.cabling or {}, wrong) if wrong else self.cabling

    def _dead_ends(self) -> Callable[[Port], bool]:
        """Whether nothing comes through a cable from an end: a fault, or the end is shut."""
        shut: dict[str, frozenset[str]] = {}  # as they run now
        broken = [injected for _, injected in self.faults if injected.fault.name == "link-down"]

        def dead(port: Port) -> bool:
            switch, interface = port
            if broken and any(i.on(interface) for i in self._of(switch) if i in broken):
                return True
            if switch not in self.switches:
                return False  # a server, which is always up
            if switch not in shut:
                shut[switch] = state_ports.shut_ports(self.switches[switch].running)
            return interface in shut[switch]

        return dead

    def interfaces(self, switch: str) -> Sequence[InterfaceState]:
        """Every interface with its counters, physical ones first."""
        if switch not in self.switches:
            return ()
        now, injected = self.switches[switch].clock(), self._of(switch)
        return [
            counters.with_counters(state, [one for one in injected if one.on(state.name)], now)
            for state in self._uncounted(switch)
        ]

    def neighbours(self, switch: str) -> Sequence[NeighbourState]:
        """LLDP neighbours: switches of the lab; what servers say is not modelled."""
        if switch not in self.switches or not self.device(switch).lldp:
            return ()
        own, cabling = self.switches[switch], self._plugged(switch)
        expires = LLDP_HOLD_S - int(own.clock() - own.booted) % LLDP_INTERVAL_S
        found = []
        for state in self.interfaces(switch):
            far = cabling.get((switch, state.name))
            if far and state.physical == "up" and far[0] in self.switches:
                there = self.switches[far[0]]
                if state_ports.has_line(there.running, "lldp enable"):
                    known = there.hostname, far[1], expires, far[0]
                    found.append(NeighbourState(state.name, *known))
        return found

    def _plugged(self, switch: str) -> Cabling:  # noqa: ARG002 - a twin looks at one switch
        """Cables, as they are plugged at a switch."""
        return self._cabling() or {}

    def announced(self, neighbour: NeighbourState) -> LldpAdvertisement:
        """What a switch of the lab says of itself, from what it runs."""
        return state_ports.lldp_advertisement(self.switches[neighbour.switch], neighbour.port)

    def ping(self, switch: str, echo: EchoRequest) -> Sequence[EchoReply | None]:
        """Answers of switches, where the routing tables lead there and back; of no servers."""
        return ping.ping(self, self.switches, self._cabling(), switch, echo)

    def peers(self, switch: str) -> Sequence[PeerState]:
        """BGP peers as the routing has them at this moment."""
        routed = self._routing()
        return [
            replace(peer, state="Established") if self._lingers(switch, peer) else peer
            for peer in routed.peers.get(switch, ())
        ]

    def _lingers(self, switch: str, peer: PeerState) -> bool:
        """Whether a session is up though its peer has lost its address: nobody told this end."""
        end = switch, str(peer.address)
        lonely = end in self._matching.lonely
        return lonely and self._timers.lingers(end, self.switches[switch].clock())

    def peer_age_s(self, switch: str, peer: str) -> int:
        """Seconds since the peer was first seen in its state; the lab looks when it is asked."""
        if switch not in self.switches:
            return 0
        state = next((p.state for p in self.peers(switch) if str(p.address) == peer), "")
        own = self.switches[switch]
        return max(0, int(own.clock() - self._since.get((switch, peer, state), own.booted)))

    def routes(self, switch: str) -> Sequence[RouteState]:
        """Connected, static and BGP routes of the public table."""
        if switch not in self.switches:
            return ()
        learned = self._routing().routes.get(switch, ())
        return table_of(self.device(switch), self._uncounted(switch), learned)

    def bgp_paths(self, switch: str) -> Sequence[BgpPath]:
        """The ways that the routing engine uses; those that it does not choose are not known."""
        return self._routing().paths(switch) if switch in self.switches else ()

    def _routing(self) -> ComputedRoutes:
        """Solve anew only when some switch runs something else than at the last question.

        And when a session ends by its timer: for the routing, its port carries nothing then.
        """
        now = 0.0
        for switch in self.switches.values():
            switch.tick()
            now = switch.clock()
        running = {name: switch.running for name, switch in self.switches.items()}
        dead = self._dead_ports()
        asked = (dead, *running.values())
        same = len(asked) == len(self._asked) and dead == self._asked[0]
        if not same or any(a is not b for a, b in zip(asked[1:], self._asked[1:], strict=True)):
            same, self._asked, self._matching = False, asked, self.routing(running, dead)
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
            known = {str(peer.address): peer.state for peer in before.peers.get(name, ())}
            for peer in peers:
                key = (name, str(peer.address), peer.state)
                started = own.booted if not before.peers else own.clock()
                seen[key] = (
                    self._since.get(key, started)
                    if known.get(str(peer.address)) == peer.state
                    else started
                )
        self._since = seen

    def _dead_ports(self) -> frozenset[Port]:
        """Ports of cut cables, and of cables that do not lead to where they should."""
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
        """PFC counters of the lossless queues of ports with PFC on."""
        if switch not in self.switches:
            return ()
        now = self.switches[switch].clock()
        return counters.pfc(self.device(switch), self._of(switch), now)

    def queues(self, switch: str, interface: str) -> Sequence[QueueState]:
        """Eight queues of a port."""
        state = next((s for s in self.interfaces(switch) if s.name == interface), None)
        if state is None or not state_ports.is_port(interface):
            return ()
        now, device = self.switches[switch].clock(), self.device(switch)
        injected = [one for one in self._of(switch) if one.on(interface)]
        return counters.queues(device, state, injected, now)

    def ai_ecn(self, switch: str) -> Sequence[AiEcnState]:
        """AI-ECN of ports that are up and have PFC on, for it works on no others (V300R023C00)."""
        if switch not in self.switches:
            return ()
        up = {state.name for state in self.interfaces(switch) if state.physical == "up"}
        return counters.ai_ecn(self.device(switch), up, self._of(switch))

    def alarms(self, switch: str) -> Sequence[AlarmState]:
        """`linkDown` of enabled ports whose cable carries nothing."""
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


def _keep_value(kept: dict[str, T], switch: str, value: T) -> None:
    """Keep a value of a switch, and those of the last others."""
    while len(kept) >= KEPT_SWITCHES:
        kept.pop(next(iter(kept)))
    kept[switch] = value
