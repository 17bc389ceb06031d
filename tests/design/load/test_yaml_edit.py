"""Items appended to YAML in place: in the style of a neighbour, with every other byte kept."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from rocefort.base.documents.edit import Item, appended, replace_file, spliced
from rocefort.base.documents.read import document_of
from rocefort.base.errors import BadInput, Refused

NEW: Item = {"id": 3, "name": "z", "segments": ["a", "b"]}
SERVER: Item = {"name": "s", "leaf": "z"}

STYLES: list[tuple[str, str, str]] = [
    (
        "block with comments, a blank line and a key behind",
        "leaves:\n  - id:   1 # one\n    name: x\n\n"
        "  - id:   2\n    name: y # two\n    # of y\n  # of what follows\nb: 1\n",
        "leaves:\n  - id:   1 # one\n    name: x\n\n"
        "  - id:   2\n    name: y # two\n    # of y\n\n  - id:   3\n    name: z\n"
        "    segments: [a, b]\n  # of what follows\nb: 1\n",
    ),
    (
        "block list of a neighbour is copied",
        "leaves:\n- id: 1\n  segments:\n  - a\n  - b\n  name: x\n",
        "leaves:\n- id: 1\n  segments:\n  - a\n  - b\n  name: x\n"
        "- id: 3\n  name: z\n  segments:\n  - a\n  - b\n",
    ),
    (
        "no line end at the end",
        "b: 1\nleaves:\n- id: 1\n  name: 'x'",
        "b: 1\nleaves:\n- id: 1\n  name: 'x'\n- id: 3\n  name: 'z'\n  segments: [a, b]",
    ),
    (
        "line ends of Windows, a byte order mark, a dash on its own line",
        '\ufeffleaves:\r\n  -\r\n    id: 1\r\n    name: "é"\r\nb: 1\r\n',
        '\ufeffleaves:\r\n  -\r\n    id: 1\r\n    name: "é"\r\n'
        '  - id: 3\r\n    name: "z"\r\n    segments: [a, b]\r\nb: 1\r\n',
    ),
    (
        "flow items of a block list",
        'leaves:\n  - { id: 1, name: "x" } # one\n',
        'leaves:\n  - { id: 1, name: "x" } # one\n  - { id: 3, name: "z", segments: [a, b] }\n',
    ),
    (
        "flow list on one line",
        "leaves: [{id: 1, name: x}, {id: 2, name: y}] # all\n",
        "leaves: [{id: 1, name: x}, {id: 2, name: y}, {id: 3, name: z, segments: [a, b]}] # all\n",
    ),
    (
        "flow list, one line an item",
        "leaves: [\n  {id: 1, name: x},\n  {id: 2, name: y} # two\n]\n",
        "leaves: [\n  {id: 1, name: x},\n  {id: 2, name: y}, # two\n"
        "  {id: 3, name: z, segments: [a, b]}\n]\n",
    ),
    (
        "flow list with a comma behind the last item",
        "leaves: [\n  {id: 1, name: x}, # one\n]\n",
        "leaves: [\n  {id: 1, name: x}, # one\n  {id: 3, name: z, segments: [a, b]},\n]\n",
    ),
    (
        "JSON stays JSON",
        '{"leaves": [{"id": 1}], "b": 1}',
        '{"leaves": [{"id": 1}, {"id": 3, "name": "z", "segments": ["a", "b"]}], "b": 1}',
    ),
]


@pytest.mark.parametrize(
    ("before", "after"), [pytest.param(a, b, id=name) for name, a, b in STYLES]
)
def test_an_item_is_written_as_its_neighbour(before: str, after: str) -> None:
    insertions = appended(before, {"leaves": [NEW]}, {}, "leaves")
    grown = spliced(before, insertions)
    assert grown == after
    for one in sorted(insertions, key=lambda one: one.at, reverse=True):
        at = grown.index(one.text, one.at)
        grown = grown[:at] + grown[at + len(one.text) :]
    assert grown == before
    data = document_of(after, "x.yaml").data
    assert isinstance(data, dict)
    assert data["leaves"][-1] == dict(NEW)


def test_a_list_that_is_missing_or_empty() -> None:
    block = "leaves:\n- id: 1\n# end\nb: 1\n"
    assert spliced(block, appended(block, {"servers": [SERVER]}, {}, "leaves")) == (
        "leaves:\n- id: 1\n\nservers:\n  - name: s\n    leaf: z\n# end\nb: 1\n"
    )
    empty = "leaves:\n- id: 1\nservers: [] # none\n"
    assert spliced(empty, appended(empty, {"servers": [SERVER]}, {}, "leaves")) == (
        "leaves:\n- id: 1\nservers: [{name: s, leaf: z}] # none\n"
    )
    flow = '{"leaves": [{"id": 1}], "b": 1}\n'
    assert spliced(flow, appended(flow, {"servers": [SERVER]}, {}, "leaves")) == (
        '{"leaves": [{"id": 1}], "servers": [{"name": "s", "leaf": "z"}], "b": 1}\n'
    )


def test_what_yaml_would_read_as_something_else_is_quoted() -> None:
    text = "leaves:\n- id: 1\n  name: x\n"
    odd: Item = {"name": "12", "a": "true", "b": "1e3", "c": "a: b", "d": None, "e": 1.5}
    grown = spliced(text, appended(text, {"leaves": [odd]}, {}, "leaves"))
    data = document_of(grown, "x.yaml").data
    assert isinstance(data, dict)
    assert data["leaves"][-1] == dict(odd)
    assert 'name: "12"\n  a: "true"\n  b: "1e3"\n  c: "a: b"\n  d: null\n  e: 1.5\n' in grown


def test_a_file_is_replaced_whole_and_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    target, link = tmp_path / "real.yaml", tmp_path / "fabric.yaml"
    target.write_bytes(b"a: 1\r\n")
    target.chmod(0o640)
    link.symlink_to(target)
    replace_file(link, "a: 1\r\n", "a: 1\r\nb: 2\r\n")
    assert link.is_symlink()
    assert target.read_bytes() == b"a: 1\r\nb: 2\r\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fabric.yaml", "real.yaml"]


def test_a_file_that_somebody_changed_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "fabric.yaml"
    path.write_text("a: 2\n")
    with pytest.raises(Refused) as refusal:
        replace_file(path, "a: 1\n", "a: 1\nb: 2\n")
    assert str(refusal.value) == (
        f"{path}: another program changed the file in the meantime; nothing was written; try again"
    )
    assert path.read_text() == "a: 2\n"
    assert [p.name for p in tmp_path.iterdir()] == ["fabric.yaml"]


def test_a_file_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file; check the path"):
        replace_file(tmp_path / "fabric.yaml", "a: 1\n", "a: 2\n")
