"""Parser of VRP text: the Device, the line of each field, and lines that are not understood."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from pydantic import ValidationError

from napalm_cloudengine.text import lines_of, words_of
from rocefort.base.errors import BadInput, Problem
from rocefort.dialects.choose import COMWARE, NoConfigurationError, looks_like
from rocefort.dialects.data import ParsedConfig
from rocefort.dialects.vrp.commands.unmodelled import kept_lines
from rocefort.dialects.vrp.parse.lines import UNMODELLED, View, read
from rocefort.dialects.vrp.readers import line_readers
from rocefort.dialects.vrp.readers.arguments import BadArgumentError, Log, Part
from rocefort.dialects.vrp.text.config_tree import RETURN, is_noise, release_in
from rocefort.dialects.vrp.text.secret_forms import masked_text
from rocefort.models.device.device import Device

DEEPEST_VIEW = 16  # VRP nests 4 deep; deeper lines are not configuration and stay flat here
# V300R023C00, `header`: up to 480 characters on any number of lines, between two equal signs.
TITLE = re.compile(
    r"^[ \t]*header (?:login|shell) information ([^\w\s])[^\0]{0,480}?\1", re.MULTILINE
)
LONGEST_LINE = 65536  # a command line has 3100 characters; a much longer one is not a command

SYSNAME = re.compile(r"^ *sysname \S", re.MULTILINE)
WANTED = "give the text of `display current-configuration`"


@lru_cache(maxsize=64)  # a rollout reads a switch's running text many times, and it changes twice
def parse(text: str, file: str) -> ParsedConfig:
    """Parse saved VRP text of any syntax family; unknown lines are kept and reported.

    Raises BadInput with file and line for each known command whose arguments no Device can
    represent (a bad address, two values for one field), for text without a sysname, and for text of
    another vendor's switch.
    """
    if not text.strip() or "\0" in text:
        what = "a binary file" if "\0" in text else "an empty file"
        raise BadInput(what, file=file, how=WANTED)
    reader = _ConfigReader(file)
    reader.read(text)
    reader.refuse_others(text)
    return reader.finish()


def places_in(text: str, file: str) -> Mapping[str, int]:
    """Return the line of each field, as `ParsedConfig.lines`, without building the Device.

    `unmodelled[7]` is line 7, which no field has.

    Raises as `parse` does, except for values that no Device can have together.
    """
    reader = _ConfigReader(file)
    reader.read(text)
    reader.check()
    return reader.places() | {f"unmodelled[{n}]": n for n in sorted(reader.unmodelled)}


def title_lines(text: str) -> dict[int, str]:
    """Return lines that continue the title of the `header` above them, which is the value."""
    titles: dict[int, str] = {}
    if "header " not in text:
        return titles
    first, counted = 1, 0
    for match in TITLE.finditer(text):
        first += text.count("\n", counted, match.start())
        counted = match.start()
        head = " ".join(match[0].split("\n", 1)[0].split())
        titles |= {first + after: head for after in range(1, match[0].count("\n") + 1)}
    return titles


@dataclass(slots=True)
class _Frame:
    """A line that may have lines below it."""

    indent: int
    path: tuple[str, ...]  # the enclosing views and this line
    view: View


@dataclass
class _ConfigReader:
    """One pass over the lines with a stack of open views."""

    file: str
    log: Log = field(default_factory=Log)
    seen: dict[int, tuple[tuple[str, ...], str]] = field(default_factory=dict)  # path and line
    unmodelled: set[int] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)
    software: str | None = None
    returned: int = 0  # line of the last `return`
    overruled: dict[str, int] = field(default_factory=dict)  # line that takes a field's effect

    def __post_init__(self) -> None:
        self.root = Part(self.log)

    def read(self, text: str) -> None:
        """Pass every line to the commands of its view."""
        stack = [_Frame(-1, (), View("system", self.root))]
        titles = title_lines(text)
        for number, raw in enumerate(lines_of(text.lstrip("\ufeff")), 1):
            line = " ".join(words_of(raw))
            if number in titles:  # not a command, regardless of its form
                if line:
                    self.seen[number] = (titles[number],), line
                    self.unmodelled.add(number)
                continue
            if not line or is_noise(line):
                self._note(line, number)
                continue
            indent = len(raw) - len(raw.lstrip(" \t"))
            while stack[-1].indent >= indent:
                stack.pop()
            frame = stack[-1]
            self.log.number = number
            self.seen[number] = frame.path, line
            view = self._line(frame.view if len(line) <= LONGEST_LINE else UNMODELLED, line)
            if len(stack) < DEEPEST_VIEW:
                stack.append(_Frame(indent, (*frame.path, line), view))

    def _note(self, line: str, number: int) -> None:
        """Store the information of a line that is not a command."""
        if line == RETURN:
            self.returned = number
        elif line.startswith("!"):
            self.software = self.software or release_in(line)

    def _line(self, view: View, line: str) -> View:
        try:
            below = read(view, line)
        except BadArgumentError as error:
            self._bad(self.log.number, str(error), error.how)
            return UNMODELLED
        if below is UNMODELLED:
            self.unmodelled.add(self.log.number)
        return below

    def _bad(self, number: int, what: str, how: str = "") -> None:
        self.problems.append(Problem("", masked_text(what), how, self.file, number))

    def refuse_others(self, text: str) -> None:
        """Raise an error for text of another system; called only after an error in the text.

        Comware names a switch by `sysname` as VRP does.
        """
        has_name = "name" in self.root.fields
        if has_name and not self.unmodelled:
            return
        other = looks_like(text, (COMWARE,) if has_name else None)
        if other is not None:
            what = f"this looks like {other.system} (`{masked_text(other.evidence)}`), not like VRP"
            raise NoConfigurationError(what, how=WANTED, file=self.file, line=other.line)

    def finish(self) -> ParsedConfig:
        """Build the Device; raise BadInput with all problems."""
        self.check()
        device = self._device()
        lines = self.places()
        last = max(self.seen)
        return ParsedConfig(
            device,
            lines,
            tuple(kept_lines(self.seen, self.unmodelled)),
            len(self.seen),
            self.software,
            last if self.returned < last else None,
        )

    def check(self) -> None:
        """Raise BadInput with all problems; drop lines that are meaningless because of others."""
        if self.problems:
            raise BadInput(problems=self.problems)
        if "name" not in self.root.fields:
            raise NoConfigurationError(
                "no sysname, so this is no configuration of a CloudEngine",
                file=self.file,
                how=WANTED,
            )
        self._drop_meaningless()
        _forget_defaults(self.root)

    def places(self) -> dict[str, int]:
        """Return the first line of each path, of those that are understood."""
        lines = {"": self.log.first["name"]}
        for path, number in self.log.marks:
            if number not in self.unmodelled:
                lines.setdefault(path, number)
        return lines | self.overruled

    def _drop_meaningless(self) -> None:
        """Mark lines as unmodelled if other lines, or missing ones, make them meaningless."""
        dropped = {rows.pop(key).path for rows, key in list(_incomplete(self.root))}
        overruled = list(_take_overruled(self.root))
        if overruled:
            self.overruled = dict.fromkeys(overruled, self.log.first[line_readers.PFC_OFF])
        dropped |= set(overruled)
        if dropped:
            self.unmodelled |= self.log.lines_in(dropped)

    def _device(self) -> Device:
        try:
            return Device.model_validate(self.root.content())
        except ValidationError as error:
            raise BadInput(
                problems=[
                    Problem(".".join(map(str, part["loc"])), part["msg"], file=self.file)
                    for part in error.errors()
                ]
            ) from error


Rows = dict[Hashable, Part]


def _incomplete(device: Part) -> Iterator[tuple[Rows, Hashable]]:
    """Yield rows without a required part: a threshold's xoff, a weight's `qos drr`, a peer's AS."""
    for port in device.rows.get("interfaces", {}).values():
        yield from _missing_rows(port.rows.get("thresholds", {}), "xoff_kbytes")
        queues = port.rows.get("drr", {})
        weighted = ((queue, row.facts) for queue, row in queues.items() if "weight" in row.fields)
        yield from (
            (queues, queue) for queue, facts in weighted if line_readers.BY_WEIGHT not in facts
        )
    if snmp := device.parts.get("snmp"):
        yield from _missing_rows(snmp.rows.get("users", {}), "group")
    if bgp := device.parts.get("bgp"):
        yield from _missing_rows(bgp.rows.get("groups", {}), "external")
        yield from _missing_rows(bgp.rows.get("peers", {}), "asn", "group")


def _forget_defaults(device: Part) -> None:
    """Remove rows that state a default: a queue with strict priority."""
    for port in device.rows.get("interfaces", {}).values():
        queues = port.rows.get("drr", {})
        for queue in [queue for queue, row in queues.items() if line_readers.STRICT in row.facts]:
            del queues[queue]


def _take_overruled(device: Part) -> Iterator[str]:
    """Remove fields that a line elsewhere overrules, and yield their paths: no Device has both.

    PFC of a port is off while PFC of the switch is off.
    """
    for port in device.rows.get("interfaces", {}).values():
        if line_readers.PFC_OFF in device.facts and "pfc" in port.parts:
            del port.parts["pfc"]
            yield port.below("pfc")


def _missing_rows(rows: Rows, *names: str) -> Iterator[tuple[Rows, Hashable]]:
    for key, row in rows.items():
        if not any(name in row.fields for name in names):
            yield rows, key
