"""Commands that a site adds to the command table, in its repository."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from json_schema import refused

from rocefort.base.documents.read import read_document
from rocefort.base.repository import ROOT
from rocefort.design.derive.derive import derive
from rocefort.emulator.emulated_site import switch_of
from rocefort.emulator.options import LabOptions
from rocefort.emulator.switch.store import Pool
from rocefort.models.change.plan import Plan
from rocefort.rollout.planning.sealed_files import changed_files, site_files

PAGE = (ROOT / "docs/how-to/templates.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## Commands of a site")[2].partition("\n## ")[0]
BLOCKS = dict(
    re.findall(
        r"`templates/(vrp/cloudengine.j2)`, for [^\n]*\n\n```jinja\n(.*?)```", PAGE, re.DOTALL
    )
)
FILE, COMMANDS = re.findall(
    r"`(inventory/catalogue/\S+)`:\n\n```yaml\n(.*?)```", SECTION, re.DOTALL
)[0]
EFFECT = "the switch reports to the frobnicator by this name"
FAST = ("--engine", "embedded", "--failures", "none")

Write = Callable[[str, str], Path]


@pytest.fixture
def write(clone: Any) -> Write:
    """Write a file of the site."""

    def write(name: str, text: str) -> Path:
        path: Path = clone.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


@pytest.fixture
def lines(write: Write) -> Write:
    """Site with the template of the page, and no command for its line."""
    for name, text in BLOCKS.items():
        write(f"templates/{name}", text)
    return write


def test_the_page_shows_what_check_reports(lines: Write, rocefort: Any) -> None:
    before = rocefort("check", "heps").words
    assert "TXT006" in before
    assert "else add its command to inventory/catalogue" in before
    lines(FILE, COMMANDS)
    done = rocefort("check", "heps")
    shown = re.findall(r"```console\n\$ rocefort check heps\n(.*?)```", SECTION, re.DOTALL)[0]
    assert " ".join(shown.split()) in done.words
    assert "TXT006" not in done.words and "instead of the shipped file" not in done.words


def test_a_review_states_the_effect_and_who_is_hit(lines: Write, clone: Any, review: Any) -> None:
    clone.commit("templates")
    for path in (clone.top / "templates").rglob("*.j2"):
        path.unlink()
    lines(FILE, COMMANDS)
    clone.commit("the command alone")
    for name, text in BLOCKS.items():
        lines(f"templates/{name}", text)
    done = review("--head", "worktree", *FAST)
    shown = re.findall(r"```text\n(.*?)\n(.*?)\n```", SECTION)[0]
    assert all(line in done.markdown for line in shown)
    switch = next(
        s for s in done.json["difference"]["switches"] if s["change"]["device"] == "leaf01"
    )
    assert switch["change"]["patch"] == ["frobnicate leaf01"]
    assert switch["change"]["reverse"] == ["undo frobnicate"]
    assert switch["change"]["service_affecting"] == []
    assert "risk: none, traffic feels nothing (10 switches changed)" in done.markdown
    assert "hit: no server" in done.markdown
    lines(FILE, COMMANDS.replace("service: false", "service: true"))
    done = review("--head", "worktree", *FAST)
    assert "risk: not known: 10 lines of templates on 10 switches are not judged" in done.markdown
    assert "hit: not known" in done.markdown
    switch = next(
        s for s in done.json["difference"]["switches"] if s["change"]["device"] == "leaf01"
    )
    assert switch["change"]["service_affecting"] == [EFFECT]


def test_a_review_does_not_rely_on_a_statement_of_the_change_itself(
    lines: Write, clone: Any, review: Any
) -> None:
    unjudged = "10 lines of templates on 10 switches are not judged"
    own = f"stated by this change's own {FILE}"
    risk = f"risk: not known: {unjudged} (that 10 lines have no effect is {own})"
    templates = {f"templates/{name}": text for name, text in BLOCKS.items()}
    for name in templates:
        (clone.top / name).unlink()
    lines(FILE, COMMANDS.replace("2024", "2023"))
    clone.commit("another statement")
    for name, text in templates.items():
        lines(name, text)
    lines(FILE, COMMANDS)
    clone.commit("the line and its effect")
    for base, head in (("HEAD~1", "HEAD"), ("HEAD~2", "HEAD"), ("HEAD~1", "worktree")):
        done = review("--base", base, "--head", head, *FAST)
        assert risk in done.markdown
        assert "hit: not known" in done.markdown
        assert f"by the site's catalogue: {EFFECT} ({own})" in done.markdown
        switch = done.json["difference"]["switches"][0]
        assert switch["change"]["service_affecting"] == [f"{EFFECT} ({own})"]
    (clone.top / FILE).rename(clone.top / "inventory/catalogue/moved.yaml")
    (clone.top / "templates/vrp/cloudengine.j2").unlink()
    assert "risk: none, traffic feels nothing" in review("--head", "worktree", *FAST).markdown


def test_an_unconfirmed_command_is_reported_and_its_effect_is_not_relied_on(
    lines: Write, clone: Any, review: Any, rocefort: Any
) -> None:
    lines(FILE, f"{COMMANDS}    confirmed: false\n")
    assert (
        "`frobnicate` is not confirmed on v300-g1: vendor's note of March 2024"
        in rocefort("check", "heps").words
    )
    switch = review("--head", "worktree", *FAST).json["difference"]["switches"][0]
    assert switch["change"]["service_affecting"] == [f"{EFFECT} (not confirmed)"]


def test_each_revision_has_the_commands_of_its_own_tree(
    lines: Write, clone: Any, rocefort: Any
) -> None:
    lines(FILE, COMMANDS)
    clone.commit("the value is replaced")
    key = COMMANDS.replace("( <name> )", "<name>")
    lines(FILE, key)
    lines(
        "templates/vrp/cloudengine.j2", BLOCKS["vrp/cloudengine.j2"].replace("device.name", "'b'")
    )
    clone.commit("the value is a key")
    patches = {
        base: rocefort("diff", base, "inventory/heps", "--patch").out
        for base in ("HEAD~1:", "HEAD:")
    }
    assert "undo frobnicate leaf01" in patches["HEAD~1:"]
    assert patches["HEAD:"] == "nothing changes\n"
    back = rocefort("diff", "HEAD:", "HEAD~1:inventory/heps", "--patch").out
    assert "frobnicate leaf01" in back
    assert "undo frobnicate" not in back


def test_two_sites_in_one_process_do_not_mix(
    lines: Write, clone: Any, rocefort: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    other = tmp_path / "other"
    shutil.copytree(clone.top, other)
    lines(FILE, COMMANDS)
    for _ in range(2):
        for site, rule in ((clone.top, "TXT004"), (other, "TXT006")):
            monkeypatch.chdir(site)
            words = rocefort("check", "heps").words
            assert [r for r in ("TXT004", "TXT006") if f"{r} " in words] == [rule]


def test_a_plan_seals_the_commands_and_removes_a_line_by_its_undo(
    lines: Write, clone: Any, rocefort: Any, tmp_path: Path
) -> None:
    path = lines(FILE, COMMANDS)
    assert path in site_files(clone.fabric)
    assert rocefort("new", "trial", "--spines", 2, "--leaves", 2).code == 0
    running = tmp_path / "running"
    template = clone.top / "templates" / "vrp" / "cloudengine.j2"
    text = template.read_text()
    template.write_text(text.replace("device.name", "'old'"))
    assert rocefort("render", "trial", "--out", running).code == 0
    assert "frobnicate old" in (running / "leaf001.cfg").read_text()
    template.write_text(text)
    assert rocefort("connections", "trial", "--out", "connections.yaml").code == 0
    done = rocefort("plan", "trial", "--running", running, "--connections", "connections.yaml")
    assert done.code == 0, done.err
    plan = Plan.model_validate_json(Path("plan.json").read_text())
    assert path.resolve().as_posix() in {file.name for file in plan.files}
    change = plan.change("leaf001")
    assert (change.patch, change.reverse) == (("frobnicate leaf001",), ("frobnicate old",))
    assert (change.service_affecting, change.kept) == ((), ())
    compared = rocefort("diff", running, "trial").out
    assert "`- frobnicate old`: a line of a template" in compared
    assert "stays" not in compared
    assert changed_files(plan) == []
    path.write_text(COMMANDS.replace("affects_service: false", "affects_service: true"))
    assert [problem.what for problem in changed_files(plan)] == [
        "has changed since the plan was made"
    ]


def test_an_emulated_switch_takes_the_line(lines: Write, clone: Any) -> None:
    def refusals() -> list[str]:
        network = derive(clone.fabric).network
        text = "#\nsysname leaf01\n#\nfrobnicate leaf01\n#\nreturn\n"
        switch = switch_of(network, "leaf01", text, LabOptions(), Pool())
        return [refusal.line for refusal in switch.startup_refusals]

    assert refusals() == ["frobnicate leaf01"]
    lines(FILE, COMMANDS)
    assert refusals() == []


def commands(**keys: str) -> str:
    own = {
        "view": "system",
        "format": "frobnicate ( <name> )",
        "effect": "names it",
        "affects_service": "false",
        "source": "a note",
        **keys,
    }
    return "commands:\n  - " + "\n    ".join(f"{key}: {value}" for key, value in own.items()) + "\n"


WRONG: list[tuple[str, str]] = [
    (
        commands(view="sytem"),
        "frobnicate.yaml:2:11: commands[0].view: no view 'sytem'; did you mean 'system'?",
    ),
    (
        commands(format="mtu ( <1-9> )", view="interface"),
        "frobnicate.yaml:3:13: commands[0].format: `mtu ( <1-9> )` has lines of Rocefort's own "
        "command `mtu ( <46-9600> )`; remove this command, or make it narrower",
    ),
    (
        commands(format="commit <name>"),
        "frobnicate.yaml:3:13: commands[0].format: `commit <name>`: 'commit' acts on the switch and "
        "is not configuration; add only lines that a switch saves",
    ),
    (
        commands(families="[v300-g3]"),
        "frobnicate.yaml:7:16: commands[0].families[0]: no syntax family 'v300-g3'; did you mean",
    ),
    (
        commands(efect="names it"),
        "frobnicate.yaml:7:5: commands[0].efect: unknown key 'efect'; did you mean 'effect'?",
    ),
    ("commands:\n  - view: system\n", "frobnicate.yaml:2:5: commands[0].affects_service"),
    ("commands: 5\n", "frobnicate.yaml:1:11: commands: "),
]


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[message[16:60] for _, message in WRONG])
@pytest.mark.parametrize("command", ["check", "render"])
def test_a_wrong_file_is_one_clear_error(
    write: Write, rocefort: Any, command: str, text: str, message: str
) -> None:
    write(FILE, text)
    done = rocefort(command, "heps")
    assert (done.code, done.out) == (2, "")
    assert f"inventory/catalogue/{message}" in done.err


def test_a_wrong_file_at_the_base_is_a_note_of_the_review(
    write: Write, clone: Any, review: Any
) -> None:
    write(FILE, commands(view="sytem"))
    clone.commit("a wrong view")
    write(FILE, COMMANDS)
    problems = review("--head", "worktree", *FAST).json["base_problems"]
    assert "frobnicate.yaml:2:11: commands[0].view: no view 'sytem'" in problems[0]


def test_a_line_that_may_change_forwarding_still_stops_verify(write: Write, rocefort: Any) -> None:
    block = BLOCKS["vrp/cloudengine.j2"].replace("frobnicate {{ device.name }}", "ospf 1")
    write("templates/vrp/cloudengine.j2", block)
    write(FILE, commands(format="ospf <1-65535>"))
    done = rocefort("verify", "heps", *FAST)
    assert done.code == 4
    assert "`ospf 1` may change the routes and is not modelled" in done.err


def test_the_schema_takes_the_file_of_the_page(write: Write, rocefort: Any) -> None:
    schema = json.loads(rocefort("schema", "--of", "catalogue").out)
    data = read_document(write(FILE, COMMANDS)).data
    assert list(refused(schema, data)) == []
    assert list(refused(schema, {"commands": [{"view": "system"}]})) != []
