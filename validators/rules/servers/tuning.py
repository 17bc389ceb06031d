"""Rules on the tuning of servers: kernel parameters, rings, interrupts, CPU frequency."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rocefort.models.fabric.hosts import HostProfile
from rocefort.models.fabric.topology import WanPath
from rocefort.models.finding import Severity
from rocefort.models.network.window import (
    LARGEST_WINDOW,
    bytes_in_flight,
    connections_for,
    gbps_of_window,
)
from rocefort.models.wording import count_of, listing
from rocefort.validators.rules.missing import Missing, fabric_key
from rocefort.validators.rules.registry import Subject, Verdict, rule
from rocefort.validators.rules.servers.server_subject import APPLY, SILENT, HostSubject

TUNING = "Linux kernel documentation (admin-guide/sysctl, cpu-freq, core-api/irq); ethtool(8)"

WINDOWS = ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem")  # of the receiver, and of the sender
WINDOW = "the largest window of TCP on the servers"


@rule(
    "HST008",
    severity=Severity.WARNING,
    source="RFC 7323 (a window is at most 65,535 x 2^14 bytes); Linux, networking/ip-sysctl",
)
def window(subject: Subject) -> Iterator[Verdict]:
    """Windows of TCP hold what a path between segments has in flight.

    A sender waits for acknowledgements when a window is sent, so that one connection carries at
    most a window in each round trip. The third value of tcp_rmem and tcp_wmem limits the window.
    Linux keeps a part of it for its own use, so that a connection carries less than the message
    names. A path that needs more than TCP's largest window needs several connections.

    Example: tcp_rmem of host profile roce-server ends at 134217728 bytes, and transfer and
    storage have 2200000000 bytes in flight (400 Gb/s x 44 ms): one connection carries 24.4 Gb/s
    Fix: Raise the third value in the host profile, or transfer with more connections.
    """
    hosts = subject.network.hosts
    tuning = hosts.tuning if hosts else None
    if hosts is None or tuning is None:
        if subject.network.wan:
            missing = Missing(WINDOW, key=fabric_key("host"))
            yield subject.not_judged(None, "no host profile states the windows of TCP", missing)
        return
    for index, path in enumerate(subject.network.wan):
        for name in WINDOWS:
            key = f"{name} of host profile {hosts.tuning_name}"
            largest = _largest_window(tuning, name)
            if largest is None:
                reason, missing = f"{key} does not state a largest window", Missing(WINDOW, key=key)
                yield subject.not_judged(None, reason, missing, path=f"wan[{index}]")
            elif largest < min(LARGEST_WINDOW, _in_flight(path)):
                yield subject.finding(
                    None, _short(path, key, largest), _longer(path), path="tuning.sysctl"
                )


def _largest_window(tuning: HostProfile, name: str) -> int | None:
    words = tuning.sysctl.get(name, "").split()
    return int(words[2]) if len(words) == 3 and words[2].isdecimal() else None


def _in_flight(path: WanPath) -> int:
    return bytes_in_flight(path.rate_gbps, path.round_trip_ms)


def _short(path: WanPath, key: str, largest: int) -> str:
    product = f"{path.rate_gbps:g} Gb/s x {path.round_trip_ms:g} ms"
    return (
        f"{key.removeprefix('net.ipv4.')} ends at {largest} bytes, and {listing(path.between)} "
        f"have {_in_flight(path)} bytes in flight ({product}): one connection carries "
        f"{gbps_of_window(largest, path.round_trip_ms):.1f} Gb/s"
    )


def _longer(path: WanPath) -> str:
    least = connections_for(path.rate_gbps, path.round_trip_ms, LARGEST_WINDOW)
    if least == 1:
        return f"raise its third value to {_in_flight(path)} or more"
    return (
        f"raise its third value to {LARGEST_WINDOW}, TCP's largest window, or more, and transfer "
        f"with {least} connections or more"
    )


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


@rule(
    "HST116",
    judges=HostSubject,
    severity=Severity.WARNING,
    source="tc(8), tc-fq(8); Linux, net/ipv4/tcp_bbr.c (pacing)",
)
def queues(subject: HostSubject) -> Iterator[Verdict]:
    """Ports send through the queue discipline of the host profile.

    The congestion control bbr sets a rate for each connection, and fq sends at that rate. The
    kernel parameter net.core.default_qdisc holds for queues that are made later.

    Example: it sends through fq_codel, and the host profile has fq
    Fix: Run rocefort-host --apply there (rocefort host render).
    """
    yield from subject.silent()
    for plan, _, nic in subject.nics:
        if plan.qdisc and nic.qdisc is None:
            yield subject.missing_value(plan, nic.missing.get("qdisc", ""), nic.name)
        elif plan.qdisc and nic.qdisc != plan.qdisc:
            message = f"it sends through {nic.qdisc}, and the host profile has {plan.qdisc}"
            yield subject.wrong(plan, message, APPLY, interface=nic.name)


def _cpus(text: str) -> set[int]:
    """CPUs of a kernel's list: `0-3,8`."""
    cpus: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return cpus
