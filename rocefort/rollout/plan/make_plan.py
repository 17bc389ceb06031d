"""Steps of a plan: collect running texts, check the change, make waves, seal and sign."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocefort.base.clock import utc_now
from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, Problem, Refused
from rocefort.change.difference import ComparedSwitch, side_of
from rocefort.change.effects.both_ends import refuse_two_sided
from rocefort.change.effects.switch_configs import SwitchConfigs, adopted_drift, sides_of
from rocefort.change.effects.wave_impact import WaveImpact
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.load.documents import find_fabric
from rocefort.design.subject import ReadNetwork, subject_of_derived
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.secrets import check_rotation
from rocefort.fleet.connections import Connections
from rocefort.fleet.running_configs import open_switches
from rocefort.fleet.switch_steps import collect_running
from rocefort.models.change.plan import Gate, Plan, Wave, digest_of
from rocefort.models.device.device import Device
from rocefort.models.finding import Severity
from rocefort.models.network.network import Network, SwitchRole
from rocefort.models.wording import count_of
from rocefort.rollout.controller.napalm_switches import collect_trials
from rocefort.rollout.gates import GateFeature, gate_of
from rocefort.rollout.journal.pending_trials import trial_problems
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.operator import user
from rocefort.rollout.plan.base_policy import pinned
from rocefort.rollout.plan.procedures import refuse_beyond_trial
from rocefort.rollout.planning.limit import limit_of, limited_to
from rocefort.rollout.planning.lockout import refuse_lockout
from rocefort.rollout.planning.sealed_files import (
    changed_files,
    check_tool,
    sealed_files,
    sign,
    site_files,
    tool,
)
from rocefort.rollout.planning.waves import make_waves, with_trial_time
from rocefort.validators.checks import check
from rocefort.validators.routing.engine import Solution, analyse
from rocefort.validators.rules.verification.answers import verify
from rocefort.verification.capacity import capacity_of, demand_of


@dataclass(frozen=True)
class PlanOptions:
    """Options of a plan besides its fabric.

    rotate: references whose secrets are set again on every switch that has them. base: the intent
    that was rolled out last (a fabric, or REV:path), against which drift shows. adopt: drift that
    the plan may overwrite, `leaf01` or `leaf01:PATTERN`. limit: names and patterns of the only
    switches that may change; empty: all. new: leaves that changed and had no BGP before.
    """

    rotate: Collection[str] = ()
    base: str = ""
    adopt: Sequence[str] = ()
    limit: Sequence[str] = ()
    new: Collection[str] = ()


def intent_digest(derived: DerivedNetwork) -> str:
    """Digest of a fabric's meaning; comments and order of its file do not count."""
    network = derived.network.model_dump(mode="json", exclude={"nodes": {"__all__": {"hardware"}}})
    return digest_of(
        [network, derived.fabric.rdma.model_dump(), derived.fabric.rollout.model_dump()]
    )


def sealed_fabric(plan: Plan) -> DerivedNetwork:
    """Fabric of a plan; raises Refused if one of its inputs has changed."""
    check_tool(plan)
    changed = changed_files(plan)
    if others := [problem for problem in changed if problem.where != plan.source]:
        raise Refused(problems=others[:1])
    derived = derive(Path(plan.source))
    if intent_digest(derived) != plan.intent_digest:
        raise Refused("the fabric has changed since the plan", where=plan.source, how="plan again")
    if changed:
        raise Refused(problems=changed[:1])
    return derived


def running_at_rest(fabric: Path, access: Connections) -> dict[str, str]:
    """Running text by switch; raises Refused while a switch is on trial, whose text may change."""
    with open_switches(fabric, access) as (nornir, names):
        before = collect_trials(nornir, names)
        running = collect_running(nornir, names)  # raises for a switch that cannot be read
        for trials in (before, collect_trials(nornir, names)):  # one may have begun meanwhile
            if problems := list(trial_problems(trials, utc_now(), access.time_scale)):
                raise Refused(problems=problems)
        return running


def make_plan(
    fabric: Path,
    access: Connections,
    running: Mapping[str, str],
    wishes: PlanOptions | None = None,
    *,
    changed: Collection[str] = (),
) -> Plan:
    """Check, verify, then seal a plan.

    changed: switches that are in its waves although they run their target.
    Raises Refused for a fabric with errors, a limit that leaves new errors, unowned drift, a
    possible lockout, a session whose ends change in two waves and do not match meanwhile, a spine
    that the others cannot replace, and trials that end before their checks; NeedsMaintenance for a
    change that no trial can make.
    """
    wishes = wishes or PlanOptions()
    derived = derive(fabric)
    check_rotation(derived.network, wishes.rotate)
    subject = subject_of_derived(derived)
    solution = _refuse_errors(subject)
    last = side_of(wishes.base, str(find_fabric(fabric))).switches if wishes.base else {}
    lines = {name: switch.own for name, switch in last.items()}
    configs = sides_of(subject.network, running, wishes.rotate, lines)
    sides = {each.node.name: each for each in configs}
    chosen = limited_to(wishes.limit, sides)
    owned = adopted_drift(chosen.values(), _last(last, sides), wishes.adopt)
    refuse_beyond_trial(subject.network, chosen)
    refuse_two_sided(subject.network, chosen)
    refuse_lockout(chosen.values(), {device.name: device.user for device in access.devices})
    demand = demand_of(fabric, None, subject.network)
    capacity = capacity_of(subject, demand, solution) if _asks(subject, chosen) else None
    policy = derived.fabric.rollout
    judge = WaveImpact(subject.network, sides, policy, capacity if demand.demand else None)
    changing = [n for n, each in chosen.items() if n in changed or not each.whole.empty]
    gate = gate_of()
    leaves = {node.name for node in subject.network.role(SwitchRole.LEAF)}
    new = {*wishes.new, *(n for n in leaves if n in sides and sides[n].running.bgp is None)}
    waves = _waves(derived, subject, (changing, new), access, gate)
    source = find_fabric(fabric).resolve()
    demands = [Path(demand.file)] if demand.file else []
    plan = Plan(
        fabric=derived.fabric.fabric,
        source=str(source),
        tool=tool(),
        author=user(),
        intent_digest=intent_digest(derived),
        files=sealed_files([source, *demands, *site_files(source)]),
        base=pinned(wishes.base, find_fabric(fabric)),
        adopted=owned,
        rotated=tuple(sorted(wishes.rotate)),
        limit=limit_of(wishes.limit, subject.network, subject.sources, sides, chosen),
        trial_s=policy.trial_s,
        settle_s=policy.settle_s,
        changes=tuple(each.whole if n in chosen else each.none for n, each in sides.items()),
        waves=judge.assess(waves),
    )
    timed = with_trial_time(plan, policy, gate.seconds, str(find_fabric(fabric)))
    return gate.covered(timed, access.time_scale).seal()


def _waves(
    derived: DerivedNetwork,
    subject: ReadNetwork,
    switches: tuple[Sequence[str], Collection[str]],
    access: Connections,
    gate: GateFeature,
) -> tuple[Wave, ...]:
    """Waves of changing switches; the others are leaves without BGP so far."""
    rdma, policy, (changing, new) = derived.fabric.rdma, derived.fabric.rollout, switches

    def gate_for(devices: Sequence[str], unrouted: Collection[str]) -> Gate:
        return gate.plan(_without(subject.network, unrouted), rdma, devices, access)

    canary, most = policy.canary, policy.max_unavailable
    return make_waves(subject.network, changing, canary, most, gate_for, new)


def _without(network: Network, leaves: Collection[str]) -> Network:
    """Return a network without some leaves and their servers: nothing can be measured there."""
    if not leaves:
        return network
    nodes = tuple(node for node in network.nodes if node.name not in leaves)
    servers = tuple(
        server
        for server in network.servers or ()
        if not any(port.device in leaves for port in server.ports)
    )
    return network.model_copy(update={"nodes": nodes, "servers": servers})


def _asks(subject: ReadNetwork, sides: Mapping[str, SwitchConfigs]) -> bool:
    """Whether a spine changes so that the other spines must carry its traffic."""
    spines = subject.network.role(SwitchRole.SPINE)
    return any(n.name in sides and sides[n.name].whole.service_affecting for n in spines)


def _last(
    switches: Mapping[str, ComparedSwitch], sides: Mapping[str, SwitchConfigs]
) -> Mapping[str, Device]:
    """Devices of the intent that was rolled out last, in the form that the switches save."""
    return {
        name: dialect_of(sides[name].family).normal_form(switch.device, sides[name].family)
        for name, switch in switches.items()
        if name in sides
    }


def _refuse_errors(subject: ReadNetwork) -> Solution:
    report = check(subject.network, subject.sources)
    solution = analyse(subject.network, subject.sources)
    verified = verify(subject.network, solution.state, subject.sources, solution)
    errors = [f for f in (*report.findings, *verified.findings) if f.severity is Severity.ERROR]
    if errors:
        raise Refused(
            f"{count_of(len(errors), 'finding')} of severity error, the first: {errors[0].message}",
            where=str(errors[0].where),
            how="correct the fabric; `rocefort check` and `rocefort verify` list all findings",
        )
    return solution


def signed(plan: Path, key: Path | None) -> str:
    """Sign a plan's file if a key is named; returns the file of the signature, or ""."""
    if key is None:
        RunDirectory.of(plan).signature.unlink(missing_ok=True)  # of an older plan of this name
        return ""
    return str(sign(plan, key))


def devices_of(plan: Plan, names: Sequence[str]) -> tuple[str, ...]:
    """Switches of a plan by name; without names, all changed switches."""
    changed = [change.device for change in plan.changes]
    problems = [
        Problem(name, "is not in the plan", nearest(name, changed))
        for name in names
        if name not in changed
    ]
    if problems:
        raise BadInput(problems=problems)
    return tuple(names) or tuple(change.device for change in plan.changes if not change.empty)
