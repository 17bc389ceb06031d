"""What a release may do with a trial where no source settles it, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rocefort.lab.switch import TrialMode


@dataclass(frozen=True)
class Personality:
    """Options of an emulated switch; the fields have the names of EmulatedSwitch's."""

    trial_mode: TrialMode
    persist: Literal["present", "absent"]

    def __str__(self) -> str:
        return f"{self.trial_mode}, persist {self.persist}"

    @property
    def lab_options(self) -> tuple[str, ...]:
        """The same as options of `rocefort lab cli`."""
        return (
            "--trial",
            self.trial_mode,
            "--persist" if self.persist == "present" else "--no-persist",
        )


TRIAL_MODES: tuple[TrialMode, ...] = ("session-only", "dies-with-session", "survives")
PERSONALITIES = tuple(
    Personality(mode, persist) for mode in TRIAL_MODES for persist in ("absent", "present")
)
