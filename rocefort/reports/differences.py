"""A Difference for readers and programs: switches that differ alike are told once.

`diff` tells what changes from one side to the other. `drift` reads the same the way back to what is
intended: it names the lines that run, and those that nobody owns.
"""

from __future__ import annotations

import json
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from rocefort.models.change import Change
from rocefort.models.difference import (
    Difference,
    OneSided,
    Ownership,
    SwitchDifference,
)
from rocefort.models.wording import counted
from rocefort.reports.changes import condition_lines, edit_lines, headline, service_lines
from rocefort.reports.wording import WIDTH, grouped, name_ranges
from rocefort.reports.writers.markdown import LIMIT, fenced
from rocefort.reports.writers.markdown import plain_text as plain

DIFFERENCE_FORMAT = 2  # values of edits have their type
MOST_PLACES = 3  # of a line that stands on many switches
CUT_RESERVE = 200  # characters for the sentence about the cut


@dataclass(frozen=True)
class Shown:
    """What of a difference is told beside what changes."""

    patch: bool = False
    back: bool = False
    places: bool = False  # where the lines stand that are not as intended


@dataclass(frozen=True)
class Block:
    """What is told of switches that differ alike. `lines` come with their places."""

    devices: tuple[str, ...]
    head: str
    lines: tuple[tuple[str, tuple[str, ...]], ...]
    felt: tuple[str, ...]
    scripts: tuple[tuple[str, tuple[str, ...]], ...]


def diff_text(difference: Difference, shown: Shown) -> str:
    """What changes from one side to the other, for a terminal of 80 columns."""
    parts = [_block_text(block) for block in _blocks(difference, shown)]
    parts += _one_sided_text(difference.only_before, f"only in {difference.before}", "removed")
    parts += _one_sided_text(difference.only_after, f"only in {difference.after}", "added")
    parts += _notes_text(difference)
    return "\n".join(parts) if parts else "nothing changes\n"


def drift_text(difference: Difference, shown: Shown) -> str:
    """What runs and is not intended, for a terminal of 80 columns."""
    parts = [_block_text(block) for block in _blocks(_owned(difference), shown)]
    parts += [_wrapped(f"nobody owns: {line}", places) for line, places in _unowned(difference)]
    fabric, configs = difference.after, difference.before
    parts += _one_sided_text(difference.only_after, f"no configuration in {configs}", "missing")
    parts += _one_sided_text(difference.only_before, f"not in {fabric}", "unknown")
    parts += _notes_text(difference)
    return "\n".join([*parts, drift_summary(difference) + "\n"])


def drift_summary(difference: Difference) -> str:
    """One line: how many switches drift."""
    known = difference.compared + len(difference.only_after)
    if not difference.drifts:
        return f"no drift: {counted(known, 'switch')} as intended"
    drifting = len(difference.switches)
    ends = (
        (len(difference.only_after), "missing"),
        (len(difference.only_before), "not in the fabric"),
    )
    words = [f"{number} {what}" for number, what in ends if number]
    return ", ".join([f"drift: {drifting} of {counted(difference.compared, 'switch')}", *words])


def _owned(difference: Difference) -> Difference:
    """The difference without lines that nobody owns, which are told on their own."""
    switches = (switch.model_copy(update={"unowned": ()}) for switch in difference.switches)
    return difference.model_copy(update={"switches": tuple(switches)})


def _blocks(difference: Difference, shown: Shown) -> Iterator[Block]:
    def key(switch: SwitchDifference) -> tuple[object, ...]:
        change = switch.change
        patch, back = change.patch * shown.patch, change.reverse * shown.back
        told = tuple(text for text, _ in _lines(switch, difference))
        return _head(change), told, tuple(service_lines(change)), patch, back

    for alike in grouped(difference.changed, key).values():
        yield _block(alike, difference, shown)


def _block(alike: Sequence[SwitchDifference], difference: Difference, shown: Shown) -> Block:
    first = alike[0].change
    where: dict[str, list[str]] = defaultdict(list)
    for text, places in chain.from_iterable(_lines(switch, difference) for switch in alike):
        where[text] += places if shown.places else ()
    scripts = (("patch", first.patch * shown.patch), ("back", first.reverse * shown.back))
    return Block(
        devices=tuple(name_ranges(switch.device for switch in alike)),
        head=_head(first),
        lines=tuple((text, tuple(dict.fromkeys(places))) for text, places in where.items()),
        felt=tuple(service_lines(first)),
        scripts=tuple(script for script in scripts if script[1]),
    )


def _head(change: Change) -> str:
    if change.patch:
        return headline(change)
    return change.kind.value if change.edits else "what is modelled stays"


def _lines(switch: SwitchDifference, difference: Difference) -> Iterator[tuple[str, list[str]]]:
    """What differs, line by line, each with the places at which what goes stands."""
    for fact in switch.facts:
        yield fact, []
    for text, numbers in edit_lines(switch.change.edits).items():
        yield text, [place for n in numbers if (place := switch.places[n].before)]
    for condition in condition_lines(switch.change):
        yield condition, []
    if switch.no_patch:
        yield f"no patch: {switch.no_patch}", []
    only = {Ownership.GOES: difference.before, Ownership.COMES: difference.after}
    for line in switch.unowned:
        if line.ownership in only:
            yield f"only in {only[line.ownership]}, and nobody owns it: {line.text}", [line.where]
    stay = sum(line.ownership is Ownership.STAYS for line in switch.unowned)
    if stay:
        yield f"{counted(stay, 'line')} that nobody owns stay", []


def _unowned(difference: Difference) -> Iterator[tuple[str, list[str]]]:
    """Lines that nobody owns, each once with all its places."""
    lines = (line for switch in difference.switches for line in switch.unowned)
    for text, alike in grouped(lines, lambda line: line.text).items():
        yield text, [line.where for line in alike]


def _block_text(block: Block) -> str:
    lines = textwrap.wrap(
        f"{', '.join(block.devices)}: {block.head}", WIDTH, subsequent_indent="    "
    )
    for text, places in block.lines:
        lines += _indented(text)
        lines += _indented(f"at: {_some(places)}", "      ") if places else []
    for text in block.felt:
        lines += _indented(text)
    for name, commands in block.scripts:
        lines += [f"    {name}:", *(f"      {command}" for command in commands)]
    return "\n".join(lines) + "\n"


def _indented(text: str, indent: str = "    ") -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _some(places: Sequence[str]) -> str:
    more = len(places) - MOST_PLACES
    return ", ".join(places[:MOST_PLACES]) + (f" and {more} more" if more > 0 else "")


def _wrapped(text: str, places: Sequence[str]) -> str:
    return "\n".join([*_indented(text, ""), *_indented(f"at: {_some(places)}")]) + "\n"


def _one_sided_text(found: Sequence[OneSided], why: str, word: str) -> list[str]:
    if not found:
        return []
    counts = sorted({switch.lines for switch in found})
    size = counted(counts[0], "line")
    if len(counts) > 1:
        size = f"{counts[0]} to {counted(counts[-1], 'line')}"
    names = ", ".join(name_ranges(switch.device for switch in found))
    return ["\n".join([*_indented(f"{names}: {word}, {size} ({why})", "")]) + "\n"]


def _notes(difference: Difference) -> Iterator[str]:
    yield from dict.fromkeys(note for switch in difference.switches for note in switch.notes)


def _notes_text(difference: Difference) -> list[str]:
    lines = [line for note in _notes(difference) for line in _indented(f"note: {note}", "")]
    return ["\n".join(lines) + "\n"] if lines else []


def difference_json(difference: Difference) -> str:
    """Every switch on its own, with its patch and the way back; same difference, same bytes."""
    content = {
        "format": DIFFERENCE_FORMAT,
        "before": difference.before,
        "after": difference.after,
        "differs": difference.differs,
        "compared": difference.compared,
        "switches": [_as_data(switch) for switch in difference.switches],
        "only_before": [switch.model_dump() for switch in difference.only_before],
        "only_after": [switch.model_dump() for switch in difference.only_after],
    }
    return json.dumps(content, indent=2) + "\n"


def _as_data(switch: SwitchDifference) -> dict[str, object]:
    change: Change = switch.change
    pairs = zip(change.edits, switch.places, strict=True)
    return {
        "device": change.device,
        "changes": switch.changes,
        "class": change.kind.value if change.edits else None,
        "service_affecting": change.service_affecting,
        "edits": [
            {**edit.model_dump(), "before_at": at.before, "after_at": at.after}
            for edit, at in pairs
        ],
        "facts": switch.facts,
        "patch": change.patch,
        "back": change.reverse,
        "no_patch": switch.no_patch,
        "conditions": [line.model_dump(mode="json") for line in change.conditions],
        "unowned": [line.model_dump(mode="json") for line in switch.unowned],
        "notes": switch.notes,
    }


def diff_markdown(difference: Difference, shown: Shown, *, limit: int = LIMIT) -> str:
    """What changes, for a comment on a pull request, of at most `limit` characters."""
    title = f"from {difference.before} to {difference.after}"
    verdict = "" if difference.differs else "nothing changes\n"
    sections = [_block_markdown(block) for block in _blocks(difference, shown)]
    sections += _one_sided_markdown(difference.only_before, f"only in {difference.before}")
    sections += _one_sided_markdown(difference.only_after, f"only in {difference.after}")
    return _document(title, verdict, sections, difference, limit)


def drift_markdown(difference: Difference, shown: Shown, *, limit: int = LIMIT) -> str:
    """What runs and is not intended, for a comment or a ticket, of at most `limit` characters."""
    title = f"{difference.before} beside {difference.after}"
    sections = [_block_markdown(block) for block in _blocks(_owned(difference), shown)]
    unowned = [f"- {_code(text)} at {plain(_some(at))}\n" for text, at in _unowned(difference)]
    sections += ["\n#### Lines that nobody owns\n\n" + "".join(unowned)] if unowned else []
    sections += _one_sided_markdown(difference.only_after, "missing: no configuration")
    sections += _one_sided_markdown(difference.only_before, "unknown: not in the fabric")
    return _document(title, drift_summary(difference) + "\n", sections, difference, limit)


def _document(
    title: str, verdict: str, sections: Sequence[str], difference: Difference, limit: int
) -> str:
    """The sections as far as they fit, each whole, and a sentence where some are left out."""
    notes = [f"- {plain(note)}\n" for note in _notes(difference)]
    parts = [*sections, "\n#### Notes\n\n" + "".join(notes)] if notes else list(sections)
    text = f"### Rocefort: {plain(title)}\n\n" + verdict
    for number, part in enumerate(parts):
        if len(text) + len(part) > limit - CUT_RESERVE:
            left = counted(len(parts) - number, "section")
            return f"{text}\n**Cut here: {left} more would make this comment too long.**\n"
        text += part
    return text


def _block_markdown(block: Block) -> str:
    text = f"\n#### {plain(', '.join(block.devices))}: {block.head}\n\n"
    for line, places in block.lines:
        text += f"- {_code(line)}" + (f" at {plain(_some(places))}" if places else "") + "\n"
    for line in block.felt:
        text += f"- **{plain(line)}**\n"
    for name, commands in block.scripts:
        text += f"\n<details><summary>{name}</summary>\n\n{fenced(commands)}\n</details>\n"
    return text


def _one_sided_markdown(found: Iterable[OneSided], why: str) -> list[str]:
    names = ", ".join(name_ranges(switch.device for switch in found))
    return [f"\n#### {plain(names)}: {plain(why)}\n"] if names else []


def _code(text: str) -> str:
    return f"<code>{plain(text)}</code>"


WRITERS: dict[tuple[str, str], Callable[[Difference, Shown], str]] = {
    ("diff", "text"): diff_text,
    ("diff", "markdown"): diff_markdown,
    ("diff", "json"): lambda difference, _: difference_json(difference),
    ("drift", "text"): drift_text,
    ("drift", "markdown"): drift_markdown,
    ("drift", "json"): lambda difference, _: difference_json(difference),
}
