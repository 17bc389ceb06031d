"""Items of an acceptance that are measured again: a failure ends where the same is measured."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pytest
from model_switches import plan_of
from planned import unreached

from rocefort.base.errors import BadInput, DeviceFailed, Refused
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.models.fabric.approvals import Approvals
from rocefort.rdma.acceptance import carry_out, stage
from rocefort.rdma.acceptance.carry_out import Entries
from rocefort.rdma.acceptance.stage import (
    FAILOVER,
    HOSTS,
    OPTICS,
    SUITES,
    AcceptanceRequest,
    StageRun,
    differing_hosts,
    new_record,
    reopened,
)
from rocefort.rdma.designed_plan import RdmaRequest
from rocefort.rdma.plan.site import TooFewServers
from rocefort.rdma.rdma_plan import Program, RdmaPlan, RdmaRun, Round, Suite
from rocefort.rdma.results import (
    CableEvent,
    DerivedVerdict,
    Measurement,
    MeasurementVerdict,
    RdmaResult,
)
from rocefort.rollout.journal.history import FINISHED, RunHistory
from rocefort.rollout.operator import user
from rocefort.rollout.plan.acceptance import (
    Acceptance,
    AcceptanceItem,
    DoneBy,
    ItemState,
    OverrideApproval,
    blocked_items,
    overridden,
)

PAIR = ("k8sgn08", "k8sgn09")
ONCE = AcceptanceRequest(suites=(Suite.SWEEP,), servers=PAIR)
AGAIN = AcceptanceRequest(again=("sweep",), servers=PAIR)
PASSED, TOO_SLOW = MeasurementVerdict.PASSED, MeasurementVerdict.TOO_SLOW
TOO_FEW = TooFewServers("sweep takes 2 RoCE servers, 1 may be used")


def result(verdict: MeasurementVerdict, suite: Suite = Suite.SWEEP) -> RdmaResult:
    """Return a run of one pair."""
    run = RdmaRun(id="1", program=Program.WRITE_BW, client=PAIR[0], server=PAIR[1])
    plan = RdmaPlan(fabric="heps", suite=suite, hosts=(), rounds=(Round(number=1, runs=(run,)),))
    one = Measurement(run=run, outcome="measured", sentence=f"it is {verdict}", verdict=verdict)
    return RdmaResult(
        id="1", plan=plan, began=datetime(2026, 11, 28, tzinfo=UTC), measurements=(one,)
    )


class Stage:
    """Acceptance of HEPS whose suites have given outcomes; its rollout is finished."""

    def __init__(self, heps: DerivedNetwork, source: Path, patch: pytest.MonkeyPatch) -> None:
        self.heps, self.patch = heps, patch
        self.plan = plan_of([1]).model_copy(update={"source": str(source)})
        self.access = unreached(heps.network)
        self.hosts: Mapping[str, str] = self.access.hosts
        self.kept: list[Acceptance] = []
        self.requests: list[RdmaRequest] = []
        self.stops = False

    def record(self, request: AcceptanceRequest) -> Acceptance:
        """Return a record that has only suites and what a person does open."""
        record = new_record(self.plan, self.heps, request, RunHistory())
        by_machine = {*stage.READINGS, stage.ROLLOUT}
        items = tuple(item for item in record.items if item.name not in by_machine)
        return record.model_copy(update={"items": items})

    def measured(
        self, record: Acceptance, request: AcceptanceRequest, *outcomes: RdmaResult | Exception
    ) -> Acceptance:
        """Return the record after its open items have had these outcomes, then a stop."""
        waiting = list(outcomes)

        def run_tests(*given: Any) -> RdmaResult:
            self.requests.append(given[2])
            outcome = waiting.pop(0)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        def keep(each: Acceptance) -> Acceptance:
            self.kept.append(each)
            return each

        self.patch.setattr(stage, "run_tests", run_tests)
        run = StageRun(
            plan=self.plan,
            rollout=RunHistory(ended=FINISHED, hosts=self.hosts),
            derived=self.heps,
            access=self.access,
            history=Path("none"),
            request=request,
            keep=keep,
            say=lambda _: None,
            stopped=lambda: not waiting,
        )
        return run.carry_out(reopened(record, request))


@pytest.fixture
def heps_stage(heps: DerivedNetwork, heps_file: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Return HEPS before its acceptance."""
    return Stage(heps, heps_file, monkeypatch)


def item_of(record: Acceptance, name: str = "sweep") -> AcceptanceItem:
    """Return one item."""
    return next(item for item in record.items if item.name == name)


def blocked(record: Acceptance) -> list[str]:
    """Return the items that block the next plan."""
    return [item.name for item, _ in blocked_items(record, Approvals())]


@pytest.mark.parametrize(
    ("request_", "outcome", "state", "blocks"),
    [
        (AGAIN, result(PASSED), ItemState.PASSED, []),
        (AGAIN, result(TOO_SLOW), ItemState.FAILED, ["sweep"]),
        (AGAIN, DeviceFailed("no login", where="k8sgn08"), ItemState.FAILED, ["sweep"]),
        (AGAIN, result(MeasurementVerdict.NOT_JUDGED), ItemState.NOT_JUDGED, ["sweep"]),
        (
            AcceptanceRequest(again=("sweep",), servers=("k8sgn08", "k8sgn12")),
            result(PASSED),
            ItemState.NOT_JUDGED,
            ["sweep"],
        ),
        (
            AcceptanceRequest(again=("sweep",), servers=(*PAIR, "k8sgn12")),
            result(PASSED),
            ItemState.PASSED,
            [],
        ),
    ],
)
def test_a_failed_item_blocks_until_it_passes_on_the_same_servers(
    heps_stage: Stage,
    request_: AcceptanceRequest,
    outcome: RdmaResult | Exception,
    state: ItemState,
    blocks: list[str],
) -> None:
    failed = heps_stage.measured(heps_stage.record(ONCE), ONCE, result(TOO_SLOW))
    assert blocked(failed) == ["sweep"]
    assert item_of(failed).servers == PAIR
    after = heps_stage.measured(failed, request_, outcome)
    assert (item_of(after).state, blocked(after)) == (state, blocks)
    if blocks:
        passed = heps_stage.measured(after, AGAIN, result(PASSED))
        assert blocked(passed) == []


def test_a_pass_without_a_server_that_failed_is_not_judged(heps_stage: Stage) -> None:
    failed = heps_stage.measured(heps_stage.record(ONCE), ONCE, result(TOO_SLOW))
    fewer = AcceptanceRequest(again=("sweep",), servers=("k8sgn08", "k8sgn12"))
    after = heps_stage.measured(failed, fewer, result(PASSED))
    assert item_of(after).sentences[0] == "it failed with k8sgn09, and passed without"
    assert item_of(after).reason == "it is too-slow (it has not passed since)"
    approval = OverrideApproval(by="ada", at=datetime(2026, 11, 28, tzinfo=UTC))
    assert blocked(overridden(after, "sweep", "replaced", approval, None)) == []


def test_a_reading_passes_over_the_soak_that_failed() -> None:
    failed = AcceptanceItem(name="errors", title="", state=ItemState.FAILED, soak_s=600)
    short = failed.reopened().model_copy(update={"state": ItemState.PASSED, "soak_s": 1})
    assert short.settled().sentences == ("it failed over 600 s, and passed over 1 s",)
    assert short.settled().failed
    long = short.model_copy(update={"soak_s": 600})
    assert not long.settled().failed


def test_too_few_servers_leave_only_a_first_run_unjudged(heps_stage: Stage) -> None:
    first = heps_stage.measured(heps_stage.record(ONCE), ONCE, TOO_FEW)
    assert (item_of(first).state, blocked(first)) == (ItemState.NOT_JUDGED, [])
    failed = heps_stage.measured(first, AGAIN, result(TOO_SLOW))
    with pytest.raises(TooFewServers, match="1 may be used"):
        heps_stage.measured(failed, AGAIN, TOO_FEW)


def test_a_server_that_does_not_exist_is_refused(heps_stage: Stage) -> None:
    failed = heps_stage.measured(heps_stage.record(ONCE), ONCE, result(TOO_SLOW))
    typo = AcceptanceRequest(again=("sweep",), servers=("typo",))
    with pytest.raises(BadInput, match="no server typo"):
        heps_stage.measured(failed, typo, result(PASSED))
    with pytest.raises(BadInput, match="--suite storage: it needs a directory of servers"):
        heps_stage.record(AcceptanceRequest(suites=(Suite.STORAGE,), servers=PAIR))


def test_an_item_that_is_open_again_blocks_after_a_stop(heps_stage: Stage) -> None:
    both = AcceptanceRequest(suites=(Suite.MESH, Suite.SWEEP), servers=PAIR)
    slow = result(TOO_SLOW)
    failed = heps_stage.measured(heps_stage.record(both), both, slow, slow)
    again = AcceptanceRequest(again=("mesh", "sweep"), servers=PAIR)
    heps_stage.measured(failed, again, result(PASSED))
    stopped = heps_stage.kept[-1]
    assert item_of(stopped).state is ItemState.OPEN
    assert blocked(stopped) == ["sweep"]


def test_a_person_does_not_replace_what_pulled_cables_showed(heps_stage: Stage) -> None:
    pull = AcceptanceRequest(suites=(Suite.SWEEP,), servers=PAIR, cable_by="person")
    record = heps_stage.record(pull).with_item(
        AcceptanceItem(name="sweep", title="", state=ItemState.PASSED)
    )
    failed = heps_stage.measured(record, pull, result(TOO_SLOW, Suite.FAILOVER))
    assert item_of(failed, FAILOVER).done_by is DoneBy.MACHINE
    with pytest.raises(BadInput, match="--passed: a machine does failover; measure it again"):
        carry_out._with_entries(failed, Entries(passed=(("failover", "ok"),)), Path())


@pytest.mark.parametrize("by", ["lab", "person"])
def test_the_record_has_who_took_a_cable_and_what_was_lost(
    heps_stage: Stage, by: Literal["lab", "person"]
) -> None:
    pull = AcceptanceRequest(suites=(Suite.SWEEP,), servers=PAIR, cable_by=by, cable_at_s=8)
    record = heps_stage.record(pull).with_item(
        AcceptanceItem(name="sweep", title="", state=ItemState.PASSED)
    )
    at = datetime(2026, 11, 28, 12, 0, 8, tzinfo=UTC)
    cable = CableEvent(round=1, cables=("leaf01 p1",), by=by, taken_at=at, back_at=at)
    run = result(MeasurementVerdict.NOT_JUDGED, Suite.FAILOVER)
    note = "an uplink of leaf01 fails"
    rounds = (run.plan.rounds[0].model_copy(update={"note": note}),)
    lost = DerivedVerdict(subject=note, ok=None, sentence="65.8 Gbit less sent")
    plan = run.plan.model_copy(update={"rounds": rounds})
    run = run.model_copy(update={"cables": (cable,), "judged": (lost,), "plan": plan})
    done = item_of(heps_stage.measured(record, pull, run), FAILOVER)
    assert done.sentences == (
        "65.8 Gbit less sent",
        f"round 1: {'the lab' if by == 'lab' else 'a person'} took leaf01 p1 away at 12:00:08, and back at 12:00:08 (UTC)",
        "no limit of what may be lost is stated",
    )
    assert done.done_by is (DoneBy.MACHINE if by == "lab" else DoneBy.PERSON)
    options = heps_stage.requests[-1].options
    assert (options.cable_by, options.cable_at_s) == (by, 8)
    broken = CableEvent(round=1, cables=("leaf01 p1",), by=by, problem="no answer")
    bad = DerivedVerdict(subject="cable", ok=False, sentence="not put back: no answer")
    run = run.model_copy(update={"cables": (broken,), "judged": (lost, bad)})
    failed = item_of(heps_stage.measured(record, pull, run), FAILOVER)
    assert failed.sentences == ("not put back: no answer", "65.8 Gbit less sent")
    assert failed.failed


def test_a_chosen_suite_is_no_item_of_a_person(heps_stage: Stage) -> None:
    request = AcceptanceRequest(suites=(*SUITES, Suite.FAILOVER), servers=PAIR)
    names = [item.name for item in heps_stage.record(request).items]
    assert sorted(set(names)) == sorted(names)
    assert item_of(heps_stage.record(request), FAILOVER).done_by is DoneBy.MACHINE


MOVED = {"leaf01": "10.1.0.1:22", "leaf02": "10.1.0.2:22"}
MOVED_NOW = "leaf01: the rollout reached it at 10.1.0.1:22, connections names {now}; 1 more differ"
AT_HOSTS: dict[str, tuple[Callable[[dict[str, str]], dict[str, str]], bool, str]] = {
    "the same": (lambda now: now, False, "22 hosts, each as in the rollout"),
    "the same lab": (lambda now: now, True, "22 hosts, each as in the rollout, of a lab"),
    "an old journal": (
        lambda _: {},
        False,
        "the journal of the rollout has no hosts, as of an earlier version",
    ),
    "a new server": (
        lambda now: {name: host for name, host in now.items() if name != "k8sgn08"},
        False,
        "the rollout had no connection to k8sgn08",
    ),
    "another lab": (
        lambda now: now | MOVED,
        True,
        f"a lab, not the network of the rollout: {MOVED_NOW}",
    ),
}


@pytest.mark.parametrize("case", AT_HOSTS)
def test_hosts_are_compared_with_those_of_the_rollout(heps_stage: Stage, case: str) -> None:
    before, of_lab, sentence = AT_HOSTS[case]
    now = heps_stage.access.hosts
    heps_stage.hosts = before(now)
    heps_stage.access = heps_stage.access.model_copy(update={"emulated": of_lab})
    done = heps_stage.measured(heps_stage.record(ONCE), ONCE, result(PASSED))
    assert item_of(done, HOSTS).sentences == (sentence.format(now=now["leaf01"]),)
    same, other = case.startswith("the same"), case == "another lab"
    assert item_of(done, HOSTS).state == (ItemState.PASSED if same else ItemState.NOT_JUDGED)
    assert item_of(done).state == (ItemState.NOT_JUDGED if other else ItemState.PASSED)
    assert (done.hosts, done.emulated) == (now, of_lab)
    assert Acceptance.model_validate_json(done.seal().model_dump_json()) == done.seal()


def test_other_hosts_of_no_lab_are_refused_before_any_item(heps_stage: Stage) -> None:
    heps_stage.hosts = heps_stage.access.hosts | MOVED
    with pytest.raises(Refused) as refused:
        heps_stage.measured(heps_stage.record(ONCE), ONCE, result(PASSED))
    now = heps_stage.access.hosts["leaf01"]
    how = "name the connections of the rollout; a host that has moved since needs a rollout"
    assert str(refused.value) == f"{MOVED_NOW.format(now=now)}; {how}"
    assert heps_stage.kept == []


def test_what_a_lab_did_not_measure_is_measured_at_the_hosts_of_the_rollout(
    heps_stage: Stage,
) -> None:
    real = heps_stage.access
    heps_stage.hosts = real.hosts | MOVED
    heps_stage.access = real.model_copy(update={"emulated": True})
    unjudged = heps_stage.measured(heps_stage.record(ONCE), ONCE, result(PASSED))
    rollout = RunHistory(hosts=heps_stage.hosts)
    assert differing_hosts(rollout, unjudged.hosts) == list(MOVED)
    again = reopened(unjudged, AcceptanceRequest(), elsewhere=True)
    assert item_of(again).state is ItemState.OPEN
    assert item_of(again, OPTICS).state is ItemState.NOT_JUDGED
    heps_stage.access, heps_stage.hosts = real, real.hosts
    assert item_of(heps_stage.measured(again, ONCE, result(PASSED))).state is ItemState.PASSED


def test_an_override_is_in_the_name_of_its_approver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, heps_stage: Stage
) -> None:
    failed = heps_stage.measured(heps_stage.record(ONCE), ONCE, result(TOO_SLOW))
    for name in ("ada", "eve"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(words, check=True)
    signer = f"ada@example.org {(tmp_path / 'ada.pub').read_text().strip()}"
    policy = Approvals(required=True, signers=(signer,))
    monkeypatch.setattr(carry_out, "policy_of", lambda *_: policy)

    def approved(by: str, key: str) -> Acceptance:
        entries = Entries(
            overrides=(("sweep", "replaced"),), by=by, key=tmp_path / key if key else None
        )
        return carry_out._with_entries(failed, entries, Path())

    wrong = {
        ("ada@example.org", ""): f"you are {user()}; an approval as ada@example.org needs a key",
        ("ada@example.org", "eve"): "is by no key of the fabric's signers",
        ("", "eve"): "is not a key that may approve; see the signers of the fabric's policy",
        ("", ""): "is not signed; the fabric names signers",
    }
    for (by, key), sentence in wrong.items():
        with pytest.raises(Refused, match=sentence):
            approved(by, key)
    assert approved("", "ada").overrides[0].approvals[0].by == "ada@example.org"
    policy = Approvals()
    with pytest.raises(Refused, match=r"is not a key that may approve; see rollout\.approvals"):
        approved("ada@example.org", "ada")
    with pytest.raises(Refused, match="needs a key"):
        approved("bob", "")
