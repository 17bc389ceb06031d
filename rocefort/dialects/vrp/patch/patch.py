"""Patches between two VRP configurations: the only interface to annet, with our own rulebook.

annet is pinned, imported on first use, and independent of templates. The lines that a CloudEngine
overwrites and their undo come from the command catalogue (`rulebook/`), the order of a patch from
`patch/rulebook/huawei.order`.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from napalm_cloudengine.masking import MASK
from rocefort.base.errors import BadInput
from rocefort.dialects.data import TakenLine
from rocefort.dialects.vrp.commands.catalogue import MOST_SITES, SiteSyntax, Syntax
from rocefort.dialects.vrp.interpreter.port_split import leaving, refreshed, rows_without, vanishing
from rocefort.dialects.vrp.patch.changed_rows import (
    ConfigRows,
    FrozenRows,
    frozen,
    mutable_rows,
    reduced,
)
from rocefort.dialects.vrp.patch.profile_moves import ProfileMove, moved_last, profile_moves
from rocefort.dialects.vrp.patch.rulebook.commands import ANEW, UNDO
from rocefort.dialects.vrp.patch.unowned import Path as LinePath
from rocefort.dialects.vrp.patch.unowned import UnownedLines, set_again
from rocefort.dialects.vrp.readers.arguments import KBYTES
from rocefort.dialects.vrp.text.config_tree import ConfigLine, parse_tree

if TYPE_CHECKING:
    from annet.annlib.patching import PatchTree

VENDOR = "huawei"
ORDER = Path(__file__).parent / "rulebook" / "huawei.order"
SIZED = ("qos buffer ", "dcb pfc buffer ")
ANY_LINE = "~"  # the last line of the order
IN_MBYTES = "mbytes"  # no renderer of ours writes it: most texts do not contain it
MBYTES = re.compile(rf"\b(\d+) {IN_MBYTES}\b", re.ASCII)
# Size of the cache of changes. A review of 500 switches with one changed profile has 6 different
# changes, and takes 23.7 s CPU; without the cache, 36.0 s.
ALIKE = 1024
# Beginnings of lines whose single words a function reads -> the whole line.
WHOLE_LINES = (
    (
        "port split dimension ",
        re.compile(r"port split dimension interface .+ split-type \d+\*\d+GE"),
    ),
    (
        "qos buffer headroom-pool ",
        re.compile(r"qos buffer headroom-pool size \d+ (kbytes|mbytes) slot \S+"),
    ),
)
LEAST_WORDS = {"peer": 3, "group": 2}  # of a line in the view of BGP or of a family
_LOCK = threading.Lock()

Make = Callable[[FrozenRows, FrozenRows], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class VrpPatch:
    """Commands from the system view between two texts, in both directions."""

    commands: tuple[str, ...]
    reverse: tuple[str, ...]
    unpaused: tuple[ProfileMove, ...] = ()  # of ports that no order keeps paused
    taken: tuple[TakenLine, ...] = ()  # unowned lines that the commands take with them


def make_patch(
    running: str, intended: str, family: Syntax, kept: Sequence[LinePath] = ()
) -> VrpPatch:
    """Return commands that take a switch from one configuration text to another, and back.

    Lines are in apply order, as typed from the system view; a view is entered by its line and left
    by `quit`, indented only for the reader. No `commit`, no `return`. Both texts should come from
    one renderer: a line that only one of them writes is a difference, except for buffer sizes,
    which are equal in kbytes and in mbytes.

    kept: the unowned lines of the switch, which no text has. Those that a command takes with it
    are set again at the end, or are lost with their object: then the way back sets them. Raises
    BadInput for a line in the way of a command, for a secret that would have to be set again, and
    for a line that lacks words of its command.
    """
    old, new = parse_tree(running), parse_tree(intended)
    if old == new:
        return VrpPatch((), ())
    for line in (*old, *new):
        _refuse_incomplete(line)
    make = _engine(family)
    was, will = _rows(old), _rows(new)
    if IN_MBYTES in running or IN_MBYTES in intended:
        will = _spelled_as(was, will)
    moves, back = profile_moves(was, will), profile_moves(will, was)
    patch = VrpPatch(
        _commands(make, was, moved_last(will, moves), family),
        _commands(make, will, moved_last(was, back), family),
        tuple(move for move in moves if move.if_first and move.if_last),
    )
    return _with_kept(patch, was, will, kept, family) if kept else patch


def _with_kept(
    patch: VrpPatch, was: ConfigRows, will: ConfigRows, kept: Sequence[LinePath], family: Syntax
) -> VrpPatch:
    """Return a patch that sets unowned lines again, both ways."""
    taken = UnownedLines.of(was, kept, family).after(patch.commands)
    after = {line.path: line.after for line in taken}
    remaining = [path for path in (after.get(path, path) for path in kept) if path is not None]
    back = {
        line.path: line for line in UnownedLines.of(will, remaining, family).after(patch.reverse)
    }
    lost = {line.path for line in taken if line.after is None}
    readable = {path for path in lost if MASK not in " ".join(path)}
    original = {after.get(path, path): path for path in kept}
    returning = {original[path] for path, line in back.items() if line.command}
    return replace(
        patch,
        commands=(
            *patch.commands,
            *set_again([x.after for x in taken if x.after and x.command], family),
        ),
        reverse=(
            *patch.reverse,
            *set_again([path for path in kept if path in readable | returning], family),
        ),
        taken=tuple(replace(line, restored=line.path not in lost - readable) for line in taken),
    )


def _refuse_incomplete(line: ConfigLine) -> None:
    """Raise BadInput for a line that lacks words which its place in a patch depends on."""
    bare = f"{line.text.removeprefix(UNDO)} "
    short = any(
        bare.startswith(begin) and not whole.fullmatch(line.text) for begin, whole in WHOLE_LINES
    )
    if line.text.startswith("bgp "):
        for view, lower in line.walk():
            words = lower.text.removeprefix(UNDO).split()
            if len(words) < LEAST_WORDS.get(words[0], 0):
                _incomplete(" / ".join((*view, lower.text)))
    if short:
        _incomplete(line.text)


def _incomplete(line: str) -> None:
    raise BadInput(
        "the line is not a whole command, so it has no place in a patch",
        where=f"`{line}`",
        how="write it as a switch saves it",
    )


def _commands(
    make: Make, was: OrderedDict[str, Any], will: OrderedDict[str, Any], family: Syntax
) -> tuple[str, ...]:
    gone = vanishing(was, will)
    remaining = rows_without(was, gone)
    rows = reduced(remaining, _readdressed(remaining, _rejoining(remaining, will)))
    return refreshed((*leaving(was, gone), *make(frozen(rows[0]), frozen(rows[1]))), family)


def _rows(lines: Iterable[ConfigLine]) -> OrderedDict[str, Any]:
    """Return annet's form of a configuration: views nested by their lines."""
    rows: OrderedDict[str, Any] = OrderedDict()
    for line in lines:
        rows.setdefault(line.text, OrderedDict()).update(_rows(line.children))
        if line.text.startswith("bgp "):
            _say_inactive(rows[line.text])
    return rows


def _spelled_as(now: OrderedDict[str, Any], rows: OrderedDict[str, Any]) -> OrderedDict[str, Any]:
    """Return the rows, each in the switch's spelling where both name one buffer size.

    Vendor examples save `size 4 mbytes` as it was typed, so 4096 kbytes need not be entered again.
    """
    spelled = {_in_kbytes(text): text for text in now}
    alike: OrderedDict[str, Any] = OrderedDict()
    for text, below in rows.items():
        row = spelled.get(_in_kbytes(text), text)
        alike[row] = _spelled_as(now.get(row, OrderedDict()), below)
    return alike


def _in_kbytes(text: str) -> str:
    if not text.startswith(SIZED):
        return text
    return MBYTES.sub(lambda size: f"{int(size[1]) * KBYTES['mbytes']} kbytes", text)


def _rejoining(was: OrderedDict[str, Any], will: OrderedDict[str, Any]) -> OrderedDict[str, Any]:
    """Return the intended rows, with members of an Eth-Trunk marked that leaves an LACP mode.

    It leaves that mode only while it has no members. From manual mode it changes with its members
    in place (V300R023C00, `mode`).
    """
    changed = {
        row.removeprefix("interface Eth-Trunk")
        for row, below in was.items()
        if row.startswith("interface Eth-Trunk")
        and _mode(below) not in (None, _mode(will.get(row)))
    }
    if not changed:
        return will
    marked = {f"eth-trunk {number}": f"eth-trunk {number}{ANEW}" for number in changed}
    return OrderedDict(
        (row, OrderedDict((marked.get(text, text), lower) for text, lower in below.items()))
        for row, below in will.items()
    )


def _readdressed(was: ConfigRows, will: ConfigRows) -> ConfigRows:
    """Return the intended rows, with addresses marked whose routing table loses its IPv4 family.

    They go with it (V300R023C00, `ipv4-family`).
    """
    losing = {
        f"ip binding {row.removeprefix('ip ')}"
        for row, below in was.items()
        if row.startswith("ip vpn-instance ") and _has_family(below)
        if row in will and not _has_family(will[row])
    }
    if not losing:
        return will
    return OrderedDict(
        (
            row,
            OrderedDict(
                (f"{text}{ANEW}" if text.startswith("ip address ") else text, lower)
                for text, lower in below.items()
            )
            if losing & below.keys()
            else below,
        )
        for row, below in will.items()
    )


def _has_family(rows: Iterable[str]) -> bool:
    return any(row.startswith("ipv4-family") for row in rows)


def _mode(rows: OrderedDict[str, Any] | None) -> str | None:
    return next((row for row in rows or () if row.startswith("mode ")), None)


def _say_inactive(bgp: OrderedDict[str, Any]) -> None:
    """Add an explicit line to every peer and group that is not enabled in the family.

    A switch enables a new peer (V300R023C00, `peer as-number`, `group`) and saves no line for one
    that is not enabled, so without this a patch that creates a disabled peer would enable it.
    """
    family = bgp.setdefault("ipv4-family unicast", OrderedDict())
    names = {row.split()[1] for row in bgp if row.startswith(("peer ", "group "))}
    for name in sorted(names):
        if f"peer {name} enable" not in family:
            family[f"undo peer {name} enable"] = OrderedDict()


def _lines(tree: PatchTree, depth: int = 0) -> Iterator[str]:
    for row, below in tree.items():
        yield " " * depth + row
        if below is not None and not row.startswith("undo "):  # an undo opens no view
            yield from _lines(below, depth + 1)
            yield " " * (depth + 1) + "quit"


def _order(family: Syntax) -> str:
    """Return the order of a patch; the site's first lines come before all and are removed last."""
    text = ORDER.read_text(encoding="utf-8")
    first = family.first if isinstance(family, SiteSyntax) else ()
    if not first:
        return text
    rest = text.rstrip().removesuffix(ANY_LINE)
    last = (f"undo {words} %order_reverse" for words in reversed(first))
    return "\n".join((*first, rest, *last, ANY_LINE, ""))


def _engine(family: Syntax) -> Make:
    with _LOCK:  # annet's connectors are global and may be set once
        return _build_engine(family)


@lru_cache(maxsize=MOST_SITES)
def _build_engine(family: Syntax) -> Make:
    from annet import patching, reference  # noqa: PLC0415 - 0.2 s and 45 MB that only a patch needs
    from annet.annlib.rbparser.ordering import compile_ordering_text  # noqa: PLC0415 - the same

    from rocefort.dialects.vrp.patch.rulebook.rules import rulebook  # noqa: PLC0415 - the same

    rules = {
        "patching": rulebook(family),
        "ordering": compile_ordering_text(_order(family), VENDOR),
    }

    @lru_cache(maxsize=ALIKE)
    def make(old: FrozenRows, new: FrozenRows) -> tuple[str, ...]:
        orderer = patching.Orderer(rules["ordering"], VENDOR)
        orderer.ref_insert(reference.RefTracker())
        diff = patching.make_diff(mutable_rows(old), mutable_rows(new), rules, [])
        tree = patching.make_patch(
            pre=patching.make_pre(diff),
            rb=rules,
            hw=None,
            add_comments=False,
            orderer=orderer,
            do_commit=False,
        )
        return tuple(_lines(tree))

    return make
