"""Loading of long texts: indexes and caches change the cost, never the result."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.base.repository import INVENTORY
from rocefort.design.derive.derive import derive
from rocefort.dialects.network_text import render_all
from rocefort.dialects.vrp.commands import match
from rocefort.dialects.vrp.commands.catalogue import SYSTEM, rows_by_view
from rocefort.dialects.vrp.commands.command import Row
from rocefort.dialects.vrp.commands.format import FormatMatch, MatchFailure, read_all, words_of
from rocefort.dialects.vrp.commands.match import identify, readings
from rocefort.dialects.vrp.interpreter.execute import VrpRefusal, view_kind
from rocefort.dialects.vrp.interpreter.interpreter import (
    LineResult,
    apply_line,
    apply_lines,
    replay,
)
from rocefort.dialects.vrp.interpreter.tree_edit import Lines, View, put_line, remove
from rocefort.dialects.vrp.text.config_tree import ConfigLine, parse_tree, tree_text
from rocefort.dialects.vrp.text.secret_forms import as_saved
from rocefort.models.hardware.hardware import SyntaxFamily

G1 = SyntaxFamily.V300_G1
PORTS = [f"interface 100GE1/0/{n}" for n in range(1, 4)]
PEERS = [f"10.0.0.{n}" for n in range(0, 8, 2)]
LINES = st.sampled_from(
    [
        *PORTS,
        *(f"peer {peer} as-number 6500{n}" for n, peer in enumerate(PEERS)),
        *(f"peer {peer} group G" for peer in PEERS),
        *(f"peer {peer} enable" for peer in PEERS),
        *(f"peer {peer} description {word}" for peer in PEERS for word in ("a", "b")),
        *(f"undo peer {peer}" for peer in PEERS),
        *(f"vlan {n}" for n in range(10, 14)),
        "vlan batch 10 to 12 30",
        "undo vlan 12",
        "interface Vlanif10",
        "interface Eth-Trunk5",
        "undo interface Eth-Trunk5",
        "undo interface Vlanif10",
        "mode lacp-static",
        "eth-trunk 5",
        "undo eth-trunk",
        "undo portswitch",
        "portswitch",
        "description of x",
        "MTU 9000",
        "ip address 10.0.0.1 31",
        "ip address 10.0.1.1 24 sub",
        "port default vlan 10",
        "qos drr 0 to 5",
        "qos queue 3 drr weight 5",
        "drop-profile p",
        "qos queue 3 wred p",
        "qos queue 3 ecn",
        "undo qos queue 3 wred",
        "port split dimension interface 100GE1/0/1 split-type 4*25GE",
        "dcb pfc",
        "priority 4",
        "bgp 65001",
        "undo bgp 65001",
        "group G external",
        "group G internal",
        "undo group G",
        "ipv4-family unicast",
        "network 10.0.0.0 24",
        "what is this",
        "quit",
        "#",
    ]
)


@contextmanager
def views_indexed_from(lines: int) -> Iterator[None]:
    """Views of so many lines have an index."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(match, "LONG", lines)
        yield


NEVER, ALWAYS = 10**9, 1


def typed_in(lines: list[str]) -> list[LineResult | tuple[int, str]]:
    """Return the result of each line.

    For a refused one the position of the caret and the message.
    """
    config: Lines = ()
    view: View = ()
    results: list[LineResult | tuple[int, str]] = []
    for line in lines:
        try:
            applied = apply_line(config, view, line, G1)
        except VrpRefusal as refusal:
            results.append((refusal.position, refusal.message))
            continue
        config, view = applied.config, applied.view
        results.append(applied)
    return results


@given(st.lists(LINES, max_size=60))
def test_an_index_changes_no_result(lines: list[str]) -> None:
    with views_indexed_from(NEVER):
        plain = typed_in(lines)
    with views_indexed_from(ALWAYS):
        assert typed_in(lines) == plain


@given(st.lists(LINES, max_size=60), st.data())
def test_an_index_changes_no_start_up(lines: list[str], data: st.DataObject) -> None:
    indents = data.draw(st.lists(st.integers(0, 2), min_size=len(lines), max_size=len(lines)))
    text = "\n".join(" " * deep + line for deep, line in zip(indents, lines, strict=True))
    with views_indexed_from(NEVER):
        config, refusals = replay(parse_tree(text), G1)
    with views_indexed_from(ALWAYS):
        again, same = replay(parse_tree(text), G1)
    assert again == config
    assert [str(one) for one in same] == [str(one) for one in refusals]


def written_plainly(lines: Lines, line: ConfigLine) -> Lines:
    """Write a line as `put` documents, by reading the whole view."""
    own = identify(SYSTEM, line.text, G1)
    identities = [identify(SYSTEM, old.text, G1) for old in lines]
    if own.key in [one.key for one in identities]:
        place = [one.key for one in identities].index(own.key)
        return (*lines[:place], line, *lines[place + 1 :])
    place = max((at for at, one in enumerate(identities, 1) if one.order <= own.order), default=0)
    return (*lines[:place], line, *lines[place:])


TEXTS = st.one_of(
    st.integers(1, 12).map("interface 100GE1/0/{}".format),
    st.sampled_from(["sysname a", "sysname b", "lldp enable", "drop-profile p", "drop-profile q"]),
)


@settings(max_examples=tries(150))
@given(st.lists(TEXTS, max_size=8), st.lists(st.tuples(st.booleans(), TEXTS), max_size=30))
def test_lines_are_found_after_every_change(
    first: list[str], changes: list[tuple[bool, str]]
) -> None:
    config: Lines = tuple(map(ConfigLine, first))  # also with a line or a key twice
    with views_indexed_from(ALWAYS):
        for writes, text in changes:
            if writes:
                expected = written_plainly(config, ConfigLine(text))
                config = put_line(config, (), ConfigLine(text), SYSTEM, G1)
            else:
                expected = tuple(line for line in config if line.text != text)
                config = remove(config, (), [text])
            assert config == expected
            texts = [line.text for line in config]
            for known in ("sysname a", "sysname b", "lldp enable", text):
                place = texts.index(known) if known in texts else None
                assert match.place_of(config, known) == place
                assert match.begins(config, known) == (known if known in texts else None)
            sysnames = [one for one in texts if one.startswith("sysname ")]
            assert match.begins(config, "sysname") == (sysnames[0] if sysnames else None)


def read_plainly(kind: str, words: tuple[str, ...]) -> tuple[tuple[Row, FormatMatch], ...]:
    return tuple(
        (row, reading)
        for row in rows_by_view().get(kind, ())
        if G1 in row.families and words[0].casefold() in row.first_words
        for reading in read_all(row.nodes, words, MatchFailure())
    )


@settings(max_examples=tries(200))
@given(st.sampled_from(sorted(rows_by_view())), LINES)
def test_no_row_that_fits_is_passed_over(kind: str, line: str) -> None:
    assert readings(kind, words_of(line), G1) == read_plainly(kind, words_of(line))


def test_every_line_of_heps_is_read_by_all_rows_that_fit() -> None:
    seen = 0
    for tree in heps_trees(G1):
        for top in tree:
            for path, line in top.walk():
                kind, words = view_kind(path, G1), words_of(line.text)
                assert readings(kind, words, G1) == read_plainly(kind, words)
                seen += 1
    assert seen > 500


def heps_trees(family: SyntaxFamily) -> list[Lines]:
    network = derive(INVENTORY / "heps").network
    texts = render_all(network)
    own = [node.name for node in network.nodes if node.family and node.family.name == family]
    return [parse_tree(as_saved(texts[name])) for name in own]


def flat(lines: Lines) -> Iterator[str]:
    for line in lines:
        yield line.text
        if line.children:
            yield from flat(line.children)
            yield "quit"


@pytest.mark.parametrize("family", [SyntaxFamily.V200, G1])
def test_a_start_up_does_what_its_lines_do_one_by_one(family: SyntaxFamily) -> None:
    trees = heps_trees(family)
    assert trees
    for tree in trees:
        loaded, refusals = replay(tree, family)
        assert not refusals
        assert loaded == apply_lines((), flat(tree), family)
        assert replay(parse_tree(tree_text(loaded)), family) == (loaded, ())


def spine(ports: int) -> str:
    """A text of many ports and BGP peers, as a large fabric's spine has them."""
    numbers = range(1, ports + 1)
    own = "\n undo portswitch\n mtu 9000\n ip address 10.0.{}.1 24\n dcb pfc enable mode manual\n"
    return (
        "".join(f"interface 100GE1/0/{n}" + own.format(n) for n in numbers)
        + "bgp 65000\n group LEAF external\n"
        + "".join(
            f" peer 10.0.{n}.2 as-number 65001\n peer 10.0.{n}.2 group LEAF\n" for n in numbers
        )
        + " ipv4-family unicast\n  peer LEAF enable\n"
        + "".join(f"  peer 10.0.{n}.2 enable\n" for n in numbers)
    )


def steps_of(text: str) -> int:
    """Count calls while a text is loaded: its cost, the same on every machine."""
    tree, count = parse_tree(text), 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    for remembered in (identify, readings):
        remembered.cache_clear()
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        _, refusals = replay(tree, G1)
    finally:
        sys.setprofile(before)
    assert not refusals
    return count


def test_a_text_twice_as_long_takes_twice_as_much() -> None:
    small, large = steps_of(spine(100)), steps_of(spine(200))
    assert large < small * 2.2
