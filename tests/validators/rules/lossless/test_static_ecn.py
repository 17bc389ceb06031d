"""Static ECN: thresholds, profiles, one kind of marking a queue, and the order with PFC."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocefort.models.device.lossless_queue import (
    AiEcn,
    AiEcnQueue,
    ColourLimits,
    DropLimits,
    DropProfile,
    QueueMarking,
)
from rocefort.models.hardware.hardware import Fact

Change = Callable[[Any], Any]
KB = 1024
LEAF, SPINE = "leaf01", "spine01"
LEAF_PORTS = ("100GE1/0/1", "100GE1/0/31", "100GE1/0/32")
SPINE_PORTS = ("100GE1/0/1", "100GE1/0/2")
MARKED = (QueueMarking(queue=4, profile="roce", ecn=True),)


def profile(low: int, high: int, percent: int = 30, unit: Any = "bytes") -> DropProfile:
    return DropProfile(name="roce", ecn=DropLimits(low=low, high=high, percent=percent, unit=unit))


def static(small: Any, name: str, drop: DropProfile, *more: DropProfile) -> Any:
    """A switch that marks queue 4 of all lossless ports by static thresholds alone."""
    for port in LEAF_PORTS if name == LEAF else SPINE_PORTS:
        small = small.port(name, port, markings=MARKED)
    drops = (drop, *more)
    return small.device(name, drop_profiles=drops, ecn_enabled=name == LEAF, ai_ecn=AiEcn())


def on(small: Any, kmin_kb: int, kmax_kb: int) -> Any:
    return static(small, LEAF, profile(kmin_kb * KB, kmax_kb * KB))


def of_leaf(small: Any, rule: str) -> list[str]:
    return [line for line in small.says(rule) if f" {LEAF}" in line]


ECN001: list[tuple[Change, list[str]]] = [
    (lambda s: on(s, 7, 500), []),
    (
        lambda s: on(s, 7, 500).port(LEAF, "100GE1/0/31", markings=()),
        [f"error {LEAF}: static ECN does not mark lossless queue 4 on 100GE1/0/31"],
    ),
    (
        lambda s: (
            on(s, 7, 500)
            .port(LEAF, "100GE1/0/31", markings=())
            .port(LEAF, "100GE1/0/32", markings=(QueueMarking(queue=4, profile="roce"),))
        ),
        [f"error {LEAF}: static ECN does not mark lossless queue 4 on 100GE1/0/31 and 1 more"],
    ),
    (  # a port without PFC need not be marked
        lambda s: on(s, 7, 500).port(LEAF, "100GE1/0/31", markings=(), pfc=None),
        [],
    ),
    (  # AI-ECN marks on all ports, so a static pair on one is not missed on the others
        lambda s: s.port(LEAF, "100GE1/0/31", markings=MARKED),
        [],
    ),
    (
        lambda s: s.port(LEAF, "100GE1/0/1", markings=(QueueMarking(queue=3, ecn=True),)),
        [
            f"warning {LEAF}: static ECN marks queue 3, which PFC does not pause, on 100GE1/0/1",
        ],
    ),
    (  # drop limits alone mark nothing
        lambda s: s.port(LEAF, "100GE1/0/1", markings=(QueueMarking(queue=3, profile="roce"),)),
        [],
    ),
]


@pytest.mark.parametrize(("change", "says"), ECN001)
def test_ecn001_static(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("ECN001") == says


BOUND = "for any traffic Kmin would have to be below 200 KB (xoff 600 KB over 3 lossless ports)"
ON = f"{LEAF}: drop profile roce on 3 ports of 100 Gb/s"
LAST_STRICT = profile(200 * KB - 1, 900 * KB)
SINGLE = "where the traffic of an ingress leaves by one egress"
SLOWED = "where marks slow senders down within 20 us"


def ecn002(small: Any) -> list[str]:
    return of_leaf(small, "ECN002")


GRADES: list[tuple[Change, list[str]]] = [
    (lambda s: static(s, LEAF, LAST_STRICT), []),
    (
        lambda s: on(s, 200, 599),
        [
            f"info {ON}: Kmin 200 KB, Kmax 599 KB: marks come before pauses {SINGLE}, and "
            f"{SLOWED} (grade single-egress and dynamic); {BOUND}"
        ],
    ),
    (
        lambda s: on(s, 200, 600),
        [
            f"info {ON}: Kmin 200 KB, Kmax 600 KB: marks come before pauses {SLOWED} (grade "
            f"dynamic); {BOUND}"
        ],
    ),
    (  # one sender at the same rate: the queue grows to no more than Kmin
        lambda s: on(s, 600, 700),
        [
            f"info {ON}: Kmin 600 KB, Kmax 700 KB: marks come before pauses {SLOWED} (grade "
            f"dynamic); {BOUND}"
        ],
    ),
    (
        lambda s: on(s, 601, 700),
        [
            f"warning {ON}: Kmin 601 KB, Kmax 700 KB: PFC may pause before ECN marks (no grade "
            f"holds); {BOUND}"
        ],
    ),
    (lambda s: on(s, 300, 250), []),  # ECN003 reports the inverted pair
    (  # the smallest xoff counts
        lambda s: on(s, 200, 599).row(LEAF, "100GE1/0/31", xoff_kbytes=300),
        [
            f"info {ON}: Kmin 200 KB, Kmax 599 KB: marks come before pauses {SLOWED} (grade "
            "dynamic); for any traffic Kmin would have to be below 100 KB (xoff 300 KB over 3 "
            "lossless ports)"
        ],
    ),
    (
        lambda s: static(s, LEAF, profile(30, 50, unit="percent")),
        [
            f"not judged {ON}: Kmin and Kmax are a share of a queue whose depth changes with the "
            "load"
        ],
    ),
    (
        lambda s: static(s, LEAF, profile(30, 50, unit="cells")),
        [f"not judged {ON}: Kmin and Kmax are in cells, whose size is not known on v300-g1"],
    ),
    (
        lambda s: on(s, 7, 500).port(LEAF, "100GE1/0/31", thresholds=()),
        [
            f"not judged {LEAF}: 1 lossless port without a static xoff share the buffer "
            "dynamically; were their share that of the DCQCN paper (beta 8), Kmin would have to "
            "be below 19339 KB"
        ],
    ),
    (
        lambda s: (
            on(s, 7, 500)
            .port(LEAF, "100GE1/0/31", thresholds=())
            .hardware(LEAF, buffer_kbytes=None)
        ),
        [f"not judged {LEAF}: 1 lossless port without a static xoff share the buffer dynamically"],
    ),
    (  # drop limits alone mark nothing
        lambda s: on(s, 601, 700).port(
            LEAF, "100GE1/0/1", markings=(QueueMarking(queue=4, profile="roce"),)
        ),
        [
            f"warning {ON.replace('3 ports', '2 ports')}: Kmin 601 KB, Kmax 700 KB: PFC may pause "
            f"before ECN marks (no grade holds); {BOUND}"
        ],
    ),
    (  # a profile that is not there: ECN004 reports it
        lambda s: on(s, 7, 500).device(LEAF, drop_profiles=()),
        [],
    ),
]


@pytest.mark.parametrize(("change", "says"), GRADES)
def test_ecn002_tells_the_grade(small: Any, change: Change, says: list[str]) -> None:
    assert ecn002(change(small)) == says


def test_ecn002_takes_the_fastest_sender_and_the_rate_of_each_egress(small: Any) -> None:
    """400 Gb/s into 100: 300 Gb/s x 20 us are 750,000 bytes, more than one xoff, 614,400."""
    marked = on(small, 200, 600)
    device = marked.network.by_name[LEAF].device
    fast = device.by_interface["100GE1/0/31"].model_copy(update={"name": "400GE1/0/1"})
    said = ecn002(marked.device(LEAF, interfaces=(*device.interfaces, fast)))
    bound = "for any traffic Kmin would have to be below 150 KB (xoff 600 KB over 4 lossless ports)"
    figures = "Kmin 200 KB, Kmax 600 KB: PFC may pause before ECN marks (no grade holds)"
    assert said == [
        f"warning {LEAF}: drop profile roce on 1 port of 400 Gb/s: {figures}; {bound}",
        f"warning {ON}: {figures}; {bound}",
    ]


def test_ecn002_counts_in_cells_where_their_size_is_known(small: Any) -> None:
    """2 ports, xoff 600 KB: strict below 300 KB, which are 960 cells of 320 bytes."""
    known = small.family(SPINE, "G2", cell_bytes=Fact(value=320, source="vendor"))
    for cells, grade in ((959, []), (960, ["info"])):
        drop = profile(cells, 1900, unit="cells")
        said = static(known, SPINE, drop).says("ECN002")
        assert [line.split()[0] for line in said if f" {SPINE}:" in line] == grade


def drops(small: Any, *found: DropProfile, name: str = LEAF) -> Any:
    return small.device(name, drop_profiles=found)


def green(low: int, high: int, percent: int) -> DropProfile:
    row = ColourLimits(colour="green", low=low, high=high, percent=percent)
    return DropProfile(name="wred", colours=(row,))


ECN003: list[tuple[Change, list[str]]] = [
    (lambda s: drops(s, profile(7168, 7169, 1)), []),
    (lambda s: drops(s, profile(7168, 7168, 100)), []),  # a step, as DCTCP needs it
    (
        lambda s: drops(s, profile(7168, 7168, 99)),
        [f"error {LEAF}: drop profile roce: Kmin 7168 bytes is not below Kmax 7168 bytes"],
    ),
    (
        lambda s: drops(s, profile(7169, 7168, 100)),
        [f"error {LEAF}: drop profile roce: Kmin 7169 bytes is not below Kmax 7168 bytes"],
    ),
    (
        lambda s: drops(s, profile(7168, 7169, 0), green(0, 100, 101)),
        [
            f"error {LEAF}: drop profile roce: Pmax is 0 %; it is 1 to 100 %",
            f"error {LEAF}: drop profile wred, green: Pmax is 101 %; it is 1 to 100 %",
        ],
    ),
    (lambda s: drops(s, profile(128, 16_000_000)), []),
    (
        lambda s: drops(s, profile(127, 16_000_001)),
        [
            f"error {LEAF}: drop profile roce: Kmax 16000001 bytes cannot be set on v300-g1 (128 "
            "to 16000000 bytes)",
            f"error {LEAF}: drop profile roce: Kmin 127 bytes cannot be set on v300-g1 (128 to "
            "16000000 bytes)",
        ],
    ),
    (lambda s: drops(s, profile(1, 106_496, unit="cells"), name=SPINE), []),
    (
        lambda s: drops(s, profile(1, 106_497, unit="cells"), name=SPINE),
        [
            f"error {SPINE}: drop profile roce: Kmax 106497 cells cannot be set on v300-g2 (1 to "
            "106496 cells)"
        ],
    ),
    (
        lambda s: drops(s, green(100, 101, 10)),
        [
            f"error {LEAF}: drop profile wred, green: Kmax 101 % cannot be set on v300-g1 (0 to "
            "100 %)"
        ],
    ),
    (
        lambda s: drops(s.family(LEAF, "V200"), profile(1, 2)),
        [
            f"not judged {LEAF}: the range of ECN thresholds in bytes on v200 is not confirmed by "
            "the vendor"
        ],
    ),
    (  # without the family the order is judged all the same
        lambda s: drops(s.node(LEAF, family=None), profile(7168, 7168, 99)),
        [
            f"error {LEAF}: drop profile roce: Kmin 7168 bytes is not below Kmax 7168 bytes",
            f"not judged {LEAF}: the syntax family is not known, so its ranges are not known "
            "either",
        ],
    ),
]


@pytest.mark.parametrize(("change", "says"), ECN003)
def test_ecn003_thresholds(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("ECN003") == says


PORT = f"{LEAF} 100GE1/0/1"


def row(small: Any, marking: QueueMarking) -> Any:
    return small.port(LEAF, "100GE1/0/1", markings=(marking,))


def many(number: int) -> tuple[DropProfile, ...]:
    return tuple(DropProfile(name=f"p{n}") for n in range(number))


ECN004: list[tuple[Change, list[str]]] = [
    (lambda s: on(s, 7, 500), []),
    (lambda s: row(s, QueueMarking(queue=1, profile="default")), []),
    (
        lambda s: row(s, QueueMarking(queue=1, profile="gone")),
        [f"error {PORT}: queue 1 names drop profile gone, which does not exist"],
    ),
    (
        lambda s: row(s, QueueMarking(queue=4, ecn=True)),
        [f"error {PORT}: queue 4 has ECN without a drop profile"],
    ),
    (
        lambda s: row(s, QueueMarking(queue=4, profile="default", ecn=True)),
        [f"error {PORT}: queue 4 has ECN by drop profile default, which has no `ecn` line"],
    ),
    (lambda s: drops(s, *many(15)), []),
    (
        lambda s: drops(s, *many(16)),
        [f"error {LEAF}: 17 drop profiles, the built-in one among them; v300-g1 has 16 at most"],
    ),
    (lambda s: drops(s, *many(15), DropProfile(name="default")), []),
    (lambda s: drops(s.family(LEAF, "V200"), *many(64)), []),  # its number is not confirmed
]


@pytest.mark.parametrize(("change", "says"), ECN004)
def test_ecn004_profiles(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("ECN004") == says


def learned(small: Any, name: str, *queues: int, enabled: bool = True) -> Any:
    found = tuple(AiEcnQueue(queue=queue) for queue in queues)
    return small.device(name, ai_ecn=AiEcn(enabled=enabled, queues=found))


def spine_queues(small: Any, *queues: int) -> Any:
    found = tuple(QueueMarking(queue=queue, profile="roce", ecn=True) for queue in queues)
    return small.port(SPINE, "100GE1/0/2", markings=found)


ECN005: list[tuple[Change, list[str]]] = [
    (lambda s: on(s, 7, 500), []),
    (lambda s: learned(on(s, 7, 500), LEAF, 3), []),
    (lambda s: learned(on(s, 7, 500), LEAF, 4, enabled=False), []),
    (
        lambda s: learned(on(s, 7, 500), LEAF, 4),
        [f"error {LEAF}: queue 4 is marked by AI-ECN and by static ECN, on 100GE1/0/1 and 2 more"],
    ),
    (
        lambda s: s.port(LEAF, "100GE1/0/31", markings=MARKED),
        [f"error {LEAF}: queue 4 is marked by AI-ECN and by static ECN, on 100GE1/0/31"],
    ),
    (lambda s: spine_queues(learned(s, SPINE, 4, 5), 1, 2), []),
    (
        lambda s: spine_queues(learned(s, SPINE, 4, 5), 1, 2, 3),
        [
            f"error {SPINE}: queues 1, 2, 3, 4 and 5 are marked by AI-ECN or static ECN; v300-g2 "
            "marks 4 at most"
        ],
    ),
    (lambda s: spine_queues(learned(s.family(SPINE, "G1"), SPINE, 4, 5), 1, 2, 3), []),
]


@pytest.mark.parametrize(("change", "says"), ECN005)
def test_ecn005_one_kind_of_marking(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("ECN005") == says


OFF = f"error {LEAF}: static ECN is not enabled for the switch, so queues are not marked on "
ECN006: list[tuple[Change, list[str]]] = [
    (lambda s: on(s, 7, 500), []),
    (
        lambda s: on(s, 7, 500).device(LEAF, ecn_enabled=False),
        [
            "error leaf01: static ECN is not enabled for the switch, so queues are not marked on "
            "100GE1/0/1 and 2 more"
        ],
    ),
    (lambda s: row(s, QueueMarking(queue=4, profile="roce", ecn=True)), [OFF + "100GE1/0/1"]),
    (lambda s: row(s, QueueMarking(queue=4, profile="roce")), []),
    (lambda s: static(s, SPINE, profile(7168, 512_000)), []),  # G2 needs no such line
]


@pytest.mark.parametrize(("change", "says"), ECN006)
def test_ecn006_enabled_for_the_switch(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("ECN006") == says


def test_a_lossless_queue_that_nobody_knows_is_not_judged(small: Any) -> None:
    unknown = on(small, 7, 500).change(lossless=None)
    spoilt = unknown.pausing()
    assert of_leaf(spoilt, "ECN002") == []
    assert [line.split(":")[0] for line in spoilt.says("ECN001")] == ["not judged fabric"]
