"""Rules on NIC profiles: priorities, DSCP, PFC, congestion control and MTU fit the fabric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from rocefort.models.fabric.hosts import NicProfile
from rocefort.models.finding import Severity
from rocefort.models.network.network import Server
from rocefort.models.wording import listing
from rocefort.validators.facts.priorities import queue_of_dscp
from rocefort.validators.rules.missing import NIC, Missing, Need, fabric_key
from rocefort.validators.rules.registry import Subject, Verdict, rule
from rocefort.validators.rules.servers.server_subject import CNPS, DSCP2PRIO

NICS = (Need.LOSSLESS, Need.SERVERS, Need.NICS)
DEFAULT_MTU = 1500  # V300R023C00 command reference, `mtu`

Dscp = Literal["roce_dscp", "cnp_dscp"]
Used = tuple[str, NicProfile, tuple[Server, ...]]


@rule(
    "HST001",
    severity=Severity.ERROR,
    source=f"IEEE 802.1Qbb (a pause names priorities); {DSCP2PRIO}",
    needs=NICS,
)
def priority_of_roce(subject: Subject) -> Iterator[Verdict]:
    """A NIC gives RoCE the priority that its leaf's pauses name.

    A congested leaf pauses the priority with the number of its lossless queue. A NIC that sends
    RoCE with another priority, or has PFC off for it, does not stop, and frames are lost.

    Example: NIC profile plain gives DSCP 34 priority 3, and the leaf puts it into queue 4: pauses
    of priority 4 do not stop node1 and 1 more
    Fix: Trust DSCP on the NIC, set dscp2prio where DSCP >> 3 is another priority, and turn PFC on
    for the priority of the lossless queue.
    """
    yield from _unknown(subject)
    for name, nic, servers in _used(subject):
        for (dscp, queue), some in _by_queue(subject, servers).items():
            if nic.trust is None or nic.paused_priorities is None:
                missing = "what it trusts" if nic.trust is None else "on which it obeys pauses"
                yield _silent(subject, name, missing)
                break
            if nic.trust == "pcp":
                key, message = "trust", "reads priorities from 802.1p, and RoCE has DSCP only"
                hint = "set the NIC's trust state to dscp"
            elif (priority := nic.priority(dscp)) != queue:
                key = "dscp2prio"
                message = f"gives DSCP {dscp} priority {priority}, and the leaf puts it into queue "
                message += str(queue)
                hint = f"map DSCP {dscp} to priority {queue} on the NIC (dscp2prio)"
            elif queue not in nic.paused_priorities:
                key = "paused_priorities"
                message = f"obeys pauses of {_priorities(nic.paused_priorities)}"
                hint = f"turn PFC on for priority {queue} on the NIC"
            else:
                continue
            yield subject.finding(
                None,
                f"NIC profile {name} {message}: pauses of priority {queue} do not stop "
                f"{_servers_text(some)}",
                hint,
                path=f"nics[{name}].{key}",
            )


@rule("HST002", severity=Severity.ERROR, source=DSCP2PRIO, needs=NICS)
def dscp_of_roce(subject: Subject) -> Iterator[Verdict]:
    """NICs send RoCE with the fabric's DSCP.

    Switches classify RoCE by its DSCP alone. With another DSCP it uses a queue that is not
    lossless, together with other traffic.

    Example: NIC profile plain sends RoCE with DSCP 35, and the fabric's is 34 (node1 and 1 more)
    Fix: Set the traffic class of RoCE (four times the DSCP) on the NIC.
    """
    yield from _equal(subject, "roce_dscp", "RoCE")


@rule("HST003", severity=Severity.ERROR, source=CNPS, needs=NICS)
def dscp_of_cnp(subject: Subject) -> Iterator[Verdict]:
    """NICs send congestion notifications with the fabric's DSCP.

    A CNP with another DSCP waits behind data in the congested queue, or in a queue that is served
    last, and the sender slows down too late.

    Example: NIC profile plain sends CNP with DSCP 48, and the fabric's is 25 (node1 and 1 more)
    Fix: Set cnp_dscp on the NIC, or in the lossless profile.
    """
    yield from _equal(subject, "cnp_dscp", "CNP")


@rule("HST004", severity=Severity.ERROR, source=CNPS, needs=NICS)
def cnp_is_not_paused(subject: Subject) -> Iterator[Verdict]:
    """NICs send CNPs in a priority that no pause stops.

    A receiver whose congestion notifications (CNPs) are paused cannot slow its senders down, and
    the congestion continues.

    Example: NIC profile plain sends CNPs with priority 4, on which it obeys pauses (node1 and 1
    more)
    Fix: Send CNPs with a priority of their own, 6 say, and leave PFC off there.
    """
    yield from _unknown(subject)
    for name, nic, servers in _used(subject):
        priority, paused = nic.priority_of_cnp, nic.paused_priorities
        if priority is None or paused is None:
            missing = "the priority of CNPs" if priority is None else "on which it obeys pauses"
            yield _silent(subject, name, missing)
        elif priority in paused:
            yield subject.finding(
                None,
                f"NIC profile {name} sends CNPs with priority {priority}, on which it obeys "
                f"pauses ({_servers_text(servers)})",
                f"send them with another priority, or turn PFC off for {priority}",
                path=f"nics[{name}].cnp_priority",
            )


@rule(
    "HST005",
    severity=Severity.ERROR,
    source="NVIDIA, DCQCN CC Parameters (ROCE_CC_PRIO_MASK)",
    needs=NICS,
)
def congestion_control_is_on(subject: Subject) -> Iterator[Verdict]:
    """Congestion control of the NICs is on for the priority of RoCE.

    Switches mark packets so that senders slow down before a pause is necessary. A NIC without
    congestion control on the priority of RoCE ignores the marks, and pauses spread.

    Example: NIC profile plain has congestion control on for priority 3 only, and RoCE has priority
    4: node1 and 1 more will not slow down at marks
    Fix: Turn it on for that priority.
    """
    hosts = subject.network.hosts
    if hosts is None or hosts.congestion is None:
        yield subject.not_judged(
            None,
            "the intended congestion control of the NICs is not known (congestion_control)",
            Missing("the intended congestion control", key=fabric_key("congestion_control")),
        )
        return
    if hosts.congestion.kind == "pfc_only":
        return
    yield from _unknown(subject)
    for name, nic, servers in _used(subject):
        on = nic.controlled_priorities
        if on is None or nic.trust is None:
            missing = "what it trusts" if on is not None else "where congestion control is on"
            yield _silent(subject, name, missing)
        elif nic.trust == "dscp":
            for dscp, some in _by_intent(subject, servers, "roce_dscp").items():
                if (priority := nic.priority(dscp)) not in on:
                    yield subject.finding(
                        None,
                        f"NIC profile {name} has congestion control on for {_priorities(on)}, and "
                        f"RoCE has priority {priority}: {_servers_text(some)} will not slow down "
                        "at marks",
                        f"turn it on for priority {priority}, or name congestion control of kind "
                        "pfc_only",
                        path=f"nics[{name}].controlled_priorities",
                    )


@rule(
    "HST006",
    severity=Severity.ERROR,
    source="V300R023C00 command reference, `mtu`; RFC 1191 (a host's MTU is its link's)",
    needs=(Need.SERVERS, Need.NICS),
    wants=(Need.SEGMENTS,),
)
def mtu_of_servers(subject: Subject) -> Iterator[Verdict]:
    """Servers have the MTU of their gateway.

    The leaf drops larger packets of a server, and the server's NIC may drop larger packets of
    others.

    Example: node2 has an MTU of 9000 bytes (NIC profile plain), and its gateway Vlanif10 1500
    Fix: Give the NIC the MTU of the leaf's VLAN interface.
    """
    gateways = {(s.leaf, s.name): s.vlan for s in subject.network.segments or ()}
    yield from _unknown(subject, roce=False)
    for name, nic, servers in _used(subject, roce=False):
        if nic.mtu_bytes is None:
            yield _silent(subject, name, "an MTU")
            continue
        for server in servers:
            vlan = gateways.get((server.port.device, server.segment))
            node = subject.network.by_name.get(server.port.device)
            gateway = node.device.by_interface.get(f"Vlanif{vlan}") if node and vlan else None
            mtu = (gateway.mtu or DEFAULT_MTU) if gateway else nic.mtu_bytes
            if nic.mtu_bytes != mtu:
                larger = nic.mtu_bytes > mtu
                yield subject.finding(
                    server.port,
                    f"{server.name} has an MTU of {nic.mtu_bytes} bytes (NIC profile {name}), and "
                    f"its gateway Vlanif{vlan} {mtu}",
                    f"set the server's MTU to {mtu}",
                    severity=Severity.ERROR if larger else Severity.WARNING,
                )


@rule(
    "HST007",
    severity=Severity.WARNING,
    source="NVIDIA, DCQCN CC Parameters (ranges)",
    needs=(Need.NICS,),
)
def parameters_can_be_set(subject: Subject) -> Iterator[Verdict]:
    """NICs accept the values of the congestion control profile.

    A NIC refuses a value outside its range, or changes it without a message. It then does not
    behave as the profile requires.

    Example: byte_counter_bytes is 32768, and rpg_byte_reset of connectx takes 0 to 32767
    Fix: Leave the parameter out, or use a value in the NIC's range.
    """
    hosts = subject.network.hosts
    for name in hosts.adapters if hosts else ():
        yield from _settable(subject, name)


def _settable(subject: Subject, name: str) -> Iterator[Verdict]:
    hosts = subject.network.hosts
    if hosts is None or hosts.congestion is None:
        return
    for key, value in hosts.congestion.parameters().items():
        parameter = hosts.adapters[name].parameters.get(key)
        if parameter is None:
            missing = Missing(f"the NIC's name of {key}", key=f"{name} in inventory/profiles")
            yield subject.not_judged(None, f"what {name} calls {key} is not known", missing)
        elif not parameter.takes(value):
            yield subject.finding(
                None,
                f"{key} is {value}, and {parameter.name} of {name} takes {parameter.span}",
                f"leave {key} out of congestion control profile {hosts.congestion_name}, or use "
                "a value in that range",
                path=f"congestion.{key}",
            )


def _used(subject: Subject, *, roce: bool = True) -> Iterator[Used]:
    """Each NIC profile with its servers; roce: only servers on lossless ports."""
    profiles = subject.network.nics or {}
    for name, servers in subject.overview.by_nic(roce=roce).items():
        if name is not None:
            yield name, profiles[name], servers


def _by_intent(
    subject: Subject, servers: Iterable[Server], key: Dscp
) -> dict[int, tuple[Server, ...]]:
    """Servers by a value of the lossless profile of their leaf."""
    groups: dict[int, list[Server]] = {}
    for server in servers:
        intent = subject.lossless_of(server.port.device)
        groups.setdefault(getattr(intent, key), []).append(server)
    return {key: tuple(some) for key, some in groups.items()}


def _by_queue(
    subject: Subject, servers: tuple[Server, ...]
) -> dict[tuple[int, int], tuple[Server, ...]]:
    """Servers by the DSCP of RoCE and the queue that their leaf port has for it.

    A server whose port has no domain is in none of them (QOS001).
    """
    groups: dict[tuple[int, int], list[Server]] = {}
    for server in servers:
        dscp = subject.lossless_of(server.port.device).roce_dscp
        interface = subject.network.interface(server.port)
        node = subject.network.by_name.get(server.port.device)
        domain = node.device.domain_of(interface) if node and interface else None
        if domain is not None:
            groups.setdefault((dscp, queue_of_dscp(domain, dscp)), []).append(server)
    return {key: tuple(some) for key, some in groups.items()}


def _equal(subject: Subject, key: Dscp, what: str) -> Iterator[Verdict]:
    """Compare a DSCP of each NIC profile with the lossless profile of its servers' leaves."""
    yield from _unknown(subject)
    for name, nic, servers in _used(subject):
        dscp = getattr(nic, key)
        if dscp is None:
            yield _silent(subject, name, f"the DSCP of {what}")
            continue
        common = getattr(subject.network.lossless, key)
        for required, some in _by_intent(subject, servers, key).items():
            if dscp != required:
                whose = "the fabric's" if required == common else "their leaf's"
                yield subject.finding(
                    None,
                    f"NIC profile {name} sends {what} with DSCP {dscp}, and {whose} is {required} "
                    f"({_servers_text(some)})",
                    f"send {what} with DSCP {required}",
                    path=f"nics[{name}].{key}",
                )


def _unknown(subject: Subject, *, roce: bool = True) -> Iterator[Verdict]:
    """Verdict (not judged) on servers without a NIC profile, where others have one."""
    blank = subject.overview.by_nic(roce=roce).get(None, ())
    if blank:
        yield subject.not_judged(
            None, f"the NIC settings of {_servers_text(blank)} are not known (servers.nic)", NIC
        )


def _silent(subject: Subject, name: str, missing: str) -> Verdict:
    """Verdict (not judged) on a profile without a value that the rule needs."""
    return subject.not_judged(
        None,
        f"NIC profile {name} does not state {missing}",
        Missing(missing, key=f"NIC profile {name} in inventory/profiles"),
        path=f"nics[{name}]",
    )


def _priorities(priorities: tuple[int, ...]) -> str:
    """`priority 3 and 5 only`, or `no priority`."""
    return f"priority {listing(priorities)} only" if priorities else "no priority"


def _servers_text(servers: tuple[Server, ...]) -> str:
    """`node1`, or `node1 and 3 more`."""
    more = len(servers) - 1
    return servers[0].name + (f" and {more} more" if more else "")
