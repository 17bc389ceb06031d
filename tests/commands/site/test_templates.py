"""Commands in the repository of a site with templates of its own."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocefort.base.repository import ROOT
from rocefort.rollout.planning.sealed_files import site_files

PAGE = (ROOT / "docs/how-to/templates.md").read_text(encoding="utf-8")
MORE = (
    '{% extends "shipped/cloudengine.j2" %}\n{% block more %}\n#\nfrobnicate {{ device.name }}\n'
    "{% endblock %}\n"
)
CHANGED = " dcb pfc buffer {{ threshold.queue }} xoff static 700 kbytes xon offset 150 kbytes\n"


@pytest.fixture
def write(clone: Any) -> Callable[[str, str], Path]:
    """Write a file of the site's templates."""

    def write(name: str, text: str) -> Path:
        path: Path = clone.top / "templates" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


def test_the_page_shows_what_check_reports(write: Any, rocefort: Any) -> None:
    files = re.findall(r"`templates/(\S+)`, for [^\n]*\n\n```jinja\n(.*?)```", PAGE, re.DOTALL)
    assert [name for name, _ in files] == ["vrp/common/settings.j2", "vrp/cloudengine.j2"]
    for name, text in files:
        write(name, text)
    shown = re.findall(r"```console\n\$ rocefort check heps\n(.*?)```", PAGE, re.DOTALL)[0]
    done = rocefort("check", "heps")
    assert done.code == 0 and "instead of the shipped file" not in done.words
    for rule in re.split(r"\n(?=[A-Z])", shown.strip()):
        assert " ".join(rule.split()) in done.words
    lines = rocefort("render", "heps", "--device", "leaf01").out.splitlines()
    assert lines.count(" storm suppression broadcast 5") == 2
    assert lines[-3:] == ["frobnicate leaf01", "#", "return"]


def test_every_block_is_on_the_page() -> None:
    for path in sorted((ROOT / "templates" / "vrp").rglob("*.j2")):
        name = path.stem if path.parent.name == "common" else ""
        for block in re.findall(r"{% block (\w+)", path.read_text(encoding="utf-8")):
            assert f"`{block}`" in PAGE or block == name, (path, block)


def test_each_side_of_a_review_has_its_own_templates(
    clone: Any, write: Any, review: Any, rocefort: Any
) -> None:
    path = write("vrp/cloudengine.j2", MORE)
    done = review("--head", "worktree", "--failures", "none")
    assert "+ frobnicate leaf01  <- templates/vrp/cloudengine.j2:4" in done.markdown
    switch = next(
        s for s in done.json["difference"]["switches"] if s["change"]["device"] == "leaf01"
    )
    assert switch["change"]["patch"] == ["frobnicate leaf01"]
    assert switch["change"]["unjudged"] == ["+ frobnicate leaf01"]
    assert "TXT006" in {finding["rule"] for finding in done.json["findings"]["new"]}
    clone.commit("templates")
    assert (
        "`+ frobnicate leaf01`: a line of a template, not judged"
        in rocefort("diff", "HEAD~1:", "inventory/heps").out
    )
    path.unlink()
    back = rocefort("diff", "HEAD:", "inventory/heps", "--patch").out
    assert "undo frobnicate leaf01" in back


def test_a_value_that_a_template_changes_is_an_error(write: Any, rocefort: Any) -> None:
    write("vrp/family/v200-threshold.j2", CHANGED)
    done = rocefort("check", "heps")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "rocefort: templates/vrp/family/v200-threshold.j2:1: changes "
        "interfaces[100GE1/1/1].thresholds[4].xoff_kbytes from 600 to 700 on spine01, and 23 more "
        "values; state it in the fabric, and leave this line to the shipped template\n"
    )


def test_a_line_that_may_change_forwarding_stops_verify(write: Any, rocefort: Any) -> None:
    write("vrp/cloudengine.j2", MORE.replace("frobnicate {{ device.name }}", "ospf 1"))
    done = rocefort("verify", "heps", "--engine", "embedded", "--failures", "none")
    assert done.code == 4
    assert done.err.endswith(
        "leaf01 (templates/vrp/cloudengine.j2:4): `ospf 1` may change the routes and is not "
        "modelled; leave the line out: no routing engine models it\n"
    )


def test_an_error_of_a_template_at_the_base_is_a_note_of_the_review(
    clone: Any, write: Any, review: Any
) -> None:
    path = write("vrp/cloudengine.j2", MORE.replace("device.name", "device.nmae"))
    clone.commit("a wrong name")
    failed = review("--head", "worktree", "--failures", "none")
    what = "templates/vrp/cloudengine.j2:4: Device has no attribute 'nmae'; correct the template"
    assert (failed.code, failed.err.splitlines()[-1]) == (2, f"rocefort: {what}")
    path.write_text(MORE)
    assert what in review("--head", "worktree", "--failures", "none").json["base_problems"]


def test_a_plan_seals_the_templates(clone: Any, write: Any) -> None:
    assert site_files(clone.fabric) == []
    path = write("vrp/cloudengine.j2", MORE)
    assert site_files(clone.fabric) == [path]


ONLY = (
    "only the configuration templates of CloudEngine switches can be overridden; they are in "
    "templates/vrp; remove this file"
)
WRONG: list[tuple[str, str, str]] = [
    ("eos/device.j2", "x", ONLY),
    ("vrp/day0.j2", "x", ONLY),
    ("vrp/cloudengine.jinja", "x", "is not a template; its name must end in .j2"),
    ("vrp/cloudengine.j2", "a\x1b[2J", "has the control character '\\x1b'; remove it"),
    ("vrp/cloudengine.j2", "a\u2028b", "has the control character '\\u2028'; remove it"),
    ("vrp/cloudengine.j2", "x" * 70_000, "has more than 65536 bytes; split the template"),
    ("vrp/ce8815.j2", "x", "no shipped template has this name, and no template of the site names "),
]


@pytest.mark.parametrize(("name", "text", "message"), WRONG)
def test_a_file_that_is_no_template_is_an_error(
    write: Any, rocefort: Any, name: str, text: str, message: str
) -> None:
    write(name, text)
    done = rocefort("check", "heps")
    assert done.code == 2
    assert done.err.startswith(f"rocefort: templates/{name}: {message}")


def test_a_pipe_is_not_read(write: Any, rocefort: Any) -> None:
    os.mkfifo(write("vrp/README.md", "Templates.\n").with_name("cloudengine.j2"))
    done = rocefort("check", "heps")
    assert "templates/vrp/cloudengine.j2: is not a regular file; remove it" in done.err


def test_a_link_is_not_followed(write: Any, rocefort: Any, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("secret\n")
    write("vrp/README.md", "Templates.\n").with_name("cloudengine.j2").symlink_to(outside)
    assert "templates/vrp/cloudengine.j2: is a symbolic link" in rocefort("check", "heps").err
