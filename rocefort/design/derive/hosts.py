"""Derive servers: bonds with their Eth-Trunks, NICs and operating systems, by profiles.

The number of an Eth-Trunk is a function of the bond's first port on the leaf (law 3). The order of
lists does not change it.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.base.documents.read import YamlPath
from rocefort.base.errors import Problem
from rocefort.design import allocation
from rocefort.design.derive.context import Context
from rocefort.design.load.profiles import ProfileUse
from rocefort.models.device.interface import HIGHEST_ID, trunk_name
from rocefort.models.fabric.congestion_control import Dcqcn, PfcOnly
from rocefort.models.fabric.hosts import (
    TWO_LEAVES,
    Adapter,
    HostProfile,
    Hosts,
    NicProfile,
    ServerBond,
)
from rocefort.models.fabric.topology import Leaf, ServerIntent
from rocefort.models.hardware.hardware import Hardware
from rocefort.models.wording import listing


def port_paths(server: ServerIntent) -> Iterator[tuple[YamlPath, str]]:
    """Yield each port of a server with its path below the server."""
    for index, port in enumerate(server.ports):
        yield ("bond", "ports", index) if server.bond else ("port",), port


def carrier(hardware: Hardware, server: ServerIntent) -> str:
    """Return the leaf's interface with the server's VLAN: its port or its Eth-Trunk."""
    if server.bond is None:
        return server.ports[0]
    return trunk_name(allocation.trunk_id(server, server.bond, hardware))


def bond_problems(context: Context) -> Iterator[Problem]:
    """Yield problems of bonds that no switch supports, or that need two switches (M-LAG)."""
    leaves = {leaf.name: leaf for leaf in context.fabric.leaves}
    bonds = [
        (("servers", index), server, server.bond)
        for index, server in enumerate(context.fabric.servers)
        if server.bond is not None
    ]
    for path, server, bond in bonds:
        leaf = leaves.get(server.leaf)
        if leaf is not None and context.known_hardware(leaf) is not None:
            yield from _bond(context, (*path, "bond"), leaf, server, bond)
    what, _, how = TWO_LEAVES.partition("; ")
    for index in dual_homed(context):
        yield context.problem(("servers", index, "leaf"), what, how)


def _bond(
    context: Context, path: YamlPath, leaf: Leaf, server: ServerIntent, bond: ServerBond
) -> Iterator[Problem]:
    speeds = {port: context.speed_gbps(leaf, port) for port in bond.ports}
    values = sorted({speed for speed in speeds.values() if speed is not None})
    if len(values) > 1:
        yield context.problem(
            (*path, "ports"),
            f"the ports of {server.name} differ in speed: {listing(values)} Gb/s",
            "bond ports of one speed",
        )
    if bond.timeout is not None and bond.mode != "lacp-static":
        what = "a manual bond has no LACP, so no timeout"
        if bond.mode == "lacp-dynamic":  # V300R023C00, `lacp timeout`: Prerequisites
            what = "a switch takes `lacp timeout` in mode lacp-static only"
        yield context.problem((*path, "timeout"), what, "take it off")


def dual_homed(context: Context) -> tuple[int, ...]:
    """Indexes of servers with a bond that an earlier row has on another leaf."""
    bonded = {server.name for server in context.fabric.servers if server.bond is not None}
    first: dict[str, str] = {}
    return tuple(
        index
        for index, server in enumerate(context.fabric.servers)
        if server.name in bonded and first.setdefault(server.name, server.leaf) != server.leaf
    )


def trunk_problems(context: Context) -> Iterator[Problem]:
    """Yield problems of bonds with the same number on a leaf; ports are already checked."""
    leaves = {leaf.name: leaf for leaf in context.fabric.leaves}
    used: dict[tuple[str, int], str] = {}
    for index, server in enumerate(context.fabric.servers):
        if server.bond is None:
            continue
        number = allocation.trunk_id(server, server.bond, context.hardware(leaves[server.leaf]))
        path = ("servers", index, "bond", *(("id",) if server.bond.id is not None else ()))
        if number > HIGHEST_ID:
            what = f"{server.name} would get {trunk_name(number)}; a switch numbers to {HIGHEST_ID}"
            yield context.problem(path, what, "give bond.id a free number")
        other = used.setdefault((server.leaf, number), server.name)
        if other != server.name:
            yield context.problem(
                path,
                f"{server.leaf} {trunk_name(number)} is used twice, by {other} and {server.name}",
                "give bond.id another number",
            )


def hosts(context: Context) -> Hosts:
    """NIC profiles of servers, their adapters, congestion control, and host tuning."""
    fabric = context.fabric
    nics: dict[str, NicProfile] = {}
    for name in dict.fromkeys(server.nic for server in fabric.servers if server.nic):
        chosen = context.profiles.get("nic", name)
        if chosen is not None and isinstance(chosen.profile, NicProfile):
            nics[name] = chosen.profile
            _note(context, f"nics[{name}]", chosen)
    reaction = _named_profile(
        context, "congestion_control", fabric.congestion_control, "congestion"
    )
    tuning = _named_profile(context, "host", fabric.host, "tuning")
    names = dict.fromkeys(nic.adapter for nic in nics.values() if nic.adapter)
    chosen_adapters = {name: context.profiles.get("adapter", name) for name in names}
    return Hosts(
        nics=nics,
        adapters={
            n: c.profile for n, c in chosen_adapters.items() if c and isinstance(c.profile, Adapter)
        },
        congestion_name=fabric.congestion_control,
        congestion=reaction if isinstance(reaction, (Dcqcn, PfcOnly)) else None,
        tuning_name=fabric.host,
        tuning=tuning if isinstance(tuning, HostProfile) else None,
    )


def _named_profile(context: Context, kind: str, name: str | None, path: str) -> object:
    """Return the fabric's profile of a kind; None if it has none."""
    chosen = context.profiles.get(kind, name) if name else None
    if chosen is None:
        return None
    _note(context, path, chosen)
    return chosen.profile


def _note(context: Context, path: str, chosen: ProfileUse) -> None:
    """Note the positions of a profile and of each of its keys."""
    context.table[f"/{path}"] = chosen.key_at()
    for key in type(chosen.profile).model_fields:
        context.table[f"/{path}.{key}"] = chosen.key_at((key,))
