"""Change of BGP passwords: affected sessions, isolated leaves, and a safe order of steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocefort.change.advice.drain_steps import (
    DrainStudy,
    apply_steps,
    drain_steps,
    drain_unconfirmed,
    names_of,
    typed,
)
from rocefort.change.results import Advice, AdviceKind, AdviceStep
from rocefort.dialects.words import in_words, line
from rocefort.models.device.routing import Bgp, BgpPeer
from rocefort.models.network.network import Network, Node, SwitchRole
from rocefort.models.wording import count_of
from rocefort.reports.wording import group_items

ENDS = (
    "A session ends with its hold time ({}) if the other end does not have the same password by "
    "then (V300R023C00, «password of peer»)."
)
ONE_END_FIRST = (
    "A rollout changes one end before the other, so `rocefort plan` refuses it while the sessions "
    "are open."
)


@dataclass(frozen=True)
class _SessionEnd:
    """One end of a session, with its old and new means of authentication."""

    device: str
    far: str
    peer: str  # its address
    before: str
    after: str
    place: str


def passwords(sight: DrainStudy) -> Iterator[Advice]:
    """One Advice for all sessions with the same change of password or keychain."""
    ends = list(_ends(sight))
    for (before, after), same in group_items(ends, lambda end: (end.before, end.after)).items():
        yield _advice(sight, before, after, same)


def _ends(sight: DrainStudy) -> Iterator[_SessionEnd]:
    owners = _owners(sight.before)
    for switch in sight.change.changed:
        edits = [e for e in switch.change.edits if e.path.endswith((".password", ".keychain"))]
        was = sight.before.by_name[switch.device].device.bgp
        will = sight.after.by_name[switch.device].device.bgp
        if not edits or switch.facts or was is None or will is None:
            continue
        place = next(
            (
                at.after
                for edit, at in zip(switch.change.edits, switch.places, strict=True)
                if edit in edits and at.after
            ),
            "",
        )
        for peer in was.peers:
            now = will.by_address.get(peer.address)
            old, new = _proof(was, peer), _proof(will, now) if now else ""
            if now and old != new:
                far = owners.get(peer.address, str(peer.address))
                yield _SessionEnd(switch.device, far, str(peer.address), old, new, place)


def _owners(network: Network) -> dict[object, str]:
    return {
        address.ip: node.name
        for node in network.nodes
        for interface in node.device.interfaces
        for address in interface.addresses
    }


def _proof(bgp: Bgp, peer: BgpPeer) -> str:
    """Means of authentication of a session: a reference or a name, never a secret."""
    settings = bgp.settings(peer)
    return settings.password or (f"keychain {settings.keychain}" if settings.keychain else "none")


def _advice(sight: DrainStudy, before: str, after: str, ends: Sequence[_SessionEnd]) -> Advice:
    sessions = Counter(frozenset((end.device, end.far)) for end in ends)
    one_ended = sum(count % 2 for count in sessions.values())
    number = len(ends) - sum(count // 2 for count in sessions.values())
    spines = [
        n for n in sight.before.role(SwitchRole.SPINE) if any(n.name in pair for pair in sessions)
    ]
    cut = list(_cut_off(sight, ends))
    both = "both ends of each" if not one_ended else f"{one_ended} of them at one end only"
    devices = list(dict.fromkeys(end.device for end in ends))
    first = sight.before.by_name[devices[0]]
    bgp = first.device.bgp
    seconds = bgp.settings(bgp.peers[0]).hold_s if bgp and bgp.peers else None
    return Advice(
        kind=AdviceKind.PASSWORD,
        title=f"BGP password: {before} -> {after}",
        devices=tuple(devices),
        traffic=(
            f"{count_of(number, 'session')}, {both}, between {names_of(devices)}.",
            in_words(ENDS.format(f"{seconds} s" if seconds else "by default 180 s"), first),
            *_interim_lines(sight, cut, ends),
            ONE_END_FIRST,
            "This review has references only, nothing of a password.",
        ),
        steps=tuple(_steps(sight, spines, ends, whole=bool(cut))),
        unconfirmed=tuple(_unconfirmed(spines)),
        place=next((end.place for end in ends if end.place), ""),
    )


def _cut_off(sight: DrainStudy, ends: Sequence[_SessionEnd]) -> Iterator[str]:
    """Leaves whose sessions all change."""
    changed = Counter(end.device for end in ends)
    for leaf in sight.before.role(SwitchRole.LEAF):
        bgp = leaf.device.bgp
        if bgp and changed[leaf.name] and changed[leaf.name] == len(bgp.peers):
            yield leaf.name


def _interim_lines(
    sight: DrainStudy, cut: Sequence[str], ends: Sequence[_SessionEnd]
) -> Iterator[str]:
    if cut:
        each = "each of them" if cut[1:] else "it"
        yield (
            f"Every session of {names_of(cut)} changes: between one end and the other {each} has "
            "none, and its servers reach no other leaf."
        )
    changed = Counter(end.device for end in ends)
    alike = group_items(
        (n for n in sight.before.role(SwitchRole.LEAF) if changed[n.name] and n.name not in cut),
        lambda n: (changed[n.name], len(n.device.bgp.peers) if n.device.bgp else 0),
    )
    for (gone, peers), leaves in alike.items():
        keep = "keep" if leaves[1:] else "keeps"
        names = names_of(leaf.name for leaf in leaves)
        yield f"{names} {keep} {peers - gone} of {peers} sessions meanwhile."


def _steps(
    sight: DrainStudy, spines: Sequence[Node], ends: Sequence[_SessionEnd], *, whole: bool
) -> Iterator[AdviceStep]:
    if not spines:
        yield apply_steps(sight, "Apply it, with the other end's owner at hand.")
        return
    spine = spines[0]
    if whole:
        leaf = next((node.name for node in sight.before.role(SwitchRole.LEAF)), "LEAF")
        reference, _, version = ends[0].after.partition(" version ")
        value = f"password: {reference}" + (f", version: {version}" if version else "")
        pinned = f"authentication: {{{value}}}"
        yield AdviceStep(
            text=f"Do not apply this as it is. Change one spine after the other, {spine.name} "
            "first: pin the new password to the links of that spine, one line for each leaf, and "
            "leave routing.authentication as it was; review that.",
            commands=("links:", f"  - {{spine: {spine.name}, leaf: {leaf}, {pinned}}}"),
        )
    yield from drain_steps(spine)
    yield from _closed(sight, spine, [end.peer for end in ends if end.device == spine.name])
    rest = names_of(node.name for node in spines[1:])
    more = f" Then the same with {rest}." if rest else ""
    last = " At last move it to routing.authentication, and take the pins out." if whole else ""
    if more or last:
        yield AdviceStep(text=f"{more}{last}".strip())


def _closed(sight: DrainStudy, spine: Node, peers: Sequence[str]) -> Iterator[AdviceStep]:
    """Steps that change both ends while the sessions of a spine are closed."""
    bgp = spine.device.bgp
    view = line(spine, "BGP of AS", bgp.asn if bgp else "AS")
    groups = [group.name for group in bgp.groups] if bgp else []
    whole = bgp and len(peers) == len(bgp.peers) and groups
    closed = groups if whole else peers
    yield AdviceStep(
        text=f"Close the sessions of {spine.name} on purpose: a rollout does not wait for a "
        "session that was already down.",
        on=spine.name,
        commands=typed(
            spine, [view, *(f" {line(spine, 'a closed session with', who)}" for who in closed)]
        ),
    )
    yield apply_steps(
        sight,
        "Plan, and apply with --allow-unhealthy, for closed sessions are errors: both ends get it. "
        "The plan takes the drain off, too; no session is up yet, so nothing comes.",
    )
    yield AdviceStep(
        text="Open them, and see every one Established.",
        on=spine.name,
        commands=(
            *typed(
                spine, [view, *(f" {line(spine, 'no closed session with', who)}" for who in closed)]
            ),
            line(spine, "state of BGP peers"),
        ),
    )


def _unconfirmed(spines: Sequence[Node]) -> Iterator[str]:
    if spines:
        yield in_words(
            f"«a closed session with: ..» on {spines[0].name} "
            f"({spines[0].software or 'release not known'}): "
            "read in «the vendor's reference», and of no other release.",
            spines[0],
        )
        yield drain_unconfirmed(spines[0])[0]
    yield "Whether a session resets whose password moves from peer to group: no source states it."
