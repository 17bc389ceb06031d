"""Trials that run on switches during planning: their run, and the cure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rocefort.errors import RocefortError
from rocefort.models.wording import count_of


@dataclass(frozen=True, slots=True)
class PendingTrial:
    """Running trial of a switch.

    left_s: None if the switch does not show it. plan, run: as far as the switch has them; empty if
    it shows no run of Rocefort.
    """

    left_s: int | None
    plan: str = ""
    run: str = ""


def trial_notes(found: Mapping[str, PendingTrial | RocefortError | None]) -> Iterator[str]:
    """A sentence for each run with switches on trial, and for each switch with an error.

    found: by switch, None if it runs no trial.
    """
    told: dict[tuple[str, str], dict[str, int | None]] = {}
    for name, one in found.items():
        if isinstance(one, PendingTrial):
            told.setdefault((one.plan, one.run), {})[name] = one.left_s
    for (plan, run), left in told.items():
        whose = f"for plan {plan}, run {run}" if run else "that shows no run of Rocefort"
        known = [seconds for seconds in left.values() if seconds is not None]
        time = f"at most {max(known)} s" if len(known) == len(left) else "an unknown time"
        yield (
            f"{', '.join(left)}: {count_of(len(left), 'switch')} on a trial {whose}, {time} "
            "left, so the running configuration may change; "
            f"{_way_out(run)}, then plan again"
        )
    yield from (str(one) for one in found.values() if isinstance(one, RocefortError))


def _way_out(run: str) -> str:
    if run:
        return (
            "`rocefort resume` with that plan continues it, `rocefort abort` and then "
            "`rocefort resume` rolls it back"
        )
    return "wait for its timer, or confirm or abort it on the switch"
