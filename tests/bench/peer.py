"""pyavd on a spine-leaf fabric as large as flow.py's; run by a Python with pyavd; argument LEAVES.

Plain eBGP without overlay, as Rocefort's fabrics are: 8 spines, an AS and a gateway a leaf, 8
servers a leaf. Prints CPU seconds and peak memory of the process as one line of JSON.
"""

from __future__ import annotations

import json
import resource
import sys
from importlib import import_module  # pyavd is not in the linter's environment
from typing import Any

from calibration import peak_mb

SPINES, SERVERS_PER_LEAF, VLAN = 8, 8, 110


def design(leaves: range) -> dict[str, Any]:
    """Return the inputs that AVD gives to every switch of the fabric."""
    spines = [f"spine{n:02}" for n in range(1, SPINES + 1)]
    return {
        "fabric_name": "BENCH",
        "underlay_routing_protocol": "ebgp",
        "overlay_routing_protocol": "none",
        "spine": {
            "defaults": {"loopback_ipv4_pool": "10.0.0.0/26", "bgp_as": "65000"},
            "nodes": [{"name": name, "id": n} for n, name in enumerate(spines, 1)],
        },
        "l3leaf": {
            "defaults": {
                "loopback_ipv4_pool": "10.0.16.0/20",
                "uplink_ipv4_pool": "10.8.0.0/15",
                "vtep": False,
                "mlag": False,
                "uplink_switches": spines,
                "uplink_interfaces": [f"Ethernet{48 + n}" for n in range(1, SPINES + 1)],
            },
            "node_groups": [_leaf(n) for n in leaves],
        },
        "tenants": [{"name": "BENCH", "vrfs": [{"name": "default", "svis": [_svi(leaves)]}]}],
        "servers": [_server(n, p) for n in leaves for p in range(1, SERVERS_PER_LEAF + 1)],
    }


def _name(leaf: int) -> str:
    return f"leaf{leaf:04}"


def _leaf(number: int) -> dict[str, Any]:
    ports = [f"Ethernet{number}"] * SPINES
    node = {"name": _name(number), "id": number, "uplink_switch_interfaces": ports}
    return {"group": _name(number), "bgp_as": str(4200000000 + number), "nodes": [node]}


def _svi(leaves: range) -> dict[str, Any]:
    gateways = [
        {"node": _name(n), "ip_address": f"10.{64 + n // 256}.{n % 256}.1/24"} for n in leaves
    ]
    return {"id": VLAN, "name": "beamline", "enabled": True, "nodes": gateways}


def _server(leaf: int, port: int) -> dict[str, Any]:
    adapter = {
        "switches": [_name(leaf)],
        "switch_ports": [f"Ethernet{port}"],
        "endpoint_ports": ["eth0"],
        "mode": "access",
        "vlans": str(VLAN),
    }
    return {"name": f"server{leaf:04}-{port}", "adapters": [adapter]}


def texts(leaves: range) -> dict[str, str]:
    """Return EOS text of every switch by pyavd's steps; ValueError if it refuses the inputs."""
    pyavd: Any = import_module("pyavd")
    types = {f"spine{n:02}": "spine" for n in range(1, SPINES + 1)}
    types |= {_name(n): "l3leaf" for n in leaves}
    inputs: dict[str, Any] = {}
    for name, kind in types.items():
        answer = pyavd.validate_inputs({**design(leaves), "type": kind, "hostname": name})
        if answer.validated_data is None:
            raise ValueError(answer.validation_result)
        inputs[name] = answer.validated_data
    facts = pyavd.get_avd_facts(inputs)
    return {
        name: pyavd.get_device_config(pyavd.get_device_structured_config(name, inputs[name], facts))
        for name in inputs
    }


def main() -> None:
    """Run pyavd once and print its cost."""
    leaves = range(1, int(sys.argv[1]) + 1)
    devices = len(texts(leaves))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    total = usage.ru_utime + usage.ru_stime
    print(json.dumps({"total": total, "peak MB": peak_mb(), "devices": devices}))


if __name__ == "__main__":
    main()
