"""What the display commands of an emulated switch print, as the vendor's samples show it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from rocefort.dialects.vrp.edit import children_at
from rocefort.dialects.vrp.interpret import Lines, View
from rocefort.dialects.vrp.tree import ConfigLine, indented, tree_text
from rocefort.lab.switch import Candidate, CommitPoint, EmulatedSwitch


def configuration(switch: EmulatedSwitch, config: Lines) -> str:
    """A whole configuration with the header that a switch puts above it."""
    return (
        f"!Software Version {switch.software}\n"
        f"!Last configuration was updated at {switch.changed_at:%Y-%m-%d %H:%M:%S}+00:00\n"
        + tree_text(config)
    )


def this_view(config: Lines, view: View) -> str:
    """`display this`: the view one stands in; the system view shows all."""
    if not view:
        return tree_text(config)
    here = ConfigLine(view[-1], 0, children_at(config, view))
    return "\n".join(["#", *indented(here, 0), "#", "return", ""])


def filtered(text: str, how: str) -> str:
    """Text behind `| include X`, `| exclude X`, `| begin X`, `| section include X`."""
    words = how.split(None, 1)
    if how.startswith("section include "):
        pattern = re.compile(how.split(None, 2)[2].strip())
        kept = [section for section in _sections(text) if any(map(pattern.search, section))]
        return "\n".join("\n".join(section) for section in kept)
    pattern = re.compile(words[1].strip())
    rows = text.splitlines()
    if words[0] == "include":
        return "\n".join(row for row in rows if pattern.search(row))
    if words[0] == "exclude":
        return "\n".join(row for row in rows if not pattern.search(row))
    first = next((i for i, row in enumerate(rows) if pattern.search(row)), len(rows))
    return "\n".join(rows[first:])


def _sections(text: str) -> list[list[str]]:
    sections: list[list[str]] = []
    for row in text.splitlines():
        if row.startswith("#") or not sections:
            sections.append([])
        sections[-1].append(row)
    return sections


def section(config: Lines, wanted: str) -> str:
    """`display current-configuration interface X`, `.. configuration bgp`."""
    return tree_text(only(config, wanted))


def only(config: Lines, wanted: str) -> Lines:
    """Sections that begin with some words: `interface 100GE1/0/1`, `bgp`."""
    exact = wanted.startswith("interface ")
    return tuple(
        line
        for line in config
        if line.text == wanted or (not exact and line.text.startswith(wanted))
    )


def pending(candidate: Candidate) -> str:
    """`display configuration candidate`: the lines that were typed and not committed."""
    rows: list[str] = []
    place: View = ()
    for view, line in candidate.typed:
        entered = bool(rows) and bool(view) and rows[-1] == " " * (len(view) - 1) + view[-1]
        if not rows or (view != place and not entered):
            rows += ["#", *(" " * depth + text for depth, text in enumerate(view))]
        place = view
        rows.append(" " * len(view) + line)
    return "\n".join([*rows, "#", ""]) if rows else ""


def changes(before: Lines, after: Lines) -> str:
    """`display configuration candidate changes`: what the commit would take and give."""
    rows = list(_changed(before, after, 0))
    if not rows:
        return ""
    return "\n".join(["Building configuration", "  #", *rows, ""])


def _changed(before: Lines, after: Lines, depth: int) -> Iterator[str]:
    ends = ["  #"] if depth == 0 else []
    old, new = [line.text for line in before], [line.text for line in after]
    # Whole sections are matched by name; lines only by their text.
    for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            for line, other in zip(before[i:j], after[k:m], strict=True):
                if line.children == other.children:
                    continue  # nearly all of them
                inner = list(_changed(line.children, other.children, depth + 1))
                if inner:
                    yield f"  {' ' * depth}{line.text}"
                    yield from inner
                    yield from ends
            continue
        for sign, lines in (("-", before[i:j]), ("+", after[k:m])):
            for line in lines:
                yield from (f"{sign} {row}" for row in indented(line, depth))
                yield from ends


def commit_list(points: Sequence[CommitPoint], *, verbose: bool, count: int) -> str:
    """`display configuration commit list [verbose] [N]`, the newest first."""
    newest = list(reversed(points))[:count]
    if verbose:
        return "\n".join(_verbose(number, point) for number, point in enumerate(newest, 1))
    rows = [
        f"{number:<3} {point.number} {point.label or '-':<20} {point.user:<15} "
        f"{point.at:%Y-%m-%d %H:%M:%S}"
        for number, point in enumerate(newest, 1)
    ]
    rule = "-" * 72
    head = f"{'No.':<3} {'CommitId':<10} {'Label':<20} {'User':<15} TimeStamp"
    return "\n".join([rule, head, rule, *rows, rule])


def _verbose(number: int, point: CommitPoint) -> str:
    fields = (
        ("Label", point.label or "-"),
        ("User", point.user),
        ("User-Intf", point.interface),
        ("Type", point.kind),
        ("TimeStamp", f"{point.at:%Y-%m-%d %H:%M:%S}"),
        ("Description", point.description),
    )
    rows = [f"        {name}: {value}" for name, value in fields]
    return "\n".join([f"{number}) CommitId: {point.number}", *rows])


def trial_status(switch: EmulatedSwitch) -> str:
    """`display configuration trial status`."""
    trial = switch.trial
    rows = [f"Trial status: {'ACTIVE' if trial else 'INACTIVE'}"]
    if trial and trial.persist:
        rows.append(f"Persist id: {trial.persist}")
    return "\n".join([*rows, f"Trial time left (sec): {switch.trial_left()}"])
