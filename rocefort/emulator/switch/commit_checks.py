"""Checks of a commit: conflicts, limits of the hardware, and late errors.

Rules are those of the V300R023C00 command reference. The messages are ours; no source shows them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rocefort.dialects.vrp.commands.catalogue import Syntax, family_of
from rocefort.dialects.vrp.commands.command import G1, G2
from rocefort.dialects.vrp.commands.format import WRONG, words_of
from rocefort.dialects.vrp.commands.match import identify
from rocefort.dialects.vrp.commands.parameters import list_numbers
from rocefort.dialects.vrp.interpreter.interpreter import (
    LineResult,
    Lines,
    View,
    VrpRefusal,
    view_kind,
)
from rocefort.dialects.vrp.interpreter.port_split import HEAD, split_types
from rocefort.dialects.vrp.text.config_tree import ConfigLine
from rocefort.models.device.interface import DEFAULT_DOMAIN, NO_DOMAIN, kind_of
from rocefort.models.device.lossless_queue import (
    BUILT_IN_PROFILE,
    BUILT_IN_QUEUE,
    MOST_AI_ECN_QUEUES,
)
from rocefort.models.hardware.hardware import SyntaxFamily
from rocefort.models.hardware.media import whole_port

Key = tuple[View, tuple[str, ...]]


def conflicts(base: Lines, ours: Lines, theirs: Lines, family: Syntax) -> list[str]:
    """Return lines of `ours` whose command `theirs` changes too, to another value."""
    mine, other = changed_commands(base, ours, family), changed_commands(base, theirs, family)
    return [mine[key] for key in mine if key in other and mine[key] != other[key]]


def changed_commands(before: Lines, after: Lines, family: Syntax) -> dict[Key, str]:
    """Return commands that differ, each with its line afterwards ("" if it is removed)."""
    old, new = _commands(before, (), family), _commands(after, (), family)
    return {key: new.get(key, "") for key in old | new if old.get(key) != new.get(key)}


def _line(kind: str, view: View, text: str, family: Syntax) -> dict[Key, str]:
    """Return a line by its key; a line that lists numbers gives one entry for each number."""
    identity = identify(kind, text, family)
    if identity.row is None or identity.row.kind != "list":
        return {(view, identity.key): text}
    head = " ".join(identity.key)
    numbers = sorted(list_numbers(words_of(identity.value[0])))
    return {(view, (*identity.key, str(number))): f"{head} {number}" for number in numbers}


def _commands(lines: Lines, view: View, family: Syntax) -> dict[Key, str]:
    kind = view_kind(view, family)
    commands: dict[Key, str] = {}
    for line in lines:
        commands |= _line(kind, view, line.text, family)
        commands |= _commands(line.children, (*view, line.text), family)
    return commands


MAX_PFC_PROFILES = 2  # `display dcb pfc-profile`
MAX_PFC_QUEUES = 3  # `priority`, DCB PFC view; of G2 those besides queue 3


def missing_port(
    line: str, before: Lines, applied: LineResult, ports: Collection[str]
) -> VrpRefusal | None:
    """The refusal of a line for a port that the hardware does not have; None for any other."""
    words = line.split()
    if words[0].casefold() == "interface" and applied.view:
        name = applied.view[-1].removeprefix("interface ")
        if kind_of(name) == "ethernet" and whole_port(name) not in ports:
            return VrpRefusal(line, line.index(words[1]), WRONG)
    if line.startswith(HEAD) and split_types(applied.config).keys() - split_types(before) - set(
        ports
    ):
        return VrpRefusal(line, line.index(words[4]), WRONG)
    return None


def new_problems(running: Lines, config: Lines, family: Syntax) -> tuple[str, ...]:
    """Return problems that a commit would add; problems that run already are allowed."""
    problems = commit_problems(config, family)
    present = commit_problems(running, family) if problems else ()
    return tuple(problem for problem in problems if problem not in present)


def commit_problems(config: Lines, family: Syntax) -> tuple[str, ...]:
    """Return broken limits, addresses on two interfaces, and references to missing objects."""
    profiles = profile_lines(config)
    problems = [*_addresses(config), *_pfc_queues(profiles, family_of(family)), *_ai_queues(config)]
    if len(profiles.keys() | {BUILT_IN_PROFILE}) > MAX_PFC_PROFILES:
        problems.append(f"The number of PFC profiles exceeds {MAX_PFC_PROFILES}.")
    return (*problems, *_missing(config, profiles))


def _missing(config: Lines, profiles: Collection[str]) -> Iterator[str]:
    """Yield missing objects that a port refers to (`dcb pfc enable`, `trust upstream`)."""
    domains = {words[2] for line in config if (words := line.text.split())[0] == "diffserv"}
    defined = {
        "PFC profile": {BUILT_IN_PROFILE, *profiles},
        "DiffServ domain": {DEFAULT_DOMAIN, NO_DOMAIN, *domains},
    }
    for port in config:
        for child in port.children if port.text.startswith("interface ") else ():
            what, name = _reference_name(child.text.split())
            if what and name not in defined[what]:
                yield f"The {what} {name} of {port.text} does not exist."


def _reference_name(words: list[str]) -> tuple[str, str]:
    """Return the kind and the name that a port's line refers to; empty if it refers to nothing."""
    if words[:3] == ["dcb", "pfc", "enable"] and words[3:4] not in ([], ["mode"]):
        return "PFC profile", words[3]
    if words[:2] == ["trust", "upstream"]:
        return "DiffServ domain", words[2]
    return "", ""


def profile_lines(config: Lines) -> dict[str, ConfigLine]:
    """Return the lines that open a PFC profile, `dcb pfc [NAME]`, by profile name."""
    words = ((line.text.split(), line) for line in config)
    return {
        (tokens[2] if len(tokens) == 3 else BUILT_IN_PROFILE): line
        for tokens, line in words
        if tokens[:2] == ["dcb", "pfc"] and len(tokens) <= 3
    }


def profile_queues(profile: ConfigLine) -> list[int]:
    """Return the queues that a PFC profile pauses."""
    queues = {BUILT_IN_QUEUE}
    for words in (child.text.split() for child in profile.children):
        if words[0] == "priority" and all(map(str.isdecimal, words[1:])):
            queues |= set(map(int, words[1:]))
        elif words[:2] == ["undo", "priority"]:
            queues -= set(map(int, words[2:]))
    return sorted(queues)


def _pfc_queues(profiles: dict[str, ConfigLine], family: SyntaxFamily) -> Iterator[str]:
    if family not in (*G1, *G2):
        return  # V200: no source has a limit
    for name, line in profiles.items():
        free = {BUILT_IN_QUEUE} if family in G2 else set()
        if len(set(profile_queues(line)) - free) > MAX_PFC_QUEUES:
            yield f"The number of PFC queues of profile {name} exceeds {MAX_PFC_QUEUES}."


def _addresses(config: Lines) -> Iterator[str]:
    owners: dict[str, str] = {}
    for path, line in (row for top in config for row in top.walk()):
        if line.text.startswith("ip address ") and path:
            address = line.text.split()[2]
            other = owners.setdefault(address, path[0])
            if other != path[0]:
                yield f"{address} of {path[0]} is already the address of {other}."


def _ai_queues(config: Lines) -> Iterator[str]:
    for path, line in (row for top in config for row in top.walk()):
        if path and line.text == "ai-ecn":
            queues = [child for child in line.children if child.text.startswith("assign queue")]
            if len(queues) > MOST_AI_ECN_QUEUES:
                yield f"The number of AI ECN queues exceeds {MOST_AI_ECN_QUEUES}."
