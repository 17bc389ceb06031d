"""Page of docs/reference with the events of rollouts and of progress, as lines of JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import get_args

from key_pages import Keys, table

from rocefort.base.progress_display import ProgressOutput
from rocefort.rollout.journal.events import OfRollout
from rocefort.rollout.report.event_lines import EndOutput, FollowedOutput, StepOutput

HEAD = """\
# Events

`make golden` writes this page from the code.

`--progress json` writes each event as one line of JSON. [JSON output](output.md) has the results of
commands, and the [schema](output.schema.json) all of it.

## Rollouts

`apply`, `resume` and `rollback --apply` write the events of a rollout on standard output, and the
outcome as the last line. `status --follow` does so for a rollout of another process.

```json
{"schema_version": 1, "command": "apply", "at": "2026-11-23T10:15:04.120+00:00", "wave": "canary", "device": "leaf08", "act": "trial", "phase": "done", "detail": "", "code": 0}
```
"""
ACTS: Mapping[str, str] = {
    "precheck": "Read a switch before its wave; its running text is kept beside the journal.",
    "load": "Load the patch into the candidate.",
    "trial": "Commit on a timer: the switch restores the old configuration when it ends.",
    "check": "Read the switch back and compare it with the intent.",
    "soak": "Wait on trial; all checks are repeated after it.",
    "health": "Live checks of a wave: before, during or after it.",
    "gate": "RDMA test between servers, which decides whether the wave is confirmed.",
    "approve": "Approval of a wave: awaited (`intent`), given (`done`) or not valid (`failed`).",
    "confirm": "Confirm the trial: the change stays.",
    "save": "Save the running configuration for the next start.",
    "abort": "End the trial: the switch restores the old configuration.",
    "wait": "Wait for a trial to end by its timer.",
    "found": "State of a switch when a controller resumes.",
    "fault": "Problem outside of any act.",
    "stop": "The rollout stops.",
    "pause": "An operator paused the rollout.",
    "hold": "A wave waits until its window is open, or its RDMA gate may load servers; the detail "
    "has the reason.",
    "window": "Calendars by which a wave begins, and who permitted it outside its window.",
    "outside-window": "Waves begin although a calendar holds them, each with an approval; the detail "
    "has who and why.",
    "break-glass": "Approvals are skipped; the detail has the operator and the reason.",
    "note": "A fact before the first wave that stops nothing, as a perftest that is newer than all "
    "tried ones.",
    "unmeasured": "Waves continue without a gate that may not run; the detail has who and why.",
    "drained": "Kubernetes nodes that the operator declares as drained.",
    "ignored": "Request to an earlier run, which is ignored.",
    "apply": "Start of a run. In the journal only.",
    "resume": "Another controller resumes the run. In the journal only.",
    "end": "End of a run. In the journal only.",
}
PROGRESS = """\
## Progress of other commands

Other commands that last write the events of their steps on standard error.

```json
{"schema_version": 1, "command": "verify", "elapsed_s": 12.031, "phase": "advance", "step": "failures", "within": [], "done": 400, "total": 1088, "limit_s": 0.0, "detail": ""}
```
"""


def events_page() -> str:
    """Return the page."""
    acts = table(("act", "meaning"), ((f"`{act}`", text) for act, text in ACTS.items()))
    return "\n".join(
        (
            HEAD,
            Keys(StepOutput).text(),
            "### Acts\n",
            acts,
            "### Outcome\n",
            Keys(EndOutput, owner=" of an outcome").text(),
            "### Outcome of `status --follow` without a controller\n",
            Keys(FollowedOutput).text(),
            PROGRESS,
            Keys(ProgressOutput).text(),
        )
    )


def acts_of_rollouts() -> Iterator[str]:
    """Yield the acts of all kinds of events."""
    for kind in get_args(OfRollout):
        yield from map(str, get_args(kind.model_fields["act"].annotation))
