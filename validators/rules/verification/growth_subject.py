"""Proof that growth only adds, with its findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from rocefort.dialects.choose import dialect_of
from rocefort.models.base import Frozen
from rocefort.models.change.compare import compare, effect_of
from rocefort.models.change.edits import Edit
from rocefort.models.device.device import EFFECTS
from rocefort.models.finding import Finding
from rocefort.models.network.network import Network, Node, Sources
from rocefort.validators.facts.overview import Overview
from rocefort.validators.rules.registry import Subject, registered
from rocefort.validators.rules.verification.answers import TWO_VERSIONS

# Reasons why growth changes an existing field.
REASONS = {"bgp.as_path_relax": "paths over spines of different AS numbers take it"}
GROWS = tuple(effect.grows for effect in EFFECTS.values() if effect.grows)
Line = tuple[tuple[str, ...], str]  # the views around a line, and the line


@dataclass(frozen=True)
class AdditiveChange:
    """Switch of both versions, with its edits and its lines in both."""

    was: Node
    will: Node
    edits: tuple[Edit, ...]
    lines: tuple[Sequence[Line], Sequence[Line]]


@dataclass(frozen=True)
class GrowthSubject(Subject):
    """Network after growth, and the network before."""

    before: Network
    steps: Sequence[AdditiveChange]

    given: ClassVar[str] = TWO_VERSIONS
    waivable: ClassVar[bool] = False


def prove(
    before: Network, after: Network, old: Mapping[str, str], new: Mapping[str, str]
) -> tuple[Proof, tuple[Finding, ...]]:
    """Proof of what stays and what is added, with its findings; old, new: text by switch."""
    steps = [
        _step(node, after.by_name[node.name], old[node.name], new[node.name])
        for node in before.nodes
        if node.name in after.by_name
    ]
    overview = Overview(after, Sources())
    subjects = (GrowthSubject(overview, one, before, steps) for one in registered(GrowthSubject))
    verdicts = chain.from_iterable(subject.verdicts() for subject in subjects)
    additions = Counter(word for step in steps for edit in step.edits if (word := allowed(edit)))
    lines = [sum(len(step.lines[side]) for step in steps) for side in (0, 1)]
    proof = Proof(
        switches=len(before.nodes),
        lines=lines[0],
        lines_added=lines[1] - lines[0],
        kept=tuple(Addition(what=what, number=number) for what, number in kept_parts(before)),
        additions=tuple(
            Addition(what=word, number=additions[word]) for word in GROWS if additions[word]
        ),
    )
    return proof, tuple(verdict for verdict in verdicts if isinstance(verdict, Finding))


def _step(was: Node, will: Node, old: str, new: str) -> AdditiveChange:
    lines = dialect_of(was).lines
    return AdditiveChange(
        was, will, tuple(compare(was.device, will.device)), (lines(old), lines(new))
    )


def allowed(edit: Edit) -> str:
    """Kind of addition by an edit, in a word; empty if growth does not allow the edit."""
    return effect_of(edit).grows if edit.before is None else ""


def kept_parts(network: Network) -> Iterator[tuple[str, int]]:
    """Parts of a network that growth keeps: the word for each kind, and their number."""
    devices = [node.device for node in network.nodes]
    interfaces = [interface for device in devices for interface in device.interfaces]
    yield "address", sum(len(interface.addresses) for interface in interfaces)
    yield "AS number", sum(device.bgp is not None for device in devices)
    yield "port", sum(interface.kind == "ethernet" for interface in interfaces)
    yield "BGP session end", sum(len(device.bgp.peers) for device in devices if device.bgp)
    yield "cable", len(network.links or ())
    yield "server", len(network.servers or ())


class Addition(Frozen):
    """Number of additions of one kind, which the allow-list has."""

    what: str
    number: int


class Proof(Frozen):
    """Counts of what is unchanged on existing switches, and of additions to them."""

    switches: int
    lines: int  # of their configurations: each stays, in its order
    lines_added: int
    kept: tuple[Addition, ...]  # unchanged addresses, AS numbers and so on
    additions: tuple[Addition, ...]
