"""Step that applies a plan, or resumes its run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from nornir.core import Nornir

from rocefort.base.clock import Clock
from rocefort.base.errors import BadInput, DeviceFailed, Refused
from rocefort.base.processes import count_signals
from rocefort.dialects.secrets import read_secrets, references_of
from rocefort.fleet.connections import Connections
from rocefort.fleet.nornir_session import end_fleet, open_fleet, refuse_ended, require_credentials
from rocefort.fleet.switch_steps import collect_running
from rocefort.models.change.plan import Plan
from rocefort.models.fabric.approvals import Approvals
from rocefort.models.network.observed import Observed
from rocefort.rollout.apply.operate import holding
from rocefort.rollout.apply.policy_of_plan import approval_policy
from rocefort.rollout.controller.config import ApplyOptions, RolloutConfig
from rocefort.rollout.controller.controller import RolloutLoop
from rocefort.rollout.controller.napalm_switches import NapalmSwitches
from rocefort.rollout.controller.protocols import UNGUARDED, WaveGuards
from rocefort.rollout.controller.requests import allowed_by, refuse_empty, rules_for
from rocefort.rollout.gates import GateRecords, gate_of, refuse_uncovered
from rocefort.rollout.journal.events import ApplyRules, RolloutOutcome, SwitchState
from rocefort.rollout.journal.history import history_of
from rocefort.rollout.journal.journal import EventListener, SqliteJournal, open_journal
from rocefort.rollout.journal.pending_trials import label_of
from rocefort.rollout.journal.run_directory import KeptTexts, RunDirectory
from rocefort.rollout.live.checks import LiveChecks, WaveChecks, with_neighbours
from rocefort.rollout.live.readings import close_sessions, observe
from rocefort.rollout.plan.acceptance import refuse_unaccepted
from rocefort.rollout.plan.fabric_of_run import (
    KeptFabric,
    SealedFabric,
    keep_fabric,
    load_fabric_of_plan,
    load_fabric_of_run,
)
from rocefort.rollout.plan.rederive import refuse_forged
from rocefort.rollout.planning.sealed_files import refuse_unjudged, signer_of, signers_file
from rocefort.rollout.planning.wave_windows import WaveWindows


def apply_plan(
    plan: Plan,
    access: Connections,
    run: RunDirectory,
    listeners: Sequence[EventListener],
    options: ApplyOptions | None = None,
) -> RolloutOutcome:
    """Apply a plan, or resume its run; Ctrl-C rolls the current wave back.

    A resumed run uses the fabric and the rules that it began with. Raises Refused if another
    controller works on these switches, if the journal has an unfinished run of this plan, or has
    none to resume. Raises Refused too if the fabric of a new run differs from the planned one, or
    if the acceptance of another stage failed; a rollback needs no acceptance.
    """
    options = options or ApplyOptions()
    if options.resume and not run.journal.is_file():
        refuse_empty(plan)
        raise BadInput("no such journal", file=str(run.journal), how="begin by `rocefort apply`")
    with ExitStack() as opened:
        # The lock comes first: it refuses a second controller at once.
        opened.enter_context(holding(access))
        stop = opened.enter_context(count_signals())
        secrets = read_secrets(references_of(plan))  # before any change
        ground = None if run.journal.is_file() else load_fabric_of_plan(plan)
        journal = opened.enter_context(open_journal(run.journal, plan.digest))
        ground = ground or _sealed_fabric(plan, run, journal, resume=options.resume)
        rules = None if options.resume else _rules(plan, run, ground.fabric, options)
        on_site = options.gate is None  # otherwise a rehearsal, which loads no server of the site
        if on_site and not (options.resume or options.unmeasured):
            refuse_uncovered(plan)
        accepted: tuple[str, ...] = ()
        if on_site and options.after_acceptance and not (options.resume or plan.kept):
            accepted = refuse_unaccepted(Path(plan.source), plan.digest)
        reached = ground.reachable_hosts(access)
        network = ground.fabric.network
        label = label_of(plan.digest, journal.events(), resume=options.resume)
        nornir = opened.enter_context(open_fleet(network, reached))
        servers = [name for wave in plan.waves for name in wave.gate.servers]
        # A run that goes back continues with the switches that it can reach.
        if not (options.resume and _goes_back(journal)):
            changing = [name for wave in plan.waves for name in wave.devices]
            require_credentials(nornir, [*with_neighbours(network, changing), *servers])
        # An act that may hang has separate sessions, which end_checks closes after its time limit.
        beside = opened.enter_context(open_fleet(network, reached))
        clock = Clock(reached.time_scale)
        switches = NapalmSwitches(nornir, network, label, secrets, plan.settle_s, clock)

        def check_plan(seen: Mapping[str, SwitchState]) -> None:
            if options.derives:
                texts = dict(switches.running)
                if plan.limit:  # the fabric that results depends on the other switches, too
                    names = [node.name for node in network.nodes if node.name not in texts]
                    texts |= collect_running(beside, names)  # of none the intent counts instead
                refuse_forged(plan, access, seen, texts, again=label.left_trials)

        gate = gate_of()
        calendars = (rules or history_of(journal.events()).rules or ApplyRules(0)).calendars
        guards = WaveGuards(
            gate.guard(plan, beside, options.drained, clock.scale),
            WaveWindows.of(plan, network, calendars, gate.seconds, clock.scale),
        )
        records = GateRecords(plan, run.records)
        config = RolloutConfig(
            plan=plan,
            switches=switches,
            run_gate=partial(gate.runner(network, reached, records, options.gate), beside),
            journal=journal,
            texts=KeptTexts(run.texts),
            listeners=listeners,
            options=options,
            stop=stop,
            rules=rules,
            run_id=label.run,
            fabric="" if options.resume else keep_fabric(run, ground.fabric),
            hosts=reached.hosts,
            sleep=clock.sleep,
            monotonic=clock.now,
            scale=clock.scale,
            approve_with=run.approve,
            live=_live(beside, ground, switches, plan.settle_s, clock),
            end_checks=lambda: end_fleet(beside),
            check_plan=check_plan,
            notes=lambda: (*accepted, *gate.notes(beside, servers)),
            guards=guards if on_site else UNGUARDED,
        )
        return RolloutLoop(config).run()


def _rules(plan: Plan, run: RunDirectory, fabric: KeptFabric, options: ApplyOptions) -> ApplyRules:
    """Rules of a new run, from the valid policy and the caller's options."""
    if options.rules is not None:
        return options.rules
    policy = approval_policy(plan, options.base)
    approvals = policy.approvals or fabric.policy.approvals
    author = _author(plan, run, approvals, options)
    rules = rules_for(plan, approvals, fabric.policy.max_unavailable, author, options)
    sentence = policy.sentence(plan)
    return replace(rules, policy=sentence, approvals=approvals, calendars=policy.calendars)


def _author(plan: Plan, run: RunDirectory, policy: Approvals, options: ApplyOptions) -> str:
    """Author of the plan: its signer, if it is signed. Raises Refused as the policy requires."""
    author = plan.author
    if options.signers:
        author = signer_of(run.plan, options.signers, plan.digest)
    if policy.signed or (run.signature.exists() and policy.signers):
        with signers_file(policy.signers) as allowed:
            return signer_of(run.plan, allowed, plan.digest)
    if not options.signers:
        refuse_unjudged(run.plan)
    return author


def _sealed_fabric(
    plan: Plan, run: RunDirectory, journal: SqliteJournal, *, resume: bool
) -> SealedFabric:
    """Fabric of a run with an existing journal.

    Refuses to begin a run while another is unfinished, and to resume a finished one. A run that
    goes forward needs the signatures that its rules require; a rollback needs none.
    """
    history, where = history_of(journal.events()), str(run.journal)
    if not resume:
        if history.running:
            how = "`rocefort resume` continues it"
            raise Refused("its run of this plan is unfinished", where=where, how=how)
        return load_fabric_of_plan(plan)
    if not history.running:
        refuse_empty(plan)
        what, how = history.why_not_running
        raise Refused(what, where=where, how=how)
    if history.rules and not _goes_back(journal):
        _check_signer(plan, run, history.rules)
    return load_fabric_of_run(plan, run, history.fabric)


def _goes_back(journal: SqliteJournal) -> bool:
    """Whether the run has failed, or an operator has requested its end: its wave is rolled back."""
    aborted = any(request.kind == "abort" for request in journal.requests())
    return aborted or history_of(journal.events()).failure is not None


def _check_signer(plan: Plan, run: RunDirectory, rules: ApplyRules) -> None:
    """Raise BadInput or Refused if the plan is not signed by an allowed signer."""
    try:
        if rules.signers or (rules.keys and run.signature.exists()):
            with allowed_by(rules) as allowed:
                signer_of(run.plan, allowed, plan.digest)
        else:
            refuse_unjudged(run.plan)
    except (BadInput, Refused) as error:
        what, where, how = error.problem.what, error.problem.where, error.problem.how
        back = "to roll back without one: `rocefort abort`, then `rocefort resume`"
        raise type(error)(what, where=where, how=f"{how}; {back}") from None


def _live(
    nornir: Nornir, ground: SealedFabric, switches: NapalmSwitches, settle_s: float, clock: Clock
) -> WaveChecks:
    """Live checks over separate sessions."""
    network = ground.fabric.network

    def read(names: Sequence[str], beside: Sequence[str]) -> Observed:
        refuse_ended(nornir)  # otherwise a hanging check would read again and again
        return observe(nornir, network, names, beside=beside, keep=True)

    checks = LiveChecks(
        read, ground.sources, settle_s=settle_s, sleep=clock.sleep, monotonic=clock.now
    )

    def leave(needed: Collection[str]) -> None:
        hosts = nornir.inventory.hosts
        close_sessions(hosts[name] for name in hosts.keys() - set(needed))

    return WaveChecks(
        network,
        checks,
        lambda: switches.running,
        lambda names: _texts(nornir, names),
        leave,
        monotonic=clock.now,
    )


def _texts(nornir: Nornir, names: Sequence[str]) -> dict[str, str]:
    """Running text of each reachable switch; the others are not part of the rollout."""
    try:
        return collect_running(nornir, names)
    except DeviceFailed:
        texts: dict[str, str] = {}
        for name in names:
            with suppress(DeviceFailed):
                texts |= collect_running(nornir, [name])
        return texts
