"""The pure readers against the outputs that the vendor's command reference shows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from napalm_cloudengine import parse
from napalm_cloudengine.displays.commits import TrialStatus, read_trial
from napalm_cloudengine.displays.interfaces import read_names
from napalm_cloudengine.displays.lines import DisplayAnswer
from napalm_cloudengine.displays.routing import BgpPeerRow, BgpTable, read_peers
from napalm_cloudengine.displays.system import SoftwareVersion, read_serial, read_version
from napalm_cloudengine.parse import Prompt
from napalm_cloudengine.reading import napalm_facts, napalm_neighbors


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<leaf01>", Prompt("leaf01", False, "")),
        ("Info: done.\n<HUAWEI> ", Prompt("HUAWEI", False, "")),
        ("\n[~leaf01]", Prompt("leaf01", True, "~")),
        ("\n[*leaf01-100GE1/0/1:1]", Prompt("leaf01-100GE1/0/1:1", True, "*")),
        ("\n[*H-bgp-af-ipv4]", Prompt("H-bgp-af-ipv4", True, "*")),
        ("\n[leaf01]", Prompt("leaf01", True, "")),
        ("\n<a [b] <c>>", Prompt("a [b] <c>", False, "")),  # sysname: "with spaces supported"
        ("\n[*[a]-100GE1/0/1]", Prompt("[a]-100GE1/0/1", True, "*")),
    ],
)
def test_a_prompt_stands_alone_on_the_last_line(text: str, expected: Prompt) -> None:
    assert parse.find_prompt(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Authorized users [staff]",
        " description to <spine01>",
        "<leaf01>\nmore",
        "[*leaf01",
        "Continue? [Y/N]",
    ],
)
def test_brackets_elsewhere_are_no_prompt(text: str) -> None:
    assert parse.find_prompt(text) is None


@pytest.mark.parametrize(
    ("text", "question", "cancel"),
    [
        ("Are you sure to continue? (y/n)[n]:", "Are you sure to continue? (y/n)[n]:", False),
        ("Info: x.\nContinue? [Y/N][n]:", "Info: x. Continue? [Y/N][n]:", False),
        (
            "Warning: The trial configuration will be rolled back. Continue? [Y/N]:",
            "Warning: The trial configuration will be rolled back. Continue? [Y/N]:",
            False,
        ),
        (
            "Warning: all configuration will be written.\nAre you sure to continue?[Y/N]",
            "Warning: all configuration will be written. Are you sure to continue?[Y/N]",
            False,
        ),
        (
            "Warning: Uncommitted configurations found. [Y(yes)/N(no)/C(cancel)]:",
            "Warning: Uncommitted configurations found. [Y(yes)/N(no)/C(cancel)]:",
            True,
        ),
        ("one\ntwo\nReally (y/n)? ", "two Really (y/n)?", False),
    ],
)
def test_a_question_is_found_and_put_on_one_line(text: str, question: str, cancel: bool) -> None:
    assert parse.find_question(text) == question
    assert parse.offers_cancel(text) is cancel


@pytest.mark.parametrize("text", ["[Y/N]: Y\n<leaf01>", "see manual [Y/NA]", "", "[~leaf01]"])
def test_what_does_not_end_with_a_choice_is_no_question(text: str) -> None:
    assert parse.find_question(text) is None


@pytest.mark.parametrize("text", ["Enter Password:", "Please enter old password: "])
def test_a_question_for_a_password_is_one(text: str) -> None:
    assert parse.asks_for_password(f"Info: x.\n{text}")
    assert not parse.asks_for_password(f"{text}\n<leaf01>")


def test_only_line_ends_are_removed_and_a_pager_is_alone_on_the_last_line() -> None:
    raw = "interface 100GE1/0/1\r\n description \x1b[0m---- More\r ----\0\r\n<leaf01>"
    assert parse.plain_text(raw) == (
        "interface 100GE1/0/1\n description \x1b[0m---- More\r ----\0\n<leaf01>"
    )
    assert parse.waits_at_pager("sysname leaf01\n  ---- More ----")
    assert not parse.waits_at_pager("  ---- More ----\nsysname leaf01")
    assert not parse.waits_at_pager("sysname leaf01\n description ---- More ----")


@pytest.mark.parametrize(
    ("page", "rest"),
    [
        ("\x1b[16D                \x1b[16D one", " one"),
        ("\r                \r one", " one"),
        ("\x08\x08\x08   \x08\x08\x08one", "one"),
        ("\x1b[42D", ""),
        (" one", None),
    ],
)
def test_a_pager_erases_its_line(page: str, rest: str | None) -> None:
    assert parse.after_erasing(page) == rest
    assert parse.is_erasing(page) is page.endswith("D")


@pytest.mark.parametrize(
    "line",
    [
        "Error: Unrecognized command found at '^' position.",
        "error: Bad thing.",
        "  ERROR : no.",
        "Info: Operation failed.",
        "Info: The operation is not supported.",
        "Warning: Operation failed.",
        "Failed to set the MTU.",
        "% Invalid input detected",
        "     ^",
        "The request was rejected by the board.",
        "Info: Incomplete command.",
        "Info: The line conflicts with the port mode and does not take effect.",
        "Info: Unrecognized command.",
        "Warning: The priority does not take effect.",
        "Warning: The MTU differs. The line has not been applied.",
        "The operation timed out.",
    ],
)
def test_a_failure_is_seen_however_it_is_worded(line: str) -> None:
    expected = (" ".join(line.split()),)
    assert parse.failure_lines(f"Info: one\n{line}\n") == expected
    assert parse.failure_lines(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "Info: This operation may take a few seconds. Please wait for a moment...done.",
        "Info: Error: none",
        "Warning: Packets that are longer than the MTU of a neighbor cannot be forwarded.",
        "Warning: The MTU differs from the neighbor's.",
        "Warning: The value exceeds the limit of the buffer and cannot be restored.",
        "Warning: The line does not take effect until the port is up.",
        "Warning: Packets with an error in them are dropped. They cannot be counted.",
        "Nov 27 2026 10:00:00 leaf01 %%01CLI/5/CMDFAILED(l):The command failed.",
    ],
)
def test_notes_and_log_lines_are_no_failures(line: str) -> None:
    assert parse.failure_lines(line) == ()


NOTES = (
    ("Warning: The value exceeds the limit of the buffer and cannot be restored.", False),
    ("Warning: Packets with an error in them are dropped. They cannot be counted.", False),
    ("Warning: The MTU differs. The line has not been applied to the port.", True),
    ("Info: This operation may take a few seconds. Please wait for a moment...done.", False),
    ("Info: The line conflicts with the mode of the port and does not take effect.", True),
    ("Error: The operation is not supported on this board.", True),
)


@given(st.sampled_from(NOTES), st.data())
def test_a_note_is_judged_alike_however_a_terminal_wraps_it(
    note: tuple[str, bool], data: st.DataObject
) -> None:
    text, fails = note
    gaps = [data.draw(st.sampled_from((" ", "\n", "\n  "))) for _ in text.split()]
    wrapped = "".join(f"{word}{gap}" for word, gap in zip(text.split(), gaps, strict=True))
    assert bool(parse.failure_lines(wrapped)) is fails
    assert parse.unknown_line(wrapped) == ("" if text[0] != "E" else wrapped.split("\n")[0].strip())


@pytest.mark.parametrize("line", ["Failed to set it.", "Operation failed.", "Error: No.", "^"])
def test_a_failure_below_a_warning_is_not_part_of_it(line: str) -> None:
    assert parse.failure_lines(f"Warning: The MTU differs\n{line}") == (line,)


def test_only_notes_and_answered_questions_are_known_replies() -> None:
    question = "All data will be lost. Continue? [Y/N]:"
    assert parse.unknown_line(f"{question}\nInfo: done\nand more of it", (question,)) == ""
    assert parse.unknown_line(f"{question}\nInfo: done") == question
    assert parse.unknown_line("\u64cd\u4f5c\u5931\u8d25\u3002") == "\u64cd\u4f5c\u5931\u8d25\u3002"


def test_only_lines_that_start_with_error_refuse() -> None:
    reply = (
        "        ^\n"
        "Error: Unrecognized command found at '^' position.\n"
        "Warning: no Error: here\n"
        "Info: done\n"
    )
    assert parse.error_lines(reply) == ("Error: Unrecognized command found at '^' position.",)


@pytest.mark.parametrize(
    ("reply", "diff"),
    [
        (
            "Building configuration\n  #\n  interface Tunnel1\n- mtu 1400\n+  mtu 1300\n  #\n",
            "  #\n  interface Tunnel1\n- mtu 1400\n+  mtu 1300\n  #",
        ),
        ("Building configuration\n", ""),
        ("", ""),
    ],
)
def test_the_diff_is_the_devices_without_its_heading(reply: str, diff: str) -> None:
    assert parse.candidate_diff(reply) == diff


def test_a_change_that_is_marked_further_in_is_a_change_too() -> None:
    assert parse.candidate_diff("Building configuration\n  + vlan 10\n") == "  + vlan 10"


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("Trial status: INACTIVE \nTrial time left (sec): 0\n", TrialStatus("INACTIVE", 0)),
        ("Trial status:  ACTIVE\nTrial time left (sec): 51\n", TrialStatus("ACTIVE", 51)),
        (
            "Trial status: ACTIVE \nPersist id: IQ,d4668\nTrial time left (sec): 30\n",
            TrialStatus("ACTIVE", 30, "IQ,d4668"),
        ),
        ("Trial status: WAITCANCEL", TrialStatus("WAITCANCEL", None)),
        ("Trial status: ACTIVE\nPersist id: a", TrialStatus("ACTIVE", None, "a")),
        ("Trial status: INACTIVE", TrialStatus("INACTIVE", 0)),
    ],
)
def test_trial_status(reply: str, status: TrialStatus) -> None:
    assert read_trial(DisplayAnswer("display configuration trial status", reply)) == status


@pytest.mark.parametrize("reply", ["", "Trial status: SLEEPING", "Error: Unrecognized command"])
def test_what_is_no_trial_status_is_not_taken_for_inactive(reply: str) -> None:
    with pytest.raises(ValueError, match="not a trial status"):
        read_trial(DisplayAnswer("display configuration trial status", reply))


V300 = """\
Huawei Versatile Routing Platform Software
YunShan OS, Version 1.23.0.X (CE6800 V300R023C00)
Copyright (C) 2021-2023 Huawei Technologies Co., Ltd.
HUAWEI CE6866-48S8CQ-P uptime is 0 day, 5 hours, 32 minutes
Patch Version: XXX

XXX (Master) 1 : uptime is  1 day, 22 hours, 35 minutes
"""
V200 = """\
Huawei Versatile Routing Platform Software
VRP (R) software, Version 8.180 (CE8850EI V200R005C10SPC800)
HUAWEI CE8850-64CQ-EI uptime is 162 days, 0 hour, 4 minutes
"""


def version(text: str) -> SoftwareVersion:
    return read_version(DisplayAnswer("display version", text))


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (V300, SoftwareVersion("CE6800 V300R023C00", "CE6866-48S8CQ-P", 5 * 3600 + 32 * 60.0)),
        (
            V200,
            SoftwareVersion("CE8850EI V200R005C10SPC800", "CE8850-64CQ-EI", 162 * 86400 + 240.0),
        ),
        (
            "YunShan OS, Version 1.23.0.X (CE6800 V300R023C00)",
            SoftwareVersion("CE6800 V300R023C00", "", -1.0),
        ),
    ],
)
def test_version_of_both_generations(reply: str, expected: SoftwareVersion) -> None:
    assert version(reply) == expected


def test_another_vendors_version_is_refused() -> None:
    with pytest.raises(ValueError, match="no software version"):
        version("Arista DCS-7060CX-32S")


INTERFACES = """\
PHY: Physical
*down: administratively down
(l): loopback
InUti/OutUti: input utility rate/output utility rate
Interface                  PHY      Protocol  InUti OutUti   inErrors  outErrors
100GE1/0/1               *down    down         0%     0%          0          0
Eth-Trunk10                up       up         0%     0%          0          0
  100GE1/0/2               up       up         0%     0%          0          0
25GE1/0/3(10G)             up       up         0%     0%          0          0
MEth0/0/0                up       up        0.01%     0%          0          0
NULL0                    up       up(s)        0%     0%          0          0
"""


def test_facts_in_napalms_shape() -> None:
    names = read_names(DisplayAnswer("display interface brief", INTERFACES))
    assert names == ["100GE1/0/1", "Eth-Trunk10", "100GE1/0/2", "25GE1/0/3", "MEth0/0/0", "NULL0"]
    assert napalm_facts("leaf01", version(V300), "2102350DYT", names) == {
        "uptime": 19920.0,
        "vendor": "Huawei",
        "os_version": "CE6800 V300R023C00",
        "serial_number": "2102350DYT",
        "model": "CE6866-48S8CQ-P",
        "hostname": "leaf01",
        "fqdn": "leaf01",
        "interface_list": names,
    }


@pytest.mark.parametrize(
    ("reply", "serial"),
    [
        (" ESN of slot 1: 2102350DYT10K1000045\n", "2102350DYT10K1000045"),
        ("ESN of master:2102350DYT", "2102350DYT"),
        ("ESN : 2102350ABC", "2102350ABC"),
        ("Error: Unrecognized command found at '^' position.", ""),
    ],
)
def test_serial_number(reply: str, serial: str) -> None:
    assert read_serial(DisplayAnswer("display device esn", reply)) == serial


def test_interfaces_without_a_heading_are_refused() -> None:
    with pytest.raises(ValueError, match="line 1: 0 headings of its table instead of one"):
        read_names(DisplayAnswer("display interface brief", "100GE1/0/1 up up 0% 0% 0 0"))


PEERS = """\
 Status codes: * - Dynamic
 BGP local router ID : 10.2.3.4
 Local AS number : 10
 Total number of peers : 2
 Peers in established state : 1
 Total number of dynamic peers : 1
  Peer          V    AS  MsgRcvd  MsgSent  OutQ  Up/Down       State PrefRcv
  10.1.1.1       4   100        0        0     0 00:00:07        Idle       0
 *10.2.2.2       4   1.10      32       35     0 0025h30m Established       7
"""


def bgp_peers(text: str) -> BgpTable:
    return read_peers(DisplayAnswer("display bgp peer", text))


def test_bgp_peers_with_a_dynamic_one_and_a_dotted_as() -> None:
    assert bgp_peers(PEERS) == BgpTable(
        "10.2.3.4",
        10,
        (
            BgpPeerRow("10.1.1.1", 100, 7, "Idle", 0),
            BgpPeerRow("10.2.2.2", 65546, (25 * 60 + 30) * 60, "Established", 7),
        ),
    )


def test_bgp_peers_in_napalms_shape() -> None:
    peers = napalm_neighbors(bgp_peers(PEERS))["global"]["peers"]
    assert napalm_neighbors(bgp_peers(PEERS))["global"]["router_id"] == "10.2.3.4"
    assert peers["10.2.2.2"] == {
        "local_as": 10,
        "remote_as": 65546,
        "remote_id": "",
        "is_up": True,
        "is_enabled": True,
        "description": "",
        "uptime": 91800,
        "address_family": {
            "ipv4": {"received_prefixes": 7, "accepted_prefixes": -1, "sent_prefixes": -1}
        },
    }
    assert (peers["10.1.1.1"]["is_up"], peers["10.1.1.1"]["uptime"]) == (False, -1)
    assert peers["10.1.1.1"]["address_family"]["ipv4"]["received_prefixes"] == -1


def test_bgp_peers_of_older_vrp8_without_the_dynamic_lines() -> None:
    older = "\n".join(line for line in PEERS.splitlines() if "ynamic" not in line)
    assert bgp_peers(older) == bgp_peers(PEERS)


def test_a_switch_without_bgp_has_no_peers() -> None:
    assert bgp_peers("\n") == BgpTable("", 0, ())


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (
            ("Total number of peers : 2", "Total number of peers : 3"),
            "line 6: 3 BGP peers announced, 2",
        ),
        (("BGP local router ID", "Router"), "0 values of 'BGP local router ID' instead of one"),
    ],
)
def test_a_table_that_is_not_understood_is_refused(damage: tuple[str, str], sentence: str) -> None:
    old, new = damage
    text = PEERS.replace("0 00:00:07", "0  00:00:07")
    assert old in text
    with pytest.raises(ValueError, match=sentence):
        bgp_peers(text.replace(old, new))


def test_a_session_older_than_9999_hours_has_an_unknown_age() -> None:
    old = bgp_peers(PEERS.replace("0025h30m", "****h12m"))
    assert [peer.uptime_s for peer in old.peers] == [7, -1]
