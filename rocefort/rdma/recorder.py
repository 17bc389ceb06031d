"""Read the record of a run: what is in force before it, and the counters before and after it.

Switches are read as by `health`, servers as by `host check`, and judged by the same rules. What
cannot be read is a sentence of the record; no run fails for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nornir.core import Nornir

from rocefort.base.clock import utc_now
from rocefort.base.errors import BadInput, RocefortError
from rocefort.change.effects.switch_configs import sides_of
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.derive.host_plans import host_plans
from rocefort.design.git_revisions import commit_state
from rocefort.fleet.inventory import LIVE_SESSION
from rocefort.fleet.switch_steps import run_on_switches
from rocefort.models.change.compare import compare
from rocefort.models.change.plan import digest_of
from rocefort.models.finding import Report
from rocefort.models.network.network import Network, Sources
from rocefort.models.network.observed import DeviceSeen, Observed, StateTopic
from rocefort.models.network.servers import HostPlan, HostSeen, HostsSeen
from rocefort.rdma.run.counters import read_nics
from rocefort.rdma.run_record import (
    CounterReading,
    FabricState,
    RunRecord,
    SwitchSettings,
    roce_ports_of,
    setting_differences,
    settings_of,
)
from rocefort.rdma.server_readings import observe_hosts
from rocefort.rollout.live.readings import NOT_REQUESTED, observe
from rocefort.validators.checks import check_hosts, check_live, rules
from rocefort.validators.rules.live.switch_readings import LiveSubject, SwitchReadings

COUNTED = (
    StateTopic.PORTS,
    StateTopic.PFC_COUNTERS,
    StateTopic.QUEUES,
    StateTopic.AI_ECN,
    StateTopic.ECN_MARKS,
    StateTopic.CLOCK,
    StateTopic.CPU,
    StateTopic.MEMORY,
)
IN_FORCE = (
    StateTopic.FACTS,
    StateTopic.PFC_PORTS,
    StateTopic.PFC_PROFILES,
    StateTopic.THRESHOLDS,
    *COUNTED,
)
LOSSLESS_RULES = ("LIV012", "LIV013", "LIV017")  # PFC of ports, its thresholds, AI-ECN
MOST_EDITS = 20  # of a switch, by name; a switch before its first rollout has thousands


@dataclass(frozen=True)
class RecordedFabric:
    """Fabric of a record: its network, its state, and the required settings of its servers.

    without_plans: reason why no settings of servers are known.
    """

    network: Network
    state: FabricState
    plans: Mapping[str, HostPlan] = field(default_factory=dict)
    sources: Sources | None = None
    without_plans: str = ""

    @classmethod
    def of(cls, derived: DerivedNetwork) -> RecordedFabric:
        """Fabric of a run by its files."""
        plans, why = dict[str, HostPlan](), ""
        try:
            plans = host_plans(derived)
        except BadInput as error:
            why = error.problem.what
        source = Path(derived.document.file)
        state = fabric_state(source, digest_of(derived.fabric.model_dump(mode="json")))
        return cls(derived.network, state, plans, derived.sources, why)


def fabric_state(source: Path, digest: str) -> FabricState:
    """Return the state of a fabric's files. digest: of its content."""
    state = commit_state(source)
    return FabricState(
        source=state.path,
        digest=digest,
        commit=state.commit,
        uncommitted=state.uncommitted,
        why=state.why,
    )


@dataclass(frozen=True)
class RunRecorder:
    """Recorder of one run.

    switches: those whose counters and settings are read. plan: digest of
    the rollout before the run, if known. wave: of a gate.
    """

    nornir: Nornir
    fabric: RecordedFabric
    servers: tuple[str, ...]
    switches: tuple[str, ...]
    deadline_s: float
    emulated: bool = False
    plan: str = ""
    wave: str = ""

    def begin(self) -> RunRecord:
        """Read what is in force, and the counters; `after` of the record is its `before`."""
        settings = tuple(self._settings())
        hosts = self._hosts()
        before = self._counters(IN_FORCE)
        differences = (
            *(text for each in settings for text in self._setting_texts(each)),
            *self._lossless_findings(before),
            *self._host_findings(hosts),
        )
        return RunRecord(
            fabric=self.fabric.state,
            plan=self.plan,
            wave=self.wave,
            queue=None if (lossless := self.fabric.network.lossless) is None else lossless.queue,
            emulated=self.emulated,
            before=before,
            after=before,
            switches=settings,
            hosts=hosts,
            differences=tuple(dict.fromkeys(differences)),
            unread=tuple(dict.fromkeys(self._unread(before, settings, hosts))),
        )

    def end(self, begun: RunRecord) -> RunRecord:
        """Return the record with the counters after the run."""
        return begun.model_copy(update={"after": self._counters(COUNTED)})

    def _counters(self, topics: Collection[StateTopic]) -> CounterReading:
        at = utc_now()
        nics, lacking = read_nics(self.nornir, self.servers)
        network = self.fabric.network
        seen = observe(self.nornir, network, self.switches, topics=topics).devices
        switches = tuple(_of_roce(network, each) for each in seen)
        return CounterReading(at=at, switches=switches, nics=nics, unread=lacking)

    def _settings(self) -> Iterator[SwitchSettings]:
        """Yield the configuration of each switch, read back."""
        running = run_on_switches(
            self.nornir,
            self.switches,
            lambda driver, _: driver.get_config("running")["running"],
            session=LIVE_SESSION,
        )
        for name in self.switches:
            text = running[name]
            if isinstance(text, RocefortError):
                yield SwitchSettings(device=name, why=text.problem.what)
                continue
            try:
                yield self._setting(name, str(text))
            except RocefortError as error:
                yield SwitchSettings(device=name, why=error.problem.what)

    def _setting(self, name: str, text: str) -> SwitchSettings:
        network = self.fabric.network
        alone = network.model_copy(update={"nodes": (network.by_name[name],)})
        (sides,) = sides_of(alone, {name: text})
        ports, lossless = roce_ports_of(network, name), network.lossless_of(name)
        ecn, pfc = (
            settings_of(sides.running, sides.family, ports, lossless.queue)
            if lossless is not None
            else ((), ())
        )
        edits = [edit.path for edit in compare(sides.running, sides.intended)]
        more = [f"and {len(edits) - MOST_EDITS} more"] if len(edits) > MOST_EDITS else []
        return SwitchSettings(
            device=name,
            digest=sides.digest(sides.running, sides.lines[0]),
            intended_digest=sides.digest(sides.intended, sides.lines[1]),
            edits=(*edits[:MOST_EDITS], *more),
            ecn=ecn,
            pfc=pfc,
        )

    def _setting_texts(self, read: SwitchSettings) -> Iterator[str]:
        """Yield a sentence for ECN and PFC of a switch that are not the intended ones."""
        network = self.fabric.network
        node = network.by_name[read.device]
        lossless = network.lossless_of(read.device)
        if read.why or lossless is None or node.family is None:
            return
        ports = roce_ports_of(network, node.name)
        ecn, pfc = settings_of(node.device, node.family, ports, lossless.queue)
        yield from setting_differences(f"{node.name} ECN", read.ecn, ecn)
        yield from setting_differences(f"{node.name} PFC", read.pfc, pfc)
        if read.digest != read.intended_digest:
            fields = ", ".join(read.edits) or "lines without a model"
            yield f"{node.name} does not run the configuration of the fabric: {fields}"

    def _lossless_findings(self, reading: CounterReading) -> Iterator[str]:
        network = self.fabric.network
        seen = Observed(fabric=network.name, at=reading.at, devices=reading.switches)
        run = rules(LOSSLESS_RULES, judges=LiveSubject)
        report = check_live(network, SwitchReadings(seen), self.fabric.sources, run=run)
        yield from _messages(report)

    def _hosts(self) -> tuple[HostSeen, ...]:
        plans = {n: self.fabric.plans[n] for n in self.servers if n in self.fabric.plans}
        return observe_hosts(self.nornir, plans, self.deadline_s) if plans else ()

    def _host_findings(self, hosts: tuple[HostSeen, ...]) -> Iterator[str]:
        network = self.fabric.network
        answered = tuple(host for host in hosts if not host.failed)
        if answered:
            seen = HostsSeen(fabric=network.name, hosts=answered)
            plans = {host.name: self.fabric.plans[host.name] for host in answered}
            yield from _messages(check_hosts(network, plans, seen, self.fabric.sources))

    def _unread(
        self,
        before: CounterReading,
        settings: Sequence[SwitchSettings],
        hosts: Sequence[HostSeen],
    ) -> Iterator[str]:
        for seen in before.switches:
            yield from (f"{seen.name}: {why}" for why in seen.failed)
            missing = {} if seen.failed else seen.missing
            yield from (f"{seen.name}: {topic}: {why}" for topic, why in missing.items())
        unread = (each for each in settings if each.why)
        yield from (f"{each.device}: its configuration: {each.why}" for each in unread)
        yield from (f"{host.name}: its settings: {host.failed}" for host in hosts if host.failed)
        for host in hosts:
            yield from (f"{host.name}: {what}: {why}" for what, why in _missing(host).items())
        if self.fabric.without_plans:
            yield f"settings of servers: {self.fabric.without_plans}"


def _missing(host: HostSeen) -> dict[str, str]:
    """Return what a server that answered does not show, with the reasons."""
    missing = dict(host.missing)
    for nic in host.nics:
        missing |= {f"{nic.name} {what}": why for what, why in nic.missing.items()}
        if nic.files is None:
            missing[f"{nic.name} DCQCN"] = "the kernel has no such files of the NIC"
    return {what.replace("_", " "): why for what, why in missing.items()}


def _of_roce(network: Network, seen: DeviceSeen) -> DeviceSeen:
    """Return a reading without ports that carry no RoCE, and without topics not requested."""
    ports = set(roce_ports_of(network, seen.name))
    kept = None if seen.ports is None else tuple(p for p in seen.ports if p.name in ports)
    missing = {topic: why for topic, why in seen.missing.items() if why != NOT_REQUESTED}
    return seen.model_copy(update={"ports": kept, "missing": missing})


def _messages(report: Report) -> Iterable[str]:
    return (f"{finding.where}: {finding.message}" for finding in report.findings)
