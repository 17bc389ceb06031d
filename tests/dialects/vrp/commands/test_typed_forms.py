"""Typed forms and forms of other releases mean the same as the saved form; any text is read."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache

import pytest
from efforts import tries
from hypothesis import event, given, settings
from hypothesis import strategies as st

from rocefort.base.errors import BadInput
from rocefort.base.repository import INVENTORY
from rocefort.design.derive.derive import derive
from rocefort.design.subject import decoded
from rocefort.dialects.data import ParsedConfig
from rocefort.dialects.network_text import render_all
from rocefort.dialects.vrp.commands.unmodelled import command_of
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.models.network.network import TextLine

PORT = "interface 100GE1/0/1\n"
BGP = "bgp 65001\n router-id 10.0.0.1\n"


@pytest.mark.parametrize(
    ("typed", "saved"),
    [
        ("interface 100ge 1/0/1\n mtu 9000\n", f"{PORT} mtu 9000\n"),
        ("interface  eth-trunk  7\n", "interface Eth-Trunk7\n"),
        (f"{PORT} ip address 10.0.0.1 31\n", f"{PORT} ip address 10.0.0.1 255.255.255.254\n"),
        (f"{PORT}\tip\taddress 10.0.0.1 31\n", f"{PORT} ip address 10.0.0.1 31\n"),
        ("vlan batch 10 to 12\n", "vlan batch 10 11 12\n"),
        ("vlan 10\n#\nvlan 11\n", "vlan batch 10 to 11\n"),
        (f"{PORT} undo shutdown\n", PORT),
        (f"{PORT} undo portswitch\n undo shutdown\n", f"{PORT} undo portswitch\n"),
        (f"{PORT} undo flow-control\n undo negotiation disable\n", PORT),
        ("undo lldp enable\nundo bfd\n", ""),
        (
            f"{PORT} mtu 9000\n#\nvlan batch 5\n#\n{PORT} undo portswitch\n",
            f"vlan batch 5\n{PORT} undo portswitch\n mtu 9000\n",
        ),
        (
            f"{BGP} peer 10.0.0.2 as-number 65002\n #\n ipv4-family unicast\n"
            "  network 10.9.0.0 24\n  peer 10.0.0.2 enable\n",
            f"{BGP} peer 10.0.0.2 as-number 65002\n ipv4-family unicast\n  peer 10.0.0.2 enable\n"
            "  network 10.9.0.0 255.255.255.0\n",
        ),
        (
            "aaa\n local-user op privilege level 3\n local-user op service-type ssh\n",
            "aaa\n local-user op service-type ssh\n local-user op level 3\n",
        ),
        (
            "!Software Version V300R023C00\n!Last configuration was saved at 12:00\n#\n#\nlldp enable\n"
            "#\nreturn\n<a>\n",
            "lldp enable\n",
        ),
        ("acl 2000\n rule 5 permit source 10.0.0.0 0.0.0.255\n", None),
        ("stelnet ipv4 server enable\n", "stelnet server enable\n"),
        ("snmp-agent sys-info version all\n", "snmp-agent sys-info version v1 v2c v3\n"),
        (
            "snmp-agent sys-info version v3\nsnmp-agent sys-info version v2c\n",
            "snmp-agent sys-info version v2c v3\n",
        ),
        (f"{BGP} private-4-byte-as enable\n", BGP),
        ("dcb pfc\n priority 4\n priority 5\n", "dcb pfc\n priority 3 4 5\n"),
    ],
)
def test_two_ways_to_say_one_thing(typed: str, saved: str | None) -> None:
    if saved is None:
        saved = typed.replace("acl 2000", "acl number 2000")
    one, two = (parse(f"sysname a\n{text}", "a.cfg") for text in (typed, saved))
    assert one.device == two.device
    assert (one.unmodelled, two.unmodelled) == ((), ())


@pytest.mark.parametrize("sign", ['"', "%"])
def test_a_title_of_many_lines_is_no_command(sign: str) -> None:
    title = f"header login information {sign}\nvlan batch 66\n\nreturn\n go away{sign}\n"
    parsed = parse(f"sysname a\n#\n{title}#\nvlan batch 10\n#\n", "a.cfg")
    assert parsed.device.vlans == (10,)
    assert parsed.cut_off_at == 9
    assert [line.line for line in parsed.unmodelled] == [3, 4, 6, 7]
    assert all(map(command_of, parsed.unmodelled))


def test_a_title_without_its_end_hides_no_command() -> None:
    ports = "".join(f"interface 100GE1/0/{number}\n mtu 9000\n" for number in range(1, 40))
    parsed = parse(f'sysname a\nheader login information "\n{ports}return\n', "a.cfg")
    assert len(parsed.device.interfaces) == 39


def test_a_stored_password_is_no_difference() -> None:
    first, other = (
        parse(f"sysname a\naaa\n local-user op password irreversible-cipher $1d${x}$\n", "a.cfg")
        for x in ("first", "other")
    )
    assert first.device == other.device
    assert first.unmodelled == other.unmodelled
    assert [command_of(line) for line in first.unmodelled] == ["local-user .. password"]


def test_a_route_over_an_interface_is_kept_not_refused() -> None:
    text = "sysname a\nip route-static 10.0.0.0 24 100GE1/0/3 10.1.0.1\n"
    (line,) = parse(text, "a.cfg").unmodelled
    assert line.text == "ip route-static 10.0.0.0 24 100GE1/0/3 10.1.0.1"


@pytest.mark.parametrize(
    ("header", "software"),
    [
        ("!Software Version V200R005C10SPC607B607\n", "V200R005C10SPC607B607"),
        ("! Software Version V300R023C00\n", "V300R023C00"),
        ("!Last configuration was updated at 2024-05-29\n", None),
        ("", None),
    ],
)
def test_the_header_names_the_release(header: str, software: str | None) -> None:
    assert parse(f"{header}sysname a\nreturn\n", "a.cfg").software == software


@pytest.mark.parametrize(
    ("text", "cut_off_at"),
    [
        ("sysname a\n#\nreturn\n", None),
        ("sysname a\nreturn\n<a>\n", None),
        ("sysname a\n", 1),
        ("sysname a\nreturn\nvlan batch 2\n", 3),
    ],
)
def test_text_without_an_end(text: str, cut_off_at: int | None) -> None:
    assert parse(text, "a.cfg").cut_off_at == cut_off_at


@pytest.mark.parametrize(
    ("path", "text", "command"),
    [
        (("interface 100GE1/0/1",), "lldp tlv-enable dcbx", "lldp tlv-enable dcbx"),
        (("interface 100GE1/0/1",), "undo lldp tlv-enable dcbx", "lldp tlv-enable dcbx"),
        (("interface 100GE1/0/1",), "frobnicate", ""),
        (("aaa",), "local-user op state block", "local-user .. state"),
        (("aaa", "task-group t"), "task interface read", "task .."),
        ((), "ssh client cipher aes256_gcm aes128_ctr", "ssh client cipher"),
        ((), "undo ssh client first-time enable", "ssh client first-time"),
        (("aaa", "domain default_admin"), "accounting-scheme tac", "accounting-scheme .."),
        (("user-interface con 0",), "idle-timeout 5 0", "idle-timeout .."),
        (("interface 10GE1/0/1",), "device transceiver 10GBASE-FIBER", "device transceiver"),
        (("dcb pfc", "priority 4 deadlock-detect time 10"), "telnet server disable", ""),
        ((), "stacking", ""),
        (("frobnicate",), "lldp tlv-enable dcbx", ""),
        ((), "undo", ""),
    ],
)
def test_known_commands_are_told_from_unknown_ones(
    path: tuple[str, ...], text: str, command: str
) -> None:
    assert command_of(TextLine(path, text, 1)) == command


# -- spoilt texts ---------------------------------------------------------------------------------

Spoil = Callable[[random.Random, list[bytes]], None]


def _drop(chance: random.Random, lines: list[bytes]) -> None:
    del lines[chance.randrange(len(lines))]


def _double(chance: random.Random, lines: list[bytes]) -> None:
    lines.insert(chance.randrange(len(lines)), chance.choice(lines))


def _swap(chance: random.Random, lines: list[bytes]) -> None:
    a, b = (chance.randrange(len(lines)) for _ in range(2))
    lines[a], lines[b] = lines[b], lines[a]


def _garble(chance: random.Random, lines: list[bytes]) -> None:
    at = chance.randrange(len(lines))
    line = bytearray(lines[at] or b"x")
    line[chance.randrange(len(line))] = chance.choice(b'\xff\xc3 \t19/.#"%z')
    lines[at] = bytes(line)


def _other_word(chance: random.Random, lines: list[bytes]) -> None:
    at = chance.randrange(len(lines))
    words = lines[at].split(b" ")
    words[chance.randrange(len(words))] = chance.choice(b" ".join(lines).split() or [b"x"])
    lines[at] = b" ".join(words)


def _shift(chance: random.Random, lines: list[bytes]) -> None:
    at = chance.randrange(len(lines))
    lines[at] = b" " * chance.randrange(4) + lines[at].lstrip()


def _cut(chance: random.Random, lines: list[bytes]) -> None:
    keep = chance.randrange(1, len(lines) + 1)
    lines[keep:] = []


SPOILERS: list[Spoil] = [_drop, _double, _swap, _garble, _other_word, _shift, _cut]


@settings(max_examples=tries(150))
@given(
    st.integers(0, 9),
    st.lists(st.sampled_from(SPOILERS), min_size=1, max_size=12),
    st.integers(0, 2**32),
)
def test_a_spoilt_text_is_read_or_refused_with_its_place(
    which: int, spoil: list[Spoil], seed: int
) -> None:
    """Lines dropped, doubled, swapped, moved; words and bytes changed: Parsed, or BadInput."""
    lines = _heps_texts()[which].encode().split(b"\n")
    chance = random.Random(seed)
    for one in spoil:
        one(chance, lines)
        lines = lines or [b""]
    result = _read(b"\n".join(lines))
    event(type(result).__name__)
    if isinstance(result, ParsedConfig):
        assert len([command_of(line) for line in result.unmodelled]) <= result.total_lines
    else:
        assert all(problem.where.startswith("a.cfg") for problem in result.problems)
        assert all(problem.what for problem in result.problems)


@cache
def _heps_texts() -> tuple[str, ...]:
    """Return texts without a fixture: hypothesis would show its bytes with a failing example."""
    return tuple(render_all(derive(INVENTORY / "heps" / "fabric.yaml").network).values())


def _read(data: bytes) -> ParsedConfig | BadInput:
    try:
        return parse(decoded(data, "a.cfg"), "a.cfg")
    except BadInput as refused:
        return refused
