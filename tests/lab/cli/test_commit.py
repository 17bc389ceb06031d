"""Commit, trial and rollback with all their words, limits and displays (V300R023C00)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from rocefort.emulator.switch.personality import Personality
from rocefort.emulator.switch.switch import MOST_POINTS, EmulatedSwitch
from rocefort.models.hardware.hardware import SyntaxFamily

if TYPE_CHECKING:
    OpenTalk = Callable[[EmulatedSwitch], Any]  # a Talk of tests/lab/conftest.py
    MakeSwitch = Callable[..., EmulatedSwitch]

MTU = ("system-view", "interface 100GE1/0/1", "mtu 9100")
INACTIVE = "Trial status: INACTIVE\nTrial time left (sec): 0"


def mtu_of(switch: EmulatedSwitch) -> str:
    """Return the MTU line of the first port, as running."""
    port = next(line for line in switch.running if line.text == "interface 100GE1/0/1")
    return next(line.text for line in port.children if line.text.startswith("mtu"))


@pytest.mark.parametrize(
    ("line", "taken"),
    [
        ("commit trial 60", True),
        ("commit trial 65535", True),
        ("commit trial 59", False),
        ("commit trial 65536", False),
        ("commit trial x", False),
        ("commit label " + "a" * 256, True),
        ("commit label " + "a" * 257, False),
        ("commit label 1st", False),
        ("commit label -", False),
        ('commit label "two words"', True),
        ('commit label "two words', False),
        ("commit label a description b c", True),
        ("commit description " + "d" * 60, True),
        ("commit description " + "d" * 61, False),
        ("commit description größer", False),
        ("commit trial label a description b", True),
        ("commit trial 60 label a persist b description c d", True),
        ("commit label a persist b", False),
        ("commit persist " + "p" * 257, False),
        ('commit comment "x"', False),
    ],
)
def test_the_words_of_commit_and_their_limits(
    switch: EmulatedSwitch, open_talk: OpenTalk, line: str, taken: bool
) -> None:
    talk = open_talk(switch)
    refused = "Error:" in talk(*MTU, line)
    assert (refused, len(switch.points)) == ((False, 1) if taken else (True, 0))
    assert talk.prompt.startswith("[~" if taken else "[*")


def test_a_description_is_at_most_60_characters(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    talk = open_talk(switch)
    refused = talk(*MTU, f"commit description {'x' * 61}")
    assert refused.endswith("Error: Wrong parameter found at '^' position.")
    assert not switch.points
    assert talk(f"commit description {'x' * 60}") == ""
    assert switch.points[0].description == "x" * 60


def test_a_label_in_quotation_marks_is_found_again(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    talk = open_talk(switch)
    talk(*MTU, 'commit label "before the move"', "mtu 9200", "commit", "return")
    assert switch.points[0].label == "before the move"
    assert talk('rollback configuration to label "before the move"', "y").startswith("Checking")
    assert mtu_of(switch) == "mtu 9100"


def test_a_trial_ends_on_time_while_nobody_is_logged_in(
    make_switch: MakeSwitch, open_talk: OpenTalk, clock: Any
) -> None:
    begin = datetime(2026, 1, 2, 3, 0, 0, tzinfo=UTC)
    now = lambda: begin + timedelta(seconds=clock.seconds)  # noqa: E731
    switch = make_switch(now=now, personality=Personality("survives"))
    talk = open_talk(switch)
    talk(*MTU, "commit trial 60")
    talk.session.close()
    clock.seconds += 3600
    again = open_talk(switch)
    assert mtu_of(switch) == "mtu 9000"
    assert again("display configuration trial status") == INACTIVE
    rolled_back = again("display configuration commit list verbose 1").splitlines()
    assert rolled_back == [
        "1) CommitId: 1000000002",
        "        Label: -",
        "        User: SYSTEM",
        "        User-Intf:",
        "        Type: ROLLBACK",
        "        TimeStamp: 2026-01-02 03:01:00",
        "        Description:",
    ], "when the time was over, not the time of the next query"


@pytest.mark.parametrize(
    ("started", "owner_left", "line", "reply", "outcome"),
    [
        ("commit trial", False, "commit persist a", "persist ID of the trial", "running"),
        ("commit trial", True, "commit persist a", "persist ID of the trial", "running"),
        ("commit trial", True, "commit", "", "confirmed"),
        ("commit trial", True, "commit trial 90", "in 90 seconds", "running"),
        ("commit trial", False, "commit trial 90", "in trial configuration mode", "running"),
        ("commit trial persist a", True, "commit", "", "running"),
        ("commit trial persist a", True, "commit trial", "trial of another persist ID", "running"),
        ("commit trial persist a", True, "commit persist b", "another persist ID", "running"),
        ("commit trial persist a", True, "commit persist a", "", "confirmed"),
        ("commit trial persist a", False, "commit persist a", "", "confirmed"),
        ("commit trial persist a", True, "commit trial 90 persist a", "in 90 seconds", "running"),
        ("commit", False, "commit persist a", "The trial configuration does not exist", "none"),
    ],
)
def test_who_confirms_whose_trial(
    make_switch: MakeSwitch,
    open_talk: OpenTalk,
    started: str,
    owner_left: bool,
    line: str,
    reply: str,
    outcome: str,
) -> None:
    switch = make_switch(personality=Personality("survives"))
    talk, other = open_talk(switch), open_talk(switch)
    talk(*MTU, started)
    if owner_left:
        talk.session.close()
    assert reply in other("system-view", line)
    assert (switch.trial is not None) is (outcome == "running")
    assert mtu_of(switch) == "mtu 9100"


def test_an_uncommitted_line_is_not_slipped_into_a_persistent_trial(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    talk = open_talk(switch)
    talk(*MTU, "commit trial persist a", "mtu 9200")
    assert talk("commit") == "Error: The system is in the trial of another persist ID."
    assert mtu_of(switch) == "mtu 9100"
    assert talk("commit persist a") == ""
    assert (mtu_of(switch), switch.trial) == ("mtu 9200", None)


def test_where_a_trial_survives_its_session_another_aborts_it(
    make_switch: MakeSwitch, open_talk: OpenTalk
) -> None:
    switch = make_switch(personality=Personality("survives"))
    talk, other = open_talk(switch), open_talk(switch)
    talk(*MTU, "commit trial")
    other("system-view")
    assert other("abort trial session 7") == "Error: The trial configuration does not exist."
    other("abort trial session 1")
    assert other("y") == "Info: The trial configuration rollback succeeded."
    assert mtu_of(switch) == "mtu 9000"


def test_a_trial_that_ends_while_its_abort_is_asked_is_not_aborted_twice(
    switch: EmulatedSwitch, open_talk: OpenTalk, clock: Any
) -> None:
    talk = open_talk(switch)
    talk(*MTU, "commit trial 60", "abort trial")
    clock.seconds += 60
    assert talk("y") == "Error: The trial configuration does not exist."
    assert len(switch.points) == 2


def test_rollback_ends_the_own_trial_and_not_that_of_another(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    talk, other = open_talk(switch), open_talk(switch)
    talk(*MTU, "commit trial", "return")
    refused = "Error: The system is in trial configuration mode."
    assert other("rollback configuration last 1", "y") == refused
    assert mtu_of(switch) == "mtu 9100"
    assert "succeeded" in talk("rollback configuration last 1", "y")
    assert (mtu_of(switch), switch.trial) == ("mtu 9000", None)


def test_what_commits_changed(switch: EmulatedSwitch, open_talk: OpenTalk) -> None:
    talk = open_talk(switch)
    talk(*MTU, "commit label a", "quit", "lldp enable", "commit")
    lldp = "  #\n+ lldp enable\n  #"
    mtu = "  #\n  interface 100GE1/0/1\n-  mtu 9000\n+  mtu 9100\n  #"
    stamp = "2026-01-02 03:04:05"
    assert talk("display configuration commit changes at 1000000001") == (
        f"Building configuration\n{mtu}"
    )
    assert talk("display configuration commit changes since 1000000001") == (
        f"Building configuration\n{lldp}"
    )
    assert talk("display configuration commit changes last 1") == f"Building configuration\n{lldp}"
    assert talk("display configuration commit changes 2") == (
        "Building configuration\n"
        f"Commit changes of commitId 1000000002 {stamp}\n{lldp}\n"
        f"Commit changes of commitId 1000000001 {stamp}\n{mtu}"
    )
    assert talk("display configuration changes label a running") == (
        f"Building configuration\n{lldp}"
    )
    assert talk("display configuration changes running label a") == (
        "Building configuration\n  #\n- lldp enable\n  #"
    )
    assert "+ lldp enable" in talk("display configuration changes"), "not saved yet"
    assert "\nlldp enable\n" not in talk("display configuration commit at 1000000001")
    assert "\nlldp enable\n" in talk("display configuration commit at 1000000002")
    for unknown in ("at 7", "since 7", "last 3"):
        assert talk(f"display configuration commit changes {unknown}").endswith(
            "Error: Wrong parameter found at '^' position."
        )
    assert talk("display configuration commit list label").count("10000000") == 1


@pytest.mark.parametrize("left", [False, True])
def test_where_a_trial_is_its_sessions_alone_others_wait_for_the_timer(
    make_switch: MakeSwitch, open_talk: OpenTalk, clock: Any, left: bool
) -> None:
    switch = make_switch(personality=Personality("session-only"))
    owner, other = open_talk(switch), open_talk(switch)
    owner(*MTU, "commit trial 600")
    if left:
        owner.session.close()
    message = "Error: The system is in trial configuration mode."
    other("system-view")
    for line in ("commit", "commit trial 60", "abort trial", "abort trial session 1"):
        assert other(line) == message
    assert other("lldp enable", "commit") == message
    assert other("clear configuration candidate") == ""
    assert other("return", "rollback configuration last 1", "y") == message
    assert (mtu_of(switch), switch.trial_left()) == ("mtu 9100", 600)
    clock.seconds += 600
    assert other("display configuration trial status").startswith("Trial status: INACTIVE")
    assert mtu_of(switch) == "mtu 9000"


def test_the_session_of_a_trial_ends_it_itself_and_an_id_opens_it_to_others(
    make_switch: MakeSwitch, open_talk: OpenTalk
) -> None:
    switch = make_switch(personality=Personality("session-only"))
    owner, other = open_talk(switch), open_talk(switch)
    owner(*MTU, "commit trial", "abort trial")
    assert owner("y") == "Info: The trial configuration rollback succeeded."
    assert owner(*MTU[1:], "commit trial", "commit") == ""
    assert (mtu_of(switch), switch.trial) == ("mtu 9100", None)
    owner("mtu 9200", "commit trial persist ours")
    owner.session.close()
    assert other("system-view", "commit persist ours") == ""
    assert (mtu_of(switch), switch.trial) == ("mtu 9200", None)


def test_eighty_rollback_points_are_kept(switch: EmulatedSwitch, open_talk: OpenTalk) -> None:
    talk = open_talk(switch)
    talk("system-view")
    for number in range(MOST_POINTS + 2):
        talk(f"sysname s{number}", "commit")
    assert len(switch.points) == 80
    assert (switch.points[0].number, switch.points[-1].number) == (1000000003, 1000000082)
    talk("return", "rollback configuration last 80", "y")
    assert switch.hostname == "s1"


def test_immediate_mode_commits_every_line_and_knows_no_candidate(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    talk = open_talk(switch)
    talk("system-view immediately")
    assert talk.prompt == "[leaf01]"
    talk("interface 100GE1/0/1", "mtu 9100")
    assert (talk.prompt, mtu_of(switch)) == ("[leaf01-100GE1/0/1]", "mtu 9100")
    for line in ("commit", "commit trial", "abort trial", "clear configuration candidate"):
        assert "Error: Unrecognized command" in talk(line)
    assert talk("quit", "interface 100GE1/0/2", "undo portswitch", "ip address 10.1.0.1 31") == (
        "Error: 10.1.0.1 of interface 100GE1/0/2 is already the address of interface 100GE1/0/1."
    )
    assert not switch.candidates
    talk("return")
    assert talk.prompt == "<leaf01>"


NO_MORE = "Error: The number of PFC queues of profile {} exceeds 3."


@pytest.mark.parametrize(
    ("family", "lines", "message"),
    [
        ("V300_G1", ["dcb pfc", "priority 4 5"], ""),
        ("V300_G1", ["dcb pfc", "priority 2 4 5"], NO_MORE.format("default")),
        ("V300_G1", ["dcb pfc", "priority 2 4 5", "undo priority 3"], ""),
        ("V300_G1", ["dcb pfc roce", "priority 2 4 5"], NO_MORE.format("roce")),
        ("V300_G2", ["dcb pfc", "priority 2 4 5"], ""),
        ("V300_G2", ["dcb pfc", "priority 2 4 5 6"], NO_MORE.format("default")),
        ("V200", ["dcb pfc", "priority 2 4 5 6"], ""),
        (
            "V300_G1",
            ["interface 100GE1/0/2", "dcb pfc enable roce mode manual"],
            "Error: The PFC profile roce of interface 100GE1/0/2 does not exist.",
        ),
        ("V300_G1", ["dcb pfc roce", "interface 100GE1/0/2", "dcb pfc enable roce"], ""),
        ("V300_G1", ["interface 100GE1/0/2", "dcb pfc enable mode manual"], ""),
        ("V300_G1", ["interface 100GE1/0/2", "dcb pfc enable default"], ""),
        (
            "V300_G1",
            ["interface 100GE1/0/2", "trust upstream roce"],
            "Error: The DiffServ domain roce of interface 100GE1/0/2 does not exist.",
        ),
        ("V300_G1", ["diffserv domain roce", "interface 100GE1/0/2", "trust upstream roce"], ""),
        ("V300_G1", ["interface 100GE1/0/2", "trust upstream none"], ""),
    ],
)
def test_what_only_the_whole_shows(
    make_switch: MakeSwitch, open_talk: OpenTalk, family: str, lines: list[str], message: str
) -> None:
    talk = open_talk(make_switch(family=SyntaxFamily[family]))
    assert talk("system-view", *lines, "commit") == message
    assert talk.prompt[1] == ("*" if message else "~"), "what is refused stays in the candidate"


def test_what_ran_before_may_run_on(make_switch: MakeSwitch, open_talk: OpenTalk) -> None:
    startup = "#\nsysname leaf01\n#\ninterface 100GE1/0/1\n trust upstream gone\n#\nreturn\n"
    talk = open_talk(make_switch(startup=startup))
    assert talk("system-view", "lldp enable", "commit") == ""


@pytest.mark.parametrize(
    ("typed", "under"),
    [
        ("interface 100GE1/0/9", "100GE1/0/9"),
        ("interface 400GE 1/0/1", "400GE 1/0/1"),
        ("int 25GE1/0/1", "25GE1/0/1"),
        ("port split dimension interface 100GE1/0/9 split-type 4*25GE", "100GE1/0/9"),
    ],
)
def test_a_port_that_the_hardware_does_not_have_is_no_parameter(
    make_switch: MakeSwitch, open_talk: OpenTalk, typed: str, under: str
) -> None:
    talk = open_talk(make_switch(ports=("100GE1/0/1", "100GE1/0/2")))
    talk("system-view")
    column = len("[~leaf01]") + typed.index(under)
    assert talk(typed) == f"{' ' * column}^\nError: Wrong parameter found at '^' position."
    assert talk.prompt == "[~leaf01]"
    split = "port split dimension interface 100GE1/0/2 split-type 4*25GE"
    talk(split, "y", "interface 100GE1/0/2:4", "interface Vlanif7", "interface 100GE 1/0/1")
    assert talk.prompt == "[*leaf01-100GE1/0/1]"
