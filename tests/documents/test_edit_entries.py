"""`with_entry` sets one value of a mapping and keeps every other byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocefort.base.documents.edit import line_comments, with_entry, with_line_comments
from rocefort.base.documents.read import document_of

TEXT = """\
# a fabric
name: x  # its name
profiles:
  ecn:
    own: {kind: static}  # kept
  nic: {}

empty:
list: [1]
"""
LONG = "a source that is too long for one line of a mapping in braces, so that it has a block of its own"


@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        (("name",), "y", "name: x  # its", "name: y  # its"),
        (
            ("profiles", "ecn", "new"),
            {"kind": "static", "thresholds": {"25": {"kmin": 1}}},
            "  # kept\n",
            "  # kept\n    new:\n      kind: static\n      thresholds:\n        25: {kmin: 1}\n",
        ),
        (("profiles", "ecn", "own"), {"kind": "ai"}, "{kind: static}", "{kind: ai}"),
        (("profiles", "nic", "b"), {"c": 1}, "nic: {}", "nic: {b: {c: 1}}"),
        (("profiles", "host", "b"), {"c": 1}, "  nic: {}\n", "  nic: {}\n  host:\n    b: {c: 1}\n"),
        (("empty", "a"), {"b": 1, "c": 2}, "empty:\n", "empty:\n  a: {b: 1, c: 2}\n"),
        (("last",), {"s": LONG}, "[1]\n", f'[1]\nlast:\n  s: "{LONG}"\n'),
        (("last",), [{"q": 0}, {"q": 1}], "[1]\n", "[1]\nlast:\n  - {q: 0}\n  - {q: 1}\n"),
    ],
)
def test_an_entry_is_set(path: tuple[str, ...], value: object, old: str, new: str) -> None:
    assert with_entry(TEXT, path, value) == TEXT.replace(old, new)


def test_a_block_is_replaced() -> None:
    text = with_entry(TEXT, ("profiles", "ecn", "new"), {"a": {"b": 1}, "c": [{"d": 1}]})
    again = with_entry(text, ("profiles", "ecn", "new"), {"a": {"b": 2}})
    data = document_of(again, "").data
    assert isinstance(data, dict)
    assert data["profiles"]["ecn"] == {"own": {"kind": "static"}, "new": {"a": {"b": 2}}}
    assert again.endswith("\nempty:\nlist: [1]\n")
    assert with_entry(again, ("profiles", "ecn", "new"), {"a": {"b": 1}, "c": [{"d": 1}]}) == text


def test_json_stays_json() -> None:
    assert with_entry('{"a": {"b": 1}}\n', ("a", "c"), {"d": [1]}) == (
        '{"a": {"b": 1, "c": {"d": [1]}}}\n'
    )


SCALARS = st.integers(0, 99) | st.text("ab :#-'\"", max_size=4).map(lambda s: f"x{s}x")
VALUES = st.recursive(
    SCALARS, lambda inner: st.dictionaries(st.sampled_from("abcd"), inner, min_size=1, max_size=5)
)


@given(st.lists(st.tuples(st.lists(st.sampled_from("pqr"), min_size=1, max_size=3), VALUES)))
def test_entries_read_back(entries: list[tuple[list[str], object]]) -> None:
    text, expected = "p:\n  q: {a: 1}\nz: 1\n", {"p": {"q": {"a": 1}}, "z": 1}
    for path, value in entries:
        data: object = expected
        for part in path[:-1]:
            data = data.setdefault(part, {}) if isinstance(data, dict) else None
        if not isinstance(data, dict):
            continue  # a scalar is in the way
        data[path[-1]] = value
        text = with_entry(text, tuple(path), value)
        assert document_of(text, "").data == expected


def test_comments_at_the_end_of_lines_are_read_and_added() -> None:
    text = "a:\n  b:  # one\n    c: 1  # two\n    d: 'x # y'\n  e: [1]  # three\n"
    comments = line_comments(text, ("a",))
    assert comments == {("b",): "# one", ("b", "c"): "# two", ("e",): "# three"}
    new = "a:\r\n  b: {d: 2, c: 1}\r\n  e: [1]  # own\r\n"
    below = {("a", *path): comment for path, comment in comments.items()}
    assert with_line_comments(new, below) == (
        "a:\r\n  b: {d: 2, c: 1}  # one; c two\r\n  e: [1]  # own\r\n"
    )
