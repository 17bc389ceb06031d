"""Patch functions: the commands between the removed lines of a key and its added lines.

annet calls a function for every key with its lines by operation (`diff`), and receives (direct,
command, lines below); its order treats a command that is not direct as a removal. `commands` is the
catalogue of the view. Sources: CloudEngine V300R023C00 command reference, by command name.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from annet.annlib.types import Op
from annet.rulebook import common

from rocefort.dialects.vrp.commands.catalogue import rows_by_view
from rocefort.dialects.vrp.commands.command import SYSTEM, Row
from rocefort.dialects.vrp.commands.format import words_of
from rocefort.dialects.vrp.commands.parameters import list_numbers
from rocefort.dialects.vrp.patch.rulebook.commands import UNDO, ViewCommands, unmarked
from rocefort.dialects.vrp.readers.arguments import KBYTES
from rocefort.dialects.vrp.text.names import (
    is_address,
    ranges,
    snmp_version_text,
    snmp_version_words,
)

Rows = dict[str, list[dict[str, Any]]]
Command = tuple[bool, str, Any]
Key = tuple[str, ...]

# Attributes of a group member that need a new member to change: the switch refuses another AS, and
# a member without an AS of its own is removed with its group.
MAKES_A_PEER = frozenset({"as-number", "group"})
BUILT_IN = "default"
REMOVABLE = re.compile(r"interface (?:Eth-Trunk|Vlanif|LoopBack)\d")
RUNS = 10  # numbers or ranges of numbers that a line accepts (`vlan batch`, `&<1-10>`)


def texts(diff: Rows, *ops: str) -> list[str]:
    """Return lines of a key with one of these operations."""
    return [item["row"] for op in ops for item in diff[op]]


def before(diff: Rows) -> list[str]:
    """Return lines of a key in the running configuration."""
    return texts(diff, Op.REMOVED, Op.UNCHANGED, Op.AFFECTED, Op.MOVED)


def after(diff: Rows) -> list[str]:
    """Return lines of a key in the intended configuration."""
    return texts(diff, Op.ADDED, Op.UNCHANGED, Op.AFFECTED, Op.MOVED)


def single_line(commands: ViewCommands, diff: Rows, **_: object) -> Iterator[Command]:
    """Overwrite the line of a key by the added line; undo a removed line.

    A view without an undo is emptied.
    """
    if _is_set(diff):
        yield from _set_commands(diff)
        return
    for item in diff[Op.REMOVED]:
        if undo := commands.undo(item["row"]):
            yield False, undo, None
        elif item["children"]:
            yield True, item["row"], item["children"]


def permanent_view(diff: Rows, **_: object) -> Iterator[Command]:
    """Empty a view that every switch has: it cannot be removed."""
    yield from _set_commands(diff)
    if not _is_set(diff):
        for item in diff[Op.REMOVED]:
            if item["children"]:
                yield True, item["row"], item["children"]


def named_view(commands: ViewCommands, key: Key, diff: Rows, **_: object) -> Iterator[Command]:
    """Patch a drop profile or a diffserv domain; the built-in one cannot be removed."""
    yield from permanent_view(diff) if key[-1] == BUILT_IN else single_line(commands, diff)


def interface(commands: ViewCommands, diff: Rows, **_: object) -> Iterator[Command]:
    """Patch interfaces: only logical ones can be removed (`interface`)."""
    removable = all(REMOVABLE.match(row) for row in texts(diff, Op.REMOVED))
    yield from single_line(commands, diff) if removable else permanent_view(diff)


def undo_then_set(commands: ViewCommands, diff: Rows, **_: object) -> Iterator[Command]:
    """Patch a command that does not overwrite: undo the old line at the position of removals.

    Member of an Eth-Trunk, binding to a routing table, traffic policy, port split, BGP process.
    """
    yield from ((False, _undo_command(commands, row), None) for row in texts(diff, Op.REMOVED))
    yield from _set_commands(diff)


def replace(commands: ViewCommands, diff: Rows, **_: object) -> Iterator[Command]:
    """Patch a command that does not overwrite: undo the old line just before the new line.

    A new ACL rule changes only the differing parts, so `rule 5 permit udp` over
    `rule 5 deny ip source 10.0.0.1 0` would keep the source (`rule`, Configuration Impact). In
    between, packets meet the rules after it, but only in the candidate: a commit makes both changes
    at once. Whether a node of a route-policy keeps its matches when its mode changes is not
    documented; this is right in both cases. A static route with a new preference or description is
    created again.
    """
    yield from (
        (_is_set(diff), _undo_command(commands, row), None) for row in texts(diff, Op.REMOVED)
    )
    yield from _set_commands(diff)


def number_list(
    commands: ViewCommands, key: Key, diff: Rows, runs: int = RUNS, **_: object
) -> Iterator[Command]:
    """Add and remove numbers, regardless of the line that lists the others."""
    if key[0] == "undo":  # a number of the default
        yield from single_line(commands, diff)
        return
    was, will = (
        {n for row in when(diff) for n in list_numbers(words_of(commands.value(row)))}
        for when in (before, after)
    )
    for direct, head, some in ((False, ("undo", *key), was - will), (True, key, will - was)):
        words = ranges(some)
        for first in range(0, len(words), runs):
            yield direct, " ".join((*head, *words[first : first + runs])), None


def snmp_versions(commands: ViewCommands, diff: Rows, **_: object) -> Iterator[Command]:
    """Patch versions of SNMP: a line adds some. V300 removes them by `disable` and has no undo.

    `snmp-agent sys-info version`. An older VRP8 saves the undo of one version.
    """
    was, will = (
        {version for row in when(diff) for version in snmp_version_words(commands.value(row))}
        for when in (before, after)
    )
    identity = commands.identity((before(diff) or after(diff))[0])
    head = " ".join(identity.key)
    if gone := was - will:
        words = snmp_version_text(gone)
        disables = identity.row is not None and identity.row.no_undo
        yield False, f"{head} {words} disable" if disables else f"undo {head} {words}", None
    if come := will - was:
        yield True, f"{head} {snmp_version_text(come)}", None


def _is_set(diff: Rows) -> bool:
    return bool(diff[Op.AFFECTED] or diff[Op.ADDED] or diff[Op.MOVED])


def _set_commands(diff: Rows) -> Iterator[Command]:
    """Yield the added lines, or the changed views."""
    for item in diff[Op.AFFECTED] or diff[Op.ADDED] or diff[Op.MOVED]:
        yield True, unmarked(item["row"]), item["children"]


def _undo_command(commands: ViewCommands, text: str) -> str:
    """Return the undo of a line; of the whole line if its row has none."""
    return commands.undo(text) or f"{UNDO}{text}"


def pool(commands: ViewCommands, diff: Rows, **_: object) -> Iterator[Command]:
    """Grow the headroom pool before ports use it, and shrink it after (not direct: late)."""
    sizes = [
        int(row.split()[4]) * KBYTES[row.split()[5]] for row in texts(diff, Op.REMOVED, Op.ADDED)
    ]
    shrinks = len(sizes) == 2 and sizes[1] < sizes[0]
    for direct, row, below in single_line(commands, diff):
        yield direct and not shrinks, row, below


def trust(commands: ViewCommands, diff: Rows, **_: object) -> Iterator[Command]:
    """Patch trust of a port; an undo is early (not direct) if no other trust is added.

    The value is not overwritten: DSCP is undone before 802.1p is trusted.
    """
    added = {row.split()[1]: row for row in texts(diff, Op.ADDED)}
    for row in texts(diff, Op.REMOVED):
        if row.split()[1] not in added:
            yield bool(added), _undo_command(commands, row), None
    yield from ((True, row, None) for row in added.values())


def fec(commands: ViewCommands, diff: Rows, **_: object) -> Iterator[Command]:
    """Patch the FEC mode: enabling autonegotiation removes it, so a kept mode is set again."""
    disable = "negotiation disable"
    was, will = set(before(diff)), set(after(diff))
    negotiates_again = disable in was - will
    if negotiates_again:
        yield False, _undo_command(commands, disable), None
    elif disable in will - was:
        yield True, disable, None
    was, will = was - {disable}, will - {disable}
    if not will and not negotiates_again:
        yield from ((False, _undo_command(commands, row), None) for row in was)
    yield from ((True, row, None) for row in will if negotiates_again or row not in was)


def profile(
    commands: ViewCommands, key: Key, diff: Rows, root_pre: Mapping[str, Any], **_: object
) -> Iterator[Command]:
    """Patch a PFC profile; the built-in one has no undo, so it is emptied line by line.

    A profile that no port applies is changed before a port gets it, or after the last port leaves
    it. A profile in use gets its new queues first and loses the old ones after their traffic.
    """
    name = key[2] if key[2:] else BUILT_IN
    moods = {
        "idle_before": name not in _applied_profiles(root_pre, before),
        "idle_after": name not in _applied_profiles(root_pre, after),
    }
    for item in (item for rows in diff.values() for item in rows):
        for content in (item["children"] or {}).values():
            content["attrs"].update(moods)
    yield from single_line(commands, diff)


def _applied_profiles(root_pre: Mapping[str, Any], when: Callable[[Rows], list[str]]) -> set[str]:
    """Return PFC profiles that ports apply, before or after the change."""
    ports = (
        item
        for diff in _items(root_pre, SYSTEM, "interface")
        for rows in diff.values()
        for item in rows
    )
    lines = (
        unmarked(row)
        for port in ports
        for diff in _items(port["children"] or {}, "interface", "dcb pfc enable")
        for row in when(diff)
    )
    return {_profile_of(row.split()[3:]) for row in lines}


def rule_name(view: str, beginning: str) -> str:
    """Return the name of a rule among those of all views."""
    return f"{view}: {beginning}"


def _items(pre: Mapping[str, Any], view: str, beginning: str) -> Iterable[Rows]:
    """Return lines of a rule by operation, for each key."""
    content = pre.get(rule_name(view, beginning))
    items: Iterable[Rows] = content["items"].values() if content else ()
    return items


def _profile_of(words: list[str]) -> str:
    return words[0] if words and words[0] != "mode" else BUILT_IN


def applied_profile(commands: ViewCommands, diff: Rows, **_: object) -> Iterator[Command]:
    """Patch a port's profile; not direct (late) where its traffic changes before."""
    for _direct, row, below in single_line(commands, diff):
        yield row in texts(diff, Op.ADDED), row, below


def queue(
    commands: ViewCommands, rule: Mapping[str, Any], key: Key, diff: Rows, **_: object
) -> Iterator[Command]:
    """Patch a queue of a PFC profile, or its settings; direct commands are early, the others late.

    A queue with settings cannot leave a profile (`priority`), so the settings are undone first.
    """
    for direct, row, below in single_line(commands, diff):
        if key[2:] and key[0] != "undo":
            late = not direct
        else:
            late = row.startswith(UNDO) or rule["idle_after"]
        yield rule["idle_before"] or not late, row, below


def owned_lines(commands: ViewCommands, diff: Rows, owner: int, **_: object) -> Iterator[Command]:
    """Patch lines of a user: if all are removed, one undo removes the user.

    A line without an undo of its own stays: a password, which is not part of the intent.
    """
    length = owner + 1
    if not after(diff):
        head = words_of(texts(diff, Op.REMOVED)[0])[:length]
        yield False, f"{UNDO}{' '.join(head)}", None
        return
    added = {commands.key(row) for row in texts(diff, Op.ADDED)}
    for row in texts(diff, Op.REMOVED):
        if commands.key(row) not in added and (undo := commands.undo(row)):
            yield False, undo, None
    for row in sorted(texts(diff, Op.ADDED), key=lambda row: len(row.split()) > length):
        yield True, row, None


def peer(commands: ViewCommands, key: Key, diff: Rows, **_: object) -> Iterator[Command]:
    """Patch a peer or a group in the BGP view."""
    name, intended = key[0], after(diff)
    if not intended:
        yield False, f"undo {'peer' if is_address(name) else 'group'} {name}", None
    elif is_address(name) and _made_anew(before(diff), intended):
        yield False, f"undo peer {name}", None
        yield from ((True, row, None) for row in intended)
    else:
        yield from _settings(commands, diff)


def family_peer(commands: ViewCommands, diff: Rows, **_: object) -> Iterator[Command]:
    """Patch a peer or a group in an address family.

    Each has a line for its state, enabled or not (`undo peer X enable`, see patch.py). Neither is
    undone: the other line is set, or the peer is removed.
    """
    removed = [item for item in diff[Op.REMOVED] if not item["row"].endswith(" enable")]
    yield from _settings(commands, {**diff, Op.REMOVED: removed})


def _settings(commands: ViewCommands, diff: Rows) -> Iterator[Command]:
    added = {commands.key(row): row for row in texts(diff, Op.ADDED)}
    for row in texts(diff, Op.REMOVED):
        key = commands.key(row)
        # a group's AS number is not overwritten while it has members (annet, bgp.py)
        if key not in added or key[2:3] == ("as-number",):
            yield False, _undo_command(commands, row), None
        elif lost := commands.lost(row, added[key]):
            yield False, lost, None
    for row in added.values():
        yield True, row, None


def bgp_diff(
    old: OrderedDict[str, Any],
    new: OrderedDict[str, Any],
    diff_pre: OrderedDict[str, Any],
    _pops: tuple[str, ...] = (Op.AFFECTED,),
) -> list[common.DiffItem]:
    """Return the process's diff; `undo peer` and `undo group` also remove their other lines."""
    items: list[common.DiffItem] = common.default_diff(old, new, diff_pre, _pops)
    if list(old) != list(new):  # another AS number: every line is entered again
        return items
    was, will = (
        {n: r for rows in side.values() for n, r in _by_peer(rows).items()} for side in (old, new)
    )
    gone = was.keys() - will.keys()
    anew = {
        name
        for name in was.keys() & will.keys()
        if is_address(name) and _made_anew(was[name], will[name])
    }
    return [
        item._replace(children=[_family(child, gone, anew) for child in item.children])
        for item in items
    ]


def _by_peer(rows: Iterable[str]) -> dict[str, list[str]]:
    rows_by_peer: dict[str, list[str]] = {}
    for row in rows:
        words = row.split()
        if words[0] in ("peer", "group"):
            rows_by_peer.setdefault(words[1], []).append(row)
    return rows_by_peer


def _made_anew(was: Iterable[str], will: Iterable[str]) -> bool:
    """Whether a line that defines the peer is removed or changed."""
    intended = set(will)
    return any(row not in intended and row.split()[2] in MAKES_A_PEER for row in was)


def _family(item: common.DiffItem, gone: set[str], anew: set[str]) -> common.DiffItem:
    """Drop undos of a removed peer's lines in the families; enter all lines of a new peer."""
    children: list[common.DiffItem] = []
    for child in item.children:
        words = child.row.removeprefix("undo ").split()
        name = words[1] if words[0] == "peer" else ""
        if child.op == Op.REMOVED and name in gone | anew:
            continue
        again = child.op != Op.REMOVED and name in anew
        children.append(child._replace(op=Op.ADDED) if again else child)
    return item._replace(children=children)


def interface_diff(
    old: OrderedDict[str, Any],
    new: OrderedDict[str, Any],
    diff_pre: OrderedDict[str, Any],
    _pops: tuple[str, ...] = (Op.AFFECTED,),
) -> list[common.DiffItem]:
    """Return the diff of ports; lines that go with another command are entered again, not undone.

    Such are the addresses of an interface whose routing table changes (`losses` of the catalogue).
    """
    items: list[common.DiffItem] = common.default_diff(old, new, diff_pre, _pops)
    return [_entered_again(item) for item in items]


def _entered_again(item: common.DiffItem) -> common.DiffItem:
    losses = [
        loss
        for child in item.children
        if child.op in (Op.ADDED, Op.REMOVED)
        for row in _with_losses()
        if f"{child.row} ".startswith(f"{row.name} ")
        for loss in row.losses
        if loss.goes_with(undone=child.op == Op.REMOVED)
    ]
    children = item.children
    for lost in {f"{line} ": loss.lasting for loss in losses for line in loss.lines}.items():
        children = list(_set_again(children, *lost))
    return item._replace(children=children)


def _set_again(
    children: Sequence[common.DiffItem], beginning: str, lasting: bool
) -> Iterator[common.DiffItem]:
    """Yield lines of a port, those that begin so as added; their undo only if none of them stays.

    A line that is not valid afterwards is undone before, as in the examples of the vendor.
    """
    lost = [child for child in children if f"{child.row} ".startswith(beginning)]
    needless = lasting or any(child.op != Op.REMOVED for child in lost)
    for child in children:
        if child not in lost:
            yield child
        elif child.op != Op.REMOVED:
            yield child._replace(op=Op.ADDED)
        elif not needless:
            yield child


@cache
def _with_losses() -> tuple[Row, ...]:
    return tuple(row for row in rows_by_view()["interface"] if row.losses)
