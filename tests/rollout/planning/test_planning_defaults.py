"""A planned default value, which a switch does not show: the same change in both directions.

Every change is typed on an emulated switch. The candidate comparison of the switch must
match the plan, and its running configuration must then have the planned digest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

import pytest
from canonical import canonical

from rocefort.change.effects.switch_configs import running_digest, sides_of
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.load.hardware_catalogue import load_catalogue
from rocefort.dialects.vrp.device_diff import same_change
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.render import render
from rocefort.dialects.vrp.text.config_tree import parse_tree, tree_text
from rocefort.emulator.cli.session import CliSession
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.fleet.running_configs import running_of
from rocefort.models.change.plan import Change
from rocefort.models.device.device import Device
from rocefort.models.device.interface import ETHERNET_MTU, Bond, DrrQueue, Interface, PfcThreshold
from rocefort.models.device.lossless_queue import (
    ColourLimits,
    DropProfile,
    Pfc,
    PfcProfile,
    PfcTimer,
)
from rocefort.models.device.routing import Bfd, Bgp, BgpGroup, BgpPeer
from rocefort.models.hardware.hardware import Family, SyntaxFamily
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.controller.config import ApplyOptions
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.plan.make_plan import make_plan

FAMILIES = load_catalogue().families
V200, G1, G2 = SyntaxFamily
TEMPLATE = {V200: "ce9860", G1: "ce8851", G2: "ce8855"}
ROUTED, SWITCHED, TRUNK = "100GE1/0/1", "100GE1/0/2", "Eth-Trunk1"


@dataclass(frozen=True)
class Case:
    """Running and intended configuration of a switch. `said`: the plan's edits."""

    name: str
    was: Mapping[str, Any]
    will: Mapping[str, Any]
    said: Iterable[str]
    families: Iterable[SyntaxFamily] = field(default=SyntaxFamily)


def routed(mtu: int | None) -> Mapping[str, Any]:
    return {"interfaces": (Interface(name=ROUTED, routed=True, mtu=mtu),)}


def on_port(**fields: Any) -> Mapping[str, Any]:
    return {"vlans": (10,), "interfaces": (Interface(name=SWITCHED, edge=True, **fields),)}


def trunk(**fields: Any) -> Mapping[str, Any]:
    port = Interface(name=TRUNK, description="to a server", link_type="trunk", **fields)
    return {"vlans": (10, 20), "interfaces": (port,)}


def pfc(timers: tuple[PfcTimer, ...] = (), **fields: int) -> Mapping[str, Any]:
    return {"pfc": Pfc(profiles=(PfcProfile(queues=(3, 4), timers=timers),), **fields)}


def dropping(low: int, high: int, percent: int) -> Mapping[str, Any]:
    row = ColourLimits(colour="green", low=low, high=high, percent=percent)
    other = ColourLimits(colour="red", low=10, high=20, percent=30)
    return {"drop_profiles": (DropProfile(name="p", colours=(row, other)),)}


def bgp(maximum_paths: int = 1, **group: Any) -> Mapping[str, Any]:
    group = {"name": "spines", "active": True, "asn": 65001, **group}
    peer = BgpPeer(address=IPv4Address("10.1.0.0"), asn=65001, group="spines", active=True)
    networks = (IPv4Network("10.64.0.0/24"),)
    return {
        "bgp": Bgp(
            asn=65101,
            groups=(BgpGroup(**group),),
            peers=(peer,),
            networks=networks,
            maximum_paths=maximum_paths,
        )
    }


def buffered(headroom: int) -> Mapping[str, Any]:
    row = PfcThreshold(queue=4, xoff_kbytes=600, xon_kbytes=550, headroom_kbytes=headroom)
    return on_port(thresholds=(row,))


PORT, GROUP = f"interfaces[{SWITCHED}]", "bgp.groups[spines]"
CASES = [
    Case("mtu", routed(9216), routed(1500), [f"interfaces[{ROUTED}].mtu: 9216 -> None"]),
    Case("mtu, unsaid so far", routed(None), routed(1500), []),
    Case(
        "vlan of a port",
        on_port(access_vlan=10),
        on_port(access_vlan=1),
        [f"{PORT}.access_vlan: 10 -> None"],
    ),
    Case("vlan of a port, unsaid so far", on_port(), on_port(access_vlan=1), []),
    Case(
        "vlans of a trunk",
        trunk(trunk_vlans=(10, 20)),
        trunk(trunk_vlans=(1, 10)),
        [f"interfaces[{TRUNK}].trunk_vlans[20]: 20 -> None"],
    ),
    Case("vlans", {"vlans": (10, 20)}, {"vlans": (1, 10)}, ["vlans[20]: 20 -> None"]),
    Case(
        "link type",
        trunk(trunk_vlans=()),
        {"vlans": (10, 20), "interfaces": (Interface(name=TRUNK, description="to a server"),)},
        [f"interfaces[{TRUNK}].link_type: trunk -> None"],
    ),
    Case(
        "bond",
        trunk(bond=Bond(mode="lacp-static", lacp_timeout="fast", minimum_links=2)),
        trunk(bond=Bond(mode="lacp-static", lacp_timeout="slow", minimum_links=1)),
        [
            f"interfaces[{TRUNK}].bond.lacp_timeout: fast -> slow",
            f"interfaces[{TRUNK}].bond.minimum_links: 2 -> 1",
        ],
    ),
    Case(
        "weight of a queue",
        on_port(drr=(DrrQueue(queue=1, weight=5),)),
        on_port(drr=(DrrQueue(queue=1, weight=1),)),
        [f"{PORT}.drr[1].weight: 5 -> 1"],
    ),
    Case(
        "deadlock timers in ms",
        pfc(detect_ms=200, recovery_ms=300),
        pfc(detect_ms=100, recovery_ms=100),
        ["pfc.detect_ms: 200 -> None", "pfc.recovery_ms: 300 -> None"],
        [G1],
    ),
    Case(
        "unit of deadlock timers",
        pfc(interval_ms=100),
        pfc(interval_ms=10),
        ["pfc.interval_ms: 100 -> None"],
        [G2],
    ),
    Case(
        "deadlock timers of a queue",
        pfc((PfcTimer(queue=4, detect_time=5, recovery_time=6),)),
        pfc((PfcTimer(queue=4, detect_time=10, recovery_time=10),)),
        ["pfc.profiles[default].timers[4]: queue=4, detect_time=5, recovery_time=6 -> None"],
        [G2],
    ),
    Case(
        "drop profile",
        dropping(30, 60, 10),
        dropping(100, 100, 100),
        [
            "drop_profiles[p].colours[green]: low=30, high=60, percent=10, colour=green -> None",
        ],
    ),
    Case("ecmp", bgp(32), bgp(1), ["bgp.maximum_paths: 32 -> None"]),
    # The next values have a default too, but no source confirms that a switch omits it, so the text
    # has a line. For a group without timers the line of the process counts, which no model has.
    Case(
        "bgp timers",
        bgp(keepalive_s=10, hold_s=30),
        bgp(keepalive_s=60, hold_s=180),
        [f"{GROUP}.keepalive_s: 10 -> 60", f"{GROUP}.hold_s: 30 -> 180"],
    ),
    Case(
        "bfd timers",
        bgp(bfd=Bfd(min_tx_ms=100, min_rx_ms=100, multiplier=4)),
        bgp(bfd=Bfd()),
        [
            f"{GROUP}.bfd.min_tx_ms: 100 -> 1000",
            f"{GROUP}.bfd.min_rx_ms: 100 -> 1000",
            f"{GROUP}.bfd.multiplier: 4 -> 3",
        ],
    ),
    Case(
        "headroom",
        buffered(300),
        buffered(256),
        [f"{PORT}.thresholds[4].headroom_kbytes: 300 -> 256"],
        [G2],
    ),
]


def text_of(device: Device, name: SyntaxFamily) -> str:
    """Text that a switch shows for a Device."""
    return tree_text(canonical(parse_tree(render(device, name, TEMPLATE[name])), name))


def planned(heps: DerivedNetwork, running: str, intended: Device, family: Family) -> Change:
    node = heps.network.by_name["leaf01"].model_copy(update={"device": intended, "family": family})
    (sides,) = sides_of(heps.network.model_copy(update={"nodes": (node,)}), {"leaf01": running})
    return sides.whole


def typed(running: str, patch: Iterable[str], family: SyntaxFamily) -> tuple[str, str]:
    """Candidate comparison of a switch, and the text that it would run."""
    session = CliSession(EmulatedSwitch("leaf01", running, family), "netops")
    for line in ("system-view", *patch):
        text = session.handle(line.strip()).text
        if session.question:
            text = session.handle("y").text
        assert "Error:" not in text, (line, text)
    commands = ("display configuration candidate changes", "display configuration candidate merge")
    changes, candidate = (session.handle(command).text for command in commands)
    return changes, candidate


@pytest.mark.parametrize(
    ("case", "name"),
    [(case, name) for case in CASES for name in case.families],
    ids=[f"{case.name} on {name}" for case in CASES for name in case.families],
)
def test_a_default_that_is_planned_is_what_a_switch_without_its_line_runs(
    heps: DerivedNetwork, case: Case, name: SyntaxFamily
) -> None:
    family = FAMILIES[name]
    was, will = (
        Device.model_validate({"name": "leaf01", **each}) for each in (case.was, case.will)
    )
    running = text_of(was, name)
    change = planned(heps, running, will, family)
    assert [f"{e.path}: {e.before_text} -> {e.after_text}" for e in change.edits] == list(case.said)
    assert change.empty is (not case.said)
    comparison, then = typed(running, change.patch, name)
    assert same_change(change, comparison, running, family) == ()
    assert running_digest(parse(then, "leaf01"), family) == change.intended_digest
    assert planned(heps, then, will, family).empty
    _, back = typed(then, change.reverse, name)
    assert running_digest(parse(back, "leaf01"), family) == change.running_digest


def narrowed(device: Device) -> Device:
    """A leaf with the default MTU where it had a larger one."""
    interfaces = tuple(
        i.model_copy(update={"mtu": ETHERNET_MTU}) if i.mtu is not None else i
        for i in device.interfaces
    )
    assert interfaces != device.interfaces
    return device.model_copy(update={"interfaces": interfaces})


def test_a_rollout_from_mtu_9216_to_1500_is_confirmed(
    lab: Rehearsal, hall: DerivedNetwork, described: Path, tmp_path: Path
) -> None:
    (uplink, *_) = (i.name for i in hall.network.by_name["leaf07"].device.interfaces if i.mtu)
    session = CliSession(lab.switches["leaf07"], "somebody")
    for line in ("system-view", f"interface {uplink}", "mtu 9216", "commit", "return", "save", "y"):
        assert "Error" not in session.handle(line).text
    session.close()
    now = running_of(described, lab.connections, None)
    assert " mtu 9216\n" in now["leaf07"]
    plan = make_plan(described, lab.connections, now)
    nodes = [
        n.model_copy(update={"device": narrowed(n.device)}) if n.name == "leaf07" else n
        for n in derive(described).network.nodes
    ]
    changes = sides_of(hall.network.model_copy(update={"nodes": tuple(nodes)}), now)
    plan = plan.model_copy(update={"changes": tuple(each.whole for each in changes)}).seal()
    mtus = [e for e in plan.change("leaf07").edits if e.path.endswith(".mtu")]
    assert {(edit.before_text, edit.after_text) for edit in mtus} == {
        ("9216", None),
        ("9000", None),
    }
    options = ApplyOptions(derives=False)  # no fabric leads to these changes
    applied = apply_plan(
        plan, lab.connections, RunDirectory.of_journal(tmp_path / "journal"), [], options
    )
    assert applied.failure == ""
    assert "leaf07" in applied.confirmed
    then = running_of(described, lab.connections, None)["leaf07"]
    assert " mtu " not in then
