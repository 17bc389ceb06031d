"""Search of a fabric: its switches, cables and flows as scenarios, and references."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from pathlib import Path
from typing import Any

from rocefort.base.documents.read import Document, YamlPath, document_of, path_text, read_text
from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import DerivedNetwork, derive, derive_document
from rocefort.design.load.documents import find_fabric
from rocefort.design.load.profiles import Library
from rocefort.emulator.state.state_faults import SAMPLE_HIGH, SAMPLE_LOW, SAMPLE_PERCENT
from rocefort.models.fabric.congestion_control import Dcqcn
from rocefort.models.fabric.lossless import AiEcnProfile, EcnThresholds, SpeedGbps, StaticEcn
from rocefort.models.network.demand import Demand
from rocefort.models.network.network import Network
from rocefort.models.units import KBYTE
from rocefort.models.wording import listing, names_text
from rocefort.tune.fabric_scenarios import FabricServers, scenarios_of
from rocefort.tune.model import Settings, SwitchValue
from rocefort.tune.scenario import KB, MAIN_GROUP, Limits, Marking, Scenario, SearchSpace
from rocefort.tune.search.jobs import Base
from rocefort.tune.search.limits import FabricLimits, Refusal
from rocefort.tune.search.points import CELL_KBYTES, NIC_VALUES, Space, Values, axes_of
from rocefort.tune.search.search import ReferenceSettings
from rocefort.tune.simulator.layout import Cable, Ground, Pair
from rocefort.tune.switch_values import switch_values
from rocefort.tune.traffic import Flows
from rocefort.validators.capacity.traffic_matrix import spread
from rocefort.validators.facts.headroom import DELAY_NS_PER_M, RESPONSE_QUANTA
from rocefort.validators.facts.roce_ports import ports_by_device
from rocefort.validators.routing.engine import analyse
from rocefort.verification.capacity import demand_of


def fabric_of(scenario: Scenario) -> tuple[Network, Path]:
    """Return the network of the fabric that a scenario names, and its file; raises BadInput."""
    name = Path(scenario.topology.fabric or "")
    return derive(name).network, find_fabric(name)


def fabric_ground(
    scenario: Scenario,
    document: Document,
    network: Network,
    fabric: Path,
    demand: Path | None = None,
) -> Ground:
    """Return the ground of a fabric for a scenario; raises BadInput.

    fabric: its file. demand: instead of the demand.yaml beside it.
    """
    pairs = tuple(_pairs(scenario, document, network, demand_of(fabric, demand, network).demand))
    cables = tuple(cables_of(scenario, network))
    if slow := next((x for x in cables if x.gbps not in RESPONSE_QUANTA), None):
        what = f"{slow.a} and {slow.b} have a cable of {slow.gbps} Gb/s"
        raise _refused(document, what, "simulate a fabric of 10 Gb/s or more")
    return Ground(tuple(node.name for node in network.nodes), cables, pairs, buffers_of(network))


def buffers_of(network: Network) -> dict[str, int]:
    """Return the buffers of switches whose hardware facts have them, bytes."""
    return {
        node.name: int(node.hardware.buffer_kbytes.value) * KBYTE
        for node in network.nodes
        if node.hardware and node.hardware.buffer_kbytes
    }


def joined_cables(cables: Sequence[Cable]) -> tuple[Cable, ...]:
    """Return one cable for each pair, with the joint speed and the delay of the first."""
    pairs: dict[tuple[str, str], list[Cable]] = {}
    for each in cables:
        pairs.setdefault((each.a, each.b), []).append(each)
    return tuple(replace(own[0], gbps=sum(x.gbps for x in own)) for own in pairs.values())


def _refused(
    document: Document, what: str, how: str, path: YamlPath = ("topology", "fabric")
) -> BadInput:
    return BadInput(what, where=f"{document.at(path)}: {path_text(path)}", how=how)


def cables_of(scenario: Scenario, network: Network) -> Iterator[Cable]:
    """Yield the cables of a network; one without a length has the scenario's delay."""

    def delay(cable_m: float | None) -> float:
        return scenario.link_delay_us if cable_m is None else cable_m * DELAY_NS_PER_M / 1000

    speeds = {port.end: port.speed_gbps for p in ports_by_device(network).values() for port in p}
    for link in network.links or ():
        speed = speeds.get(link.a) or speeds.get(link.b) or scenario.topology.uplink_gbps
        yield Cable(link.a.device, link.b.device, speed, delay(link.cable_m))
    for server in network.servers or ():
        for port in server.ports:
            yield Cable(server.name, port.device, server.flow_gbps, delay(server.cable_m))


def _pairs(
    scenario: Scenario, document: Document, network: Network, demand: Demand | None
) -> Iterator[Pair]:
    """Yield pairs of servers: those that the scenario names, or those of the demand.

    A group of RoCE has the demand between servers with RoCE: the rest of it is other traffic.
    """
    without = {server.name for server in network.servers or () if not server.roce}
    for group, flows in scenario.groups.items():
        path: YamlPath = ("flows",) if group == MAIN_GROUP else ("beside", group)
        if flows.pattern == "between":
            _check_servers(flows, document, network, path)
            pairs = ((a, b) for a in flows.senders for b in flows.receivers if a != b)
            yield from (Pair(*pair, group=group) for pair in pairs)
            continue
        if demand is None:
            what, how = "the fabric has no demand.yaml", "write it beside it"
            raise _refused(document, what, how, (*path, "pattern"))
        left_out = without if flows.transport == "roce" else set[str]()
        own = [
            Pair(sender, receiver, rate * weight, group)
            for term in spread(demand, analyse(network)).terms
            for sender, rate in term.rates.items()
            for receiver, weight in term.weights.items()
            if sender != receiver and left_out.isdisjoint((sender, receiver))
        ]
        if not own:
            what = "the demand has no servers with RoCE at both ends"
            how = "write transport: tcp, or name such servers in the demand"
            raise _refused(document, what, how, (*path, "pattern"))
        yield from own


def _check_servers(flows: Flows, document: Document, network: Network, path: YamlPath) -> None:
    """Raise BadInput for the first server that a fabric does not have."""
    names = [server.name for server in network.servers or ()]
    for key in ("senders", "receivers"):
        for position, name in enumerate(getattr(flows, key)):
            if name not in names:
                what = f"the fabric has no server {name!r}"
                raise _refused(document, what, nearest(name, names), (*path, key, position))


AI_ECN_SAMPLE = "bounds of AI-ECN in the vendor's sample"


def marking_of_profile(
    profile: StaticEcn | AiEcnProfile, speeds: Iterable[int], base_gbps: int
) -> Marking | None:
    """Return the thresholds of a profile for ports of some speeds; None: it lacks one of them.

    The learnt model of AI-ECN is not public: the bounds of a sample stand for all speeds.
    """
    if isinstance(profile, AiEcnProfile):
        low, high = SAMPLE_LOW / KB, SAMPLE_HIGH / KB
        return Marking(kmin_kbytes=low, kmax_kbytes=high, pmax_percent=SAMPLE_PERCENT)
    limits: dict[SpeedGbps, Limits] = {
        speed: Limits(
            kmin_kbytes=own.kmin_kbytes * KBYTE / KB,
            kmax_kbytes=own.kmax_kbytes * KBYTE / KB,
            pmax_percent=own.pmax_percent,
        )
        for speed, own in profile.thresholds.items()
    }
    by_gbps: Mapping[int, Limits] = {int(speed): own for speed, own in limits.items()}
    if not {*speeds, base_gbps} <= by_gbps.keys():
        return None
    return Marking(**by_gbps[base_gbps].model_dump(), by_speed=limits)


def profile_references(
    library: Library, scenario: Scenario, speeds: Iterable[int], refusal: Refusal
) -> Iterator[ReferenceSettings]:
    """Yield the static profiles; those of other speeds in proportion, which their source states."""
    gbps = sorted({*speeds, scenario.port_gbps})
    for name in library.names("ecn"):
        chosen = library.get("ecn", name)
        if chosen is None or not isinstance(chosen.profile, StaticEcn):
            continue
        profile, missing = in_proportion(chosen.profile, gbps)
        marking = marking_of_profile(profile, gbps, scenario.port_gbps)
        if marking is not None:
            source = "; ".join(filter(None, (profile.source, *missing)))
            settings = Settings(ecn=marking)
            yield ReferenceSettings(name, source, settings, refusal(settings))


def in_proportion(profile: StaticEcn, speeds: Sequence[int]) -> tuple[StaticEcn, list[str]]:
    """Return a profile with thresholds for all speeds, and a note for each that it lacks.

    A missing one has the thresholds of the nearest speed in proportion: an assumption, as no
    source states it.
    """
    given = {int(speed): own for speed, own in profile.thresholds.items()}
    thresholds: dict[Any, EcnThresholds] = dict(profile.thresholds)
    notes = []
    for gbps in speeds:
        if gbps in given:
            continue
        near = min(given, key=lambda speed: abs(log(speed / gbps)))
        own = given[near]
        thresholds[str(gbps)] = own.like(
            kmin_kbytes=max(1, round(own.kmin_kbytes * gbps / near)),
            kmax_kbytes=max(1, round(own.kmax_kbytes * gbps / near)),
        )
        notes.append(f"assumed for {gbps} Gb/s, in proportion to {near} Gb/s")
    return profile.like(thresholds=thresholds), notes


def byte_tuning_start(refusal: Refusal) -> ReferenceSettings:
    """Return the start point of ByteTuning, experience values for H3C at 25 Gb/s."""
    settings = Settings(
        ecn=Marking(kmin_kbytes=200 * CELL_KBYTES, kmax_kbytes=1200 * CELL_KBYTES, pmax_percent=20),
        alpha=1 / 32,
        headroom_kbytes=140 * CELL_KBYTES,
    )
    source = "ByteTuning, doi 10.1109/TCC.2025.3525496 (experience values), cells of 256 bytes"
    return ReferenceSettings("bytetuning-start", source, settings, refusal(settings))


HEADERS = 62  # Ethernet 18, IPv4 20, UDP 8, InfiniBand 16 bytes
PAYLOADS = (4096, 1024)  # MTU of RoCE, by that of the fabric
# Candidates at the speed of the slowest port, kbytes of 1,024; others have them in proportion.
KMIN, WIDTH, PMAX = (4, 8, 16, 32, 64, 128), (32, 64, 128, 256, 512), (1, 5, 10, 20, 50, 100)
XOFF, XON_GAP = (128, 256, 512, 1024, 2048), (32, 64)


def roce_payload(mtu: int) -> int:
    """Return the payload of a RoCE packet in a fabric of an MTU, bytes."""
    return next(size for size in PAYLOADS if size + 100 <= mtu or size == PAYLOADS[-1])


@dataclass(frozen=True)
class FabricSearch:
    """Search of a fabric, with what a winner is written from. ai_ecn: a profile, or empty."""

    name: str
    file: Path
    text: str
    derived: DerivedNetwork
    congestion_control: Dcqcn | None
    ai_ecn: str
    base_gbps: int
    speeds: tuple[int, ...]
    bases: tuple[Base, ...]
    space: Space
    references: tuple[ReferenceSettings, ...]

    def switch_values(self, settings: Settings) -> tuple[SwitchValue, ...]:
        """Return what the fabric's switches have to be given for a candidate's settings."""
        return switch_values(settings, self.base_gbps, self.speeds)


def own_profiles_text(derived: DerivedNetwork) -> str:
    """Return which switches have a lossless profile of their own; empty: none has."""
    own = list(derived.network.own_lossless)
    if not own:
        return ""
    verb, whose = ("has", "its") if len(own) == 1 else ("have", "their")
    profiles = listing(dict.fromkeys(derived.lossless_of(name).name for name in own))
    word = "a lossless profile" if len(own) == 1 else "lossless profiles"
    return f"{names_text(own)} {verb} {word} of {whose} own ({profiles})"


def kept_profiles_text(derived: DerivedNetwork) -> str:
    """Return which profiles a change of the fabric's leaves as they are; empty: none."""
    own = own_profiles_text(derived)
    end = (
        "which stays as it is"
        if len(derived.network.own_lossless) == 1
        else ("which stay as they are")
    )
    return f"{own}, {end}" if own else ""


def port_speeds(network: Network) -> tuple[int, ...]:
    """Return the speeds of the RoCE ports, Gb/s."""
    ports = (port for own in ports_by_device(network).values() for port in own)
    return tuple(sorted({port.speed_gbps for port in ports if port.speed_gbps}))


def fabric_search(name: Path, demand: Path | None, *, nic: bool) -> FabricSearch:
    """Return the search of a fabric; raises BadInput."""
    file = find_fabric(name)
    text = read_text(file)
    derived = derive_document(document_of(text, str(file)))
    network = derived.network
    speeds = port_speeds(network)
    if not speeds or not network.servers:
        what = "the fabric has no RoCE ports with servers"
        raise BadInput(what, file=str(file), how="add its servers, or search a scenario")
    given = demand_of(file, demand, network).demand
    library = derived.profiles
    base_gbps = min(speeds)
    bases = tuple(_bases(derived, file, given, demand, library, base_gbps))
    if not bases:
        what = "the fabric has fewer than two servers with RoCE"
        raise BadInput(what, file=str(file), how="add its servers, or search a scenario")
    limits = FabricLimits.of(network).refusal(bases[0].scenario)
    values = _values(derived, nic=nic)
    space = Space(axes_of(values), lambda chosen: _settings(chosen, base_gbps, speeds), limits)
    own = own_reference(derived, library, speeds, base_gbps)
    own = ReferenceSettings(own.name, own.source, own.settings, limits(own.settings))
    others = profile_references(library, bases[0].scenario, speeds, limits)
    return FabricSearch(
        name=network.name,
        file=file,
        text=text,
        derived=derived,
        congestion_control=dcqcn_of(derived, library),
        ai_ecn=_ai_ecn(derived, library),
        base_gbps=base_gbps,
        speeds=speeds,
        bases=bases,
        space=space,
        references=(own, *others),
    )


def thresholds(
    values: Values, base_gbps: int, speeds: tuple[int, ...]
) -> dict[SpeedGbps, EcnThresholds]:
    """Return thresholds by speed, in proportion to it, kbytes of 1,024 bytes."""
    kmin, kmax = values["kmin_kbytes"], values["kmin_kbytes"] + values["width_kbytes"]
    out: dict[Any, EcnThresholds] = {
        str(gbps): EcnThresholds(
            kmin_kbytes=max(1, round(kmin * gbps / base_gbps)),
            kmax_kbytes=max(2, round(kmax * gbps / base_gbps)),
            pmax_percent=round(values["pmax_percent"]),
        )
        for gbps in speeds
    }
    return out


def _settings(values: Values, base_gbps: int, speeds: tuple[int, ...]) -> Settings:
    own = StaticEcn(kind="static", thresholds=thresholds(values, base_gbps, speeds))
    xoff = values["xoff_kbytes"]
    return Settings(
        ecn=marking_of_profile(own, speeds, base_gbps),
        xoff_kbytes=xoff * KBYTE / KB,
        xon_kbytes=(xoff - values["xon_gap_kbytes"]) * KBYTE / KB,
        nic={n.removeprefix("nic."): int(v) for n, v in values.items() if n.startswith("nic.")},
    )


def _values(derived: DerivedNetwork, *, nic: bool) -> SearchSpace:
    """Return the values to try, with the fabric's own xoff and xon."""
    own = derived.lossless
    return SearchSpace(
        kmin_kbytes=KMIN,
        width_kbytes=WIDTH,
        pmax_percent=PMAX,
        xoff_kbytes=(*XOFF, own.xoff_kbytes),
        xon_gap_kbytes=(*XON_GAP, own.xoff_kbytes - own.xon_kbytes),
        nic=dict(NIC_VALUES) if nic else {},
    )


def own_reference(
    derived: DerivedNetwork, library: Library, speeds: tuple[int, ...], base_gbps: int
) -> ReferenceSettings:
    """Return the thresholds that a fabric has today."""
    lossless = derived.lossless
    chosen = library.get("ecn", lossless.ecn)
    profile = chosen.profile if chosen else None
    source = lossless.source or ""
    marking = None
    if isinstance(profile, StaticEcn | AiEcnProfile):
        marking = marking_of_profile(profile, speeds, base_gbps)
    if isinstance(profile, AiEcnProfile):
        source = f"{source}; ECN: {AI_ECN_SAMPLE}".removeprefix("; ")
    settings = Settings(
        ecn=marking,
        xoff_kbytes=lossless.xoff_kbytes * KBYTE / KB,
        xon_kbytes=lossless.xon_kbytes * KBYTE / KB,
    )
    return ReferenceSettings(f"as it is ({lossless.ecn})", source, settings)


def _bases(  # noqa: PLR0913, PLR0917 - parts of a fabric
    derived: DerivedNetwork,
    file: Path,
    demand: Demand | None,
    demand_file: Path | None,
    library: Library,
    base_gbps: int,
) -> Iterator[Base]:
    """Yield the scenarios of the fabric on its ground."""
    network = derived.network
    dcqcn = dcqcn_of(derived, library)
    common = scenario_keys(derived, file, dcqcn, base_gbps)
    for keys in scenarios_of(FabricServers.of(derived, demand), derived.lossless):
        scenario = Scenario.model_validate({**common, **keys})
        document = document_of(f"scenario: {scenario.scenario}\n", str(file))
        ground = fabric_ground(scenario, document, network, file, demand_file)
        yield Base(scenario, dcqcn, ground)


def scenario_keys(
    derived: DerivedNetwork, file: Path, dcqcn: Dcqcn | None, base_gbps: int
) -> dict[str, Any]:
    """Return the keys that all scenarios of a fabric share. dcqcn: of its NICs."""
    fabric, lossless = derived.fabric, derived.lossless
    return {
        "port_gbps": base_gbps,
        "packet_bytes": roce_payload(fabric.mtu) + HEADERS,
        "header_bytes": HEADERS,
        "topology": {"kind": "fabric", "fabric": str(file)},
        "congestion_control": "dcqcn" if dcqcn else "pfc_only",
        "nic": {"profile": fabric.congestion_control} if dcqcn else {},
        "buffer": {
            "xoff_kbytes": lossless.xoff_kbytes * KBYTE / KB,
            "xon_kbytes": lossless.xon_kbytes * KBYTE / KB,
        },
    }


def dcqcn_of(derived: DerivedNetwork, library: Library) -> Dcqcn | None:
    """Return the fabric's DCQCN profile; None: senders ignore marks."""
    chosen = library.get("congestion_control", derived.fabric.congestion_control or "")
    return chosen.profile if chosen and isinstance(chosen.profile, Dcqcn) else None


def _ai_ecn(derived: DerivedNetwork, library: Library) -> str:
    """Return the name of the fabric's AI-ECN profile; empty: its ECN is static."""
    chosen = library.get("ecn", derived.lossless.ecn)
    return derived.lossless.ecn if chosen and isinstance(chosen.profile, AiEcnProfile) else ""
