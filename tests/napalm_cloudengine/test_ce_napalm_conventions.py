"""NAPALM's own tests of a driver and its device, over SSH against the emulated switches of HEPS.

`TestConfigNetworkDriver` replaces, merges, rolls back and makes typing errors;
`TestGettersNetworkDriver` compares the results of getters with NAPALM's models.
"""

import re
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from napalm import get_network_driver
from napalm.base import models
from napalm.base.test import base as conventions
from nornir.core import Nornir
from nornir.core.plugins.connections import ConnectionPluginRegister
from nornir.plugins.inventory import SimpleInventory
from nornir.plugins.runners import SerialRunner
from nornir_napalm.plugins.tasks import napalm_configure, napalm_confirm_commit
from shared_lab import SharedLab

from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.fleet.connections import SshAccess
from rocefort.models.hardware.hardware import SyntaxFamily

PORT = "interface 100GE1/0/1\n description "
VLANS = "vlan batch 120 140\n"
DIFF = """\
  #
- vlan batch 120 140
  #
+ vlan batch 120 130 140
  #
  interface 100GE1/0/1
-  description to transfer01
+  description new
  #
"""
BACK = """\
  #
  interface 100GE1/0/1
-  description merged
+  description to transfer01
  #
"""
# All others raise NotImplementedError.
READ = {
    "arp_table",
    "bgp_neighbors",
    "bgp_neighbors_detail",
    "environment",
    "mac_address_table",
    "network_instances",
    "optics",
    "users",
    "vlans",
    "config",
    "config_filtered",
    "facts",
    "interfaces",
    "interfaces_counters",
    "interfaces_ip",
    "is_alive",
    "lldp_neighbors",
    "lldp_neighbors_detail",
    "ping",
}


def patcher(running: str, intended: str) -> tuple[str, ...]:
    """Return the commands from one text to the other on a leaf of HEPS."""
    return make_patch(running, intended, SyntaxFamily.V200).commands


@pytest.fixture(scope="module")
def lab(heps_shared: SharedLab) -> Iterator[Rehearsal]:
    """Ten emulated switches that run HEPS."""
    yield heps_shared.lab
    heps_shared.reset()


def access(lab: Rehearsal, name: str) -> tuple[SshAccess, str]:
    """Return the SSH access of a switch of the lab, and the password."""
    found = next(one for one in lab.connections.devices if one.name == name)
    return found, Path(found.credential.removeprefix("file:")).read_text(encoding="ascii").strip()


def connected(lab: Rehearsal, name: str, **options: object) -> Any:
    """Return an open driver, as a user of NAPALM gets it."""
    found, secret = access(lab, name)
    arguments = {"port": found.port, "ssh_known_hosts": str(lab.connections.known_hosts)}
    driver = get_network_driver("cloudengine")(
        found.host, found.user, secret, optional_args={**arguments, **options}
    )
    driver.open()
    return driver


@pytest.fixture(scope="class")
def changed_leaf(
    request: pytest.FixtureRequest, lab: Rehearsal, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """`device` and `vendor` for NAPALM's class: leaf01, and the folder of its files."""
    folder = tmp_path_factory.mktemp("leaf01")
    request.cls.device = connected(lab, "leaf01", patcher=patcher)
    request.cls.vendor = str(folder)
    initial = request.cls.device.get_config(retrieve="running")["running"]
    assert PORT + "to transfer01\n" in initial
    assert VLANS in initial
    files = {
        "initial.conf": initial,
        "new_good.conf": initial.replace(PORT + "to transfer01", PORT + "new").replace(
            VLANS, "vlan batch 120 130 140\n"
        ),
        "new_good.diff": DIFF,
        "new_typo.conf": initial.replace(PORT, PORT.replace("description", "descriptoin")),
        "merge_good.conf": f"{PORT}merged\n",
        "merge_good.diff": BACK,
        "merge_typo.conf": f"{PORT}merged\n descriptoin typo\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


class Quiet(unittest.TestCase):
    """NAPALM's classes name setUpClass in two ways, and pytest would call it twice."""

    setup_class: ClassVar[Callable[[], None] | None] = None
    teardown_class: ClassVar[Callable[[], None] | None] = None
    device: ClassVar[Any]


@pytest.mark.usefixtures("changed_leaf")
class TestConfig(Quiet, conventions.TestConfigNetworkDriver):  # type: ignore[misc]  # untyped
    """Replace, merge, rollback, typing errors, a template."""

    @staticmethod
    def read_file(filename: str) -> str:
        """Read as NAPALM does, but keep the blanks before the first line of a diff."""
        return Path(filename).read_text(encoding="utf-8").strip("\n")


@pytest.fixture(scope="class")
def read_leaf(request: pytest.FixtureRequest, lab: Rehearsal) -> Iterator[None]:
    """Set `device` for NAPALM's class: a leaf without changes."""
    request.cls.device = connected(lab, "leaf02")
    yield
    request.cls.device.close()


@pytest.mark.usefixtures("read_leaf")
class TestGetters(Quiet, conventions.TestGettersNetworkDriver):  # type: ignore[misc]  # untyped
    """Results of getters have the form of NAPALM's models."""

    def test_get_lldp_neighbors_detail(self) -> None:
        """Test one entry.

        NAPALM's own test compares it with the model of the whole and can never pass.
        """
        found = self.device.get_lldp_neighbors_detail()
        assert found
        for neighbours in found.values():
            for neighbour in neighbours:
                assert self._test_model(models.LLDPNeighborDetailDict, neighbour)


def test_a_switch_pings_a_switch_and_tells_what_it_hears(lab: Rehearsal) -> None:
    """NAPALM's own test of `ping` uses an address that nothing here answers."""
    driver = connected(lab, "leaf02")
    try:
        loopback, host = (address(lab, name, "LoopBack0") for name in ("leaf02", "leaf01"))
        reply = driver.ping(host, source=loopback, count=3, size=1000)["success"]
        assert (reply["probes_sent"], reply["packet_loss"], reply["rtt_max"]) == (3, 0, 1.0)
        assert reply["results"] == [{"ip_address": host, "rtt": 1.0}] * 3
        lost = driver.ping("198.51.100.1", count=2)["success"]
        assert (lost["probes_sent"], lost["packet_loss"], lost["results"]) == (2, 2, [])
        vrf = driver.ping(host, vrf="blue")["error"]
        assert vrf == "Error: This emulator cannot ping it: VPN instances have no routes here."
        everywhere = driver.get_lldp_neighbors_detail()
        assert set(everywhere) == set(driver.get_lldp_neighbors())
        one = driver.get_lldp_neighbors_detail("100GE1/0/57")
        assert one == {"100GE1/0/57": everywhere["100GE1/0/57"]}
        (heard,) = one["100GE1/0/57"]
        assert heard["remote_system_name"] == "spine01"
        assert heard["remote_port_description"] == "to leaf02 100GE1/0/57"
        assert heard["remote_system_description"].endswith("\nHUAWEI CE9860-4C-EI")
    finally:
        driver.close()


def address(lab: Rehearsal, switch: str, interface: str) -> str:
    """The address of an interface."""
    (state,) = (s for s in lab.model.interfaces(switch) if s.name == interface)
    return state.addresses[0].partition("/")[0]


for _name in dir(conventions.TestGettersNetworkDriver):
    if _name.startswith("test_") and _name.removeprefix("test_").removeprefix("get_") not in READ:
        setattr(TestGetters, _name, None)  # not collected


def test_a_replace_says_what_is_wrong_with_its_patcher() -> None:
    driver = get_network_driver("cloudengine")
    for value, why in (
        ("nowhere:patcher", "there is no function 'nowhere:patcher': No module named 'nowhere'"),
        ("os:patcher", "there is no function 'os:patcher': module 'os' has no attribute"),
        ("os:sep", "give a function of running and intended configuration, or its name as"),
        (7, "give a function of running and intended configuration, or its name as"),
    ):
        with pytest.raises(ValueError, match=f"^patcher: {why}"):
            driver("192.0.2.1", "netops", "x", optional_args={"patcher": value})
    named = driver("192.0.2.1", "netops", "x", optional_args={"patcher": "os.path:join"})
    assert named._patcher("a", "b") == "a/b"


def blocks(language: str) -> list[str]:
    """Return the code blocks of docs/reference/driver.md in a language."""
    text = (Path(__file__).parents[2] / "docs" / "reference/driver.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_the_session_in_the_documentation_runs(
    lab: Rehearsal, capsys: pytest.CaptureFixture[str]
) -> None:
    first, patch = blocks("python")
    found, secret = access(lab, "leaf03")
    values: dict[str, Any] = {
        "host": found.host,
        "port": found.port,
        "user": found.user,
        "password": secret,
        "known_hosts": str(lab.connections.known_hosts),
    }
    exec(compile(first, "driver.md", "exec"), values)
    assert "+ vlan batch 30 120" in capsys.readouterr().out
    switch = lab.switches["leaf03"]
    assert (switch.trial, switch.saved) == (None, switch.running)
    assert [point.description for point in switch.points] == ["a VLAN for tests"]
    exec(compile(patch, "driver.md", "exec"), values)
    assert values["patcher"]("sysname a\n", "sysname b\n") == ("sysname b",)


def test_the_inventory_in_the_documentation_is_one(tmp_path: Path, lab: Rehearsal) -> None:
    (text,) = blocks("yaml")
    found, secret = access(lab, "leaf04")
    text = text.replace("10.255.0.9", found.host)
    text = text.replace("/etc/rocefort/known_hosts", str(lab.connections.known_hosts))
    text = text.replace("site_patch:patcher", "os.path:join")
    (tmp_path / "hosts.yaml").write_text(text, encoding="utf-8")
    inventory = SimpleInventory(str(tmp_path / "hosts.yaml")).load()
    ConnectionPluginRegister.auto_register()
    nornir = Nornir(inventory=inventory, runner=SerialRunner())
    host = nornir.inventory.hosts["leaf01"]
    host.port, host.password = found.port, secret
    try:
        done = nornir.run(napalm_configure, configuration="vlan batch 30\n", revert_in=60)[
            "leaf01"
        ][0]
        assert (done.failed, done.changed) == (False, True)
        trial = lab.switches["leaf04"].trial
        assert trial is not None
        assert trial.persist == "change-4711"
        assert nornir.run(napalm_confirm_commit)["leaf01"][0].result == "Commit confirm completed"
    finally:
        nornir.close_connections()
    assert lab.switches["leaf04"].trial is None
