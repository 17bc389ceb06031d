"""Steps of a change: apply a plan, and go on with one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from nornir.core import Nornir

from rocefort.design.derive import Derived
from rocefort.errors import BadInput, DeviceFailed, Refused
from rocefort.fleet.connections import Connections
from rocefort.fleet.runner import open_fleet
from rocefort.models.change import Plan
from rocefort.models.rollout import Applied, Rules
from rocefort.rdma.gate import run_gate
from rocefort.rollout.engine import Rollout
from rocefort.rollout.history import history_of
from rocefort.rollout.journal import Listener, SqliteJournal, open_journal
from rocefort.rollout.live import LiveChecks
from rocefort.rollout.lock import one_controller
from rocefort.rollout.observing import observe
from rocefort.rollout.secrets import references_of
from rocefort.rollout.switches import NapalmSwitches, collect_running
from rocefort.rollout.texts import kept_beside
from rocefort.rollout.watching import WaveChecks
from rocefort.steps.judging import read_secrets
from rocefort.steps.planning import sealed_fabric
from rocefort.steps.stopping import stop_on_signals


@dataclass(frozen=True, slots=True)
class Manner:
    """How this life of a controller works: how long it waits for an approval, or why without."""

    patience_s: float = 0.0
    break_glass: str = ""


def apply_plan(  # noqa: PLR0913, PLR0917 - how, beside what and where
    plan: Plan,
    access: Connections,
    journal: Path,
    listeners: Sequence[Listener],
    rules: Rules | None = None,
    manner: Manner | None = None,
) -> Applied:
    """Carry a plan out; Ctrl-C rolls the wave under way back.

    rules: what holds beside the plan; without them a wave may be as large as the largest. Raises
    Refused where the fabric is no longer the one that was planned, another controller is at work
    on these switches, or the journal has a run of this plan that did not end.
    """
    return _carry_out(plan, access, journal, listeners, rules=rules, manner=manner)


def resume_plan(
    plan: Plan,
    access: Connections,
    journal: Path,
    listeners: Sequence[Listener],
    manner: Manner | None = None,
) -> Applied:
    """Go on with a run that was paused, or whose controller died; raises as apply_plan."""
    if not journal.is_file():
        raise BadInput("no such journal", where=str(journal), how="begin by `rocefort apply`")
    return _carry_out(plan, access, journal, listeners, manner=manner, resume=True)


def _carry_out(  # noqa: PLR0913 - how, beside what and where
    plan: Plan,
    access: Connections,
    journal: Path,
    listeners: Sequence[Listener],
    *,
    rules: Rules | None = None,
    manner: Manner | None = None,
    resume: bool = False,
) -> Applied:
    manner = manner or Manner()
    derived = sealed_fabric(plan)
    secrets = read_secrets(references_of(plan))  # before anything is touched
    with (
        one_controller(f"{device.host}:{device.port}" for device in access.devices),
        open_journal(journal, plan.digest) as notes,
        open_fleet(derived.network, access) as nornir,
        stop_on_signals() as stop,
    ):
        _check_run(notes, journal, resume=resume)
        switches = NapalmSwitches(nornir, derived.network, plan.digest, secrets=secrets)
        rollout = Rollout(
            plan=plan,
            switches=switches,
            run_gate=lambda gate: run_gate(nornir, gate),
            journal=notes,
            texts=kept_beside(journal),
            listeners=listeners,
            stop=stop,
            rules=rules,
            resume=resume,
            sleep=time.sleep,
            patience_s=manner.patience_s,
            break_glass=manner.break_glass,
            live=_live(nornir, derived, switches),
        )
        return rollout.run()


def _live(nornir: Nornir, derived: Derived, switches: NapalmSwitches) -> WaveChecks:
    """The live checks, over sessions of their own."""
    network = derived.network
    checks = LiveChecks(
        lambda names, beside: observe(nornir, network, names, beside=beside), derived.sources
    )
    return WaveChecks(
        network, checks, lambda: switches.running, lambda names: _texts(nornir, names)
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


def _check_run(notes: SqliteJournal, journal: Path, *, resume: bool) -> None:
    """Refuse to begin anew over a run that did not end, and to go on with one that did."""
    unfinished = history_of(notes.events()).running
    if unfinished and not resume:
        raise Refused(
            "its run of this plan did not end",
            where=str(journal),
            how="`rocefort resume` goes on with it",
        )
    if resume and not unfinished:
        raise Refused(
            "has no unfinished run of this plan",
            where=str(journal),
            how="`rocefort apply` begins one",
        )
