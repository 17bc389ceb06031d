"""The servers' side of a Network: how their NICs are set, and how they react to marks."""

from __future__ import annotations

from rocefort.design.context import Context
from rocefort.design.profiles import Chosen
from rocefort.models.congestion import Dcqcn, PfcOnly
from rocefort.models.nic import Adapter, Hosts, NicProfile


def hosts(context: Context) -> Hosts:
    """NIC profiles that servers name, their adapters, and the fabric's congestion control."""
    fabric = context.fabric
    nics: dict[str, NicProfile] = {}
    for name in dict.fromkeys(server.nic for server in fabric.servers if server.nic):
        chosen = context.profiles.get("nic", name)
        if chosen is not None and isinstance(chosen.profile, NicProfile):
            nics[name] = chosen.profile
            _note(context, f"nics[{name}]", chosen)
    wanted = fabric.congestion_control
    reaction = context.profiles.get("congestion_control", wanted) if wanted else None
    if reaction is not None:
        _note(context, "congestion", reaction)
    profile = reaction.profile if reaction else None
    return Hosts(
        lossless=fabric.lossless,
        nics=nics,
        adapters=_adapters(context, nics),
        congestion_name=wanted,
        congestion=profile if isinstance(profile, (Dcqcn, PfcOnly)) else None,
    )


def _adapters(context: Context, nics: dict[str, NicProfile]) -> dict[str, Adapter]:
    names = dict.fromkeys(nic.adapter for nic in nics.values() if nic.adapter)
    found = {name: context.profiles.get("adapter", name) for name in names}
    return {n: c.profile for n, c in found.items() if c and isinstance(c.profile, Adapter)}


def _note(context: Context, path: str, chosen: Chosen) -> None:
    """Remember where a profile and each of its keys stand."""
    context.table[f"/{path}"] = chosen.key_at()
    for key in type(chosen.profile).model_fields:
        context.table[f"/{path}.{key}"] = chosen.key_at((key,))
