"""Impact of changed values on traffic: lossless values and BGP passwords, with safe steps."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rocefort.change.advice.drain_steps import (
    DrainStudy,
    apply_steps,
    drain_steps,
    drain_unconfirmed,
    names_of,
    typed,
)
from rocefort.change.results import Advice, AdviceKind, AdviceStep, SwitchDifference
from rocefort.dialects.words import in_words, line
from rocefort.models.change.compare import effect_of, put_into_service
from rocefort.models.change.edits import Edit
from rocefort.models.device.routing import Bgp, BgpPeer
from rocefort.models.effect import LosslessTopic
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
        yield _password_advice(sight, before, after, same)


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


def _password_advice(
    sight: DrainStudy, before: str, after: str, ends: Sequence[_SessionEnd]
) -> Advice:
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


XOFF = "interfaces[].thresholds[].xoff_kbytes"
SHARED = (
    "The queues of these ports share them in the new way at once; a lower share of RoCE fills its "
    "buffer sooner."
)
MIXED = (
    "While some switches have the new map and some the old one, RoCE may cross a hop in a queue "
    "without PFC, and lose packets there: change it with RDMA stopped."
)
REFUSED = (
    "A switch may refuse the line while a port is congested (V300R023C00, «PFC thresholds»; taken "
    "to hold for other releases)."
)


@dataclass(frozen=True)
class _Aspect:
    """One group of lossless values: description, impact on traffic, unconfirmed behaviour.

    what: {path} within the port or switch, {name} of the field without its unit, {key} of its row.
    """

    what: str
    traffic: tuple[str, ...]
    unknown: str
    shows: str  # term of the command that displays the value


def _loss(what: str) -> str:
    return f"Whether packets are lost or delayed at the moment {what}: no source states it."


ASPECTS = {
    LosslessTopic.THRESHOLDS: _Aspect(
        "{name} of queue {key}, kbytes",
        (REFUSED,),
        _loss("a PFC threshold changes"),
        "thresholds of ports",
    ),
    LosslessTopic.PORT_PFC: _Aspect(
        "{path}",
        (REFUSED, "Until it has PFC again, a port drops what it cannot hold."),
        _loss("PFC of a port is switched"),
        "thresholds of ports",
    ),
    LosslessTopic.WEIGHTS: _Aspect(
        "DRR weight of queue {key}",
        (SHARED,),
        _loss("weights change"),
        "services of ports",
    ),
    LosslessTopic.QUEUE_ECN: _Aspect(
        "marking of queue {key}",
        ("NICs see other marks at once and settle at other rates.",),
        _loss("a drop profile is exchanged"),
        "thresholds of ECN",
    ),
    LosslessTopic.ECN_THRESHOLDS: _Aspect(
        "{path}",
        ("NICs see other marks at once and settle at other rates.",),
        _loss("a drop profile changes"),
        "drop profiles",
    ),
    LosslessTopic.ECN_MODEL: _Aspect(
        "{path}",
        ("NICs see other marks, as soon as the switch computes by the other model.",),
        _loss("the model changes"),
        "state of AI-ECN",
    ),
    LosslessTopic.PRIORITY_MAP: _Aspect(
        "{path}",
        (MIXED,),
        _loss("a map changes"),
        "domains",
    ),
    LosslessTopic.DEADLOCK_TIMERS: _Aspect(
        "{path}",
        ("Traffic feels it in a deadlock only: what is stuck is let go sooner or later.",),
        _loss("a timer changes"),
        "counters of PFC",
    ),
    LosslessTopic.SWITCH_PFC: _Aspect(
        "{path}",
        ("Other queues are paused, or by other rules, on every port that applies it.",),
        _loss("it changes"),
        "queues of PFC profiles",
    ),
}


@dataclass(frozen=True)
class _LosslessEdit:
    """One edit of a lossless value; port is empty for a value of the whole switch."""

    device: str
    port: str
    what: str
    edit: Edit
    place: str


def values(sight: DrainStudy) -> Iterator[Advice]:
    """One Advice for each lossless topic that changes, then those on passwords."""
    edits: dict[LosslessTopic, list[_LosslessEdit]] = defaultdict(list)
    for switch in sight.change.changed:
        if not switch.facts:  # a replacement gets the whole configuration
            for topic, felt in _lossless_edits(switch):
                edits[topic].append(felt)
    for topic in LosslessTopic:
        if topic in edits:
            yield _advice(sight, topic, edits[topic])
    yield from passwords(sight)


def _lossless_edits(switch: SwitchDifference) -> Iterator[tuple[LosslessTopic, _LosslessEdit]]:
    fresh = put_into_service(switch.change.edits)
    for number, edit in enumerate(switch.change.edits):
        port, path = edit.port_and_rest
        topic = effect_of(edit).topic
        if topic is not None and port not in fresh:
            name = path.rpartition(".")[2].removesuffix("_kbytes")
            key = edit.keys[-1] if edit.keys else ""
            what = ASPECTS[topic].what.format(path=path, name=name, key=key)
            yield topic, _LosslessEdit(switch.device, port, what, edit, switch.places[number].after)


def _advice(sight: DrainStudy, topic: LosslessTopic, felt: Sequence[_LosslessEdit]) -> Advice:
    aspect = ASPECTS[topic]
    devices = list(dict.fromkeys(each.device for each in felt))
    canary = sight.canary if sight.canary in devices else ""
    shown = sight.after.by_name[canary or devices[0]]
    first = f" {canary} takes it first." if canary else ""
    return Advice(
        kind=AdviceKind.LOSSLESS,
        title=f"{topic} of {names_of(devices)}",
        devices=tuple(devices),
        traffic=(*_lines(felt), *_direction(felt), *(in_words(t, shown) for t in aspect.traffic)),
        steps=(
            apply_steps(sight, f"Apply it at a quiet hour; switches differ meanwhile.{first}"),
            AdviceStep(text="Read it back.", on=shown.name, commands=(line(shown, aspect.shows),)),
        ),
        unconfirmed=(aspect.unknown,),
        place=next((p for each in felt if (p := each.place) and not p.startswith("/")), ""),
    )


def _lines(felt: Iterable[_LosslessEdit]) -> Iterator[str]:
    """Lines such as `xoff of queue 4, kbytes: 600 -> 640 on 44 ports of leaf01 to leaf08`."""
    alike: dict[tuple[str, str, str], list[_LosslessEdit]] = defaultdict(list)
    for each in felt:
        before, after = (
            text or "as by default" for text in (each.edit.before_text, each.edit.after_text)
        )
        alike[each.what, before, after].append(each)
    for (what, before, after), same in alike.items():
        ports = len({(each.device, each.port) for each in same if each.port})
        of = names_of(dict.fromkeys(each.device for each in same))
        where = f"on {count_of(ports, 'port')} of {of}" if ports else f"on {of}"
        yield f"{what}: {before} -> {after} {where}."


def _direction(felt: Iterable[_LosslessEdit]) -> Iterator[str]:
    """Effect of a higher or lower xoff."""
    ways: Counter[bool] = Counter()
    for each in felt:
        before, after = each.edit.before, each.edit.after
        if each.edit.field == XOFF and isinstance(before, int) and isinstance(after, int):
            ways[after > before] += 1
    if ways[True]:
        yield (
            "A higher xoff pauses the neighbour later and leaves less of the buffer to headroom: "
            "the rules BUF and PFC judge whether enough is left (see Findings)."
        )
    if ways[False]:
        yield "A lower xoff pauses the neighbour sooner: a burst gets less through."
