"""The verdict of a search as one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rocefort.models.wording import count_of, listing
from rocefort.tune.model import ChangedKey, ConfidenceInterval, MeasureEffect
from rocefort.tune.switch_values import NIC_UNITS

KEYS = {
    "kmin_kbytes": "Kmin",
    "kmax_kbytes": "Kmax",
    "pmax_percent": "Pmax",
    "xoff_kbytes": "xoff",
    "xon_kbytes": "xon",
    "headroom_kbytes": "headroom",
    "alpha": "alpha",
}
PARAMETERS = {
    "kmin_kbytes": "Kmin",
    "width_kbytes": "Kmax - Kmin",
    "pmax_percent": "Pmax, %",
    "alpha": "alpha",
    "xoff_kbytes": "xoff",
    "xon_gap_kbytes": "xoff - xon",
    "headroom_kbytes": "headroom",
}
OBJECTIVES = {"both": "goodput and latency"}


def key_name(key: str) -> str:
    """Return the name of a key of a switch or a NIC."""
    return KEYS.get(key) or _nic_name(key)[0]


def parameter_name(name: str) -> str:
    """Return a searched parameter as text."""
    return PARAMETERS.get(name) or ", ".join(filter(None, _nic_name(name)))


def _nic_name(key: str) -> tuple[str, str]:
    """Return the words and the unit of a NIC's key, `nic.cnp_interval_us`."""
    name, _, last = key.removeprefix("nic.").rpartition("_")
    unit = NIC_UNITS.get(last, "")
    words = name if unit else key.removeprefix("nic.")
    return f"NIC {words.replace('_', ' ')}", unit


def number(value: float | None) -> str:
    """Return a number with about three digits; unset if there is none."""
    if value is None:
        return "unset"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def signed(value: float) -> str:
    """Return a number with its sign and about three digits."""
    return f"{value:+,.0f}" if abs(value) >= 100 else f"{value:+.3g}"


def signed_percent(value: float) -> str:
    """Return a change in percent with its sign."""
    return f"{value:+,.0f} %" if abs(value) >= 9.5 else f"{value:+.1f} %"


@dataclass(frozen=True)
class Stated:
    """Gain that every verdict states, with its interval, seeds and scenarios."""

    objective: str
    gain: ConfidenceInterval
    seeds: int
    scenarios: Sequence[str]

    @property
    def aim(self) -> str:
        """The objective in words."""
        return OBJECTIVES.get(self.objective, self.objective)

    @property
    def basis(self) -> str:
        """Seeds and scenarios."""
        return f"{self.seeds} fresh seeds of {listing(self.scenarios)}"

    @property
    def text(self) -> str:
        """Gain of a candidate, with its interval, seeds and scenarios."""
        gain = self.gain
        return (
            f"better for {self.aim} by {gain.mean:.1f} % (interval {gain.low:.1f} to "
            f"{gain.high:.1f} %, {self.basis})"
        )


def keep_sentence(reason: str, tried: int, stated: Stated) -> str:
    """Return the sentence that keeps today's values."""
    if stated.gain.mean > 0:
        best = f"of {count_of(tried, 'candidate')}, the best is {stated.text}"
        return f"Keep today's values: {best}, but {reason}."
    none = f"none of {count_of(tried, 'candidate')} is better for {stated.aim}"
    return f"Keep today's values: {none} ({stated.basis}): {reason}."


def change_sentence(
    changed: Sequence[ChangedKey], effects: Sequence[MeasureEffect], stated: Stated, rescue: str
) -> str:
    """Return the sentence that recommends a change. rescue: where today's values drop packets."""
    why = f" and drops nothing, unlike today's values in {rescue}" if rescue else ""
    cost = listing(costs(effects))
    end = f"at the cost of {cost}." if cost else "at no cost beyond noise."
    return f"Change {', '.join(_keys(changed))}: this is {stated.text}{why}, {end}"


def _keys(changed: Sequence[ChangedKey]) -> Iterator[str]:
    """Yield changes: those of one port speed together, then those of all ports."""
    for gbps, rows in groupby(changed, key=lambda row: row.gbps):
        keys = listing(_key(row) for row in rows)
        yield keys if gbps is None else f"{keys} at {gbps} Gb/s"


def _key(row: ChangedKey) -> str:
    unit = f" {row.unit}" if row.unit else ""
    return f"{key_name(row.key)} from {number(row.today)} to {number(row.new)}{unit}"


def costs(effects: Sequence[MeasureEffect]) -> Iterator[str]:
    """Yield the worst change of each measure that is worse beyond noise in some scenario."""
    worse = [effect for effect in effects if effect.judgement == "worse"]
    for measure in dict.fromkeys(effect.measure for effect in worse):
        own = [effect for effect in worse if effect.measure == measure]
        worst = max(own, key=lambda e: abs(e.difference.mean) / (abs(e.today) or 1))
        unit = f" {worst.unit}" if worst.unit else ""
        percent = "" if worst.percent is None else f" ({signed_percent(worst.percent)})"
        others = [effect.scenario for effect in own if effect is not worst]
        more = others if len(others) < 2 else [count_of(len(others), "more scenario")]
        yield (
            f"{measure} {number(worst.today)} to {number(worst.new)}{unit}{percent} in "
            f"{listing([worst.scenario, *more])}"
        )
