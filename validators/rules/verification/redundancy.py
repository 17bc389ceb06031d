"""Rules on redundancy that a change removes: two versions, and the failures studied of both.

What a fabric has never had is not lost: a fabric with one spine from the beginning passes.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.models.finding import Severity
from rocefort.models.network.network import Network, SwitchRole
from rocefort.models.wording import count_of, listing
from rocefort.validators.routing.underlay import DevicePlace
from rocefort.validators.routing_results import Failure, FailureEffect, FailureStudy
from rocefort.validators.rules.missing import Missing, Need
from rocefort.validators.rules.registry import Verdict, rule
from rocefort.validators.rules.verification.subject import (
    RedundancySubject,
)

LeafPair = tuple[str, str]  # two leaves, in one direction
CHOICE = "a choice: a change removes no redundancy by mistake"
EVERY_SINGLE = Missing(
    "the effect of every single failure", run="rocefort verify FABRIC --failures single"
)


def _leaves(network: Network) -> tuple[str, ...]:
    return tuple(node.name for node in network.role(SwitchRole.LEAF))


def _every_single(study: FailureStudy | None) -> bool:
    """Whether a study has every single failure: neither pairs nor a sample."""
    failures = [effect.failure for effect in study.effects] if study else []
    single = all(len(failure.links) + len(failure.nodes) == 1 for failure in failures)
    return study is not None and study.seed is None and single


def _cut_pairs(effect: FailureEffect, leaves: tuple[str, ...]) -> Iterator[LeafPair]:
    """Pairs of leaves that one failure separates."""
    yield from ((loss.source, loss.destination) for loss in effect.lost)
    for leaf in effect.cut_off:
        others = (other for other in leaves if other != leaf and other not in effect.failure.nodes)
        for other in others:
            yield from ((leaf, other), (other, leaf))


@rule(
    "CHG104",
    judges=RedundancySubject,
    severity=Severity.ERROR,
    source=CHOICE,
    needs=(Need.ROLE, Need.LINKS),
)
def lone_spine(subject: RedundancySubject) -> Iterator[Verdict]:
    """The change leaves more than one spine where there were several.

    Before the change, every leaf reached the others over several spines; after it, every path
    crosses one spine. Its failure, and its maintenance, separate all leaves. A fabric that had one
    spine before does not fail this rule.

    Example: the change removes all spine redundancy: spine2 goes, and the loss of spine1 cuts 2 of
    2 leaf pairs
    Fix: Keep a second spine, or accept the loss with a waiver until the next one is cabled.
    """
    gone = subject.removed_spines
    if not gone:
        return
    spine = next(spine for up in subject.uplinks[1].values() for spine in up)
    study, leaves = subject.studies[1], _leaves(subject.network)
    effects = study.effects if study else ()
    lost = next((e for e in effects if e.failure == Failure(nodes=(spine,))), None)
    cuts = "separates all leaves"
    if lost is not None:
        pairs = len(leaves) * (len(leaves) - 1)
        cuts = f"cuts {len(set(_cut_pairs(lost, leaves)))} of {count_of(pairs, 'leaf pair')}"
    message = f"the change removes all spine redundancy: {listing(sorted(gone))} "
    message += f"{'go' if gone[1:] else 'goes'}, and the loss of {spine} {cuts}"
    hint = "keep a second spine, or accept the loss with a waiver"
    yield subject.at(DevicePlace(spine), message, hint)


@rule(
    "CHG105",
    judges=RedundancySubject,
    severity=Severity.ERROR,
    source=CHOICE,
    needs=(Need.ROLE, Need.LINKS),
)
def lone_uplink(subject: RedundancySubject) -> Iterator[Verdict]:
    """The change leaves no leaf with one uplink or one spine.

    Before the change, the leaf had several uplinks, or uplinks to several spines; now the failure
    of one cable or of one spine cuts it off, with all its servers. If the fabric as a whole has one
    spine left, CHG104 reports it instead.

    Example: the change leaves leaf2 its one uplink to spine1, instead of uplinks to spine1 and
    spine2: the loss of spine1 cuts it off
    Fix: Keep an uplink to a second spine, or accept the loss with a waiver.
    """
    for leaf, message in subject.narrowed.items():
        hint = "keep an uplink to a second spine, or accept the loss with a waiver"
        yield subject.at(DevicePlace(leaf), message, hint)


@rule(
    "CHG106",
    judges=RedundancySubject,
    severity=Severity.ERROR,
    source=CHOICE,
    needs=(Need.SERVERS,),
)
def lone_port(subject: RedundancySubject) -> Iterator[Verdict]:
    """The change leaves no server with one port that had several.

    The server had a bond of several ports, and one of them could fail. Now the failure of one
    cable, port or module ends its service.

    Example: the change leaves srv1-1 1 port of 2: the loss of leaf1 25GE1/0/1 ends its service
    Fix: Keep the bond, or accept the loss with a waiver.
    """
    was = {server.name: server for server in subject.before.servers or ()}
    for server in subject.servers:
        earlier = was.get(server.name, server)
        if len(earlier.ports) > 1 and len(server.ports) == 1:
            message = f"the change leaves {server.name} 1 port of {len(earlier.ports)}: the loss "
            message += f"of {server.ports[0]} ends its service"
            hint = "keep the bond, or accept the loss with a waiver"
            yield subject.at(subject.port_of(server.name), message, hint)


@rule(
    "CHG107",
    judges=RedundancySubject,
    severity=Severity.ERROR,
    source=CHOICE,
    needs=(Need.ROLE, Need.LINKS),
)
def lone_path(subject: RedundancySubject) -> Iterator[Verdict]:
    """Leaf pairs that survived every single failure still do.

    Before the change, no failure of one cable or one switch separated the two leaves; now one
    does, and no cabling is left that avoids it. Pairs of a leaf that CHG105 reports are left out,
    and BGP108 reports pairs that cabling still connects.

    Example: the change removes the redundancy of 2 leaf pairs: the loss of spine2 cuts leaf1 from
    leaf2
    Fix: Keep cables over two spines that both leaves share, or accept the loss with a waiver.
    """
    was, now = subject.studies
    if was is None or now is None or not (_every_single(was) and _every_single(now)):
        reason = "not every single failure of both versions is studied"
        yield subject.not_judged(None, reason, EVERY_SINGLE)
        return
    if subject.removed_spines:
        return
    both = subject.before.by_name.keys() & subject.network.by_name.keys() - subject.narrowed.keys()
    leaves = [_leaves(side) for side in (subject.before, subject.network)]
    seen = {pair for effect in was.effects for pair in _cut_pairs(effect, leaves[0])}
    for effect in sorted(now.effects, key=lambda e: not e.failure.nodes):  # switches first
        missed = [loss for loss in effect.lost if not loss.expected]
        still_cabled = {(loss.source, loss.destination) for loss in missed}
        cut = dict.fromkeys(_cut_pairs(effect, leaves[1]))
        pairs = [p for p in cut if p not in seen | still_cabled and both.issuperset(p)]
        seen.update(pairs)
        if pairs:
            (leaf, other), number = pairs[0], count_of(len(pairs), "leaf pair")
            message = f"the change removes the redundancy of {number}: the loss of "
            message += f"{effect.failure} cuts {leaf} from {other}"
            hint = "keep cables over two spines that both leaves share"
            yield subject.at(DevicePlace(leaf), message, hint)
