"""Several users on one switch: locks, candidates, conflicts, terminals."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from rocefort.emulator.switch.logins import NoFreeTerminal
from rocefort.emulator.switch.switch import EmulatedSwitch

if TYPE_CHECKING:
    OpenTalk = Callable[..., Any]  # a Talk of tests/lab/conftest.py
    MakeSwitch = Callable[..., EmulatedSwitch]

MTU = ("system-view", "interface 100GE1/0/1", "mtu 9100")
LOCKED = "Error: The configuration is locked by other user. [Session ID = 1]"


def texts(switch: EmulatedSwitch) -> set[str]:
    """Return every running line."""
    return {line.text for top in switch.running for _, line in top.walk()}


def test_who_locks_the_configuration_alone_commits(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    talk, other = open_talk(switch, "alice"), open_talk(switch, "bob")
    assert talk("configuration exclusive") == ""
    assert other(*MTU) == "", "others may edit, and see"
    assert other("commit") == LOCKED
    assert other.prompt == "[*leaf01-100GE1/0/1]", "the lines are still there"
    assert other("configuration exclusive") == LOCKED
    assert other("undo configuration exclusive") == LOCKED
    assert other("quit", "quit", "n", "rollback configuration last 1").startswith(" "), "no point"
    assert other("save", "y").endswith("Save the configuration successfully.")
    assert talk("system-view", "lldp enable", "commit", "return") == ""
    assert other("rollback configuration last 1", "y") == LOCKED
    assert talk("undo configuration exclusive") == ""
    assert other(*MTU, "commit") == ""


def test_the_lock_is_shown_and_ends_by_disuse_logout_and_time(
    switch: EmulatedSwitch, open_talk: OpenTalk, clock: Any
) -> None:
    talk, other = open_talk(switch, "alice"), open_talk(switch, "bob")
    assert other("display configuration exclusive user") == ""
    talk("system-view", "configuration exclusive")
    assert other("display configuration exclusive user") == (
        "User Index: 34\nUser Session Name: VTY 0\nUser Name: alice\nIP Address: 127.0.0.1\n"
        "Locked Time: 2026-01-02 03:04:05\nLast Configuration Time: 2026-01-02 03:04:05\n"
        "The time out value of configuration right locked is: 30 second(s)"
    )
    clock.seconds += 29
    talk("lldp enable")
    clock.seconds += 29
    assert other("system-view", "commit") == LOCKED, "configuration was delivered meanwhile"
    clock.seconds += 1
    assert other("commit") == ""
    talk("configuration exclusive timeout 7200", "configuration exclusive")
    clock.seconds += 7199
    assert other("commit") == LOCKED
    talk.session.close()
    assert other("configuration exclusive") == "", "a logout unlocks"


def test_sessions_are_listed_with_their_terminals(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    first, second = open_talk(switch, "alice"), open_talk(switch, "bob")
    second("configuration exclusive")
    assert second("display configuration sessions").splitlines()[3:-1] == [
        "1       VTY 0        alice                2026-01-02 03:04:05 -",
        "2 *     VTY 1        bob                  2026-01-02 03:04:05 Exclusive",
    ]
    first.session.close()
    third = open_talk(switch, "carol")
    third("system-view", "lldp enable")
    second("undo configuration exclusive")
    third("commit")
    assert switch.points[-1].interface == "VTY 0", "the lowest that is free"


def test_no_more_sessions_than_terminals(make_switch: MakeSwitch, open_talk: OpenTalk) -> None:
    switch = make_switch(most_sessions=2)
    first, _second = open_talk(switch), open_talk(switch)
    with pytest.raises(NoFreeTerminal, match=r"^All user interfaces are used, please try later!$"):
        open_talk(switch)
    first.session.close()
    open_talk(switch)


def test_a_killed_session_leaves_its_terminal_and_no_line(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    talk, other = open_talk(switch), open_talk(switch)
    talk(*MTU)
    assert other("kill user-interface vty 4", "y") == "Error: The user interface is not used."
    assert other("kill user-interface vty 0", "n") == ""
    assert switch.candidates
    assert other("kill user-interface vty 0", "y") == ""
    assert (list(switch.logins), switch.candidates) == ([2], {})
    assert other.session.handle("kill user-interface vty 1").asks
    assert other.session.handle("y").closes, "the own one"


def test_an_idle_session_is_ended_as_configured(
    switch: EmulatedSwitch, open_talk: OpenTalk, clock: Any
) -> None:
    talk = open_talk(switch)
    clock.seconds += 10**6
    assert not talk.session.idle(), "without the line nothing ends"
    talk("system-view", "user-interface vty 0 4", "idle-timeout 1 30", "commit")
    clock.seconds += 89
    assert not talk.session.handle("").closes
    clock.seconds += 90
    assert talk.session.idle()
    assert talk.session.handle("display version").closes


def test_two_services_of_two_users_both_take_effect(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    first, two = open_talk(switch), open_talk(switch)
    first(*MTU)
    two("system-view", "lldp enable", "commit")
    assert first("display configuration candidate changes") == (
        "Error: The running configuration has been changed. "
        "Run the refresh configuration candidate command."
    )
    assert first("commit") == ""
    assert {"mtu 9100", "lldp enable"} <= texts(switch)


@pytest.mark.parametrize("mode", ["refuse", "merge"])
def test_of_the_same_configuration_only_the_first_takes_effect(
    make_switch: MakeSwitch, open_talk: OpenTalk, mode: str
) -> None:
    switch = make_switch(on_conflict=mode)
    first, two = open_talk(switch), open_talk(switch)
    first(*MTU)
    two(*MTU[:2], "mtu 9200", "commit")
    refused = first("commit")
    assert refused.startswith("Error: ")
    assert "changed by another user" in refused
    assert "mtu 9200" in texts(switch)
    assert first("refresh configuration candidate", "commit") == ""
    assert "mtu 9100" in texts(switch), "after a refresh it is a change of what runs now"


def test_a_line_that_no_longer_fits_stops_the_merge(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    first, two = open_talk(switch), open_talk(switch)
    first("system-view", "bgp 65101", "peer 10.1.0.0 description spine")
    two("system-view", "bgp 65101", "undo peer 10.1.0.0", "y", "commit")
    assert first("commit") == "Error: 10.1.0.0 does not exist."
    assert "peer 10.1.0.0 description spine" not in texts(switch)


def test_where_the_candidate_is_shared_one_commits_and_clears_for_all(
    make_switch: MakeSwitch, open_talk: OpenTalk
) -> None:
    switch = make_switch(candidate_mode="shared")
    first, two = open_talk(switch), open_talk(switch)
    first(*MTU)
    two("system-view")
    assert two.prompt == "[*leaf01]"
    two("lldp enable")
    assert "+ lldp enable" in first("display configuration candidate changes")
    two.session.close()
    assert first.prompt == "[*leaf01-100GE1/0/1]", "its lines are left behind"
    assert first("commit") == ""
    assert {"mtu 9100", "lldp enable"} <= texts(switch)
    first("mtu 9200", "clear configuration candidate")
    assert not switch.candidates


def test_what_two_add_to_one_list_is_no_conflict(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    first, two = open_talk(switch), open_talk(switch)
    first("system-view", "vlan batch 10 20 to 22")
    two("system-view", "vlan batch 22 to 23", "commit", "undo vlan batch 23", "commit")
    assert first("commit") == ""
    assert "vlan batch 10 20 to 22" in texts(switch)
    first("undo vlan batch 10", "vlan batch 30")
    two("undo vlan batch 10", "interface 100GE1/0/2", "port default vlan 20", "commit")
    assert first("commit") == "", "both took it away"
    assert "vlan batch 20 to 22 30" in texts(switch)
