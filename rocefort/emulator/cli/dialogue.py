"""State of one login at an emulated CloudEngine, and its replies to a line, filtered behind `|`.

V300R023C00 configuration guide, CLI Overview, "Regular Expressions": each filter is `begin`,
`exclude` or `include` with a regular expression. `count`, `section`, `ignore-case` and `no-more`
precede it or are alone. Up to 32 filters work one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rocefort.dialects.vrp.commands.format import (
    INCOMPLETE,
    TOO_MANY,
    UNRECOGNIZED,
    WRONG,
    starts_of,
)
from rocefort.dialects.vrp.interpreter.interpreter import View, prompt_name
from rocefort.emulator.cli.completion import AMBIGUOUS, END, CommandRefused
from rocefort.emulator.switch.switch import EmulatedSwitch


@dataclass(frozen=True, slots=True)
class CliReply:
    """Reply of the switch: text without the prompt, and the state of the session afterwards."""

    text: str = ""
    asks: bool = False  # the text ends in a question: no prompt follows
    closes: bool = False  # the session ends, after the text if there is one
    prompts: bool = False  # it ends behind the next prompt: the client sees a normal answer
    hangs: bool = False
    pages: bool = False  # shown screen by screen


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """An open question: the action of each answer; without `cancel` only Y and N are answers."""

    text: str
    yes: Callable[[], CliReply]
    no: Callable[[], CliReply]
    cancel: Callable[[], CliReply] | None = None

    def choose(self, answer: str) -> Callable[[], CliReply] | None:
        """Return the action of an answer; None if it is not a valid answer."""
        match = re.fullmatch(r"y(es)?|n(o)?|c(ancel)?", answer.strip(), re.IGNORECASE)
        if match is None:
            return None
        choices = {"y": self.yes, "n": self.no, "c": self.cancel}
        return choices[match[0][0].casefold()]

    def repeat_text(self) -> str:
        """Return the text printed after an invalid answer."""
        words = "'YES', 'NO' or 'CANCEL'" if self.cancel else "'YES' or 'NO'"
        keys = "[Y/N/C]" if self.cancel else "[Y/N]"
        return f"Error: Please choose {words} first before pressing 'Enter'. {keys}:"


@dataclass(frozen=True, slots=True)
class TypedCommand:
    """A line as typed, its parameters, and its words with keywords in full."""

    line: str
    params: Mapping[str, str]
    words: tuple[str, ...] = ()

    @property
    def tokens(self) -> tuple[str, ...]:
        """The typed words."""
        return tuple(self.line.split())

    def at(self, index: int) -> int:
        """Return the column of a word; the end of the line if there is no such word."""
        starts = starts_of(self.line)
        return starts[index] if index < len(starts) else len(self.line.rstrip())

    def index(self, position: int) -> int:
        """Return the index of the word at a column or before it; behind the line the word count."""
        if position >= len(self.line.rstrip()):
            return len(starts_of(self.line))
        return max(sum(start <= position for start in starts_of(self.line)) - 1, 0)


Stage = Literal["user", "two-stage", "immediate"]
SCREEN_LENGTH = 24  # lines, V300R023C00 `screen-length temporary`


class CliDialogue:
    """One login: its views, its open question. Raises NoFreeTerminal if every VTY is in use."""

    def __init__(self, switch: EmulatedSwitch, user: str) -> None:
        self.switch: EmulatedSwitch = switch
        self.user = user
        self.number: int = switch.open_session(user)
        self.stage: Stage = "user"
        self.view: View = ()
        self.question: OpenQuestion | None = None
        self.screen_length = SCREEN_LENGTH
        self.last_input = switch.clock()

    @property
    def in_system(self) -> bool:
        """Whether the session is in the system view or one below it."""
        return self.stage != "user"

    @property
    def prompt(self) -> str:
        """`<H>`, `[~H-view]` with `*` for `~` while lines are uncommitted, `[H]` if immediate.

        During its own trial the Personality sets the mark.
        """
        host = self.switch.hostname
        if not self.in_system:
            return f"<{host}>"
        on_trial = self.switch.trial_session == self.number
        mark = "*" if self.switch.dirty(self.number) else "~"
        mark = self.switch.personality.trial_prompt if mark == "~" and on_trial else mark
        mark = "" if self.stage == "immediate" else mark
        return f"[{mark}{host}{prompt_name(self.view, self.switch.family)}]"

    def close(self) -> None:
        """End the session after its connection is closed."""
        self.switch.close_session(self.number)

    def ask(
        self,
        text: str,
        yes: Callable[[], CliReply],
        no: Callable[[], CliReply] = CliReply,
        cancel: Callable[[], CliReply] | None = None,
    ) -> CliReply:
        """Print a question; the next line is its answer."""
        self.question = OpenQuestion(text, yes, no, cancel)
        return CliReply(text, asks=True)

    def refused(self, line: str, position: int, message: str) -> CliReply:
        """Return a refusal with the caret under the typed word, shifted by the prompt."""
        width = len(self.prompt) + min(position, len(line.rstrip()))
        return CliReply(f"{' ' * width}^\n{message}")

    def to_user_view(self) -> CliReply:
        """Leave every view."""
        self.stage, self.view = "user", ()
        return CliReply()


BAR = "|"
MODES = ("begin", "exclude", "include")
WAYS = ("count", "ignore-case", "no-more", "section")
MOST_FILTERS = 32
MOST_CHARACTERS = 255  # of a regular expression


@dataclass(frozen=True, slots=True)
class OutputFilter:
    """One filter; `mode` is empty for `count` or `no-more` alone."""

    mode: str = ""
    pattern: re.Pattern[str] = re.compile("")
    ways: frozenset[str] = frozenset()

    def of(self, rows: list[str]) -> list[str]:
        """Return the rows that pass; with `count` their number."""
        groups = sections(rows) if "section" in self.ways else [[row] for row in rows]
        rows = [row for group in self._passing(groups) for row in group]
        return [f"Total lines: {len(rows)}."] if "count" in self.ways else rows

    def _passing(self, groups: list[list[str]]) -> list[list[str]]:
        hits = [any(map(self.pattern.search, group)) for group in groups]
        if self.mode == "begin":
            return groups[hits.index(True) :] if True in hits else []
        keep_hits = self.mode != "exclude"
        return [group for group, hit in zip(groups, hits, strict=True) if hit is keep_hits]


def sections(rows: Sequence[str]) -> list[list[str]]:
    """Split rows into sections, each from a `#` at the left margin to the next."""
    groups: list[list[str]] = []
    for row in rows:
        if row.startswith("#") or not groups:
            groups.append([])
        groups[-1].append(row)
    return groups


def read_filters(tokens: Sequence[str]) -> tuple[OutputFilter, ...]:
    """Return the filters of a query. Raises CommandRefused with the index of the wrong word."""
    filters = tuple(_parse_filter(tokens, start, end) for start, end in _places(tokens))
    if len(filters) > MOST_FILTERS:
        raise CommandRefused(_places(tokens)[MOST_FILTERS][0], TOO_MANY)
    return filters


def _places(tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Return the start and end index of the words of each filter."""
    bars = [index for index, token in enumerate(tokens) if token == BAR]
    ends = [*bars, len(tokens)][1:]
    return [(bar + 1, end) for bar, end in zip(bars, ends, strict=True)]


def _parse_filter(tokens: Sequence[str], start: int, end: int) -> OutputFilter:
    ways: set[str] = set()
    for index in range(start, end):
        word = _keyword(tokens, index)
        if word in MODES:
            ignoring = re.IGNORECASE if "ignore-case" in ways else re.NOFLAG
            pattern = _pattern(tokens, index + 1, end, ignoring)
            return OutputFilter(word, pattern, frozenset(ways))
        ways.add(word)
    if not ways & {"count", "no-more"}:
        raise CommandRefused(end, INCOMPLETE)
    return OutputFilter(ways=frozenset(ways))


def _keyword(tokens: Sequence[str], index: int) -> str:
    meant = list(_completions(tokens[index].casefold()))
    if len(meant) != 1:
        raise CommandRefused(index, AMBIGUOUS if meant else UNRECOGNIZED)
    return meant[0]


def _completions(typed: str) -> Iterator[str]:
    yield from (word for word in (*MODES, *WAYS) if word.startswith(typed))


def _pattern(tokens: Sequence[str], start: int, end: int, flags: re.RegexFlag) -> re.Pattern[str]:
    text = " ".join(tokens[start:end])
    if not text:
        raise CommandRefused(start, INCOMPLETE)
    if len(text) > MOST_CHARACTERS:
        raise CommandRefused(start, WRONG)
    try:
        return re.compile(text, flags)
    except re.error:
        raise CommandRefused(start, WRONG) from None


def filter_words(tokens: Sequence[str], beginning: str) -> list[str]:
    """Return help for words with a `|` among them. Raises CommandRefused."""
    start = max(index for index, token in enumerate(tokens) if token == BAR) + 1
    for index in range(start, len(tokens)):
        if _keyword(tokens, index) in MODES:
            return [BAR, END] if tokens[index + 1 :] else ["<regular-expression>"]
    return sorted(word for word in (*MODES, *WAYS) if word.startswith(beginning.casefold()))


def filtered_text(text: str, filters: Sequence[OutputFilter]) -> str:
    """Apply filters to a text in order, each to the output of the one before."""
    rows = text.splitlines()
    for output_filter in filters:
        rows = output_filter.of(rows)
    return "\n".join(rows)
