"""Routing tables in the formats of a kernel and bgpd."""

from __future__ import annotations

import json
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from rocefort.lab.twin.kernel_routes import chosen_of, read_fib

A, B = IPv4Address("10.1.0.0"), IPv4Address("10.1.0.2")
FAR = IPv4Network("10.65.1.0/24")


def _hop(gateway: str, *flags: str) -> dict[str, Any]:
    return {"gateway": gateway, "dev": "x", "weight": 1, "flags": list(flags)}


def _path(hop: str, **more: object) -> dict[str, Any]:
    return {"valid": True, "nexthops": [{"ip": hop, "afi": "ipv4"}], **more}


# As Linux 6.18 with iproute2 6.1 prints it.
ROUTES = json.dumps(
    [
        {"dst": "default", "gateway": "10.1.0.0", "dev": "x", "protocol": "static", "flags": []},
        {"dst": "10.65.0.0/24", "dev": "Vlanif120", "protocol": "kernel", "flags": []},
        {
            "dst": "10.65.1.0/24",
            "protocol": "bgp",
            "flags": [],
            "nexthops": [_hop("10.1.0.0"), _hop("10.1.0.2")],
        },
        {"dst": "10.0.0.1", "gateway": "10.1.0.0", "dev": "x", "protocol": "bgp", "flags": []},
        {"type": "blackhole", "dst": "10.9.0.0/16", "protocol": "static", "flags": []},
    ]
)


def test_all_routes_with_their_next_hops() -> None:
    assert read_fib(ROUTES) == {
        IPv4Network("0.0.0.0/0"): {A},
        IPv4Network("10.65.0.0/24"): frozenset(),
        FAR: {A, B},
        IPv4Network("10.0.0.1/32"): {A},
        IPv4Network("10.9.0.0/16"): frozenset(),
    }


def test_routes_of_one_protocol() -> None:
    assert read_fib(ROUTES, ["bgp"]).keys() == {FAR, IPv4Network("10.0.0.1/32")}
    assert read_fib("") == {}


def test_a_next_hop_without_light_is_none() -> None:
    hops = [_hop("10.1.0.0", "dead", "linkdown"), _hop("10.1.0.2", "onlink")]
    rows = [{"dst": "10.65.1.0/24", "protocol": "bgp", "nexthops": hops}]
    assert read_fib(json.dumps(rows)) == {FAR: {B}}


def test_what_bgpd_has_chosen() -> None:
    table = {
        "routes": {
            "10.65.1.0/24": [
                _path("10.1.0.0", bestpath=True),
                _path("10.1.0.2", multipath=True),
                _path("10.1.0.4"),
                _path("10.1.0.6", multipath=True, valid=False),
            ],
            "10.65.0.0/24": [_path("0.0.0.0", bestpath=True)],  # the switch's own
            "10.64.0.0/24": [_path("10.1.0.0", bestpath=True)],
        }
    }
    assert chosen_of(table, [IPv4Network("10.64.0.0/24")]) == {FAR: {A, B}}
    assert chosen_of({}, []) == {}
