"""`routing` of a fabric: AS plan, timers, BFD and authentication of its sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rocefort.design.importing.graph import Graph, Tip
from rocefort.design.importing.links import Joined
from rocefort.design.importing.notes import Data, Notes, Source
from rocefort.design.importing.roles import Roles
from rocefort.design.importing.secrets import authentication
from rocefort.errors import BadInput
from rocefort.models.as_numbers import BLOCKS, block_of
from rocefort.models.bgp import Bfd, BgpPeer, BgpSettings

KEEPALIVE_S, HOLD_S = 60, 180  # a switch's own (V300R023C00, `timer`)


@dataclass(frozen=True)
class Sessions:
    """Every session of a link, as each of its ends has it."""

    graph: Graph
    links: Sequence[Joined]

    def ends(self) -> Iterable[tuple[str, Joined, BgpPeer, BgpSettings]]:
        """(name for a reader, link, the peer's own lines, what holds)."""
        for link in self.links:
            for near, far in ((link.spine, link.leaf), (link.leaf, link.spine)):
                peer = self.peer(near, far)
                bgp = self.graph.sources[near.device].device.bgp
                if peer is not None and bgp is not None:
                    yield f"{near.device} to {far.device}", link, peer, bgp.settings(peer)

    def peer(self, near: Tip, far: Tip) -> BgpPeer | None:
        """The peer of a link as one end names it."""
        bgp = self.graph.sources[near.device].device.bgp
        known = {address.ip for address in far.port.addresses}
        return next((p for p in bgp.peers if p.address in known), None) if bgp else None


def routing_of(
    sessions: Sessions,
    roles: Roles,
    ids: Mapping[str, int],
    capacity: tuple[int, int],
    notes: Notes,
) -> Data:
    """`routing` without pins; capacity: of spines and leaves."""
    both = [*roles.spines, *roles.leaves]
    found = _plan(roles, ids, capacity)
    paths = notes.agreed(
        "maximum load-balancing", {s.name: s.device.bgp.maximum_paths for s in both if s.device.bgp}
    )
    found["maximum_paths"] = paths or 1
    ends = [(name, settings) for name, _, _, settings in sessions.ends()]
    timers = notes.agreed(
        "BGP timers, s",
        {name: (s.keepalive_s or KEEPALIVE_S, s.hold_s or HOLD_S) for name, s in ends},
    )
    found["keepalive_s"], found["hold_s"] = timers or (KEEPALIVE_S, HOLD_S)
    bfd = notes.agreed("BFD", {n: (s.bfd or Bfd()) if s.bfd_enabled else None for n, s in ends})
    if bfd is not None:
        found["bfd"] = bfd.model_dump()
    lent = notes.agreed("BGP passwords", {n: _lent(sessions, n, s) for n, s in ends})
    if lent:
        found["authentication"] = authentication(lent, "BGP", notes)
    return found


def _lent(sessions: Sessions, end: str, settings: BgpSettings) -> str | None:
    """The password of a session's group; of one without a group its own."""
    source = sessions.graph.sources[end.partition(" ")[0]]
    groups = source.device.bgp.groups if source.device.bgp else ()
    if not groups:
        return settings.password
    return next((group.password for group in groups if group.password), None)


def own_passwords(sessions: Sessions, notes: Notes) -> dict[tuple[str, str, int], Data]:
    """Authentication of single links, where both ends have a group and a password beside it."""
    found: dict[tuple[str, str, int], Data] = {}
    for _, link, peer, _ in sessions.ends():
        key = link.spine.device, link.leaf.device, link.number
        if peer.password and peer.group and key not in found:
            name = f"BGP_{link.spine.device}_{link.leaf.device}"
            found[key] = authentication(peer.password, name, notes)
    return found


def asn_of(source: Source) -> int:
    """Its AS number; every switch of a fabric has one."""
    if source.device.bgp is None:
        raise BadInput(f"{source.name} has no BGP", where=source.file)
    return source.device.bgp.asn


def _plan(roles: Roles, ids: Mapping[str, int], capacity: tuple[int, int]) -> Data:
    """AS numbers by id as far as they are, so that few need a pin."""
    spines = {s.name: asn_of(s) for s in roles.spines}
    leaves = {s.name: asn_of(s) for s in roles.leaves}
    used = {*spines.values(), *leaves.values()}
    found, taken = _spine_plan(roles, spines, ids, used, capacity[0])
    base = Counter(asn - ids[name] for name, asn in leaves.items()).most_common(1)[0][0]
    reserved = {*range(base + 1, base + capacity[1] + 1)}
    pinned = {asn for name, asn in leaves.items() if asn != base + ids[name]} | {*spines.values()}
    if not _usable(base, capacity[1]) or reserved & (taken | pinned):
        base = _free_base(used | taken, capacity[1])
    return {**found, "leaf_asn_base": base}


def _spine_plan(
    roles: Roles, spines: Mapping[str, int], ids: Mapping[str, int], used: set[int], capacity: int
) -> tuple[Data, set[int]]:
    """(how spines are numbered, the numbers that this reserves).

    Leaves that mix AS paths although all spines have one AS are meant for spines that will not.
    """
    relaxed = any(s.device.bgp and s.device.bgp.as_path_relax for s in roles.leaves)
    outside = any(s.device.bgp and s.device.bgp.as_path_relax for s in roles.spines)
    bases = {asn - ids[name] for name, asn in spines.items()}
    base = min(bases)
    numbers = {*range(base + 1, base + capacity + 1)}
    fits = len(bases) == 1 and _usable(base, capacity) and not numbers & (used - {*spines.values()})
    if relaxed and not outside and len({*spines.values()}) == 1:
        base = base if fits else _free_base(used, capacity)
    elif not fits or len(spines) == 1:
        shared = Counter(spines.values()).most_common(1)[0][0]
        return {"spine_asn": shared}, {shared}
    return {"spine_asn": base, "spine_asns": "each"}, {*range(base + 1, base + capacity + 1)}


def _usable(base: int, count: int) -> bool:
    """Whether the numbers above a base are all of one block that switches may use."""
    block = block_of(base + 1) if base >= 1 else None
    return block is not None and base + count <= block.last


def _free_base(used: set[int], count: int) -> int:
    """The first base in the last private block above which nobody has a number."""
    block = BLOCKS[-1]
    bases = [block.first - 1, *sorted(asn for asn in used if block.first <= asn <= block.last)]
    free = (base for base in bases if not used & {*range(base + 1, base + count + 1)})
    return next((base for base in free if _usable(base, count)), bases[0])
