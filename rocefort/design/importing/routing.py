"""Import `routing` of a fabric: AS plan, timers, BFD and authentication of its sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rocefort.base.errors import BadInput
from rocefort.design.importing.assumptions import Data, SwitchText
from rocefort.design.importing.links import ImportedLink
from rocefort.design.importing.secrets import authentication
from rocefort.design.importing.survey import Survey
from rocefort.models.device.bgp import HOLD_S, KEEPALIVE_S, Bfd, Bgp, BgpPeer, BgpSettings
from rocefort.models.fabric.as_numbers import BLOCKS, block_of


class LinkSession(NamedTuple):
    """Session of a link at one of its ends; settings: the effective ones."""

    ends: str
    link: ImportedLink
    bgp: Bgp
    peer: BgpPeer
    settings: BgpSettings


def _sessions(survey: Survey) -> Iterator[LinkSession]:
    """Yield every session of the links, from both ends."""
    for link in survey.links:
        for near, far in ((link.spine, link.leaf), (link.leaf, link.spine)):
            bgp = survey.graph.sources[near.device].device.bgp
            far_addresses = {address.ip for address in far.port.addresses}
            peer = (
                next((peer for peer in bgp.peers if peer.address in far_addresses), None)
                if bgp
                else None
            )
            if bgp is not None and peer is not None:
                ends = f"{near.device} to {far.device}"
                yield LinkSession(ends, link, bgp, peer, bgp.settings(peer))


def routing_of(survey: Survey) -> Data:
    """Return `routing` without pins."""
    notes, routing = survey.notes, _plan(survey)
    own = {s.name: s.device.bgp.maximum_paths for s in survey.switches if s.device.bgp}
    routing["maximum_paths"] = notes.majority("maximum load-balancing", own) or 1
    ends = {session.ends: session.settings for session in _sessions(survey)}
    timers = notes.majority(
        "BGP timers, s",
        {name: (s.keepalive_s or KEEPALIVE_S, s.hold_s or HOLD_S) for name, s in ends.items()},
    )
    routing["keepalive_s"], routing["hold_s"] = timers or (KEEPALIVE_S, HOLD_S)
    enabled = {n: (s.bfd or Bfd()) if s.bfd_enabled else None for n, s in ends.items()}
    if bfd := notes.majority("BFD", enabled):
        routing["bfd"] = bfd.model_dump()
    lent = {session.ends: _lent(session) for session in _sessions(survey)}
    if password := notes.majority("BGP passwords", lent):
        routing["authentication"] = authentication(password, "BGP", notes)
    return routing


def _lent(session: LinkSession) -> str | None:
    """Return the password of a session's group; without a group its own."""
    groups = session.bgp.groups
    if not groups:
        return session.settings.password
    return next((group.password for group in groups if group.password), None)


def own_passwords(survey: Survey) -> dict[tuple[str, str, int], Data]:
    """Return authentication of single links: peers with a group and a password of their own."""
    passwords: dict[tuple[str, str, int], Data] = {}
    for _, link, _, peer, _ in _sessions(survey):
        key = link.spine.device, link.leaf.device, link.number
        if peer.password and peer.group and key not in passwords:
            name = f"BGP_{link.spine.device}_{link.leaf.device}"
            passwords[key] = authentication(peer.password, name, survey.notes)
    return passwords


def asn_of(source: SwitchText) -> int:
    """Return the AS number of a switch; raises BadInput without BGP."""
    if source.device.bgp is None:
        raise BadInput(f"{source.name} has no BGP", file=source.file)
    return source.device.bgp.asn


def _plan(survey: Survey) -> Data:
    """Return the AS plan by ids that needs the fewest pins.

    Leaves can mix AS paths although all spines have one AS. Then later spines will have other ones.
    """
    roles, capacity = survey.roles, survey.capacity
    spines = {survey.ids[s.name]: asn_of(s) for s in roles.spines}
    leaves = {survey.ids[s.name]: asn_of(s) for s in roles.leaves}
    base = _base(spines, {*leaves.values()}, capacity.spines)
    each = all(asn == base + number for number, asn in spines.items())
    if len({*spines.values()}) == 1:
        relaxed, outside = (
            any(s.device.bgp and s.device.bgp.as_path_relax for s in members)
            for members in (roles.leaves, roles.spines)
        )
        each = relaxed and not outside
    shared = Counter(spines.values()).most_common(1)[0][0]
    plan: Data = {"spine_asn": base, "spine_asns": "each"} if each else {"spine_asn": shared}
    reserved = {*range(base + 1, base + capacity.spines + 1)} if each else {shared}
    return {**plan, "leaf_asn_base": _base(leaves, reserved | {*spines.values()}, capacity.leaves)}


def _base(asns: Mapping[int, int], taken: set[int], count: int) -> int:
    """Return the base of most AS numbers, by id; else the first of the last private block.

    None of the `count` numbers above it is in use by another switch or id.
    """
    block = BLOCKS[-1]
    common = Counter(asn - number for number, asn in asns.items()).most_common(1)[0][0]
    used = {asn for asn in {*asns.values()} | taken if block.first <= asn <= block.last}
    spare = [block.first - 1, *sorted(used)]
    for base in (common, *spare):
        others = taken | {asn for number, asn in asns.items() if asn != base + number}
        kind = block_of(base + 1) if base >= 1 else None
        if kind and base + count <= kind.last and not others & {*range(base + 1, base + count + 1)}:
            return base
    return spare[0]
