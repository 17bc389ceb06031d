"""Status of a trial commit: whether a trial runs, and for how long."""

from dataclasses import dataclass
from typing import Literal, cast, get_args

from napalm_cloudengine.displays.block import LabelledDisplay
from napalm_cloudengine.displays.shown import DisplayAnswer

TrialState = Literal["INACTIVE", "ACTIVE", "CANCELING", "WAITCANCEL"]
COMMAND = "display configuration trial status"
STATUS = LabelledDisplay(
    """\
Trial status: {state}
Persist id: {persist_id}
Trial time left (sec): {seconds_left:d}""",
    source='command reference V300R023C00, "display configuration trial status"',
)


@dataclass(frozen=True)
class TrialStatus:
    """State of a trial commit.

    seconds_left: 0 without a trial, None where the switch does not show the time: it is not known
    then.
    """

    state: TrialState
    seconds_left: int | None
    persist_id: str = ""

    @property
    def ending(self) -> bool:
        """Whether the switch is cancelling it, or about to: it no longer runs, but is not over."""
        return self.state in ("CANCELING", "WAITCANCEL")

    @property
    def time_left(self) -> str:
        """Return the remaining time as text."""
        return "an unknown time" if self.seconds_left is None else f"{self.seconds_left} s"


def read_trial(shown: DisplayAnswer) -> TrialStatus:
    """Read the status of the trial; raises UnreadableError for any other text."""
    values: dict[str, str] = {}
    for line in shown.lines:
        if pair := STATUS.value(line):
            values.setdefault(*pair)
    state = values.get("state", "").partition(" ")[0]  # a remark may follow it
    if state not in get_args(TrialState):
        raise shown.wrong(1, f"not a trial status: {shown.text.strip()!r}")
    time_left = values.get("seconds_left", "")
    without = 0 if state == "INACTIVE" else None
    seconds = int(time_left) if time_left.isdecimal() and time_left.isascii() else without
    return TrialStatus(cast("TrialState", state), seconds, values.get("persist_id", ""))
