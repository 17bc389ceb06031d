"""Messages of a wait for an approval: approvers, time, command and result."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from model_switches import Book, NoTexts, Says, plan_of, switches_of

from rocefort.models.fabric.approvals import WaveApproval
from rocefort.rollout.controller.config import ApplyOptions, RolloutConfig
from rocefort.rollout.controller.controller import RolloutLoop
from rocefort.rollout.journal.events import (
    ActPhase,
    ApplyRules,
    Event,
    OperatorRequest,
    RolloutOutcome,
)
from rocefort.rollout.report.event_lines import WaveLines

PLAN = plan_of([1]).seal()
WAVE = PLAN.waves[0].name
WAITS = (
    "wave 1         approve  waits up to 5 s for an approval by anybody: "
    "`rocefort approve p.json --wave 'wave 1'`"
)


class Asked(Book):
    """A journal in memory that also takes requests."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[OperatorRequest] = []

    def append(self, event: Event, request: OperatorRequest | None) -> None:
        if request in self.asked:
            self.asked.remove(request)
        super().append(event, None)

    def requests(self) -> list[OperatorRequest]:
        return list(self.asked)


def approval(run: str, by: str) -> OperatorRequest:
    given = WaveApproval(PLAN.digest, WAVE, run, by, datetime.now(UTC).isoformat())
    return OperatorRequest(1, "approve", by, PLAN.digest, WAVE, given)


def waited(
    rules: ApplyRules, *, given: Sequence[str] = (), runs: str = "7f"
) -> tuple[RolloutOutcome, str]:
    """Run of one wave that waits 5 s. given: approvers, one at each reading."""
    model, book, messages = switches_of(PLAN), Asked(), list[str]()
    model.each = book.holds_intent
    to_come = list(given)

    def sleep(_seconds: float) -> None:
        if to_come:
            book.asked.append(approval(runs, to_come.pop(0)))

    config = RolloutConfig(
        PLAN,
        model,
        lambda _: Says(True),
        book,
        NoTexts(),
        [WaveLines(messages.append)],
        rules=rules,
        run_id="7f",
        sleep=sleep,
        options=ApplyOptions(approval_timeout_s=5),
        approve_with="rocefort approve p.json",
    )
    applied = RolloutLoop(config).run()
    return applied, "\n".join(messages)


def test_it_says_for_what_it_waits_once_and_who_approved() -> None:
    applied, messages = waited(ApplyRules(1, (WAVE,)), given=["bob"])
    assert applied.confirmed == ("leaf01",)
    assert messages.startswith(
        f"{WAITS}\nwave 1         approve  by bob\nwave 1         precheck ok\n"
    )
    assert messages.count("waits up to") == 1


def test_it_says_that_nobody_came() -> None:
    applied, messages = waited(ApplyRules(1, (WAVE,)))
    assert (applied.exit_code, applied.unfinished) == (5, True)
    assert messages == (f"{WAITS}\nwave 1         approve  FAILED no approval came in that time")


def test_one_that_does_not_hold_is_said_and_another_is_still_heard() -> None:
    rules = ApplyRules(1, (WAVE,), not_author=True, author="ada")
    applied, messages = waited(rules, given=["ada", "bob"])
    assert applied.confirmed == ("leaf01",)
    waits, refused, approved, *_ = messages.splitlines()
    assert waits == WAITS.replace("anybody", "another person than ada")
    assert refused == (
        "wave 1         approve  FAILED the approval by ada is by ada, who made the plan; "
        "another person has to approve it"
    )
    assert approved == "wave 1         approve  by bob"


def test_who_has_to_sign_is_told_so() -> None:
    _, messages = waited(ApplyRules(1, (WAVE,), signers="/site/signers"))
    assert messages.splitlines()[0] == (
        "wave 1         approve  waits up to 5 s for an approval by anybody with a key of "
        "/site/signers: `rocefort approve p.json --wave 'wave 1' --key FILE`"
    )


def test_a_wave_that_is_approved_already_waits_for_nobody() -> None:
    _, messages = waited(ApplyRules(1, ()))
    assert "waits" not in messages
    assert ActPhase.FAILED.value.upper() not in messages
