"""CHG102: who loses a route by a change, one switch or several."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Network

from rocefort.models.network.network import Network
from rocefort.validators.routing.engine import analyse, change_of, common_switches
from rocefort.validators.rules.verification.answers import verify_change

Clos = Callable[..., Network]
Edits = dict[str, Callable[..., Network]]


def losses(before: Network, after: Network) -> list[str]:
    states = analyse(before).state, analyse(after).state
    change = change_of(*states, common_switches(before, after))
    found = verify_change(after, change).findings
    return [finding.message for finding in found if finding.rule == "CHG102"]


def test_several_switches_lose_a_route_that_is_no_longer_announced(
    clos: Clos, edits: Edits
) -> None:
    before = clos()
    bgp = before.by_name["leaf1"].device.bgp
    assert bgp is not None
    gone = IPv4Network("10.1.10.0/24")
    left = tuple(network for network in bgp.networks if network != gone)
    after = edits["bgp"](before, "leaf1", networks=left)
    assert losses(before, after) == [
        "by the change 4 switches lose their routes to 10.1.10.0/24 (2 -> 0)",
    ]


def test_one_switch_loses_the_routes_of_a_session(clos: Clos, edits: Edits) -> None:
    before = clos()
    after = edits["drop_peer"](before, "leaf1", "172.16.0.0")
    assert losses(before, after)[0] == (
        "by the change leaf1 loses its route to 10.254.0.1/32 (1 -> 0)"
    )
