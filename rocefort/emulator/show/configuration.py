"""Displays of configurations, commits and the trial status, as in the vendor's samples."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from difflib import SequenceMatcher
from functools import lru_cache

from napalm_cloudengine.displays.commits import LIST, STATUS, VERBOSE
from rocefort.dialects.vrp.commands.catalogue import Syntax
from rocefort.dialects.vrp.commands.command import SYSTEM
from rocefort.dialects.vrp.commands.match import identify
from rocefort.dialects.vrp.interpreter.interpreter import Lines, View, view_kind
from rocefort.dialects.vrp.interpreter.port_split import split_types
from rocefort.dialects.vrp.interpreter.saved_lines import joined_lines
from rocefort.dialects.vrp.interpreter.tree_edit import children_at
from rocefort.dialects.vrp.text.config_tree import ConfigLine, indented, tree_text
from rocefort.emulator.switch.switch import Candidate, EmulatedSwitch
from rocefort.models.device.interface import kind_of
from rocefort.models.hardware.media import parts_of

# Blocks whose views follow ` #` (V300R023C00 configuration guide, "Configuration Scripts").
SEPARATED = ("aaa", "ai-service", "bgp", "telemetry")


def configuration(switch: EmulatedSwitch, config: Lines) -> str:
    """Return a whole configuration with the header of a switch."""
    return (
        f"!Software Version {switch.software}\n"
        f"!Last configuration was updated at {switch.changed_at:%Y-%m-%d %H:%M:%S}+00:00\n"
        + whole(switch, config)
    )


def whole(switch: EmulatedSwitch, config: Lines) -> str:
    """Return a whole configuration as a switch saves it, with ports that have no line of their own.

    V300R023C00 command reference, `display configuration candidate merge`.
    """
    return _whole(config, tuple(switch.ports), switch.family)


@lru_cache(maxsize=64)  # clients read a running configuration again and again
def _whole(config: Lines, ports: tuple[str, ...], family: Syntax) -> str:
    return text_as_saved(with_ports(config, ports, family), family)


def with_ports(config: Lines, ports: Collection[str], family: Syntax) -> Lines:
    """Return the lines with one for each port of the hardware, if the ports are known."""
    present, types = {line.text for line in config}, split_types(config)
    bare = [
        ConfigLine(text)
        for port in ports
        for name in (parts_of(port, types[port]) if port in types else (port,))
        if (text := f"interface {name}") not in present
    ]
    if not bare:
        return config
    marked = [line.text.startswith("interface ") for line in config]
    first = marked.index(True) if True in marked else len(config)
    own = [*bare, *(line for line, is_port in zip(config, marked, strict=True) if is_port)]
    own.sort(key=lambda line: identify(SYSTEM, line.text, family).order)
    others = tuple(line for line, is_port in zip(config, marked, strict=True) if not is_port)
    return (*others[:first], *own, *others[first:])


def text_as_saved(config: Lines, family: Syntax) -> str:
    """Format a configuration as a switch saves it: `#` between sections, ` #` inside some."""
    return tree_text(_separated(line, family) for line in joined_lines(config))


def _separated(line: ConfigLine, family: Syntax) -> ConfigLine:
    if line.text.split()[0] not in SEPARATED or not line.children:
        return line
    kind = view_kind((line.text,), family)
    marked: list[ConfigLine] = []
    for child in line.children:
        row = identify(kind, child.text, family).row
        if child.children or (row is not None and row.opens):
            marked.append(ConfigLine("#"))
        marked.append(child)
    return ConfigLine(line.text, line.number, tuple(marked))


def this_view(switch: EmulatedSwitch, view: View) -> str:
    """`display this`: the current view; the system view shows all."""
    if not view:
        return whole(switch, switch.running)
    here = ConfigLine(view[-1], 0, children_at(switch.running, view))
    if len(view) == 1:
        here = _separated(joined_lines((here,))[0], switch.family)
    return "\n".join(["#", *indented(here, 0), "#", "return", ""])


def section(switch: EmulatedSwitch, start: str) -> str:
    """`display current-configuration interface X`, `.. configuration bgp`."""
    ports = with_ports(switch.running, switch.ports, switch.family)
    return text_as_saved(only(ports, start), switch.family)


def only(config: Lines, start: str) -> Lines:
    """Return sections that begin with some words: `interface 100GE1/0/1`, `bgp`."""
    exact = start.startswith("interface ")
    return tuple(
        line for line in config if line.text == start or (not exact and line.text.startswith(start))
    )


def pending(candidate: Candidate) -> str:
    """`display configuration candidate`: the lines that were typed and not committed."""
    rows: list[str] = []
    current: View = ()
    for view, line in candidate.typed:
        entered = bool(rows) and bool(view) and rows[-1] == " " * (len(view) - 1) + view[-1]
        if view != current and not entered:
            rows += (" " * depth + text for depth, text in enumerate(view))
        current = view
        rows.append(" " * len(view) + line)
    return "\n".join([*rows, ""])


def changes(switch: EmulatedSwitch, before: Lines, after: Lines) -> str:
    """`display configuration candidate changes`: lines that the commit removes and adds."""
    changed = {line.text for line in before} ^ {line.text for line in after}
    if any(kind_of(text.removeprefix("interface ")) == "ethernet" for text in changed):
        before, after = (
            with_ports(lines, switch.ports, switch.family)  # a switch always has them
            for lines in (before, after)
        )
    rows = list(_changed_lines(before, after, 0))
    if not rows:
        return ""
    return "\n".join(["Building configuration", "  #", *rows, ""])


def _changed_lines(before: Lines, after: Lines, depth: int) -> Iterator[str]:
    ends = ["  #"] if depth == 0 else []
    old, new = [line.text for line in before], [line.text for line in after]
    # Whole sections are matched by name, lines only by their text.
    for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            for line, other in zip(before[i:j], after[k:m], strict=True):
                if line.children == other.children:
                    continue  # nearly all sections
                inner = list(_changed_lines(line.children, other.children, depth + 1))
                if inner:
                    yield f"  {' ' * depth}{line.text}"
                    yield from inner
                    yield from ends
            continue
        for sign, lines in (("-", before[i:j]), ("+", after[k:m])):
            for line in lines:
                yield from (f"{sign} {row}" for row in indented(line, depth))
                yield from ends


def commit_list(
    switch: EmulatedSwitch, count: str = "100", *, verbose: bool = False, labelled: bool = False
) -> str:
    """`display configuration commit list [verbose] [N | label]`, the newest first."""
    points = [point for point in switch.listed_points if point.label or not labelled]
    rows = [
        {
            "number": number,
            "commit": str(point.number),
            "label": point.label or "-",
            "user": point.user,
            "interface": point.interface,
            "kind": point.kind,
            "at": f"{point.at:%Y-%m-%d %H:%M:%S}",
            "description": point.description,
        }
        for number, point in enumerate(points[::-1][: int(count)], 1)
    ]
    return "\n".join(map(VERBOSE.write, rows)) if verbose else LIST.write(rows)


def trial_status(switch: EmulatedSwitch) -> str:
    """`display configuration trial status`."""
    trial = switch.trial
    shown = switch.personality.trial_status
    values: dict[str, object] = {"state": "ACTIVE" if trial else "INACTIVE"}
    if trial and trial.persist and shown != "state-only":
        values["persist_id"] = trial.persist
    if shown == "whole":
        values["seconds_left"] = switch.trial_left()
    return STATUS.write(values)
