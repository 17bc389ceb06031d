"""Random ports of switches, and the settings that make their queues lossless."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Interface
from typing import Any, get_args

from hypothesis import strategies as st
from random_values import (
    DESCRIPTIONS,
    DROP_NAMES,
    FEW_WORDS,
    G1,
    G2,
    HOSTS,
    INTERFACE_NAMES,
    KBYTES,
    NAMES,
    QUEUES,
    SPLIT_PORTS,
    SPLIT_TYPES,
    V200,
    VLANS,
    Pool,
)

from rocefort.models.device.interface import (
    HIGHEST_ID,
    MANUAL,
    Bond,
    BondMode,
    DrrQueue,
    Interface,
    InterfacePfc,
    OtherThreshold,
    PfcThreshold,
)
from rocefort.models.device.lossless_queue import (
    Colour,
    ColourLimits,
    DiffservDomain,
    DropLimits,
    DropProfile,
    DscpMap,
    Pfc,
    PfcProfile,
    PfcTimer,
    PfcTurnOff,
    Phb,
    QueueMarking,
    Unit,
)
from rocefort.models.device.packet_filters import (
    Filters,
)
from rocefort.models.hardware.media import PortSplit


def domains(pool: Pool) -> tuple[DiffservDomain, ...]:
    def maps(few: Sequence[int]) -> tuple[DscpMap, ...]:
        return tuple(
            DscpMap(
                value=value,
                phb=pool.one(["af3", "af4"], st.sampled_from(get_args(Phb))),
                colour=pool.one(["green"], st.sampled_from(get_args(Colour))),
            )
            for value in pool.some(few, QUEUES)
        )

    names = pool.some(["roce"], st.just("default") | NAMES, 2)
    return tuple(
        DiffservDomain(name=name, dscp=maps([26, 34]), dot1p=maps([]) if pool.wide else ())
        for name in names
    )


def pfc(pool: Pool) -> Pfc:
    profiles = []
    for name in pool.some(["default", "nof"], st.just("default") | NAMES, 2):
        queues = pool.some([3, 4, 5], QUEUES, 4, least=0 if pool.wide else 1)
        # the built-in queue 3 has the built-in timers
        timed = [] if pool.family is G1 else pool.some([q for q in queues if q != 3], QUEUES)
        timers = tuple(timer for queue in timed if (timer := _timer(pool, queue)))
        given_up = [q for q in queues if q != 3] if not pool.wide else queues
        turn_off = tuple(
            PfcTurnOff(queue=queue, deadlocks=pool.one([5, 20], st.integers(1, 300)))
            for queue in pool.some(given_up, QUEUES, 1)
        )
        row = PfcProfile(name=name, queues=tuple(queues), timers=timers, turn_off=turn_off)
        profiles.append(row)
    switch: dict[str, Any] = {}
    if pool.family is G1:
        milliseconds = st.integers(10, 1500)
        switch = {name: pool.maybe([10, 20], milliseconds) for name in ("detect_ms", "recovery_ms")}
        switch["recovery_behavior"] = pool.maybe(["forwarding"], st.just("forwarding"))
    if pool.family is G2:
        switch = {
            "interval_ms": pool.maybe([100, 1000], st.sampled_from([10, 100, 500, 1000])),
            "recovery_behavior": pool.maybe(["discard"], st.just("discard")),
            "dscp_mapping": pool.flag(),
        }
    if pool.wide and pool.family in {G1, G2}:
        switch["headroom_pool_kbytes"] = pool.maybe([], KBYTES)
    elif pool.family is G2:  # without one no port has PFC, and it stays while one has
        switch["headroom_pool_kbytes"] = pool.one([2048, 4096], KBYTES)
    return Pfc(profiles=tuple(profiles), **switch)


def _timer(pool: Pool, queue: int) -> PfcTimer | None:
    """Draw timers; V300 G2 may set one timer of a queue alone."""
    times = st.integers(0, 31)
    detect, recovery = pool.one([5, 8], times), pool.one([5], times)
    if pool.wide and pool.family is G2:
        detect, recovery = pool.maybe([], st.just(detect)), pool.maybe([], st.just(recovery))
    if detect is None and recovery is None:
        return None
    return PfcTimer(queue=queue, detect_time=detect, recovery_time=recovery)


def _limits(pool: Pool, low: int, high: Sequence[int]) -> dict[str, Any]:
    depths = st.integers(0, 34_078_720)
    return {
        "low": pool.one([low], depths),
        "high": pool.one(high, depths),
        "percent": pool.one([10, 30], st.integers(1, 100)),
        "unit": pool.one(["bytes", "cells"], st.sampled_from(get_args(Unit))),
    }


def drop_profiles(pool: Pool) -> tuple[DropProfile, ...]:
    profiles = []
    for name in pool.some(["default", "roce", "slow"], DROP_NAMES):
        colours = tuple(
            ColourLimits(colour=colour, **_limits(pool, 512, [1024]))
            for colour in pool.some(["green"], st.sampled_from(get_args(Colour)))
        )
        # a built-in profile with default values has no line
        marks = pool.flag() or (name == "default" and not pool.wide)
        ecn = DropLimits(**_limits(pool, 7168, [51200, 76800])) if marks else None
        profiles.append(DropProfile(name=name, colours=colours, ecn=ecn))
    return tuple(profiles)


# -- interfaces --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class References:
    """Names that interfaces refer to."""

    splits: tuple[PortSplit, ...]
    vrfs: Sequence[str]
    drop_profiles: tuple[DropProfile, ...]
    filters: Filters

    @property
    def policies(self) -> list[str]:
        return [policy.name for policy in self.filters.policies]


def splits(pool: Pool) -> tuple[PortSplit, ...]:
    return tuple(
        PortSplit(port=port, type=pool.one(["4*25GE", "2*50GE"], SPLIT_TYPES))
        for port in pool.some(["100GE1/0/3"], SPLIT_PORTS)
    )


def interfaces(pool: Pool, references: References) -> tuple[Interface, ...]:
    """Draw any interfaces, or three ports, an Eth-Trunk with some as members, and a gateway."""
    if pool.wide:
        return tuple(
            _any_interface(pool, name, references) for name in pool.some([], INTERFACE_NAMES, 4)
        )
    trunks = [_trunk(pool, references)] if pool.flag() else []
    third = f"100GE1/0/3{':1' if references.splits else ''}"
    names = ("100GE1/0/1", "100GE1/0/2", third)
    ports = [_few_port(pool, name, references, bond=bool(trunks)) for name in names]
    gateways = []
    if pool.flag():
        address = IPv4Interface(f"10.65.{pool.one([1, 2], QUEUES)}.1/24")
        policies = _policies_of(pool, references, "filter_in", "filter_out")
        gateways = [Interface(name="Vlanif10", addresses=(address,), **policies)]
    return (*ports, *trunks, *gateways)


def _any_interface(pool: Pool, name: str, references: References) -> Interface:
    """Draw an interface with lines of every kind, even if a switch refuses their combination."""
    plain = Interface(name=name, routed=pool.flag())
    fields = {"routed": plain.routed, **_port(pool, references), **_trunk_side(pool)}
    fields |= _access_side(pool) | _routed_side(pool, references, name)
    fields |= {"link_type": pool.one([], st.sampled_from(["access", "trunk"]))}
    if plain.layer3:
        fields |= _policies_of(pool, references, "filter_in", "filter_out") | {"trust_dscp": False}
    if plain.kind == "ethernet":
        fields["eth_trunk"] = pool.maybe([], st.integers(0, HIGHEST_ID))
    if plain.kind == "eth-trunk":
        fields["bond"] = _bond(pool)
    return Interface(name=name, **fields)


def _few_port(pool: Pool, name: str, references: References, *, bond: bool) -> Interface:
    """Draw a port that a switch accepts; layer 2 or 3 settings exclude it from an Eth-Trunk."""
    kinds: dict[str, Callable[[], dict[str, Any]]] = {
        "routed": lambda: {"routed": True, **_routed_side(pool, references, name[9])},
        "access": lambda: _access_side(pool),
        "trunk": lambda: {"link_type": "trunk", **_trunk_side(pool)},
        "bare": dict,
        "member": lambda: {"eth_trunk": 1, "domain": None},
    }
    kind = pool.draw(st.sampled_from([*list(kinds)[:4], *(["member"] * 2 * bond)]))
    return Interface(name=name, **{**_port(pool, references), **kinds[kind]()})


def _trunk(pool: Pool, references: References) -> Interface:
    """Draw Eth-Trunk1 towards a server."""
    return Interface(
        name="Eth-Trunk1",
        domain=pool.maybe(["roce"], NAMES),
        bond=_bond(pool),
        **_access_side(pool),
        **_policies_of(pool, references, "filter_in"),
    )


def _port(pool: Pool, references: References) -> dict[str, Any]:
    profile = pool.one(["default", "nof"], NAMES | st.just("default"))
    mode = pool.one(["manual", "auto"], st.sampled_from(["manual", "auto"]))
    weights = st.integers(1, 100)
    return {
        "description": pool.maybe(FEW_WORDS, DESCRIPTIONS),
        "enabled": pool.flag(),
        "domain": pool.maybe(["roce"], NAMES | st.just("default")),
        "pfc": InterfacePfc(profile=profile, mode=mode) if pool.flag() else None,
        **_thresholds(pool),
        "flow_control": pool.flag(),
        "autonegotiation": pool.flag(),
        "fec": pool.draw(st.sampled_from([None, "none", "base-r", "rs"])),
        "drr": tuple(
            DrrQueue(queue=queue, weight=pool.one([1, 15, 65], weights))
            for queue in pool.some([0, 1, 2, 4], QUEUES, 6)
        ),
        "markings": tuple(_marking(pool, q, references) for q in pool.some([3, 4], QUEUES)),
    }


def _thresholds(pool: Pool) -> dict[str, Any]:
    """Draw thresholds of each queue in kbytes, or in another unit of the family."""
    queues = pool.some([3, 4], QUEUES, 2)
    other = [queue for queue in queues if pool.draw(st.integers(0, 3)) == 0]
    return {
        "thresholds": tuple(_threshold(pool, q) for q in queues if q not in other),
        "other_thresholds": tuple(_other_threshold(pool, q) for q in other),
    }


def _other_threshold(pool: Pool, queue: int) -> OtherThreshold:
    cells = pool.family is V200 and pool.flag()
    return OtherThreshold(
        queue=queue,
        unit="cells" if cells else "alpha",
        xoff=pool.one([1500] if cells else [3, 6], st.integers(1, 1500 if cells else 10)),
        xon=pool.one([2, 3], st.integers(0, 10)) if pool.family is G1 else None,
        offset_kbytes=None if pool.family is G1 else pool.maybe([6, 20], KBYTES),
    )


def _threshold(pool: Pool, queue: int) -> PfcThreshold:
    xoff = pool.one([600, 700], KBYTES)
    return PfcThreshold(
        queue=queue,
        xoff_kbytes=xoff,
        xon_kbytes=pool.one([500, 550], st.integers(0, xoff)),
        headroom_kbytes=pool.maybe([64, 128], KBYTES) if pool.family is G2 else None,
    )


def _marking(pool: Pool, queue: int, references: References) -> QueueMarking:
    """Draw drop profiles that exist, and ECN together with one."""
    if pool.wide and pool.flag():
        return QueueMarking(queue=queue, ecn=True)
    names = sorted({profile.name for profile in references.drop_profiles} | {"default"})
    profile = pool.one(names, NAMES | st.just("default"))
    return QueueMarking(queue=queue, profile=profile, ecn=pool.flag())


def _routed_side(pool: Pool, references: References, number: str) -> dict[str, Any]:
    few = [IPv4Interface(f"10.{number}.{host}.2/31") for host in range(4)] if not pool.wide else []
    return {
        "mtu": pool.maybe([9000, 9216], st.integers(46, 9600)),
        "vrf": pool.maybe(references.vrfs, NAMES),
        "addresses": tuple(pool.some(few, HOSTS, 2)[:2]),
    }


def _access_side(pool: Pool) -> dict[str, Any]:
    return {
        "access_vlan": pool.maybe([10, 20], VLANS),
        "edge": pool.flag(),
        "trust_dscp": pool.flag(),
    }


def _trunk_side(pool: Pool) -> dict[str, Any]:
    return {"trunk_vlans": tuple(pool.some([10, 20, 30], VLANS))}


def _policies_of(pool: Pool, references: References, *sides: str) -> dict[str, Any]:
    return {side: pool.maybe(references.policies, NAMES) for side in sides}


def _bond(pool: Pool) -> Bond:
    modes = get_args(BondMode)
    mode = pool.one(modes, st.sampled_from(modes))
    timeouts = ["slow"] if mode == MANUAL else ["slow", "fast"]
    return Bond(
        mode=mode,
        lacp_timeout=pool.draw(st.sampled_from(timeouts)),
        minimum_links=pool.one([1, 2], st.integers(1, 256)),
    )
