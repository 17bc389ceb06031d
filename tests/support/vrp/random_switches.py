"""Random switches for the laws of VRP text; this module draws every field of a Device.

For laws of patches, values come from small sets. So two switches have much in common, most references
exist, and a switch accepts all lines. For law 1, values are any that a line can contain.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from hypothesis import strategies as st
from random_ports import References, domains, drop_profiles, interfaces, pfc, splits
from random_values import (
    ADDRESSES,
    ASNS,
    DESCRIPTIONS,
    FEW_PREFIXES,
    FEW_SOURCES,
    FEW_WORDS,
    FILTER_NAMES,
    FILTER_PORTS,
    G1,
    INTERFACE_NAMES,
    KBYTES,
    LENGTHS,
    NAMES,
    PREFIXES,
    QUEUES,
    V200,
    VLANS,
    Pool,
)

from rocefort.models.device.device import Device
from rocefort.models.device.lossless_queue import AiEcn, AiEcnQueue
from rocefort.models.device.management import (
    Acl,
    AclRule,
    Collector,
    DestinationGroup,
    LocalUser,
    Netconf,
    Sampling,
    SensorGroup,
    Snmp,
    SnmpGroup,
    SnmpUser,
    SnmpView,
    Ssh,
    SshUser,
    Subscription,
    Syslog,
    TaskGroupGrant,
    Telemetry,
    UserGroup,
    Vty,
)
from rocefort.models.device.packet_filters import (
    Behavior,
    Classifier,
    ClassifierBinding,
    FilterAcl,
    FilterRule,
    Filters,
    PortRange,
    TrafficPolicy,
)
from rocefort.models.device.routing import (
    Bfd,
    Bgp,
    BgpGroup,
    BgpPeer,
    PolicyNode,
    PrefixEntry,
    PrefixList,
    RoutePolicy,
    StaticRoute,
    Vrf,
)
from rocefort.models.hardware.hardware import SyntaxFamily


@st.composite
def switches(draw: st.DrawFn, family: SyntaxFamily, *, wide: bool = False) -> Device:
    """Draw a switch of a family, from few values or from any that its text can contain."""
    pool = Pool(draw, family, wide)
    split = splits(pool)
    vrfs = pool.some(["MGMT", "OOB"], NAMES, 2)
    drops = drop_profiles(pool)
    filters = _filters(pool) if pool.flag() else Filters()
    return Device(
        name=pool.one(["leaf01", "leaf02"], NAMES),
        splits=split,
        vlans=tuple(pool.some([10, 20, 30], VLANS, 4)),
        telnet_off=tuple(pool.some(["ipv4", "ipv6"], st.sampled_from(["ipv4", "ipv6"]))),
        lldp=pool.flag(),
        bfd=pool.flag(),
        domains=domains(pool),
        pfc=pfc(pool),
        drop_profiles=drops,
        ecn_enabled=family is G1 and pool.flag(),
        ai_ecn=AiEcn(
            enabled=pool.flag(),
            queues=tuple(
                AiEcnQueue(queue=queue, model=pool.maybe(["ai_ecn_hpc"], NAMES))
                for queue in pool.some([3, 4], QUEUES, 2)
            ),
        ),
        vrfs=tuple(Vrf(name=name, ipv4=pool.flag()) for name in vrfs),
        interfaces=interfaces(pool, References(split, vrfs, drops, filters)),
        bgp=_bgp(pool) if pool.flag() else None,
        static_routes=_static_routes(pool, vrfs),
        filters=filters,
        telemetry=_telemetry(pool) if pool.flag() else Telemetry(),
        **_policies(pool),
        **_access(pool),
        **_services(pool, vrfs),
    )


# -- routing -----------------------------------------------------------------------------------------


def _bgp(pool: Pool) -> Bgp:
    spine_asn = pool.one([65001, 65002], ASNS)
    groups = pool.some(["SPINE", "OTHER"], NAMES, 2)
    peers = []
    for address in pool.some([IPv4Address(f"10.1.1.{n}") for n in (1, 3, 5)], ADDRESSES):
        group = pool.maybe(groups, NAMES)
        # a switch writes a member's AS number and enables it; others may be disabled
        asn = spine_asn if group else pool.one([65001, 65003], ASNS)
        if pool.wide and group:
            asn = pool.maybe([], ASNS)
        active = True if group and not pool.wide else pool.flag()
        row = _bgp_settings(pool) | {"active": active}
        peers.append(BgpPeer(address=address, asn=asn, group=group, **row))
    networks = [IPv4Network(f"10.65.{number}.0/24") for number in (1, 2, 3)]
    return Bgp(
        asn=pool.one([65101, 65101, 65101, 65102], ASNS),
        router_id=pool.maybe([IPv4Address("10.0.0.11")], ADDRESSES),
        groups=tuple(
            BgpGroup(
                name=name,
                external=pool.flag() if pool.wide else True,
                asn=pool.maybe([], ASNS) if pool.wide else spine_asn,
                active=pool.flag(),
                **_bgp_settings(pool),
            )
            for name in groups
        ),
        peers=tuple(peers),
        networks=tuple(pool.some(networks, PREFIXES)),
        maximum_paths=pool.one([1, 2, 32], st.integers(1, 128)),
        as_path_relax=pool.flag(),
        private_4_byte_as=pool.family is V200 or pool.flag(),
    )


def _bgp_settings(pool: Pool) -> dict[str, Any]:
    seconds, packets = st.integers(3, 1000), st.integers(3, 50)
    bfd = Bfd(
        min_tx_ms=pool.one([300, 500], seconds),
        min_rx_ms=pool.one([1000], seconds),
        multiplier=pool.one([3], packets),
    )
    timer = st.integers(0, 65535)
    times = pool.maybe([(10, 30), (20, 60)], st.tuples(timer, timer)) or (None, None)
    source = pool.maybe(["LoopBack0", "100GE1/0/1"], INTERFACE_NAMES)
    passwords = ["env:P", "env:P version 2", "encrypted"]
    passwords_or_texts = st.sampled_from([*passwords, "file:/run/key version 9", "readable"])
    password = pool.maybe(passwords, passwords_or_texts)
    return {
        "description": pool.maybe(FEW_WORDS, DESCRIPTIONS),
        "source_interface": source,
        "source_address": pool.maybe([IPv4Address("10.0.0.11")], ADDRESSES) if source else None,
        "bfd_enabled": pool.flag(),
        "bfd": bfd if pool.flag() else None,
        "keepalive_s": times[0],
        "hold_s": times[1],
        "password": password,
        "keychain": pool.maybe([], NAMES) if password is None else None,
        "import_policy": pool.maybe([], NAMES),
        "export_policy": pool.maybe(["EXPORT", "OTHER"], NAMES),
    }


def _policies(pool: Pool) -> dict[str, Any]:
    """Draw prefix lists and route-policies."""
    return {
        "prefix_lists": tuple(
            PrefixList(
                name=name,
                entries=tuple(
                    PrefixEntry(
                        index=index,
                        action=_action(pool) if pool.wide else "permit",
                        prefix=pool.one(FEW_PREFIXES, PREFIXES),
                        greater_equal=pool.maybe([], LENGTHS),
                        less_equal=pool.maybe([], LENGTHS),
                    )
                    for index in pool.some([10], st.integers(1, 65535), least=1)
                ),
            )
            for name in pool.some(["LOCAL"], NAMES, 2)
        ),
        "route_policies": tuple(
            RoutePolicy(
                name=name,
                nodes=tuple(
                    PolicyNode(
                        node=node,
                        action=_action(pool),
                        match_prefix_list=pool.maybe(["LOCAL", "OTHER"], NAMES),
                    )
                    for node in pool.some([10], st.integers(0, 65535), least=1)
                ),
            )
            for name in pool.some(["EXPORT"], NAMES, 2)
        ),
    }


def _action(pool: Pool) -> Any:
    return pool.draw(st.sampled_from(["permit", "deny"]))


def _static_routes(pool: Pool, vrfs: Sequence[str]) -> tuple[StaticRoute, ...]:
    hops = [IPv4Address("10.1.0.2"), IPv4Address("10.2.0.2")]
    keys = {
        (
            pool.one(FEW_PREFIXES, PREFIXES),
            pool.maybe(hops, ADDRESSES),
            pool.maybe(vrfs, NAMES),
        )
        for _ in range(pool.draw(st.integers(0, 3)))
    }
    return tuple(
        StaticRoute(
            prefix=prefix,
            next_hop=hop,
            vrf=vrf,
            preference=pool.maybe([70, 80], st.integers(1, 255).filter(lambda n: n != 60)),
            description=pool.maybe(FEW_WORDS, DESCRIPTIONS),
        )
        for prefix, hop, vrf in keys
    )


# -- access, filters and reports ----------------------------------------------------------------------


def _filters(pool: Pool) -> Filters:
    """Draw ACLs; one is in a traffic policy."""
    acls = ["SERVERS", *pool.some(["3000"], FILTER_NAMES)]
    binding = ClassifierBinding(
        classifier="SERVERS", behavior="ACT", precedence=pool.maybe([], KBYTES)
    )
    return Filters(
        acls=tuple(
            FilterAcl(
                name=name,
                rules=tuple(_rule(pool, i) for i in pool.some([5, 10], st.integers(0, 2**32 - 2))),
            )
            for name in dict.fromkeys(acls)
        ),
        classifiers=(Classifier(name="SERVERS", acls=(pool.draw(st.sampled_from(acls)),)),),
        behaviors=(Behavior(name="ACT", deny=pool.flag()),),
        policies=(TrafficPolicy(name=pool.one(["IN", "OUT"], NAMES), bindings=(binding,)),),
    )


def _rule(pool: Pool, index: int) -> FilterRule:
    protocol = pool.one(["udp"], st.sampled_from(["ip", "tcp", "udp", "icmp"]))
    ported = protocol in ("tcp", "udp")
    few = [PortRange(low=4791, high=4791)]
    prefixes = PREFIXES.filter(lambda prefix: prefix.prefixlen > 0)  # that of all is `any`: None
    return FilterRule(
        index=index,
        action=_action(pool),
        protocol=protocol,
        source=pool.maybe(FEW_PREFIXES, prefixes),
        source_ports=pool.maybe([], FILTER_PORTS) if ported else None,
        destination=pool.maybe([], prefixes),
        destination_ports=pool.maybe(few, FILTER_PORTS) if ported else None,
        dscp=pool.maybe([], st.integers(0, 63)),
    )


def _access(pool: Pool) -> dict[str, Any]:
    """Draw users, SSH and ACLs."""
    groups = pool.some(["AUDIT", "OPERATE"], NAMES, 1)
    return {
        "user_groups": tuple(UserGroup(name=n, grants=_grants(pool)) for n in groups),
        "users": tuple(
            LocalUser(name=name, **_user(pool))
            for name in pool.some(["netops", "reader"], NAMES, 2)
        ),
        "ssh": Ssh(
            stelnet=pool.flag(),
            source_interface=pool.maybe(FEW_SOURCES, INTERFACE_NAMES),
            users=tuple(
                SshUser(
                    name=name,
                    authentication=pool.maybe(["password"], NAMES),
                    service_types=tuple(pool.some([], NAMES)) if pool.wide else (),
                )
                for name in pool.some(["netops", "reader"], NAMES, 2)
            ),
        ),
        "vty": tuple(
            Vty(
                first=first,
                last=pool.one([4], st.integers(0, 20)),
                authentication=pool.maybe([], NAMES) if pool.wide else "aaa",
                protocol=pool.maybe(["ssh"], NAMES),
                acl=pool.maybe([2000, 2001], st.integers(2000, 2999)),
                idle_timeout_s=pool.maybe([900, 905], st.integers(0, 35791 * 60 + 59)),
            )
            for first in pool.some([0], st.integers(0, 20), 2, least=0 if pool.wide else 1)
        ),
        "acls": tuple(
            Acl(
                number=number,
                rules=tuple(
                    AclRule(
                        index=index,
                        action=_action(pool),
                        source=pool.maybe(FEW_PREFIXES, PREFIXES),
                    )
                    for index in pool.some([5, 10], st.integers(0, 4294967294))
                ),
            )
            for number in pool.some([2000, 2001], st.integers(2000, 2999), 2)
        ),
    }


def _grants(pool: Pool) -> tuple[TaskGroupGrant, ...]:
    rights = st.sampled_from([("read",), ("debug", "read"), ("debug", "read", "read-write")])
    return tuple(
        TaskGroupGrant(name=name, rights=pool.one([("read",), ("debug", "read")], rights))
        for name in pool.some(["ifm", "qos"], NAMES)
    )


def _user(pool: Pool) -> dict[str, Any]:
    """Draw a user with a level or a group; without a level its line names a service."""
    rights = pool.one(
        [{}, {"level": 1}, {"level": 3}, {"group": "AUDIT"}],
        st.just({})
        | st.fixed_dictionaries({"level": st.integers(0, 3)})
        | st.fixed_dictionaries({"group": NAMES}),
    )
    least = 0 if "level" in rights else 1
    services = pool.some([], NAMES, least=least) if pool.wide else ["ssh"]
    return {**rights, "service_types": tuple(services)}


def _services(pool: Pool, vrfs: Sequence[str]) -> dict[str, Any]:
    servers = pool.some([IPv4Address(f"10.255.0.{n}") for n in (5, 6)], ADDRESSES, 2)
    hosts = pool.some([IPv4Address(f"10.255.0.{n}") for n in (7, 8)], ADDRESSES, 2)
    return {
        "ntp_servers": tuple(servers),
        "ntp_vrf": pool.maybe(vrfs, NAMES) if servers else None,
        "ntp_source": pool.maybe(FEW_SOURCES, INTERFACE_NAMES) if servers else None,
        "netconf": Netconf(server=pool.flag(), port_830=pool.flag()),
        "syslog": Syslog(
            hosts=tuple(hosts),
            vrf=pool.maybe([], NAMES) if hosts else None,
            source_interface=pool.maybe(FEW_SOURCES, INTERFACE_NAMES),
        ),
        "snmp": _snmp(pool),
    }


def _snmp(pool: Pool) -> Snmp:
    def view() -> Any:
        return pool.maybe(["all", "some"], NAMES)

    trees = [("iso",), ("iso", "system")]
    versions = st.sampled_from(["v1", "v2c", "v3"])
    return Snmp(
        enabled=pool.flag(),
        source_interface=pool.maybe(FEW_SOURCES, INTERFACE_NAMES),
        versions=tuple(pool.some(["v1", "v2c", "v3"], versions)),
        views=tuple(
            SnmpView(name=name, subtrees=pool.one(trees, st.tuples(NAMES)))
            for name in pool.some(["all", "some"], NAMES, 2)
        ),
        groups=tuple(
            SnmpGroup(
                name=name,
                read_view=view(),
                write_view=pool.maybe([], NAMES),
                notify_view=view(),
            )
            for name in pool.some(["monitoring", "other"], NAMES, 2)
        ),
        users=tuple(
            SnmpUser(name=name, group=pool.one(["monitoring", "other"], NAMES))
            for name in pool.some(["monitor", "probe"], NAMES, 2)
        ),
    )


def _telemetry(pool: Pool) -> Telemetry:
    """Draw one subscription, with its groups."""
    name = pool.one(["QUEUES", "PORTS"], NAMES)
    protocol = pool.maybe([], st.sampled_from(["grpc", "udp"]))
    collector = Collector(
        address=pool.one([IPv4Address("10.255.0.9")], ADDRESSES),
        port=pool.one([57400, 57500], st.integers(1, 65535)),
        vrf=pool.maybe([], NAMES),
        protocol=protocol,
        tls=pool.flag() if protocol == "grpc" else True,
    )
    paths = tuple(pool.some([], NAMES)) if pool.wide else ("huawei-ifm:ifm",)
    sampling = Sampling(group=name, interval_ms=pool.maybe([1000], KBYTES))
    subscription = Subscription(
        name=pool.one(["ROCE"], NAMES),
        source_interface=pool.maybe([], INTERFACE_NAMES),
        samplings=(sampling,),
        destinations=(name,),
    )
    return Telemetry(
        sensor_groups=(SensorGroup(name=name, paths=paths),),
        destination_groups=(DestinationGroup(name=name, collectors=(collector,)),),
        subscriptions=(subscription,),
    )
