"""Exits of a network, one row per exit: for `rocefort show FABRIC exits` and the page."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.models.network.exits import Exit, PrefixRange
from rocefort.models.network.network import Network

COLUMNS = (
    "exit",
    "leaf",
    "port",
    "address",
    "peer",
    "asn",
    "default_route",
    "accepts",
    "announces",
    "lossless",
)


def exit_rows(network: Network) -> Iterator[tuple[str | int | None, ...]]:
    """Return all exits in the order of the intent; nothing if they are unknown."""
    for exit_ in network.exits or ():
        yield _row(exit_)


def _row(exit_: Exit) -> tuple[str | int | None, ...]:
    return (
        exit_.name,
        exit_.leaf,
        exit_.port,
        str(exit_.address),
        str(exit_.peer),
        exit_.asn,
        exit_.default,
        ", ".join(map(_range, exit_.accepts)) or None,
        ", ".join(map(str, exit_.announces)) or None,
        "yes" if exit_.lossless else "no",
    )


def _range(accepted: PrefixRange) -> str:
    """Return a prefix with the length limit of its subnets."""
    more = accepted.longest > accepted.prefix.prefixlen
    return f"{accepted.prefix} to /{accepted.longest}" if more else str(accepted.prefix)
