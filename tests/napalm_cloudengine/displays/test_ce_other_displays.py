"""Displays that differ from the documented form: read where they are clear, refused otherwise."""

from collections.abc import Callable

import pytest
from recorded_driver import RecordedDriver
from vendor_displays import vendor_display

from napalm_cloudengine.displays import commits, lldp, lossless, routing, system
from napalm_cloudengine.displays.commits import TrialStatus, read_trial
from napalm_cloudengine.displays.interface_fields import read_ports
from napalm_cloudengine.displays.interfaces import read_names
from napalm_cloudengine.displays.lines import DisplayAnswer, UnreadableError

DETAIL = vendor_display("lldp-neighbor")


def changed(text: str, old: str, new: str) -> str:
    """A text with one thing in it changed."""
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize("word", ["neighbor(s)", "neighbors", "neighbor", "neighbor(s) "])
def test_a_port_of_lldp_has_neighbours_in_any_number_of_the_word(word: str) -> None:
    text = changed(DETAIL, "neighbor(s)", word)
    assert lldp.read_detail(DisplayAnswer("display", text)) == lldp.read_detail(
        DisplayAnswer("display", DETAIL)
    )
    driver = RecordedDriver({"display lldp neighbor": text})
    [neighbors] = driver.get_lldp_neighbors_detail().values()
    assert [neighbor["remote_system_name"] for neighbor in neighbors] == ["spine01"]


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("1/0/1 has 1", "1/0/1 has 2", 1, "2 neighbours of 100GE1/0/1 announced, 1 read"),
        ("1/0/1 has 1 n", "1/0/1 hears 1 n", 3, "'Neighbor index .*' is of no port"),
        ("1/0/2 has 0", "1/0/2 has 1", 21, "1 neighbours of 100GE1/0/2 announced, 0 read"),
    ],
)
def test_neighbours_that_are_not_as_many_as_announced_are_refused(
    old: str, new: str, line: int, what: str
) -> None:
    with pytest.raises(UnreadableError, match=f"line {line}: {what}"):
        lldp.read_detail(DisplayAnswer("display", changed(DETAIL, old, new)))


def test_no_neighbour_at_all_is_none() -> None:
    assert lldp.read_detail(DisplayAnswer("display", "")) == []
    assert lldp.read_detail(DisplayAnswer("display", "Info: LLDP is not enabled.")) == []


@pytest.mark.parametrize("text", ["Info: Incomplete command.", "The board is busy."])
@pytest.mark.parametrize("read", [lldp.read_detail, lldp.read_brief])
def test_a_failure_is_not_an_answer_without_neighbours(
    read: Callable[[DisplayAnswer], object], text: str
) -> None:
    with pytest.raises(UnreadableError, match="line 1: "):
        read(DisplayAnswer("display", text))


BRIEF = "Local Interface         Exptime(s) Neighbor Interface      Neighbor Device\n"
OLDER = "Local Intf       Neighbor Dev             Neighbor Intf             Exptime(s)\n"


@pytest.mark.parametrize(
    ("text", "port", "device"),
    [
        (BRIEF + "100GE1/0/1   96   Ethernet port 1/1   spine 01", "Ethernet port 1/1", "spine 01"),
        (BRIEF + "100GE1/0/1 96 00e0-fc12-3456 spine01", "00e0-fc12-3456", "spine01"),
        (BRIEF + "100GE1/0/1   96   100GE1/0/4 spine 01", "100GE1/0/4", "spine 01"),
        (OLDER + "100GE1/0/1   spine 01 100GE1/0/4   96", "100GE1/0/4", "spine 01"),
    ],
)
def test_a_neighbour_in_brief_is_read_where_its_columns_are_clear(
    text: str, port: str, device: str
) -> None:
    [neighbor] = lldp.read_brief(DisplayAnswer("display", text))
    assert (neighbor.local, neighbor.port, neighbor.device) == ("100GE1/0/1", port, device)


@pytest.mark.parametrize(
    "text",
    [
        BRIEF + "100GE1/0/1   96   Ethernet port 1/1 spine01",
        OLDER + "100GE1/0/1   spine01 Ethernet port 1/1   96",
        BRIEF + "100GE1/0/1   96   spine01",
    ],
)
def test_a_neighbour_in_brief_is_not_guessed(text: str) -> None:
    with pytest.raises(UnreadableError, match=r"line 2: '100GE1/0/1 .*' has not 4 cells"):
        lldp.read_brief(DisplayAnswer("display", text))


SENT = ("tx_unicast_packets", "tx_multicast_packets", "tx_broadcast_packets", "tx_discards")


@pytest.mark.parametrize("sample", ["interface-port-v300", "interface-port-v200"])
def test_counters_below_an_unknown_heading_do_not_replace_those_above(sample: str) -> None:
    text = vendor_display(sample)
    [expected] = port_counters(text)
    odd = changed(text, "    Output:\n", "    Output(total):\n")
    [counters] = port_counters(odd)
    assert expected["rx_discards"] != expected["tx_discards"]
    assert counters == expected | dict.fromkeys(SENT, -1)
    with pytest.raises(UnreadableError, match="shows no 'Discard' of its output"):
        read_ports(DisplayAnswer("display interface", odd))


def port_counters(text: str) -> list[dict[str, int]]:
    return list(RecordedDriver({"display interface": text}).get_interfaces_counters().values())


def test_a_value_that_is_shown_twice_must_be_the_same() -> None:
    free, clock = vendor_display("dir"), vendor_display("clock")
    again = changed(free, "(801,664 KB free)", "(801,664 KB free)\n2,994,228 KB total (1 KB free)")
    with pytest.raises(UnreadableError, match="free 1 here, 801664 above"):
        system.read_free_kbytes(DisplayAnswer("dir", again))
    zone = clock.strip().split("\n")[-1]
    same = DisplayAnswer("display clock", f"{clock.strip()}\n{zone}\n")
    assert system.read_clock(same) == system.read_clock(DisplayAnswer("display clock", clock))
    other = f"{clock.strip()}\n{changed(zone, '08:00', '09:00')}\n"
    with pytest.raises(UnreadableError, match=r"offset '\+09:00' here, '\+08:00' above"):
        system.read_clock(DisplayAnswer("display clock", other))


@pytest.mark.parametrize(
    ("text", "serial"),
    [
        ("ESN of chassis 1:102532001122", "102532001122"),
        (" ESN of slot 1 : 2102350DYT (master)", "2102350DYT"),
        (" ESN of slot 1: \n ESN of slot 2: 2102350DYU", "2102350DYU"),
        (" ESN of slot 1: 2102350DYT\n ESN of slot 2: 2102350DYU", "2102350DYT"),
        ("ESN : 2102350DYT of 1", "2102350DYT"),
    ],
)
def test_the_first_serial_number_is_the_first_word_behind_its_label(text: str, serial: str) -> None:
    assert system.read_serial(DisplayAnswer("display device esn", text)) == serial


RELEASES = {
    "version-v300": "CE6800 V300R023C00",
    "version-v200": "CE8850EI V200R005C10SPC800",
}


@pytest.mark.parametrize("behind", ["", " patch V200R005SPH010", " (debug)"])
@pytest.mark.parametrize("sample", RELEASES)
def test_a_release_is_what_is_in_its_brackets(sample: str, behind: str) -> None:
    text = vendor_display(sample)
    version = system.read_version(DisplayAnswer("display version", text))
    release = RELEASES[sample]
    assert version.os_version == release
    odd = changed(text, f"({release})", f"({release}){behind}")
    assert system.read_version(DisplayAnswer("display version", odd)) == version


def test_a_model_may_hold_a_blank() -> None:
    text = vendor_display("version-v200")
    odd = changed(text, "CE8850-64CQ-EI", "CE6881-48S6CQ (V2)")
    assert system.read_version(DisplayAnswer("display version", odd)).model == "CE6881-48S6CQ (V2)"


@pytest.mark.parametrize(
    ("address", "mac"),
    [
        ("00e0-fc12-3456", "00:E0:FC:12:34:56"),
        ("00e0-fc12-3456 (virtual)", "00:E0:FC:12:34:56"),
        ("--", ""),
        ("", ""),
        ("unknown", ""),
    ],
)
def test_an_interface_without_a_mac_address_has_none(address: str, mac: str) -> None:
    text = changed(vendor_display("interface-port-v200"), "00e0-fc12-3456", address)
    [port] = RecordedDriver({"display interface": text}).get_interfaces().values()
    assert port["mac_address"] == mac


@pytest.mark.parametrize(
    ("old", "new", "key", "what"),
    [
        ("1.24  ", "1.2.4 ", "*10.1.0.4", "line 11: '1.2.4' is no asn"),
        ("65002", "AS652", "10.1.0.2", "line 10: 'AS652' is no asn"),
    ],
)
def test_an_as_number_that_is_none_names_its_line(old: str, new: str, key: str, what: str) -> None:
    whole = vendor_display("bgp-peer")
    table = routing.read_peers(DisplayAnswer("display bgp peer", changed(whole, old, new)))
    address = key.removeprefix("*")
    peers = routing.read_peers(DisplayAnswer("display bgp peer", whole)).peers
    assert table.peers == tuple(peer for peer in peers if peer.address != address)
    [line] = table.unread
    assert (str(line), line.key) == (f"'display bgp peer', {what}", key)


def test_the_own_as_number_and_the_last_row_must_be_read() -> None:
    text = vendor_display("bgp-peer")
    for old, new, what in (
        (": 65101", ": AS1", "line 3: 'AS1' is no local as"),
        ("00:00:07        Idle        0", "00:00:07        Idle", "line 12: .* has not 9 cells"),
    ):
        with pytest.raises(UnreadableError, match=what):
            routing.read_peers(DisplayAnswer("display bgp peer", changed(text, old, new)))


@pytest.mark.parametrize("row", ["* 10.1.0.4 ", "*  10.1.0.4", "*10.1.0.4  "])
def test_the_star_of_a_dynamic_peer_may_be_apart(row: str) -> None:
    text = vendor_display("bgp-peer")
    odd = changed(text, "*10.1.0.4  ", row)
    assert routing.read_peers(DisplayAnswer("display", odd)) == routing.read_peers(
        DisplayAnswer("display", text)
    )


def test_the_most_pfc_profiles_need_not_be_shown() -> None:
    text = vendor_display("dcb-pfc-profile")
    line = next(line for line in text.split("\n") if "Maximum" in line)
    odd = changed(text, f"{line}\n", "")
    assert lossless.read_profiles(DisplayAnswer("display", odd)) == lossless.read_profiles(
        DisplayAnswer("display", text)
    )


def test_the_state_of_a_trial_may_have_a_remark() -> None:
    text = "Trial status: ACTIVE (persist)\nPersist id: a\nTrial time left (sec): 9\n"
    assert read_trial(DisplayAnswer("display", text)) == TrialStatus("ACTIVE", 9, "a")


def test_ai_ecn_has_eight_queues() -> None:
    text = vendor_display("ai-ecn-calculated-state")
    [line, *_] = [line for line in text.split("\n") if line.startswith("100GE1/0/1 ")]
    whole = lossless.STATE.read(DisplayAnswer("display", text))
    for queue in ("8", "-"):
        odd = changed(text, line, line.replace("  4 ", f"  {queue} ", 1))
        rows = lossless.STATE.read(DisplayAnswer("display", odd))
        assert [row for row in whole if row not in rows] == [whole[0]]
        assert [each.why.partition(" is ")[0] for each in rows.unread] == [f"'{queue}'"]


def test_facts_need_the_names_of_interfaces_alone() -> None:
    text = vendor_display("interface-brief-v300")
    names = read_names(DisplayAnswer("display", text))
    odd = changed(text, "NULL0", "25GE1/0/3 (10G)  up")
    odd += "\nJan 02 2026 10:00:00 leaf01 %%01IFNET/4/IF_STATE(l):Interface 10GE1/0/1 is up.\n"
    assert read_names(DisplayAnswer("display", odd)) == [*names[:-1], "25GE1/0/3"]


MESSAGES = [
    "Info: The system is busy.",
    "Jan 02 2026 10:00:00 leaf01 %%01IFNET/4/IF_STATE(l):Interface 10GE1/0/1 is up.",
    "2026-01-02 10:00:00",
]


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_may_be_before_the_first_interface(message: str) -> None:
    text = vendor_display("interface-port-v200")
    plain = RecordedDriver({"display interface": text})
    driver = RecordedDriver({"display interface": f"{message}\n{text}"})
    assert driver.get_interfaces() == plain.get_interfaces()
    assert driver.get_interfaces_counters() == plain.get_interfaces_counters()


def test_what_is_no_message_before_the_first_interface_is_refused() -> None:
    text = f"    Input:\n{vendor_display('interface-port-v200')}"
    with pytest.raises(UnreadableError, match="line 1: '    Input:' belongs to no interface"):
        RecordedDriver({"display interface": text}).get_interfaces()


PORT = {"interface": "100GE1/0/1", "queue": 4, "xoff": "600(K)"}


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("Interface Queue Xoff\n100GE1/0/1 4 600(K)", PORT),
        ("Interface Queue Xoff Xon\n100GE1/0/1 4 600(K) 550(K)", PORT | {"xon": "550(K)"}),
    ],
)
def test_thresholds_are_read_by_the_titles_of_their_columns(text: str, row: object) -> None:
    assert lossless.read_thresholds(DisplayAnswer("display dcb pfc buffer", text)) == [row]


@pytest.mark.parametrize(
    ("heading", "what"),
    [
        ("Interface Queue Xon", "line 1: 'Interface Queue Xon' is not the documented heading"),
        ("Interface Queue Xoff Xoff", "line 1: '.*' is not the documented heading"),
        ("Interface Queue Xoff Xofo", "line 1: '.*' is not the documented heading"),
        ("Interface Queue Xoff Xon-Offset", "line 2: Xon-Offset is shown without Xon or Xon-Lo"),
    ],
)
def test_columns_that_are_not_known_or_too_few_are_refused(heading: str, what: str) -> None:
    with pytest.raises(UnreadableError, match=what):
        lossless.read_thresholds(DisplayAnswer("display", f"{heading}\n100GE1/0/1 4 600(K) 550(K)"))


def test_lldp_in_brief_is_read_by_the_titles_of_its_columns() -> None:
    text = """\
Local Intf   Neighbor Intf   Neighbor Device   Exptime (sec)
100GE1/0/1   100GE1/0/4      spine 01          96
"""
    [neighbor] = lldp.read_brief(DisplayAnswer("display lldp neighbor brief", text))
    assert (neighbor.local, neighbor.port, neighbor.device) == (
        "100GE1/0/1",
        "100GE1/0/4",
        "spine 01",
    )


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("1) CommitId: 1000000114\n        Description: plan 5f3a: wave 1\n", "plan 5f3a: wave 1"),
        ("1) CommitId: 1000000114\n        Label: -\n        Description:\n", ""),
        ("1) CommitId: 2\n  Description: new\n2) CommitId: 1\n  Description: old\n", "new"),
        ("Info: there is no commit.\n", ""),
    ],
)
def test_the_description_of_a_commit_is_that_of_the_first_entry(
    text: str, description: str
) -> None:
    assert commits.commit(text) == commits.CommitEntry(text.strip(), description)
