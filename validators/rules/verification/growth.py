"""Rules on growth: a change may only add allowed lines to existing switches.

Other rules judge one Network; these compare two.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from rocefort.models.finding import Severity
from rocefort.models.network.network import Network, Node
from rocefort.models.wording import count_of
from rocefort.validators.rules.registry import Verdict, rule
from rocefort.validators.rules.verification.growth_subject import REASONS, GrowthSubject, allowed


@rule(
    "CHG201",
    judges=GrowthSubject,
    severity=Severity.ERROR,
    source="a choice: growth changes a running switch only by added lines",
)
def lines_stay(subject: GrowthSubject) -> Iterator[Verdict]:
    """Growth keeps every line of every existing switch, in its order.

    A line of an existing switch is removed, or moves. Growth must not do that, because it would
    remove running configuration and set it again under traffic. The intent has another change
    beside the growth, or a part that cannot grow. No waiver covers this finding.

    Fix: Make that change first, in a rollout of its own.
    """
    for step in subject.steps:
        was, will = step.lines
        rest = iter(will)
        # The first line that no longer follows the lines before it: `in` consumes the rest up to
        # the line.
        gone = next(((views, line) for views, line in was if (views, line) not in rest), None)
        if gone:
            shown = " / ".join((*gone[0], gone[1]))
            yield subject.finding(step.was, f"its line `{shown}` is removed, or moves", "")


@rule(
    "CHG202",
    judges=GrowthSubject,
    severity=Severity.ERROR,
    source="a choice: the allow-list of growth",
)
def only_growth(subject: GrowthSubject) -> Iterator[Verdict]:
    """Growth adds only interfaces, peers and list members to existing switches.

    For new switches, an existing switch may get interfaces, BGP peers, announced prefixes and
    members of prefix lists. The finding names any other change with its old and new value. No
    waiver covers it.

    Example: vlans[999] changes from nothing to 999, which is no growth
    Fix: Make that change first, in a rollout of its own.
    """
    for step in subject.steps:
        for edit in step.edits:
            if not allowed(edit):
                was, will = (text or "nothing" for text in (edit.before_text, edit.after_text))
                why = f": {REASONS[edit.field]}" if edit.field in REASONS else ""
                message = f"{edit.path} changes from {was} to {will}, which is no growth{why}"
                yield subject.finding(step.was, message, "")


@rule(
    "CHG203",
    judges=GrowthSubject,
    severity=Severity.ERROR,
    source="a choice: addresses, names and ports are functions of permanent ids",
)
def nothing_moves(subject: GrowthSubject) -> Iterator[Verdict]:
    """Growth moves no address, cable, server or switch.

    A cable, a server, a segment, an exit or a fact of a switch (its id, role, hardware, rack,
    release, management address) has changed. No waiver covers this finding.

    Example: its rack changes from row1 to row9
    Fix: Keep ids, and pin the values that must stay.
    """
    for node in subject.before.nodes:
        if node.name not in subject.network.by_name:
            yield subject.finding(node, "the switch is removed", "")
    for step in subject.steps:
        for message in _changed_facts(step.was, step.will):
            yield subject.finding(step.was, message, "")
    for message in _missing_parts(subject.before, subject.network):
        yield subject.finding(None, message, "")


def _changed_facts(was: Node, will: Node) -> Iterator[str]:
    """Changed facts of a switch that are not in its text."""
    for name in ("id", "role", "software", "rack", "management"):
        a, b = getattr(was, name), getattr(will, name)
        if a != b:
            yield f"its {name} changes from {a} to {b}"
    if was.hardware and will.hardware and was.hardware.model != will.hardware.model:
        yield f"its hardware changes from {was.hardware.model} to {will.hardware.model}"


def _missing_parts(before: Network, after: Network) -> Iterator[str]:
    """Cables, servers, segments and exits that have changed or are missing."""
    was, will = (list(_things(network)) for network in (before, after))
    there = {thing for _, _, thing in will}
    lost: dict[str, list[str]] = {}
    for word, name, thing in was:
        if thing not in there:
            lost.setdefault(word, []).append(name)
    for word, names in lost.items():
        yield f"{count_of(len(names), word)} changed or removed, the first: {names[0]}"


def _things(network: Network) -> Iterator[tuple[str, str, Hashable]]:
    """Kind, name and model of each cable, server, segment and exit."""
    yield from (("cable", f"{link.a} - {link.b}", link) for link in network.links or ())
    yield from (("server", server.name, server) for server in network.servers or ())
    yield from (("gateway", f"{s.name} on {s.leaf}", s) for s in network.segments or ())
    yield from (("exit", exit_.name, exit_) for exit_ in network.exits or ())
