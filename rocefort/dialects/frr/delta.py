"""Commands from one plan of a switch to another: only for the difference.

Unchanged lines are not entered again. Lists and policies are created before the process uses them,
and removed after their last use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from rocefort.dialects.frr.kernel import BASE, HOOK, TABLE
from rocefort.dialects.frr.state import LinkState, SwitchPlan
from rocefort.models.base import Frozen

Tree = dict[str, "Tree"]
CONTEXT = re.compile(r"router bgp |route-map |address-family |vrf ")
# Single statements: entering another replaces it, and the `no` form needs only a part of the line.
SINGLE = re.compile(
    r"(?P<key>neighbor \S+ (?:timers connect|timers|description|bfd|remote-as)"
    r"|bgp router-id|maximum-paths ibgp|maximum-paths|hostname|distance bgp)(?: |$)"
)
POLICY = re.compile(r"(?P<who>neighbor \S+) route-map \S+ (?P<way>in|out)")
ENTRY = re.compile(r"(?P<key>ip prefix-list \S+ seq \d+) ")
NODE = re.compile(r"(?P<name>route-map \S+) (?:permit|deny) (?P<node>\d+)")
NEIGHBOUR = re.compile(r"neighbor (?P<name>\S+) ")
DEFINITION = re.compile(r"neighbor \S+ peer-group")
NOT_REPLACED = re.compile(r"neighbor \S+ bfd")  # the timers of the old line would stay


def line_delta(old: str, new: str) -> tuple[str, ...]:
    """Return lines for configuration mode; each ends in the mode in which it began."""
    before, after = _tree(old), _tree(new)
    process, other = _process(before), _process(after)
    return (
        *_entered(before, after),
        *_process_lines(before, after, process, other),
        *_withdrawn(before, after),
    )


def _tree(text: str) -> Tree:
    """Return lines by their parent lines; comments and lines that leave a mode are omitted."""
    root: Tree = {}
    stack: list[tuple[int, Tree]] = [(-1, root)]
    for row in text.splitlines():
        line = row.strip()
        if not line or line.startswith(("!", "exit", "frr defaults")):
            continue
        depth = len(row) - len(row.lstrip())
        while stack[-1][0] >= depth:
            stack.pop()
        stack.append((depth, stack[-1][1].setdefault(line, {})))
    return root


def _process(tree: Tree) -> str | None:
    return next((line for line in tree if line.startswith("router bgp ")), None)


def _entered(old: Tree, new: Tree) -> Iterator[str]:
    """Yield lists, policies and plain lines that are new or changed."""
    lists = set(map(_whole, new))
    yield from (f"no {line}" for line in _removed_lines(old, new) if _whole(line) in lists)
    before = {key(line): line for line in old}
    for line, below in new.items():
        if line.startswith("router bgp "):
            continue
        if not CONTEXT.match(line):
            yield from (line,) if line not in old else ()
        elif line not in old or old[line] != below:
            was = old.get(before.get(key(line), ""), {})
            yield from _mode_lines((line,), _changes(was, below))


def _withdrawn(old: Tree, new: Tree) -> Iterator[str]:
    """Yield removals of policies, then of the lists that they used."""
    gone = _removed_lines(old, new)
    for line in gone:
        if line.startswith("vrf "):
            yield from _mode_lines((line,), [f"no {each}" for each in old[line]])
        elif CONTEXT.match(line):
            yield f"no {line}"
    lists = set(map(_whole, new))
    for line in gone:
        if not CONTEXT.match(line) and _whole(line) not in lists:
            yield f"no {line}"


def _removed_lines(old: Tree, new: Tree) -> list[str]:
    """Return removed lines without replacement, except the process and permanent lines."""
    remaining = {key(line) for line in new}
    own = ("router bgp ", "hostname ", "no ")
    return [line for line in old if key(line) not in remaining and not line.startswith(own)]


def _whole(line: str) -> str:
    """Return the list that an entry belongs to; for another line the setting."""
    return key(line).rpartition(" seq ")[0] or key(line)


def _process_lines(old: Tree, new: Tree, process: str | None, other: str | None) -> Iterator[str]:
    if process is not None and process != other:
        yield f"no {process}"
    if other is None:
        return
    before = old[process] if process == other and process is not None else {}
    yield from _bgp(other, before, new[other])


def _bgp(process: str, old: Tree, new: Tree) -> Iterator[str]:
    """Inside the process: removed peers, then changes of remaining peers, then new peers."""
    gone = [
        name for name in _definitions(old) if _definitions(old)[name] != _definitions(new).get(name)
    ]
    yield from _mode_lines((process,), [_forget(name, old) for name in reversed(gone)])
    old = _tree_without(old, set(gone))
    families = [line for line in (*old, *new) if CONTEXT.match(line)]
    plain = ({k: v for k, v in tree.items() if not CONTEXT.match(k)} for tree in (old, new))
    yield from _mode_lines((process,), _changes(*plain))
    for family in dict.fromkeys(families):
        changes = _changes(old.get(family, {}), new.get(family, {}))
        yield from _mode_lines((process, family), changes)


def _definitions(tree: Tree) -> Mapping[str, tuple[str, ...]]:
    """Return groups and peers, with the lines that define them: the group that they join."""
    definitions: dict[str, tuple[str, ...]] = {}
    for line in tree:
        if name := NEIGHBOUR.match(line):
            joins = (line,) if DEFINITION.match(line) else ()
            definitions[name["name"]] = definitions.get(name["name"], ()) + joins
    return definitions


def _forget(name: str, tree: Tree) -> str:
    group = f"neighbor {name} peer-group"
    return f"no {group}" if group in tree else f"no neighbor {name}"


def _tree_without(tree: Tree, names: set[str]) -> Tree:
    tree_left: Tree = {}
    for line, below in tree.items():
        match = NEIGHBOUR.match(line)
        if match is None or match["name"] not in names:
            tree_left[line] = _tree_without(below, names)
    return tree_left


def _changes(old: Iterable[str], new: Iterable[str]) -> list[str]:
    before, after = list(old), list(new)
    intended = {key(line): line for line in after}
    undone = [line for line in before if line not in after]
    lines = [
        _undone(line) for line in undone if key(line) not in intended or NOT_REPLACED.match(line)
    ]
    return lines + [line for line in after if line not in before]


def key(line: str) -> str:
    """Return the setting of a line: lines with the same key replace each other."""
    if match := SINGLE.match(line) or ENTRY.match(line):
        return match["key"]
    if match := POLICY.match(line):
        return f"{match['who']} route-map {match['way']}"
    if match := NODE.match(line):
        return f"{match['name']} {match['node']}"
    return line


def _undone(line: str) -> str:
    if line.startswith("no "):
        return line.removeprefix("no ")
    match = SINGLE.match(line)
    return f"no {match['key'] if match else line}"


def _mode_lines(path: tuple[str, ...], lines: Iterable[str]) -> Iterator[str]:
    """Enter modes, enter the lines, and leave; nothing at all without lines."""
    entered = list(lines)
    if entered or path[-1].startswith("route-map "):
        yield from (*path, *entered, *("exit" for _ in path))


MADE = ("bridge", "bond", "vlan", "vrf")  # kinds that the switch creates; ports come with cables


class SwitchDelta(Frozen):
    """Commands to run inside the switch's namespace, in this order; empty without a difference.

    new_ports, gone_ports: ends of cables by the switch's own names, which the cabling code creates
    before and removes after. lines: configuration lines for each running daemon. start: daemons
    that do not run yet, with their texts. stop: those that are no longer needed.
    """

    name: str
    new_ports: tuple[str, ...] = ()
    sysctls: tuple[tuple[str, str], ...] = ()
    ip: tuple[str, ...] = ()  # lines of `ip -batch`
    nft: str = ""  # one transaction of `nft -f`
    stop: tuple[str, ...] = ()
    start: tuple[tuple[str, str], ...] = ()
    lines: tuple[tuple[str, tuple[str, ...]], ...] = ()
    gone_ports: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do."""
        return self == SwitchDelta(name=self.name)


def delta(old: SwitchPlan, new: SwitchPlan) -> SwitchDelta:
    """Return commands that take a switch from one plan to the other and change nothing else."""
    texts = old.texts
    changes = ((name, line_delta(texts[name], text)) for name, text in new.daemons if name in texts)
    return SwitchDelta(
        name=new.name,
        new_ports=tuple(sorted(new.ports.keys() - old.ports.keys())),
        sysctls=tuple(item for item in new.sysctls if item not in old.sysctls),
        ip=tuple(_link_commands(old, new)),
        nft=_filter_commands(dict(old.chains), dict(new.chains)),
        stop=tuple(name for name in texts if name not in new.texts),
        start=tuple(item for item in new.daemons if item[0] not in texts),
        lines=tuple((name, lines) for name, lines in changes if lines),
        gone_ports=tuple(sorted(old.ports.keys() - new.ports.keys())),
    )


def _link_commands(old: SwitchPlan, new: SwitchPlan) -> Iterator[str]:
    """Remove, create, join, address, bring up: an address may move from one link to another."""
    before, after = old.by_link, new.by_link
    for link in old.links:
        then = after.get(link.name)
        addresses = set(then.addresses) if then is not None else set()
        gone = link.kind != "port" or then is not None  # a removed port takes its own along
        for address in link.addresses if gone else ():
            if address not in addresses:
                yield f"address del {address} dev {link.name}"
    for link in reversed(old.links):
        if link.kind in MADE and _made_anew(link, after.get(link.name)):
            yield f"link del dev {link.name}"
    fresh = [link for link in new.links if _made_anew(link, before.get(link.name))]
    for link in fresh:
        if link.kind in MADE:
            above = f"link {link.parent} " if link.parent else ""
            settings = f" {link.settings}" if link.settings else ""
            yield f"link add {above}name {link.name} type {link.kind}{settings}"
    names = {link.name for link in fresh}
    bonds = {link.name for link in new.links if link.kind == "bond"}
    for link in new.links:
        was = before.get(link.name) if link.name not in names else None
        was = was or LinkState(name=link.name, kind=link.kind, up=False)
        if was.up and link.master in bonds and link.master != was.master:
            yield f"link set dev {link.name} down"  # a bond accepts only links that are down
            was = was.model_copy(update={"up": False})
        yield from _settle(was, link)


def _made_anew(link: LinkState, other: LinkState | None) -> bool:
    """Whether a link has to be created, or created again, compared with the other plan."""
    if other is None:
        return True
    return (link.kind, link.settings, link.parent) != (other.kind, other.settings, other.parent)


def _settle(was: LinkState, link: LinkState) -> Iterator[str]:
    if link.mtu is not None and link.mtu != was.mtu:
        yield f"link set dev {link.name} mtu {link.mtu}"
    if link.master != was.master:
        yield f"link set dev {link.name} " + (
            f"master {link.master}" if link.master else "nomaster"
        )
    for address in link.addresses:
        if address not in was.addresses:
            yield f"address add {address} dev {link.name}"
    if link.up != was.up:
        yield f"link set dev {link.name} {'up' if link.up else 'down'}"


Chains = dict[str, tuple[str, ...]]


def _filter_commands(old: Chains, new: Chains) -> str:
    """Return one transaction; an unchanged chain keeps its counters."""
    if old == new:
        return ""
    if not new:
        return f"delete table {TABLE}\n"
    lines = [f"add table {TABLE}"]
    changed = [name for name, rules in new.items() if old.get(name) != rules]
    for name in changed:
        hook = f" {{ {HOOK} }}" if name == BASE else ""
        lines += [f"add chain {TABLE} {name}{hook}", f"flush chain {TABLE} {name}"]
    for name in changed:
        lines += [f"add rule {TABLE} {name} {rule}" for rule in new[name]]
    lines += [f"delete chain {TABLE} {name}" for name in old if name not in new]
    return "\n".join(lines) + "\n"
