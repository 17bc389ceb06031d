"""Routing tables of the kernel in a namespace: the only true source of forwarding.

FRR's tables are not: after a link flap, `show ip route` of 8.4 lists paths that the kernel does not
have.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network
from typing import Any

DEAD = {"dead", "linkdown"}
Hops = frozenset[IPv4Address]
Fib = dict[IPv4Network, Hops]


def read_fib(text: str, protocols: Iterable[str] = ()) -> Fib:
    """Return next hops by prefix from `ip -j route`; none for connected or dropped prefixes.

    protocols: only routes of these, such as bgp; all by default.
    """
    selected = set(protocols)
    return {
        prefix_of(row["dst"]): frozenset(_hops(row))
        for row in json.loads(text or "[]")
        if not selected or row.get("protocol") in selected
    }


@lru_cache(maxsize=1 << 14)  # a few values repeat in hundreds of tables
def prefix_of(text: str) -> IPv4Network:
    """Return the prefix of a route, as `ip` or bgpd writes it."""
    return IPv4Network("0.0.0.0/0" if text == "default" else text)


@lru_cache(maxsize=1 << 14)
def address_of(text: str) -> IPv4Address:
    """Return a next hop."""
    return IPv4Address(text)


def _hops(row: dict[str, Any]) -> Iterable[IPv4Address]:
    for hop in row.get("nexthops") or [row]:
        if "gateway" in hop and not DEAD & set(hop.get("flags", ())):
            yield address_of(hop["gateway"])


def chosen_of(table: Mapping[str, Any], own: Collection[IPv4Network]) -> Fib:
    """Return the routes that bgpd selected for the kernel, of `show bgp ipv4 unicast json`.

    own: prefixes that the switch has from another source, which wins.
    """
    fib = {}
    for text, paths in table.get("routes", {}).items():
        hops = frozenset(
            address_of(path["nexthops"][0]["ip"])
            for path in paths
            if path.get("valid") and (path.get("bestpath") or path.get("multipath"))
        )
        prefix = prefix_of(text)
        if prefix not in own and not any(hop.is_unspecified for hop in hops) and hops:
            fib[prefix] = hops
    return fib
