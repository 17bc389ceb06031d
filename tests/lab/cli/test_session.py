"""Dialogue of the vendor's reference: views, candidate, trial, questions, errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from rocefort.base.errors import BadInput
from rocefort.emulator.switch.personality import LineFault, Personality, TrialMode
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.hardware.hardware import SyntaxFamily

if TYPE_CHECKING:
    OpenTalk = Callable[[EmulatedSwitch], Any]  # a Talk of tests/lab/conftest.py
    MakeSwitch = Callable[..., EmulatedSwitch]

MTU = ("system-view", "interface 100GE1/0/1", "mtu 9100")


def mtu_of(switch: EmulatedSwitch) -> str:
    """Return the MTU line of the first port, as running."""
    port = next(line for line in switch.running if line.text == "interface 100GE1/0/1")
    return next(line.text for line in port.children if line.text.startswith("mtu"))


def test_prompts_follow_view_candidate_and_sysname(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    talk = open_talk(switch)
    assert talk.prompt == "<leaf01>"
    entered = talk("system-view")
    assert entered == "Enter system view, return user view with return command."
    assert talk.prompt == "[~leaf01]"
    talk("  interface 100GE 1/0/1")
    assert talk.prompt == "[~leaf01-100GE1/0/1]"
    talk("mtu 9000")
    assert talk.prompt == "[~leaf01-100GE1/0/1]", "what already runs is no change"
    talk("mtu 9100")
    assert talk.prompt == "[*leaf01-100GE1/0/1]"
    talk("quit", "sysname renamed")
    assert talk.prompt == "[*leaf01]"
    assert talk("commit") == ""
    assert talk.prompt == "[~renamed]"
    talk("return")
    assert talk.prompt == "<renamed>"


@pytest.mark.parametrize(
    ("lines", "screen"),
    [
        (
            ["system-view", "interface 100GE1/0/1", "mtu 99999"],
            "[~leaf01-100GE1/0/1]mtu 99999\n"
            "                        ^\n"
            "Error: Wrong parameter found at '^' position.\n",
        ),
        (
            ["system-view", " frobnicate"],
            "[~leaf01] frobnicate\n"
            "          ^\n"
            "Error: Unrecognized command found at '^' position.\n",
        ),
        (
            ["bgp 1"],
            "<leaf01>bgp 1\n        ^\nError: Unrecognized command found at '^' position.\n",
        ),
        (
            ["display nonsense"],
            "<leaf01>display nonsense\n"
            "                ^\n"
            "Error: Unrecognized command found at '^' position.\n",
        ),
        (
            ["system-view", "commit trial 59"],
            "[~leaf01]commit trial 59\n"
            "                      ^\n"
            "Error: Wrong parameter found at '^' position.\n",
        ),
        (
            ["system-view", 'commit comment "x"'],
            '[~leaf01]commit comment "x"\n'
            "                ^\n"
            "Error: Unrecognized command found at '^' position.\n",
        ),
    ],
)
def test_the_caret_stands_under_the_word_that_is_refused(
    switch: EmulatedSwitch, open_talk: OpenTalk, lines: list[str], screen: str
) -> None:
    talk = open_talk(switch)
    talk(*lines)
    assert talk.screen.endswith(screen)
    assert not switch.dirty(talk.session.number)


def test_candidate_is_shown_as_typed_as_changes_and_merged(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    talk = open_talk(switch)
    talk(*MTU, "undo description", "quit", "interface Vlanif7", "ip address 10.7.0.1 24", "quit")
    assert talk("display configuration candidate") == (
        "interface 100GE1/0/1\n mtu 9100\n undo description\n"
        "interface Vlanif7\n ip address 10.7.0.1 24"
    )
    assert talk("display configuration candidate changes") == (
        "Building configuration\n"
        "  #\n"
        "  interface 100GE1/0/1\n"
        "-  description to spine01\n"
        "-  mtu 9000\n"
        "+  mtu 9100\n"
        "  #\n"
        "+ interface Vlanif7\n"
        "+  ip address 10.7.0.1 255.255.255.0\n"
        "  #"
    )
    merged = talk("display configuration candidate merge")
    assert "\n mtu 9100\n" in merged
    assert "\ninterface Vlanif7\n" in merged
    assert "\n mtu 9000\n" in talk("display current-configuration")
    talk("clear configuration candidate")
    assert talk("display configuration candidate changes") == ""
    assert talk("display configuration candidate") == ""
    assert talk.prompt == "[~leaf01]"


def test_current_configuration_whole_filtered_and_in_part(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    talk = open_talk(switch)
    whole = talk("display current-configuration")
    assert whole.startswith(
        "!Software Version V300R023C00\n!Last configuration was updated at 2026"
    )
    assert whole.endswith("#\nreturn")
    assert talk("display current-configuration | include mtu") == " mtu 9000"
    assert talk("display current-configuration | include ^interface 100").splitlines() == [
        "interface 100GE1/0/1",
        "interface 100GE1/0/2",
    ]
    section = talk("display current-configuration | section include mtu")
    assert section.splitlines()[:2] == ["#", "interface 100GE1/0/1"]
    assert "LoopBack0" not in section
    port = "#\ninterface 100GE1/0/1\n description to spine01\n undo portswitch\n mtu 9000\n"
    assert talk("display current-configuration interface 100GE 1/0/1").startswith(port)
    assert talk("display current-configuration configuration bgp").startswith("#\nbgp 65101\n")
    assert "Error:" in talk("display current-configuration | include [")
    talk("system-view", "interface 100GE1/0/1")
    assert talk("display this") == f"{port} ip address 10.1.0.1 255.255.255.254\n#\nreturn"


def test_a_trial_is_confirmed_by_a_plain_commit(
    switch: EmulatedSwitch, open_talk: OpenTalk, clock: Any
) -> None:
    talk = open_talk(switch)
    assert talk(*MTU, "commit trial 120 label try description a first attempt") == (
        "Info: The system enters the trial configuration mode.\n"
        "The system will revert to previous configuration if the trial configuration is not "
        "confirmed in 120 seconds."
    )
    assert talk.prompt == "[~leaf01-100GE1/0/1]"
    assert mtu_of(switch) == "mtu 9100"
    clock.seconds += 69
    status = "Trial status: ACTIVE\nTrial time left (sec): 51"
    assert talk("display configuration trial status") == status
    assert talk("commit") == ""
    status = "Trial status: INACTIVE\nTrial time left (sec): 0"
    assert talk("display configuration trial status") == status
    clock.seconds += 1000
    talk("")
    assert mtu_of(switch) == "mtu 9100"
    assert talk("display configuration commit list verbose").splitlines() == [
        "1) CommitId: 1000000001",
        "        Label: try",
        "        User: netops",
        "        User-Intf: VTY 0",
        "        Type: CLI",
        "        TimeStamp: 2026-01-02 03:04:05",
        "        Description: a first attempt",
    ]


def test_a_trial_that_nobody_confirms_is_rolled_back(
    switch: EmulatedSwitch, open_talk: OpenTalk, clock: Any
) -> None:
    talk = open_talk(switch)
    talk(*MTU, "commit trial")
    clock.seconds += 599
    talk("")
    assert mtu_of(switch) == "mtu 9100"
    talk("commit trial 60")  # restarts the timer
    clock.seconds += 59
    talk("mtu 9200", "commit trial 60")  # another change, still one trial
    clock.seconds += 60
    talk("")
    assert mtu_of(switch) == "mtu 9000"
    assert talk("commit") == ""
    assert mtu_of(switch) == "mtu 9000"


def test_a_trial_is_aborted_after_a_question(switch: EmulatedSwitch, open_talk: OpenTalk) -> None:
    talk = open_talk(switch)
    assert talk("system-view", "abort trial") == "Error: The trial configuration does not exist."
    question = "Warning: The trial configuration will be rolled back. Continue? [Y/N]:"
    assert talk(*MTU[1:], "commit trial", "abort trial") == question
    assert talk("mtu 1600") == (
        "Error: Please choose 'YES' or 'NO' first before pressing 'Enter'. [Y/N]:"
    ), "a line that was meant as a command is not an answer"
    assert talk("n") == ""
    assert mtu_of(switch) == "mtu 9100"
    talk("abort trial")
    assert talk("Y") == "Info: The trial configuration rollback succeeded."
    assert mtu_of(switch) == "mtu 9000"
    assert talk("display configuration trial status").startswith("Trial status: INACTIVE")


@pytest.mark.parametrize(
    ("mode", "left"), [("survives", "mtu 9100"), ("dies-with-session", "mtu 9000")]
)
def test_a_plain_trial_and_the_loss_of_its_session(
    make_switch: MakeSwitch, open_talk: OpenTalk, clock: Any, mode: TrialMode, left: str
) -> None:
    switch = make_switch(personality=Personality(mode))
    talk = open_talk(switch)
    talk(*MTU, "commit trial 600")
    talk.session.close()
    assert mtu_of(switch) == left
    again = open_talk(switch)
    again("system-view", "commit")
    clock.seconds += 601
    again("")
    assert mtu_of(switch) == left, "after reconnecting, commit confirms what is still on trial"


def test_persist_survives_and_is_confirmed_or_aborted_by_its_id(
    make_switch: MakeSwitch, open_talk: OpenTalk, clock: Any
) -> None:
    switch = make_switch(personality=Personality("dies-with-session"))
    talk = open_talk(switch)
    talk(*MTU, "commit trial 300 persist abc")
    talk.session.close()
    other = open_talk(switch)
    other("system-view")
    assert other("display configuration trial status").splitlines()[1] == "Persist id: abc"
    other("commit")
    assert switch.trial is not None, "a plain commit does not confirm it"
    assert other("abort trial") == (
        "Error: The persist ID of the trial configuration is incorrect."
    )
    assert other("commit persist wrong").startswith("Error:")
    assert other("commit persist abc") == ""
    clock.seconds += 301
    other("")
    assert mtu_of(switch) == "mtu 9100"


def test_a_release_without_persist_does_not_know_the_word(
    make_switch: MakeSwitch, open_talk: OpenTalk
) -> None:
    talk = open_talk(make_switch(personality=Personality(persist="absent")))
    assert talk(*MTU, "commit trial 300 persist abc").endswith(
        "Error: Unrecognized command found at '^' position."
    )
    assert talk("abort trial persist abc").startswith(" ")
    assert talk.prompt.startswith("[*"), "nothing was committed"


def test_while_a_session_tries_another_can_neither_confirm_nor_commit(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    talk, other = open_talk(switch), open_talk(switch)
    talk(*MTU, "commit trial")
    assert other("system-view", "commit").startswith("Error: The system is in trial conf")
    assert other("lldp enable", "commit").startswith("Error: The system is in trial conf")
    assert switch.trial is not None
    talk("commit")
    assert switch.trial is None


LEAVE = (
    "Warning: Uncommitted configurations found, commit them before exiting? "
    "[Y(yes)/N(no)/C(cancel)]:"
)


@pytest.mark.parametrize("word", ["return", "quit"])
@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("y", ("<leaf01>", "mtu 9100")),
        ("N", ("<leaf01>", "mtu 9000")),
        ("cancel", ("[*leaf01]", "mtu 9000")),
    ],
)
def test_leaving_with_uncommitted_lines_asks(
    switch: EmulatedSwitch, open_talk: OpenTalk, word: str, answer: str, left: tuple[str, str]
) -> None:
    talk = open_talk(switch)
    talk(*MTU, "quit")
    assert talk(word) == LEAVE
    assert talk("") == (
        "Error: Please choose 'YES', 'NO' or 'CANCEL' first before pressing 'Enter'. [Y/N/C]:"
    )
    talk(answer)
    assert (talk.prompt, mtu_of(switch)) == left


def test_a_session_that_is_lost_leaves_nothing_in_any_candidate(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    talk = open_talk(switch)
    talk(*MTU)
    talk.session.close()
    assert not switch.candidates
    assert open_talk(switch).prompt == "<leaf01>"


def test_two_candidates_and_the_conflict_between_them(
    make_switch: MakeSwitch, open_talk: OpenTalk
) -> None:
    switch = make_switch(on_conflict="refuse")
    first, two = open_talk(switch), open_talk(switch)
    first(*MTU)
    two("system-view", "lldp enable")
    assert two.prompt == "[*leaf01]"
    assert two("commit") == ""
    failed = first("commit")
    assert failed.startswith("Error: The running configuration has been changed by another user.")
    assert mtu_of(switch) == "mtu 9000"
    assert first("refresh configuration candidate", "commit") == ""
    assert mtu_of(switch) == "mtu 9100"
    assert "lldp enable" in {line.text for line in switch.running}, "both changes are there"


def test_a_commit_that_cannot_be_changes_nothing(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    talk = open_talk(switch)
    talk("system-view", "interface 100GE1/0/2", "undo portswitch", "ip address 10.1.0.1 31")
    assert talk("commit trial") == (
        "Error: 10.1.0.1 of interface 100GE1/0/2 is already the address of interface 100GE1/0/1."
    )
    assert talk.prompt == "[*leaf01-100GE1/0/2]"
    assert not switch.points
    assert switch.trial is None


def test_clearing_the_candidate_leads_to_the_system_view(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    talk = open_talk(switch)
    talk(*MTU)
    assert talk.prompt == "[*leaf01-100GE1/0/1]"
    assert talk("clear configuration candidate") == ""
    assert talk.prompt == "[~leaf01]"


def test_a_change_taken_back_is_no_change_and_follows_what_others_commit(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    talk, other = open_talk(switch), open_talk(switch)
    talk(*MTU, "mtu 9000")
    assert talk.prompt == "[~leaf01-100GE1/0/1]"
    assert talk("display configuration candidate") == ""
    other("system-view", "lldp enable", "commit")
    assert talk("quit", "bfd", "quit", "commit") == "", "the view has no other changes"
    assert {"lldp enable", "bfd"} <= {line.text for line in switch.running}


def test_a_commit_while_a_question_stands_is_not_undone_by_its_answer(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    talk, other = open_talk(switch), open_talk(switch)
    assert talk("system-view", "dcb pfc global disable").endswith("[Y/N]:")
    other("system-view", "lldp enable", "commit")
    assert talk("y", "commit") == ""
    running = {line.text for line in switch.running}
    assert {"lldp enable", "dcb pfc global disable"} <= running


def test_the_built_in_pfc_profile_counts_among_the_two(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    talk = open_talk(switch)
    assert talk("system-view", "dcb pfc one", "priority 4", "commit") == ""
    assert talk("dcb pfc", "priority 4", "dcb pfc global disable", "commit") == ""
    refused = talk("dcb pfc two", "commit")
    assert refused == "Error: The number of PFC profiles exceeds 2."


def test_rollback_goes_back_by_count_id_and_label_after_a_question(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    talk = open_talk(switch)
    talk(*MTU, "commit label first", "mtu 9200", "commit", "mtu 9300", "commit", "return")
    question = talk("rollback configuration last 1")
    assert question.startswith("Warning: This operation will revert configuration changes")
    assert talk("y") == (
        "Checking changes...\nLoading rollback changes\nCommitting\nCheck rollback result\n"
        "Configuration rollback succeeded.\n"
        "Please use 'display configuration commit changes last 1' to view the changes."
    )
    assert mtu_of(switch) == "mtu 9200"
    talk("rollback configuration to commit-id 1000000001", "y")
    assert mtu_of(switch) == "mtu 9100"
    talk("rollback configuration last 5", "y")
    assert mtu_of(switch) == "mtu 9000"
    talk("rollback configuration to label first", "y")
    assert mtu_of(switch) == "mtu 9100"
    assert talk("rollback configuration to commit-id 7").endswith(
        "Error: Wrong parameter found at '^' position."
    )
    verbose = talk("display configuration commit list verbose 1")
    assert "CommitId: 1000000007" in verbose
    assert "Type: ROLLBACK" in verbose
    table = talk("display configuration commit list")
    assert re.findall(r"\b1\d{9}\b", table)[0] == "1000000007", "the newest first"


def test_saving_asks_and_startup_follows(switch: EmulatedSwitch, open_talk: OpenTalk) -> None:
    talk = open_talk(switch)
    talk(*MTU, "commit", "return")
    assert " mtu 9000" in talk("display saved-configuration")
    assert talk("save") == (
        "Warning: all configuration will be written to the device.\nAre you sure to continue?[Y/N]"
    )
    assert talk("y").endswith("Info: Save the configuration successfully.")
    assert " mtu 9100" in talk("display saved-configuration")


def test_facts_and_states_of_the_switch(
    make_switch: MakeSwitch, open_talk: OpenTalk, clock: Any
) -> None:
    switch = make_switch(serial="21023500000000000001")
    clock.seconds += 90061
    talk = open_talk(switch)
    assert talk("display version").splitlines() == [
        "Huawei Versatile Routing Platform Software",
        "YunShan OS, Version 1.23.0.1 (CE8851 V300R023C00)",
        "HUAWEI CE8851-32CQ8DQ-P uptime is 1 days, 1 hours, 1 minutes",
    ]
    assert talk("display device esn") == " ESN of slot 1: 21023500000000000001"
    brief = talk("display interface brief").splitlines()
    assert brief[-3].split() == ["100GE1/0/1", "up", "up", "0%", "0%", "0", "0"]
    assert brief[-2].split()[:3] == ["100GE1/0/2", "up", "up"], "a layer-2 port"
    bgp = talk("display bgp peer").splitlines()
    assert bgp[1:4] == [
        " BGP local router ID        : 10.0.0.11",
        " Local AS number            : 65101",
        " Total number of peers      : 1",
    ]
    assert bgp[-1].split() == ["10.1.0.0", "4", "65001", "0", "0", "0", "0025h01m", "Idle", "0"]
    old = make_switch(family=SyntaxFamily.V200, software="V200R022C00", hardware="CE8850-64CQ-EI")
    assert open_talk(old)("display version").startswith(
        "Huawei Versatile Routing Platform Software\n"
        "VRP (R) software, Version 8.180 (CE8850 V200R022C00)"
    )


def test_faults_by_name(make_switch: MakeSwitch, open_talk: OpenTalk) -> None:
    switch = make_switch(
        faults=(LineFault("refuse-line", "mtu 9100"), LineFault("unknown-question", "lldp"))
    )
    talk = open_talk(switch)
    assert talk(*MTU).endswith("Error: Unrecognized command found at '^' position.")
    assert talk("quit", "lldp enable").endswith("Proceed? [Y/N]:")
    talk("n")
    assert talk.prompt == "[~leaf01]"
    with pytest.raises(BadInput, match="refuse-line needs a part of a line"):
        LineFault("refuse-line")

    hung = make_switch(faults=(LineFault("hang-on-commit"),))
    talk = open_talk(hung)
    talk(*MTU)
    assert talk.session.handle("commit").hangs
    assert mtu_of(hung) == "mtu 9000"

    dropped = make_switch(faults=(LineFault("drop-session-on-commit"),))
    talk = open_talk(dropped)
    talk(*MTU)
    assert talk.session.handle("commit trial").closes
    assert mtu_of(dropped) == "mtu 9100", "the commit was done; only its answer is lost"


def test_start_up_text_that_is_refused_is_kept_for_the_report() -> None:
    switch = EmulatedSwitch("x", "sysname x\nno such line\n", SyntaxFamily.V200)
    assert [refusal.line for refusal in switch.startup_refusals] == ["no such line"]
    assert switch.now() >= datetime(2026, 1, 1, tzinfo=UTC)
