"""Lines that may be typed into a switch, masked secrets, and answered questions."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from napalm.base.exceptions import MergeConfigException

from napalm_cloudengine.changing import config_lines_of
from napalm_cloudengine.dialogue import same_configuration
from napalm_cloudengine.masking import cut_at_secret_word, mask_secrets
from napalm_cloudengine.parse import answer_to, answers_from
from napalm_cloudengine.text import (
    SendLine,
    UnsendableError,
    check_description,
    config_lines,
    quotable,
)


def test_lines_keep_their_numbers_and_lose_what_is_not_configuration() -> None:
    text = "!Software Version V300R023C00\n#\r\nbgp 65101\n #\n ipv4-family unicast\n\n#\nreturn\n"
    assert config_lines(text) == (
        SendLine(2, 0, "#"),
        SendLine(3, 0, "bgp 65101"),
        SendLine(5, 1, "ipv4-family unicast"),
        SendLine(7, 0, "#"),
    )


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("commit", "'commit' acts on the switch"),
        (" com trial 600", "'commit' acts on the switch"),
        ("save", "'save' acts on the switch"),
        ("sy", "'system-view' acts on the switch"),
        ("return", "'return' acts on the switch"),
        ("clear configuration candidate", "'clear' acts on the switch"),
        ("description why?", "requests help instead of"),
        ("description a\tb", r"control character U\+0009"),
        ("description a\x0bsave", r"control character U\+000B"),
        ("description a\u2028save", r"control character U\+2028"),
        ("description " + "x" * 3100, "longer than the 3100 characters"),
    ],
)
def test_a_line_that_acts_is_refused_before_anything_is_sent(line: str, why: str) -> None:
    with pytest.raises(UnsendableError, match=f"line 2: .*{why}.*not sent"):
        config_lines(f"sysname leaf01\n{line}\nvlan 10\n")


@pytest.mark.parametrize(
    "line",
    ["sysname leaf01", "ssh user a", "stp mode rstp", "router id 1.1.1.1", "system tcam", "s"],
)
def test_configuration_that_merely_looks_like_it_is_kept(line: str) -> None:
    assert config_lines(line) == (SendLine(1, 0, line),)


@given(st.text(max_size=80))
def test_no_line_ever_holds_what_a_terminal_would_act_on(text: str) -> None:
    lines: tuple[SendLine, ...] = ()
    with suppress(UnsendableError):
        lines = config_lines(text)
    for line in lines:
        assert len(line.text.splitlines()) == 1
        assert "?" not in line.text
        assert text.split("\n")[line.number - 1].strip(" \r") == line.text


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("a\nsave", "control character"),
        ("why?", "requests help instead of"),
        ("x" * 61, "at most 60 ASCII characters on a CloudEngine, this one has 61"),
        ("größer", "at most 60 ASCII"),
    ],
)
def test_a_commit_message_that_a_switch_cannot_take(message: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        check_description(message)


@pytest.mark.parametrize(
    ("line", "masked"),
    [
        ("peer SPINE password cipher Hunter2", "peer SPINE password cipher <removed>"),
        ("peer 10.1.1.1 password simple a b", "peer 10.1.1.1 password simple <removed> b"),
        (
            "local-user netops password irreversible-cipher Hunter2",
            "local-user netops password irreversible-cipher <removed>",
        ),
        ("local-user netops password Hunter2", "local-user netops password <removed>"),
        (
            "ntp authentication-keyid 1 authentication-mode hmac-sha256 cipher Hunter2",
            "ntp authentication-keyid 1 authentication-mode hmac-sha256 cipher <removed>",
        ),
        (
            " authentication-mode hmac-sha256 password Hunter2",
            " authentication-mode hmac-sha256 password <removed>",
        ),
        ("snmp-agent community read Hunter2", "snmp-agent community read <removed>"),
        ("something %^%#x8!y%^%# else", "something <removed> else"),
        ("set x $1d$a3Xt;&(SUt9$", "set x <removed>"),
        ("user a  password \tcipher  Hunter2", "user a  password \tcipher  <removed>"),
        ("radius-server shared-key cipher Hunter2", "radius-server shared-key cipher <removed>"),
        ("key-string plain Hunter2", "key-string plain <removed>"),
        ("ospf authentication-mode md5 1 Hunter2", "ospf authentication-mode md5 1 <removed>"),
    ],
)
def test_secrets_are_masked(line: str, masked: str) -> None:
    assert mask_secrets(line) == masked


@pytest.mark.parametrize(
    "text",
    [
        "ssh user netops authentication-type password\nssh user netops service-type all",
        "user-interface vty 0 4\n authentication-mode aaa\n protocol inbound ssh",
        "ssh server cipher aes256_gcm aes128_gcm",
        "ssh client cipher aes256_gcm aes128_gcm",
        "peer SPINE keychain KC1",
    ],
)
def test_what_is_no_secret_is_kept(text: str) -> None:
    assert mask_secrets(text) == text


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("x" * 3101, "x" * 120 + ".."),
        ("vlan batch 9\x1b[2J", "vlan batch 9\\u001b[2J"),
        ("a\u2028b\tc", "a\\u2028b\\u0009c"),
        ("description café", "description café"),
    ],
)
def test_a_line_in_a_message_is_short_and_moves_no_cursor(line: str, shown: str) -> None:
    assert quotable(line) == shown


def test_a_message_shows_a_line_that_is_not_sent_so() -> None:
    with pytest.raises(MergeConfigException) as caught:
        config_lines_of("leaf01", "sysname a\nvlan batch 9\x1b[2J")
    assert str(caught.value) == (
        "leaf01: line 2 'vlan batch 9\\u001b[2J': holds the control character U+001B; not sent; "
        "nothing was loaded"
    )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("#\nsysname a\nreturn", "#\nsysname a\nreturn", True),
        ("!Last saved at 1\nsysname a \n", "!Last saved at 2\nsysname a\n", True),
        ("password cipher %^%#a%^%#", "password cipher %^%#b%^%#", True),
        ("sysname a", "sysname b", False),
        ("sysname a", "sysname a\nlldp enable", False),
    ],
)
def test_when_two_configurations_say_the_same(one: str, other: str, same: bool) -> None:
    assert same_configuration(one, other) is same


PEER_GOES = "All the configurations related to the BGP peer will be deleted."


@pytest.mark.parametrize(
    ("command", "question", "answer"),
    [
        ("abort trial", "Warning: The trial configuration will be rolled back. Continue?", "Y"),
        ("sysname x", "Warning: The trial configuration will be rolled back. Continue?", None),
        ("save", "Warning: all configuration will be written to the device. Continue?", "Y"),
        (
            "timer keepalive 5 hold 15",
            "Warning: Changing the parameter in this command resets the peer session. Continue?",
            "Y",
        ),
        (" undo peer 10.1.0.65", f"Warning: {PEER_GOES} Continue?", "Y"),
        ("undo peer 10.1.0.65 group LEAF", f"Warning: {PEER_GOES} Continue?", None),
        ("undo bgp 65000", f"Warning: {PEER_GOES} Continue?", None),
        ("dcb pfc global disable", "Warning: This command will disable PFC on all ports.", None),
        ("undo bgp", "Warning: The BGP process will be deleted. Continue?", None),
        ("return", "Warning: Uncommitted configurations found, commit them?", "C"),
    ],
)
def test_only_known_questions_have_an_answer(
    command: str, question: str, answer: str | None
) -> None:
    assert answer_to(question + " [Y/N]:", command, answers_from(None)) == answer


def test_the_callers_answers_come_first() -> None:
    table = answers_from({"disable PFC on all ports": "Y", "resets the peer session": "N"})
    assert answer_to("This command will disable PFC on all ports.", "x", table) == "Y"
    assert answer_to("resets the peer session", "x", table) == "N"


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [({"(": "Y"}, "not a regular expression"), ({"a": "Y\nsave"}, "is not an answer")],
)
def test_a_broken_table_of_answers_is_refused(rows: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        answers_from(rows)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("local-user netops pwd Hunter2", "local-user netops pwd .."),
        ("Password:Hunter2", "Password:.."),
        ("peer 10.1.0.0 md5 Hunter2 more", "peer 10.1.0.0 md5 .."),
        ("radius server shared Hunter2", "radius server shared .."),
        ("copy to ftp://a:Hunter2@10.0.0.1/x", "copy to ftp://<removed>@10.0.0.1/x"),
        ("mka cak-mode static cak simple Hunter2", "mka cak-mode static cak simple <removed>"),
        ("x password Hunter2 token Hunter2", "x password <removed> token .."),
        ("undo keychain", "undo keychain"),
        ("load-balance hash-fields ip", "load-balance hash-fields ip"),
        ("interface 100GE1/0/1", "interface 100GE1/0/1"),
    ],
)
def test_a_line_of_an_unknown_command_is_cut_at_a_secret_word(line: str, shown: str) -> None:
    assert cut_at_secret_word(mask_secrets(line)) == shown
    assert cut_at_secret_word(shown) == shown
