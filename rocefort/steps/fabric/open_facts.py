"""Acceptance list for a first real switch: the unconfirmed facts on a fabric's switches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rocefort.design.load.hardware_catalogue import load_catalogue
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.open_facts import SPLIT, Concern, OpenFact, OpenFacts, of_family, of_hardware
from rocefort.emulator.switch.personality import OPEN_POINTS
from rocefort.models.hardware.hardware import Family, Hardware
from rocefort.models.network.network import Node
from rocefort.steps.fabric.subject import subject_of

ANY_RELEASE = "any release"


def open_facts(fabric: Path) -> OpenFacts:
    """Unconfirmed facts on a fabric's switches, limited to those that their configurations use."""
    network = subject_of(fabric, None).network
    # Families of one name differ by what switches of their models and releases answered.
    families = dict.fromkeys(node.family for node in network.nodes if node.family)
    models = {node.hardware.model: node.hardware for node in network.nodes if node.hardware}
    return OpenFacts(
        name=network.name,
        switches=len(network.nodes),
        facts=(
            *_of_trials(tuple(node.name for node in network.nodes)),
            *_once(fact for each in families for fact in _of_family(each, network.nodes)),
            *(fact for each in models.values() for fact in _of_model(each, network.nodes)),
        ),
    )


def _once(facts: Iterable[OpenFact]) -> list[OpenFact]:
    """Return each fact once, with all switches that it concerns, ordered by family."""
    used: dict[OpenFact, tuple[str, ...]] = {}
    for fact in facts:
        bare = fact.model_copy(update={"used": ()})
        used[bare] = (*used.get(bare, ()), *fact.used)
    once = [fact.model_copy(update={"used": names}) for fact, names in used.items()]
    return sorted(once, key=lambda fact: [each.of for each in once].index(fact.of))


def every_open_fact() -> OpenFacts:
    """Unconfirmed facts on all syntax families and switch models of the hardware data."""
    catalogue = load_catalogue()
    models = {each.model: each for each in catalogue.hardware.values()}
    facts = [*_of_trials(())]
    for name, family in catalogue.families.items():
        own = (m for m, each in models.items() if name in {r.family for r in each.releases})
        used = {"used": tuple(own)}
        facts += [fact.model_copy(update=used) for fact, _ in of_family(family)]
    for model, hardware in models.items():
        facts += [fact.model_copy(update={"used": (model,)}) for fact in of_hardware(hardware)]
    return OpenFacts(name="all hardware data", facts=tuple(facts))


def _of_trials(names: tuple[str, ...]) -> Iterator[OpenFact]:
    for point in OPEN_POINTS.values():
        yield OpenFact(of=ANY_RELEASE, fact=point.question, ask=point.ask, used=names)


def _of_family(family: Family, nodes: Sequence[Node]) -> Iterator[OpenFact]:
    own = [node for node in nodes if node.family == family]
    for fact, concern in of_family(family):
        names = tuple(node.name for node in own if _matters(concern, node))
        if names:
            yield fact.model_copy(update={"used": names})


def _matters(concern: Concern, node: Node) -> bool:
    if not concern.command:
        return True
    in_use = dialect_of(node).in_use(concern.command, node.device)
    return not concern.surely if in_use is None else in_use


def _of_model(hardware: Hardware, nodes: Sequence[Node]) -> Iterator[OpenFact]:
    """Unconfirmed facts on a model; those on port splits apply only where a port is split."""
    own = [node for node in nodes if node.hardware == hardware]
    split = tuple(node.name for node in own if node.device.splits)
    for fact in of_hardware(hardware):
        names = split if fact.ask.startswith(SPLIT) else tuple(node.name for node in own)
        if names:
            yield fact.model_copy(update={"used": names})
