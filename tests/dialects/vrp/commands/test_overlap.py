"""Overlap of command formats: no line that two formats have is missed."""

from __future__ import annotations

import re
from itertools import combinations, islice

import pytest
from row_lines import samples

from rocefort.dialects.vrp.commands.catalogue import rows_by_view
from rocefort.dialects.vrp.commands.command import Row
from rocefort.dialects.vrp.commands.format import (
    MatchFailure,
    overlap,
    parse_format,
    read_all,
    words_of,
)


def reads(row: Row, line: str) -> bool:
    return any(True for _ in read_all(row.nodes, words_of(line), MatchFailure()))


@pytest.mark.parametrize("view", sorted(rows_by_view()))
def test_rows_that_read_one_line_overlap(view: str) -> None:
    rows = rows_by_view()[view]
    assert all(overlap(row.nodes, row.nodes) for row in rows)
    for one, other in combinations(rows, 2):
        common = [line for line in samples(one) if reads(other, line)]
        common += [line for line in samples(other) if reads(one, line)]
        if common:
            assert overlap(one.nodes, other.nodes), common[0]
            assert overlap(other.nodes, one.nodes), common[0]


PAIRS: list[tuple[str, str, bool]] = [
    ("lldp enable", "lldp transmit interval <1-9>", False),
    ("mtu ( <46-9600> )", "mtu ( <9601-9700> )", True),
    ("peer <peer> enable", "peer <peer> frob", False),
    ("peer <peer> frob", "peer <group> frob", True),
    ("dcb pfc [ <name> ]", "dcb pfc frob", True),
    ("dcb pfc [ <name> ]", "dcb pfc frob <name>", False),
    ("description ( <text:80> )", "description of <name>", True),
    ("description ( <text:80> )", "describe <name>", False),
    ("a { b | c } d", "a c d", True),
    ("a { b | c } d", "a d d", False),
    ("a +b <1-4>", "a <5-9>", True),
    ("x [ a <1-9> | b ] *", "x b a <1-2>", True),
    ("x [ a <1-9> | b ] *", "x b b", False),
    ("x <1-9>", "x y", False),
    ("x <1-9>", "x 12", False),
    ("x <ip>", "x 10.0.0.1", True),
    ("in <interface> out", "in Vlanif 5 out".lower(), True),
]


@pytest.mark.parametrize(("one", "other", "common"), PAIRS)
def test_two_formats(one: str, other: str, common: bool) -> None:
    assert overlap(parse_format(one), parse_format(other)) is common
    assert overlap(parse_format(other), parse_format(one)) is common


SHORTENED: list[tuple[str, str, bool]] = [
    ("shut", "shutdown", True),
    ("shutdown", "shut", False),
    ("shutdownx", "shutdown", False),
    ("a { br | c } d", "a [ bridge | x ] delta", True),
    ("a num <1-4>", "a +number <1-4>", True),
    ("trust <1-9>", "trust 8021p", True),
    ("x y a", "x [ abc <1-9> | yes ] *", False),
    ("x y a 1", "x [ abc <1-9> | yes ] *", True),
]


@pytest.mark.parametrize(("one", "other", "common"), SHORTENED)
def test_words_cut_short(one: str, other: str, common: bool) -> None:
    assert overlap(parse_format(one), parse_format(other), shortened=True) is common


@pytest.mark.parametrize("view", sorted(rows_by_view()))
def test_a_line_with_one_word_cut_short_is_of_its_row(view: str) -> None:
    for row in rows_by_view()[view]:
        for line in islice(samples(row), 20):
            words = line.split()
            for at in (at for at, word in enumerate(words) if re.fullmatch(r"[a-z-]{2,}", word)):
                short = " ".join((*words[:at], words[at][:-1], *words[at + 1 :]))
                reading = read_all(row.nodes, words_of(short), MatchFailure(), shortened=True)
                if any(found.after is None for found in reading):
                    assert overlap(parse_format(short.lower()), row.nodes, shortened=True), short


def test_few_rows_of_one_view_overlap() -> None:
    """A check that refuses everything is of no use."""
    pairs = [
        overlap(one.nodes, other.nodes)
        for rows in rows_by_view().values()
        for one, other in combinations(rows, 2)
    ]
    assert len(pairs) > 5000
    assert sum(pairs) < len(pairs) / 50
