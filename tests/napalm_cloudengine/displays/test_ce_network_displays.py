"""Displays of the getters of tables: cut answers, odd lines, and the forms of other releases."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vendor_displays import vendor_display

from napalm_cloudengine import network_getters as getters
from napalm_cloudengine import reading
from napalm_cloudengine.displays import hardware, routing_details, switching
from napalm_cloudengine.displays.lines import DisplayAnswer, UnreadableError

Read = Callable[[DisplayAnswer], Sequence[dict[str, Any]]]
# Samples whose form shows their end, with the first line that shows it, from the end.
ENDED: list[tuple[str, Read, int]] = [
    ("arp", switching.read_arp, 2),
    ("arp-v200", switching.read_arp, 1),
    ("mac-address", switching.read_mac_addresses, 1),
    ("mac-address-vrp", switching.read_mac_addresses, 1),
    ("interface-transceiver-brief", hardware.read_optics, 1),
    ("device-fan", hardware.read_fans, 1),
    ("device-fan-v200", hardware.read_fans, 1),
    ("device-power", hardware.read_power, 8),
    ("device-temperature", hardware.read_temperatures, 1),
    ("device-temperature-v200", hardware.read_temperatures, 1),
]


@pytest.mark.parametrize(("sample", "read", "end"), ENDED, ids=[case[0] for case in ENDED])
def test_an_answer_that_is_cut_off_is_an_error(sample: str, read: Read, end: int) -> None:
    lines = vendor_display(sample).rstrip("\n").split("\n")
    assert read(DisplayAnswer("display", "\n".join(lines)))
    begin = next(n for n, line in enumerate(lines) if line.strip("- "))  # a legend or a title
    for length in range(begin + 1, len(lines) - end + 1):
        if sample == "interface-transceiver-brief" and not lines[length - 1].strip("- "):
            continue  # after a module, nothing shows that another one follows
        with pytest.raises(UnreadableError):
            read(DisplayAnswer("display", "\n".join(lines[:length])))


ODD: list[tuple[Read, str, str, str, str]] = [
    (switching.read_arp, "arp", "Total:4 ", "Total:5 ",
     "'display', line 11: 5 rows announced, 4 read"),
    (switching.read_arp, "arp", "EXP(M) TYPE/VLAN", "EXPIRE TYPE/VLAN",
     "'display', line 4: 'IP ADDRESS      MAC ADDRESS    EXPIRE TYPE/VLAN       INTERFACE        "
     "VPN-INSTANCE' is not the documented heading"),
    (switching.read_mac_addresses, "mac-address", "Total items: 4", "",
     "'display', line 11: the number of rows below the table is missing: it is cut off"),
    (switching.read_vlans, "vlan", "vlans is : 2", "vlans is : 3",
     "'display', line 1: 3 VLANs announced, 2 read"),
    (switching.read_vlans, "vlan", "VID  Type", "VLAN Type", "'display', line 1: no table of VLANs"),
    (hardware.read_optics, "interface-transceiver-brief", ":-40.00", ":dark",
     "'display', line 6: 'dark' is no value of an optical module"),
    (hardware.read_optics, "interface-transceiver-brief", "Current TX Power (dBm)", "Current TX Level (dBm)",
     "'display', line 1: 10GE1/0/1 shows no tx power"),
    (hardware.read_fans, "device-fan", "[ 1 ]       YES          YES", "[ 1 ]       YES",
     "'display', line 5: '1       FAN1       [ 1 ]       YES           Normal      43%(10700)   Auto      "
     "Front-to-Back' is no row of its table"),
    (hardware.read_power, "device-power", "PowerNo", "Number",
     "'display', line 1: 0 headings of its table instead of one"),
    (routing_details.read_peer_details, "bgp-peer-verbose", "BGP current state", "State",
     "'display', line 1: a peer without its state"),
    (routing_details.read_peer_details, "bgp-peer-verbose", "BGP Peer is", "Peer",
     "'display', line 1: no BGP peer"),
    (routing_details.read_route_details, "ip-routing-table-verbose", "Count : 2", "Count : 3",
     "'display', line 4: 3 routes announced, 2 read"),
    (routing_details.read_route_details, "ip-routing-table-verbose", "        State", "        Stat",
     "'display', line 6: a route without its state"),
    (routing_details.read_instances, "ip-vpn-instance-verbose", "configured : 2", "configured : 3",
     "'display', line 1: 3 VPN instances announced, 2 read"),
]  # fmt: skip


@pytest.mark.parametrize(("read", "sample", "old", "new", "reply"), ODD)
def test_another_form_is_an_error_with_its_line(
    read: Read, sample: str, old: str, new: str, reply: str
) -> None:
    text = vendor_display(sample)
    assert old in text
    with pytest.raises(UnreadableError) as caught:
        read(DisplayAnswer("display", text.replace(old, new, 1)))
    assert " ".join(str(caught.value).split()) == " ".join(reply.split())


SHAPED: list[tuple[str, Callable[[DisplayAnswer], object]]] = [
    ("arp", lambda shown: getters.napalm_arp(switching.read_arp(shown))),
    ("mac-address", lambda x: getters.napalm_mac_addresses(switching.read_mac_addresses(x))),
    ("vlan", switching.read_vlans),
    ("interface-transceiver-brief", lambda x: getters.napalm_optics(hardware.read_optics(x))),
    ("device-fan", lambda shown: reading.napalm_fans(hardware.read_fans(shown))),
    ("device-power", lambda shown: reading.napalm_power(hardware.read_power(shown))),
    *(
        (n, lambda x: reading.napalm_temperatures(hardware.read_temperatures(x)))
        for n in ("device-temperature", "device-temperature-v200")
    ),
    (
        "bgp-peer-verbose",
        lambda x: getters.napalm_peer_details(routing_details.read_peer_details(x), 1, "192.0.2.1"),
    ),
    (
        "ip-routing-table-verbose",
        lambda x: getters.napalm_routes(routing_details.read_route_details(x), "", {}, 1),
    ),
    (
        "ip-vpn-instance-verbose",
        lambda x: getters.napalm_instances(routing_details.read_instances(x), ()),
    ),
]


@pytest.mark.parametrize(("sample", "shape"), SHAPED, ids=[case[0] for case in SHAPED])
@given(data=st.data())
def test_a_damaged_word_is_read_left_out_or_an_error_with_its_line(
    sample: str, shape: Callable[[DisplayAnswer], object], data: st.DataObject
) -> None:
    """No other exception reaches the user, whichever word is another one, doubled or gone."""
    text = vendor_display(sample)
    words = list(re.finditer(r"\S+", text))
    word = data.draw(st.sampled_from(words))
    other = data.draw(
        st.sampled_from(["", "-", "--", "x", "-1", "9" * 30, "1.2.3", "a b", ":", "(U)"])
    )
    damaged = text[: word.start()] + other + text[word.end() :]
    with contextlib.suppress(UnreadableError):
        shape(DisplayAnswer("display", damaged))


@pytest.mark.parametrize(
    ("read", "sample", "places"),
    [
        (switching.read_arp, "arp", (6, 9)),
        (switching.read_mac_addresses, "mac-address", (7, 10)),
        (switching.read_vlans, "vlan", (13, 18)),
        (hardware.read_optics, "interface-transceiver-brief", (4, 13)),
    ],
)
def test_a_log_line_in_between_is_left_out_and_named(
    read: Any, sample: str, places: tuple[int, ...]
) -> None:
    log = "Jan  2 2026 03:04:05 leaf01 %%01IFNET/4/LINK_STATE(l): the line changed"
    lines = vendor_display(sample).rstrip("\n").split("\n")
    for at in places:
        text = "\n".join([*lines[:at], log, *lines[at:]])
        rows = read(DisplayAnswer("display", text))
        assert list(rows) == list(read(DisplayAnswer("display", "\n".join(lines))))
        assert [each.line for each in rows.unread] == [at + 1]


@pytest.mark.parametrize(
    "read",
    [
        switching.read_arp,
        switching.read_mac_addresses,
        hardware.read_optics,
        routing_details.read_peer_details,
        routing_details.read_route_details,
        routing_details.read_instances,
    ],
)
def test_an_empty_answer_has_no_rows(read: Read) -> None:
    assert read(DisplayAnswer("display", "\n")) == []


def test_ages_of_peers_and_routes_are_read_as_written() -> None:
    for seconds in (0, 59, 3473, 86_399, 86_400, 953_465):
        assert routing_details.seconds_of(routing_details.age_text(seconds)) == seconds
    assert [routing_details.seconds_of(text) for text in ("", "never", "1h 2m")] == [-1, -1, -1]


def test_a_peer_with_policies_over_several_hops() -> None:
    policies = " Import route policy is: import\n Export route policy is: a\n"
    text = vendor_display("bgp-peer-verbose").replace(
        " No routing policy is configured\n", f" {routing_details.MULTIHOP}\n{policies}"
    )
    (row,) = routing_details.read_peer_details(DisplayAnswer("display", text))
    assert (row["import_policy"], row["export_policy"], row["multihop"]) == ("import", "a", True)


def test_a_peer_that_an_administrator_shut_is_not_up() -> None:
    text = vendor_display("bgp-peer-verbose").replace(
        "Established, Up for 00h57m53s", "Idle(Admin)"
    )
    (row,) = routing_details.read_peer_details(DisplayAnswer("display", text))
    assert (row["state"], row["up_s"]) == ("Idle(Admin)", -1)


def test_a_user_is_one_of_the_aaa_view_alone() -> None:
    config = "aaa\n local-user a level 2\n local-user a service-type ssh\n#\ninterface X\n local-user b level 3\n"
    assert getters.napalm_users(config) == {"a": {"level": 2, "password": "", "sshkeys": []}}
