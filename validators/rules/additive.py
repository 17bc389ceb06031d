"""Whether a fabric has grown and nothing else: what a change may add to switches that are there.

CHG201  every line of every switch that is there stays, in its order
CHG202  a switch that is there gets only what growth may add: interfaces, peers, list members
CHG203  addresses, cables, servers and switches that are there stay as they are

The rules of a fabric look at one Network; these look at two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from rocefort.dialects.choose import dialect_of
from rocefort.models.compare import compare, effect_of
from rocefort.models.device import EFFECTS
from rocefort.models.edit import Edit
from rocefort.models.finding import Finding, Severity, Where
from rocefort.models.growth import Addition, Proof
from rocefort.models.network import Network, Node
from rocefort.models.wording import counted

LINE_LOST, NOT_ALLOWED, VALUE_MOVED = "CHG201", "CHG202", "CHG203"
TITLES = {
    LINE_LOST: "Growth leaves every line of every existing switch, in its order",
    NOT_ALLOWED: "Growth adds only interfaces, peers and list members to existing switches",
    VALUE_MOVED: "Growth moves no address, cable, server or switch",
}
# Why a growth may touch what is there, where a field tells.
REASONS = {"bgp.as_path_relax": "paths over spines of different AS numbers take it"}
GROWS = tuple(effect.grows for effect in EFFECTS.values() if effect.grows)
Line = tuple[tuple[str, ...], str]  # the views around a line, and the line


def prove(
    before: Network, after: Network, old: Mapping[str, str], new: Mapping[str, str]
) -> tuple[Proof, tuple[Finding, ...]]:
    """What stays and what comes, and what is wrong with it; old, new: text by switch."""
    findings: list[Finding] = []
    additions: Counter[str] = Counter()
    lines = added = 0
    for node in before.nodes:
        later = after.by_name.get(node.name)
        if later is None:
            findings.append(_finding(VALUE_MOVED, node.name, "is gone"))
            continue
        edits = compare(node.device, later.device)
        findings += _not_allowed(node.name, edits)
        additions.update(word for edit in edits if (word := _allowed(edit)))
        dialect = dialect_of(node.family)
        was, will = (dialect.lines(texts[node.name]) for texts in (old, new))
        findings += _lost(node.name, was, will)
        findings += _moved(node, later)
        lines, added = lines + len(was), added + len(will) - len(was)
    findings += _gone(before, after)
    proof = Proof(
        switches=len(before.nodes),
        lines=lines,
        lines_added=added,
        kept=tuple(Addition(what=what, number=number) for what, number in _kept(before)),
        additions=tuple(
            Addition(what=word, number=additions[word]) for word in GROWS if additions[word]
        ),
    )
    return proof, tuple(findings)


def _finding(rule: str, device: str | None, message: str) -> Finding:
    return Finding(rule=rule, severity=Severity.ERROR, where=Where(device=device), message=message)


def _allowed(edit: Edit) -> str:
    """What growth may add as an edit does, in a word; empty for what it may not."""
    return effect_of(edit).grows if edit.before is None else ""


def _not_allowed(device: str, edits: Iterable[Edit]) -> Iterator[Finding]:
    for edit in edits:
        if not _allowed(edit):
            was, will = (text or "nothing" for text in (edit.before_text, edit.after_text))
            message = f"{edit.path} changes from {was} to {will}, which is no growth{_why(edit)}"
            yield _finding(NOT_ALLOWED, device, message)


def _why(edit: Edit) -> str:
    why = REASONS.get(edit.field)
    return f": {why}" if why else ""


def _lost(device: str, was: Sequence[Line], will: Sequence[Line]) -> Iterator[Finding]:
    """The first line that is not there any more behind those that were before it."""
    rest = iter(will)
    for views, line in was:
        if (views, line) not in rest:  # takes from `rest` up to the line
            shown = " / ".join((*views, line))
            yield _finding(LINE_LOST, device, f"its line `{shown}` goes, or moves")
            return


def _moved(was: Node, will: Node) -> Iterator[Finding]:
    """Facts of a switch that its text does not tell."""
    for name in ("id", "role", "software", "rack", "management"):
        a, b = getattr(was, name), getattr(will, name)
        if a != b:
            yield _finding(VALUE_MOVED, was.name, f"its {name} changes from {a} to {b}")
    if was.hardware and will.hardware and was.hardware.model != will.hardware.model:
        models = f"{was.hardware.model} to {will.hardware.model}"
        yield _finding(VALUE_MOVED, was.name, f"its hardware changes from {models}")


def _gone(before: Network, after: Network) -> Iterator[Finding]:
    """Cables, servers, segments and exits: each stays as it is."""
    was, will = (list(_things(network)) for network in (before, after))
    there = {thing for _, _, thing in will}
    lost: dict[str, list[str]] = {}
    for word, name, thing in was:
        if thing not in there:
            lost.setdefault(word, []).append(name)
    for word, names in lost.items():
        message = f"{counted(len(names), word)} not as before, the first: {names[0]}"
        yield _finding(VALUE_MOVED, None, message)


def _things(network: Network) -> Iterator[tuple[str, str, Hashable]]:
    """What it is, its name, and all that is known of it."""
    yield from (("cable", f"{link.a} - {link.b}", link) for link in network.links or ())
    yield from (("server", server.name, server) for server in network.servers or ())
    yield from (("gateway", f"{s.name} on {s.leaf}", s) for s in network.segments or ())
    yield from (("exit", exit_.name, exit_) for exit_ in network.exits or ())


def _kept(network: Network) -> Iterator[tuple[str, int]]:
    devices = [node.device for node in network.nodes]
    interfaces = [interface for device in devices for interface in device.interfaces]
    yield "address", sum(len(interface.addresses) for interface in interfaces)
    yield "AS number", sum(device.bgp is not None for device in devices)
    yield "port", sum(interface.kind == "ethernet" for interface in interfaces)
    yield "BGP session end", sum(len(device.bgp.peers) for device in devices if device.bgp)
    yield "cable", len(network.links or ())
    yield "server", len(network.servers or ())
