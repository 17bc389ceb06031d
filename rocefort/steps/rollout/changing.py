"""Steps of a change: apply a plan, and go on with one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nornir.core import Nornir

from rocefort.clock import Clock
from rocefort.errors import BadInput, DeviceFailed, Refused
from rocefort.fleet.connections import Connections
from rocefort.fleet.runner import end_fleet, open_fleet, refuse_ended
from rocefort.models.change import Gate, Plan
from rocefort.models.history import History, history_of
from rocefort.models.kept_fabric import KeptFabric
from rocefort.models.network import Network
from rocefort.models.observed import Observed
from rocefort.models.rollout import Applied, Rules, Seen
from rocefort.rdma.gate import run_gate
from rocefort.rollout.engine import APPLY_AGAIN, Rollout, believed
from rocefort.rollout.journal import Listener, SqliteJournal, open_journal
from rocefort.rollout.kept_fabrics import keep_fabric
from rocefort.rollout.label import label_of
from rocefort.rollout.live import LiveChecks
from rocefort.rollout.observing import close_sessions, observe
from rocefort.rollout.ports import Verdict
from rocefort.rollout.secrets import references_of
from rocefort.rollout.switches import NapalmSwitches, collect_running
from rocefort.rollout.texts import kept_beside
from rocefort.rollout.watching import WaveChecks
from rocefort.steps.fabric.judging import read_secrets
from rocefort.steps.rollout.deriving_again import refuse_forged
from rocefort.steps.rollout.ground import Ground, ground_of_plan, ground_of_run
from rocefort.steps.rollout.holding import holding
from rocefort.steps.rollout.queue_gate import QueueGate
from rocefort.steps.stopping import stop_on_signals

RunGate = Callable[[Nornir, Gate], Verdict]


@dataclass(frozen=True, slots=True)
class Manner:
    """How this life of a controller works: how long it waits for an approval, or why without.

    gate: what runs the gate of a wave, where it is another than the connections ask for.
    derives: whether a new run derives its plan again; not on a twin, which is reached otherwise.
    approve_with: the command that approves a wave of this run, without the wave. again: what
    whoever interrupts it does to go on.
    """

    patience_s: float = 0.0
    break_glass: str = ""
    gate: RunGate | None = None
    derives: bool = True
    approve_with: str = "rocefort approve PLAN"
    again: str = APPLY_AGAIN

    def __post_init__(self) -> None:
        if not self.break_glass.isprintable():  # it would be a row of its own in a history
            how = "write the reason in one line, without control characters"
            raise BadInput("the reason is not one line", where="--break-glass", how=how)


RulesOf = Callable[[KeptFabric], Rules]  # what holds beside the plan, by the policy of its fabric


def apply_plan(  # noqa: PLR0913, PLR0917 - how, beside what and where
    plan: Plan,
    access: Connections,
    journal: Path,
    listeners: Sequence[Listener],
    rules: Rules | RulesOf | None = None,
    manner: Manner | None = None,
) -> Applied:
    """Carry a plan out; Ctrl-C rolls the wave under way back.

    rules: what holds beside the plan; without them a wave may be as large as the largest. Raises
    Refused where another controller is at work on these switches, the journal has a run of this
    plan that did not end, or the fabric is no longer the one that was planned.
    """
    return _carry_out(plan, access, journal, listeners, rules=rules, manner=manner)


def resume_plan(
    plan: Plan,
    access: Connections,
    journal: Path,
    listeners: Sequence[Listener],
    manner: Manner | None = None,
) -> Applied:
    """Go on with a run that was paused, or whose controller died, on the fabric that it has kept.

    Raises as apply_plan, but for edits of the fabric, which do not count.
    """
    if not journal.is_file():
        raise BadInput("no such journal", where=str(journal), how="begin by `rocefort apply`")
    return _carry_out(plan, access, journal, listeners, manner=manner, resume=True)


def _carry_out(  # noqa: PLR0913 - how, beside what and where
    plan: Plan,
    access: Connections,
    journal: Path,
    listeners: Sequence[Listener],
    *,
    rules: Rules | RulesOf | None = None,
    manner: Manner | None = None,
    resume: bool = False,
) -> Applied:
    manner = manner or Manner()
    with ExitStack() as opened:
        # The lock is first: a second controller is refused at once.
        opened.enter_context(holding(access))
        stop = opened.enter_context(stop_on_signals())
        secrets = read_secrets(references_of(plan))  # before anything is touched
        ground = None if journal.is_file() else ground_of_plan(plan)
        notes = opened.enter_context(open_journal(journal, plan.digest))
        ground = ground or _ground(plan, notes, journal, resume=resume)
        given, access = access, ground.reached(access)
        network = ground.fabric.network
        label = label_of(plan.digest, notes.events(), resume=resume)
        nornir = opened.enter_context(open_fleet(network, access))
        # What may hang has sessions of its own, which are taken from it once its time is over.
        beside = opened.enter_context(open_fleet(network, access))
        clock = Clock(access.time_scale)
        switches = NapalmSwitches(nornir, network, label, secrets, plan.settle_s, clock)
        rollout = Rollout(
            plan=plan,
            switches=switches,
            run_gate=partial(manner.gate or _gate_for(network, access), beside),
            journal=notes,
            texts=kept_beside(journal),
            listeners=listeners,
            stop=stop,
            rules=rules(ground.fabric) if callable(rules) else rules,
            resume=resume,
            run_id=label.run,
            fabric="" if resume else keep_fabric(journal, ground.fabric),
            sleep=clock.sleep,
            monotonic=clock.now,
            scale=clock.scale,
            patience_s=manner.patience_s,
            approve_with=manner.approve_with,
            break_glass=manner.break_glass,
            again=manner.again,
            live=_live(beside, ground, switches, plan.settle_s, clock),
            end_checks=lambda: end_fleet(beside),
            check_plan=_check_for(plan, given, switches, again=label.left_trials)
            if manner.derives
            else believed,
        )
        return rollout.run()


def _check_for(
    plan: Plan, access: Connections, switches: NapalmSwitches, *, again: bool
) -> Callable[[Mapping[str, Seen]], None]:
    """The check of a new run that its plan follows from the fabric and what runs."""
    return lambda seen: refuse_forged(plan, access, seen, switches.running, again=again)


def _ground(plan: Plan, notes: SqliteJournal, journal: Path, *, resume: bool) -> Ground:
    """What a run stands on whose journal is there; raises Refused as `_check_run` does."""
    history = history_of(notes.events())
    _check_run(history, journal, resume=resume)
    if resume:
        return ground_of_run(plan, journal, history.fabric)
    return ground_of_plan(plan)


def _gate_for(network: Network, access: Connections) -> RunGate:
    """perftest; between guests of a lab, where nothing else sends, also what left which queue."""
    return QueueGate(network) if access.servers_note else run_gate


def _live(
    nornir: Nornir, ground: Ground, switches: NapalmSwitches, settle_s: float, clock: Clock
) -> WaveChecks:
    """The live checks, over sessions of their own."""
    network = ground.fabric.network

    def read(names: Sequence[str], beside: Sequence[str]) -> Observed:
        refuse_ended(nornir)  # or who hung in it would look again, and again
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
    """What switches run, of those that can be asked: the others are not what is rolled out."""
    try:
        return collect_running(nornir, names)
    except DeviceFailed:
        found: dict[str, str] = {}
        for name in names:
            with suppress(DeviceFailed):
                found |= collect_running(nornir, [name])
        return found


def _check_run(history: History, journal: Path, *, resume: bool) -> None:
    """Refuse to begin anew over a run that did not end, and to go on with one that did."""
    if history.running and not resume:
        raise Refused(
            "its run of this plan did not end",
            where=str(journal),
            how="`rocefort resume` goes on with it",
        )
    if resume and not history.running:
        raise Refused(
            "has no unfinished run of this plan",
            where=str(journal),
            how="`rocefort apply` begins one",
        )
