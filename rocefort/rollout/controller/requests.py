"""What other processes ask of a running controller: to pause, to abort, to go on with a wave."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path

from rocefort.clock import utc_now
from rocefort.errors import BadInput, Refused, ServiceFailed
from rocefort.models.fabric.approvals import Approval
from rocefort.models.rollout.history import RunHistory
from rocefort.models.rollout.plan import Plan
from rocefort.rollout.controller.approvals import NAMESPACE, refusal
from rocefort.rollout.journal.journal import FORMAT, connected, damaged, transaction
from rocefort.rollout.journal.status import status
from rocefort.rollout.planning.signing import sign_text


def request_pause(journal: Path, plan: Plan, by: str) -> None:
    """Ask that no further wave begins; the one under way is brought to its end."""
    _ask(journal, plan.digest, "pause", by)


def request_abort(journal: Path, plan: Plan, by: str) -> None:
    """Ask that the wave under way is rolled back and the rollout ends."""
    _ask(journal, plan.digest, "abort", by)


def approve(  # noqa: PLR0913 - who, beside what and where
    journal: Path,
    plan: Plan,
    wave: str,
    by: str,
    digest: str,
    *,
    key: Path | None = None,
    now: Callable[[], datetime] = utc_now,
) -> Approval:
    """Approve one wave of the plan that was looked at; digest: of that plan.

    It holds for the run under way of this plan. key: signs it. Raises Refused where it would not
    hold, BadInput for no such wave.
    """
    if digest != plan.digest or digest != plan.computed_digest():
        raise Refused(
            "the approval is for another plan", where=wave, how="look at this one, then approve it"
        )
    names = [each.name for each in plan.waves]
    if wave not in names:
        raise BadInput(f"the plan has no wave {wave!r}", how=f"its waves are {', '.join(names)}")
    history = running_history(journal, plan)
    given = Approval(digest, wave, history.run, by, now().isoformat(timespec="seconds"))
    if key is not None:
        given = replace(given, signature=sign_text(given.content, key, NAMESPACE))
    if why := refusal(given, plan, history, now()):
        raise Refused(f"the approval {why}", where=wave)
    _ask(journal, digest, "approve", by, given)
    return given


def running_history(journal: Path, plan: Plan, *, sound: bool = True) -> RunHistory:
    """Where the run under way stands; raises Refused where there is none, or no sound journal.

    sound: whether it must be, as for all but a wish to stop that a controller at work hears.
    """
    found = status(journal)
    if found.damage and sound:
        raise damaged(journal, found.damage)
    history = found.history(plan.digest)
    if not history.running:
        raise Refused(
            "has no run of this plan that is under way",
            where=str(journal),
            how="`rocefort apply` begins one",
        )
    return history


def _ask(path: Path, digest: str, kind: str, by: str, approval: Approval | None = None) -> None:
    """Write a request: a transaction of its own, which the controller's rows do not notice."""
    if not path.is_file():
        raise BadInput("no such journal", where=str(path), how="it is made by `rocefort apply`")
    with closing(connected(path, create=False)) as connection:
        try:
            (found,) = connection.execute("pragma user_version").fetchone()
            if found != FORMAT:
                what = f"is a journal of format {found}, this Rocefort writes {FORMAT}"
                raise Refused(what, where=str(path), how="ask by the version that runs it")
            at = utc_now().isoformat(timespec="milliseconds")
            with transaction(connection):
                wave, data = (approval.wave, json.dumps(asdict(approval))) if approval else ("", "")
                connection.execute(
                    "insert into request (at, plan, kind, by, wave, data)"
                    " values (?, ?, ?, ?, ?, ?)",
                    (at, digest, kind, by, wave, data),
                )
        except sqlite3.Error as error:
            raise ServiceFailed(f"cannot be written: {error}", where=str(path)) from None
