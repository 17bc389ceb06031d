"""Grades of "ECN marks before PFC pauses", computed from the thresholds alone.

Marking begins at Kmin: the chance of a mark rises from 0 there to Pmax at Kmax, and is 1 above it.

PFC counts the bytes that wait at an ingress, ECN the bytes that wait at an egress: several
ingresses that send to one egress fill it faster than any of them. Source: DCQCN, SIGCOMM 2015,
section 4. Sizes in bytes, rates in Gb/s, times in us.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

LOOP_US = 20  # round trip that the vendor's rule for Kmax takes (EDOC1100155250, static ECN)


class Grade(StrEnum):
    """Certainty that marks come before pauses, the strongest first."""

    STRICT = "strict"  # whatever the traffic, a queue passes Kmin before any pause
    SINGLE_EGRESS = "single-egress"  # where all traffic of an ingress goes to one egress
    DYNAMIC = "dynamic"  # senders have slowed down before the ingress is full
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Kmin and Kmax of an egress queue, xoff of an ingress queue, in bytes."""

    kmin: int
    kmax: int
    xoff: int


@dataclass(frozen=True, slots=True)
class Congestion:
    """Many-to-one traffic: `senders` ingresses of rate_in towards one egress of rate_out.

    loop_us: time from a mark to the arrival of the slower packets.
    """

    senders: int
    rate_in_gbps: int
    rate_out_gbps: int
    loop_us: Fraction


def strict(thresholds: Thresholds, egresses: int) -> bool:
    """Whether one ingress that spreads over all egresses passes Kmin before xoff.

    Each egress may hold just under Kmin unmarked: xoff > egresses x Kmin.
    """
    return thresholds.kmin < strict_kmin_limit(thresholds.xoff, egresses)


def strict_kmin_limit(xoff: int, egresses: int) -> Fraction:
    """Kmin below which the strict grade holds, in the unit of xoff."""
    return Fraction(xoff, egresses)


def single_egress(thresholds: Thresholds) -> bool:
    """Whether an ingress whose packets all go to one egress passes Kmin and Kmax before xoff."""
    return thresholds.kmin < thresholds.xoff and thresholds.kmax < thresholds.xoff


def dynamic(thresholds: Thresholds, congestion: Congestion) -> bool:
    """Whether the queue that grows until senders have slowed down fits below all xoff.

    Kmin, and what arrives beyond the egress's rate in one loop: Kmin + (N Rin - Rout) t / 8 is at
    most N xoff.
    """
    return thresholds.kmin + grown_bytes(congestion) <= congestion.senders * thresholds.xoff


def grown_bytes(congestion: Congestion) -> Fraction:
    """Growth of a queue from the first mark until senders have slowed down, bytes."""
    surplus = congestion.senders * congestion.rate_in_gbps - congestion.rate_out_gbps
    return max(surplus, 0) * congestion.loop_us * 1000 / 8  # Gb/s x us = kbit


def grades(
    thresholds: Thresholds, egresses: int, congestions: Sequence[Congestion]
) -> tuple[Grade, ...]:
    """Every grade that holds, the strongest first; `dynamic` only if for all congestions."""
    holds = {
        Grade.STRICT: strict(thresholds, egresses),
        Grade.SINGLE_EGRESS: single_egress(thresholds),
        Grade.DYNAMIC: bool(congestions) and all(dynamic(thresholds, c) for c in congestions),
    }
    return tuple(grade for grade, held in holds.items() if held) or (Grade.NONE,)


def static_xoff_limit(buffer: int, ports: int, classes: int, flight: int) -> Fraction:
    """Highest static xoff that every ingress queue can have at the same time, bytes.

    An equal share of the buffer that remains after `flight` bytes of headroom for every port and
    class: (B - c n t) / (c n).
    """
    queues = classes * ports
    return Fraction(buffer - queues * flight, queues)


def dynamic_kmin_limit(buffer: int, ports: int, classes: int, flight: int, beta: int) -> Fraction:
    """Kmin below which marks come before pauses when xoff follows the free buffer, bytes.

    beta (B - c n t) / (c n (beta + 1)), for xoff = beta (B - c n t - s) / c with s bytes in use.
    """
    return static_xoff_limit(buffer, ports, classes, flight) * beta / (beta + 1)


def congestions_of(egress_gbps: int, speeds_gbps: Sequence[int]) -> list[Congestion]:
    """Cases of one sender and of all others; growth is linear, so the rest lies between.

    speeds_gbps: of all lossless ports of the switch.
    """
    senders, loop = sorted({1, len(speeds_gbps) - 1} - {0}), Fraction(LOOP_US)
    return [Congestion(count, max(speeds_gbps), egress_gbps, loop) for count in senders]
