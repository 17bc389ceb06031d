"""Invalid values, each refused with its place and a valid form."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rocefort.base.errors import BadInput
from rocefort.base.repository import HARDWARE, Site
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.load.documents import load_catalogue
from rocefort.dialects.network_text import read_back, render_all
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.render import render
from rocefort.models.base import check_description, check_name
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.hardware.hardware import SyntaxFamily

Edit = Callable[..., Path]

NAME_RULE = "use 1 to 63 letters, digits, '.', '_' or '-', beginning with a letter or digit"
KEY_PRESS = (
    "in a description would be read as a command or a key press; "
    "use printable ASCII without '|' and '?'"
)
TRANSFER = "  - name: transfer01\n    leaf: leaf01\n    port: 100GE1/0/1\n"


def error_of(path: Path) -> str:
    """Return the error without the directory of the file."""
    with pytest.raises(BadInput) as caught:
        derive(path)
    assert caught.value.exit_code == 2
    return str(caught.value).replace(f"{path.parent}/", "")


def line_of(path: Path, text: str) -> int:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(n for n, line in enumerate(lines, 1) if text in line)


@pytest.mark.parametrize(
    ("key", "old", "new", "sentence"),
    [
        ("profiles.lossless.heps.xon_kbytes", "550  #", "550 KB  #", "'550 KB' is not a whole number; write the number alone, in kbytes"),
        ("profiles.lossless.heps.deadlock.detect_ms", "10000    #", "10 s    #", "'10 s' is not a whole number; write the number alone, in milliseconds"),
        ("cables.fabric_m", "50\n", "50 m\n", "'50 m' is not a number; write the number alone, in metres"),
        ("cables.server_m", "5\n", ".inf\n", "'.inf' is not a number; write the number alone, in metres"),
        ("cables.fabric_m", "50\n", "1e999\n", "inf is not a number; write the number alone, in metres"),
        ("routing.hold_s", "30\n", "30.5\n", "30.5 is not a whole number; write the number alone, in seconds"),
        ("mtu", "9000  #", "jumbo  #", "'jumbo' is not a whole number; write the number alone"),
        ("mtu", "9000  #", "99999  #", "99999 is out of range; write an MTU, bytes of IP, from 1280 to 9600"),
        ("mtu", "9000  #", f"{'9' * 5000}  #", f"'{'9' * 60}..' is not a whole number; write the number alone"),
        ("rollout.max_unavailable", "1\n", "true\n", "true and false are no numbers; write a number"),
        ("services.ntp", "[10.255.0.250]", "10.255.0.250", "'10.255.0.250' cannot be used; write a list: [first, second], or lines that begin with `- `"),
        ("security.users", "\n    - name: netops\n      level: 3\n", "\n", "nothing cannot be used; write a list: [first, second], or lines that begin with `- `"),
        ("pools.links", "10.1.0.0/22", "10.1.0.1/22", "'10.1.0.1/22' has bits set behind its length; its network is 10.1.0.0/22"),
        ("pools.links", "10.1.0.0/22", "10.1.0.0/33", "'10.1.0.0/33' has a length above 32; write a network, such as 10.1.0.0/22"),
        ("pools.links", "10.1.0.0/22", "10.265.0.0/22", "'10.265.0.0/22' has a number above 255; write a network, such as 10.1.0.0/22"),
        ("pools.links", "10.1.0.0/22", "10.1.0/22", "'10.1.0/22' is not a network; write a network, such as 10.1.0.0/22"),
        ("segments[0].vlan", "110\n", "5000\n", "5000 is out of range; write a VLAN from 2 to 4094 (1 is the default VLAN of a switch)"),
        ("routing.keepalive_s", "10\n", "0\n", "0 is out of range; write a BGP keepalive from 1 to 21845 seconds"),
        ("pools.links", "10.1.0.0/22", "{a: 1}", "a mapping cannot be used; write a network, such as 10.1.0.0/22"),
        ("pools.links", "10.1.0.0/22", "10.1.0.0", "'10.1.0.0' has no prefix length; write it behind the address: /24, say; /32 is one address"),
        ("pools.links", "10.1.0.0/22", "10", "10 is not an address; write its four numbers, as in 10.0.0.1"),
        ("services.netconf", "true ", "maybe ", "'maybe' cannot be used; write true or false"),
        ("profiles.lossless.heps.xon_kbytes", "550  #", "650  #", "xon 650 kbytes is above xoff 600 kbytes; write less than 600: pauses end two frames or more below xoff"),
        ("rollout.canary", "leaf08\n", "8\n", "8 cannot be used; write text; in quotes if it looks like a number"),
    ],
)  # fmt: skip
def test_a_value_of_the_wrong_kind_or_with_a_unit(
    edit_heps: Edit, key: str, old: str, new: str, sentence: str
) -> None:
    word = key.rpartition(".")[2]
    path = edit_heps((f"{word}: {old}" if old[0] != "\n" else f"{word}:{old}",
                      f"{word}: {new}" if new[0] != "\n" else f"{word}:{new}"))  # fmt: skip
    where, _, rest = error_of(path).partition(": ")
    assert rest == f"{key}: {sentence}"
    assert where.startswith(f"fabric.yaml:{line_of(path, f'{word}:')}:")


SUBSCRIPTION = (
    "  telemetry:\n    - {{name: ifm, paths: [{path}], interval_ms: 1000, collectors: [{to}]}}\n"
)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("ntp: [10.255.0.250]", "ntp: [10.255.0.250, 5]", "services.ntp[1]: 5 is not an address; write its four numbers, as in 10.0.0.1"),
        ("ntp: [10.255.0.250]", "ntp: [10.255.0.250/24]", "services.ntp[0]: '10.255.0.250/24' cannot be used; write an address without a length, such as 10.0.0.1"),
        ("      level: 3\n", "", "security.users[0]: neither level nor role; give a user one of them"),
        ("      level: 3\n", "      level: 3\n      role: monitor-ug\n", "security.users[0]: both level and role; give a user one of them"),
        ("services:\n", "services:\n" + SUBSCRIPTION.format(path="/ifm", to="{address: 10.0.0.9, port: 5}"), "services.telemetry[0].paths[0]: '/ifm' is not a sampling path; write it as the switch lists its sensor paths, its YANG module first: huawei-ifm:ifm/interfaces"),
        ("services:\n", "services:\n" + SUBSCRIPTION.format(path="a:b", to="{address: 10.0.0.9, port: 70000}"), "services.telemetry[0].collectors[0].port: 70000 is out of range; write a TCP or UDP port from 1 to 65535"),
        ("services:\n", "services:\n" + SUBSCRIPTION.format(path="a:b", to=""), "services.telemetry[0].collectors: 'collectors' is empty; give at least one"),
        ("services:\n", "services:\n" + SUBSCRIPTION.format(path="a:b", to=", ".join(["{address: 10.0.0.9, port: 5}"] * 11)), "services.telemetry[0].collectors: 'collectors' has 11 items; give at most 10"),
    ],
)  # fmt: skip
def test_a_wrong_item_is_told_once_and_not_as_a_list_that_is_too_short(
    edit_heps: Edit, old: str, new: str, sentence: str
) -> None:
    path = edit_heps((old, new))
    errors = error_of(path).splitlines()
    assert [one.partition(": ")[2] for one in errors] == [sentence]


def test_numbers_said_as_true_deep_in_the_file_are_told_together(edit_heps: Edit) -> None:
    path = edit_heps(
        ("      level: 3\n", "      level: true\n"),
        ("    multiplier: 3\n", "    multiplier: true\n"),
        ("detect_time: 10 ", "detect_time: true "),
    )
    places = [line.split(": ")[1] for line in error_of(path).splitlines()]
    assert sorted(places) == [
        "profiles.lossless.heps.deadlock.by_family.v200.detect_time",
        "routing.bfd.multiplier",
        "security.users[0].level",
    ]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("leaf 03", f"'leaf 03' is not a name; {NAME_RULE}"),
        ("../leaf03", f"'../leaf03' is not a name; {NAME_RULE}"),
        ("a..b", f"'a..b' is not a name; {NAME_RULE}"),
        ("läaf03", f"'läaf03' is not a name; {NAME_RULE}"),
        ("'{{ 7 * 7 }}'", f"'{{{{ 7 * 7 }}}}' is not a name; {NAME_RULE}"),
        ('"leaf03\\nquit"', f"'leaf03\\nquit' is not a name; {NAME_RULE}"),
        ('"leaf\\x1b[31m"', f"'leaf\\x1b[31m' is not a name; {NAME_RULE}"),
        ("''", f"'' is not a name; {NAME_RULE}"),
        ("a" * 300, "a name of 300 characters; use 1 to 63"),
        ("!!python/object/apply:os.system [ls]",
         "tag tag:yaml.org,2002:python/object/apply:os.system; remove the tag"),
        ("{{ x }}", "a mapping as a key: `{{` begins one, and nothing fills in placeholders here; write the value itself"),
    ],
)  # fmt: skip
def test_a_name_that_is_more_than_a_word(edit_heps: Edit, value: str, sentence: str) -> None:
    path = edit_heps(("name: leaf03", f"name: {value}"))
    column = 12 if value.startswith("{") else 11
    line = line_of(path, f"name: {value}")
    assert error_of(path) == f"fabric.yaml:{line}:{column}: leaves[2].name: {sentence}"


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ('"rack 4 | no-more"', f"character '|' {KEY_PRESS}"),
        ('"which rack?"', f"character '?' {KEY_PRESS}"),
        ('"\\a"', f"character '\\x07' {KEY_PRESS}"),
        ('"rack\\t4"', f"character '\\t' {KEY_PRESS}"),
        ('"rack\\r4"', f"character '\\r' {KEY_PRESS}"),
        ('"\\x7f"', f"character '\\x7f' {KEY_PRESS}"),
        ("café", "character 'é' in a description is not ASCII; use printable ASCII without '|' and '?'"),
        ("x" * 300, "a description of 300 characters; use 1 to 242"),
        ("''", "a description of 0 characters; use 1 to 242"),
        ("' rack'", "leading, trailing or double blanks in a description, which the switch drops; use single blanks"),
        ("!secret x", "tag !secret; remove the tag"),
    ],
)  # fmt: skip
def test_a_description_that_is_more_than_text(edit_heps: Edit, value: str, sentence: str) -> None:
    path = edit_heps((TRANSFER, f"{TRANSFER}    description: {value}\n"))
    line = line_of(path, "description:")
    assert error_of(path) == f"fabric.yaml:{line}:18: servers[0].description: {sentence}"


@pytest.mark.parametrize(
    "value", ["{{ 7 * 7 }}", "{% raw %}", "{# gone #}", "x" * 242, "$(reboot)"]
)
def test_text_that_only_looks_like_a_template_reaches_the_switch_as_it_is(
    edit_heps: Edit, value: str
) -> None:
    derived = derive(edit_heps((TRANSFER, f'{TRANSFER}    description: "{value}"\n')))
    texts = render_all(derived.network)
    assert f"\n description {value}\n" in texts["leaf01"]
    assert read_back(derived.network, texts) == derived.network


@pytest.mark.parametrize(
    ("port", "sentence"),
    [
        ("Ethernet1", "'Ethernet1' is not a port; write it as the switch does: 100GE1/0/1"),
        ("100GE 1/0/1", "'100GE 1/0/1' is not a port; did you mean '100GE1/0/1'?"),
        ("100GE1/0/99", "CE8850-64CQ-EI has no port 100GE1/0/99; its ports: 100GE1/0/1-64"),
        ("25GE1/0/1", "CE8850-64CQ-EI has no port 25GE1/0/1; its ports: 100GE1/0/1-64"),
        ("100GE1/0/1\n    speed_gbps: 25",
         "transfer01 has a NIC of 25 Gb/s, leaf01 100GE1/0/1 is a port of 100 Gb/s; "
         "use a port of the NIC's speed, or fix speed_gbps"),
    ],
)  # fmt: skip
def test_a_port_that_is_not_there_or_of_another_speed(
    edit_heps: Edit, port: str, sentence: str
) -> None:
    path = edit_heps((TRANSFER, TRANSFER.replace("100GE1/0/1", port)))
    line = line_of(path, "- name: transfer01") + 2
    assert error_of(path) == f"fabric.yaml:{line}:11: servers[0].port: {sentence}"


def test_a_server_on_a_port_of_its_speed(edit_heps: Edit, heps: DerivedNetwork) -> None:
    path = edit_heps((TRANSFER, f"{TRANSFER}    speed_gbps: 100\n"))
    assert derive(path).network == heps.network


@pytest.mark.parametrize(
    ("leaves", "sentence"),
    [
        ("leaves: []\n", "leaves: 'leaves' is empty; give at least one"),
        ("leaves:\n", "leaves: nothing cannot be used; write a list: [first, second], or lines that begin with `- `"),
        ("", "leaves: 'leaves' is missing; add it"),
    ],
)  # fmt: skip
def test_a_fabric_without_leaves(
    tmp_path: Path, heps_file: Path, leaves: str, sentence: str
) -> None:
    text = heps_file.read_text(encoding="utf-8")
    path = tmp_path / "fabric.yaml"
    without, times = re.subn(r"(?ms)^leaves:\n.*?^(?=# Published)", leaves, text)
    assert times == 1
    path.write_text(without, encoding="utf-8")
    where, _, rest = error_of(path).partition(": ")
    assert rest == sentence
    assert re.fullmatch(r"fabric\.yaml:\d+:\d+", where)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"# nothing yet\n", "fabric.yaml:1:1: the file is empty; begin with `fabric: NAME`"),
        (b"fabric: heps\nmtu: 9\x010\n",
         "fabric.yaml:2:7: character '\\x01' is not allowed in YAML; remove it"),
        (b"fabric: heps\nx: " + b"[" * 100_000,
         "fabric.yaml:2:36: nested more than 32 deep; keep it flat"),
        (b"fabric: heps\nx: " + b"{a: " * 100_000,
         "fabric.yaml:2:132: nested more than 32 deep; keep it flat"),
        (b'"a\\nb": *c\n', "fabric.yaml:1:9: 'a\\nb': alias *c; write the value out"),
        (b'"' + b"k" * 300 + b'": *c\n',
         f"fabric.yaml:1:305: '{'k' * 60}': alias *c; write the value out"),
    ],
)  # fmt: skip
def test_a_file_that_is_hostile(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "fabric.yaml"
    path.write_bytes(content)
    assert error_of(path) == sentence


def test_an_alias_bomb_is_told_by_its_anchors_and_never_grown(tmp_path: Path) -> None:
    path = tmp_path / "fabric.yaml"
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    path.write_text("\n".join(levels))
    problems = error_of(path).splitlines()
    assert len(problems) == 12 + 11 * 9
    assert problems[:2] == [
        "fabric.yaml:1:5: a0: anchor &a0; write the value out",
        "fabric.yaml:2:5: a1: anchor &a1; write the value out",
    ]


def test_a_file_of_50_mb(tmp_path: Path) -> None:
    path = tmp_path / "fabric.yaml"
    with path.open("wb") as file:
        file.truncate(50 * 1024 * 1024)
    assert error_of(path) == ("fabric.yaml: the file is larger than 16 MB; check the path")


def test_two_files_of_one_switch_model(tmp_path: Path) -> None:
    site = Site(tmp_path)
    shutil.copytree(HARDWARE, site.hardware)
    copied = site.hardware / "ce9861.yaml"
    shutil.copy(site.hardware / "ce9860-4c-ei.yaml", copied)
    with pytest.raises(BadInput) as caught:
        load_catalogue(site)
    assert str(caught.value) == (
        f"{copied}: model: model 'CE9860-4C-EI' is in another file of this directory, too; "
        "keep one file a model"
    )


ODD = st.sampled_from("aZ09 .-_|?\n\r\t\x00\x1b\x7f\x85\xa0é#!{}%'\"\\/:&*")


def accepted(check: Callable[[str], str], value: str) -> bool:
    try:
        return check(value) == value
    except ValueError:
        return False


@given(st.text(ODD | st.characters(), max_size=8))
@example("a b").via("blanks inside are fine")
@example("# quit")
@example("a..b")
def test_what_a_person_types_stays_one_argument_of_one_line(value: str) -> None:
    """Law 7: a description or a name is refused, or it reads back unchanged."""
    name = value if accepted(check_name, value) else "leaf01"
    text = value if accepted(check_description, value) else None
    device = Device(name=name, interfaces=(Interface(name="100GE1/0/1", description=text),))
    rendered = render(device, SyntaxFamily.V300_G1, "ce8851")
    assert parse(rendered, "x").device == device
    assert len(rendered.splitlines()) == 6 + (text is not None)
    assert Path("configs", f"{name}.cfg").parent == Path("configs")
