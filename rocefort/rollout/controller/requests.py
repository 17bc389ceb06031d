"""Requests to a running controller (pause, abort, approve), and the validity of an approval.

The same function checks it twice: in `rocefort approve`, which reports to the user, and in the
controller, which trusts no row that another process wrote.
"""

from __future__ import annotations

import json
import shlex
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from pathlib import Path

from rocefort.base.clock import utc_now
from rocefort.base.errors import BadInput, Refused, RocefortError, ServiceFailed
from rocefort.models.change.plan import Plan
from rocefort.models.fabric.approvals import Approvals, WaveApproval
from rocefort.rollout.controller.config import ApplyOptions
from rocefort.rollout.journal.events import ActPhase, ApplyRules, ApprovalEvent, OperatorRequest
from rocefort.rollout.journal.history import RunHistory
from rocefort.rollout.journal.journal import FORMAT, connected, damaged, transaction
from rocefort.rollout.journal.runs import status
from rocefort.rollout.planning.sealed_files import sign_text, signer_of_text, signers_file

NAMESPACE = "rocefort-approval"  # of a signature: a signature of a plan approves nothing
SKEW = timedelta(minutes=5)  # largest difference between the clocks of two machines
NO_APPROVAL = "no approval came in that time"


def rules_for(
    plan: Plan, policy: Approvals, max_unavailable: int, author: str, options: ApplyOptions
) -> ApplyRules:
    """Rules of a new run, from the fabric's policy and the options of its caller."""
    ruled = plan.needs_approval(policy)
    waits = ruled or options.required or options.each_wave
    return ApplyRules(
        max_unavailable=max_unavailable,
        approve=tuple(wave.name for wave in plan.waves) if waits else (),
        not_author=options.required or (ruled and policy.not_author),
        expires_h=options.expires_h or policy.expires_h,
        author=author,
        signers=str(options.signers.resolve()) if options.signers else "",
        allow_sick=options.allow_sick,
        keys=policy.signers,
        count=policy.count,
    )


def approval_prompt(rules: ApplyRules, wave: str, patience_s: float, command: str) -> str:
    """Message of a waiting wave: the time, the people who may approve, and their command.

    command: `rocefort approve PLAN` with the options that identify the run.
    """
    by = f"another person than {rules.author}" if rules.not_author else "anybody"
    if rules.who_signs:
        by += f" with a key of {rules.who_signs}"
    words = f"{command} --wave {shlex.quote(wave)}" + (" --key FILE" if rules.who_signs else "")
    what = "an approval" if rules.count == 1 else f"{rules.count} approvals, each"
    return f"waits up to {patience_s:g} s for {what} by {by}: `{words}`"


@contextmanager
def allowed_by(rules: ApplyRules) -> Iterator[Path]:
    """File of the allowed signers of these rules."""
    if not rules.keys:
        yield Path(rules.signers)
        return
    with signers_file(rules.keys) as file:
        yield file


def expiry(approval: WaveApproval, rules: ApplyRules) -> datetime:
    """Time at which an approval expires; raises ValueError for an invalid time."""
    at = datetime.fromisoformat(approval.at)
    if at.tzinfo is None:
        raise ValueError("a time without its offset")
    return at + timedelta(hours=rules.expires_h)


def refusal(approval: WaveApproval | None, plan: Plan, history: RunHistory, now: datetime) -> str:
    """Reason why an approval is invalid, beginning with a verb; empty if it is valid."""
    rules = history.rules
    if approval is None:
        return "does not have the form of an approval"
    if approval.plan != plan.digest:
        return "is for another plan"
    if rules is None or not history.running or approval.run != history.run:
        return "is for another run of this plan"
    return (
        _of_no_such_wave(approval.wave, plan, history, rules)
        or _of_another_reason(approval, history, rules)
        or _out_of_time(approval, rules, now)
        or _of_another(approval, rules)
        or _given_before(approval, history)
    )


def _given_before(approval: WaveApproval, history: RunHistory) -> str:
    given = frozenset(history.given.get(approval.wave, ()))
    if history.outside:
        given &= history.given_outside.get(approval.wave, frozenset())
    if f"by {approval.by}" in given:
        return f"is by {approval.by}, who has approved this wave already; another has to"
    return ""


def _of_no_such_wave(wave: str, plan: Plan, history: RunHistory, rules: ApplyRules) -> str:
    if wave in history.approved and (not history.outside or history.permits_outside(wave)):
        return "is for a wave that is approved already"
    if wave not in {each.name for each in plan.waves}:
        return "is for a wave that the plan does not have"
    needs = wave in rules.approve or history.outside
    return "" if needs else "is for a wave that needs no approval"


def _of_another_reason(approval: WaveApproval, history: RunHistory, rules: ApplyRules) -> str:
    """Reason why an approval does not permit a request to begin outside a window, if one is made.

    Neither the user who requests it nor the author of the plan approves it.
    """
    if approval.outside != history.outside:
        what = history.outside or "which this run does not have"
        return f"is not for the request to begin outside a window, {what}"
    if not history.outside:
        return ""
    return _of_same_person(approval, history.outside_by, "requested that") or _of_same_person(
        approval, rules.author, "made the plan"
    )


def _of_same_person(approval: WaveApproval, name: str, did: str) -> str:
    """Reason why an approval is not by another person than a name, of a key or of a user."""
    if name not in (approval.by, approval.user):
        return ""
    by = approval.by if name == approval.by else f"{approval.by}, given by the user {name}"
    return f"is by {by}, who {did}; another person has to approve it"


def _out_of_time(approval: WaveApproval, rules: ApplyRules, now: datetime) -> str:
    try:
        if datetime.fromisoformat(approval.at) > now + SKEW:
            return f"is dated {approval.at}, which is in the future"
        if expiry(approval, rules) <= now:
            return f"of {approval.at} has expired: it is valid for {rules.expires_h:g} h"
    except (ValueError, TypeError, OverflowError):
        return "has no valid time"
    return ""


def _of_another(approval: WaveApproval, rules: ApplyRules) -> str:
    """Reason why the approver is not acceptable: the author, or no allowed signer."""
    if rules.not_author and (why := _of_same_person(approval, rules.author, "made the plan")):
        return why
    if not rules.who_signs:
        how = "but the rollout began without --allowed-signers, so no key can be checked"
        return f"is signed, {how}" if approval.signature else ""
    if not approval.signature:
        return f"is not signed; one of {rules.who_signs} has to sign it"
    try:
        with allowed_by(rules) as allowed:
            signer = signer_of_text(
                approval.content, approval.signature, allowed, NAMESPACE, approval.by
            )
    except RocefortError as error:
        return f"cannot be checked: {error.problem.what}"
    return "" if signer else f"has no signature of {approval.by} by a key of {rules.who_signs}"


def approval_event(
    request: OperatorRequest, plan: Plan, history: RunHistory, now: datetime
) -> ApprovalEvent:
    """Journal event of an approval: its expiry if it is valid, else the reason."""
    given = request.approval
    why = refusal(given, plan, history, now)
    if given is None or history.rules is None or why or given.wave != request.wave:
        refused = f"the approval by {request.by} {why or 'is for another wave'}"
        return ApprovalEvent(wave=request.wave, phase=ActPhase.FAILED, detail=refused)
    until = expiry(given, history.rules).isoformat()
    by = f"by {given.by}"
    return ApprovalEvent(
        wave=given.wave, phase=ActPhase.DONE, detail=by, until=until, outside=given.outside
    )


def expired(history: RunHistory, now: datetime) -> Iterator[ApprovalEvent]:
    """Events for expired approvals; a wave that has begun is still completed."""
    for wave, people in history.given.items():
        if any(until and datetime.fromisoformat(until) <= now for until in people.values()):
            over = "has expired"
            yield ApprovalEvent(wave=wave, phase=ActPhase.FAILED, detail=over, expired=True)


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
    user: str = "",
    now: Callable[[], datetime] = utc_now,
) -> WaveApproval:
    """Approve one wave of a plan. digest: of the plan that the user reviewed.

    The approval is valid for the current run of this plan. key: signs the approval. user: of the
    operating system; empty: `by`. Raises Refused if the approval would be invalid, BadInput if the
    plan has no such wave.
    """
    if digest != plan.digest or digest != plan.computed_digest():
        raise Refused(
            "the approval is for another plan", where=wave, how="review this plan, then approve it"
        )
    names = [each.name for each in plan.waves]
    if wave not in names:
        raise BadInput(f"the plan has no wave {wave!r}", how=f"its waves are {', '.join(names)}")
    history = running_history(journal, plan)
    at = now().isoformat(timespec="seconds")
    given = WaveApproval(digest, wave, history.run, by, at, history.outside, user=user)
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
