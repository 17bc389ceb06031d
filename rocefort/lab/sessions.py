"""BGP sessions of a lab for its hold timers: agreed values, and whether messages arrive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from rocefort.emulator.state.bgp_lines import authentication, closed_peers
from rocefort.emulator.state.hold_timers import PeerEnd, SessionFacts
from rocefort.emulator.state.ports import Config
from rocefort.models.device.bgp import HOLD_S
from rocefort.models.device.device import Device
from rocefort.models.device.interface import ETHERNET_MTU
from rocefort.validators.routing.engine import Solution
from rocefort.validators.routing.sessions import ConfiguredSession

UPDATE_BYTES = 60  # of one prefix with attributes of its own: an UPDATE of RFC 4271, assumed


def session_facts(solution: Solution, running: Mapping[str, Config]) -> Iterator[SessionFacts]:
    """Yield every established session between two switches of the lab, once."""
    keys = {name: authentication(lines) for name, lines in running.items()}
    routes = Counter((r.device, hop) for r in solution.state.routes for hop in r.next_hops)
    for session in solution.sessions:
        far = session.far
        if far is None or not session.device < far[0] or far[0] not in running:
            continue
        near_end, far_end = (session.device, str(session.peer)), (far[0], str(far[1]))
        ports = _port(solution, session), solution.underlay.far[_port(solution, session)]
        small, large = sorted(
            solution.underlay.interface(port).mtu or ETHERNET_MTU for port in ports
        )
        yield SessionFacts(
            ends=(near_end, far_end),
            port=ports[0],
            authenticated=keys[near_end[0]].get(near_end[1]) == keys[far_end[0]].get(far_end[1]),
            hold_s=min(
                HOLD_S if hold_s is None else hold_s
                for hold_s in (
                    solution.peerings.settings(session.device, session.peer).hold_s,
                    solution.peerings.settings(*far).hold_s,
                )
            ),
            mtus=(small, large),
            burst_bytes=UPDATE_BYTES * max(routes[session.device, session.peer], routes[far]),
        )


def _port(solution: Solution, session: ConfiguredSession) -> tuple[str, str]:
    local = solution.peerings.ends[session.device][int(session.peer)].local
    assert local is not None  # noqa: S101 - it is established
    return local[0]


def orphaned_ends(solution: Solution) -> Iterator[PeerEnd]:
    """Yield ends that are ready, but whose peer's address is on no switch."""
    addresses = {
        address.ip
        for node in solution.underlay.network.nodes
        for interface in node.device.interfaces
        for address in interface.addresses
    }
    for session in solution.sessions:
        end = solution.peerings.ends[session.device][int(session.peer)]
        up = end.local is not None and end.local[0] in solution.underlay.up
        if session.far is None and end.ready and up and session.peer not in addresses:
            yield session.device, str(session.peer)


def without_closed(device: Device, config: Config) -> Device:
    """Return a Device with its closed sessions not enabled."""
    closed = closed_peers(config)
    if not closed or device.bgp is None:
        return device
    bgp = device.bgp
    peers = tuple(  # without its group, which would enable it
        p.model_copy(update={**vars(bgp.settings(p)), "active": False, "group": None})
        if closed & {str(p.address), p.group}
        else p
        for p in bgp.peers
    )
    bgp = bgp.model_copy(update={"peers": peers})
    return device.model_copy(update={"bgp": bgp})
