"""Patches: what a switch is told, judged by an interpreter that did not make it (law 4)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.dialects.vrp.interpret import View, apply_line, apply_lines, canonical
from rocefort.dialects.vrp.parse import parse
from rocefort.dialects.vrp.patch import Patch, make_patch
from rocefort.dialects.vrp.render import render
from rocefort.dialects.vrp.tree import parse_tree, tree_text
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
from rocefort.models.device import Device
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

CASES = Path(__file__).parent / "patches"

MeaningOf = Callable[[str, Sequence[str], SyntaxFamily], frozenset[tuple[str, ...]]]


class Case(NamedTuple):
    """One hand-written change."""

    name: str
    family: SyntaxFamily
    before: str
    after: str
    patch: str
    back: str


def load(name: str) -> list[Case]:
    rows = yaml.safe_load((CASES / name).read_text(encoding="utf-8"))
    return [Case(**{**row, "family": SyntaxFamily(row["family"])}) for row in rows]


ALL = [*load("lossless.yaml"), *load("fabric.yaml")]
BY_NAME = {case.name: case for case in ALL}


def patch_of(name: str) -> Patch:
    case = BY_NAME[name]
    return make_patch(case.before, case.after, case.family)


def position(patch: Patch, command: str) -> int:
    return [line.strip() for line in patch.commands].index(command)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_a_switch_is_told_these_lines(case: Case) -> None:
    patch = make_patch(case.before, case.after, case.family)
    assert "\n".join(patch.commands) == case.patch.strip()
    assert "\n".join(patch.reverse) == case.back.strip()


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_running_and_patch_make_intended_and_the_way_back_restores_running(
    case: Case, meaning: MeaningOf
) -> None:
    patch = make_patch(case.before, case.after, case.family)
    before, after = (meaning(text, (), case.family) for text in (case.before, case.after))
    assert before != after
    assert meaning(case.before, patch.commands, case.family) == after
    assert meaning(case.after, patch.reverse, case.family) == before


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_no_line_is_undone_only_to_be_set_again(case: Case) -> None:
    commands = make_patch(case.before, case.after, case.family).commands
    undone = {line.strip().removeprefix("undo ") for line in commands if "undo " in line}
    said = {line.strip() for line in commands if "undo " not in line}
    assert not undone & said


@pytest.mark.parametrize("family", list(SyntaxFamily))
def test_equal_texts_need_no_command(family: SyntaxFamily) -> None:
    text = BY_NAME["spine added to a leaf"].after
    assert make_patch(text, f"#\n{text}#\nreturn\n", family) == Patch((), ())


POOL = "qos buffer headroom-pool size {} slot 1"
PAIR = "interface 100GE1/0/1\n dcb pfc buffer 4 xon static {} xoff static {}"
OFFSET = "interface 100GE1/0/1\n dcb pfc buffer 4 xoff static {} xon offset {}"


@pytest.mark.parametrize(
    ("family", "saved", "rendered"),
    [
        (SyntaxFamily.V300_G2, POOL.format("4 mbytes"), POOL.format("4096 kbytes")),
        (
            SyntaxFamily.V300_G1,
            PAIR.format("1 mbytes", "2 mbytes"),
            PAIR.format("1024 kbytes", "2048 kbytes"),
        ),
        (
            SyntaxFamily.V300_G2,
            OFFSET.format("2 mbytes", "50 kbytes"),
            OFFSET.format("2048 kbytes", "50 kbytes"),
        ),
    ],
)
def test_a_size_in_mbytes_is_not_said_again_in_kbytes(
    family: SyntaxFamily, saved: str, rendered: str
) -> None:
    head = "sysname leaf01\nntp unicast-server 10.255.0.{}\n"
    running, intended = f"{head.format(5)}{saved}\n", f"{head.format(6)}{rendered}\n"
    assert make_patch(saved, rendered, family) == Patch((), ())
    patch = make_patch(running, intended, family)
    clocks = {f"{undo}ntp unicast-server 10.255.0.{n}" for undo in ("", "undo ") for n in (5, 6)}
    assert {*patch.commands, *patch.reverse} == clocks
    config = apply_lines(canonical(parse_tree(running), family), patch.commands, family)
    assert parse(tree_text(config), "a").device == parse(intended, "b").device


def test_a_size_in_mbytes_is_undone_as_it_was_saved() -> None:
    old, new = POOL.format("4 mbytes"), POOL.format("5 mbytes")
    family = SyntaxFamily.V300_G2
    assert make_patch(old, new, family) == Patch((new,), (old,))
    assert make_patch(old, "sysname a", family).commands == ("sysname a", f"undo {old}")


def test_a_description_may_name_a_size() -> None:
    texts = [f"interface 100GE1/0/1\n description {size}" for size in ("4 mbytes", "4096 kbytes")]
    patch = make_patch(texts[0], texts[1], SyntaxFamily.V300_G2)
    assert patch.commands == ("interface 100GE1/0/1", " description 4096 kbytes", " quit")


def test_a_queue_is_paused_before_traffic_enters_it_and_until_traffic_has_left() -> None:
    patch = patch_of("PFC queue 3 to 4 while ports use it")
    order = [
        "dcb pfc buffer 4 xon static 550 kbytes xoff static 600 kbytes",
        "priority 4",
        "assign queue 4 model ai_ecn_hpc",
        "ip-dscp-inbound 34 phb af4 green",
        "undo assign queue 3",
        "undo priority 3",
    ]
    places = [position(patch, line) for line in order]
    assert places == sorted(places)


def test_a_port_gets_pfc_when_thresholds_stand_and_queue_3_is_off() -> None:
    patch = patch_of("PFC switched on for the first time")
    enabled = position(patch, "dcb pfc enable mode manual")
    assert position(patch, "undo priority 3") < enabled
    assert (
        position(patch, "dcb pfc buffer 4 xon static 550 kbytes xoff static 600 kbytes") < enabled
    )
    assert enabled < position(patch, "dcb pfc deadlock-detect timer 10")


def test_pfc_leaves_a_port_after_its_traffic_and_before_its_thresholds() -> None:
    patch = patch_of("PFC leaves a port")
    order = [
        "undo trust upstream",
        "undo dcb pfc enable",
        "undo dcb pfc buffer 4 xon static 550 kbytes xoff static 600 kbytes",
        "priority 3",
        "undo priority 4",
    ]
    places = [position(patch, line) for line in order]
    assert places == sorted(places)


def test_a_patch_never_commits_nor_leaves_the_configuration() -> None:
    for case in ALL:
        patch = make_patch(case.before, case.after, case.family)
        words = {line.split()[0] for line in (*patch.commands, *patch.reverse)}
        assert not words & {"commit", "return"}


def test_threads_make_the_same_patch() -> None:
    case = BY_NAME["spine added to a leaf"]
    found: list[Patch] = []

    def work() -> None:
        found.append(make_patch(case.before, case.after, case.family))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_every_view_is_left_once_and_the_system_view_never(case: Case) -> None:
    patch = make_patch(case.before, case.after, case.family)
    for text, commands in ((case.before, patch.commands), (case.after, patch.reverse)):
        config = canonical(parse_tree(text), case.family)
        view: View = ()
        for line in commands:
            assert view or line != "quit"
            step = apply_line(config, view, line, case.family)
            config, view = step.config, step.view
        assert view == ()


# -- the law, over random switches --------------------------------------------------------------

TEMPLATE = {
    SyntaxFamily.V200: "ce9860",
    SyntaxFamily.V300_G1: "ce8851",
    SyntaxFamily.V300_G2: "ce8855",
}
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


@st.composite
def ports(draw: st.DrawFn, number: int, family: SyntaxFamily) -> Interface:
    common: dict[str, Any] = {
        "name": f"100GE1/0/{number}",
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
        "drr": tuple(
            DrrQueue(queue=queue, weight=draw(st.sampled_from([1, 15, 65])))
            for queue in draw(st.sets(st.sampled_from([0, 1, 2, 4])))
        ),
    }
    kind = draw(st.sampled_from(["routed", "access", "trunk", "bare"]))
    if kind == "routed":
        hosts = draw(st.lists(st.integers(0, 3), max_size=2, unique=True))
        common |= {
            "routed": True,
            "mtu": draw(optional(st.sampled_from([9000, 9216]))),
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


@st.composite
def bgps(draw: st.DrawFn) -> Bgp:
    spine_asn = draw(st.sampled_from([65001, 65002]))
    groups = draw(st.sets(st.sampled_from(["SPINE", "OTHER"])))
    settings = {
        "description": optional(WORDS),
        "bfd_enabled": st.booleans(),
        "bfd": optional(st.builds(Bfd, min_tx_ms=st.sampled_from([300, 500]))),
        "export_policy": optional(st.sampled_from(["EXPORT", "OTHER"])),
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
    gateway = Interface(
        name="Vlanif10", addresses=(IPv4Interface(f"10.65.{draw(st.integers(1, 2))}.1/24"),)
    )
    return Device(
        name=draw(st.sampled_from(["leaf01", "leaf02"])),
        vlans=some([10, 20, 30]),
        lldp=draw(st.booleans()),
        bfd=draw(st.booleans()),
        domains=draw(st.sampled_from([(), (DiffservDomain(name="roce", dscp=maps),)])),
        pfc=draw(pfcs(family)),
        ai_ecn=AiEcn(
            enabled=draw(st.booleans()),
            queues=tuple(
                AiEcnQueue(queue=queue, model=draw(optional(st.just("ai_ecn_hpc"))))
                for queue in some([3, 4])
            ),
        ),
        interfaces=(
            *(draw(ports(number, family)) for number in (1, 2)),
            *draw(st.sampled_from([(), (gateway,)])),
        ),
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
        ntp_servers=tuple(IPv4Address(f"10.255.0.{n}") for n in some([5, 6])),
        users=tuple(
            LocalUser(name=name, service_types=("ssh",), level=draw(optional(st.integers(0, 3))))
            for name in some(["netops", "reader"])
        ),
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


PREFIXES = [IPv4Network("10.0.0.11/32"), IPv4Network("10.65.0.0/16")]


@settings(max_examples=60, deadline=None)
@given(data=st.data(), family=st.sampled_from(SyntaxFamily))
def test_law_4_patch_and_way_back_between_random_switches(
    meaning: MeaningOf, data: st.DataObject, family: SyntaxFamily
) -> None:
    running, intended = (
        render(data.draw(devices(family)), family, TEMPLATE[family]) for _ in range(2)
    )
    patch = make_patch(running, intended, family)
    before, after = (meaning(text, (), family) for text in (running, intended))
    assert meaning(running, patch.commands, family) == after
    assert meaning(intended, patch.reverse, family) == before


@settings(max_examples=25, deadline=None)
@given(data=st.data(), family=st.sampled_from(SyntaxFamily))
def test_no_port_with_pfc_is_ever_without_a_queue_that_it_had_and_keeps(
    data: st.DataObject, family: SyntaxFamily
) -> None:
    old, new = (data.draw(devices(family)) for _ in range(2))
    texts = [render(device, family, TEMPLATE[family]) for device in (old, new)]
    config = canonical(parse_tree(texts[0]), family)
    view: View = ()
    held = [paused(device) for device in (old, new)]
    kept = {port: held[0][port] & held[1][port] for port in held[0].keys() & held[1].keys()}
    for line in make_patch(texts[0], texts[1], family).commands:
        step = apply_line(config, view, line, family)
        config, view = step.config, step.view
        now = paused(parse(tree_text(config), "candidate").device)
        assert all(queues <= now.get(port, frozenset()) for port, queues in kept.items())


def paused(device: Device) -> dict[str, frozenset[int]]:
    """Queues that each port with PFC pauses."""
    return {
        port.name: frozenset(profile.queues)
        for port in device.interfaces
        if (profile := device.profile_of(port)) is not None
    }
