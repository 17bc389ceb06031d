"""Windows of TCP: bytes that a path has in flight, and the rate that a window carries."""

from __future__ import annotations

from math import ceil

# RFC 7323: a window is 16 bits, scaled by at most 2^14.
LARGEST_WINDOW = 65535 << 14


def bytes_in_flight(rate_gbps: float, round_trip_ms: float) -> int:
    """Bytes that are sent in one round trip: the window that one connection needs for the rate."""
    return ceil(rate_gbps * round_trip_ms * 1e6 / 8)


def gbps_of_window(window_bytes: int, round_trip_ms: float) -> float:
    """Highest rate of one connection with a window, Gb/s: one window in each round trip."""
    return window_bytes * 8 / (round_trip_ms * 1e6)


def connections_for(rate_gbps: float, round_trip_ms: float, window_bytes: int) -> int:
    """Fewest connections with windows of this size that carry a rate together."""
    return ceil(bytes_in_flight(rate_gbps, round_trip_ms) / window_bytes)
