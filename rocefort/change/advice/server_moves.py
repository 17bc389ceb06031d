"""Servers that move to another port, with interruption, new addresses and cables; and renames."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.change.advice.drain_steps import DrainStudy, apply_steps, windows
from rocefort.change.advice.renames import place_of
from rocefort.change.results import Advice, AdviceKind, AdviceStep
from rocefort.models.network.network import Network, Server
from rocefort.models.wording import listing


def moves(sight: DrainStudy) -> Iterator[Advice]:
    """One Advice for each server that is on other ports at the head."""
    later = {server.name: server for server in sight.after.servers or ()}
    for server in sight.before.servers or ():
        new = later.get(server.name)
        if new is not None and new.ports != server.ports:
            yield _move(sight, server, new)


def server_renames(sight: DrainStudy) -> Iterator[Advice]:
    """One Advice for each server that has another name, and the same place."""
    servers = {server.name: server for server in sight.after.servers or ()}
    for new, old in sight.server_renames.items():
        server = servers[new]
        yield Advice(
            kind=AdviceKind.SERVER_RENAME,
            title=f"{old} is renamed {new} ({_ports(server)})",
            servers=(new,),
            traffic=(
                f"Port, segment, address {server.address} and NIC stay: its pairs are {old}'s.",
                "No traffic is touched: a switch changes at most the description of its port.",
                f"If {new} is another machine, its work stops until it has replaced {old}.",
            ),
        )


def _move(sight: DrainStudy, old: Server, new: Server) -> Advice:
    was, will = _ports(old), _ports(new)
    cable = f"{new.cable_m:g} m" if new.cable_m is not None else "length not known"
    medium = f" {new.medium}" if new.medium else ""
    owner = next(windows(sight, [old]))
    return Advice(
        kind=AdviceKind.MOVE,
        title=f"{old.name} moves: {was} -> {will}",
        devices=tuple(dict.fromkeys((old.port.device, new.port.device))),
        servers=(old.name,),
        traffic=tuple(_traffic(sight, old, new)),
        steps=(
            AdviceStep(text=f"Agree the time with the owner, and stop its work ({owner})."),
            apply_steps(
                sight, f"Apply the change: {was} no longer serves {old.name}, {will} does."
            ),
            AdviceStep(text=f"Move the cable from {was} to {will} ({cable}{medium})."),
            *_readdress(sight, old, new),
            AdviceStep(
                text="Start its work again once its gateway answers and a pair is measured."
            ),
        ),
    )


def _ports(server: Server) -> str:
    leaf = server.port.device
    return f"{leaf} {listing(end.interface for end in server.ports)}"


def _traffic(sight: DrainStudy, old: Server, new: Server) -> Iterator[str]:
    yield (
        f"All traffic of {old.name} stops, from the moment at which {old.port.device} changes "
        "until it is replugged"
        + (" and has its new address." if old.address != new.address else ".")
    )
    yield "Its RDMA connections break and must be set up again."
    was, will = _gateway(sight.before, old), _gateway(sight.after, new)
    if (old.address, was) == (new.address, will):
        yield f"Its address stays {old.address}, and its gateway {was}."
    else:
        yield f"Its address changes: {old.address} -> {new.address}, gateway {was} -> {will}."
    if old.speed_gbps != new.speed_gbps:
        yield f"Its ports change speed: {old.speed_gbps} -> {new.speed_gbps} Gb/s."
    before, after = (
        {place_of(server): server.name for server in side.servers or ()}
        for side in (sight.before, sight.after)
    )
    if place_of(new) in before and place_of(old) in after:
        yield (
            f"{_ports(new)} was the place of {before[place_of(new)]}, and {_ports(old)} is that of "
            f"{after[place_of(old)]}: if only their names change hands, no cable moves, and no "
            "traffic is touched."
        )


def _gateway(network: Network, server: Server) -> str:
    gateways = (
        str(segment.gateway.ip)
        for segment in network.segments or ()
        if (segment.leaf, segment.name) == (server.port.device, server.segment)
    )
    return next(gateways, "none")


def _readdress(sight: DrainStudy, old: Server, new: Server) -> Iterator[AdviceStep]:
    gateway = _gateway(sight.after, new)
    if old.address != new.address:
        yield AdviceStep(
            text=f"On {old.name}, set address {new.address} and gateway {gateway} (MTU {new.mtu}), "
            "and update all systems that use its old address."
        )
