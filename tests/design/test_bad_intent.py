"""Bad input gets one clear error: where, what, how; all errors of one stage together."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rocefort.design.derive import derive
from rocefort.errors import BadInput

Edit = Callable[..., Path]

TRANSFER = "  - name: transfer01\n    leaf: leaf01\n    port: 100GE1/0/1\n"


def at(path: Path, sentence: str) -> str:
    """Put line numbers where a sentence names the text that stands on the line: `<text>`."""
    lines = path.read_text(encoding="utf-8").splitlines()

    def number(match: re.Match[str]) -> str:
        text, _, which = match[1].partition("#")
        found = [n for n, line in enumerate(lines, 1) if text in line]
        return str(found[int(which or 1) - 1])

    return re.sub(r"<([^<>]+)>", number, sentence)


def said(path: Path) -> list[str]:
    """Sentences of the error, without the directory of the file."""
    with pytest.raises(BadInput) as caught:
        derive(path)
    assert caught.value.exit_code == 2
    return [line.removeprefix(f"{path.parent}/") for line in str(caught.value).splitlines()]


CASES = [
    pytest.param(
        [("hold_s: 30", "hold_sec: 30")],
        [
            "fabric.yaml:<hold_sec>:3: routing.hold_sec: unknown key 'hold_sec'; did you mean 'hold_s'?"
        ],
        id="unknown key names the nearest",
    ),
    pytest.param(
        [("xon_kbytes: 550  #", "xon_kbytes: 550 KB  #")],
        [
            "fabric.yaml:<550 KB>:15: lossless.xon_kbytes: '550 KB' cannot be used; "
            "input should be a valid integer, unable to parse string as an integer"
        ],
        id="wrong type",
    ),
    pytest.param(
        [("mtu: 9000  #", "mtu: 9000\nmtu: 1500  #")],
        [
            "fabric.yaml:<mtu: 1500>:1: mtu: key 'mtu' is there twice; the first is on line <mtu: 9000>"
        ],
        id="duplicate key",
    ),
    pytest.param(
        [("mtu: 9000  #", "mtu: &m 9000  #"), ("trial_s: 600", "trial_s: *m")],
        [
            "fabric.yaml:<mtu: >:6: mtu: anchor &m; write the value out",
            "fabric.yaml:<trial_s>:12: rollout.trial_s: alias *m; write the value out",
        ],
        id="anchor and alias",
    ),
    pytest.param(
        [("mtu: 9000  #", "mtu: !!int 9000  #")],
        ["fabric.yaml:<mtu: >:6: mtu: tag tag:yaml.org,2002:int; remove the tag"],
        id="tag",
    ),
    pytest.param(
        [("mtu: 9000  #", "mtu: [9000  #")],
        ["fabric.yaml:<cables:>:1: not YAML: did not find expected ',' or ']'; mend the syntax"],
        id="syntax",
    ),
    pytest.param(
        [
            (
                "    leaf: leaf01\n    port: 100GE1/0/2\n",
                "    leaf: leaf01\n    port: 100GE1/0/1\n",
            )
        ],
        [
            "fabric.yaml:<port: 100GE1/0/1#2>:11: servers[1].port: leaf01 100GE1/0/1 is used twice, by transfer01 "
            "and k8sgn08; give each server a port of its own"
        ],
        id="port used twice",
    ),
    pytest.param(
        [(TRANSFER, TRANSFER + '    description: "rack 4\\nundo bgp"\n')],
        [
            "fabric.yaml:<undo bgp>:18: servers[0].description: character '\\n' in a description would be "
            "read as a command or a key press; use printable ASCII without '|' and '?'"
        ],
        id="newline in a description",
    ),
    pytest.param(
        [("name: leaf03", "name: ../leaf03")],
        [
            "fabric.yaml:<../leaf03>:11: leaves[2].name: '../leaf03' is not a name; use 1 to 63 letters, "
            "digits, '.', '_' or '-', beginning with a letter or digit"
        ],
        id="path in a name",
    ),
    pytest.param(
        [
            ("name: leaf03\n    hardware: CE8851-32CQ8DQ-P", "name: leaf03\n    hardware: CE8851"),
            ("  - id: 4\n    name: leaf04", "  - id: 3\n    name: leaf04"),
        ],
        [
            "fabric.yaml:<hardware: CE8851#1>:15: leaves[2].hardware: no hardware 'CE8851' in inventory/hardware; "
            "did you mean 'CE8851-32CQ8DQ-P'?",
            "fabric.yaml:<id: 3#2>:9: leaves[3].id: id '3' is given twice; the first is on line <id: 3#1>",
        ],
        id="two problems of one stage together",
    ),
    pytest.param(
        [("  - id: 8\n", "  - id: 65\n")],
        [
            "fabric.yaml:<id: 65>:9: leaves[7].id: id 65 is outside the reserved capacity of 64 leaves; "
            "use a free id up to 64; raising capacity.leaves moves addresses"
        ],
        id="id outside the capacity",
    ),
    pytest.param(
        [("  leaf_loopbacks: 10.0.1.0/24", "  leaf_loopbacks: 10.0.0.0/24")],
        [
            "fabric.yaml:<leaf_loopbacks>:19: pools.leaf_loopbacks: 10.0.0.0/24 overlaps 10.0.0.0/26; "
            "use separate prefixes"
        ],
        id="overlapping pools",
    ),
    pytest.param(
        [
            (
                "      v200:\n        detect_time: 10   # assumed: as seen on public V200"
                " configurations\n        recovery_time: 10\n        reason: V200 counts in a unit"
                " that no source confirms\n",
                "",
            )
        ],
        [
            "fabric.yaml:<detect_ms: 10000>:5: lossless.deadlock: spine01 is v200, whose timer unit no source "
            "confirms; give by_family.v200.detect_time and recovery_time as the switch counts"
        ],
        id="timer in a family of unknown unit",
    ),
    pytest.param(
        [("canary: leaf08", "canary: leaf80")],
        ["fabric.yaml:<canary>:11: rollout.canary: no leaf 'leaf80'; did you mean 'leaf08'?"],
        id="canary that is not there",
    ),
]


@pytest.mark.parametrize(("replacements", "sentences"), CASES)
def test_each_error_says_where_what_and_how(
    edit_heps: Edit, replacements: list[tuple[str, str]], sentences: list[str]
) -> None:
    path = edit_heps(*replacements)
    assert said(path) == [at(path, sentence) for sentence in sentences]


def test_a_missing_file_names_the_fabrics_there_are(tmp_path: Path) -> None:
    path = tmp_path / "none.yaml"
    with pytest.raises(BadInput) as caught:
        derive(path)
    assert str(caught.value) == (
        f"{path}: no such fabric; name a fabric.yaml, its directory, or one of: heps"
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "fabric.yaml:1:1: the file is empty; begin with `fabric: NAME`"),
        (b"- 1\n", "fabric.yaml:1:1: the file is not a mapping; begin with `fabric: NAME`"),
        (b"fabric: \xff\n", "fabric.yaml: not UTF-8 at byte 8; save it as UTF-8"),
        (b"a: 1\n---\nb: 2\n", "fabric.yaml:2:1: a second document; keep one document a file"),
        (
            b"a: &a [1]\nb: [" + b"*a," * 20 + b"]\n",
            "fabric.yaml:1:4: a: anchor &a; write the value out",
        ),
    ],
)
def test_a_file_that_is_no_fabric(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "fabric.yaml"
    path.write_bytes(content)
    assert said(path)[0] == sentence
