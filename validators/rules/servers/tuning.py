"""Rules on the tuning of servers: kernel parameters, rings, interrupts, CPU frequency."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rocefort.models.finding import Severity
from rocefort.models.wording import count_of, listing
from rocefort.validators.rules.registry import Verdict, rule
from rocefort.validators.rules.servers.server_subject import APPLY, SILENT, HostSubject

TUNING = "Linux kernel documentation (admin-guide/sysctl, cpu-freq, core-api/irq); ethtool(8)"


@rule("HST113", judges=HostSubject, severity=Severity.WARNING, source=TUNING)
def kernel(subject: HostSubject) -> Iterator[Verdict]:
    """Kernel parameters and CPU governor are the host profile's.

    They limit the throughput of TCP beside RoCE, and the time that a sleeping CPU needs to respond.

    Example: net.core.rmem_max is 212992, and the host profile has 268435456
    Fix: Run rocefort-host --apply there (rocefort host render).
    """
    for plan, host in subject.queried_servers:
        if host.failed:
            yield subject.missing_value(plan, SILENT)
            continue
        for name, required in plan.sysctl.items():
            has = host.sysctl.get(name)
            if has is None:
                reason = host.missing.get("sysctl", f"its kernel has no {name}")
                yield subject.missing_value(plan, reason)
            elif has != required:
                message = f"{name} is {has}, and the host profile has {required}"
                yield subject.wrong(plan, message, APPLY)
        others = Counter(word for word in host.governors or () if word != plan.governor)
        if plan.governor and host.governors is None:
            reason = host.missing.get("governors", "it does not let Linux set CPU frequencies")
            yield subject.missing_value(plan, reason)
        elif plan.governor and others:
            message = f"governor {listing(others)} on {count_of(others.total(), 'CPU')} of "
            message += f"{len(host.governors or ())}, and the host profile has {plan.governor}"
            yield subject.wrong(plan, message, APPLY)


@rule("HST114", judges=HostSubject, severity=Severity.WARNING, source=TUNING)
def rings(subject: HostSubject) -> Iterator[Verdict]:
    """Rings of a NIC have the size of the host profile.

    Where the NIC's maximum is smaller, they have that size. A short ring drops bursts of TCP that
    the leaf has delivered; RoCE does not use it.

    Example: its rx ring has 1024 descriptors of 8192, and the host profile has 8192
    Fix: Run rocefort-host --apply there (rocefort host render).
    """
    yield from subject.silent()
    for plan, _, nic in subject.nics:
        if plan.rings and nic.rings is None:
            yield subject.missing_value(plan, nic.missing.get("rings", ""), nic.name)
        for name, required in plan.rings.items():
            ring = (nic.rings or {}).get(name)
            if ring and ring.size != min(required, ring.maximum):
                message = f"its {name} ring has {ring.size} descriptors of {ring.maximum}, and "
                message += f"the host profile has {required}"
                yield subject.wrong(plan, message, APPLY, interface=nic.name)


@rule("HST115", judges=HostSubject, severity=Severity.WARNING, source=TUNING)
def interrupts(subject: HostSubject) -> Iterator[Verdict]:
    """Interrupts of a NIC go to CPUs of its own NUMA node.

    A CPU of another node responds later, over the link between the nodes. irqbalance moves
    interrupts again: exclude those of the NIC in its configuration.

    Example: 1 interrupt of 2 may go to other CPUs than 0-1, those of its NUMA node
    Fix: Run rocefort-host --apply there (rocefort host render).
    """
    yield from subject.silent()
    for plan, _, nic in subject.nics:
        if not plan.interrupts:
            continue
        if nic.local_cpus is None or nic.interrupts is None:
            lacking = "its NUMA node" if nic.local_cpus is None else "its interrupts"
            reason = nic.missing.get("interrupts", f"it does not show {lacking}")
            yield subject.missing_value(plan, reason, nic.name)
            continue
        near = _cpus(nic.local_cpus)
        others = [irq for irq, cpus in nic.interrupts.items() if not _cpus(cpus) <= near]
        if others:
            message = f"{count_of(len(others), 'interrupt')} of {len(nic.interrupts)} may go to "
            message += f"other CPUs than {nic.local_cpus}, those of its NUMA node"
            yield subject.wrong(plan, message, APPLY, interface=nic.name)


def _cpus(text: str) -> set[int]:
    """CPUs of a kernel's list: `0-3,8`."""
    cpus: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return cpus
