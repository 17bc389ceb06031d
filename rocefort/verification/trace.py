"""Paths of packets, hop by hop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import AddressValueError, IPv4Address

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, Problem
from rocefort.design.subject import ReadNetwork
from rocefort.models.device.packet_filters import ENTROPY_PORT, ROCE_PORT, Flow
from rocefort.models.network.network import End
from rocefort.models.wording import count_of, listing
from rocefort.reports.blocks import Block, Items, Note, Section, Tone
from rocefort.validators.failures.study import dense
from rocefort.validators.routing.engine import Solution, analyse
from rocefort.validators.routing.trace import trace
from rocefort.validators.routing_results import (
    Endpoint,
    Failure,
    FilterDecision,
    Hop,
    Trace,
    TracePath,
)


def flow_of(protocol: str, port: int | None) -> Flow:
    """Flow of the command line: rdma, tcp, udp or icmp. Raises BadInput."""
    if protocol in ("rdma", "icmp"):
        if port is not None:
            raise BadInput(f"--port with {protocol}", how="give a port with tcp or udp")
        return Flow() if protocol == "rdma" else Flow(protocol="icmp")
    if protocol not in ("tcp", "udp"):
        raise BadInput(f"no protocol {protocol!r}", how="one of: rdma, tcp, udp, icmp")
    if port is None and protocol == "tcp":
        raise BadInput("--protocol tcp without --port", how="for example: --port 2049")
    if port is not None and not 1 <= port <= 65535:
        raise BadInput(f"--port {port} is no port", how="use 1 to 65535")
    kind = "tcp" if protocol == "tcp" else "udp"
    return Flow(protocol=kind, source_port=ENTROPY_PORT, destination_port=port or ROCE_PORT)


def trace_between(
    subject: ReadNetwork,
    ends: tuple[str, str],
    flow: Flow,
    down: Sequence[str] = (),
    solution: Solution | None = None,
) -> Trace:
    """Follow a flow between two ends, after the parts in `down` have failed.

    solution: of the network, where it is already solved. Raises BadInput for all unknown names and
    addresses together; Refused as `analyse`.
    """
    solution = solution or analyse(subject.network, subject.sources)
    problems: list[Problem] = []
    endpoints = [endpoint for text in ends if (endpoint := _endpoint(text, solution, problems))]
    failure = _failure(down, solution, problems)
    if problems:
        raise BadInput(problems=problems)
    source, destination = endpoints
    if source.address == destination.address:
        raise BadInput(f"{ends[0]} and {ends[1]} are one", how="name two ends")
    if not source.devices and not destination.devices:
        raise BadInput(f"{ends[0]} and {ends[1]} are both outside", how="name one in the fabric")
    if down:
        solution = dense(subject.network, failure, subject.sources)
    return trace(solution, (source, destination), flow, subject.sources, tuple(down))


def _endpoint(text: str, solution: Solution, problems: list[Problem]) -> Endpoint | None:
    """Endpoint for the name of a server, segment or switch, or for an address."""
    network = solution.underlay.network
    servers = sorted(network.servers or (), key=lambda server: server.name)
    try:
        address = IPv4Address(text)
    except AddressValueError:
        address = None
    for server in servers:
        if text in (server.name, server.segment) or server.address.ip == address:
            return Endpoint(
                name=server.name,
                address=server.address.ip,
                server=True,
                devices=(server.port.device,),
            )
    if address is not None:
        return _address(address, solution, problems)
    segments = {segment.name: segment for segment in network.segments or ()}
    if text in segments:
        own = segments[text]
        return Endpoint(name=own.name, address=own.gateway.ip, devices=(own.leaf,))
    for interface in network.by_name[text].device.interfaces if text in network.by_name else ():
        if interface.kind == "loopback" and interface.addresses:
            return Endpoint(name=text, address=interface.addresses[0].ip, devices=(text,))
    names = [*(s.name for s in servers), *segments, *network.by_name]
    what = f"no server, segment or switch {text!r}"
    problems.append(Problem("", what, nearest(text, names)))
    return None


def _address(address: IPv4Address, solution: Solution, problems: list[Problem]) -> Endpoint | None:
    under = solution.underlay
    if owners := under.owners.get(address):
        return Endpoint(name=str(address), address=address, devices=(owners[0][0],))
    for segment in under.network.segments or ():
        if address in segment.prefix:
            what = f"no device has {address}, which is in segment {segment.name} of {segment.leaf}"
            problems.append(Problem("", what, "name a server, or its address"))
            return None
    if not under.network.exits:
        what = f"no device has {address}, and no exit leads out of the fabric"
        problems.append(Problem("", what, "name a server, or its address"))
        return None
    return Endpoint(name=str(address), address=address)


def _failure(down: Sequence[str], solution: Solution, problems: list[Problem]) -> Failure:
    """Failure given by `--down`: switches, and cables by one of their ports."""
    network, nodes = solution.underlay.network, list[str]()
    links: list[tuple[End, End]] = []
    for text in down:
        device, _, port = text.partition(":")
        if device not in network.by_name:
            how = nearest(device, network.by_name)
            problems.append(Problem("--down", f"no switch {device!r}", how))
        elif not port:
            nodes.append(device)
        elif port not in network.by_name[device].device.by_interface:
            names = list(network.by_name[device].device.by_interface)
            problems.append(
                Problem("--down", f"{device} has no port {port!r}", nearest(port, names))
            )
        else:
            far = solution.underlay.far.get((device, port), (device, port))
            near = End(device=device, interface=port)
            links.append((near, End(device=far[0], interface=far[1])))
    return Failure(links=tuple(links), nodes=tuple(nodes))


def trace_report(trace: Trace) -> Iterator[Block]:
    """Show how many paths deliver, then every path."""
    yield Note(f"{trace.flow} of {_end(trace.source)} to {_end(trace.destination)}")
    if trace.down:
        yield Note(f"without {listing(trace.down)}")
    delivered = sum(path.delivered for path in trace.paths)
    count = count_of(len(trace.paths), "path")
    more = "" if trace.whole else ", and more that are not listed"
    yield Note(f"{count}, {delivered} delivered{more}")
    for number, path in enumerate(trace.paths, 1):
        hops = (Items((hop.device,), tuple(_hop(hop))) for hop in path.hops)
        yield Section(f"path {number} of {len(trace.paths)}", (*hops, _ending(path)))


def _end(end: Endpoint) -> str:
    name = str(end.address)
    return name if end.name == name else f"{end.name} ({name})"


def _ending(path: TracePath) -> Note:
    if not path.delivered:
        place = f" ({path.where})" if path.where.file else ""
        return Note(f"not delivered: {path.reason}{place}", Tone.ERROR)
    by = f" by exit {path.leaves_by}" if path.leaves_by else ""
    return Note(f"leaves the fabric{by}" if by else "delivered", Tone.GOOD)


def _hop(hop: Hop) -> Iterator[str]:
    """Return the actions of one switch in order."""
    entered = [f"in by {hop.enters}" if hop.enters else "starts here"]
    out = hop.by == "connected"
    place = [f"VLAN {hop.vlan}"] if hop.vlan else []
    place += [f"gateway {hop.gateway}"] if hop.gateway else []
    yield ", ".join(entered + ([] if out else place))
    inbound = [one for one in hop.judged if one.direction == "inbound"]
    yield from map(_decision_text, inbound)
    if hop.by == "switched":
        yield f"switched to {hop.leaves}"
        return
    if hop.by:
        hops = f", ECMP width {hop.width}" if hop.width else ""
        yield f"{hop.prefix} {'connected' if out else f'by {hop.by.upper()}'}{hops}"
    if hop.width > 1:
        yield f"next hops {', '.join(map(str, hop.next_hops))}"
    if out and place:
        yield ", ".join(place)
    yield from (_decision_text(one) for one in hop.judged if one not in inbound)
    if hop.leaves:
        towards = f" to {hop.next_hop}" if hop.next_hop else ""
        yield f"out by {hop.leaves}{towards}"


def _decision_text(one: FilterDecision) -> str:
    rule = f"rule {one.rule} of ACL {one.acl}" if one.rule is not None else f"ACL {one.acl}"
    verb = "permits it" if one.permitted else "drops it"
    if one.rule is None:
        verb = "has no rule for it, so it continues"
    place = f" ({one.where.file}:{one.where.line})" if one.where.file else ""
    return f"{rule} {verb}, {one.direction} on {one.interface}{place}"
