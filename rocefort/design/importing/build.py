"""Build a fabric as data from the Devices of its switches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from rocefort.base.documents.read import YamlPath
from rocefort.design.importing import management
from rocefort.design.importing.assumptions import Data, Notes, SwitchText
from rocefort.design.importing.bgp_graph import connect
from rocefort.design.importing.exits import ExitPort, exits_of, ways_out
from rocefort.design.importing.hardware import SwitchInputs, check_facts
from rocefort.design.importing.links import cables, per_pair
from rocefort.design.importing.lossless import profiles_of
from rocefort.design.importing.pins import pinned
from rocefort.design.importing.routing import AddressSpace, link_pool, loopback_pool, routing_of
from rocefort.design.importing.segments import (
    access_interfaces,
    gateways,
    policy_of,
    segments_of,
    server_kind,
    servers_of,
)
from rocefort.design.importing.survey import Survey
from rocefort.design.load.hardware_catalogue import Catalogue
from rocefort.design.load.profiles import Library
from rocefort.models.device.interface import ETHERNET_MTU
from rocefort.models.fabric.nodes import SegmentIntent

RDMA = {"line_rate_fraction": 0.9, "latency_us": 5, "latency_tolerance": 0.5}


def draft(
    name: str,
    sources: Sequence[SwitchText],
    facts: SwitchInputs,
    catalogue: Catalogue,
    library: Library,
) -> tuple[Data, Notes]:
    """Return (a fabric as data in the order of its YAML, notes on assumptions) from its switches.

    Raises BadInput if they are not those of one fabric.
    """
    graph = connect(sources)
    check_facts(facts, graph.sources.keys(), catalogue)
    survey = Survey(graph, facts, catalogue)
    data, notes = pinned(_fabric(name, survey, library), survey), survey.notes
    for key in RDMA:
        notes.assume(("rdma", key), "measure it")
    notes.assume(("rollout", "canary"), "the last leaf")
    if not facts.rack:
        notes.assume(("leaves",), "racks, owners and what NICs servers have are not known")
    notes.assumed = {_note_path(path, data): why for path, why in notes.assumed.items()}
    return data, notes


def _fabric(name: str, survey: Survey, library: Library) -> Data:
    """Return all parts without pins, in the order of the YAML."""
    spines, leaves = survey.roles.spines, survey.roles.leaves
    exit_ports, mtu = ways_out(survey), _mtu(survey)
    pools, segments = _networks(survey, exit_ports)
    names = {row["vlan"]: row["name"] for row in segments if "vlan" in row}
    interfaces = list(access_interfaces(survey, names, exit_ports))
    kinds = [server_kind(one, survey.speed) for one in interfaces]
    exits = exits_of(survey, exit_ports, {row["prefix"]: row["name"] for row in segments[:-1]}, mtu)
    each = per_pair(survey.links)
    common = max(each.values(), key=lambda number: list(each.values()).count(number))
    data: Data = {
        "fabric": name,
        "capacity": asdict(survey.capacity),
        "pools": pools,
        "routing": routing_of(survey),
        "mtu": mtu,
        "cables": cables(survey.links, kinds, survey.speed, survey.notes),
        "lossless": "site",
        "profiles": profiles_of(survey, library),
        "segments": segments,
        "spines": [_switch(survey, source) for source in spines],
        "leaves": [
            _switch(survey, leaf)
            | {"segments": [names[vlan] for vlan in names if vlan in gateways(leaf)]}
            | ({"links_per_pair": each[leaf.name]} if each[leaf.name] != common else {})
            | ({"exits": exits[leaf.name]} if leaf.name in exits else {})
            for leaf in leaves
        ],
    }
    if survey.capacity.links_per_pair == 1:
        del data["capacity"]["links_per_pair"]
    if common > 1:
        data["links_per_pair"] = common
    data["servers"] = servers_of(survey, interfaces)
    data["management"] = management.management_of(survey, segments[-1]["prefix"])
    data["security"] = management.security_of(survey)
    if policy := policy_of(leaves, [SegmentIntent.model_validate(row) for row in segments]):
        data["security"]["policy"] = policy
    data["services"] = management.services_of(survey)
    data |= {"rdma": dict(RDMA), "rollout": {"canary": leaves[-1].name}}
    return data


def _mtu(survey: Survey) -> int:
    ports = {
        f"{tip.device} {tip.port.name}": tip.port.mtu or ETHERNET_MTU
        for link in survey.links
        for tip in (link.spine, link.leaf)
    }
    vlanifs = {
        f"{leaf.name} {gateway.name}": gateway.mtu or ETHERNET_MTU
        for leaf in survey.roles.leaves
        for gateway in gateways(leaf).values()
    }
    return survey.notes.majority("MTU", ports | vlanifs) or ETHERNET_MTU


def _networks(survey: Survey, exit_ports: Sequence[ExitPort]) -> tuple[Data, list[Data]]:
    """Return (pools, segments with that of management last); none overlaps another."""
    roles, listed, space = survey.roles, survey.announced, AddressSpace()
    for exit_port in exit_ports:
        space.take(next(a.network for a in exit_port.port.addresses if exit_port.peer in a.network))
    vlans = {vlan for leaf in roles.leaves for vlan in gateways(leaf)} | {*listed.segments}
    outside = management.management_prefix(survey, space, len(vlans))
    pools: Data = {}
    for name, members, size, pool in (
        ("spine_loopbacks", roles.spines, survey.capacity.spines, listed.spine_loopbacks),
        ("leaf_loopbacks", roles.leaves, survey.capacity.leaves, listed.leaf_loopbacks),
    ):
        pools[name] = loopback_pool(survey, members, size, pool, space)
    segments = segments_of(survey, space)
    segments.append({"name": "management", "role": "management", "prefix": outside})
    pools["links"], pools["link_prefix_length"] = link_pool(survey, space)
    return pools, segments


def _switch(survey: Survey, source: SwitchText) -> Data:
    model = survey.models[source.name]
    row: Data = {
        "id": survey.ids[source.name],
        "name": source.name,
        "hardware": model.hardware.model,
        "software": model.software,
    }
    if rack := survey.facts.rack.get(source.name):
        row["rack"] = rack
    if splits := survey.splits[source.name]:
        row["breakout"] = splits
    return row


def _note_path(path: YamlPath, data: Data) -> YamlPath:
    """Return the path of a note; paths by a switch's name become paths of its values."""
    if path[0] not in ("hardware", "software"):
        return path
    for group in ("spines", "leaves"):
        for index, row in enumerate(data[group]):
            if row["name"] == path[1]:
                return (group, index, path[0])
    return path
