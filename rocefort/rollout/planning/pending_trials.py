"""Trials that run on switches while somebody plans: of which run, and what to do about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rocefort.errors import RocefortError
from rocefort.models.wording import count_of


@dataclass(frozen=True, slots=True)
class PendingTrial:
    """A trial that a switch says is running.

    left_s: None where the switch does not show it. plan, run: as far as a switch is told them;
    empty: it shows no run of Rocefort.
    """

    left_s: int | None
    plan: str = ""
    run: str = ""


def trial_notes(found: Mapping[str, PendingTrial | RocefortError | None]) -> Iterator[str]:
    """A sentence for each run that has switches on trial, and for each switch that does not tell.

    found: by switch, None where none is on trial.
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
            "left, so what is planned against may not stay; "
            f"{_way_out(run)}, then plan again"
        )
    yield from (str(one) for one in found.values() if isinstance(one, RocefortError))


def _way_out(run: str) -> str:
    if run:
        return (
            "`rocefort resume` with that plan goes on with it, `rocefort abort` and then "
            "`rocefort resume` takes it back"
        )
    return "wait for its timer, or confirm or abort it on the switch"
