"""Search of a fabric: its scenarios, candidates in the units of its profiles, and its limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocefort.base.documents.read import document_of, read_text
from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import DerivedNetwork, derive_document
from rocefort.design.load.load import find_fabric
from rocefort.design.load.profiles import Library, library_of, profiles_of
from rocefort.models.fabric.congestion_control import Dcqcn
from rocefort.models.fabric.ecn import AiEcnProfile, EcnThresholds, SpeedGbps, StaticEcn
from rocefort.models.network.demand import Demand
from rocefort.models.network.network import Network
from rocefort.models.tuning.scenario import Scenario
from rocefort.models.tuning.settings import Settings
from rocefort.models.tuning.space import SearchSpace
from rocefort.models.units import KBYTE
from rocefort.steps.fabric.capacity import demand_of
from rocefort.steps.tune.fabric_ground import fabric_ground
from rocefort.steps.tune.references import AI_ECN_SAMPLE, marking_of_profile, profile_references
from rocefort.tuning.jobs import Base
from rocefort.tuning.limits import FabricLimits
from rocefort.tuning.search import Reference
from rocefort.tuning.space import NIC_VALUES, Space, Values, axes_of
from rocefort.validators.capacity.traffic_matrix import spread
from rocefort.validators.facts.roce_ports import ports_by_device
from rocefort.validators.routing.engine import analyse

KB = 1000
HEADERS = 62  # Ethernet 18, IPv4 20, UDP 8, InfiniBand 16 bytes
PAYLOADS = (4096, 1024)  # MTU of RoCE, by that of the fabric
BURST_BYTES = 1_000_000
MOST_SENDERS, MOST_PAIRS = 32, 256
DEMAND_MS = 3
# Candidates at the speed of the slowest port, kbytes of 1,024; others have them in proportion.
KMIN, WIDTH, PMAX = (4, 8, 16, 32, 64, 128), (32, 64, 128, 256, 512), (1, 5, 10, 20, 50, 100)
XOFF, XON_GAP = (128, 256, 512, 1024, 2048), (32, 64)


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
    references: tuple[Reference, ...]

    def thresholds(self, values: Values) -> dict[SpeedGbps, EcnThresholds]:
        """Return the ECN profile's thresholds of a candidate."""
        return thresholds(values, self.base_gbps, self.speeds)


def fabric_search(name: Path, demand: Path | None, *, nic: bool) -> FabricSearch:
    """Return the search of a fabric; raises BadInput."""
    file = find_fabric(name)
    text = read_text(file)
    derived = derive_document(document_of(text, str(file)))
    network = derived.network
    speeds = tuple(
        sorted(
            {
                port.speed_gbps
                for ports in ports_by_device(network).values()
                for port in ports
                if port.speed_gbps
            }
        )
    )
    if not speeds or not network.servers:
        what = "the fabric has no RoCE ports with servers"
        raise BadInput(what, file=str(file), how="add its servers, or search a scenario")
    given = demand_of(file, demand, network).demand
    library = library_of(derived.fabric.profiles, derived.document, ("profiles",))
    library = profiles_of(derived.site).joined(library)
    base_gbps = min(speeds)
    bases = tuple(_bases(derived, file, given, demand, library, base_gbps))
    limits = FabricLimits.of(network).refusal(bases[0].scenario)
    values = _values(derived, nic=nic)
    space = Space(axes_of(values), lambda chosen: _settings(chosen, base_gbps, speeds), limits)
    own = _own_reference(derived, library, speeds, base_gbps)
    own = Reference(own.name, own.source, own.settings, limits(own.settings))
    others = profile_references(library, bases[0].scenario, speeds, limits)
    return FabricSearch(
        name=network.name,
        file=file,
        text=text,
        derived=derived,
        congestion_control=_dcqcn(derived, library),
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


def _own_reference(
    derived: DerivedNetwork, library: Library, speeds: tuple[int, ...], base_gbps: int
) -> Reference:
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
    return Reference(f"as it is ({lossless.ecn})", source, settings)


def _bases(  # noqa: PLR0913, PLR0917 - parts of a fabric
    derived: DerivedNetwork,
    file: Path,
    demand: Demand | None,
    demand_file: Path | None,
    library: Library,
    base_gbps: int,
) -> Iterator[Base]:
    """Yield the demand at its rates, its flows as bursts, and an incast on its busiest receiver."""
    network, fabric = derived.network, derived.fabric
    dcqcn = _dcqcn(derived, library)
    payload = next(size for size in PAYLOADS if size + 100 <= fabric.mtu or size == PAYLOADS[-1])
    common = {
        "port_gbps": base_gbps,
        "packet_bytes": payload + HEADERS,
        "header_bytes": HEADERS,
        "topology": {"kind": "fabric", "fabric": str(file)},
        "congestion_control": "dcqcn" if dcqcn else "pfc_only",
        "nic": {"profile": fabric.congestion_control} if dcqcn else {},
        "buffer": {
            "xoff_kbytes": derived.lossless.xoff_kbytes * KBYTE / KB,
            "xon_kbytes": derived.lossless.xon_kbytes * KBYTE / KB,
        },
    }
    for keys in _scenarios(network, demand):
        scenario = Scenario.model_validate({**common, **keys})
        document = document_of(f"scenario: {scenario.scenario}\n", str(file))
        ground = fabric_ground(scenario, document, network, file, demand_file)
        yield Base(scenario, dcqcn, ground)


def _dcqcn(derived: DerivedNetwork, library: Library) -> Dcqcn | None:
    """Return the fabric's DCQCN profile; None: senders ignore marks."""
    chosen = library.get("congestion_control", derived.fabric.congestion_control or "")
    return chosen.profile if chosen and isinstance(chosen.profile, Dcqcn) else None


def _ai_ecn(derived: DerivedNetwork, library: Library) -> str:
    """Return the name of the fabric's AI-ECN profile; empty: its ECN is static."""
    chosen = library.get("ecn", derived.lossless.ecn)
    return derived.lossless.ecn if chosen and isinstance(chosen.profile, AiEcnProfile) else ""


def _scenarios(network: Network, demand: Demand | None) -> Iterator[Mapping[str, Any]]:
    names = [server.name for server in network.servers or ()]
    speeds = {server.name: server.flow_gbps for server in network.servers or ()}
    busiest = max(names, key=lambda name: speeds[name])
    if demand is not None:
        matrix = spread(demand, analyse(network))
        rates = matrix.by_server()
        senders = [name for name in names if rates.get(name, (0.0, 0.0))[0] > 0][:MOST_SENDERS]
        receivers = [name for name in names if rates.get(name, (0.0, 0.0))[1] > 0]
        if senders and receivers:
            busiest = max(receivers, key=lambda name: rates[name][1])
            yield {
                "scenario": "demand",
                "flows": {"pattern": "demand"},
                "duration_ms": DEMAND_MS,
            }
            most = max(1, MOST_PAIRS // len(senders))
            yield {
                "scenario": "bursts",
                "flows": _between(senders, receivers[:most]),
            }
    others = [name for name in names if name != busiest][:MOST_SENDERS]
    if others:
        yield {"scenario": "incast", "flows": _between(others, [busiest])}


def _between(senders: list[str], receivers: list[str]) -> Mapping[str, Any]:
    return {
        "pattern": "between",
        "senders": senders,
        "receivers": receivers,
        "bytes": BURST_BYTES,
    }
