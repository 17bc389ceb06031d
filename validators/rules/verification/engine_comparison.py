"""Comparison of two routing engines: two that share no code give the same answers.

One difference is allowed. Where an arbitrary tie-breaker (router id, age) picks some of several
equal routes, engines may pick different ones, and only the number of picked routes is compared. A
limit of two or more paths is not in Batfish's model (it installs all), so its rows are cut to the
limit first.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.models.finding import Finding, Severity
from rocefort.validators.rules.registry import rule
from rocefort.validators.rules.verification.engine_difference import EngineDifference


@rule(
    "BGP104",
    judges=EngineDifference,
    severity=Severity.ERROR,
    source="a choice: two engines that share no code check each other",
)
def engines_agree(difference: EngineDifference) -> Iterator[Finding]:
    """The engines give the same answers.

    The embedded engine and Batfish answer the same question differently, so one of the two is wrong
    about this fabric. Trust the answers of neither until the wrong one is known. Where a tie
    between equal routes is broken arbitrarily, only the number of chosen routes is compared.

    Example: the engines disagree: session of leaf1 with 172.16.0.0: embedded reports established,
    batfish reports not-established (and 1 more session)
    Fix: Report it with both answers.
    """
    yield difference.finding
