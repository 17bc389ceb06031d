"""Events that the controller's loop records, and errors in words for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from rocefort.base import internal_errors
from rocefort.base.errors import RocefortError, ServiceFailed
from rocefort.rollout import operator
from rocefort.rollout.controller import outcome
from rocefort.rollout.controller.apply_options import ApplyOptions
from rocefort.rollout.controller.device_state import DeviceState
from rocefort.rollout.journal.events import Act, ActEvent, ActPhase, StepEvent, SwitchState


def permissions(options: ApplyOptions) -> Iterator[StepEvent]:
    """Yield what the operator permits for this run."""
    words: dict[Literal["break-glass", "unmeasured", "drained"], str] = {
        "break-glass": options.break_glass,
        "unmeasured": options.unmeasured,
        "drained": ", ".join(options.drained),
    }
    for act, word in words.items():
        if word:
            detail = f"by {operator.user()}: {word}"
            yield StepEvent(act=act, phase=ActPhase.DONE, detail=detail)


def wait_event(wave: str) -> StepEvent:
    """Return the event of a wait for a trial to end."""
    return StepEvent(act="wait", wave=wave, phase=ActPhase.INTENT)


def failure_event(
    act: Literal["fault", "stop"], wave: str, text: str, code: int = 3, device: str = ""
) -> StepEvent:
    """Return the event of a problem outside of any act, or of a stop."""
    failed = StepEvent(act=act, wave=wave, device=device, phase=ActPhase.FAILED)
    return failed.like(detail=text, code=code)


def result_event(
    done: ActEvent, device: DeviceState, seen: SwitchState, error: RocefortError | None
) -> ActEvent:
    """Return the event of an act's result; seen: state of the switch after it."""
    if done.act is Act.ABORT:
        end = outcome.after_abort(device, seen, error)
        phase = ActPhase.FAILED if end.code else ActPhase.DONE
        return done.like(phase=phase, detail=end.text, code=end.code)
    if error:
        return done.like(phase=ActPhase.FAILED, detail=str(error), code=error.exit_code)
    return done


def shown_error(error: Exception) -> RocefortError:
    """Return an error that can be shown; the traceback of a defect is written to a file."""
    if isinstance(error, RocefortError):
        return error
    what, how = internal_errors.error_report(error)
    return ServiceFailed(what, how=how)
