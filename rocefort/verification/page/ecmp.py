"""ECMP on the report page: next hops, the matrix of leaves, and what each failure costs.

Prefixes that the same leaves announce, and to which every switch has the same next hops, are one
class; so a healthy fabric has one class a leaf, and servers share the class of their subnet.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from rocefort.models.network.network import Network, SwitchRole
from rocefort.models.wording import count_of, listing
from rocefort.reports.page_parts import PageColumn, PageTable, Row
from rocefort.reports.wording import name_ranges
from rocefort.validators.routing_results import FailureEffect, FailureStudy, PairLoss, RoutingState
from rocefort.verification.failures import circles_text, failure_groups, title

OWN_KINDS = ("loopback", "vlanif")  # interface kinds whose networks belong to the leaf
OUTSIDE = -1  # in place of a link that no known cable is, or of a switch that is not known

Links = tuple[int, ...]  # numbers in Network.links, sorted
Table = dict[int, int]  # number of a set of links by number of a switch
Origins = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PrefixGroup:
    """Prefixes of one class, the switches that announce them, and the set of each other switch."""

    prefixes: tuple[IPv4Network, ...]
    origins: Origins
    sets: Mapping[int, int]


@dataclass(frozen=True)
class Paths:
    """Next hops of all switches: switches, links and sets of links go by their numbers."""

    nodes: tuple[str, ...]
    links: tuple[tuple[int, int], ...]
    leaves: tuple[int, ...]
    groups: tuple[PrefixGroup, ...]
    sets: tuple[Links, ...]
    servers: tuple[tuple[int, int, str, tuple[str, ...]], ...]  # leaf, group, subnet, names
    lost: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]  # classes of servers: from, to

    def as_json_value(self) -> dict[str, object]:
        """For the script: of each switch the most frequent set, and the groups that differ."""
        return {
            "nodes": self.nodes,
            "links": self.links,
            "leaves": self.leaves,
            "groups": [[_prefixes_text(group.prefixes), group.origins] for group in self.groups],
            "sets": self.sets,
            "hops": [self._hops(number) for number in range(len(self.nodes))],
            "servers": self.servers,
            "lost": self.lost,
        }

    def _hops(self, node: int) -> tuple[int | None, dict[str, int | None]]:
        found = {
            number: group.sets.get(node)
            for number, group in enumerate(self.groups)
            if node not in group.origins
        }
        most = Counter(found.values()).most_common(1)
        usual = most[0][0] if most else None
        return usual, {str(n): links for n, links in found.items() if links != usual}


def _prefixes_text(prefixes: Sequence[IPv4Network]) -> str:
    more = len(prefixes) - 1
    return f"{prefixes[0]}" + (f" and {more} more" if more else "")


def paths_of(network: Network, state: RoutingState | None) -> Paths | None:
    """Next hops towards all that leaves announce; None without routes or without cabling."""
    if state is None or network.links is None:
        return None
    numbers = {node.name: number for number, node in enumerate(network.nodes)}
    announced = _announced_networks(network, numbers)
    for one in state.reachability.classes:
        if one.leaf in numbers:
            announced.setdefault(one.subnet, {})[numbers[one.leaf]] = None
    sets, tables = _tables(network, state, numbers, announced)
    groups, group_of = _groups(announced, tables)
    known = {one.leaf for one in state.reachability.classes} <= numbers.keys()
    return Paths(
        nodes=tuple(numbers),
        links=tuple(
            (numbers.get(link.a.device, OUTSIDE), numbers.get(link.b.device, OUTSIDE))
            for link in network.links
        ),
        leaves=tuple(numbers[node.name] for node in network.role(SwitchRole.LEAF)),
        groups=groups,
        sets=sets,
        servers=tuple(
            (numbers[one.leaf], group_of[one.subnet], str(one.subnet), one.servers)
            for one in state.reachability.classes
            if known
        ),
        lost=tuple((one.sources, one.destinations) for one in state.reachability.lost if known),
    )


def _announced_networks(
    network: Network, numbers: Mapping[str, int]
) -> dict[IPv4Network, dict[int, None]]:
    """Networks of loopbacks and gateways that leaves bring into BGP, and the leaves.

    Those of exits are for the outside, and may be kept from other leaves on purpose.
    """
    found: dict[IPv4Network, dict[int, None]] = defaultdict(dict)
    for node in network.role(SwitchRole.LEAF):
        own = {
            address.network
            for interface in node.device.interfaces
            if interface.kind in OWN_KINDS
            for address in interface.addresses
        }
        for prefix in node.device.bgp.networks if node.device.bgp else ():
            if prefix in own:
                found[prefix][numbers[node.name]] = None
    return found


def _tables(
    network: Network,
    state: RoutingState,
    numbers: Mapping[str, int],
    required: Mapping[IPv4Network, object],
) -> tuple[tuple[Links, ...], dict[IPv4Network, Table]]:
    """All sets of links, and the set of each switch by prefix."""
    link_of = _links_by_far_address(network)
    sets: dict[Links, int] = {}
    tables: dict[IPv4Network, Table] = {prefix: {} for prefix in required}
    seen: dict[tuple[str, tuple[IPv4Address, ...]], int] = {}
    for route in state.routes:
        table = tables.get(route.prefix)
        number = numbers.get(route.device)
        if table is None or number is None:
            continue
        key = (route.device, route.next_hops)
        if key not in seen:
            hops = (link_of.get((route.device, hop), OUTSIDE) for hop in route.next_hops)
            seen[key] = sets.setdefault(tuple(sorted(hops)), len(sets))
        table[number] = seen[key]
    return tuple(sets), tables


def _links_by_far_address(network: Network) -> dict[tuple[str, IPv4Address], int]:
    """Number of the link that joins a switch with an address of its neighbour."""
    found: dict[tuple[str, IPv4Address], int] = {}
    for number, link in enumerate(network.links or ()):
        for near, far in ((link.a, link.b), (link.b, link.a)):
            interface = network.interface(far)
            for address in interface.addresses if interface else ():
                found[near.device, address.ip] = number
    return found


def _groups(
    announced: Mapping[IPv4Network, Mapping[int, None]], tables: Mapping[IPv4Network, Table]
) -> tuple[tuple[PrefixGroup, ...], dict[IPv4Network, int]]:
    alike: dict[tuple[Origins, tuple[tuple[int, int], ...]], list[IPv4Network]] = {}
    for prefix, origins in announced.items():
        key = tuple(sorted(origins)), tuple(sorted(tables[prefix].items()))
        alike.setdefault(key, []).append(prefix)
    groups = tuple(
        PrefixGroup(tuple(sorted(prefixes)), origins, dict(table))
        for (origins, table), prefixes in alike.items()
    )
    return groups, {prefix: n for n, group in enumerate(groups) for prefix in group.prefixes}


def widths_between(paths: Paths) -> list[Sequence[int | None]]:
    """ECMP width from leaf to leaf, in the order of `leaves`: the least of all their prefixes.

    0: a prefix without a route, or a leaf that announces nothing; None: a leaf and itself, and
    two that announce the same.
    """
    sizes = [len(links) for links in paths.sets]
    of_leaf: dict[int, list[PrefixGroup]] = {leaf: [] for leaf in paths.leaves}
    for group in paths.groups:
        for origin in group.origins:
            of_leaf.get(origin, []).append(group)
    return [[_width(of_leaf[to], leaf, to, sizes) for to in paths.leaves] for leaf in paths.leaves]


def _width(groups: Sequence[PrefixGroup], leaf: int, to: int, sizes: Sequence[int]) -> int | None:
    if leaf == to:
        return None
    if not groups:
        return 0
    found = [
        sizes[group.sets[leaf]] if leaf in group.sets else 0
        for group in groups
        if leaf not in group.origins
    ]
    return min(found, default=None)


MOST_LEAVES = 120  # with a row of their own
MOST_GROUPS = 40
MOST_NAMES = 3  # of a group, as ranges
NOWHERE = 255  # in place of a width: there is none, as from a leaf to itself

WidthRow = Sequence[int | None]


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A row, and column, of the matrix: one leaf, or leaves that fare alike."""

    name: str
    leaves: int
    first: str  # leaf


@dataclass(frozen=True, slots=True)
class Matrix:
    """Widths from each row to each column; words: the whole of it in a sentence."""

    lines: tuple[MatrixRow, ...]
    widths: tuple[tuple[int | None, ...], ...]
    words: str
    note: str = ""

    @property
    def uniform(self) -> bool:
        """Whether all pairs have one width, so that the sentence has all of it."""
        return len({width for row in self.widths for width in row if width is not None}) < 2

    def as_json_value(self) -> dict[str, object]:
        """For the script."""
        lines = [[line.name, line.leaves, line.first] for line in self.lines]
        return {"lines": lines, "widths": self.widths}


def matrix_of(paths: Paths | None) -> Matrix | None:
    """The matrix; None where next hops are not known, or nothing is between leaves."""
    if paths is None or len(paths.leaves) < 2:
        return None
    rows = widths_between(paths)
    names = [paths.nodes[leaf] for leaf in paths.leaves]
    words = _words(rows)
    if len(names) <= MOST_LEAVES:
        lines = tuple(MatrixRow(name, 1, name) for name in names)
        return Matrix(lines, tuple(map(tuple, rows)), words)
    groups = equal_rows(rows)
    shown = groups
    if len(groups) > MOST_GROUPS:
        worst = sorted(groups, key=lambda group: (_least(rows[group[0]]), group))
        shown = sorted(worst[:MOST_GROUPS])
    widths = tuple(tuple(_between(rows, a, b) for b in shown) for a in shown)
    return Matrix(
        tuple(_line([names[leaf] for leaf in group]) for group in shown),
        widths,
        words,
        _note(len(groups), len(shown)),
    )


def _note(groups: int, shown: int) -> str:
    told = f"Leaves that fare alike share a row: {count_of(groups, 'group')}."
    return told if shown == groups else f"{told} Shown are the {shown} with the least width."


def _line(names: Sequence[str]) -> MatrixRow:
    parts = list(name_ranges(names))
    more = f" and {len(parts) - MOST_NAMES} ranges more" if len(parts) > MOST_NAMES else ""
    return MatrixRow(", ".join(parts[:MOST_NAMES]) + more, len(names), names[0])


def _words(rows: Sequence[WidthRow]) -> str:
    """`every leaf reaches every other with width 8`, or how many pairs have which width."""
    count = Counter(width for row in rows for width in row)
    count.pop(None, None)
    if not count:
        return "No leaf announces a prefix that another does not."
    if len(count) == 1:
        (width,) = count
        return f"Every leaf reaches every other with width {width}." if width else "No routes."
    told = (f"{count[width]:,} with width {width}" for width in sorted(count, key=_number))
    return f"Of {count.total():,} ordered pairs of leaves {listing(told)}."


def _number(width: int | None) -> int:
    return NOWHERE if width is None else width


def _least(row: WidthRow) -> int:
    return min(map(_number, row))


def _between(rows: Sequence[WidthRow], a: Sequence[int], b: Sequence[int]) -> int | None:
    """Width from leaves that fare alike to others; among themselves, from the first to the next."""
    if a is not b:
        return rows[a[0]][b[0]]
    return rows[a[0]][a[1]] if len(a) > 1 else None


def equal_rows(rows: Sequence[WidthRow]) -> list[list[int]]:
    """Leaves that have the same width to and from every other leaf, and among themselves.

    Compared one by one only where the sorted widths of row and column are equal.
    """
    ways = [bytes(min(_number(width), NOWHERE) for width in row) for row in rows]
    back = [bytes(column) for column in zip(*ways, strict=True)]
    likely: defaultdict[tuple[bytes, bytes], list[list[int]]] = defaultdict(list)
    for leaf, (row, column) in enumerate(zip(ways, back, strict=True)):
        groups = likely[bytes(sorted(row)), bytes(sorted(column))]
        for group in groups:
            if all(_same(lines, leaf, group[0]) for lines in (ways, back)):
                group.append(leaf)
                break
        else:
            groups.append([leaf])
    return sorted(group for groups in likely.values() for group in groups)


def _same(lines: Sequence[bytes], a: int, b: int) -> bool:
    """Whether two lines are equal but for where they cross each other and themselves."""
    low, high = sorted((a, b))
    one, other = lines[a], lines[b]
    return (
        lines[a][b] == lines[b][a]
        and one[:low] == other[:low]
        and one[low + 1 : high] == other[low + 1 : high]
        and one[high + 1 :] == other[high + 1 :]
    )


MOST_FAILURES, MOST_LOSSES = 3, 6  # named of one row


def failure_table(study: FailureStudy | None, note: str) -> PageTable | None:
    """Return the table; None without a study and without a note."""
    if study is None:
        return PageTable("failures", "Failures", (), (), note) if note else None
    columns = (
        PageColumn("Failure", "prose"),
        PageColumn("Costs", "prose"),
        PageColumn("Pairs lost", "number"),
        PageColumn("Least width left", "number"),
        PageColumn("Lost", "prose"),
        PageColumn("For example", "prose"),
    )
    rows = tuple(_row(who, cost, effects) for who, cost, effects in failure_groups(study))
    note = " ".join(f"{text[0].upper()}{text[1:]}." for text in (title(study), circles_text(study)))
    return PageTable("failures", "Failures", columns, rows, note)


def _row(who: str, cost: str, effects: Sequence[FailureEffect]) -> Row:
    first = effects[0]
    least = min((loss.now for loss in first.widths), default=None)
    return (
        who,
        cost.replace("->", "\N{RIGHTWARDS ARROW}"),  # a line may not break within it
        first.pairs,
        "as before" if least is None else least,
        _losses(first, alone=len(effects) == 1),
        _failure_names([str(effect.failure) for effect in effects]) if effects[1:] else "",
    )


def _losses(effect: FailureEffect, *, alone: bool) -> str:
    """Pairs of leaves between which servers lose each other; of failures that cost alike, one's."""
    if not effect.lost:
        return "none"
    told = [_loss(loss) for loss in effect.lost[:MOST_LOSSES]]
    more = len(effect.lost) - MOST_LOSSES
    words = "; ".join((*told, *([f"and {more} more"] if more > 0 else [])))
    return words if alone else f"for {effect.failure}: {words}"


def _loss(loss: PairLoss) -> str:
    where = f"{loss.source} to {loss.segment} on {loss.destination}"
    return f"{where}, {loss.pairs}: {loss.reason}" if loss.reason else f"{where}, {loss.pairs}"


def _failure_names(failures: Sequence[str]) -> str:
    more = len(failures) - MOST_FAILURES
    return "; ".join(failures[:MOST_FAILURES]) + (f" and {more} more" if more > 0 else "")
