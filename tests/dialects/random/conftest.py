"""Random switches for tests of patches: every option drawn, so that changes meet each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any

import pytest
from hypothesis import strategies as st

from rocefort.models.access import LocalUser, Ssh, SshUser, TaskGroupGrant, UserGroup, Vty
from rocefort.models.bgp import (
    Bfd,
    Bgp,
    BgpGroup,
    BgpPeer,
    PolicyNode,
    PrefixEntry,
    PrefixList,
    RoutePolicy,
)
from rocefort.models.bond import Bond
from rocefort.models.breakout import PortSplit
from rocefort.models.device import Device
from rocefort.models.drop_profile import ColourLimits, DropProfile, Limits, QueueMarking
from rocefort.models.hardware import SyntaxFamily
from rocefort.models.interface import DrrQueue, Interface, InterfacePfc, PfcThreshold
from rocefort.models.lossless import (
    AiEcn,
    AiEcnQueue,
    DiffservDomain,
    DscpMap,
    Pfc,
    PfcProfile,
    PfcTimer,
)
from rocefort.models.management import (
    Acl,
    AclRule,
    Netconf,
    Snmp,
    SnmpGroup,
    SnmpUser,
    SnmpView,
    Syslog,
)
from rocefort.models.static import StaticRoute, Vrf
from rocefort.models.telemetry import (
    Collector,
    DestinationGroup,
    Sampling,
    SensorGroup,
    Subscription,
    Telemetry,
)
from rocefort.models.traffic import (
    Behavior,
    Binding,
    Classifier,
    FilterAcl,
    FilterRule,
    Filters,
    Ports,
    TrafficPolicy,
)

PREFIXES = [IPv4Network("10.0.0.11/32"), IPv4Network("10.65.0.0/16")]
WORDS = st.sampled_from(["to spine01", "to spine02", "server 7", "spare"])


def optional(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


@st.composite
def thresholds(draw: st.DrawFn, family: SyntaxFamily) -> tuple[PfcThreshold, ...]:
    headroom = optional(st.sampled_from([64, 128])) if family is SyntaxFamily.V300_G2 else st.none()
    return tuple(
        PfcThreshold(
            queue=queue,
            xoff_kbytes=draw(st.sampled_from([600, 700])),
            xon_kbytes=draw(st.sampled_from([500, 550])),
            headroom_kbytes=draw(headroom),
        )
        for queue in sorted(draw(st.sets(st.sampled_from([3, 4]))))
    )


LIMITS = {"percent": st.sampled_from([10, 30]), "unit": st.sampled_from(["bytes", "cells"])}


@st.composite
def drop_profiles(draw: st.DrawFn) -> tuple[DropProfile, ...]:
    limits = st.builds(Limits, low=st.just(7168), high=st.sampled_from([51200, 76800]), **LIMITS)
    green = st.builds(
        ColourLimits, colour=st.just("green"), low=st.just(512), high=st.just(1024), **LIMITS
    )
    return tuple(
        DropProfile(
            name=name,
            colours=tuple(draw(st.lists(green, max_size=1))),
            # a built-in profile that says nothing has no line
            ecn=draw(limits if name == "default" else optional(limits)),
        )
        for name in sorted(draw(st.sets(st.sampled_from(["default", "roce", "slow"]))))
    )


@st.composite
def markings(draw: st.DrawFn, profiles: tuple[DropProfile, ...]) -> tuple[QueueMarking, ...]:
    """What a switch takes: existing profiles, and ECN only beside one."""
    names = sorted({profile.name for profile in profiles} | {"default"})
    row = st.builds(
        QueueMarking, queue=st.just(4), profile=st.sampled_from(names), ecn=st.booleans()
    )
    rows = draw(st.lists(row, max_size=2))
    return tuple(one.model_copy(update={"queue": 3 + at}) for at, one in enumerate(rows))


@st.composite
def ports(
    draw: st.DrawFn, name: str, family: SyntaxFamily, vrfs: Sequence[str], *, bond: bool
) -> Interface:
    number = name[9]
    common: dict[str, Any] = {
        "name": name,
        "description": draw(optional(WORDS)),
        "enabled": draw(st.booleans()),
        "domain": draw(optional(st.just("roce"))),
        "pfc": draw(
            optional(
                st.builds(
                    InterfacePfc,
                    profile=st.sampled_from(["default", "nof"]),
                    mode=st.sampled_from(["manual", "auto"]),
                )
            )
        ),
        "thresholds": draw(thresholds(family)),
        "flow_control": draw(st.booleans()),
        "autonegotiation": draw(st.booleans()),
        "fec": draw(st.sampled_from([None, "none", "base-r", "rs"])),
        "drr": tuple(
            DrrQueue(queue=queue, weight=draw(st.sampled_from([1, 15, 65])))
            for queue in draw(st.sets(st.sampled_from([0, 1, 2, 4])))
        ),
    }
    kind = draw(st.sampled_from(["routed", "access", "trunk", "bare", *(["member"] * 2 * bond)]))
    if kind == "member":  # what a port has of layers 2 and 3 keeps it out
        common |= {"eth_trunk": 1, "domain": None}
    elif kind == "routed":
        hosts = draw(st.lists(st.integers(0, 3), max_size=2, unique=True))
        common |= {
            "routed": True,
            "mtu": draw(optional(st.sampled_from([9000, 9216]))),
            "vrf": draw(st.sampled_from([None, *vrfs])),
            "addresses": tuple(IPv4Interface(f"10.{number}.{host}.2/31") for host in hosts),
        }
    elif kind == "access":
        common |= {
            "link_type": "access",
            "access_vlan": draw(optional(st.sampled_from([10, 20]))),
            "edge": draw(st.booleans()),
            "trust_dscp": draw(st.booleans()),
        }
    elif kind == "trunk":
        vlans = draw(st.sets(st.sampled_from([10, 20, 30])))
        common |= {"link_type": "trunk", "trunk_vlans": tuple(vlans)}
    return Interface(**common)


SPLITS = st.builds(
    PortSplit, port=st.just("100GE1/0/3"), type=st.sampled_from(["4*25GE", "2*50GE"])
)
GRANTED = st.builds(
    UserGroup,
    name=st.sampled_from(["AUDIT", "OPERATE"]),
    grants=st.sets(
        st.builds(
            TaskGroupGrant,
            name=st.sampled_from(["ifm", "qos"]),
            rights=st.sampled_from([("read",), ("debug", "read")]),
        ),
        max_size=1,
    ).map(tuple),
)
RIGHTS_OF_A_USER: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {"level": 1}, {"level": 3}, {"group": "AUDIT"}]
)
TELEMETRY = st.just(Telemetry()) | st.builds(
    lambda name, port, interval: Telemetry(
        sensor_groups=(SensorGroup(name=name, paths=("huawei-ifm:ifm",)),),
        destination_groups=(
            DestinationGroup(
                name=name,
                collectors=(Collector(address=IPv4Address("10.255.0.9"), port=port),),
            ),
        ),
        subscriptions=(
            Subscription(
                name="ROCE",
                samplings=(Sampling(group=name, interval_ms=interval),),
                destinations=(name,),
            ),
        ),
    ),
    st.sampled_from(["QUEUES", "PORTS"]),
    st.sampled_from([57400, 57500]),
    optional(st.just(1000)),
)


@st.composite
def packet_filters(draw: st.DrawFn) -> Filters:
    rule = st.builds(
        FilterRule,
        index=st.sampled_from([5, 10]),
        action=st.sampled_from(["permit", "deny"]),
        protocol=st.just("udp"),
        source=optional(st.sampled_from(PREFIXES)),
        destination_ports=optional(st.just(Ports(low=4791, high=4791))),
    )
    rules = st.lists(rule, max_size=2, unique_by=lambda one: one.index).map(tuple)
    names = ("SERVERS", *draw(st.sets(st.just("3000"))))
    return Filters(
        acls=tuple(FilterAcl(name=name, rules=draw(rules)) for name in names),
        classifiers=(Classifier(name="SERVERS", acls=(draw(st.sampled_from(names)),)),),
        behaviors=(Behavior(name="ACT", deny=draw(st.booleans())),),
        policies=(
            TrafficPolicy(
                name=draw(st.sampled_from(["IN", "OUT"])),
                bindings=(Binding(classifier="SERVERS", behavior="ACT"),),
            ),
        ),
    )


@st.composite
def bonds(draw: st.DrawFn, policies: st.SearchStrategy[str | None]) -> Interface:
    """Eth-Trunk1, as it faces a server."""
    mode = draw(st.sampled_from(["manual load-balance", "lacp-static", "lacp-dynamic"]))
    slow = mode == "manual load-balance"
    return Interface(
        name="Eth-Trunk1",
        access_vlan=draw(optional(st.sampled_from([10, 20]))),
        edge=draw(st.booleans()),
        trust_dscp=draw(st.booleans()),
        domain=draw(optional(st.just("roce"))),
        filter_in=draw(policies),
        bond=Bond(
            mode=mode,
            lacp_timeout="slow" if slow else draw(st.sampled_from(["slow", "fast"])),
            minimum_links=draw(st.sampled_from([1, 2])),
        ),
    )


@st.composite
def bgps(draw: st.DrawFn) -> Bgp:
    spine_asn = draw(st.sampled_from([65001, 65002]))
    groups = draw(st.sets(st.sampled_from(["SPINE", "OTHER"])))
    settings = {
        "description": optional(WORDS),
        "bfd_enabled": st.booleans(),
        "bfd": optional(st.builds(Bfd, min_tx_ms=st.sampled_from([300, 500]))),
        "export_policy": optional(st.sampled_from(["EXPORT", "OTHER"])),
        "password": optional(st.sampled_from(["env:P", "env:P version 2", "encrypted"])),
    }

    def drawn() -> dict[str, Any]:
        times = draw(optional(st.sampled_from([(10, 30), (20, 60)]))) or (None, None)
        return {
            **{name: draw(values) for name, values in settings.items()},
            "keepalive_s": times[0],
            "hold_s": times[1],
        }

    peers = []
    for host in sorted(draw(st.sets(st.sampled_from([1, 3, 5])))):
        group = draw(optional(st.sampled_from(sorted(groups)))) if groups else None
        # a switch writes a member's AS number and enables it; others may be disabled
        asn = spine_asn if group else draw(st.sampled_from([65001, 65003]))
        active = True if group else draw(st.booleans())
        address = IPv4Address(f"10.1.1.{host}")
        peers.append(BgpPeer(address=address, asn=asn, group=group, active=active, **drawn()))
    return Bgp(
        asn=draw(st.sampled_from([65101, 65101, 65101, 65102])),
        router_id=draw(optional(st.just(IPv4Address("10.0.0.11")))),
        groups=tuple(
            BgpGroup(name=name, asn=spine_asn, active=draw(st.booleans()), **drawn())
            for name in groups
        ),
        peers=tuple(peers),
        networks=tuple(
            IPv4Network(f"10.65.{number}.0/24") for number in draw(st.sets(st.integers(1, 3)))
        ),
        maximum_paths=draw(st.sampled_from([1, 2, 32])),
        as_path_relax=draw(st.booleans()),
    )


@st.composite
def pfcs(draw: st.DrawFn, family: SyntaxFamily) -> Pfc:
    profiles = []
    for name in sorted(draw(st.sets(st.sampled_from(["default", "nof"])))):
        queues = draw(st.sets(st.sampled_from([3, 4, 5]), min_size=1))
        timed = draw(st.sets(st.sampled_from(sorted(queues)))) - {3}
        timers = (
            ()
            if family is SyntaxFamily.V300_G1
            else tuple(
                PfcTimer(queue=q, detect_time=draw(st.sampled_from([5, 8])), recovery_time=5)
                for q in timed
            )
        )
        profiles.append(PfcProfile(name=name, queues=tuple(queues), timers=timers))
    switch: dict[str, Any] = {}
    if family is SyntaxFamily.V300_G1:
        switch = {"detect_ms": draw(optional(st.sampled_from([10, 20])))}
    if family is SyntaxFamily.V300_G2:
        switch = {
            "interval_ms": draw(optional(st.sampled_from([100, 1000]))),
            "dscp_mapping": draw(st.booleans()),
            "headroom_pool_kbytes": draw(optional(st.sampled_from([2048, 4096]))),
        }
    return Pfc(profiles=tuple(profiles), **switch)


@st.composite
def devices(draw: st.DrawFn, family: SyntaxFamily) -> Device:
    def some(values: list[Any]) -> tuple[Any, ...]:
        return tuple(sorted(draw(st.sets(st.sampled_from(values)))))

    entries = st.builds(
        PrefixEntry, index=st.just(10), prefix=st.sampled_from(PREFIXES), less_equal=st.none()
    )
    node = st.builds(
        PolicyNode,
        node=st.just(10),
        action=st.sampled_from(["permit", "deny"]),
        match_prefix_list=optional(st.sampled_from(["LOCAL", "OTHER"])),
    )
    maps = tuple(
        DscpMap(value=value, phb=draw(st.sampled_from(["af3", "af4"]))) for value in some([26, 34])
    )
    drops = draw(drop_profiles())
    vrfs, servers = some(["MGMT", "OOB"]), some([5, 6])
    splits = tuple(draw(st.lists(SPLITS, max_size=1)))
    filters = draw(st.just(Filters()) | packet_filters())
    applied = st.sampled_from([None, *(policy.name for policy in filters.policies)])
    gateway = st.builds(
        Interface,
        name=st.just("Vlanif10"),
        addresses=st.integers(1, 2).map(lambda n: (IPv4Interface(f"10.65.{n}.1/24"),)),
        filter_in=applied,
        filter_out=applied,
    )
    gateways, trunks = (draw(st.lists(one, max_size=1)) for one in (gateway, bonds(applied)))
    return Device(
        name=draw(st.sampled_from(["leaf01", "leaf02"])),
        vlans=some([10, 20, 30]),
        lldp=draw(st.booleans()),
        bfd=draw(st.booleans()),
        domains=draw(st.sampled_from([(), (DiffservDomain(name="roce", dscp=maps),)])),
        pfc=draw(pfcs(family)),
        drop_profiles=drops,
        ecn_enabled=family is SyntaxFamily.V300_G1 and draw(st.booleans()),
        ai_ecn=AiEcn(
            enabled=draw(st.booleans()),
            queues=tuple(
                AiEcnQueue(queue=queue, model=draw(optional(st.just("ai_ecn_hpc"))))
                for queue in some([3, 4])
            ),
        ),
        splits=splits,
        interfaces=(
            *(
                draw(ports(name, family, vrfs, bond=bool(trunks))).model_copy(
                    update={"markings": draw(markings(drops))}
                )
                for name in ("100GE1/0/1", "100GE1/0/2", f"100GE1/0/3{':1' if splits else ''}")
            ),
            *trunks,
            *gateways,
        ),
        filters=filters,
        vrfs=tuple(Vrf(name=name, ipv4=draw(st.booleans())) for name in vrfs),
        static_routes=draw(static_routes(vrfs)),
        bgp=draw(optional(bgps())),
        prefix_lists=draw(
            st.lists(entries, max_size=1).map(
                lambda rows: (PrefixList(name="LOCAL", entries=tuple(rows)),) if rows else ()
            )
        ),
        route_policies=draw(
            st.lists(node, max_size=1).map(
                lambda rows: (RoutePolicy(name="EXPORT", nodes=tuple(rows)),) if rows else ()
            )
        ),
        ntp_vrf=draw(st.sampled_from([None, *vrfs])) if servers else None,
        ntp_servers=tuple(IPv4Address(f"10.255.0.{n}") for n in servers),
        user_groups=tuple(draw(st.sets(GRANTED, max_size=1))),
        users=tuple(
            LocalUser(name=name, service_types=("ssh",), **draw(RIGHTS_OF_A_USER))
            for name in some(["netops", "reader"])
        ),
        telemetry=draw(TELEMETRY),
        ssh=Ssh(
            stelnet=draw(st.booleans()),
            source_interface=draw(optional(st.sampled_from(["MEth0/0/0", "LoopBack0"]))),
            users=tuple(
                SshUser(name=name, authentication=draw(optional(st.just("password"))))
                for name in some(["netops", "reader"])
            ),
        ),
        vty=(
            Vty(
                first=0,
                last=4,
                authentication="aaa",
                protocol=draw(optional(st.just("ssh"))),
                acl=draw(optional(st.sampled_from([2000, 2001]))),
                idle_timeout_s=draw(optional(st.sampled_from([900, 905]))),
            ),
        ),
        **draw(management()),
    )


@st.composite
def static_routes(draw: st.DrawFn, vrfs: Sequence[str]) -> tuple[StaticRoute, ...]:
    keys = st.tuples(
        st.sampled_from(PREFIXES),
        optional(st.sampled_from([IPv4Address("10.1.0.2"), IPv4Address("10.2.0.2")])),
        st.sampled_from([None, *vrfs]),
    )
    return tuple(
        StaticRoute(
            prefix=prefix,
            next_hop=hop,
            vrf=vrf,
            preference=draw(optional(st.sampled_from([70, 80]))),
            description=draw(optional(WORDS)),
        )
        for prefix, hop, vrf in draw(st.sets(keys, max_size=3))
    )


@st.composite
def management(draw: st.DrawFn) -> dict[str, Any]:
    def some(values: list[Any]) -> tuple[Any, ...]:
        return tuple(sorted(draw(st.sets(st.sampled_from(values)))))

    view = optional(st.sampled_from(["all", "some"]))
    source = optional(st.sampled_from(PREFIXES))
    action = st.sampled_from(["permit", "deny"])
    return {
        "acls": tuple(
            Acl(
                number=number,
                rules=tuple(
                    AclRule(index=index, action=draw(action), source=draw(source))
                    for index in some([5, 10])
                ),
            )
            for number in some([2000, 2001])
        ),
        "netconf": Netconf(server=draw(st.booleans()), port_830=draw(st.booleans())),
        "syslog": Syslog(
            hosts=tuple(IPv4Address(f"10.255.0.{n}") for n in some([7, 8])),
            source_interface=draw(optional(st.sampled_from(["MEth0/0/0", "LoopBack0"]))),
        ),
        "snmp": Snmp(
            enabled=draw(st.booleans()),
            source_interface=draw(optional(st.sampled_from(["MEth0/0/0", "LoopBack0"]))),
            versions=some(["v2c", "v3"]),
            views=tuple(
                SnmpView(name=name, subtrees=draw(st.sampled_from([("iso",), ("iso", "system")])))
                for name in some(["all", "some"])
            ),
            groups=tuple(
                SnmpGroup(name=name, read_view=draw(view), notify_view=draw(view))
                for name in some(["monitoring", "other"])
            ),
            users=tuple(
                SnmpUser(name=name, group=draw(st.sampled_from(["monitoring", "other"])))
                for name in some(["monitor", "probe"])
            ),
        ),
    }


@pytest.fixture(scope="session")
def random_switches() -> Callable[[SyntaxFamily], st.SearchStrategy[Device]]:
    """Switches of a family, every option drawn: few names and values, so that two have much alike."""
    return devices
