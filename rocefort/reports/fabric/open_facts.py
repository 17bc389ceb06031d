"""Acceptance list of unconfirmed facts, for a terminal and as a page of the documentation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from textwrap import fill

from rocefort.dialects.open_facts import OpenFacts
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Block, Items, Note, Section
from rocefort.reports.wording import name_ranges

PAGE = 100  # columns of the documentation
Say = Callable[[str], str]
HEAD = """\
# Checks on a first real switch

Written by `make golden` from the data that mark a fact as not confirmed: the syntax families and
the switch models of `inventory/hardware`, and the open points of a trial
(`rocefort/emulator/switch/personality.py`). `rocefort facts FABRIC` lists the facts that the switches
of one fabric use, with the names of the switches. `rocefort facts probe SWITCH` types most of the
forms itself, and keeps the answers (`docs/how-to/probe.md`).

Take one switch of each kind before it carries traffic. Keep the outputs of «model and release»,
«state of cards», «ports in brief» and «what runs with its defaults». Then enter the commands of
the tables. Before «what runs», enter and commit the line in question. ` / ` enters a view, `?`
shows the help of the command line, P is a port. Facts that an output confirms go into the data
with their source and leave this list. Unconfirmed forms of displays are in
[lab-displays.md](lab-displays.md): compare them with what the switch prints.
"""
HOW = (
    "Enter each command on one switch of its kind without traffic, and keep the output. "
    "Before «what runs», enter and commit the line in question; "
    "` / ` enters a view, `?` shows the help of the command line, P is a port."
)


def facts_report(found: OpenFacts, say: Say) -> Iterator[Block]:
    """Show all unconfirmed facts; say: translates terms to the commands of the vendor."""
    facts, switches = count_of(len(found.facts), "fact"), count_of(found.switches, "switch")
    yield Note(f"{found.name}: {facts} of {switches} that no source confirms")
    yield Section("", (Note(say(HOW)),))
    for of, group in groupby(found.facts, key=lambda fact: fact.of):
        rows = tuple(group)
        names = tuple(dict.fromkeys(name for row in rows for name in row.used))
        items = tuple(
            Items(
                (f"> {row.ask}",),
                (row.fact, *((f"at: {_names(row.used)}",) if row.used != names else ())),
            )
            for row in rows
        )
        yield Section(f"{of}: {_names(names)}", items)


def _names(names: Sequence[str]) -> str:
    return ", ".join(name_ranges(names))


def facts_page(found: OpenFacts, say: Say) -> str:
    """Return the page of the documentation: a heading for each family and model, and its facts.

    say: as of `facts_report`.
    """
    paragraphs = HEAD.rstrip("\n").split("\n\n")
    lines = ["\n\n".join(fill(say(text), PAGE, break_on_hyphens=False) for text in paragraphs)]
    for of, group in groupby(found.facts, key=lambda fact: fact.of):
        rows = tuple(group)
        models = (
            [f"Models: {', '.join(rows[0].used)}.", ""] if rows[0].used not in ((), (of,)) else []
        )
        lines += ["", f"## {of}", "", *models, "| command | unconfirmed fact |", "|---|---|"]
        lines += [f"| `{_cell(row.ask)}` | {_cell(row.fact)} |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
