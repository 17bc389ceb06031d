"""Requests of other processes to a running controller: pause, abort, approve a wave."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path

from rocefort.base.clock import utc_now
from rocefort.base.errors import BadInput, Refused, ServiceFailed
from rocefort.models.change.plan import Plan
from rocefort.models.fabric.approvals import WaveApproval
from rocefort.rollout.controller.approvals import NAMESPACE, refusal
from rocefort.rollout.journal.history import RunHistory
from rocefort.rollout.journal.journal import FORMAT, connected, damaged, transaction
from rocefort.rollout.journal.runs import status
from rocefort.rollout.planning.signing import sign_text


def request_pause(journal: Path, plan: Plan, by: str) -> None:
    """Request that no further wave begins; the current wave is completed."""
    _ask(journal, plan.digest, "pause", by)


def request_abort(journal: Path, plan: Plan, by: str) -> None:
    """Request that the current wave is rolled back and the rollout ends."""
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
) -> WaveApproval:
    """Approve one wave of a plan. digest: of the plan that the user reviewed.

    The approval is valid for the current run of this plan. key: signs the approval. Raises Refused
    if the approval would be invalid, BadInput if the plan has no such wave.
    """
    if digest != plan.digest or digest != plan.computed_digest():
        raise Refused(
            "the approval is for another plan", where=wave, how="review this plan, then approve it"
        )
    names = [each.name for each in plan.waves]
    if wave not in names:
        raise BadInput(f"the plan has no wave {wave!r}", how=f"its waves are {', '.join(names)}")
    history = running_history(journal, plan)
    given = WaveApproval(digest, wave, history.run, by, now().isoformat(timespec="seconds"))
    if key is not None:
        given = replace(given, signature=sign_text(given.content, key, NAMESPACE))
    if why := refusal(given, plan, history, now()):
        raise Refused(f"the approval {why}", where=wave)
    _ask(journal, digest, "approve", by, given)
    return given


def running_history(journal: Path, plan: Plan, *, sound: bool = True) -> RunHistory:
    """History of the current run; raises Refused if there is none or the journal is damaged.

    sound: refuse a damaged journal. A request to abort a working controller does not need this.
    """
    if not journal.is_file():
        refuse_empty(plan)
    reading = status(journal)
    if reading.damage and sound:
        raise damaged(journal, reading.damage)
    history = reading.history(plan.digest)
    if not history.running:
        refuse_empty(plan)
        what, how = history.why_not_running
        raise Refused(what, file=str(journal), how=how)
    return history


def refuse_empty(plan: Plan) -> None:
    """Raise Refused for a plan that changes no switch, and so never has a run."""
    if not plan.waves:
        what = "changes no switch, so it has no run"
        raise Refused(what, where=f"plan {plan.digest[:12]}", how="there is nothing to do")


def _ask(path: Path, digest: str, kind: str, by: str, approval: WaveApproval | None = None) -> None:
    """Write a request in a separate transaction; the rows of the controller do not change."""
    if not path.is_file():
        raise BadInput("no such journal", file=str(path), how="`rocefort apply` creates it")
    with closing(connected(path, create=False)) as connection:
        try:
            (version,) = connection.execute("pragma user_version").fetchone()
            if version != FORMAT:
                what = f"is a journal of format {version}, this Rocefort writes {FORMAT}"
                raise Refused(what, file=str(path), how="use the version that runs this rollout")
            at = utc_now().isoformat(timespec="milliseconds")
            with transaction(connection):
                wave, data = (approval.wave, json.dumps(asdict(approval))) if approval else ("", "")
                connection.execute(
                    "insert into request (at, plan, kind, by, wave, data)"
                    " values (?, ?, ?, ?, ?, ?)",
                    (at, digest, kind, by, wave, data),
                )
        except sqlite3.Error as error:
            raise ServiceFailed(f"cannot be written: {error}", file=str(path)) from None
