"""Behaviours of trials for the tests of crashes and kills."""

from __future__ import annotations

from dataclasses import astuple
from functools import cache
from itertools import combinations, product

from rocefort.emulator.switch.personality import Personality, axes

# No session but that of a trial may end it: what users of real switches report.
STUCK = Personality(trial_mode="session-only", persist="absent")
# The same, with the least information on the trial.
SILENT = Personality(
    trial_mode="session-only",
    persist="absent",
    commit_list="absent",
    trial_status="state-only",
    trial_prompt="*",
)


def _covering_set() -> tuple[Personality, ...]:
    """Return few personalities that cover every two values of two fields; the default is first.

    Greedy: each one covers the most pairs that are still missing.
    """
    every = list(product(*axes().values()))
    missing = {pair for row in every for pair in _pairs(row)}
    chosen = [every[0], astuple(SILENT), astuple(STUCK)]
    for row in chosen:
        missing -= _pairs(row)
    while missing:
        chosen.append(max(every, key=lambda row: len(missing & _pairs(row))))
        missing -= _pairs(chosen[-1])
    return tuple(Personality(*row) for row in chosen)


@cache
def _pairs(row: tuple[str, ...]) -> frozenset[tuple[tuple[int, str], ...]]:
    return frozenset(combinations(enumerate(row), 2))


PERSONALITIES = _covering_set()


def lab_options(personality: Personality) -> tuple[str, ...]:
    """Return a personality as options of `rocefort lab cli`."""
    flags = {name: "--" + name.replace("_", "-") for name in axes()} | {"trial_mode": "--trial"}
    del flags["persist"]
    chosen = (word for name, flag in flags.items() for word in (flag, getattr(personality, name)))
    return *chosen, "--persist" if personality.persist == "present" else "--no-persist"
