"""The behaviours of a trial under which crashes and kills are tried."""

from __future__ import annotations

from rocefort.lab.personality import Personality, axes, covering_set

PERSONALITIES = covering_set()


def lab_options(personality: Personality) -> tuple[str, ...]:
    """A personality as options of `rocefort lab cli`."""
    flags = {name: "--" + name.replace("_", "-") for name in axes()} | {"trial_mode": "--trial"}
    del flags["persist"]
    chosen = (word for name, flag in flags.items() for word in (flag, getattr(personality, name)))
    return *chosen, "--persist" if personality.persist == "present" else "--no-persist"
