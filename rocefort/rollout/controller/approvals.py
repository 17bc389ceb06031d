"""Validity of an approval: its plan, run, wave, age and author.

The same function checks it twice: in `rocefort approve`, which reports to the user, and in the
controller, which trusts no row that another process wrote.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from rocefort.base.errors import RocefortError
from rocefort.models.change.plan import Plan
from rocefort.models.fabric.approvals import Approvals, WaveApproval
from rocefort.rollout.controller.apply_options import ApplyOptions
from rocefort.rollout.journal.events import ActPhase, ApplyRules, ApprovalEvent, OperatorRequest
from rocefort.rollout.journal.history import RunHistory
from rocefort.rollout.planning.signing import signer_of_text, signers_file

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
        or _out_of_time(approval, rules, now)
        or _of_another(approval, rules)
        or _given_before(approval, history)
    )


def _given_before(approval: WaveApproval, history: RunHistory) -> str:
    if f"by {approval.by}" in history.given.get(approval.wave, {}):
        return f"is by {approval.by}, who has approved this wave already; another has to"
    return ""


def _of_no_such_wave(wave: str, plan: Plan, history: RunHistory, rules: ApplyRules) -> str:
    if wave in history.approved:
        return "is for a wave that is approved already"
    if wave not in {each.name for each in plan.waves}:
        return "is for a wave that the plan does not have"
    return "" if wave in rules.approve else "is for a wave that needs no approval"


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
    if rules.not_author and approval.by == rules.author:
        return f"is by {approval.by}, who made the plan; another person has to approve it"
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
    return ApprovalEvent(wave=given.wave, phase=ActPhase.DONE, detail=by, until=until)


def expired(history: RunHistory, now: datetime) -> Iterator[ApprovalEvent]:
    """Events for expired approvals; a wave that has begun is still completed."""
    for wave, people in history.given.items():
        if any(until and datetime.fromisoformat(until) <= now for until in people.values()):
            over = "has expired"
            yield ApprovalEvent(wave=wave, phase=ActPhase.FAILED, detail=over, expired=True)
