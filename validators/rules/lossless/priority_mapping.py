"""Rules on priorities: RoCE, and only RoCE, uses the lossless queue on every port."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.models.device.interface import NO_DOMAIN
from rocefort.models.device.lossless_queue import PHB_QUEUE, QUEUES, host_priority
from rocefort.models.finding import Severity
from rocefort.models.network.network import LosslessIntent, Node, Port
from rocefort.models.wording import listing, ranges
from rocefort.validators.facts.overview import LosslessSwitch
from rocefort.validators.facts.priorities import BY_DEFAULT, queue_of_dot1p, queue_of_dscp
from rocefort.validators.facts.roce_ports import carriers, paused_queues
from rocefort.validators.rules.missing import Need, of_family
from rocefort.validators.rules.registry import Subject, Verdict, rule

MAPPING = "«the vendor's reference», QoS, priority mapping"


@rule(
    "QOS001",
    severity=Severity.ERROR,
    source=f"{MAPPING} («trust of a port», «domain of a port», «the map of DSCP») and "
    "DCB, «PFC by DSCP»; ConnectX default dscp2prio is DSCP >> 3",
    needs=(Need.LOSSLESS,),
    wants=(Need.LINKS, Need.SERVERS, Need.FAMILY),
)
def roce_reaches_its_queue(subject: Subject) -> Iterator[Verdict]:
    """RoCE uses the lossless queue from server to server.

    A switched port must trust DSCP; a routed port trusts it automatically. The port's diffserv
    domain must put the RoCE DSCP into the lossless queue. The servers' NICs must give RoCE the same
    priority, because a pause of another priority does not stop it.

    Example: domain roce puts RoCE (DSCP 34) into queue 3; it must be queue 4
    Fix: Add «trust of DSCP» to the port, or use a domain that maps the RoCE DSCP to the lossless
    queue.
    """
    yield from _nic_defaults(subject)
    for switch in subject.switches:
        intent = subject.lossless_of(switch.name)
        names = {domain.name for domain in switch.domains}
        for port in carriers(switch.roce_ports):
            interface = port.interface
            if interface.domain not in names or not (interface.trust_dscp or interface.routed):
                yield from _trust(subject, port)
        for domain in switch.domains:
            queue = queue_of_dscp(domain, intent.roce_dscp)
            if queue != intent.queue:
                yield subject.finding(
                    switch.node,
                    f"domain {domain.name} puts RoCE (DSCP {intent.roce_dscp}) into queue {queue}; "
                    f"it must be queue {intent.queue}",
                    f"map DSCP {intent.roce_dscp} to queue {intent.queue} in the diffserv domain",
                    path=f"domains[{domain.name}].dscp[{intent.roce_dscp}]",
                )
        yield from _family_specific(subject, switch.node)


def _nic_defaults(subject: Subject) -> Iterator[Verdict]:
    """Priority that a NIC gives RoCE by default; of a switch's own profile, if it has another."""
    network = subject.network
    if network.lossless is None or _nics_known(subject):  # HST001 judges those that are
        return
    usual = network.lossless.roce_dscp, network.lossless.queue
    places: list[tuple[Node | None, LosslessIntent]] = [(None, network.lossless)]
    for name, intent in network.own_lossless.items():
        if (intent.roce_dscp, intent.queue) != usual:
            places.append((network.by_name.get(name), intent))
    for place, intent in places:
        priority = host_priority(intent.roce_dscp)
        if priority != intent.queue:
            yield subject.finding(
                place,
                f"a NIC gives DSCP {intent.roce_dscp} priority {priority} by default, so pauses of "
                f"priority {intent.queue} do not stop it",
                f"use a RoCE DSCP from {intent.queue * 8} to {intent.queue * 8 + 7}, "
                "or set dscp2prio on every NIC",
                path="lossless.roce_dscp",
            )


def _nics_known(subject: Subject) -> bool:
    """Whether every RoCE server names a NIC profile."""
    nics = [server.nic for server in subject.servers if server.roce]
    return bool(nics) and None not in nics


def _trust(subject: Subject, port: Port) -> Iterator[Verdict]:
    interface, device = port.interface, port.node.device
    if not interface.trust_dscp and not interface.layer3:
        yield subject.finding(
            port.end,
            "a switched port without «trust of DSCP»; RoCE packets are classed by 802.1p here, "
            "not by DSCP",
            "add «trust of DSCP» to the port",
            path="trust_dscp",
        )
    if interface.domain == NO_DOMAIN:
        yield subject.finding(
            port.end,
            "«domain of a port: none»: no priority is mapped here",
            "name the fabric's diffserv domain in «domain of a port»",
            path="domain",
        )
    elif device.domain_of(interface) is None:
        yield subject.finding(
            port.end,
            f"«domain of a port: {interface.domain}»: there is no such diffserv domain",
            f"define diffserv domain {interface.domain}, or name one that exists",
            path="domain",
        )


def _family_specific(subject: Subject, node: Node) -> Iterator[Verdict]:
    syntax, device = node.syntax, node.device
    family = node.family
    if family is None:
        return
    by_dot1p = family.dot1p_pfc and not device.pfc.dscp_mapping
    if by_dot1p and any(interface.pfc for interface in device.interfaces):
        yield subject.finding(
            node,
            f"PFC on {syntax} uses 802.1p until DSCP mapping is enabled, and RoCE has DSCP only",
            "add «PFC by DSCP on slot: 1»",
            path="pfc.dscp_mapping",
        )
    routed = any(i.routed and i.kind == "ethernet" for i in device.interfaces)
    if routed and family.routed_trust is None:
        yield subject.not_judged(
            node,
            f"whether a routed port on {syntax} trusts DSCP automatically is not confirmed",
            of_family(family, "services of ports", "whether a routed port trusts DSCP"),
        )


@rule(
    "QOS002",
    severity=Severity.ERROR,
    source=f"{MAPPING} (default domain: DSCP 32-39 and 802.1p 4 enter queue 4)",
    needs=(Need.LOSSLESS,),
    wants=(Need.LINKS, Need.SERVERS),
)
def nothing_else_in_its_queue(subject: Subject) -> Iterator[Verdict]:
    """No other DSCP and no 802.1p value enters the lossless queue.

    PFC pauses all other traffic in the queue together with RoCE, and this traffic fills the buffer
    of RoCE. The default map puts eight DSCP values and one 802.1p value into each queue. The
    fabric's domain must map all but the RoCE DSCP to other queues.

    Example: domain roce also puts 802.1p 4 into lossless queue 4
    Fix: Map them to another queue in the diffserv domain.
    """
    for switch in subject.switches:
        intent = subject.lossless_of(switch.name)
        for domain in switch.domains:
            name = domain.name
            queues = BY_DEFAULT | {d: PHB_QUEUE[row.phb] for d, row in domain.by_dscp.items()}
            others = [
                dscp
                for dscp, queue in queues.items()
                if queue == intent.queue
                and dscp not in (intent.roce_dscp, intent.cnp_dscp)  # CNP: QOS003
            ]
            values = [v for v in QUEUES if queue_of_dot1p(domain, v) == intent.queue]
            for what, numbers in (("DSCP", others), ("802.1p", values)):
                if numbers:
                    strays = f"{what} {', '.join(ranges(numbers))}"
                    yield subject.finding(
                        switch.node,
                        f"domain {name} also puts {strays} into lossless queue {intent.queue}",
                        f"map {strays} to another queue in the diffserv domain",
                        path=f"domains[{name}].{'dscp' if what == 'DSCP' else 'dot1p'}",
                    )


@rule(
    "QOS003",
    severity=Severity.ERROR,
    source=f"{MAPPING}; DCQCN, SIGCOMM 2015 (CNPs go in a priority of their own, never paused)",
    needs=(Need.LOSSLESS,),
    wants=(Need.LINKS, Need.SERVERS),
)
def cnp_never_paused(subject: Subject) -> Iterator[Verdict]:
    """Congestion notifications use a queue that is never paused.

    A congestion notification packet (CNP) slows a sender down. A CNP that waits behind the
    congestion that it reports, or for the end of a pause, arrives too late, and the pause spreads.

    Example: domain roce puts CNP (DSCP 48) into lossless queue 4
    Fix: Map the CNP DSCP to queue 6.
    """
    for switch in subject.switches:
        yield from _cnp_queue(subject, switch, subject.lossless_of(switch.name))


def _cnp_queue(
    subject: Subject, switch: LosslessSwitch, intent: LosslessIntent
) -> Iterator[Verdict]:
    for domain in switch.domains:
        name, queue = domain.name, queue_of_dscp(domain, intent.cnp_dscp)
        if queue == intent.queue:
            message = f"domain {name} puts CNP (DSCP {intent.cnp_dscp}) into lossless queue {queue}"
        elif queue in paused_queues(switch.node):
            message = (
                f"domain {name} puts CNP (DSCP {intent.cnp_dscp}) into queue {queue}, "
                "which PFC pauses"
            )
        else:
            continue
        yield subject.finding(
            switch.node,
            message,
            "map the CNP DSCP to queue 6 (cs6), and pause the lossless queue only",
            path=f"domains[{name}].dscp[{intent.cnp_dscp}]",
        )


@rule(
    "QOS004",
    severity=Severity.ERROR,
    source="«the vendor's reference», QoS, «queues by weight» and «queues by strict priority» "
    "(strict by default); "
    "DCQCN, SIGCOMM 2015 (CNPs go at high priority)",
    needs=(Need.LOSSLESS,),
    wants=(Need.LINKS, Need.SERVERS),
)
def scheduling(subject: Subject) -> Iterator[Verdict]:
    """CNPs are served first, and RoCE does not starve the rest.

    The CNP queue needs strict priority, so that a congestion notification never waits for data. A
    full lossless queue with strict priority starves the weighted queues, including storage and
    management traffic: give it a weight where any queue has one.

    Example: queue 6, which CNP uses, is served by weight; it must have strict priority
    Fix: Give the CNP queue strict priority, and the lossless queue a weight (lossless.scheduling).
    """
    for switch in subject.switches:
        yield from _weights(subject, switch, subject.lossless_of(switch.name))


def _weights(subject: Subject, switch: LosslessSwitch, intent: LosslessIntent) -> Iterator[Verdict]:
    cnps: dict[tuple[str | None, int | None], int | None] = {}
    for port in switch.roce_ports:
        interface = port.interface
        if not interface.drr:
            continue
        weights, kind = (
            [row.queue for row in interface.drr],
            (interface.domain, interface.eth_trunk),
        )
        if kind not in cnps:
            domain = switch.node.device.domain_of(interface)
            cnps[kind] = queue_of_dscp(domain, intent.cnp_dscp) if domain else None
        cnp = cnps[kind]
        if cnp in weights:
            yield subject.finding(
                port.end,
                f"queue {cnp}, which CNP uses, is served by weight; it must have strict priority",
                f"remove queue {cnp} from «queues by weight» (lossless.scheduling)",
                path=f"drr[{cnp}]",
            )
        if intent.queue not in weights:
            yield subject.finding(
                port.end,
                f"lossless queue {intent.queue} has strict priority over the weighted queues "
                f"{', '.join(ranges(weights))}, and can starve them",
                f"give queue {intent.queue} a weight (lossless.scheduling)",
                path="drr",
            )


AGREED = {
    "queue": "the lossless queue",
    "roce_dscp": "the DSCP of RoCE",
    "cnp_dscp": "the DSCP of CNP",
    "cnp_queue": "the queue of CNP",
}


@rule(
    "QOS005",
    severity=Severity.ERROR,
    source="IEEE 802.1Qbb (a pause names a priority, which both ends must have); "
    f"{MAPPING} («the map of DSCP»)",
    needs=(Need.LINKS, Need.LOSSLESS),
)
def equal_at_both_ends(subject: Subject) -> Iterator[Verdict]:
    """The lossless profiles of both ends of a cable name one queue.

    A switch, or all switches of a rack, can have a lossless profile of its own. Thresholds,
    headroom, ECN, weights and timers may differ from switch to switch. The lossless queue, its
    DSCP values and the queue of CNP may not: a pause of one end would name a priority that carries
    no RoCE at the other, and frames are lost.

    Example: the lossless queue is 3 here, and 4 at spine01 100GE1/0/1
    Fix: Give both lossless profiles the same queue, roce_dscp, cnp_dscp and cnp_queue.
    """
    own = subject.network.own_lossless
    for link in subject.links if own else ():
        near, far = (link.a, link.b) if link.a.device in own else (link.b, link.a)
        here, there = subject.lossless_of(near.device), subject.lossless_of(far.device)
        unlike = [key for key in AGREED if getattr(here, key) != getattr(there, key)]
        if unlike:
            pairs = [(AGREED[key], getattr(here, key), getattr(there, key)) for key in unlike]
            values = [f"{word} is {one} here, and {other}" for word, one, other in pairs]
            yield subject.finding(
                near,
                f"{values[0]} at {far}" + "".join(f"; {value} there" for value in values[1:]),
                f"give both lossless profiles the same {listing(unlike)}",
                path="pfc" if "queue" in unlike else "domain",
            )
