"""Readers of lines of BGP, prefix lists and static routes with more content than field values."""

from __future__ import annotations

from rocefort.dialects.vrp.readers import arguments
from rocefort.dialects.vrp.readers.arguments import NOT_MODELLED, Part
from rocefort.dialects.vrp.text import secrets
from rocefort.dialects.vrp.text.names import is_address
from rocefort.models.device.routing import NULL, STATIC_PREFERENCE, Bfd, StaticRoute

Read = bool | None


def network(bgp: Part, ip: str, mask: str, policy: str | None) -> Read:
    """Read a prefix that the process announces unchanged."""
    if policy is not None:
        return NOT_MODELLED
    bgp.add("networks", arguments.network(ip, mask))
    return None


def password(bgp: Part, who: str, cipher: str | None, simple: str | None) -> None:
    """Read that there is a password, and its form in the text; never the password."""
    form, value = ("simple", simple) if cipher is None else ("cipher", cipher)
    _peer(bgp, who).set("password", secrets.stated_secret(form, value or ""))


def bfd(bgp: Part, who: str, *timers: str | None) -> Read:
    """Read BFD timers; an omitted one has VRP's default."""
    names = ("min_tx_ms", "min_rx_ms", "multiplier")
    given = {name: arguments.whole(t) for name, t in zip(names, timers, strict=True) if t}
    if not given:
        return NOT_MODELLED
    _peer(bgp, who).set("bfd", Bfd(**given))
    return None


def _peer(bgp: Part, who: str) -> Part:
    if not is_address(who):
        return bgp.row("groups", who, name=who)
    address = arguments.address(who)
    return bgp.row("peers", address, address=address)


def prefix(
    device: Part,
    name: str,
    number: str,
    action: str,
    ip: str,
    length: str,
    greater_equal: str | None,
    less_equal: str | None,
) -> None:
    """Read an entry of a prefix list."""
    index = arguments.whole(number)
    row = device.row("prefix_lists", name, name=name).row("entries", index, index=index)
    bound = arguments.number(0, 32, "prefix length")
    row.set("action", action)
    row.set("prefix", arguments.network(ip, length))
    row.set("greater_equal", bound(greater_equal) if greater_equal else None)
    row.set("less_equal", bound(less_equal) if less_equal else None)


def static_route(
    device: Part,
    ip: str,
    mask: str,
    via: str,
    next_hop: str | None,
    preference: str | None,
    description: str | None,
) -> Read:
    """Read a route of the public table."""
    return static_route_of_table(device, None, ip, mask, via, next_hop, preference, description)


def static_route_of_table(
    device: Part,
    vrf: str | None,
    ip: str,
    mask: str,
    via: str,
    next_hop: str | None,
    preference: str | None,
    description: str | None,
) -> Read:
    """Read a route to an address or to NULL0; other forms are not modelled."""
    to = f"{via}{next_hop or ''}"  # `NULL 0` is two words
    if to != NULL and (next_hop is not None or not is_address(via)):
        return NOT_MODELLED
    given = arguments.number(1, 255, "preference")(preference) if preference else None
    route = StaticRoute(
        prefix=arguments.network(ip, mask),
        next_hop=None if to == NULL else arguments.address(via),
        vrf=vrf,
    )
    row = device.row("static_routes", route.key, prefix=route.prefix)
    row.fields |= {"next_hop": route.next_hop, "vrf": route.vrf}
    row.set("preference", None if given == STATIC_PREFERENCE else given)
    row.set("description", description)
    return None
