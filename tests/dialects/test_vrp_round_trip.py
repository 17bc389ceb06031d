"""Law 1: what is rendered reads back as the same Device; saved text renders to itself."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from rocefort.dialects.vrp.parse import parse, sources_of
from rocefort.dialects.vrp.render import render
from rocefort.models.access import LocalUser, Ssh, SshUser, Vty
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
from rocefort.models.bond import MANUAL, Bond
from rocefort.models.breakout import PortSplit
from rocefort.models.device import Device
from rocefort.models.drop_profile import (
    NO_DROP_PROFILES,
    ColourLimits,
    DropProfile,
    Limits,
    QueueMarking,
    Unit,
)
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
from rocefort.models.network import Sources
from rocefort.models.qos import Colour, Phb

GOLDEN = Path(__file__).parents[1] / "golden" / "vrp"
FAMILIES = {"v200": "ce9860", "v300-g1": "ce8851", "v300-g2": "ce8855"}
V200, G1, G2 = SyntaxFamily.V200, SyntaxFamily.V300_G1, SyntaxFamily.V300_G2

QUEUES = st.integers(0, 7)
KBYTES = st.integers(1, 30720)
NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_.-]{0,12}", fullmatch=True).filter(
    lambda name: name not in ("none", "mode", "default")
)
DESCRIPTIONS = st.lists(st.text("#!/:-_.<>[]()*&%$+=,;@^~'\"aZ09", min_size=1), min_size=1).map(
    " ".join
)
ADDRESSES = st.integers(1, 2**32 - 2).map(IPv4Address)
PREFIXES = st.builds(
    lambda address, length: IPv4Network((address, length), strict=False),
    ADDRESSES,
    st.integers(0, 32),
)


def maybe(strategy: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return st.none() | strategy


def rows(strategy: SearchStrategy[Any], key: str, size: int = 3) -> SearchStrategy[Any]:
    return st.lists(strategy, max_size=size, unique_by=lambda row: getattr(row, key)).map(tuple)


def some(strategy: SearchStrategy[Any], key: str) -> SearchStrategy[Any]:
    return st.lists(strategy, min_size=1, max_size=3, unique_by=lambda row: getattr(row, key)).map(
        tuple
    )


def words() -> SearchStrategy[tuple[str, ...]]:
    return st.lists(NAMES, min_size=1, max_size=3, unique=True).map(tuple)


def timers(family: SyntaxFamily) -> SearchStrategy[Any]:
    time = st.integers(0, 31)
    one = maybe(time) if family is G2 else time
    timer = st.builds(PfcTimer, queue=QUEUES, detect_time=one, recovery_time=one)
    said = timer.filter(lambda t: t.detect_time is not None or t.recovery_time is not None)
    return st.just(()) if family is G1 else rows(said, "queue")


def pfcs(family: SyntaxFamily) -> SearchStrategy[Pfc]:
    profile = st.builds(
        PfcProfile,
        name=st.just("default") | NAMES,
        queues=st.lists(QUEUES, max_size=4, unique=True).map(tuple),
        timers=timers(family),
    )

    def on(setting: SearchStrategy[Any], *families: SyntaxFamily) -> SearchStrategy[Any]:
        return maybe(setting) if family in families else st.none()

    return st.builds(
        Pfc,
        profiles=rows(profile, "name", 2),
        detect_ms=on(st.integers(10, 1500), G1),
        recovery_ms=on(st.integers(10, 1500), G1),
        interval_ms=on(st.sampled_from([10, 100, 500, 1000]), G2),
        dscp_mapping=st.booleans() if family is G2 else st.just(value=False),
        headroom_pool_kbytes=on(KBYTES, G1, G2),
    )


@st.composite
def thresholds(draw: DrawFn, family: SyntaxFamily) -> PfcThreshold:
    xoff = draw(KBYTES)
    xon = draw(st.integers(0, xoff))
    headroom = draw(maybe(KBYTES)) if family is G2 else None
    return PfcThreshold(
        queue=draw(QUEUES), xoff_kbytes=xoff, xon_kbytes=xon, headroom_kbytes=headroom
    )


LIMITS: dict[str, Any] = {
    "low": st.integers(0, 34_078_720),
    "high": st.integers(0, 34_078_720),
    "percent": st.integers(1, 100),
    "unit": st.sampled_from(get_args(Unit)),
}
DROP_PROFILES = st.builds(
    DropProfile,
    name=st.just("default") | NAMES.filter(lambda name: name not in NO_DROP_PROFILES),
    colours=rows(
        st.builds(ColourLimits, colour=st.sampled_from(get_args(Colour)), **LIMITS), "colour"
    ),
    ecn=maybe(st.builds(Limits, **LIMITS)),
)
MARKINGS = st.builds(
    QueueMarking, queue=QUEUES, profile=NAMES | st.just("default"), ecn=st.booleans()
) | st.builds(QueueMarking, queue=QUEUES, ecn=st.just(value=True))

INTERFACE_NAMES = st.one_of(
    st.builds("{}GE{}/0/{}".format, st.sampled_from([25, 100, 400]), QUEUES, st.integers(1, 64)),
    st.builds("100GE1/0/{}:{}".format, st.integers(1, 64), st.integers(1, 4)),
    st.builds("Vlanif{}".format, st.integers(1, 4094)),
    st.builds("Eth-Trunk{}".format, st.integers(0, 511)),
    st.sampled_from(["MEth0/0/0", "LoopBack0", "LoopBack10", "NULL0"]),
)


LINKS = st.integers(1, 256)
BONDS = st.builds(Bond, mode=st.just(MANUAL), minimum_links=LINKS) | st.builds(
    Bond,
    mode=st.sampled_from(["lacp-static", "lacp-dynamic"]),
    lacp_timeout=st.sampled_from(["fast", "slow"]),
    minimum_links=LINKS,
)


@st.composite
def interfaces(draw: DrawFn, family: SyntaxFamily) -> Interface:
    plain = Interface(name=draw(INTERFACE_NAMES), routed=draw(st.booleans()))
    vlans = st.lists(st.integers(1, 4094), max_size=3, unique=True).map(tuple)
    address = st.builds(lambda a, n: IPv4Interface((a, n)), ADDRESSES, st.integers(0, 32))
    return Interface(
        name=plain.name,
        routed=plain.routed,
        description=draw(maybe(DESCRIPTIONS)),
        enabled=draw(st.booleans()),
        addresses=tuple(draw(st.lists(address, max_size=2, unique=True))),
        mtu=draw(maybe(st.integers(46, 9600))),
        link_type=draw(st.sampled_from(["access", "trunk"])),
        access_vlan=draw(maybe(st.integers(1, 4094))),
        trunk_vlans=draw(vlans),
        edge=draw(st.booleans()),
        autonegotiation=draw(st.booleans()),
        fec=draw(st.sampled_from([None, "none", "base-r", "rs"])),
        trust_dscp=draw(st.booleans()) and not plain.layer3,
        domain=draw(maybe(NAMES | st.just("default"))),
        eth_trunk=draw(maybe(st.integers(0, 511))) if plain.kind == "ethernet" else None,
        bond=draw(BONDS) if plain.kind == "eth-trunk" else Bond(),
        flow_control=draw(st.booleans()),
        drr=draw(rows(st.builds(DrrQueue, queue=QUEUES, weight=st.integers(1, 100)), "queue", 6)),
        markings=draw(rows(MARKINGS, "queue")),
        pfc=draw(
            maybe(
                st.builds(
                    InterfacePfc,
                    profile=NAMES | st.just("default"),
                    mode=st.sampled_from(["manual", "auto"]),
                )
            )
        ),
        thresholds=draw(rows(thresholds(family), "queue", 2)),
    )


BFDS = st.builds(
    Bfd,
    min_tx_ms=st.integers(3, 1000),
    min_rx_ms=st.integers(3, 1000),
    multiplier=st.integers(3, 50),
)


AUTHENTICATIONS = st.sampled_from(
    [
        {},
        {"keychain": "fabric"},
        *({"password": p} for p in ("env:P", "file:/run/key version 9", "encrypted", "readable")),
    ]
)


@st.composite
def bgp_settings(draw: DrawFn) -> dict[str, object]:
    timed = draw(st.booleans())
    seconds = st.integers(0, 65535)
    return {
        "description": draw(maybe(DESCRIPTIONS)),
        "bfd_enabled": draw(st.booleans()),
        "bfd": draw(maybe(BFDS)),
        "keepalive_s": draw(seconds) if timed else None,
        "hold_s": draw(seconds) if timed else None,
        **draw(AUTHENTICATIONS),
        "active": draw(st.booleans()),
        "import_policy": draw(maybe(NAMES)),
        "export_policy": draw(maybe(NAMES)),
    }


ASNS = st.integers(1, 2**32 - 1)


@st.composite
def groups(draw: DrawFn) -> BgpGroup:
    return BgpGroup(
        name=draw(NAMES),
        external=draw(st.booleans()),
        asn=draw(maybe(ASNS)),
        **draw(bgp_settings()),
    )


@st.composite
def peers(draw: DrawFn) -> BgpPeer:
    group = draw(maybe(NAMES))
    asn = draw(maybe(ASNS) if group else ASNS)
    return BgpPeer(address=draw(ADDRESSES), group=group, asn=asn, **draw(bgp_settings()))


def bgps() -> SearchStrategy[Bgp]:
    return st.builds(
        Bgp,
        asn=ASNS,
        router_id=maybe(ADDRESSES),
        groups=rows(groups(), "name", 2),
        peers=rows(peers(), "address"),
        networks=st.lists(PREFIXES, max_size=3, unique=True).map(tuple),
        maximum_paths=st.integers(1, 128),
        as_path_relax=st.booleans(),
    )


ACTIONS = st.sampled_from(["permit", "deny"])
LENGTHS = maybe(st.integers(0, 32))
ENTRIES = st.builds(
    PrefixEntry,
    index=st.integers(1, 65535),
    action=ACTIONS,
    prefix=PREFIXES,
    greater_equal=LENGTHS,
    less_equal=LENGTHS,
)
NODES = st.builds(
    PolicyNode, node=st.integers(0, 65535), action=ACTIONS, match_prefix_list=maybe(NAMES)
)
MAPS = st.builds(
    DscpMap,
    value=st.integers(0, 7),
    phb=st.sampled_from(get_args(Phb)),
    colour=st.sampled_from(get_args(Colour)),
)
USERS = st.builds(
    LocalUser, name=NAMES, service_types=words(), level=maybe(st.integers(0, 3))
) | st.builds(LocalUser, name=NAMES, level=st.integers(0, 3))
SSH_USERS = st.builds(
    SshUser, name=NAMES, authentication=maybe(NAMES), service_types=words() | st.just(())
)
VTYS = st.builds(
    Vty,
    first=st.integers(0, 20),
    last=st.integers(0, 20),
    authentication=maybe(NAMES),
    protocol=maybe(NAMES),
    acl=maybe(st.integers(2000, 2999)),
    idle_timeout_s=maybe(st.integers(0, 35791 * 60 + 59)),
)
ACLS = st.builds(
    Acl,
    number=st.integers(2000, 2999),
    rules=rows(
        st.builds(
            AclRule, index=st.integers(0, 4294967294), action=ACTIONS, source=maybe(PREFIXES)
        ),
        "index",
    ),
)
SNMPS = st.builds(
    Snmp,
    enabled=st.booleans(),
    versions=st.sets(st.sampled_from(["v1", "v2c", "v3"])).map(tuple),
    views=rows(st.builds(SnmpView, name=NAMES, subtrees=words()), "name", 2),
    groups=rows(
        st.builds(
            SnmpGroup,
            name=NAMES,
            read_view=maybe(NAMES),
            write_view=maybe(NAMES),
            notify_view=maybe(NAMES),
        ),
        "name",
        2,
    ),
    users=rows(st.builds(SnmpUser, name=NAMES, group=NAMES), "name", 2),
)


SPLITS = st.builds(
    PortSplit,
    port=st.builds("{}GE1/0/{}".format, st.sampled_from([100, 200, 400]), st.integers(1, 64)),
    type=st.sampled_from(["4*25GE", "2*50GE", "2*100GE", "4*50GE", "4*100GE", "2*200GE"]),
)


@st.composite
def devices(draw: DrawFn, family: SyntaxFamily) -> Device:
    """Any Device that the family can say."""
    return Device(
        name=draw(NAMES),
        splits=draw(rows(SPLITS, "port")),
        vlans=draw(st.lists(st.integers(1, 4094), max_size=4, unique=True).map(tuple)),
        lldp=draw(st.booleans()),
        bfd=draw(st.booleans()),
        domains=draw(
            rows(
                st.builds(
                    DiffservDomain,
                    name=NAMES | st.just("default"),
                    dscp=rows(MAPS, "value"),
                    dot1p=rows(MAPS, "value"),
                ),
                "name",
                2,
            )
        ),
        pfc=draw(pfcs(family)),
        drop_profiles=draw(rows(DROP_PROFILES, "name")),
        ecn_enabled=family is G1 and draw(st.booleans()),
        ai_ecn=draw(
            st.builds(
                AiEcn,
                enabled=st.booleans(),
                queues=rows(st.builds(AiEcnQueue, queue=QUEUES, model=maybe(NAMES)), "queue", 2),
            )
        ),
        interfaces=draw(rows(interfaces(family), "name", 4)),
        bgp=draw(maybe(bgps())),
        prefix_lists=draw(
            rows(st.builds(PrefixList, name=NAMES, entries=some(ENTRIES, "index")), "name", 2)
        ),
        route_policies=draw(
            rows(st.builds(RoutePolicy, name=NAMES, nodes=some(NODES, "node")), "name", 2)
        ),
        ntp_servers=draw(st.lists(ADDRESSES, max_size=2, unique=True).map(tuple)),
        users=draw(rows(USERS, "name", 2)),
        ssh=draw(
            st.builds(
                Ssh,
                stelnet=st.booleans(),
                source_interface=maybe(INTERFACE_NAMES),
                users=rows(SSH_USERS, "name", 2),
            )
        ),
        vty=draw(rows(VTYS, "first", 2)),
        acls=draw(rows(ACLS, "number", 2)),
        netconf=draw(st.builds(Netconf, server=st.booleans(), port_830=st.booleans())),
        syslog=draw(
            st.builds(
                Syslog,
                hosts=st.lists(ADDRESSES, max_size=2, unique=True).map(tuple),
                source_interface=maybe(INTERFACE_NAMES),
            )
        ),
        snmp=draw(SNMPS),
    )


@pytest.mark.parametrize("family", SyntaxFamily)
def test_what_is_rendered_reads_back(family: SyntaxFamily) -> None:
    """parse(render(d)) == d, everything understood, every path of a line inside the text."""

    @settings(max_examples=60, deadline=None)
    @given(devices(family))
    def law(device: Device) -> None:
        text = render(device, family, FAMILIES[family.value])
        parsed = parse(text, "a.cfg")
        assert parsed.device == device
        assert parsed.unmodelled == ()
        assert render(parsed.device, family, FAMILIES[family.value]) == text
        assert set(parsed.lines.values()) <= set(range(1, text.count("\n") + 1))

    law()


@pytest.mark.parametrize("family", SyntaxFamily)
@pytest.mark.parametrize("way", [str, lambda text: text.replace("\n", "\r\n")])
def test_saved_text_renders_to_itself(family: SyntaxFamily, way: Callable[[str], str]) -> None:
    text = (GOLDEN / f"{family.value}.cfg").read_text()
    parsed = parse(way(text), "a.cfg")
    assert parsed.unmodelled == ()
    assert render(parsed.device, family, FAMILIES[family.value]) == text


@pytest.mark.parametrize("family", SyntaxFamily)
def test_every_value_of_a_saved_text_has_its_line(family: SyntaxFamily) -> None:
    """The line found for a path holds the value's own words."""
    text = (GOLDEN / f"{family.value}.cfg").read_text()
    parsed = parse(text, "a.cfg")
    sources, lines = Sources(sources_of(parsed, "a.cfg")), text.splitlines()
    for interface in parsed.device.interfaces:
        for name, words_of in (("mtu", "mtu"), ("description", "description"), ("", "interface")):
            value = getattr(interface, name) if name else interface.name
            if value is None:
                continue
            path = f"interfaces[{interface.name}]" + (f".{name}" if name else "")
            position = sources.find(parsed.device.name, path)
            assert position is not None
            assert lines[position.line - 1].strip() == f"{words_of} {value}"
