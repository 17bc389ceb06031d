"""Readers of lines of the interface view with more content than fields and their values."""

from __future__ import annotations

from collections.abc import Callable

from rocefort.dialects.vrp.readers import arguments
from rocefort.dialects.vrp.readers.arguments import NOT_MODELLED, BadArgumentError, Part
from rocefort.models.device.interface import HIGHEST_ID, MOST_LINKS, kind_of, trunk_number

STRICT, BY_WEIGHT = "pq", "drr"  # facts of a queue's row


def address(port: Part, ip: str, mask: str) -> None:
    """Read the primary address, which comes first."""
    new = arguments.interface_address(ip, mask)
    primary = next(iter(port.values.get("addresses", {})), None)
    if primary not in (None, new):
        line = port.log.first[f"{port.below('addresses')}[{primary}]"]
        raise BadArgumentError(
            f"a second primary address {new}; {primary} is on line {line}", "write `sub`"
        )
    port.add("addresses", new)


def secondary_address(port: Part, ip: str, mask: str) -> bool | None:
    """Read another address; without a primary it has no meaning."""
    new = arguments.interface_address(ip, mask)
    if not port.values.get("addresses"):
        return NOT_MODELLED
    port.add("addresses", new)
    return None


def schedulers(port: Part, *words: str) -> bool | None:
    """Read the queues that are served by weight; every other queue has strict priority."""
    if "lpq" in words:
        return NOT_MODELLED
    for word, some in zip(words[::2], words[1::2], strict=True):
        for queue in arguments.queues(some):
            row = port.row("drr", queue, queue=queue)
            row.facts.add(word)
            if len(row.facts) > 1:
                raise BadArgumentError(
                    f"queue {queue} is under both `qos pq` and `qos drr`", "keep one of the two"
                )
    return None


def member(port: Part, number: str) -> bool | None:
    """Read the Eth-Trunk of a port; only a physical port can be a member."""
    if kind_of(str(port.fields["name"])) != "ethernet":
        return NOT_MODELLED
    port.set("eth_trunk", arguments.number(0, HIGHEST_ID, "Eth-Trunk")(number))
    return None


def bond(field: str) -> Callable[[Part, str], bool | None]:
    """Return the reader of a setting that only an Eth-Trunk has."""

    def read(trunk: Part, text: str) -> bool | None:
        if trunk_number(str(trunk.fields["name"])) is None:
            return NOT_MODELLED
        links = arguments.number(1, MOST_LINKS, "number of links")
        trunk.part("bond").set(field, links(text) if text.isdecimal() else text)
        return None

    return read
