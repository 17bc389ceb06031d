"""Points of a search: one value of each parameter, and the settings of a scenario that it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import product
from math import prod

from rocefort.tune.model import Settings
from rocefort.tune.scenario import Marking, NicKey, Scenario, SearchSpace

Point = tuple[int, ...]  # index of a value of each axis
Values = Mapping[str, float]
# Cell of ByteTuning's switches, assumed: their displays have a buffer of 131,072 cells, and of the
# 208 and 256 bytes that H3C's guides name, 256 make it the 32 MiB of a Trident 3.
CELL_KBYTES = 0.256
SWITCH_AXES = tuple(name for name in SearchSpace.model_fields if name != "nic")
# Further NIC values around ConnectX's defaults; field ranges of /Barre/ and DCQCN's paper. Lowest
# rates: a ConnectX's default, and those of the HPCC simulator's mix/config.txt and run.py.
NIC_VALUES: Mapping[NicKey, tuple[int, ...]] = {
    "increase_timer_us": (55, 300, 1200),
    "additive_increase_mbps": (5, 20, 40),
    "min_decrease_percent": (50, 80, 95),
    "decrease_period_us": (4, 50),
    "min_rate_mbps": (1, 100, 1000),
}


@dataclass(frozen=True, slots=True)
class Axis:
    """Parameter with its values, from the lowest."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Space:
    """Axes, the settings of values, and why settings are refused (empty: they are not)."""

    axes: tuple[Axis, ...]
    settings: Callable[[Values], Settings]
    refusal: Callable[[Settings], str] = field(default=lambda _: "")

    @property
    def combinations(self) -> int:
        """Number of points, allowed or not."""
        return prod(len(axis.values) for axis in self.axes)

    def values(self, point: Point) -> dict[str, float]:
        """Return the values of a point, by axis."""
        return {axis.name: axis.values[i] for axis, i in zip(self.axes, point, strict=True)}

    def at(self, point: Point) -> Settings:
        """Return the settings of a point."""
        return self.settings(self.values(point))

    def allowed(self, point: Point) -> bool:
        """Whether no rule refuses a point."""
        return self._switch_part(point) in self._allowed_parts

    @cached_property
    def refused(self) -> dict[str, int]:
        """Return the number of refused points by reason."""
        times = prod(len(axis.values) for axis in self.axes if axis.name not in SWITCH_AXES)
        return {reason: count * times for reason, count in self._allowed_and_refused[1].items()}

    @property
    def digest(self) -> str:
        """Digest of the axes, of what is allowed, and of the settings of the first point."""
        first = self.at((0,) * len(self.axes))
        return sha256(repr((self.axes, sorted(self._allowed_parts), first)).encode()).hexdigest()

    def points(self) -> Iterator[Point]:
        """Yield all allowed points, in the order of the axes."""
        return filter(self.allowed, product(*(range(len(axis.values)) for axis in self.axes)))

    @cached_property
    def size(self) -> int:
        """Number of allowed points."""
        return self.combinations - sum(self.refused.values())

    def near(self, values: Values) -> Point | None:
        """Return the allowed point nearest to some values; None: there is none."""

        def distance(point: Point) -> float:
            own = self.values(point)
            return sum(
                abs(axis.values.index(own[axis.name]) - _nearest_index(axis, values.get(axis.name)))
                for axis in self.axes
            )

        return min(self.points(), key=distance, default=None) if self.size <= MOST else None

    def _switch_part(self, point: Point) -> Point:
        return tuple(
            i for axis, i in zip(self.axes, point, strict=True) if axis.name in SWITCH_AXES
        )

    @property
    def _allowed_parts(self) -> set[Point]:
        return self._allowed_and_refused[0]

    @cached_property
    def _allowed_and_refused(self) -> tuple[set[Point], Counter[str]]:
        """Allowed values of switches, and the number of others by reason; NICs are not judged."""
        axes = [axis for axis in self.axes if axis.name in SWITCH_AXES]
        allowed, refused = set(), Counter[str]()
        for part in product(*(range(len(axis.values)) for axis in axes)):
            values = {axis.name: axis.values[i] for axis, i in zip(axes, part, strict=True)}
            reason = self.refusal(self.settings(values))
            if reason:
                refused[reason] += 1
            else:
                allowed.add(part)
        return allowed, refused


def neighbors(space: Space, point: Point) -> Iterator[Point]:
    """Yield a point, and the allowed points that differ from it in one parameter."""
    yield point
    for n, axis in enumerate(space.axes):
        for index in range(len(axis.values)):
            other = (*point[:n], index, *point[n + 1 :])
            if index != point[n] and space.allowed(other):
                yield other


MOST = 100_000  # points that are listed


def _nearest_index(axis: Axis, value: float | None) -> float:
    """Return the index of the value that is nearest."""
    if value is None:
        return 0
    return min(range(len(axis.values)), key=lambda i: abs(axis.values[i] - value))


def axes_of(space: SearchSpace) -> tuple[Axis, ...]:
    """Return the axes of a space; a parameter without values has none."""
    own = [Axis(name, tuple(sorted(set(getattr(space, name))))) for name in SWITCH_AXES]
    nic = [Axis(f"nic.{key}", tuple(sorted(set(values)))) for key, values in space.nic.items()]
    return tuple(axis for axis in (*own, *nic) if axis.values)


def published_space(port_gbps: int, *, static: bool) -> SearchSpace:
    """Return the 3,300 combinations of ByteTuning, in proportion to the speed of a port.

    static: with static thresholds of PFC, of a CloudEngine, instead of alpha.
    """
    unit = CELL_KBYTES * port_gbps / 25
    sizes = tuple(round(100 * unit * n, 3) for n in range(1, 7))
    xoff = (125 * 1.024, 300 * 1.024, 600 * 1.024, 1200 * 1.024, 2400 * 1.024)
    return SearchSpace(
        kmin_kbytes=tuple(round(500 * unit * n, 3) for n in range(11)),
        width_kbytes=(round(500 * unit, 3),),
        pmax_percent=(1, 10, 20, 30, 40, 50, 60, 70, 80, 90),
        alpha=() if static else (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4),
        xoff_kbytes=xoff if static else (),
        headroom_kbytes=() if static else sizes,
    )


def settings_of(values: Values, base: Scenario) -> Settings:
    """Return the settings of values in the units of a scenario; base: for values left out."""
    ecn = base.ecn or Marking(kmin_kbytes=0, kmax_kbytes=0, pmax_percent=100)
    kmin = values.get("kmin_kbytes", ecn.kmin_kbytes)
    width = values.get("width_kbytes", ecn.kmax_kbytes - ecn.kmin_kbytes)
    marks = {"kmin_kbytes": kmin, "kmax_kbytes": kmin + width, "by_speed": {}}
    pmax = values.get("pmax_percent", ecn.pmax_percent)
    own = {name for name in ("kmin_kbytes", "width_kbytes", "pmax_percent") if name in values}
    xoff = values.get("xoff_kbytes", base.buffer.xoff_kbytes)
    xon = None
    if xoff is not None:
        before = (base.buffer.xoff_kbytes or 50) - (base.buffer.xon_kbytes or 0)
        xon = max(0.0, xoff - values.get("xon_gap_kbytes", min(before, xoff / 4)))
    return Settings(
        ecn=ecn.like(**marks, pmax_percent=pmax) if own else None,
        alpha=values.get("alpha"),
        xoff_kbytes=None if "alpha" in values else xoff,
        xon_kbytes=None if "alpha" in values else xon,
        headroom_kbytes=values.get("headroom_kbytes"),
        nic={n.removeprefix("nic."): int(v) for n, v in values.items() if n.startswith("nic.")},
    )
