"""The driver's getters of tables over the displays of both dialects of the emulated switch."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from leaf_and_spines import CABLES, LEAF, PORTS, SPINE, UPLINK, routed
from napalm.base import models
from recorded_driver import RecordedDriver

from rocefort.emulator.state.model import EmulatedState
from rocefort.emulator.state.ports import ethernet_address
from rocefort.emulator.state.state_faults import read_state_fault
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.hardware.hardware import SyntaxFamily

OF_LEAF = (
    LEAF.replace("vlan batch 10\n", "vlan batch 10 20\nvlan 20\n description storage\n")
    + """\
ip vpn-instance MGMT
 ipv4-family
  route-distinguisher 65101:1
interface MEth0/0/0
 ip binding vpn-instance MGMT
 ip address 10.255.0.11 255.255.255.0
aaa
 local-user netops password irreversible-cipher $1d$x6(Ks;nE"$8#Zq:N4cQ$
 local-user netops privilege level 3
route-policy EXPORT permit node 10
interface 100GE1/0/4
 port link-type trunk
 port trunk allow-pass vlan 20
bgp 65101
 ipv4-family unicast
  peer 10.1.0.0 route-policy EXPORT export
"""
)
MAC = "00:E0:FC:12:34:56"  # of every emulated switch


class AskedDriver(RecordedDriver):
    """The driver, whose answers an emulated switch gives."""

    def __init__(self, ask: Callable[[str], str], model: EmulatedState) -> None:
        super().__init__({})
        self.ask, self.model = ask, model

    def _run(self, command: str, *_: object) -> Any:
        self._recorded = {command: self.ask(command)}
        return super()._run(command)

    def _configuration(self, command: str, *_: object) -> str:
        return self.ask(command)


@pytest.fixture(params=[SyntaxFamily.V200, SyntaxFamily.V300_G1, SyntaxFamily.V300_G2])
def driver(
    request: pytest.FixtureRequest,
    make_switch: Callable[..., EmulatedSwitch],
    open_talk: Callable[[EmulatedSwitch], Any],
) -> AskedDriver:
    """A driver of a leaf with a bonded server and two spines, all of one family."""
    v200 = request.param is SyntaxFamily.V200
    text = OF_LEAF.replace("privilege level", "level") if v200 else OF_LEAF
    text = re.sub(r"\n dcb pfc buffer .*", "", text)  # its form differs by family
    texts = {"leaf01": text}
    for number, address in enumerate(("10.1.0.0", "10.1.0.2"), 1):
        texts[f"spine0{number}"] = SPINE.format(name=f"spine0{number}", address=address)
    release = "V200R020C10" if v200 else "V300R023C00"
    switches = {
        name: make_switch(name=name, startup=each, family=request.param, software=release)
        for name, each in texts.items()
    }
    cabling = CABLES | {far: end for end, far in CABLES.items()}
    model = EmulatedState(switches, cabling, {"leaf01": PORTS}, routed)
    for switch in switches.values():
        assert not switch.startup_refusals
        switch.state_source = model
    return AskedDriver(open_talk(switches["leaf01"]), model)


def test_addresses_are_own_ones_and_those_of_the_spines(driver: AskedDriver) -> None:
    rows = {(row["interface"], row["ip"]) for row in driver.get_arp_table()}
    of_management = ("MEth0/0/0", "10.255.0.11")
    assert rows == {
        (UPLINK, "10.1.0.1"),
        (UPLINK, "10.1.0.0"),
        ("100GE1/0/26", "10.1.0.3"),
        ("100GE1/0/26", "10.1.0.2"),
        ("Vlanif10", "10.7.0.1"),
        of_management,
    }
    for vrf, expected in (("MGMT", {of_management}), ("default", rows - {of_management})):
        found = driver.get_arp_table(vrf)
        assert {(row["interface"], row["ip"]) for row in found} == expected
    assert {row["mac"] for row in driver.get_arp_table()} == {MAC}


def test_a_server_with_a_bond_has_one_address_in_its_vlan(driver: AskedDriver) -> None:
    (row,) = driver.get_mac_address_table()
    mac = ethernet_address("server01").replace("-", "").upper()
    assert (row["mac"].replace(":", ""), row["interface"]) == (mac, "Eth-Trunk10")
    assert (row["vlan"], row["static"]) == (10, False)


def test_vlans_have_names_and_ports(driver: AskedDriver) -> None:
    vlans = driver.get_vlans()
    assert {number: vlan["name"] for number, vlan in vlans.items()} == {
        "1": "VLAN 0001",
        "10": "VLAN 0010",
        "20": "storage",
    }
    assert vlans["10"]["interfaces"] == ["Eth-Trunk10"]
    assert vlans["20"]["interfaces"] == ["100GE1/0/4"]
    assert set(vlans["1"]["interfaces"]) == {"100GE1/0/3", "100GE1/0/4"}


def test_a_port_that_is_down_receives_no_light(driver: AskedDriver) -> None:
    def power() -> dict[str, list[float]]:
        return {
            name: [
                lane["state"]["input_power"]["instant"]
                for lane in module["physical_channels"]["channel"]
            ]
            for name, module in driver.get_optics().items()
        }

    assert power()[UPLINK] == [1.17, -0.91, 1.17, -0.91]
    driver.model.inject("leaf01", read_state_fault("link-down", UPLINK))
    assert power()[UPLINK] == [-40.0] * 4


def test_the_environment_is_whole(driver: AskedDriver) -> None:
    found = driver.get_environment()
    assert set(found["fans"]) == {"1/FAN1", "1/FAN2"}
    assert {power["capacity"] for power in found["power"].values()} == {600.0}
    assert found["temperature"]["1/CPU"]["is_alert"] is False
    assert len(found["temperature"]) == 2
    assert driver.unread == {}


def test_users_are_those_of_the_configuration(driver: AskedDriver) -> None:
    password = '$1d$x6(Ks;nE"$8#Zq:N4cQ$'
    assert driver.get_users() == {"netops": {"level": 3, "password": password, "sshkeys": []}}


def test_peers_in_detail(driver: AskedDriver) -> None:
    peers = driver.get_bgp_neighbors_detail()["global"][65001]
    assert [(p["remote_address"], p["up"], p["holdtime"]) for p in peers] == [
        ("10.1.0.0", True, -1),
        ("10.1.0.2", True, -1),
    ]
    assert [p["export_policy"] for p in peers] == ["EXPORT", ""]
    assert {p["configured_holdtime"] for p in peers} == {30}
    assert all(set(p) == set(models.PeerDetailsDict.__annotations__) for p in peers)
    one = driver.get_bgp_neighbors_detail("10.1.0.2")["global"][65001]
    assert [p["remote_address"] for p in one] == ["10.1.0.2"]


def test_routes_to_a_prefix(driver: AskedDriver) -> None:
    routes = driver.get_route_to("10.8.0.0/24", "bgp")
    assert list(routes) == ["10.8.0.0/24"]
    hops = {(r["next_hop"], r["outgoing_interface"]) for r in routes["10.8.0.0/24"]}
    assert hops == {("10.1.0.0", UPLINK), ("10.1.0.2", "100GE1/0/26")}
    attributes = {r["protocol_attributes"]["remote_as"] for r in routes["10.8.0.0/24"]}
    assert attributes == {65001}
    assert driver.get_route_to("10.8.0.0/16") == {}
    assert list(driver.get_route_to("10.8.0.0/16", longer=True)) == ["10.8.0.0/24"]
    assert driver.get_route_to("10.8.0.0/24", "static") == {}
    (static,) = driver.get_route_to("10.99.0.0/16", "static")["10.99.0.0/16"]
    assert (static["outgoing_interface"], static["preference"]) == ("NULL0", 60)
    with pytest.raises(ValueError, match=r"^get_route_to\('leaf02'\): "):
        driver.get_route_to("leaf02")


def test_instances_have_their_interfaces(driver: AskedDriver) -> None:
    instances = driver.get_network_instances()
    assert list(instances) == ["default", "MGMT"]
    management = instances["MGMT"]
    assert management["state"] == {"route_distinguisher": "65101:1"}
    assert list(management["interfaces"]["interface"]) == ["MEth0/0/0"]
    others = instances["default"]["interfaces"]["interface"]
    assert UPLINK in others
    assert "MEth0/0/0" not in others
    assert list(driver.get_network_instances("MGMT")) == ["MGMT"]
    assert driver.get_network_instances("blue") == {}
