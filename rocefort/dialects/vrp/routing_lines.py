"""Meaning of VRP lines that no Device represents and that a routing engine can take into account.

`peer ignore` closes the sessions of a peer and clears its routes (command reference of CloudEngine,
`peer ignore`). `import-route direct` announces the subnets in use (`import-route`, BGP view).
"""

from __future__ import annotations

import re
from ipaddress import IPv4Network

from rocefort.dialects.data import RoutingEffect, RoutingLine
from rocefort.dialects.vrp.readers import arguments
from rocefort.dialects.vrp.readers.draft import BadArgumentError
from rocefort.models.network.network import TextLine

CLOSED = re.compile(r"bgp \S+ / peer (?P<name>\S+) ignore", re.ASCII)
_BGP = r"(?:undo )?bgp \S+(?: / ipv4-family unicast)?"
_ROUTES = rf"{_BGP} / import-route (?P<what>direct|static)"
_PREFIX = r"(?P<ip>[0-9.]+) (?P<mask>[0-9.]+)"
# The first pattern that matches a line with its views decides.
_PATTERNS: tuple[tuple[RoutingEffect, re.Pattern[str]], ...] = tuple(
    (effect, re.compile(pattern, re.ASCII))
    for effect, pattern in (
        (RoutingEffect.CLOSES, CLOSED.pattern),
        (
            RoutingEffect.DISABLES,
            r"bgp \S+ / ipv4-family unicast / undo peer (?P<name>\S+) enable",
        ),
        (RoutingEffect.IMPORTS, _ROUTES),
        (RoutingEffect.MAY_IMPORT, rf"{_ROUTES} .*"),  # with a metric, or a policy
        (RoutingEffect.MAY_ANNOUNCE, rf"{_BGP} / (?:network|aggregate) {_PREFIX}(?: .*)?"),
        (RoutingEffect.MAY_ANNOUNCE_DEFAULT, rf"{_BGP} / (?:peer \S+ )?default-route.*"),
        (RoutingEffect.MAY_ANNOUNCE_ALL, rf"{_BGP} / (?:import-route|summary) .*"),
        (
            RoutingEffect.MAY_PREFER_BGP,
            rf"{_BGP} / preference (?:(?P<value>\d+) \d+ \d+|route-policy .*)",
        ),
        (RoutingEffect.MAY_CHANGE_PEER, rf"{_BGP} / (?:undo )?(?:peer|group) (?P<name>\S+) .*"),
        (RoutingEffect.MAY_CHANGE_BGP, rf"{_BGP}(?: / (?!\S+-family ).*)?"),
        (RoutingEffect.MAY_CHANGE_POLICY, r"(?:undo )?route-policy (?P<name>\S+)(?: .*)?"),
        (RoutingEffect.MAY_CHANGE_LIST, r"(?:undo )?ip ip-prefix (?P<name>\S+)(?: .*)?"),
        (
            RoutingEffect.MAY_ROUTE,
            rf"(?:undo )?ip route-static (?!vpn-instance ){_PREFIX}(?: .*)?",
        ),
    )
)


def routing_line(line: TextLine) -> RoutingLine | None:
    """Return what a line does to routing; None: only that it may change it, or does not."""
    whole = " / ".join((*line.path, line.text))
    for effect, pattern in _PATTERNS:
        if match := pattern.fullmatch(whole):
            groups = match.groupdict()
            value, prefix = groups.get("value"), None
            if groups.get("ip") and (prefix := _prefix(groups["ip"], groups["mask"])) is None:
                return None
            return RoutingLine(
                effect=effect,
                name=groups.get("name") or "",
                static=groups.get("what") == "static",
                prefix=prefix,
                preference=int(value) if value else 0,
                routes_only=" / ipv4-family unicast / " in whole,
            )
    return None


def closed_peer(line: str) -> str | None:
    """Return the peer or group whose sessions a line shuts down, with its views."""
    match = CLOSED.fullmatch(line)
    return match["name"] if match else None


def _prefix(ip: str, mask: str) -> IPv4Network | None:
    try:
        return arguments.network(ip, mask)
    except BadArgumentError:
        return None
