"""The driver's readers against the vendor's display outputs; the emulator has tests of its own."""

import pytest
from recorded_driver import RecordedDriver
from vendor_displays import vendor_display

from napalm_cloudengine.displays.commits import STATUS, TrialStatus, read_trial
from napalm_cloudengine.displays.interfaces import read_names
from napalm_cloudengine.displays.lines import DisplayAnswer
from napalm_cloudengine.displays.routing import read_peers

COUNTED = (
    *("octets", "unicast_packets", "multicast_packets"),
    *("broadcast_packets", "errors", "discards"),
)
STATES = [
    TrialStatus("INACTIVE", 0),
    TrialStatus("ACTIVE", 51),
    TrialStatus("ACTIVE", 30, "IQ,d0815"),
    TrialStatus("CANCELING", 0),
    TrialStatus("WAITCANCEL", 29),
]


def test_names_are_those_of_the_interfaces_without_speed_and_indent() -> None:
    assert read_names(DisplayAnswer("display", vendor_display("interface-brief-v300"))) == [
        "100GE1/0/3",
        "400GE1/1/1:1",
        "Eth-Trunk10",
        "100GE1/0/1",
        "100GE1/0/10",
        "100GE1/0/2",
        "MEth0/0/0",
        "NULL0",
    ]
    assert read_names(DisplayAnswer("display", vendor_display("interface-brief-v200"))) == [
        "100GE1/0/1",
        "100GE1/0/3",
        "NULL0",
    ]


def counters(display: str, *names: str) -> list[int]:
    [shape] = RecordedDriver({"display interface": display}).get_interfaces_counters().values()
    return [shape[name] for name in names]


def test_the_management_port_has_a_form_of_its_own() -> None:
    text = vendor_display("interface-management")
    [(name, port)] = RecordedDriver({"display interface": text}).get_interfaces().items()
    assert (name, port["is_up"], port["is_enabled"]) == ("MEth0/0/0", True, True)
    assert (port["mtu"], port["speed"], port["last_flapped"]) == (1500, 1000.0, 7445.0)
    assert counters(text, *(f"rx_{name}" for name in COUNTED)) == [330033, 3001, 2, 0, 5, -1]
    assert counters(text, *(f"tx_{name}" for name in COUNTED)) == [44044, 404, 0, 0, -1, -1]


def test_a_port_of_v200_has_no_fec() -> None:
    text = vendor_display("interface-port-v200")
    [port] = RecordedDriver({"display interface": text}).get_interfaces().values()
    assert (port["speed"], port["mtu"], port["last_flapped"]) == (100_000.0, 9216, 7445.0)
    assert counters(text, *(f"rx_{name}" for name in COUNTED)) == [123, 3, 0, 0, 6, 5]
    assert counters(text, *(f"tx_{name}" for name in COUNTED)) == [321, 4, 0, 0, -1, 7]


def test_a_description_is_no_value_of_its_port() -> None:
    text = vendor_display("interface-port-v200").replace(
        "Description:",
        "Description: a current state : UP, The Maximum Frame Length is 1, Speed: 10G, Discard: 9",
    )
    [port] = RecordedDriver({"display interface": text}).get_interfaces().values()
    assert (port["speed"], port["mtu"]) == (100_000.0, 9216)
    assert counters(text, "rx_discards", "tx_discards") == [5, 7]


def test_sessions_have_ages_beyond_99_hours() -> None:
    table = read_peers(DisplayAnswer("display bgp peer", vendor_display("bgp-peer")))
    assert (table.router_id, table.local_as) == ("10.0.0.11", 65101)
    assert [(p.address, p.remote_as, p.uptime_s, p.prefixes_received) for p in table.peers] == [
        ("10.1.0.0", 65001, 522 * 3600 + 45 * 60, 13),
        ("10.1.0.2", 65002, 626 * 3600 + 43 * 60, 14),
        ("10.1.0.4", (1 << 16) + 24, 147 * 3600 + 32 * 60, 4),
        ("10.1.0.6", 65004, 7, 0),
    ]


@pytest.mark.parametrize(
    ("reply", "status"),
    list(zip(vendor_display("configuration-trial-status").split("\n\n"), STATES, strict=True)),
    ids=["none", "two blanks", "persistent", "canceling", "waitcancel"],
)
def test_every_state_of_a_trial_is_read(reply: str, status: TrialStatus) -> None:
    assert read_trial(DisplayAnswer("display", reply)) == status
    values = {"state": status.state, "seconds_left": status.seconds_left}
    written = STATUS.write(
        values | ({"persist_id": status.persist_id} if status.persist_id else {})
    )
    assert written.split("\n") == [" ".join(line.split()) for line in reply.strip().split("\n")]
    assert status.ending is (status.state in ("CANCELING", "WAITCANCEL"))
