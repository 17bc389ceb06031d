"""The getters by NAPALM's own test conventions: BaseTestGetters over mocked_data/TEST/CASE.

Each folder holds the replies by command and `expected_result.json`. The forms are those of the
command reference and of outputs of CloudEngine switches that public drivers test with; names,
addresses and numbers are ours.
"""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from napalm.base.base import NetworkDriver
from napalm.base.test import conftest as napalm_conftest
from napalm.base.test.double import BaseTestDouble
from napalm.base.test.getters import BaseTestGetters

from napalm_cloudengine import CloudEngineDriver, parse
from napalm_cloudengine.framing import SwitchReply

GETTERS = {
    "is_alive",
    "get_config",
    "get_config_filtered",
    "get_config_sanitized",
    "get_config_sanitized_filtered",
    "get_facts",
    "get_interfaces",
    "get_interfaces_counters",
    "get_interfaces_ip",
    "get_bgp_neighbors",
    "get_lldp_neighbors",
    "get_lldp_neighbors_detail",
    "get_environment",
    "get_arp_table",
    "get_arp_table_with_vrf",
    "get_mac_address_table",
    "get_vlans",
    "get_users",
    "get_optics",
    "get_bgp_neighbors_detail",
    "get_route_to",
    "get_route_to_longer",
    "get_network_instances",
    "ping",
}
OWN = {  # beside NAPALM's
    *(
        "abort_commit",
        "lock",
        "unlock",
        "get_help",
        "save_config",
        "trial_status",
        "newest_commit",
        "commit_trial",
    ),
    "get_free_flash",
    "get_cpu",
    "get_memory",
    *(
        "get_ports",
        "get_pfc",
        "get_ai_ecn",
        "get_ecn_marks",
        "get_queues",
        "get_routes",
        "get_clock",
    ),
}


class FakeSwitch(BaseTestDouble):  # type: ignore[misc]  # napalm is untyped here
    """A session whose replies are files."""

    prompt = parse.Prompt("leaf01", system=False, mark="")
    base_prompt = "leaf01"

    def exchange(self, command: str, *_: object) -> SwitchReply:
        path = self.find_file(f"{self.sanitize_text(command)}.txt")
        return SwitchReply(self.read_txt_file(path).strip("\n"), self.prompt)

    def is_open(self) -> bool:
        return True

    def disconnect(self) -> None:
        """Do nothing."""


class PatchedDriver(CloudEngineDriver):
    """The driver over files."""

    patched_attrs = ("device",)

    def open(self) -> None:
        self.device = FakeSwitch()
        self._ssh = self.device


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    napalm_conftest.pytest_generate_tests(metafunc, __file__)


@pytest.fixture(scope="class", autouse=True)
def set_device_parameters(request: pytest.FixtureRequest) -> None:
    if request.cls is not None:
        request.cls.driver, request.cls.patched_driver = CloudEngineDriver, PatchedDriver
        napalm_conftest.set_device_parameters(request)


class TestGetters(BaseTestGetters):  # type: ignore[misc]  # napalm is untyped here
    """NAPALM's tests of this driver's getters."""

    def test_method_signatures(self) -> None:
        """Test as NAPALM does, but allow a driver to have more methods."""
        driver = CloudEngineDriver("test", "admin", "pwd")
        public = {
            name for name, _ in inspect.getmembers(driver, inspect.ismethod) if name[0] != "_"
        }
        assert {name for name in public if not hasattr(NetworkDriver, name)} == OWN
        for name in (public | {"__init__"}) - OWN:
            theirs, ours = (
                inspect.getfullargspec(getattr(kind, name))[:4]
                for kind in (NetworkDriver, CloudEngineDriver)
            )
            assert ours == theirs, name


for _name in dir(BaseTestGetters):
    if _name.startswith("test_") and _name[5:] not in {*GETTERS, "method_signatures"}:
        setattr(TestGetters, _name, None)  # not collected


def test_every_getter_has_a_case() -> None:
    folder = Path(__file__).parent / "mocked_data"
    assert {path.name for path in folder.iterdir()} == {f"test_{name}" for name in GETTERS}


def test_what_is_not_read_says_so() -> None:
    driver = CloudEngineDriver("127.0.0.1", "admin", "pwd")
    known = {name for name in dir(NetworkDriver) if re.match(r"get_|traceroute$", name)}
    arguments: dict[str, tuple[Any, ...]] = {"traceroute": ("10.0.0.1",)}
    for name in sorted(known - GETTERS):
        with pytest.raises(NotImplementedError):
            getattr(driver, name)(*arguments.get(name, ()))


@pytest.mark.parametrize(
    "arguments",
    [{"destination": "leaf02"}, {"destination": "10.0.0.1", "vrf": "a b"}, {"destination": "::1;"}],
)
def test_a_ping_that_is_not_one_is_an_error_and_not_sent(arguments: dict[str, Any]) -> None:
    reply = CloudEngineDriver("127.0.0.1", "admin", "pwd").ping(**arguments)
    assert list(reply) == ["error"]
