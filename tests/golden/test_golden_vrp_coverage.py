"""docs/reference/vrp-coverage.md: every command that a template can write, and the text that reads it back.

The commands are those of templates/vrp themselves. A new line of a template fails here without a
golden text that contains all its forms. (`make golden` rewrites the page.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from rocefort.base.errors import BadInput
from rocefort.base.repository import ROOT, TEMPLATES
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.render import render
from rocefort.models.device.device import Device
from rocefort.models.hardware.hardware import SyntaxFamily

PAGE = ROOT / "docs" / "reference/vrp-coverage.md"
TEXTS = ROOT / "tests" / "golden"
VRP = TEMPLATES / "vrp"
NOT_SAVED = ("day0.j2",)  # typed on a console, from the saved text of the same Device
FAMILIES = {
    SyntaxFamily.V200: "ce9860",
    SyntaxFamily.V300_G1: "ce8851",
    SyntaxFamily.V300_G2: "ce8855",
}
TAG = re.compile(r"\{%[+-]?\s*(?P<word>\w+).*?%\}|\{\{(?P<value>.*?)\}\}")
HEAD = """\
# VRP commands that Rocefort writes and reads back

Written from `templates/vrp` by `make golden`. This page lists every command that a template can write
once, with a golden text that has it, in each of its forms: `< >` is a value, `[ ]` is optional,
`{ }` is optional or repeated, `( | )` is one of several. A test removes each line from its text: the
text then gives another Device, or the table names the line with the same content. The console input
of a new switch (`day0.j2`) consists of the same lines.
"""


class Command(NamedTuple):
    """A line of a template that becomes a line of text."""

    template: str
    words: str
    pattern: re.Pattern[str]


# Lines that a switch saves beside another one with the same content: the Device needs only one.
REDUNDANT = {
    " peer <who> group <member_of>": "also in the line of the family",
    "  peer <who> group <member_of>": "also in the line above the family",
    "snmp-agent usm-user v3 <name>": "also in the line with its group",
    "ssh user <name>": "also in the line with its authentication",
}


def _name(expression: str) -> str:
    """The name of a value: the last word of its expression."""
    expression = expression.partition("|")[0].strip()
    if match := re.fullmatch(r'"(\S+)" if .* else (\S+)', expression):
        other = match[2].strip('"') if match[2].startswith('"') else _name(match[2])
        return f"( {match[1]} | {other} )"
    words = re.findall(r"[a-z_]+", expression.partition("//")[0])
    return f"<{words[-1]}>"


OPEN = {"if": ("[", "(?:"), "for": ("{", "(?:")}
CLOSE = {"endif": ("]", ")?"), "endfor": ("}", ")*")}


def _command(template: str, line: str) -> Command:
    """The words of a line for a reader, and a pattern with a group for each optional part."""
    words, pattern, at, group = "", "", 0, 0
    for tag in TAG.finditer(line):
        words += line[at : tag.start()]
        pattern += re.escape(line[at : tag.start()])
        at = tag.end()
        if tag["value"] is not None:
            free = any(word in tag["value"] for word in ("free_text", "secret", "queues"))
            words += _name(tag["value"])
            pattern += ".+?" if free else r"\S+"
        elif tag["word"] in OPEN:
            words += f" {OPEN[tag['word']][0]}"
            pattern += f"(?P<{'part' if tag['word'] == 'if' else 'loop'}{group}>"
            group += 1
        elif tag["word"] == "else":
            words += " |"
            pattern += f")|(?P<part{group}>"
            group += 1
        elif tag["word"] in CLOSE:
            words += f" {CLOSE[tag['word']][0]}"
            pattern += CLOSE[tag["word"]][1]
    return Command(template, words + line[at:], re.compile(_either(pattern + re.escape(line[at:]))))


def _either(pattern: str) -> str:
    """`(?P<a>x)|(?P<b>y)?` is one of two: the bar must not split the whole line."""
    return re.sub(r"(\(\?P<part\d+>[^()]*\))\|(\(\?P<part\d+>[^()]*\))\?", r"(?:\1|\2)", pattern)


def commands() -> Iterator[Command]:
    for path in sorted(VRP.rglob("*.j2")):
        if path.name not in NOT_SAVED:
            text = re.sub(r"\{#.*?#\}", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
            text = re.sub(r"\{\{[^}]*\| settings\(.*?\}\}", "", text)  # lines of another template
            for line in text.splitlines():
                bare = re.sub(r"\{%.*?%\}", "", line).strip()
                if bare and bare not in ("#", "return"):
                    yield _command(path.relative_to(VRP).as_posix(), line)


ALL = list(dict.fromkeys(commands()))
GOLDEN = sorted([*(TEXTS / "vrp").glob("*.cfg"), *(TEXTS / "heps").glob("*.cfg")])


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def device_of(text: str) -> Device:
    return parse(text, "golden.cfg").device


def uses(command: Command) -> Iterator[tuple[Path, int, re.Match[str]]]:
    """Every position of a command in the golden texts, by line from 0."""
    for path in GOLDEN:
        for number, line in enumerate(text_of(path).splitlines()):
            if match := command.pattern.fullmatch(line):
                yield path, number, match


def page() -> str:
    sections = [HEAD.rstrip()]
    for template in dict.fromkeys(command.template for command in ALL):
        rows = ["| command | read back from |", "|---|---|"]
        for command in ALL:
            if command.template == template:
                path = next(uses(command))[0].relative_to(TEXTS).as_posix()
                words = re.sub(r"([\[{(|\]})])(?=\S)", r"\1", command.words.strip())
                reason = REDUNDANT.get(command.words)
                shown = words.replace("|", "\\|")
                rows.append(f"| `{shown}` | {path}{f' ({reason})' if reason else ''} |")
        sections.append(f"## {template}\n\n" + "\n".join(rows))
    return "\n\n".join(sections) + "\n"


def test_the_page_is_that_of_the_templates(golden_update: bool) -> None:
    text = page()
    if golden_update:
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("command", ALL, ids=lambda command: f"{command.template}:{command.words}")
def test_a_golden_text_has_every_form_of_a_command(command: Command) -> None:
    forms = [match.groupdict() for _, _, match in uses(command)]
    assert forms, "add a line to a text of tests/golden/vrp"
    for part in command.pattern.groupindex:
        assert any(row[part] for row in forms), f"no text has part {part} of the line"
        if not part.startswith("loop"):
            assert any(not row[part] for row in forms), f"no text lacks part {part} of the line"


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_every_golden_text_is_read_whole_and_written_again(path: Path) -> None:
    parsed = parse(text_of(path), path.name)
    assert parsed.unmodelled == ()
    again = {
        family: render(parsed.device, family, template)
        for family, template in FAMILIES.items()
        if _sayable(parsed.device, family)
    }
    assert text_of(path) in again.values()


def _sayable(device: Device, family: SyntaxFamily) -> bool:
    try:
        render(device, family, FAMILIES[family])
    except BadInput:
        return False
    return True


@pytest.mark.parametrize("command", ALL, ids=lambda command: f"{command.template}:{command.words}")
def test_without_a_line_another_device_is_read(command: Command) -> None:
    """So that "understood" is more than "not reported"."""
    if command.words in REDUNDANT:
        assert all(_same_without(path, number) for path, number, _ in list(uses(command))[:1])
        return
    assert any(not _same_without(path, number) for path, number, _ in uses(command))


def _same_without(path: Path, number: int) -> bool:
    """Whether a text means the same without a line; the lines of its view move one view up."""
    lines = text_of(path).splitlines()
    rest = "\n".join([*lines[:number], *lines[number + 1 :]])
    try:
        return device_of(rest) == device_of(text_of(path))
    except BadInput:  # it is no configuration any more
        return False
