"""Limit of a plan to some switches: the fabric that results must have no new error.

The other switches stay as they are, so the result is neither the fabric before nor the intended
one. It is checked and verified as a whole: two ends of a link that no longer match are an error.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress

from rocefort.documents.suggest import matching_names
from rocefort.errors import Problem, Refused
from rocefort.models.finding import Finding, Report, Severity, new_findings
from rocefort.models.network.network import Network, Sources
from rocefort.models.rollout.plan import PlanLimit
from rocefort.models.wording import count_of
from rocefort.rollout.planning.drain import ServiceDuringRollout
from rocefort.rollout.planning.plan import SwitchConfigs
from rocefort.validators.checks import check
from rocefort.validators.routing.engine import analyse
from rocefort.validators.rules.verification.reachability import verify

Sides = Mapping[str, SwitchConfigs]
OPTION = "--limit"
WORD = re.compile(r"[\w.-]*\w")
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
    before = Report(network=network.name, rules=())
    with suppress(Refused):  # the engine does not model it; then every error counts as new
        before = _verified(fabric.at(frozenset()), sources)
    if problems := list(_problems(network, new_findings(after, before, Severity.ERROR), left_out)):
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
    return check(network, sources).joined(verified)


def _problems(
    network: Network, errors: Sequence[Finding], left_out: Collection[str]
) -> Iterator[Problem]:
    """One problem for each error, with the switches that have to change too."""
    for error in errors[:MOST_SHOWN]:
        others = " ".join(f"{OPTION} {name}" for name in _parties(network, error, left_out))
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
