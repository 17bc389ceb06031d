"""The failure table of the report page: which failure costs which pairs, or which width."""

from __future__ import annotations

from collections.abc import Sequence

from rocefort.reports.page_parts import PageColumn, PageTable, Row
from rocefort.validators.routing_results import FailureEffect, FailureStudy, PairLoss
from rocefort.verification.failures import circles_text, failure_groups, title

MOST_FAILURES, MOST_LOSSES = 3, 6  # named of one row


def failure_table(study: FailureStudy | None, note: str) -> PageTable | None:
    """Return the table; None without a study and without a note."""
    if study is None:
        return PageTable("failures", "Failures", (), (), note) if note else None
    columns = (
        PageColumn("Failure", "prose"),
        PageColumn("Costs", "prose"),
        PageColumn("Pairs lost", "number"),
        PageColumn("Least width left", "number"),
        PageColumn("Lost", "prose"),
        PageColumn("For example", "prose"),
    )
    rows = tuple(_row(who, cost, effects) for who, cost, effects in failure_groups(study))
    note = " ".join(f"{text[0].upper()}{text[1:]}." for text in (title(study), circles_text(study)))
    return PageTable("failures", "Failures", columns, rows, note)


def _row(who: str, cost: str, effects: Sequence[FailureEffect]) -> Row:
    first = effects[0]
    least = min((loss.now for loss in first.widths), default=None)
    return (
        who,
        cost.replace("->", "\N{RIGHTWARDS ARROW}"),  # a line may not break within it
        first.pairs,
        "as before" if least is None else least,
        _losses(first, alone=len(effects) == 1),
        _failure_names([str(effect.failure) for effect in effects]) if effects[1:] else "",
    )


def _losses(effect: FailureEffect, *, alone: bool) -> str:
    """Pairs of leaves between which servers lose each other; of failures that cost alike, one's."""
    if not effect.lost:
        return "none"
    told = [_loss(loss) for loss in effect.lost[:MOST_LOSSES]]
    more = len(effect.lost) - MOST_LOSSES
    words = "; ".join((*told, *([f"and {more} more"] if more > 0 else [])))
    return words if alone else f"for {effect.failure}: {words}"


def _loss(loss: PairLoss) -> str:
    where = f"{loss.source} to {loss.segment} on {loss.destination}"
    return f"{where}, {loss.pairs}: {loss.reason}" if loss.reason else f"{where}, {loss.pairs}"


def _failure_names(failures: Sequence[str]) -> str:
    more = len(failures) - MOST_FAILURES
    return "; ".join(failures[:MOST_FAILURES]) + (f" and {more} more" if more > 0 else "")
