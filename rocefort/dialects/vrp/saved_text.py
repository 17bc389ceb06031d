"""Saved files of VRP switches: archives, sessions, and `display` outputs beside a text.

A configuration keeps the line numbers of its file: all other lines become empty.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from napalm_cloudengine.displays import lldp, system
from napalm_cloudengine.displays.lines import DisplayAnswer, DisplayLine, UnreadableError
from napalm_cloudengine.displays.lldp import Neighbor
from napalm_cloudengine.displays.table import Form
from napalm_cloudengine.masking import MASK
from rocefort.dialects.data import SavedDisplays, SavedPart, UnreadOutput
from rocefort.dialects.vrp.parse.parser import SYSNAME, title_lines
from rocefort.dialects.vrp.text.config_tree import RETURN, prompt_in
from rocefort.dialects.vrp.text.names import interface_name

# From `display version`. A neighbour's description in `display lldp neighbor` has the line of the
# release, too, but its heading has a label before it, and no line has `uptime is`. Oxidized removes
# that line of the switch itself.
RELEASE = re.compile(r"V\d{3}R\d{3}C\d{2}\w*", re.ASCII)
HEADING = "Huawei Versatile Routing Platform Software"  # of the switch itself, alone in its line


@dataclass
class _DisplayContext:
    software: str | None = None
    model: str | None = None
    neighbours: list[Neighbor] = field(default_factory=list)
    known: bool = False  # some heading was found
    release: str | None = None  # of this switch, if `uptime is` follows
    headed: bool = False  # whether the heading of `display version` is above
    boards: bool = False  # whether rows of `display device` may follow
    form: Form | None = None  # of the current table
    detail: list[DisplayLine] = field(default_factory=list)  # current paragraphs


def read_display(text: str) -> SavedDisplays | None:
    """Read the outputs of a file; None for text that has none of their headings."""
    reading = _DisplayContext()
    for line in DisplayAnswer("", text).lines:
        _read_line(reading, line)
    _end_detail(reading)
    if not reading.known:
        return None
    return SavedDisplays(reading.software, reading.model, tuple(reading.neighbours))


def _read_line(reading: _DisplayContext, line: DisplayLine) -> None:
    text = line.text.strip()
    if prompt_in(text):
        reading.form, reading.headed = None, False
        _end_detail(reading)
    elif form := lldp.BRIEF.form_of(line):
        reading.form, reading.known = form, True
        _end_detail(reading)
    elif reading.detail or lldp.port_of(line):
        reading.detail.append(line)
        reading.known = True
    elif reading.form:
        _row(reading, reading.form, line)
    else:
        _version_line(reading, line)


def _row(reading: _DisplayContext, form: Form, line: DisplayLine) -> None:
    """Read one row; a line outside the table, as the next prompt of a terminal, is skipped."""
    with suppress(UnreadableError):
        row = lldp.BRIEF.row(DisplayAnswer("", ""), line, form)
        _add_neighbour(reading, lldp.brief_row(row, line.number), is_name=True)


def _end_detail(reading: _DisplayContext) -> None:
    for neighbour in lldp.read_paragraphs(reading.detail):
        if neighbour.device:
            subtype = neighbour.text("port_id_subtype").casefold().replace(" ", "")
            _add_neighbour(reading, neighbour, is_name=subtype == "interfacename")
    reading.detail = []


def _board(line: DisplayLine) -> str:
    """Return the model in a row of `display device`, whose first line may name only the series."""
    table = system.BOARDS
    row = table.row(DisplayAnswer(table.command, ""), line, table.forms[""])
    return str(row["model"])


def _add_neighbour(reading: _DisplayContext, neighbour: Neighbor, *, is_name: bool) -> None:
    port = interface_name(neighbour.port) if is_name else None
    if local := interface_name(neighbour.local):
        reading.neighbours.append(replace(neighbour, local=local, port=port or ""))


def _version_line(reading: _DisplayContext, line: DisplayLine) -> None:
    values = system.VERSION_V300.match(line) or system.VERSION_V200.match(line)
    if line.text.strip() == HEADING:
        reading.headed = True
    elif release := RELEASE.search(values.get("release", "")):
        reading.release = release[0]
        if reading.headed:
            reading.software, reading.known = release[0], True
    elif "uptime" in values:
        reading.model, reading.software, reading.known = values["model"], reading.release, True
    elif (name := system.device_named(line) or "").startswith("CE"):
        reading.model, reading.known, reading.boards = name, True, True
    elif reading.boards:
        with suppress(UnreadableError):  # heads, fans and power supplies are not boards
            reading.model = _board(line)
            reading.boards = False


DISPLAY, WHOLE = "display", ("current-configuration", "saved-configuration")
# Arguments with which these commands still show the whole configuration. `all`: Oxidized, model
# `vrp`.
STILL_WHOLE = ("", "all", "include-default", "| no-more")
# A line that a tool wrote, not the switch: Oxidized's begin with `# `, RANCID's with `!`.
COMMENT = re.compile(r"[#!]+ ?(?P<text>.*\S.*)")
# A secret that such a tool has taken out, and the line that RANCID turns into a comment with it.
TAKEN_OUT = re.compile(r"<(?:[a-z]+ )?(?:hidden|removed)>", re.IGNORECASE)
HIDDEN_LINE = re.compile(rf"^!(?P<line>[ \t]*[a-z].* {re.escape(MASK)}.*)")
FIRST = re.compile(r"[#!]|sysname ")  # begin of the first line of a configuration


@dataclass(frozen=True, slots=True)
class _Answer:
    """Lines of a session from a prompt to the next one; without prompts, the whole file."""

    device: str | None
    command: str
    start: int  # index of the first line below the prompt
    end: int

    @property
    def words(self) -> tuple[str, str, str]:
        """The command as its first word, its second word, and the rest."""
        first, second, *rest = (*self.command.split(), "", "")
        return first, second, " ".join(rest).strip()

    @property
    def is_display(self) -> bool:
        """Whether the command shows something."""
        return len(self.words[0]) > 2 and DISPLAY.startswith(self.words[0])

    @property
    def shows_whole(self) -> bool:
        """Whether the command shows a whole configuration."""
        _, what, rest = self.words
        whole = len(what) > 1 and any(name.startswith(what) for name in WHOLE)
        return self.is_display and whole and rest in STILL_WHOLE

    @property
    def rank(self) -> tuple[bool, int]:
        """Order of configurations of one switch: what runs before what is saved, then the last."""
        return not self.words[1].startswith("sa"), self.start

    def body(self, lines: Sequence[str]) -> str:
        """Text below the prompt."""
        return "\n".join(lines[self.start : self.end])


def saved_parts(text: str) -> Sequence[SavedPart]:
    """Return the parts of a saved file, one for each switch with a prompt in it."""
    lines = TAKEN_OUT.sub(MASK, text).split("\n") if "<" in text else text.split("\n")
    answers = list(_answers(lines, title_lines(text)))
    devices = dict.fromkeys(answer.device for answer in answers)
    if len(devices) > 1 and not _has_content(lines, answers[0]):
        devices.pop(None)  # lines above the first prompt
    return tuple(
        _part(lines, device, [a for a in answers if a.device == device]) for device in devices
    )


def _has_content(lines: Sequence[str], answer: _Answer) -> bool:
    return _has_sysname(lines, answer) or read_display(answer.body(lines)) is not None


def _answers(lines: Sequence[str], titles: Container[int]) -> Iterator[_Answer]:
    """Yield the answers of a session; titles: numbers of lines that are text of the user's."""
    device, command, start = None, "", 0
    for number, line in enumerate(lines):
        prompt = prompt_in(line.strip())
        if prompt is None or number + 1 in titles:
            continue
        yield _Answer(device, command, start, number)
        device, command, start = _device_of(prompt, device), prompt["command"] or "", number + 1
    yield _Answer(device, command, start, len(lines))


def _device_of(prompt: re.Match[str], before: str | None) -> str:
    """Return the switch of a prompt; that of a view continues the name of the one before it."""
    if prompt["user"]:
        return prompt["user"]
    view: str = prompt["view"]
    return before if before and f"{view}-".startswith(f"{before}-") else view


def _part(lines: Sequence[str], device: str | None, answers: Sequence[_Answer]) -> SavedPart:
    """Return what is in the answers of one switch."""
    configs = [answer for answer in answers if answer.shows_whole]
    configs = configs or [a for a in answers if not a.is_display and _has_sysname(lines, a)]
    chosen = max(configs, key=lambda answer: answer.rank, default=None)
    text, others = "", [*lines]
    for answer in configs:
        start, end = _config_range(lines, answer)
        if answer is chosen:
            rows = ["" if not start <= n < end else line for n, line in enumerate(lines)]
            text = "\n".join(
                HIDDEN_LINE.sub(r"\g<line>", row) if MASK in row else row for row in rows
            )
        for number in range(start, end):
            comment = COMMENT.fullmatch(lines[number])
            others[number] = comment["text"] if comment and answer is chosen else ""
    own = {n for answer in answers for n in range(answer.start - 1, answer.end)}
    shown = "\n".join(line if n in own else "" for n, line in enumerate(others))
    unread = [UnreadOutput(a.start, a.command) for a in configs if a is not chosen]
    unread += _unread(others, (answer for answer in answers if answer not in configs))
    return SavedPart(device, text, read_display(shown), tuple(sorted(unread)))


def _has_sysname(lines: Sequence[str], answer: _Answer) -> bool:
    return SYSNAME.search(answer.body(lines)) is not None


def _config_range(lines: Sequence[str], answer: _Answer) -> tuple[int, int]:
    """Return the indices of a configuration in an answer: outputs may stand above and below it."""
    start, end = answer.start, answer.end
    returns = [number for number in range(start, end) if lines[number].rstrip() == RETURN]
    if returns and read_display("\n".join(lines[returns[-1] + 1 : end])) is not None:
        end = returns[-1] + 1
    first = next((n for n in range(start, end) if FIRST.match(lines[n])), start)
    if read_display("\n".join(lines[start:first])) is not None:
        start = first
    return start, end


def _unread(lines: Sequence[str], answers: Iterable[_Answer]) -> Iterator[UnreadOutput]:
    """Yield the outputs in which nothing is read."""
    for answer in answers:
        body = answer.body(lines)
        if answer.is_display and body.strip() and read_display(body) is None:
            yield UnreadOutput(answer.start, answer.command)
