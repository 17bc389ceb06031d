"""Import the lossless profile: queue, priorities, thresholds, ECN, scheduling."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rocefort.design.derive.lossless import multiples
from rocefort.design.importing.assumptions import Data, Notes, SwitchText, nameable
from rocefort.design.importing.survey import Survey
from rocefort.design.load.profiles import Library
from rocefort.models.device.device import without_defaults
from rocefort.models.device.interface import Interface
from rocefort.models.device.lossless_queue import (
    DSCPS,
    PHB_QUEUE,
    DiffservDomain,
    Pfc,
    default_queue,
)
from rocefort.models.fabric.lossless import (
    LONGEST_ECN_PROFILE,
    AiEcnProfile,
    Deadlock,
    EcnThresholds,
    StaticEcn,
    drop_profile_name,
)
from rocefort.models.hardware.hardware import Family
from rocefort.models.units import KBYTE

NAMED = re.compile(r"(?P<name>.+)-(?P<gbps>\d+)g")  # names of drop profiles by derivation
NONE = "ai-ecn-distributed-storage"  # the AI-ECN that a switch has with `ai-ecn enable` alone
ECN_HERE = ("profiles", "lossless", "site", "ecn")


class _Marking(NamedTuple):
    """Marking thresholds of a switch, for one speed of a profile."""

    profile: str
    gbps: str
    switch: str
    thresholds: EcnThresholds


def ecn_profile(
    sources: Sequence[SwitchText], queue: int, speeds: Sequence[int], library: Library, notes: Notes
) -> tuple[str, Data | None]:
    """Return (name, the profile itself if Rocefort's library has no equal one)."""
    models = {
        s.name: next((row.model for row in s.device.ai_ecn.queues if row.queue == queue), None)
        for s in sources
        if s.device.ai_ecn.enabled
    }
    if models and len(models) >= sum(bool(s.device.drop_profiles) for s in sources):
        model = notes.majority("the model of AI-ECN", models)
        for name in library.names("ecn"):
            chosen = library.get("ecn", name)
            if (
                chosen
                and isinstance(chosen.profile, AiEcnProfile)
                and chosen.profile.model == model
            ):
                return name, None
        return "site-ecn", {"kind": "ai-ecn"} | ({"model": model} if model else {})
    if rows := [row for source in sources for row in _markings(source)]:
        return _static_profile(rows, speeds, library, notes)
    notes.assume(ECN_HERE, "no text marks the lossless queue")
    return NONE, None


def _markings(source: SwitchText) -> Iterator[_Marking]:
    used = {row.profile for i in source.device.interfaces for row in i.markings if row.ecn}
    for profile in source.device.drop_profiles:
        match, limits = NAMED.fullmatch(profile.name), profile.ecn
        derived = match and profile.name in used and len(match["name"]) <= LONGEST_ECN_PROFILE
        if not (match and derived and limits and limits.unit == "bytes"):
            continue
        (kmin, odd), (kmax, rest) = divmod(limits.low, KBYTE), divmod(limits.high, KBYTE)
        if not odd and not rest:
            row = EcnThresholds(kmin_kbytes=kmin, kmax_kbytes=kmax, pmax_percent=limits.percent)
            yield _Marking(match["name"], match["gbps"], source.name, row)


def _static_profile(
    rows: Sequence[_Marking], speeds: Sequence[int], library: Library, notes: Notes
) -> tuple[str, Data | None]:
    """Return the profile that most switches use."""
    name = Counter(row.profile for row in rows).most_common(1)[0][0]
    of_speed: dict[str, dict[str, EcnThresholds]] = {}
    for row in rows:
        if row.profile == name:
            of_speed.setdefault(row.gbps, {})[row.switch] = row.thresholds
    taken = {
        gbps: agreed
        for gbps, by_switch in of_speed.items()
        if (
            agreed := notes.majority(
                f"drop profile {drop_profile_name(name, int(gbps))}", by_switch
            )
        )
    }
    missing = [str(speed) for speed in speeds if str(speed) not in taken]
    if shipped := library.get("ecn", name):
        profile = shipped.profile
        limits = profile.thresholds.items() if isinstance(profile, StaticEcn) else ()
        existing: dict[str, EcnThresholds] = {str(gbps): row for gbps, row in limits}
        if existing.keys() >= {*missing} and all(existing.get(key) == taken[key] for key in taken):
            return name, None
        name = f"site-{name}"[:LONGEST_ECN_PROFILE]
    for gbps in missing:
        taken[gbps] = next(iter(taken.values()))
        notes.assume(("profiles", "ecn", name, "thresholds", gbps), "no port of that speed marks")
    thresholds = {gbps: taken[gbps].model_dump() for gbps in sorted(taken, key=int)}
    return name, {"kind": "static", "thresholds": thresholds}


QUEUE, XOFF_KBYTES, XON_KBYTES = 4, 600, 550  # of HEPS: Network 2025, 5(4), 53
CNP_QUEUES = (6, 7, 5)  # choices without a line, in their order
DEADLOCK_MS = 100  # default of V300 G1
REASON = "as in the texts of this family"
HERE = ("profiles", "lossless", "site")


def profiles_of(survey: Survey, shipped: Library) -> Data:
    """Return `profiles` of a fabric with its one lossless profile, named site."""
    notes = survey.notes
    queues = notes.majority(
        "queues with PFC",
        {
            source.name: profile.queues
            for source in survey.switches
            for profile in source.device.pfc.profiles
            if profile.name == "default"
        },
    )
    if not queues:
        notes.assume((*HERE, "queue"), "no text has a queue with PFC")
    queue = queues[0] if queues else QUEUE
    row: Data = {"queue": queue}
    ports = {
        f"{source.name} {port.name}": port
        for source in survey.switches
        for port in source.device.interfaces
        if port.pfc or port.thresholds
    }
    weights = {at: tuple((q.queue, q.weight) for q in port.drr) for at, port in ports.items()}
    scheduling = notes.majority("weights of queues", weights)
    row |= _priorities(survey, queue, {number for number, _ in scheduling or ()})
    row |= _thresholds(survey, ports, queue)
    if scheduling:
        row["scheduling"] = [{"queue": number, "weight": weight} for number, weight in scheduling]
    row["deadlock"] = _deadlock(survey, queue)
    places = (at.split(" ") for at in ports)
    speeds = sorted({speed for name, port in places if (speed := survey.speed(name, port))})
    name, own = ecn_profile(survey.switches, queue, speeds, shipped, notes)
    row["ecn"] = name
    profiles: Data = {"lossless": {"site": row}}
    return profiles | ({"ecn": {name: own}} if own else {})


def _priorities(survey: Survey, queue: int, weighted: set[int]) -> Data:
    """Return DSCP of RoCE and CNP, from the inbound map of most switches."""
    notes = survey.notes
    domains = {
        s.name: d
        for s in survey.switches
        for d in s.device.domains
        if nameable(d.name) and d.name != "default"
    }
    name = notes.majority("the diffserv domain", {n: d.name for n, d in domains.items()})
    same = {n: d for n, d in domains.items() if d.name == name}
    shape = {n: tuple((r.value, PHB_QUEUE[r.phb]) for r in d.dscp) for n, d in same.items()}
    rows = dict(notes.majority("the map of DSCP to queues", shape) or ())
    lead = [dscp for dscp in DSCPS if rows.get(dscp, default_queue(dscp)) == queue]
    roce = lead[0] if lead else None
    if roce is None or len(lead) > 1:
        own = [dscp for dscp in DSCPS if default_queue(dscp) == queue]
        roce = own[2]
        notes.assume((*HERE, "roce_dscp"), f"{len(own)} values of DSCP lead to queue {queue}")
    moved = {
        dscp: to
        for dscp, to in rows.items()
        if dscp != roce and not (to == 0 and default_queue(dscp) == queue)
    }
    cnp, cnp_queue = next(iter(moved.items()), (None, None))
    if cnp is None or cnp_queue is None:
        free = [q for q in (*CNP_QUEUES, *range(8)) if q not in weighted | {queue}]
        cnp_queue = next(iter(free), CNP_QUEUES[0])
        cnp = cnp_queue << 3
        notes.assume((*HERE, "cnp_dscp"), "no line moves a DSCP to a queue of its own")
        notes.assume((*HERE, "cnp_queue"), "by its DSCP in the switches' own map")
    fields = {"roce_dscp": roce, "cnp_dscp": cnp, "cnp_queue": cnp_queue}
    return fields | {"domain": name or DiffservDomain(name="roce").name}


def _thresholds(survey: Survey, ports: Mapping[str, Interface], queue: int) -> Data:
    notes = survey.notes
    rows = {at: row for at, port in ports.items() for row in port.thresholds if row.queue == queue}
    sizes = notes.majority(
        "xoff and xon, kbytes", {at: (r.xoff_kbytes, r.xon_kbytes) for at, r in rows.items()}
    )
    if sizes is None:
        for key in ("xoff_kbytes", "xon_kbytes"):
            notes.assume((*HERE, key), "no text has static thresholds; as HEPS has it")
    xoff, xon = sizes or (XOFF_KBYTES, XON_KBYTES)
    fields: Data = {"xoff_kbytes": xoff, "xon_kbytes": xon}
    families = {name: model.family for name, model in survey.models.items()}
    headroom = notes.majority(
        "headroom, kbytes",
        {
            at: row.headroom_kbytes
            for at, row in rows.items()
            if families[at.split(" ")[0]].headroom_kbytes
        },
    )
    pool = notes.majority(
        "the headroom pool, kbytes",
        {
            source.name: source.device.pfc.headroom_pool_kbytes
            for source in survey.switches
            if families[source.name].headroom_pool_kbytes
        },
    )
    fields |= {} if headroom is None else {"headroom_kbytes": headroom}
    return fields | ({} if pool is None else {"headroom_pool_kbytes": pool})


def _deadlock(survey: Survey, queue: int) -> Data:
    """Return timers by family; the common ones are those of a family with milliseconds."""
    notes = survey.notes
    by_family: dict[str, dict[str, tuple[int | None, ...]]] = {}
    families: dict[str, Family] = {}
    for source in survey.switches:
        family = survey.models[source.name].family
        families[family.name] = family
        timers = _timers(without_defaults(source.device, family).pfc, queue)
        by_family.setdefault(family.name, {})[source.name] = timers
    rows: dict[str, Data] = {}
    for name, by_switch in by_family.items():
        timers = notes.majority(f"deadlock timers of {name}", by_switch) or (None,) * 5
        rows[name] = _family(families[name], timers)
    times = [(r["detect_ms"], r["recovery_ms"]) for r in rows.values() if "detect_ms" in r]
    if not times:
        for key in ("detect_ms", "recovery_ms"):
            notes.assume((*HERE, "deadlock", key), "the texts count in a unit that none confirms")
    detect, recovery = Counter(times).most_common(1)[0][0] if times else (DEADLOCK_MS,) * 2
    common = {"detect_ms": detect, "recovery_ms": recovery}
    own = {name: {**row, "reason": REASON} for name, row in rows.items() if row != common}
    turn_off = notes.majority(
        "deadlocks that turn PFC off",
        {source.name: _turn_off(source.device.pfc, queue) for source in survey.switches},
    )
    common |= {"turn_off": turn_off} if turn_off else {}
    common |= _recovery_behavior(survey)
    return common | ({"by_family": own} if own else {})


def _recovery_behavior(survey: Survey) -> Data:
    """Return what most switches do with packets of a deadlocked queue, if it is no default."""
    defaults = {
        source.name: default
        for source in survey.switches
        if (default := survey.models[source.name].family.recovery_behavior)
    }
    behaviors = {
        source.name: source.device.pfc.recovery_behavior or defaults[source.name]
        for source in survey.switches
        if source.name in defaults
    }
    common = survey.notes.majority("packets of deadlocked queues", behaviors)
    derived = "discard" if "discard" in defaults.values() else "forwarding"
    return {} if common in (None, derived) else {"recovery_behavior": common}


def _turn_off(pfc: Pfc, queue: int) -> int | None:
    rows = (row for p in pfc.profiles if p.name == "default" for row in p.turn_off)
    return next((row.deadlocks for row in rows if row.queue == queue), None)


def _timers(pfc: Pfc, queue: int) -> tuple[int | None, ...]:
    """Return (detection ms, recovery ms, interval ms, detection, recovery) of a text."""
    timers = [row for p in pfc.profiles if p.name == "default" for row in p.timers]
    row = next((row for row in timers if row.queue == queue), None)
    counted = (row.detect_time, row.recovery_time) if row else (None, None)
    return (pfc.detect_ms, pfc.recovery_ms, pfc.interval_ms, *counted)


def _family(family: Family, timers: tuple[int | None, ...]) -> Data:
    """Return timers of a family in the form of a profile; without a line, its defaults."""
    detect_ms, recovery_ms, interval_ms, detect, recovery = timers
    if family.deadlock_detect_time is None:
        default = family.deadlock_default_ms.value if family.deadlock_default_ms else DEADLOCK_MS
        return {"detect_ms": detect_ms or default, "recovery_ms": recovery_ms or default}
    count = family.deadlock_default_time.value if family.deadlock_default_time else 10
    detect, recovery = detect or count, recovery or count
    counted = {"detect_time": detect, "recovery_time": recovery}
    if family.deadlock_interval_ms is None:
        return counted
    interval = interval_ms or family.deadlock_interval_ms.value
    times = {"detect_ms": detect * interval, "recovery_ms": recovery * interval}
    # Several intervals can fit both times. The times are right only if derivation takes this one.
    candidate = multiples(Deadlock.model_validate(times), family)
    same = candidate is not None and (candidate.interval_ms, candidate.detect) == (interval, detect)
    return times if same else counted
