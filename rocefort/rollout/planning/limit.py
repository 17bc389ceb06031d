"""Limit of a plan to some switches: the fabric that results must have no new error.

The other switches stay as they are, so the result is neither the fabric before nor the intended
one. It is checked and verified as a whole: two ends of a link that no longer match are an error.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain

from rocefort.base.documents.suggest import matching_names
from rocefort.base.errors import Problem, Refused
from rocefort.change.effects.drain import ServiceDuringRollout
from rocefort.change.effects.switch_configs import SwitchConfigs
from rocefort.models.change.plan import PlanLimit
from rocefort.models.device.lossless_queue import DSCPS, QUEUES
from rocefort.models.finding import Finding, Report, Severity, new_findings
from rocefort.models.network.network import Network, Node, Sources
from rocefort.models.wording import count_of
from rocefort.validators.checks import check, rules
from rocefort.validators.facts.priorities import queue_of_dscp
from rocefort.validators.facts.roce_ports import paused_queues
from rocefort.validators.routing.engine import analyse
from rocefort.validators.rules.verification.answers import verify

Sides = Mapping[str, SwitchConfigs]
OPTION = "--limit"
WORD = re.compile(r"(?<![\w.-])[\w.-]*\w")
MOST_SHOWN = 6  # errors of one refusal


def limited_to(patterns: Sequence[str], sides: Sides) -> Sides:
    """Return the switches that a plan may change; raises BadInput for a pattern without any."""
    if not patterns:
        return sides
    names = matching_names(OPTION, patterns, sides, "matches no switch: {!r}")
    return {name: sides[name] for name in names}


def limit_of(
    patterns: Sequence[str], network: Network, sources: Sources, sides: Sides, chosen: Sides
) -> PlanLimit | None:
    """Limit of a plan; None without patterns.

    Raises Refused with every new error of the fabric that results.
    """
    if not patterns:
        return None
    left_out = [n for n, each in sides.items() if n not in chosen and not each.whole.empty]
    if not left_out:
        return PlanLimit(switches=tuple(patterns), left_out=())
    fabric = ServiceDuringRollout(network, {name: sides[name].running for name in sides})
    same = [name for name in sides if sides[name].whole.empty]
    after = _verified(fabric.at(frozenset([*chosen, *same])), sources)
    start = fabric.at(frozenset())
    before = Report(network=network.name, rules=())
    with suppress(Refused):  # the engine does not model it; then every error counts as new
        before = _verified(start, sources)
    moved = {e.rule for e in _errors(before) if e.where.device in chosen}
    split = _split_by_intent(start, sources, _errors(after), moved)
    problems = [
        *_problems(network, new_findings(after, before, Severity.ERROR), left_out),
        *_split_problems(split),
    ]
    if problems:
        raise Refused(problems=problems)
    warnings = new_findings(after, before, Severity.WARNING)
    return PlanLimit(
        switches=tuple(patterns),
        left_out=tuple(left_out),
        warnings=tuple(f"{each.rule} {each.where.device}: {each.message}" for each in warnings),
    )


def _verified(network: Network, sources: Sources) -> Report:
    solution = analyse(network, sources)
    verified = verify(network, solution.state, sources, solution)
    shipped = [rule for rule in rules() if not rule.of_site]  # as `apply`, which makes it again
    return check(network, sources, run=shipped).joined(verified)


def _errors(report: Report) -> list[Finding]:
    return [finding for finding in report.findings if finding.severity is Severity.ERROR]


def _split_by_intent(
    start: Network, sources: Sources, errors: Iterable[Finding], moved: Collection[str]
) -> list[Finding]:
    """Errors of switches that agreed with the plan's switches and no longer do.

    If the queue or a DSCP of RoCE changes, all switches contradict the new intent before the plan,
    so none of these errors is new. But the switches agree on the running values: an error that
    they do not have by these values is new. moved: rules that the plan's switches violate before.
    """
    running = _as_lossless_runs(start)
    ran = [rule for rule in rules() if rule.id in moved and not rule.of_site]
    if running == start or not ran:
        return []
    agreed = check(running, sources, run=ran)
    own = {_rule_and_port(error) for error in _errors(agreed)}
    judged = set(agreed.rules)
    return [error for error in errors if error.rule in judged and _rule_and_port(error) not in own]


def _rule_and_port(error: Finding) -> tuple[str, str | None, str | None]:
    return error.rule, error.where.device, error.where.interface


def _as_lossless_runs(start: Network) -> Network:
    """Network that intends the queue and DSCPs of RoCE that most switches run.

    If the intended value is among the most frequent ones, it stays.
    """
    intent = start.lossless
    if intent is None:
        return start
    queue = _most_frequent(chain.from_iterable(map(paused_queues, start.nodes)), intent.queue)
    roce = (d for node in start.nodes for d in _dscps(node, {queue}))
    cnp = (d for node in start.nodes for d in _dscps(node, {*QUEUES} - _delaying(node)))
    values = {
        "queue": queue,
        "roce_dscp": _most_frequent(roce, intent.roce_dscp),
        "cnp_dscp": _most_frequent(cnp, intent.cnp_dscp),
    }
    own = {name: each.model_copy(update=values) for name, each in start.own_lossless.items()}
    lossless = intent.model_copy(update=values)
    return start.model_copy(update={"lossless": lossless, "own_lossless": own})


def _dscps(node: Node, queues: Collection[int]) -> Iterator[int]:
    """DSCPs that a switch puts into some queues."""
    for domain in node.device.domains:
        yield from (dscp for dscp in DSCPS if queue_of_dscp(domain, dscp) in queues)


def _delaying(node: Node) -> frozenset[int]:
    """Queues in which a CNP would wait: paused ones, and those served by weight."""
    weighted = (row.queue for interface in node.device.interfaces for row in interface.drr)
    return paused_queues(node).union(weighted)


def _most_frequent(values: Iterable[int], intended: int) -> int:
    counts = Counter(values)
    return max([intended, *sorted(counts)], key=lambda value: counts[value])


def _split_problems(errors: Iterable[Finding]) -> Iterator[Problem]:
    """One problem for each rule, with every switch that has to change too."""
    by_rule: dict[str, list[Finding]] = {}
    for error in errors:
        by_rule.setdefault(error.rule, []).append(error)
    for rule, same in by_rule.items():
        first, names = same[0], list(dict.fromkeys(str(each.where.device) for each in same))
        others = f" (and on {count_of(len(names) - 1, 'other switch')})" if names[1:] else ""
        yield Problem(
            str(first.where),
            f"this plan's switches would no longer agree with it: {rule} {first.message}{others}",
            f"add {_options(names)}, or plan without {OPTION}",
        )


def _options(names: Iterable[str]) -> str:
    return " ".join(f"{OPTION} {name}" for name in names)


def _problems(
    network: Network, errors: Sequence[Finding], left_out: Collection[str]
) -> Iterator[Problem]:
    """One problem for each error, with the switches that have to change too."""
    for error in errors[:MOST_SHOWN]:
        others = _options(_parties(network, error, left_out))
        how = f"add {others}, or plan without {OPTION}" if others else f"plan without {OPTION}"
        what = f"the fabric with only this plan's switches changed has an error: {error.rule}"
        yield Problem(str(error.where), f"{what} {error.message}", how)
    if (more := len(errors) - MOST_SHOWN) > 0:
        yield Problem("", f"{count_of(more, 'error')} more of the fabric that results")


def _parties(network: Network, error: Finding, left_out: Collection[str]) -> list[str]:
    """Switches of an error that the plan leaves out: its place, the far end, names in its text."""
    device, interface = error.where.device, error.where.interface
    ends = {
        end.device
        for link in network.links or ()
        if (device, interface) in {(e.device, e.interface) for e in (link.a, link.b)}
        for end in (link.a, link.b)
    }
    words = {device, *ends, *WORD.findall(error.message)}
    return [name for name in left_out if name in words]
