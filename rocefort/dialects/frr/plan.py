"""Plan of one switch for FRR and a kernel: pure, so the same Device gives the same plan."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.base.errors import Refused
from rocefort.dialects.eos.eos_text import filter_problems
from rocefort.dialects.frr.kernel import chains, kernel_names, kernel_plan, sysctls
from rocefort.dialects.frr.routing import peers_of, routing_problems, texts_of
from rocefort.dialects.frr.state import Features, SwitchPlan
from rocefort.models.device.device import Device

HASHING = "all switches hash alike: this kernel has no net.ipv4.fib_multipath_hash_seed"


def plan_switch(
    device: Device, features: Features | None = None, *, bfd: bool = True
) -> SwitchPlan:
    """Return the plan of a switch; bfd: whether peers run BFD where the text enables it.

    Raises Refused with everything that would make the twin route differently from the switch:
    missing lists and policies, ranks that FRR does not have.
    """
    available = features or Features()
    if problems := (*routing_problems(device), *filter_problems(device)):
        raise Refused(problems=problems)
    kernel_names((interface.name for interface in device.interfaces), device.name)
    kernel = kernel_plan(device, available)
    return SwitchPlan(
        name=device.name,
        links=tuple(kernel.links),
        sysctls=tuple(sysctls(device, available)),
        chains=chains(device),
        daemons=tuple(texts_of(device, available, bfd=bfd)),
        peers=tuple(peers_of(device)),
        notes=(*kernel.notes, *_notes(device, available, bfd=bfd)),
    )


def _notes(device: Device, features: Features, *, bfd: bool) -> Iterator[str]:
    """Yield the parts of the text that the twin does not implement."""
    if any(interface.pfc for interface in device.interfaces):
        yield "PFC, its thresholds and deadlock timers do nothing: a kernel has no lossless queues"
    if device.ai_ecn.enabled or any(interface.markings for interface in device.interfaces):
        yield "ECN marks nothing: queues of a kernel are not those of a switch"
    if any(interface.drr for interface in device.interfaces):
        yield "queues are not scheduled: every packet has the same weight"
    settings = [(device.bgp.settings(peer)) for peer in device.bgp.peers] if device.bgp else []
    if any(each.password or each.keychain for each in settings):
        yield "BGP sessions are not authenticated: no password reaches the twin"
    if device.bfd and any(each.bfd_enabled for each in settings) and not bfd:
        yield "BFD is left out: a dead link without loss of light shows by the hold timer alone"
    if not features.hash_seed:
        yield HASHING
