"""Secrets in text: references stay, secrets are masked, and only what can be typed is filled in."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocefort.base.errors import BadInput, Refused
from rocefort.dialects.secrets import filled_line, references
from rocefort.dialects.vrp.interpreter.interpreter import VrpRefusal, apply_lines
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.dialects.vrp.render import render
from rocefort.dialects.vrp.text.config_tree import parse_tree, tree_text
from rocefort.dialects.vrp.text.secret_forms import (
    as_saved,
    check_typed,
    masked_text,
    stated_secret,
)
from rocefort.models.device.device import Device
from rocefort.models.device.routing import Bgp, BgpGroup, BgpPeer
from rocefort.models.device.secret import Authentication, placeholder
from rocefort.models.hardware.hardware import SyntaxFamily

G1 = SyntaxFamily.V300_G1
CIPHER_TEXT = "%^%#Xx[8Y)3LK$zq1^%#z{@%^%#"


def device(**settings: object) -> Device:
    group = BgpGroup.model_validate({"name": "SPINE", "active": True, **settings})
    peer = BgpPeer(address=IPv4Address("10.1.0.0"), asn=65001, group="SPINE", active=True)
    return Device(name="leaf01", bgp=Bgp(asn=65101, groups=(group,), peers=(peer,)))


def text(**settings: object) -> str:
    return render(device(**settings), G1, "ce8851")


@pytest.mark.parametrize(
    "settings",
    [
        {"password": "env:BGP_PASSWORD"},
        {"password": "file:/run/keys/bgp version 12"},
        {"password": "encrypted"},
        {"password": "readable"},
        {"keychain": "fabric"},
    ],
)
def test_what_is_said_of_a_password_is_read_back(settings: dict[str, str]) -> None:
    assert parse(text(**settings), "leaf01.cfg").device == device(**settings)


def test_a_reference_renders_as_two_words_which_no_switch_takes() -> None:
    line = "peer SPINE password cipher <secret env:BGP_PASSWORD version 2>"
    assert f"\n {line}\n" in text(password="env:BGP_PASSWORD version 2")
    with pytest.raises(VrpRefusal) as caught:
        apply_lines(parse_tree(text()), ["bgp 65101", line], G1)
    assert "Too many parameters" in str(caught.value)


@pytest.mark.parametrize(
    ("form", "value", "stated"),
    [
        ("cipher", CIPHER_TEXT, "encrypted"),
        ("cipher", '%+%##!!!!!!!!!"!!!!*!!!!X<Q]>|1l`YpD%+%#', "encrypted"),
        ("cipher", "$1c$abcdefgh$ijkl$", "encrypted"),
        ("cipher", "@%@%kSw<8D!Qx@%@%", "encrypted"),
        ("cipher", "N`C55QK<`=/Q=^Q`MAF4<1!!", "encrypted"),
        ("cipher", "****", "encrypted"),
        ("cipher", "<removed>", "encrypted"),
        ("cipher", "hunter2", "readable"),
        ("cipher", '"two words"', "readable"),
        ("simple", "hunter2", "readable"),
        ("simple", CIPHER_TEXT, "readable"),
        ("cipher", "<secret env:BGP_PASSWORD>", "env:BGP_PASSWORD"),
        ("cipher", "<secret env:a b>", "encrypted"),  # not ours: a user removed it
    ],
)
def test_what_a_device_says_of_a_word(form: str, value: str, stated: str) -> None:
    assert stated_secret(form, value) == stated


def test_no_field_of_a_device_and_no_error_holds_the_secret() -> None:
    shown = text(password="encrypted").replace("<secret encrypted>", "hunter2")
    assert "hunter2" in shown
    assert "hunter2" not in parse(shown, "leaf01.cfg").device.model_dump_json()
    twice = shown.replace("cipher hunter2", "cipher hunter2\n peer SPINE password cipher <removed>")
    with pytest.raises(BadInput) as caught:
        parse(twice, "leaf01.cfg")
    assert "hunter2" not in str(caught.value)
    assert "bgp.groups[SPINE].password is encrypted here and readable on line" in str(caught.value)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("peer S password cipher hunter2", "peer S password cipher <removed>"),
        ('peer S password simple "two words"', "peer S password simple <removed>"),
        ("peer S password cipher <secret env:P>", "peer S password cipher <secret env:P>"),
        ("peer S password cipher <secretenv:P>", "peer S password cipher <removed>"),
        (
            f"authentication-mode sha2-256 cipher {CIPHER_TEXT}",
            "authentication-mode sha2-256 cipher <removed>",
        ),
        ("ospf authentication-mode md5 1 hunter2", "ospf authentication-mode md5 1 <removed>"),
        (
            "vrrp vrid 1 authentication-mode md5 12345",
            "vrrp vrid 1 authentication-mode md5 <removed>",
        ),
        ("area-authentication-mode md5 hunter2", "area-authentication-mode md5 <removed>"),
        (
            "snmp-agent usm-user v3 u g authentication-mode sha hunter2 privacy-mode aes128 hunter3",
            "snmp-agent usm-user v3 u g authentication-mode sha <removed> privacy-mode aes128 <removed>",
        ),
        ("authentication-mode aaa", "authentication-mode aaa"),
        ("ssh server cipher aes256_gcm aes128_gcm", "ssh server cipher aes256_gcm aes128_gcm"),
        ("ssh client cipher aes256_gcm aes128_gcm", "ssh client cipher aes256_gcm aes128_gcm"),
        ("cipher-suite exclude cipher mode cbc", "cipher-suite exclude cipher mode cbc"),
    ],
)
def test_masks_take_secrets_and_leave_references(line: str, shown: str) -> None:
    assert masked_text(line) == shown


TYPEABLE = st.text(
    st.characters(min_codepoint=33, max_codepoint=126, exclude_characters='?"'), min_size=1
)


@given(
    TYPEABLE.filter(lambda value: len(value) < 256 and stated_secret("cipher", value) == "readable")
)
def test_a_secret_becomes_one_word_of_one_line_and_the_switch_hides_it(secret: str) -> None:
    known = {"env:P": check_typed(secret, "env:P")}
    line = filled_line(f"peer SPINE password cipher {placeholder('env:P version 3')}", known)
    assert line == f"peer SPINE password cipher {secret}"
    after = apply_lines(parse_tree(text()), ["bgp 65101", line], G1)
    read = parse(tree_text(after), "leaf01.cfg")
    assert read.device == device(password="encrypted")
    assert read.unmodelled == ()


@pytest.mark.parametrize(
    "secret",
    [
        "",
        "a b",
        "a\nundo bgp",
        "a\r",
        "\x1b",
        "what?",
        '"quoted"',
        "\tx",
        "x" * 256,
        "päss",
        "\x7f",
    ],
)
def test_what_could_become_a_second_word_or_line_is_refused_unseen(secret: str) -> None:
    with pytest.raises(BadInput) as caught:
        check_typed(secret, "env:P")
    assert str(caught.value) == (
        "env:P: the secret cannot be typed as one word; use 1 to 255 printable ASCII characters "
        "without blanks, '?' and '\"'"
    )


def test_a_secret_that_looks_like_a_cipher_is_refused() -> None:
    with pytest.raises(BadInput, match="looks like one that a switch has encrypted"):
        check_typed(CIPHER_TEXT, "env:P")


def test_only_what_was_read_is_filled_in() -> None:
    with pytest.raises(Refused) as caught:
        filled_line("peer S password cipher <secret encrypted>", {})
    assert str(caught.value).startswith(
        "<secret encrypted>: it exists only on the switch; nothing was"
    )
    with pytest.raises(Refused, match="<secret env:P>: was not read before"):
        filled_line("peer S password cipher <secret env:P>", {"env:Q": "x"})
    lines = [
        text(password=p) for p in ("env:P", "env:P version 2", "file:/k", "encrypted", "readable")
    ]
    assert references(lines) == ("env:P", "file:/k")


@pytest.mark.parametrize(
    ("was", "will", "told"),
    [
        ({}, {"password": "env:P"}, ["peer SPINE password cipher <secret env:P>"]),
        (
            {"password": "env:P"},
            {"password": "env:P version 2"},
            ["peer SPINE password cipher <secret env:P version 2>"],
        ),
        (
            {"password": "readable"},
            {"password": "env:P"},
            ["peer SPINE password cipher <secret env:P>"],
        ),
        ({"password": "env:P"}, {}, ["undo peer SPINE password"]),
        ({"password": "env:P"}, {"password": "env:P"}, []),
        ({"keychain": "K"}, {}, ["undo peer SPINE keychain"]),
    ],
)
def test_a_patch_sets_a_password_and_takes_it_away(
    was: dict[str, str], will: dict[str, str], told: list[str]
) -> None:
    old, new = text(**was), text(**will)
    patch = make_patch(old, new, G1)
    inside = [line.strip() for line in patch.commands if line.strip() not in ("bgp 65101", "quit")]
    assert inside == told
    after = apply_lines(parse_tree(as_saved(old)), map(as_saved, patch.commands), G1)
    assert parse(tree_text(after), "x").device == parse(as_saved(new), "x").device


@pytest.mark.parametrize(
    ("reference", "what"),
    [
        ("hunter2", "a credential that is not a reference"),
        ("env:A B", "env: without the name of an environment variable; write env:NAME"),
        ("env:Ü", "cannot stand in a configuration line"),
        ("file:/a b", "cannot stand in a configuration line"),
        ("file:/a\nundo bgp", "cannot stand in a configuration line"),
        ("file:/a>", "cannot stand in a configuration line"),
    ],
)
def test_a_reference_cannot_become_a_second_word(reference: str, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        Authentication(password=reference)


def test_a_password_and_a_keychain_exclude_each_other() -> None:
    with pytest.raises(BadInput, match="a password and a keychain exclude each other"):
        text(password="env:P", keychain="K")
    bgp = Bgp(
        asn=1,
        groups=(BgpGroup(name="G", password="env:P"),),
        peers=(BgpPeer(address=IPv4Address("10.0.0.1"), group="G", keychain="K"),),
    )
    assert bgp.settings(bgp.peers[0]).password is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "local-user a password irreversible-cipher $1d$x",
            "password irreversible-cipher <removed>",
        ),
        ("local-user a password cipher %^%#x%^%#", "password cipher <removed>"),
        ("peer SPINE password simple Secret", "password simple <removed>"),
        ("peer SPINE password Secret", "password <removed>"),
        ("snmp-agent community read public", "community read <removed>"),
        ("snmp-agent community write cipher x", "community write cipher <removed>"),
        ("target-host trap params securityname public v2c", "<removed> v2c"),
        ("ntp authentication-keyid 1 authentication-mode md5 cipher x", "md5 cipher <removed>"),
        ("usm-user x %+%##!!!abc%+%# more", "usm-user x <removed> more"),
        ("apply community 65001:1", "apply community 65001:1"),
        ("simpler things", "simpler things"),
    ],
)
def test_secrets_are_masked(text: str, shown: str) -> None:
    assert masked_text(text).endswith(shown)


def test_secrets_are_masked_wherever_a_line_is_shown() -> None:
    text = "sysname a\naaa\n local-user ops password irreversible-cipher Secret1\n"
    text += "radius-server shared-key cipher Secret2\n mtu 9000\n"
    parsed = parse(text, "a.cfg")
    assert parsed.device.users == ()
    assert "Secret" not in repr(parsed)
