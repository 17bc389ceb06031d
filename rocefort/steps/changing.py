"""Steps of a change: collect what runs, plan, apply, and run a lab to do it on."""

from __future__ import annotations

import signal
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from rocefort.design.derive import Derived, derive
from rocefort.design.load import find_fabric
from rocefort.errors import Refused
from rocefort.fleet.connections import Connections
from rocefort.fleet.runner import open_fleet
from rocefort.models.change import Plan, digest_of
from rocefort.models.finding import Severity
from rocefort.models.rollout import Applied
from rocefort.rdma.gate import plan_gate, run_gate
from rocefort.rollout.apply import Rollout
from rocefort.rollout.journal import Listener, open_journal
from rocefort.rollout.lock import one_controller
from rocefort.rollout.plan import make_changes, make_waves
from rocefort.rollout.secrets import check_rotation, references_of
from rocefort.rollout.switches import NapalmSwitches, collect_running
from rocefort.steps.judging import (
    Subject,
    read_secrets,
    running_texts,
    subject_of,
    subject_of_derived,
)
from rocefort.steps.rehearsal import rehearse
from rocefort.steps.stopping import stop_on_signals
from rocefort.validators import check
from rocefort.validators.routing import analyse
from rocefort.validators.verification import verify


def intent_digest(derived: Derived) -> str:
    """Digest of all that a fabric means; comments and order of its file do not count."""
    network = derived.network.model_dump(mode="json", exclude={"nodes": {"__all__": {"hardware"}}})
    return digest_of(
        [network, derived.fabric.rdma.model_dump(), derived.fabric.rollout.model_dump()]
    )


def running_of(fabric: Path, access: Connections, directory: Path | None) -> dict[str, str]:
    """What runs: text by switch, of a directory or asked of the switches now."""
    if directory is not None:
        return running_texts(directory)
    network = derive(fabric).network
    with open_fleet(network, access) as nornir:
        return collect_running(nornir, [node.name for node in network.nodes])


def make_plan(
    fabric: Path,
    access: Connections,
    running: Mapping[str, str],
    rotate: Collection[str] = (),
) -> Plan:
    """Check, verify, then seal a plan; a fabric with errors is refused.

    rotate: references whose secrets are set again on every switch that has them.
    """
    derived = derive(fabric)
    check_rotation(derived.network, rotate)
    subject = subject_of_derived(derived)
    _refuse_errors(subject)
    changes = make_changes(subject.network, running, rotate)
    rdma, rollout = derived.fabric.rdma, derived.fabric.rollout
    servers = [server.name for server in access.servers]
    waves = make_waves(
        subject.network,
        [change.device for change in changes if not change.empty],
        rollout.canary,
        rollout.max_unavailable,
        lambda devices: plan_gate(subject.network, rdma, devices, access.speed_note, servers),
    )
    return Plan(
        fabric=derived.fabric.fabric,
        source=str(find_fabric(fabric).resolve()),
        tool=f"rocefort {version('rocefort')}",
        intent_digest=intent_digest(derived),
        trial_s=rollout.trial_s,
        changes=changes,
        waves=waves,
    ).seal()


def _refuse_errors(subject: Subject) -> None:
    report = check(subject.network, subject.sources)
    solution = analyse(subject.network, subject.sources)
    verified = verify(subject.network, solution.state, subject.sources, solution)
    errors = [f for f in (*report.findings, *verified.findings) if f.severity is Severity.ERROR]
    if errors:
        raise Refused(
            f"{len(errors)} findings of severity error, the first: {errors[0].message}",
            where=str(errors[0].where),
            how="mend the fabric; `rocefort check` and `rocefort verify` list them all",
        )


def apply_plan(
    plan: Plan, access: Connections, journal: Path, listeners: Sequence[Listener]
) -> Applied:
    """Carry a plan out; Ctrl-C rolls the wave under way back.

    Raises Refused where the fabric is no longer the one that was planned, or another controller is
    at work on these switches.
    """
    derived = derive(Path(plan.source))
    if intent_digest(derived) != plan.intent_digest:
        raise Refused("the fabric has changed since the plan", where=plan.source, how="plan again")
    secrets = read_secrets(references_of(plan))  # before anything is touched
    with (
        one_controller(f"{device.host}:{device.port}" for device in access.devices),
        open_journal(journal, plan.digest) as notes,
        open_fleet(derived.network, access) as nornir,
        stop_on_signals() as stop,
    ):
        rollout = Rollout(
            plan=plan,
            switches=NapalmSwitches(nornir, derived.network, plan.digest, secrets=secrets),
            run_gate=lambda gate: run_gate(nornir, gate),
            journal=notes,
            listeners=listeners,
            stop=stop,
        )
        return rollout.run()


def run_lab(fabric: Path, state: Path, say: Callable[[str], None]) -> None:
    """Run a lab until it is interrupted."""
    subject = subject_of(fabric, None)
    with rehearse(subject.network, subject.texts, state) as rehearsal:
        for access in (*rehearsal.connections.devices, *rehearsal.connections.servers):
            say(f"{access.name:<12} ssh -p {access.port} {access.user}@{access.host}")
        say(f"connections: {rehearsal.file}; passwords in {state}/*.secret; Ctrl-C ends the lab")
        # A shell's background job ignores Ctrl-C's signal, so `kill` has to end the lab as well.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with suppress(KeyboardInterrupt):
            signal.pause()
