"""Lines that the driver sends to load a text, and where it stops, line by line over SSH."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from napalm.base.exceptions import MergeConfigException

from napalm_cloudengine.errors import (
    CandidateNotOursError,
    LineRefusedError,
    QuestionRefusedError,
)

Play = Callable[..., Any]
ENTER = ("system-view", "Enter system view, return user view with return command.\r\n[~HUAWEI]")
SYSNAME = ("sysname ROLLBACK", "[*HUAWEI]")
CLEAR = ("clear configuration candidate", "[~HUAWEI]")


def test_indentation_decides_in_which_view_a_line_is_entered(play: Play) -> None:
    text = """\
bgp 65101
 group SPINE external
 #
 ipv4-family unicast
  peer SPINE enable
 peer 10.0.0.1 group SPINE
#
vlan 10
vlan 20
"""
    switch = play(
        [
            ENTER,
            ("bgp 65101", "[*HUAWEI-bgp]"),
            ("group SPINE external", "[*HUAWEI-bgp]"),
            ("ipv4-family unicast", "[*HUAWEI-bgp-af-ipv4]"),
            ("peer SPINE enable", "[*HUAWEI-bgp-af-ipv4]"),
            ("quit", "[*HUAWEI-bgp]"),
            ("peer 10.0.0.1 group SPINE", "[*HUAWEI-bgp]"),
            ("quit", "[*HUAWEI]"),
            ("vlan 10", "[*HUAWEI-vlan10]"),
            ("quit", "[*HUAWEI]"),
            ("vlan 20", "[*HUAWEI-vlan20]"),
            ("quit", "[*HUAWEI]"),
            CLEAR,
            ("return", "<HUAWEI>"),
        ]
    )
    with switch.driver() as driver:
        driver.load_merge_candidate(config=text)
    assert switch.heard == [line for line, _ in switch.steps]


@pytest.mark.parametrize(
    "text",
    [
        "interface 100GE1/0/1\n mtu 9000\n quit\nvlan 10\n quit\n",
        "interface 100GE1/0/1\n mtu 9000\nquit\nvlan 10\nquit\n",
        "interface 100GE1/0/1\nmtu 9000\nquit\nvlan 10\nquit\n",
        "interface 100GE1/0/1\nmtu 9000\n#\nvlan 10\n",
    ],
)
def test_quits_of_the_text_are_not_doubled(play: Play, text: str) -> None:
    switch = play(
        [
            ENTER,
            ("interface 100GE1/0/1", "[~HUAWEI-100GE1/0/1]"),
            ("mtu 9000", "[*HUAWEI-100GE1/0/1]"),
            ("quit", "[*HUAWEI]"),
            ("vlan 10", "[*HUAWEI-vlan10]"),
            ("quit", "[*HUAWEI]"),
            CLEAR,
            ("return", "<HUAWEI>"),
        ]
    )
    with switch.driver() as driver:
        driver.load_merge_candidate(config=text)
    assert switch.heard == [line for line, _ in switch.steps]


def test_quits_of_the_text_close_a_view_inside_a_view(play: Play) -> None:
    switch = play(
        [
            ENTER,
            ("ai-service", "[~HUAWEI-ai-service]"),
            ("ai-ecn", "[~HUAWEI-ai-service-ai-ecn]"),
            ("ai-ecn enable", "[*HUAWEI-ai-service-ai-ecn]"),
            ("quit", "[*HUAWEI-ai-service]"),
            ("quit", "[*HUAWEI]"),
            ("bfd", "[*HUAWEI-bfd]"),
            ("quit", "[*HUAWEI]"),
            CLEAR,
            ("return", "<HUAWEI>"),
        ]
    )
    with switch.driver() as driver:
        text = "ai-service\n ai-ecn\n  ai-ecn enable\n  quit\n quit\nbfd\n quit\n"
        driver.load_merge_candidate(config=text)
    assert switch.heard == [line for line, _ in switch.steps]


def test_a_refused_line_is_named_and_the_candidate_discarded(play: Play) -> None:
    error = "           ^\r\nError: Wrong parameter found at '^' position.\r\n"
    switch = play(
        [
            ENTER,
            SYSNAME,
            ("interface 100GE1/0/1", "[*HUAWEI-100GE1/0/1]"),
            ("mtu 99999", f"{error}[*HUAWEI-100GE1/0/1]"),
            CLEAR,
            ("return", "<HUAWEI>"),
        ]
    )
    text = "sysname ROLLBACK\n#\ninterface 100GE1/0/1\n mtu 99999\n description never sent\n"
    with switch.driver() as driver, pytest.raises(LineRefusedError) as caught:
        driver.load_merge_candidate(config=text)
    assert str(caught.value) == (
        "127.0.0.1: line 4 'mtu 99999': Error: Wrong parameter found at '^' position.; "
        "the candidate was discarded"
    )
    assert isinstance(caught.value, MergeConfigException)
    assert (caught.value.line_number, caught.value.line) == (4, "mtu 99999")
    assert switch.heard == [line for line, _ in switch.steps]


def test_an_unknown_question_gets_a_no_and_the_next_line_is_not_its_answer(play: Play) -> None:
    question = "Warning: This command will disable PFC on all ports. Continue? [Y/N]:"
    switch = play(
        [
            ENTER,
            SYSNAME,
            ("dcb pfc global disable", question),
            ("N", "[*HUAWEI]"),
            CLEAR,
            ("return", "<HUAWEI>"),
        ]
    )
    with switch.driver() as driver, pytest.raises(QuestionRefusedError) as caught:
        driver.load_merge_candidate(config="sysname ROLLBACK\ndcb pfc global disable\nvlan 10\n")
    assert str(caught.value) == (
        f"127.0.0.1: line 2 'dcb pfc global disable': the switch asked '{question}', which no "
        "known answer fits; it was answered no and the candidate was discarded"
    )
    assert switch.heard == [line for line, _ in switch.steps]


def test_the_caller_may_answer_a_question(play: Play) -> None:
    question = "Warning: This command will disable PFC on all ports. Continue? [Y/N]:"
    switch = play(
        [ENTER, ("dcb pfc global disable", question), ("Y", "[*HUAWEI]"), ("vlan 10", "[*HUAWEI]")]
    )
    with switch.driver(answers={"disable PFC on all ports": "Y"}) as driver:
        driver.load_merge_candidate(config="dcb pfc global disable\nvlan 10\n")
        assert switch.heard[2:] == ["dcb pfc global disable", "Y", "vlan 10"]


def test_an_error_after_an_answer_counts(play: Play) -> None:
    question = "Warning: This operation resets the peer session. Continue? [Y/N]:"
    switch = play(
        [
            ENTER,
            ("graceful-restart", question),
            ("Y", "Error: The resource is busy.\r\n[~HUAWEI]"),
            CLEAR,
        ]
    )
    with (
        switch.driver() as driver,
        pytest.raises(LineRefusedError, match=r"line 1 'graceful-restart': Error: The resource"),
    ):
        driver.load_merge_candidate(config="graceful-restart")


def test_warnings_are_not_errors(play: Play) -> None:
    reply = "Warning: The MTU differs from the neighbor's.\r\nInfo: Error: none\r\n[*HUAWEI]"
    switch = play([ENTER, ("vlan 10", reply)])
    with switch.driver() as driver:
        driver.load_merge_candidate(config="vlan 10")


def test_a_foreign_candidate_is_refused_and_left_alone(play: Play) -> None:
    switch = play([("system-view", "[*HUAWEI]")])
    with switch.driver() as driver:
        with pytest.raises(CandidateNotOursError, match=r"not ours; nothing was touched"):
            driver.load_merge_candidate(config="vlan 10")
        with pytest.raises(CandidateNotOursError):
            driver.discard_config()
    assert switch.heard == ["screen-length 0 temporary", "system-view"]


def test_immediate_mode_is_refused(play: Play) -> None:
    switch = play([("system-view", "[HUAWEI]"), ("return", "<HUAWEI>")])
    with switch.driver() as driver, pytest.raises(MergeConfigException, match="immediate mode"):
        driver.load_merge_candidate(config="vlan 10")
    assert switch.heard == ["screen-length 0 temporary", "system-view", "return"]


def test_text_that_would_act_never_reaches_the_switch(play: Play) -> None:
    switch = play()
    with switch.driver() as driver, pytest.raises(MergeConfigException, match="line 2 'commit'"):
        driver.load_merge_candidate(config="vlan 10\ncommit\n")
    assert switch.heard == ["screen-length 0 temporary"]


def test_a_missing_file_and_nothing_at_all_are_refused(play: Play, tmp_path: Path) -> None:
    driver = play().driver()
    with pytest.raises(MergeConfigException, match=r"absent\.cfg: cannot be read"):
        driver.load_merge_candidate(filename=str(tmp_path / "absent.cfg"))
    with pytest.raises(MergeConfigException, match="give filename or config"):
        driver.load_merge_candidate()
