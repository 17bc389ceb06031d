"""Live rules on ports and cables: LLDP, state, speed, MTU, errors and discards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial

from rocefort.models.device.interface import ETHERNET_MTU, FRAME_OVERHEAD_BYTES
from rocefort.models.finding import Severity
from rocefort.models.network.network import End, Network, Node, Server
from rocefort.models.network.observed import DeviceSeen, PortCounters, StateTopic
from rocefort.models.wording import listing
from rocefort.validators.rules.live.switch_readings import TWICE, LiveSubject, of_topic, reading
from rocefort.validators.rules.missing import Need
from rocefort.validators.rules.registry import Verdict, rule

INTERFACE = "«the vendor's reference», «state of ports»"


@rule(
    "LIV006",
    judges=LiveSubject,
    severity=Severity.ERROR,
    source="«the vendor's reference», «neighbours of ports»",
    reads=reading(StateTopic.NEIGHBOURS, StateTopic.PORTS),
    needs=(Need.LINKS,),
)
def lldp_cabling(subject: LiveSubject) -> Iterator[Verdict]:
    """LLDP reports the intended neighbour at every fabric port.

    Two swapped cables carry traffic, but addresses, ECMP and the order of a rollout are then wrong.
    A port that is up without a neighbour is a warning: LLDP may be off at the other end. Servers
    need no LLDP. One that sends it, with its host name, must be at its port: VLAN, address and the
    topology of a scheduler follow from the port.

    Example: cable: sees spine02 100GE1/0/2, intended spine01 100GE1/0/1
    Fix: Move the cable, or correct the cabling in the fabric.
    """
    cables = _far_ends(subject.network)
    switches = set(subject.network.by_name)
    for node, seen in subject.answering_switches:
        far = cables.get(node.name, {})
        heard = {n.local: n for n in seen.neighbours or () if n.device in switches}
        strangers = _servers_elsewhere(subject, node, seen)
        for name in dict.fromkeys([*far, *heard, *strangers]):
            here = End(device=node.name, interface=name)
            neighbour, intended = heard.get(name), far.get(name)
            hint = "move the cable, or correct the cabling in the fabric"
            if neighbour and (
                intended is None or (neighbour.device, neighbour.port) != _pair(intended)
            ):
                meant = _intended(subject, here, intended) or "no switch"
                message = f"cable: sees {neighbour.device} {neighbour.port}, intended {meant}"
                yield subject.finding(here, message, hint)
            elif server := strangers.get(name):
                meant = _intended(subject, here, intended) or "no server"
                own = listing(map(str, server.ports))
                message = f"cable: sees server {server.name} of {own}, intended {meant}"
                yield subject.finding(here, message, hint)
            elif neighbour is None and intended and _is_up(seen, name):
                if subject.may_be_unread(node, seen, StateTopic.NEIGHBOURS, name):
                    continue
                message = f"cable: sees no neighbour, intended {intended}"
                hint = "check «LLDP» at the other end, and the cable"
                yield subject.finding(here, message, hint, severity=Severity.WARNING)


def _servers_elsewhere(subject: LiveSubject, node: Node, seen: DeviceSeen) -> dict[str, Server]:
    """Servers that LLDP sees at ports of others, by port; a host name may have a domain."""
    servers = {server.name.lower(): server for server in subject.servers}
    strangers = {}
    for neighbour in seen.neighbours or ():
        name, port = neighbour.device.lower(), node.device.by_interface.get(neighbour.local)
        server = servers.get(name) or servers.get(name.partition(".")[0])
        here = End(device=node.name, interface=neighbour.local)
        if server and here not in server.ports and not (port and port.kind == "management"):
            strangers[neighbour.local] = server
    return strangers


def _far_ends(network: Network) -> dict[str, dict[str, End]]:
    """Far ends of cables, by switch and port."""
    ends: dict[str, dict[str, End]] = defaultdict(dict)
    for link in network.links or ():
        for here, far in ((link.a, link.b), (link.b, link.a)):
            ends[here.device][here.interface] = far
    return ends


def _pair(end: End) -> tuple[str, str]:
    return end.device, end.interface


def _intended(subject: LiveSubject, here: End, far: End | None) -> str | None:
    if far is not None:
        return str(far)
    servers = (s.name for s in subject.servers if here in s.ports)
    server = next(servers, None)
    return f"server {server}" if server else None


def _is_up(seen: DeviceSeen, name: str) -> bool:
    port = seen.by_port.get(name)
    return port is not None and port.up


@rule(
    "LIV007",
    judges=LiveSubject,
    severity=Severity.ERROR,
    source=INTERFACE,
    reads=reading(StateTopic.PORTS),
)
def port_state(subject: LiveSubject) -> Iterator[Verdict]:
    """Every cabled and enabled port is up.

    Between switches a port that is shut down, or whose cable or optics fail, is an error. A
    server's port that is down is a warning, because the server may be off; it is an error if the
    port was up in the earlier reading. See «state of ports» and «state of optics».

    Example: port: it is DOWN, intended UP
    Fix: Check its cable and optics; find out why a port is shut down, then enter «an enabled port».
    """
    servers = {port: server.name for server in subject.servers for port in server.ports}
    cabled = _cabled(subject.network)
    for node, seen in subject.answering_switches:
        for end in cabled.get(node.name, ()):
            interface = subject.network.interface(end)
            port = seen.by_port.get(end.interface)
            if interface is None or not interface.enabled:
                continue
            if port is None and subject.may_be_unread(node, seen, StateTopic.PORTS, end.interface):
                continue
            if port is None:
                message = "port: «state of ports» does not show it"
                yield subject.finding(end, message, "see «state of cards», and its port splits")
            elif not port.up:
                whose = f", of server {servers[end]}" if end in servers else ""
                hint = (
                    "find out why it is shut down, then enter «an enabled port»"
                    if port.shut
                    else "check its cable and optics"
                )
                certain = end not in servers or port.shut or _was_up(subject, end)
                severity = Severity.ERROR if certain else Severity.WARNING
                message = f"port: it is {port.state}, intended UP{whose}"
                yield subject.finding(end, message, hint, severity=severity)


def _was_up(subject: LiveSubject, end: End) -> bool:
    earlier = subject.before.by_name.get(end.device) if subject.before else None
    return earlier is not None and _is_up(earlier, end.interface)


def _cabled(network: Network) -> dict[str, tuple[End, ...]]:
    """Ports with a cable, by switch: to switches, to servers and at exits."""
    links = [end for link in network.links or () for end in (link.a, link.b)]
    servers = [end for server in network.servers or () for end in server.ports]
    exits = [End(device=exit_.leaf, interface=exit_.port) for exit_ in network.exits or ()]
    ports: dict[str, dict[End, None]] = defaultdict(dict)
    for end in (*links, *servers, *exits):
        ports[end.device][end] = None
    return {device: tuple(ends) for device, ends in ports.items()}


@rule(
    "LIV008",
    judges=LiveSubject,
    severity=Severity.ERROR,
    source=INTERFACE,
    reads=reading(StateTopic.PORTS),
)
def port_speed(subject: LiveSubject) -> Iterator[Verdict]:
    """Every port that is up runs at its intended speed.

    A slower port reduces the capacity of the fabric, and headroom is computed for the intended
    speed.

    Example: speed: 40 Gb/s, intended 100 Gb/s
    Fix: Check the module and the cable, and the negotiation of both ends.
    """
    own = {port: server.flow_gbps for server in subject.servers for port in server.ports}
    cabled = _cabled(subject.network)
    for node, seen in subject.answering_switches:
        for end in cabled.get(node.name, ()):
            port = seen.by_port.get(end.interface)
            intended_gbps = own.get(end) or subject.network.speed_gbps(end)
            if port is None or not port.up or subject.network.interface(end) is None:
                continue  # LIV007 reports it
            if port.speed_mbps is None or intended_gbps is None:
                yield subject.not_judged(end, "its speed is not known", of_topic(StateTopic.PORTS))
            elif port.speed_mbps != intended_gbps * 1000:
                message = f"speed: {port.speed_mbps / 1000:g} Gb/s, intended {intended_gbps} Gb/s"
                hint = "check the module and the cable, and the negotiation of both ends"
                yield subject.finding(end, message, hint)


@rule(
    "LIV009",
    judges=LiveSubject,
    severity=Severity.ERROR,
    source=INTERFACE,
    reads=reading(StateTopic.PORTS),
)
def port_mtu(subject: LiveSubject) -> Iterator[Verdict]:
    """The MTU is as intended, and no server's frame is too long.

    A port drops or fragments a packet that is too long for it. RDMA over that path stops, while
    pings pass.

    Example: MTU: 1500 bytes, intended 9000
    Fix: Correct «MTU of a port» (layer 3) or «longest frame» (layer 2) on the switch, or the
    fabric.
    """
    for node, seen in subject.answering_switches:
        for interface in node.device.interfaces:
            port = seen.by_port.get(interface.name)
            end = End(device=node.name, interface=interface.name)
            if port is None or not interface.layer3 or interface.kind in ("loopback", "management"):
                continue
            intended = interface.mtu or ETHERNET_MTU
            if port.mtu is None:
                yield subject.not_judged(
                    end, "«state of ports» shows no MTU", of_topic(StateTopic.PORTS)
                )
            elif port.mtu != intended:
                message = f"MTU: {port.mtu} bytes, intended {intended}"
                hint = f"«MTU of a port: {intended}» in its view, or correct the fabric"
                yield subject.finding(end, message, hint, path="mtu")
    yield from _server_frames(subject)


def _server_frames(subject: LiveSubject) -> Iterator[Verdict]:
    readings = {node.name: seen for node, seen in subject.answering_switches}
    for server in subject.servers:
        frame = server.mtu + FRAME_OVERHEAD_BYTES
        for end in (port for port in server.ports if port.device in readings):
            port = readings[end.device].by_port.get(end.interface)
            if port and port.frame_bytes is not None and port.frame_bytes < frame:
                message = (
                    f"longest frame: {port.frame_bytes} bytes, and server {server.name} "
                    f"(MTU {server.mtu}) sends {frame}"
                )
                yield subject.finding(end, message, f"«longest frame: {frame}» or longer")


@rule(
    "LIV010",
    judges=LiveSubject,
    severity=Severity.ERROR,
    source=INTERFACE,
    reads=reading(StateTopic.PORTS, twice=True),
)
def errors_rising(subject: LiveSubject) -> Iterator[Verdict]:
    """No port counts more errors than in the earlier reading.

    CRC errors come from a cable, an optic or a dirty connector; a lost RoCE packet costs its flow a
    whole window. Errors without CRC errors come from frames that are too long or too short: check
    the MTU of the other end.

    Example: CRC errors: 12 more in 60 s (0.2 a second)
    Fix: Clean or replace optics and cable, one end at a time.
    """
    for end, was, now in _counter_pairs(subject):
        yield from _cleared(subject, end, was, now)
        crc, errors = (_more(was, now, field) for field in ("crc", "rx_errors"))
        parts = [("CRC errors", crc, "clean or replace its optics and cable")]
        parts += [("errors", errors - crc, "see «state of ports» for their kind")]
        for what, more, hint in parts:
            if more > 0:
                yield subject.finding(end, f"{what}: {_rate(subject, end, more)}", hint)


@rule(
    "LIV011",
    judges=LiveSubject,
    severity=Severity.WARNING,
    source=INTERFACE,
    reads=reading(StateTopic.PORTS, twice=True),
)
def discards_rising(subject: LiveSubject) -> Iterator[Verdict]:
    """No port discards more frames than in the earlier reading.

    A port discards an input frame without buffer or VLAN, and an output frame without space in its
    queue. Queues without PFC may drop; LIV015 reports drops of the lossless queue.

    Example: input discards: 6 more in 60 s (0.1 a second)
    Fix: See «counters of queues» of the port.
    """
    for end, was, now in _counter_pairs(subject):
        for field, direction in (("rx_discards", "input"), ("tx_discards", "output")):
            if (more := _more(was, now, field)) > 0:
                hint = "see «counters of queues» of the port"
                yield subject.finding(
                    end, f"{direction} discards: {_rate(subject, end, more)}", hint
                )


def _counter_pairs(subject: LiveSubject) -> Iterator[tuple[End, PortCounters, PortCounters]]:
    """Counters of every port in both readings."""
    earlier = subject.before.by_name if subject.before else {}
    for node, seen in subject.answering_switches:
        ports = earlier[node.name].by_port if node.name in earlier else {}
        for port in seen.ports or ():
            was = ports.get(port.name)
            if port.counters and was and was.counters:
                end = End(device=node.name, interface=port.name)
                yield end, was.counters, port.counters


def _more(was: PortCounters, now: PortCounters, field: str) -> int:
    """Increase of a counter; 0 where it is not counted, or was cleared."""
    before, after = getattr(was, field), getattr(now, field)
    return 0 if before is None or after is None else max(0, after - before)


def _cleared(
    subject: LiveSubject, end: End, was: PortCounters, now: PortCounters
) -> Iterator[Verdict]:
    fell = partial(_has_decreased, was, now)
    if any(map(fell, ("crc", "rx_errors"))):
        reason = "its counters were cleared between the two readings"
        yield subject.not_judged(end, reason, TWICE)


def _has_decreased(was: PortCounters, now: PortCounters, field: str) -> bool:
    before, after = getattr(was, field), getattr(now, field)
    return before is not None and after is not None and after < before


def _rate(subject: LiveSubject, end: End, more: int) -> str:
    seconds = subject.seconds(end.device)
    per = f" ({more / seconds:.2g} a second)" if seconds > 0 else ""
    return f"{more} more in {seconds:.0f} s{per}"
