"""Commands as VRP reads them: shortened while they have one meaning, else an error with a caret."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from rocefort.emulator.switch.switch import EmulatedSwitch

if TYPE_CHECKING:
    OpenTalk = Callable[[EmulatedSwitch], Any]  # a Talk of tests/lab/conftest.py


def test_every_word_may_be_shortened_while_the_line_means_one_thing(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    talk = open_talk(switch)
    assert talk("dis cur | inc mtu") == " mtu 9000"
    talk("sys", "int 100ge 1/0/1")
    assert talk.prompt == "[~leaf01-100GE1/0/1]"
    talk("mt 9100", "un des")
    assert talk("dis conf can ch") == (
        "Building configuration\n  #\n  interface 100GE1/0/1\n"
        "-  description to spine01\n-  mtu 9000\n+  mtu 9100\n  #"
    )
    assert talk("com tr 60").endswith("not confirmed in 60 seconds.")
    assert talk("dis conf tr st").startswith("Trial status: ACTIVE")
    talk("com", "des c c c")
    assert talk.prompt.startswith("[*")
    talk("c c c")  # field note: users clear the candidate so
    assert talk.prompt == "[~leaf01]"
    assert switch.running[1].children[0].text == "undo portswitch", "description is gone"


@pytest.mark.parametrize(
    ("lines", "typed", "under", "message"),
    [
        ([], "dis c", "c", "Ambiguous command"),
        ([], "s", "s", "Ambiguous command"),
        ([], "dis configuration", "", "Incomplete command"),
        ([], "screen-length 513 temporary", "513", "Wrong parameter"),
        ([], "save now", "now", "Wrong parameter"),
        ([], "rollback configuration last 81", "81", "Wrong parameter"),
        (["sys"], "c", "c", "Ambiguous command"),
        (["sys"], "commit trial label 9x", "9x", "Wrong parameter"),
        (["sys"], "commit label -", "-", "Wrong parameter"),
        (["sys"], "commit trial persist", "", "Incomplete command"),
        (["sys"], "commit trial 65536", "65536", "Wrong parameter"),
        (["sys"], "abort trial foo", "foo", "Unrecognized command"),
        (["sys"], "int", "", "Incomplete command"),
        (["sys"], "int nothing1", "nothing1", "Wrong parameter"),
        (["sys", "int 100ge1/0/1"], "  mt  99999", "99999", "Wrong parameter"),
        (["sys", "int 100ge1/0/1"], "mt 9000 9000", "9000", "Too many parameters"),
        (["sys", "bgp 65101"], "int 100ge 1/0/1 x", "x", "Too many parameters"),
    ],
)
def test_the_caret_stands_where_the_words_stop_making_sense(
    switch: EmulatedSwitch,
    open_talk: OpenTalk,
    lines: list[str],
    typed: str,
    under: str,
    message: str,
) -> None:
    talk = open_talk(switch)
    talk(*lines)
    prompt = talk.prompt
    column = len(prompt) + (typed.rindex(under) if under else len(typed))
    assert talk(typed) == f"{' ' * column}^\nError: {message} found at '^' position."
    assert talk.prompt == prompt


def test_an_exact_word_is_never_ambiguous(switch: EmulatedSwitch, open_talk: OpenTalk) -> None:
    talk = open_talk(switch)
    talk("system-view", "interface 100GE1/0/2", "port default vlan 1")  # port, portswitch
    assert "Ambiguous" not in talk.screen


def test_a_view_of_an_outer_one_is_entered_by_shortened_words(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    talk = open_talk(switch)
    talk("sys", "bgp 65101", "int 100ge 1/0/2")
    assert talk.prompt == "[~leaf01-100GE1/0/2]"
    assert talk("vlan b 10 to 12").endswith("Error: Wrong parameter found at '^' position."), (
        "only a command that opens a view is looked for outside: vlan N, not vlan batch"
    )


@pytest.mark.parametrize(
    ("lines", "typed", "words"),
    [
        ([], "s", ["  save", "  screen-length", "  screen-width", "  system-view"]),
        ([], "system-view ", ["  immediately", "  <cr>"]),
        ([], "rollback configuration ", ["  last", "  to"]),
        (["sys"], "commit ", ["  description", "  label", "  persist", "  trial", "  <cr>"]),
        (["sys"], "com tr ", ["  description", "  label", "  persist", "  <60-65535>", "  <cr>"]),
        (["sys", "int 100ge1/0/1"], "mt", ["  mtu"]),
        (["sys", "int 100ge1/0/1"], "mtu ", ["  <46-9600>"]),
        (["sys", "int 100ge1/0/1"], "undo desc", ["  description"]),
        ([], "display version | i", ["  ignore-case", "  include"]),
        ([], "display version | count ex", ["  exclude"]),
        ([], "display version | include ", ["  <regular-expression>"]),
        ([], "display version | include a | no-more include b ", ["  |", "  <cr>"]),
    ],
)
def test_help_lists_the_words_that_may_follow(
    switch: EmulatedSwitch, open_talk: OpenTalk, lines: list[str], typed: str, words: list[str]
) -> None:
    talk = open_talk(switch)
    talk(*lines)
    assert talk.session.help(typed).text.splitlines() == words


def test_help_names_the_session_of_the_trial(switch: EmulatedSwitch, open_talk: OpenTalk) -> None:
    """V300R023C00 command reference, "abort trial", second example."""
    first, second = open_talk(switch), open_talk(switch)
    first("system-view", "sysname other", "commit trial")
    output = second.session.help("abort trial session ").text
    assert output == f"  {first.session.number}  Session in trial configuration mode"


def test_help_for_what_nothing_fits_is_an_error_and_changes_nothing(
    switch: EmulatedSwitch, open_talk: OpenTalk
) -> None:
    talk = open_talk(switch)
    assert talk.session.help("frob").text == (
        f"{' ' * len('<leaf01>frob')}^\nError: Unrecognized command found at '^' position."
    )
    talk("save")
    assert talk.session.help("").text == "", "a question has no help"
