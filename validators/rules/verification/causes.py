"""Cause of a lost path, from the embedded engine."""

from __future__ import annotations

from ipaddress import IPv4Network

from rocefort.validators.routing.bgp import SilenceCause, why_silent
from rocefort.validators.routing.engine import Solution
from rocefort.validators.routing.underlay import DevicePlace
from rocefort.validators.rules.verification.answers import EngineSubject

Cause = tuple[str, DevicePlace, str]  # reason, line and fix


def silence(
    subject: EngineSubject, source: str, leaf: str, subnet: IPv4Network
) -> SilenceCause | None:
    """Reason why a leaf does not announce its subnet to a source without a route of BGP to it."""
    solution = subject.solution
    if solution is None or not lacks_route(solution, source, leaf, subnet):
        return None
    return why_silent(solution.underlay, leaf, subnet, {source}, subject.sources)


def lacks_route(solution: Solution, source: str, leaf: str, subnet: IPv4Network) -> bool:
    """Whether the source runs BGP and has no route to a segment, or to a larger prefix of its leaf.

    A default route does not count: what it attracts is not meant for a segment.
    """
    network = solution.underlay.network
    bgp = network.by_name[leaf].device.bgp
    larger = [p for p in bgp.networks if subnet.subnet_of(p) and p.prefixlen] if bgp else []
    learned = [routes for p in (subnet, *larger) if (routes := solution.learned.get(p))]
    runs_bgp = network.by_name[source].device.bgp is not None
    return runs_bgp and not any(routes.of(source) for routes in learned)
