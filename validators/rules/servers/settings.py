"""Rules on the reported settings of servers: address, bond, MTU, speed, NIC and RoCE defaults."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.models.finding import Severity
from rocefort.models.network.servers import (
    ECT0,
    ROCE_V2,
    BondSeen,
    HostBond,
    HostPlan,
    HostSeen,
    NicFile,
    NicSeen,
)
from rocefort.models.wording import count_of, listing
from rocefort.validators.rules.registry import Verdict, rule
from rocefort.validators.rules.servers.server_subject import APPLY, CNPS, DSCP2PRIO, HostSubject

BONDING = "Linux kernel documentation, networking/bonding"
CONFIGFS = "Linux kernel, ABI/testing/configfs-rdma_cm (default_roce_mode, default_roce_tos)"
DCQCN = "NVIDIA, DCQCN CC Parameters"
NO_NIC = "the make of its NIC is not known (servers.nic)"


@rule(
    "HST101",
    judges=HostSubject,
    severity=Severity.ERROR,
    source="RFC 4253 (SSH), and the reader's own form",
)
def servers_answer(subject: HostSubject) -> Iterator[Verdict]:
    """Every server that is read answers.

    The settings of a server that does not answer are not known.

    Example: it could not be read: the reading is cut off
    Fix: Check its address, its SSH server and its entry in the connections file, then read it
    again.
    """
    for plan, host in subject.queried_servers:
        if host.failed:
            hint = "check its address, SSH server and connections file, then read it again"
            if host.file:
                hint = f"{host.file} is for the whole output of `rocefort host render`'s reader; "
                hint += "name another output SERVER.KIND.txt, such as SERVER.mlnx_qos.txt"
            yield subject.wrong(plan, f"it could not be read: {host.failed}", hint)


@rule(
    "HST102",
    judges=HostSubject,
    severity=Severity.ERROR,
    source="RFC 1812 (one subnet behind a gateway)",
)
def addresses(subject: HostSubject) -> Iterator[Verdict]:
    """A server's address is on the interface behind its leaf port.

    The leaf routes the server's segment to that port alone, and RoCE v2 takes its GID from the
    address.

    Example: its address is 10.65.0.11/16, and its gateway Vlanif120 is in 10.65.0.0/24
    Fix: Give the interface the address with the length of the segment, or correct
    servers.host.interfaces.
    """
    for plan, host in subject.answering_servers:
        has = next((name for name, one in host.addresses if one.ip == plan.address.ip), None)
        length = next((one for _, one in host.addresses if one.ip == plan.address.ip), None)
        correct = "correct servers.host.interfaces, or the server"
        if "addresses" in host.missing:
            yield subject.missing_value(plan, host.missing["addresses"])
        elif plan.main and host.interface is None:
            yield subject.wrong(plan, f"it has no interface {plan.main}", correct)
        elif has is None:
            message = f"no interface has {plan.address.ip}, its address behind {plan.leaf_port}"
            yield subject.wrong(plan, message, f"give {plan.address} to the one that is cabled")
        elif plan.main and has != plan.main:
            message = f"{plan.address.ip} is on {has}, and {plan.leaf_port} leads to {plan.main}"
            yield subject.wrong(plan, message, correct, interface=has)
        elif length != plan.address:
            message = f"its address is {length}, and its gateway {plan.gateway} is in "
            message += f"{plan.address.network}"
            yield subject.wrong(plan, message, f"give it {plan.address}", interface=has)


@rule("HST103", judges=HostSubject, severity=Severity.ERROR, source=f"IEEE 802.1AX; {BONDING}")
def bonds(subject: HostSubject) -> Iterator[Verdict]:
    """A server bundles its ports as its leaf does.

    An Eth-Trunk with LACP brings up no port of a server without LACP. A bond without an Eth-Trunk
    makes the leaf learn one address on two ports. With another hash than layer3+4 all flows between
    two servers share one port. With miimon 0 the server does not monitor its links, and a failed
    link remains in use.

    Example: ens1 is a bond of mode 802.3ad, and leaf01 100GE1/0/2 is a lone port
    Fix: Bond its ports with mode 802.3ad, layer3+4 and lacp_rate fast, miimon 100; or correct
    servers.bond.
    """
    yield from subject.silent()
    for plan, host in subject.answering_servers:
        if not host.interface:
            continue
        if "bond" in host.missing:
            yield subject.missing_value(plan, host.missing["bond"])
        elif plan.bond is None:
            if host.bond is not None:
                message = f"{host.interface} is a bond of mode {host.bond.mode}, and "
                message += f"{plan.leaf_port} is a lone port"
                hint = "add a bond in the fabric (servers.bond), or remove it from the server"
                yield subject.wrong(plan, message, hint, interface=host.interface)
        elif host.bond is None:
            message = f"{host.interface} is no bond, and {plan.leaf} bundles "
            message += f"{count_of(len(plan.ports), 'port')} to it in {plan.carrier}"
            yield subject.wrong(plan, message, _bond_hint(plan.bond), interface=host.interface)
        else:
            yield from _bond(subject, plan, plan.bond, host.bond)


def _bond_hint(bond: HostBond) -> str:
    lacp = f" and lacp_rate {bond.lacp_rate}" if bond.lacp_rate else ""
    settings = f"mode {bond.mode}, {bond.hash_policy}{lacp}"
    return f"bond its ports with {settings}, miimon {bond.miimon_ms}"


def _bond(
    subject: HostSubject, plan: HostPlan, required: HostBond, seen: BondSeen
) -> Iterator[Verdict]:
    pairs: tuple[tuple[str, object, object], ...] = (
        ("mode", seen.mode, required.mode),
        ("hash", seen.hash_policy, required.hash_policy),
        ("LACP rate", seen.lacp_rate, required.lacp_rate),
        ("least number of ports", seen.minimum_links, required.minimum_links),
        ("miimon", seen.miimon_ms, required.miimon_ms),
    )
    for what, has, needs in pairs:
        if needs is None or has == needs:
            continue
        if has is None:
            yield subject.missing_value(plan, f"its bond does not show its {what}", required.name)
        else:
            message = f"its bond has {what} {has}, and {plan.leaf_port} needs {needs}"
            yield subject.wrong(plan, message, _bond_hint(required), interface=required.name)
    names = set(plan.interfaces)
    if len(seen.members) != len(plan.ports) or (names and set(seen.members) != names):
        message = f"its bond has {listing(seen.members) or 'no port'}, and {plan.carrier} has "
        message += listing(plan.ports)
        hint = f"bond {listing(plan.interfaces) or 'the ports that are cabled there'}"
        yield subject.wrong(plan, message, hint, interface=required.name)


@rule(
    "HST104",
    judges=HostSubject,
    severity=Severity.ERROR,
    source="RFC 1191 (a host's MTU is its link's); «MTU of a port» of «the vendor's system»",
)
def mtu(subject: HostSubject) -> Iterator[Verdict]:
    """A server has the MTU of its gateway.

    The leaf drops packets of a larger MTU. With a smaller MTU, RoCE falls back to smaller packets.

    Example: its MTU is 9001 bytes, and Vlanif120 of leaf01 has 9000
    Fix: Set it on the interface, and where that is a bond, on the bond.
    """
    yield from subject.silent()
    for plan, host in subject.answering_servers:
        if not host.interface:
            continue
        mtus = {host.interface: host.mtu, **{nic.name: nic.mtu for nic in host.nics}}
        reasons = {host.interface: host.missing, **{nic.name: nic.missing for nic in host.nics}}
        for name, has in mtus.items():
            if has is None:
                yield subject.missing_value(plan, reasons[name].get("mtu", "no MTU is shown"), name)
            elif has != plan.mtu:
                yield subject.wrong(
                    plan,
                    f"its MTU is {has} bytes, and {plan.gateway} of {plan.leaf} has {plan.mtu}",
                    f"set it to {plan.mtu}: {APPLY}",
                    interface=name,
                    severity=Severity.ERROR if has > plan.mtu else Severity.WARNING,
                )


@rule("HST105", judges=HostSubject, severity=Severity.ERROR, source=DSCP2PRIO)
def trust(subject: HostSubject) -> Iterator[Verdict]:
    """A NIC trusts DSCP, and the host alone sets its PFC.

    RoCE has a DSCP and no 802.1p. A NIC that trusts 802.1p gives it priority 0, which no pause
    stops. With DCBX controlled by firmware, the switch's DCBX may replace the PFC settings of the
    host.

    Example: it trusts pcp, and RoCE of leaf01 100GE1/0/2 has a DSCP only
    Fix: Run rocefort-host --apply there (rocefort host render).
    """
    for plan, nic in _mlx5(subject):
        if nic.trust is None:
            yield subject.missing_value(plan, nic.missing.get("trust", NO_NIC), nic.name)
        elif nic.trust != "dscp":
            message = f"it trusts {nic.trust}, and RoCE of {plan.leaf_port} has a DSCP only"
            yield subject.wrong(plan, message, APPLY, interface=nic.name)
        if nic.dcbx not in (None, "OS controlled"):
            message = f"its DCBX is {nic.dcbx[:1].lower()}{nic.dcbx[1:]}: its PFC may follow the "
            message += f"DCBX of {plan.leaf_port}, which runs PFC by hand"
            hint = f"mlnx_qos -i {nic.name} --dcbx os, or {APPLY}"
            severity = Severity.WARNING
            yield subject.wrong(plan, message, hint, interface=nic.name, severity=severity)
    yield from _unknown_nics(subject)


@rule("HST106", judges=HostSubject, severity=Severity.ERROR, source=f"IEEE 802.1Qbb; {DSCP2PRIO}")
def priorities(subject: HostSubject) -> Iterator[Verdict]:
    """A NIC gives RoCE and CNPs the priority of their leaf's queue.

    A pause names a priority. RoCE in another priority does not stop, and the full queue drops it.

    Example: it gives DSCP 48 (CNP) priority 0, and leaf01 100GE1/0/2 has it in queue 6
    Fix: Run rocefort-host --apply there (rocefort host render).
    """
    for plan, nic in _mlx5(subject):
        if nic.priorities is None:
            reason = nic.missing.get("priorities", NO_NIC)
            if nic.trust not in (None, "dscp"):
                reason = "DSCP is not trusted there (HST105), so no priority of one is shown"
            yield subject.missing_value(plan, reason, nic.name)
            continue
        required = plan.nic.priorities if plan.nic else {}
        for dscp, priority in required.items():
            if (has := nic.priorities.get(dscp)) != priority:
                message = f"it gives DSCP {dscp}{_marking_text(plan, dscp)} priority {has}, and "
                message += f"{plan.leaf_port} has it in queue {priority}"
                hint = f"mlnx_qos -i {nic.name} --dscp2prio set,{dscp},{priority}, or {APPLY}"
                yield subject.wrong(plan, message, hint, interface=nic.name)
    yield from _unknown_nics(subject)


def _marking_text(plan: HostPlan, dscp: int) -> str:
    names = {plan.cnp_dscp: " (CNP)", plan.roce_dscp: " (RoCE)"}
    return names.get(dscp, "")


@rule("HST107", judges=HostSubject, severity=Severity.ERROR, source=f"IEEE 802.1Qbb; {DSCP2PRIO}")
def paused(subject: HostSubject) -> Iterator[Verdict]:
    """A NIC pauses on its leaf port's priorities, and on no other.

    Without PFC on the priority of RoCE, the leaf's pauses have no effect. On another priority the
    NIC's pauses have no effect either, and hide that its buffer fills up.

    Example: its PFC is on for priorities 3 and 4, and leaf01 100GE1/0/2 pauses priority 4
    Fix: Run rocefort-host --apply there (rocefort host render).
    """
    for plan, nic in _mlx5(subject):
        required = plan.nic.paused if plan.nic else ()
        if nic.paused is None:
            yield subject.missing_value(plan, nic.missing.get("paused", NO_NIC), nic.name)
        elif nic.paused != required:
            message = f"its PFC is on for {_list(nic.paused)}, and {plan.leaf_port} pauses "
            message += _list(required)
            yield subject.wrong(plan, message, APPLY, interface=nic.name)
    yield from _unknown_nics(subject)


def _list(numbers: tuple[int, ...]) -> str:
    word = "priority" if len(numbers) == 1 else "priorities"
    return f"{word} {listing(numbers)}" if numbers else "no priority"


@rule(
    "HST108", judges=HostSubject, severity=Severity.ERROR, source=f"RFC 2474, RFC 3168; {CONFIGFS}"
)
def traffic_class(subject: HostSubject) -> Iterator[Verdict]:
    """RoCE leaves a server with the fabric's DSCP by default.

    Applications without a traffic class of their own get the default: of rdma_cm (cma_roce_tos), or
    of mlx5 (tc/1/traffic_class). If the default has no ECN bits, a switch drops packets that it
    would mark.

    Example: rdma_cm sends RoCE with DSCP 26, and leaf01 100GE1/0/2 expects DSCP 34
    Fix: Run rocefort-host --apply there (rocefort host render).
    """
    yield from subject.silent()
    for plan, host in subject.answering_servers:
        if plan.roce_dscp is None or not host.interface:
            continue
        if host.rdma_device is None:
            reason = host.missing.get("rdma_device", "it shows no RDMA device")
            yield subject.missing_value(plan, reason)
            continue
        classes = {"rdma_cm": (host.roce_tos, "roce_tos")}
        if plan.nic is not None:
            classes["mlx5"] = (host.traffic_class, "traffic_class")
        for who, (has, field) in classes.items():
            if has is None:
                reason = f"{who} shows no traffic class: {host.missing.get(field, '')}"
                yield subject.missing_value(plan, reason.rstrip(": "), host.rdma_device)
            elif has != plan.traffic_class:
                yield _wrong_class(subject, plan, host, who, has)


def _wrong_class(
    subject: HostSubject, plan: HostPlan, host: HostSeen, who: str, has: int
) -> Verdict:
    if has >> 2 != plan.roce_dscp:
        message = f"{who} sends RoCE with DSCP {has >> 2}, and {plan.leaf_port} expects "
        message += f"DSCP {plan.roce_dscp}"
        severity = Severity.ERROR
    else:
        message = f"{who} sends RoCE with traffic class {has}: its ECN bits are {has & 3}, not "
        message += f"{ECT0}"
        severity = Severity.WARNING
    hint = f"set traffic class {plan.traffic_class}: {APPLY}"
    return subject.wrong(plan, message, hint, interface=host.rdma_device, severity=severity)


@rule("HST109", judges=HostSubject, severity=Severity.ERROR, source=CONFIGFS)
def roce_mode(subject: HostSubject) -> Iterator[Verdict]:
    """Connections of rdma_cm use RoCE v2.

    RoCE v1 has no IP header: no leaf routes it, and no DSCP puts it into the lossless queue.

    Example: its default is IB/RoCE v1, which leaf01 does not route
    Fix: Run rocefort-host --apply there (rocefort host render).
    """
    yield from subject.silent()
    for plan, host in subject.answering_servers:
        if plan.roce_dscp is None or not host.interface:
            continue
        if host.rdma_device is None:  # HST108 reports a server without one
            if "rdma_device" in host.missing:
                yield subject.missing_value(plan, host.missing["rdma_device"])
        elif host.roce_mode is None:
            yield subject.missing_value(plan, host.missing.get("roce_mode", ""), host.rdma_device)
        elif host.roce_mode != ROCE_V2:
            message = f"its default is {host.roce_mode}, which {plan.leaf} does not route"
            hint = f"set {ROCE_V2}: {APPLY}"
            yield subject.wrong(plan, message, hint, interface=host.rdma_device)


@rule(
    "HST110",
    judges=HostSubject,
    severity=Severity.ERROR,
    source=f"{DCQCN} (ROCE_CC_PRIO_MASK); {CNPS}",
)
def dcqcn_on(subject: HostSubject) -> Iterator[Verdict]:
    """Congestion control of a NIC is on as the fabric requires.

    If a NIC ignores marks, only pauses control its congestion, and they spread. CNPs in the
    lossless queue wait behind the congestion that they report.

    Example: it slows down at CNPs on no priority, and the fabric has priority 4
    Fix: Run rocefort-host --apply there (rocefort host render).
    """
    for plan, nic in _mlx5(subject):
        for side, name in (("np", "answers marks with CNPs"), ("rp", "slows down at CNPs")):
            yield from _enabled(subject, plan, nic, f"roce_{side}/enable/", name)
        required = tuple(f for f in _required_files(plan) if "/enable/" not in f.path)
        yield from _files(subject, plan, nic, required)
    yield from _unknown_nics(subject)


def _required_files(plan: HostPlan) -> tuple[NicFile, ...]:
    return plan.nic.switches if plan.nic else ()


def _enabled(
    subject: HostSubject, plan: HostPlan, nic: NicSeen, path: str, what: str
) -> Iterator[Verdict]:
    """Report the priorities of one side of DCQCN in one finding."""
    required = {f.path: f.value for f in _required_files(plan) if f.path.startswith(path)}
    seen = {name: (nic.files or {}).get(name) for name in required}
    if None in seen.values():
        reason = nic.missing.get("files", f"its driver shows no ecn/{path}")
        yield subject.missing_value(plan, reason, nic.name)
    elif seen != required:
        on = tuple(n for n, value in enumerate(seen.values()) if value)
        needed = tuple(n for n, value in enumerate(required.values()) if value)
        message = f"it {what} on {_list(on)}, and the fabric has {_list(needed)}"
        severity = Severity.WARNING if set(on) >= set(needed) else Severity.ERROR
        yield subject.wrong(plan, message, APPLY, interface=nic.name, severity=severity)


@rule("HST111", judges=HostSubject, severity=Severity.WARNING, source=DCQCN)
def dcqcn_parameters(subject: HostSubject) -> Iterator[Verdict]:
    """The parameters of DCQCN are those of the fabric's profile.

    A NIC with other parameters takes bandwidth from the others, or loses bandwidth to them.

    Example: roce_rp/rpg_hai_rate is 500, and the fabric has 50 (hyper_increase_mbps)
    Fix: Run rocefort-host --apply there (rocefort host render).
    """
    for plan, nic in _mlx5(subject):
        yield from _files(subject, plan, nic, plan.nic.parameters if plan.nic else ())
    yield from _unknown_nics(subject)


def _files(
    subject: HostSubject, plan: HostPlan, nic: NicSeen, required: tuple[NicFile, ...]
) -> Iterator[Verdict]:
    """Report numbers below ecn/ that differ from the fabric, or are not shown."""
    lacking = [file.path for file in required if file.path not in (nic.files or {})]
    if lacking:
        what = lacking[0] if len(lacking) == 1 else f"{lacking[0]} and {len(lacking) - 1} more"
        reason = nic.missing.get("files", f"its driver shows no ecn/{what}")
        yield subject.missing_value(plan, reason, nic.name)
    for file in required:
        has = (nic.files or {}).get(file.path)
        if has not in (None, file.value):
            message = f"{file.path} is {has}, and the fabric has {file.value} ({file.key})"
            yield subject.wrong(plan, message, APPLY, interface=nic.name)


@rule(
    "HST112",
    judges=HostSubject,
    severity=Severity.ERROR,
    source="IEEE 802.3 (both ends of a link, one speed)",
)
def speed(subject: HostSubject) -> Iterator[Verdict]:
    """A server's ports have the speed of its leaf's.

    Thresholds, marks and expected bandwidth depend on the speed of the leaf's port. The leaf pauses
    a slower NIC all the time.

    Example: its speed is 40 Gb/s, and leaf01 100GE1/0/2 has 100
    Fix: Check the cable, the optics and the configured speed of both ends.
    """
    yield from subject.silent()
    for plan, _, nic in subject.nics:
        if nic.speed_mbps is None:
            yield subject.missing_value(plan, nic.missing.get("speed_mbps", ""), nic.name)
        elif nic.speed_mbps != plan.port_gbps * 1000:
            message = f"its speed is {nic.speed_mbps // 1000} Gb/s, and {plan.leaf} "
            message += f"{listing(plan.ports)} has {plan.port_gbps}"
            hint = "check the cable, the optics and the configured speed of both ends"
            yield subject.wrong(plan, message, hint, interface=nic.name)


def _mlx5(subject: HostSubject) -> Iterator[tuple[HostPlan, NicSeen]]:
    """Ports of NICs whose settings are in the fabric."""
    for plan, _, nic in subject.nics:
        if plan.nic is not None:
            yield plan, nic


def _unknown_nics(subject: HostSubject) -> Iterator[Verdict]:
    """Verdicts on servers that do not answer, or whose NIC is not in the fabric."""
    yield from subject.silent()
    for plan, host in subject.answering_servers:
        if plan.nic is None and plan.roce_dscp is not None and host.interface:
            yield subject.missing_value(plan, NO_NIC)
