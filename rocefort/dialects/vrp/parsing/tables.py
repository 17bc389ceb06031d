"""Commands of routing tables beside the public one, and of static routes."""

from __future__ import annotations

from rocefort.dialects.vrp.parsing import arguments
from rocefort.dialects.vrp.parsing.commands import Match, View, command, flag
from rocefort.dialects.vrp.parsing.parts import Part
from rocefort.models.static import NULL, STATIC_PREFERENCE, StaticRoute


@command("system", r"ip vpn-instance (\S+)")
def _vrf(device: Part, match: Match) -> View:
    return View("vpn-instance", device.row("vrfs", match[1], name=match[1]))


flag("vpn-instance", "ipv4-family", "ipv4")
flag("vpn-instance", "ipv4-family unicast", "ipv4")
preference = arguments.number(1, 255, "preference")


@command(
    "system",
    r"ip route-static (?:vpn-instance (?P<vrf>\S+) )?(?P<ip>\d\S*) (?P<mask>\d\S*)"
    r" (?P<via>\d[\d.]*|NULL ?0)(?: preference (?P<preference>\d+))?"
    r"(?: description (?P<text>.+))?",
)
def _static(device: Part, match: Match) -> None:
    """Read a route to an address or to NULL0; other ways and options are not modelled."""
    null = match["via"].replace(" ", "") == NULL
    given = preference(match["preference"]) if match["preference"] else None
    route = StaticRoute(
        prefix=arguments.network(match["ip"], match["mask"]),
        next_hop=None if null else arguments.address(match["via"]),
        vrf=match["vrf"],
    )
    row = device.row("static_routes", route.key, prefix=route.prefix)
    row.fields |= {"next_hop": route.next_hop, "vrf": route.vrf}
    row.set("preference", None if given == STATIC_PREFERENCE else given)
    row.set("description", match["text"])
