"""Personalities: the effect of each value on a switch, for behaviours that no source defines."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import pytest
from personalities import PERSONALITIES, SILENT

from rocefort.emulator.switch.personality import DEFAULT, Personality, axes
from rocefort.emulator.switch.switch import EmulatedSwitch

if TYPE_CHECKING:
    OpenTalk = Callable[[EmulatedSwitch], Any]  # a Talk of tests/lab/conftest.py
    MakeSwitch = Callable[..., EmulatedSwitch]

MTU = ("system-view", "interface 100GE1/0/1", "mtu 9100")
LOCKED_OUT = "Error: The system is in trial configuration mode."


def test_the_default_is_what_users_report_and_the_vendors_wording() -> None:
    assert str(DEFAULT) == (
        "trial_mode=session-only persist=present commit_list=shown trial_status=whole "
        "trial_prompt=~ foreign_edits=refused"
    )


def test_every_two_values_meet_in_a_few_personalities() -> None:
    chosen = PERSONALITIES
    assert (chosen[0], chosen[1]) == (DEFAULT, SILENT)
    for personality, other in combinations(axes(), 2):
        met = {(getattr(each, personality), getattr(each, other)) for each in chosen}
        assert met == set(product(axes()[personality], axes()[other]))
    assert len(chosen) == len(set(chosen)) <= 14


@pytest.mark.parametrize(
    ("shown", "status"),
    [
        ("whole", ["Trial status: ACTIVE", "Persist id: a", "Trial time left (sec): 600"]),
        ("no-time", ["Trial status: ACTIVE", "Persist id: a"]),
        ("state-only", ["Trial status: ACTIVE"]),
    ],
)
def test_what_the_status_of_a_trial_shows(
    make_switch: MakeSwitch, open_talk: OpenTalk, shown: Any, status: list[str]
) -> None:
    talk = open_talk(make_switch(personality=Personality(trial_status=shown)))
    talk(*MTU, "commit trial 600 persist a")
    assert talk("display configuration trial status").splitlines() == status


@pytest.mark.parametrize(
    ("listed", "before", "during", "after"),
    [
        ("shown", 1, 2, 2),
        ("after-confirmation", 1, 1, 2),
        ("absent", None, None, None),
    ],
)
def test_when_the_list_of_commits_shows_one_on_trial(
    make_switch: MakeSwitch,
    open_talk: OpenTalk,
    listed: Any,
    before: int | None,
    during: int | None,
    after: int | None,
) -> None:
    talk = open_talk(make_switch(personality=Personality(commit_list=listed)))

    def count() -> int | None:
        text: str = talk("display configuration commit list verbose")
        return None if "Error: Unrecognized command" in text else text.count("CommitId")

    talk("system-view", "lldp enable", "commit", *MTU[1:])
    assert count() == before
    talk("commit trial")
    assert count() == during
    talk("commit")
    assert count() == after


@pytest.mark.parametrize("mark", ["~", "*"])
def test_the_prompt_of_the_session_that_has_a_trial(
    make_switch: MakeSwitch, open_talk: OpenTalk, mark: Any
) -> None:
    switch = make_switch(personality=Personality(trial_prompt=mark))
    talk, other = open_talk(switch), open_talk(switch)
    other("system-view")
    talk(*MTU, "commit trial")
    assert (talk.prompt[1], other.prompt[1]) == (mark, "~")
    assert talk("display configuration candidate changes") == ""
    talk("commit")
    assert talk.prompt[1] == "~"


def test_during_a_trial_others_may_look_and_not_edit(
    make_switch: MakeSwitch, open_talk: OpenTalk
) -> None:
    switch = make_switch(personality=Personality(trial_mode="survives"))
    talk, other = open_talk(switch), open_talk(switch)
    other("system-view", "vlan 30", "quit")
    talk(*MTU, "commit trial")
    for _ in range(2):  # also after its session has ended
        assert other("lldp enable").endswith(LOCKED_OUT)
        assert other("interface 100GE1/0/1") == ""
        assert other("mtu 9200").endswith(LOCKED_OUT)
        assert other("quit", "commit") == LOCKED_OUT, "what was entered before the trial"
        talk.session.close()
    assert other("clear configuration candidate", "commit") == "", "it confirms the trial"
    assert (switch.trial, other("lldp enable")) == (None, "")


def test_where_foreign_edits_are_taken_the_commit_waits(
    make_switch: MakeSwitch, open_talk: OpenTalk
) -> None:
    switch = make_switch(personality=Personality(foreign_edits="taken"))
    talk, other = open_talk(switch), open_talk(switch)
    talk(*MTU, "commit trial")
    assert other("system-view", "lldp enable") == ""
    assert other("commit") == LOCKED_OUT
