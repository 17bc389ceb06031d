"""Lines of a file below its problems: the mark, the width, and no line with a secret."""

from __future__ import annotations

import string
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from efforts import tries
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rocefort.base.documents.read import document_of
from rocefort.base.documents.syntax_errors import MOST, excerpt, sentences_with_excerpts
from rocefort.base.documents.validate import validate
from rocefort.base.errors import BadInput, Problem
from rocefort.design.load.documents import load_fabric
from rocefort.fleet.connections import Connections
from rocefort.models.base import check_reference
from rocefort.models.device.secret import SECRET_KEYS
from rocefort.models.fabric.fabric import Fabric

TEXT = "a: 1\nsegments:\n  - {name: compute, vlan: 5000}  # of racks\n  quoted: 'two words'\n"


@pytest.mark.parametrize(
    ("text", "line", "column", "width", "lines"),
    [
        pytest.param(TEXT, 3, 27, 80, ["  3 |   - {name: compute, vlan: 5000}  # of racks", "    |                           ^^^^"], id="value in braces"),
        pytest.param(TEXT, 3, 21, 80, ["  3 |   - {name: compute, vlan: 5000}  # of racks", "    |                     ^^^^"], id="key"),
        pytest.param(TEXT, 4, 11, 80, ["  4 |   quoted: 'two words'", "    |           ^^^^^^^^^^^"], id="quoted"),
        pytest.param(TEXT, 4, 40, 80, ["  4 |   quoted: 'two words'", "    |                      ^"], id="behind the end"),
        pytest.param("\ta: 1\n", 1, 1, 80, ["  1 |     a: 1", "    | ^"], id="a tab takes four columns"),
        pytest.param("b: 'x", 1, 4, 80, ["  1 | b: 'x", "    |    ^^"], id="open quote"),
        pytest.param("名: 東京 x\n", 1, 4, 80, ["  1 | 名: 東京 x", "    |     ^^^^^^"], id="wide characters take two columns"),
        pytest.param("e\u0301: 12\n", 1, 5, 80, ["  1 | e\u0301: 12", "    |    ^^"], id="an accent takes none"),
        pytest.param("a: \x1b[31m\n", 1, 4, 80, ["  1 | a: \ufffd[31m", "    |    ^^^^^"], id="no control character reaches the terminal"),
        pytest.param("a: 1\n", 0, 1, 80, [], id="no line"),
        pytest.param("a: 1\n", 9, 1, 80, [], id="behind the file"),
    ],
)  # fmt: skip
def test_the_mark_is_below_the_value(
    text: str, line: int, column: int, width: int, lines: list[str]
) -> None:
    assert excerpt(text, line, column, width) == lines


@given(
    before=st.text("ab東é ", max_size=120),
    value=st.text("xyz名", min_size=1, max_size=120),
    after=st.text("ab東 ", max_size=120),
    width=st.integers(30, 120),
)
def test_a_long_line_is_cut_around_the_value(
    before: str, value: str, after: str, width: int
) -> None:
    text = f"k: [{before}, {value}, {after}]"
    column = len(f"k: [{before}, ") + 1
    row, mark = excerpt(text, 1, column, width)
    wide = "東名"
    shown, start = 0, mark.index("^")
    for character in row:
        if shown == start:
            break
        shown += 2 if character in wide else 1
    assert shown == start
    assert character == value[0]
    assert sum(2 if one in wide else 1 for one in row) <= width
    assert len(mark) <= width


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("user: a\npassword: hunter2\n", 2),
        ("user: a\npasswd hunter2\n", 2),
        ("credntial: hunter2\n", 1),
        ('credential: "env:hunter-2"\n', 1),
        ("- {name: leaf01, credential: hunter2}\n", 1),
        ("credential:\n  hunter2\n", 2),
        ("credential: >\n\n  x\n  hunter2: 1\n", 4),
        ('credential: "hun\nter2"\n', 2),
        ("authentication: hunter2\n", 1),
        ("a: 1  # the old password is hunter2\n", 1),
        ("credential: env:A  # was hunter2\n", 1),
        ("batfish: https://me:hunter2@host\n", 1),
        ("credential:\n- hunter2\n", 2),
        ("credential:\n- a\n- hunter2\n", 3),
        ("credential:\n- name: a\n- hunter2\n", 3),
        ("credential:\n# a comment\n\nhunter2: x\n", 4),
        ("credential: abc\nhunter2\n", 2),
        ("credential: [\na,\n  port: x,\nhunter2]\n", 4),
        ("- {name: a, credential:\n  x,\nport: hunter2}\n", 3),
        ('credential: "a\nport: x\nname: hunter2"\n', 3),
        ("psk: hunter2\n", 1),
        ("md5: hunter2\n", 1),
        ("bgp_hash: hunter2\n", 1),
        ("door_pin: hunter2\n", 1),
        ("snmp: hunter2\n", 1),
    ],
)
def test_a_line_that_may_contain_a_secret_is_not_shown(text: str, line: int) -> None:
    assert excerpt(text, line, 1, 80) == []


def test_a_line_with_a_reference_is_shown() -> None:
    text = '- {name: leaf 01, credential: "env:NETOPS"}\n- credential: file:/run/key\n'
    assert excerpt(text, 1, 10, 80)[0] == f"  1 | {text.splitlines()[0]}"
    assert excerpt(text, 2, 3, 80)[0] == "  2 | - credential: file:/run/key"


def test_a_line_behind_a_secret_is_shown_where_its_item_ends() -> None:
    text = "- name: a\n  credential: bad\n- name: b\n  port: x\n"
    assert excerpt(text, 4, 9, 80)[0] == "  4 |   port: x"
    text = "authentication:\n  password: env:A\nhold_s: soon\n"
    assert excerpt(text, 3, 9, 80)[0] == "  3 | hold_s: soon"


def test_a_line_with_a_key_of_no_model_is_not_shown() -> None:
    for line, shows in (("zqj: hunter2", False), ("- hunter2", False), ("hold_sec: 22", True)):
        text = f"zqj:\n{line}\n"
        with pytest.raises(BadInput) as caught:
            validate(Connections, document_of(text, "connections.yaml"))
        problem = replace(caught.value.problem, line=2, column=1)
        assert ("2 |" in sentences_with_excerpts([problem], 80)) == shows


def test_each_field_that_refers_to_a_secret_is_a_secret_key() -> None:
    refuses_clear_text = {
        name
        for model in (Fabric, Connections)
        for schema in model.model_json_schema()["$defs"].values()
        for name, field in schema.get("properties", {}).items()
        if "env:" in str(field.get("examples", field))
    }
    assert refuses_clear_text
    assert refuses_clear_text <= SECRET_KEYS
    assert {"password", "authentication", "privacy", "credential"} <= SECRET_KEYS
    with pytest.raises(ValueError, match="not a reference"):
        check_reference("hunter2")


SECRET = st.text(string.ascii_letters + string.digits + "!$%&/()=?+*-_.;<>|~^", min_size=8)
MISTAKES: list[Callable[[str], str]] = [
    lambda value: f"- {{name: leaf01, host: h, user: u, credential: {value!r}}}",
    lambda value: f"- {{name: leaf01, host: h, user: u, credential: {value}",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  credential: {value}",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  credential {value}",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  credential: '{value}",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  credential:\n    {value}",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  credntial: {value!r}",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  password: {value!r}",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  credential: [{value!r}]",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  credential: {{a: {value!r}}}",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  credential: {value!r}\n  port: x",
    lambda value: f"- name: leaf01\n  host: h\n  credential: |\n    {value}\n  user: u",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  credential: &a {value!r}",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  credential:\n  - {value}",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  credential:\n  - a\n  - {value}",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  credential:\n  {value}: x",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  credential:\n  {value!r}: {{a: x}}",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  credential:\n  {value!r}:\n    a: x",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  credential: abc\n  {value}",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  credential: abc\n  {value}\n  port: 1",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  credential: abc\n  # c\n\n  {value}: 1",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  credential: 'abc\n  {value}': 1",
    lambda value: f"- {{name: leaf01, host: h, user: u, credential: {{\n  {value!r}: 1}}}}",
    lambda value: f"- {{name: leaf01, host: h, user: u, credential: abc,\n  {value!r}: 1}}",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  psk: {value!r}",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  zqj: {value!r}",
    lambda value: f"- name: leaf01\n  host: h\n  user: u\n  zqj:\n  - {value!r}",
]


@settings(max_examples=tries(60))
@given(value=SECRET, mistake=st.sampled_from(MISTAKES))
def test_no_error_shows_a_secret(value: str, mistake: Callable[[str], str]) -> None:
    assume(value[:8] not in _error_of(mistake("Zq7xZq7x")))  # a word of the message itself
    shown = _error_of(mistake(value))
    assert value not in shown
    assert value[:8] not in shown


def _error_of(entry: str) -> str:
    indented = entry.replace("\n", "\n  ")
    text = f"known_hosts: known_hosts\ndevices:\n  {indented}\nservers: 5\n"
    with pytest.raises(BadInput) as caught:
        validate(Connections, document_of(text, "connections.yaml"))
    return sentences_with_excerpts(caught.value.problems, 200)


def test_an_error_of_many_problems_shows_the_first_lines(edit_heps: Any) -> None:
    path: Path = edit_heps()
    path.write_text(path.read_text().replace("segment: ", "segmnt: "))
    with pytest.raises(BadInput) as caught:
        load_fabric(path)
    count = len(caught.value.problems)
    lines = sentences_with_excerpts(caught.value.problems, 80).splitlines()
    assert count > MOST
    assert sum(line.lstrip(" ").startswith("| ") for line in lines) == MOST
    assert lines[-1] == f"{count} problems; the first {MOST} with their lines"


def test_an_unknown_file_has_no_excerpt() -> None:
    assert sentences_with_excerpts([Problem("a", "b", "c", "gone.yaml", 1, 1)], 80) == (
        "gone.yaml:1:1: a: b; c"
    )
