"""What the rulebook's text cannot say: how peers, users, and the queues of a PFC profile go.

annet calls a function for every key of a rule with the rows of that key by what happens to them,
and gets (direct, command, rows below): a command that is not direct is a removal to the order.
Undo forms: CloudEngine V300R023C00 command reference, "Format" of the command.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from annet.annlib.types import Op
from annet.rulebook import common

from rocefort.dialects.vrp.names import is_address, ranges, snmp_version_text, snmp_version_words
from rocefort.dialects.vrp.parsing.arguments import KBYTES, queues
from rocefort.dialects.vrp.patch import ANEW
from rocefort.dialects.vrp.profile_moves import LAST

if TYPE_CHECKING:
    from annet.annlib.netdev.views.hardware import HardwareView

Rows = dict[str, list[dict[str, Any]]]
Told = Iterator[tuple[bool, str, Any]]

# Peer settings that are undone by their name; the others are undone as a whole line.
UNDONE_BY_NAME = frozenset(
    {
        "as-number",
        "connect-interface",
        "description",
        "ebgp-max-hop",
        "keychain",
        "password",
        "valid-ttl-hops",
    }
)
# What a group member cannot change without being made anew: the switch refuses another AS, and a
# member without an AS of its own goes with its group.
MAKES_A_PEER = frozenset({"as-number", "group"})
BUILT_IN = "default"
OLD_SNMP = "VRP V200"  # releases in which a version of SNMP has an undo
TWO_WORD_SETTINGS = frozenset({"privilege"})  # `local-user U privilege level 3`


def texts(diff: Rows, *ops: str) -> list[str]:
    """Commands of a key to which one of these things happens."""
    return [item["row"] for op in ops for item in diff[op]]


def before(diff: Rows) -> list[str]:
    """Commands of a key that the switch has now."""
    return texts(diff, Op.REMOVED, Op.UNCHANGED, Op.AFFECTED, Op.MOVED)


def after(diff: Rows) -> list[str]:
    """Commands of a key that the switch shall have."""
    return texts(diff, Op.ADDED, Op.UNCHANGED, Op.AFFECTED, Op.MOVED)


def whole(rule: dict[str, Any], key: tuple[str, ...], diff: Rows, **_: object) -> Told:
    """Set overwrites; gone means `undo` of the whole old line."""
    if diff[Op.ADDED]:
        yield from common.default(rule, key, diff)
        return
    for row in texts(diff, Op.REMOVED):
        yield False, f"undo {row}", None


def pool(rule: dict[str, Any], key: tuple[str, ...], diff: Rows, **_: object) -> Told:
    """The headroom pool grows before ports take from it, and shrinks (not direct: late) after."""
    sizes = [
        int(row.split()[4]) * KBYTES[row.split()[5]] for row in texts(diff, Op.REMOVED, Op.ADDED)
    ]
    shrinks = len(sizes) == 2 and sizes[1] < sizes[0]
    for direct, row, below in whole(rule, key, diff):
        yield direct and not shrinks, row, below


def trust(diff: Rows, **_: object) -> Told:
    """The undo of DSCP and 802.1p names nothing; it is early (not direct) where no trust comes."""
    added = {row.split()[1]: row for row in texts(diff, Op.ADDED)}
    for kind in (row.split()[1] for row in texts(diff, Op.REMOVED)):
        if kind not in added:
            undo = "undo trust upstream" if kind == "upstream" else "undo trust"
            yield bool(added), undo, None
    yield from ((True, row, None) for row in added.values())


def membership(diff: Rows, **_: object) -> Told:
    """A port joins one Eth-Trunk only after it has left the other (V300R023C00, `eth-trunk`)."""
    if diff[Op.REMOVED]:
        yield False, "undo eth-trunk", None
    for row in texts(diff, Op.ADDED):
        yield True, row.removesuffix(ANEW), None


def fec(diff: Rows, **_: object) -> Told:
    """FEC goes when autonegotiation comes back, so it is said again where it shall stay."""
    disable = "negotiation disable"
    was, will = set(before(diff)), set(after(diff))
    negotiates_again = disable in was - will
    if negotiates_again:
        yield False, f"undo {disable}", None
    elif disable in will - was:
        yield True, disable, None
    was, will = was - {disable}, will - {disable}
    if was and not will and not negotiates_again:
        yield False, "undo fec mode", None
    yield from ((True, row, None) for row in will if negotiates_again or row not in was)


def weighted_queues(diff: Rows, **_: object) -> Told:
    """`qos drr` adds queues and `undo qos drr` takes some away, whatever lines name the others."""
    was, will = (
        {queue for row in when(diff) for queue in queues(row.removeprefix("qos drr "))}
        for when in (before, after)
    )
    yield from ((False, f"undo qos drr {some}", None) for some in ranges(sorted(was - will)))
    yield from ((True, f"qos drr {some}", None) for some in ranges(sorted(will - was)))


def profile(
    rule: dict[str, Any],
    key: tuple[str, ...],
    diff: Rows,
    root_pre: Mapping[str, Any],
    **_: object,
) -> Told:
    """A PFC profile; the built-in one cannot be deleted, so its lines go one by one.

    While no port applies a profile, it is made what it shall be before a port gets it, or is left
    for after; one in use gets its new queues first and loses the old when traffic has left them.
    """
    name = key[0].partition(" ")[2] or BUILT_IN
    moods = {
        "idle_before": name not in _applied_profiles(root_pre, before),
        "idle_after": name not in _applied_profiles(root_pre, after),
    }
    for item in (item for rows in diff.values() for item in rows):
        for content in (item["children"] or {}).values():
            content["attrs"].update(moods)
    if name == BUILT_IN:
        yield from common.permanent(rule, key, diff)
    else:
        yield from common.default(rule, key, diff)


def named(rule: dict[str, Any], key: tuple[str, ...], diff: Rows, **_: object) -> Told:
    """A drop profile or a diffserv domain; `default` cannot be deleted, so its lines go singly."""
    logic = common.permanent if key[0] == BUILT_IN else common.default
    yield from logic(rule, key, diff)


def _applied_profiles(root_pre: Mapping[str, Any], when: Callable[[Rows], list[str]]) -> set[str]:
    """PFC profiles that ports apply, before or after the change."""
    ports = (
        item
        for rule, content in root_pre.items()
        if rule.startswith("interface *")
        for diff in content["items"].values()
        for rows in diff.values()
        for item in rows
    )
    lines = (
        line
        for port in ports
        for rule, content in (port["children"] or {}).items()
        if rule.startswith("dcb pfc enable")
        for diff in content["items"].values()
        for line in when(diff)
    )
    return {_profile_of(line.removesuffix(LAST).split()[3:]) for line in lines}


def _profile_of(words: list[str]) -> str:
    return words[0] if words and words[0] != "mode" else BUILT_IN


def applied_profile(diff: Rows, **_: object) -> Told:
    """The profile that a port applies; not direct (late) where its traffic changes before."""
    for row in texts(diff, Op.ADDED):
        yield not row.endswith(LAST), row.removesuffix(LAST), None
    if diff[Op.REMOVED] and not diff[Op.ADDED]:
        yield False, "undo dcb pfc enable", None


def queue(rule: dict[str, Any], key: tuple[str, ...], diff: Rows, **_: object) -> Told:
    """`priority Q` and `undo priority Q`; what is yielded as direct is early, the rest late."""
    for _direct, row, below in common.default(rule, key, diff):
        if row.startswith("undo "):
            early = rule["idle_before"]
        else:
            early = rule["idle_before"] or not rule["idle_after"]
        yield early, row, below


def queue_setting(rule: dict[str, Any], key: tuple[str, ...], diff: Rows, **_: object) -> Told:
    """A setting of a queue in its profile; it goes before the queue does.

    A queue with settings of its own cannot leave a profile (V300R023C00, `priority`).
    """
    for direct, row, below in whole(rule, key, diff):
        yield direct or rule["idle_before"], row, below


def policy_node(key: tuple[str, ...], diff: Rows, **_: object) -> Told:
    """A node of a route-policy; one that changes its mode is made anew.

    Whether a switch keeps the node's matches when the mode changes is not documented; this is right
    either way.
    """
    if diff[Op.REMOVED]:
        yield bool(diff[Op.ADDED]), f"undo route-policy {key[0]} node {key[1]}", None
    for item in (*diff[Op.ADDED], *diff[Op.AFFECTED]):
        yield True, item["row"], item["children"]


def local_user(key: tuple[str, ...], diff: Rows, **_: object) -> Told:
    """A user of the switch; its password has no undo of its own and is no part of intent."""
    yield from _owner(f"local-user {key[0]}", diff, keep=frozenset({"password"}))


def ssh_user(key: tuple[str, ...], diff: Rows, **_: object) -> Told:
    """A user of the SSH server."""
    yield from _owner(f"ssh user {key[0]}", diff)


def snmp_user(key: tuple[str, ...], diff: Rows, **_: object) -> Told:
    """A user of SNMPv3; its keys have lines of their own and go with it."""
    yield from _owner(f"snmp-agent usm-user v3 {key[0]}", diff)


def snmp_versions(diff: Rows, hw: HardwareView, **_: object) -> Told:
    """Versions of SNMP: a line adds some; V300 takes them away by `disable`, and has no undo.

    V300R023C00, `snmp-agent sys-info version`. An older VRP8 saves the undo of one version.
    """
    head = "snmp-agent sys-info version"
    was, will = (
        {version for row in when(diff) for version in snmp_version_words(row.removeprefix(head))}
        for when in (before, after)
    )
    if gone := was - will:
        words = snmp_version_text(gone)
        old = hw.soft.startswith(OLD_SNMP)
        yield False, f"undo {head} {words}" if old else f"{head} {words} disable", None
    if come := will - was:
        yield True, f"{head} {snmp_version_text(come)}", None


def vty_acl(rule: dict[str, Any], key: tuple[str, ...], diff: Rows, **_: object) -> Told:
    """Who may open a session; the undo names the direction, not the ACL."""
    if diff[Op.REMOVED] and not diff[Op.ADDED]:
        yield False, "undo acl inbound", None
    else:
        yield from common.default(rule, key, diff)


def _owner(head: str, diff: Rows, keep: frozenset[str] = frozenset()) -> Told:
    """Lines that share an owner: all gone means one undo of the owner."""
    if not after(diff):
        yield False, f"undo {head}", None
        return
    skip = len(head.split())
    wanted = {_setting(row, skip) for row in texts(diff, Op.ADDED)}
    for row in texts(diff, Op.REMOVED):
        setting = _setting(row, skip)
        if setting not in wanted and setting not in keep:
            yield False, f"undo {head} {setting}".rstrip(), None
    for row in sorted(texts(diff, Op.ADDED), key=lambda row: len(row.split()) > skip):
        yield True, row, None


def _setting(row: str, skip: int) -> str:
    words = row.split()[skip:]
    return " ".join(words[: 2 if words and words[0] in TWO_WORD_SETTINGS else 1])


def bgp(rule: dict[str, Any], key: tuple[str, ...], diff: Rows, **_: object) -> Told:
    """The process; another AS number means that it is deleted and built again.

    The undo names the AS number: without it, it is not taken (V300R023C00, `bgp`).
    """
    for row in texts(diff, Op.REMOVED):
        yield False, f"undo {row}", None
    if diff[Op.ADDED] or diff[Op.AFFECTED]:
        yield from common.default(rule, key, diff)


def private_as(diff: Rows, **_: object) -> Told:
    """Private AS numbers of 4 bytes: on by default, and both forms are typed (no undo)."""
    for row in texts(diff, Op.ADDED):
        yield True, row, None
    if diff[Op.REMOVED] and not diff[Op.ADDED]:
        yield True, "private-4-byte-as enable", None


def peer(key: tuple[str, ...], diff: Rows, **_: object) -> Told:
    """A peer or a group in the BGP view."""
    name, wanted = key[0], after(diff)
    if not wanted:
        yield False, f"undo {'peer' if is_address(name) else 'group'} {name}", None
    elif is_address(name) and _made_anew(before(diff), wanted):
        yield False, f"undo peer {name}", None
        yield from ((True, row, None) for row in wanted)
    else:
        yield from _settings(name, diff)


def family_peer(key: tuple[str, ...], diff: Rows, **_: object) -> Told:
    """A peer or a group in an address family."""
    enable = f"peer {key[0]} enable"  # its absence stands as a line of its own, see patch.py
    diff[Op.REMOVED] = [item for item in diff[Op.REMOVED] if item["row"] != enable]
    yield from _settings(key[0], diff)


def inactive_peer(diff: Rows, **_: object) -> Told:
    """`undo peer X enable`: said when it comes; when it goes, `peer X enable` comes or X goes."""
    for row in texts(diff, Op.ADDED):
        yield True, row, None


def _settings(name: str, diff: Rows) -> Told:
    wanted = {_peer_setting(row): row for row in texts(diff, Op.ADDED)}
    for row in texts(diff, Op.REMOVED):
        setting = _peer_setting(row)
        # a group's AS number is not overwritten while members hold it (annet, bgp.py)
        if setting not in wanted or setting == "as-number":
            yield False, _undo_setting(row), None
        elif setting == "bfd":
            lost = [word for word in _names(row) if word not in _names(wanted[setting])]
            if lost:
                yield False, " ".join(["undo peer", name, "bfd", *lost]), None
    for row in wanted.values():
        yield True, row, None


def _peer_setting(row: str) -> str:
    words = row.split()
    if words[0] == "group":
        return "group"
    if words[2:4] == ["bfd", "enable"]:
        return "bfd enable"
    return f"route-policy {words[-1]}" if words[2] == "route-policy" else words[2]


def _undo_setting(row: str) -> str:
    words = row.split()
    setting = _peer_setting(row)
    if setting == "bfd":
        return " ".join(["undo", *words[:3], *_names(row)])
    if setting in UNDONE_BY_NAME or setting == "bfd enable":
        return f"undo peer {words[1]} {setting}"
    return f"undo {row}"


def _names(row: str) -> list[str]:
    """Names of the values in `peer X bfd name value name value ..`."""
    return row.split()[3::2]


def bgp_diff(
    old: OrderedDict[str, Any],
    new: OrderedDict[str, Any],
    diff_pre: OrderedDict[str, Any],
    _pops: tuple[str, ...] = (Op.AFFECTED,),
) -> list[common.DiffItem]:
    """Diff of the process that knows what `undo peer` and `undo group` take with them."""
    items: list[common.DiffItem] = common.default_diff(old, new, diff_pre, _pops)
    if list(old) != list(new):  # another AS number: everything is said again
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
    found: dict[str, list[str]] = {}
    for row in rows:
        words = row.split()
        if words[0] in ("peer", "group"):
            found.setdefault(words[1], []).append(row)
    return found


def _made_anew(was: Iterable[str], will: Iterable[str]) -> bool:
    """Whether a line that makes the peer what it is goes or changes."""
    kept = set(will)
    return any(row not in kept and _peer_setting(row) in MAKES_A_PEER for row in was)


def _family(item: common.DiffItem, gone: set[str], anew: set[str]) -> common.DiffItem:
    """In the families: lines of a peer that goes need no undo; of a new one, all are said again."""
    children: list[common.DiffItem] = []
    for child in item.children:
        words = child.row.removeprefix("undo ").split()
        name = words[1] if words[0] == "peer" else ""
        if child.op == Op.REMOVED and name in gone | anew:
            continue
        again = child.op != Op.REMOVED and name in anew
        children.append(child._replace(op=Op.ADDED) if again else child)
    return item._replace(children=children)
