"""Derive settings of servers: NICs and operating systems, by the fabric's profiles."""

from __future__ import annotations

from rocefort.design.derive.context import Context
from rocefort.design.load.profiles import ProfileUse
from rocefort.models.fabric.congestion_control import Dcqcn, PfcOnly
from rocefort.models.fabric.hosts import Adapter, HostProfile, Hosts, NicProfile


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
        lossless=fabric.lossless,
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
