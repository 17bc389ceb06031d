"""Readers of lines of PFC and drop profiles with more content than fields and their values.

Sources: V300R023C00 command reference (DCB, congestion avoidance); V200 forms from published
configurations and the AI Fabric best practice (static ECN).
"""

from __future__ import annotations

from collections.abc import Callable

from rocefort.dialects.vrp.readers import arguments
from rocefort.dialects.vrp.readers.arguments import NOT_MODELLED, BadArgumentError, Part
from rocefort.models.device.lossless import Unit

SLOT = "1"  # the one slot of a box switch; lines of other slots are not modelled
PFC_OFF = "pfc off"  # fact of a switch on which no port pauses, regardless of its lines
DEFAULT_OFFSET_KBYTES = 6  # V300 G2, `dcb pfc buffer`
UNITS: tuple[Unit, ...] = ("bytes", "cells", "percent")  # of a drop profile, as in its format


def pfc_off(device: Part) -> bool:
    """Record that no port pauses; the line itself is kept unchanged."""
    device.facts.add(PFC_OFF)
    device.log.mark(PFC_OFF)
    return NOT_MODELLED


def dscp_mapping(device: Part, slot: str) -> bool | None:
    """Read that PFC classifies by the DSCP of packets."""
    if slot != SLOT:
        return NOT_MODELLED
    device.part("pfc").set("dscp_mapping", value=True)
    return None


def recovery_behavior(device: Part, behavior: str, slot: str) -> bool | None:
    """Read what happens to the packets of a deadlocked queue."""
    if slot != SLOT:
        return NOT_MODELLED
    device.part("pfc").set("recovery_behavior", behavior)
    return None


def headroom_pool(device: Part, size: str, unit: str, slot: str) -> bool | None:
    """Read the buffer that all ports share for packets in flight when they pause."""
    if slot != SLOT:
        return NOT_MODELLED
    device.part("pfc").set("headroom_pool_kbytes", arguments.kbytes(size, unit))
    return None


def threshold_pair(
    port: Part, queue: str, xon: str, xon_unit: str, xoff: str, xoff_unit: str
) -> None:
    """Read both thresholds of V300 G1."""
    low = arguments.kbytes(xon, xon_unit)
    _threshold(port, queue, low, arguments.kbytes(xoff, xoff_unit))


def threshold_shares(port: Part, queue: str, xon: str, xoff: str) -> None:
    """Read both thresholds of V300 G1 as shares of the free buffer."""
    shares = {"xoff": arguments.whole(xoff), "xon": arguments.whole(xon)}
    _other_threshold(port, queue, "alpha", **shares)


def threshold_offset(
    port: Part,
    queue: str,
    xoff: str | None,
    unit: str | None,
    share: str | None,
    offset: str | None,
    offset_unit: str | None,
) -> bool | None:
    """Read the thresholds of V200 and V300 G2: xon is an offset below xoff.

    xoff is a size, cells (V200) or a share.
    """
    if (xoff and not unit) or (offset and not offset_unit):
        return NOT_MODELLED  # no source states the switch's unit
    below = arguments.kbytes(offset, offset_unit or "") if offset else None
    if xoff is None or unit == "cells":
        given = {} if below is None else {"offset_kbytes": below}
        number = arguments.whole(xoff or share or "")
        _other_threshold(port, queue, "cells" if xoff else "alpha", xoff=number, **given)
        return None
    high = arguments.kbytes(xoff, unit or "")
    below = DEFAULT_OFFSET_KBYTES if below is None else below
    if below > high:
        raise BadArgumentError(
            f"an xon offset of {below} kbytes below an xoff of {high} kbytes", "lower the offset"
        )
    _threshold(port, queue, high - below, high)
    return None


def _threshold(port: Part, queue_text: str, xon_kbytes: int, xoff_kbytes: int) -> None:
    queue = arguments.queue(queue_text)
    _one_form(port, "other_thresholds", queue)
    row = port.row("thresholds", queue, queue=queue)
    row.set("xon_kbytes", xon_kbytes)
    row.set("xoff_kbytes", xoff_kbytes)


def _other_threshold(port: Part, queue_text: str, unit: str, **values: int) -> None:
    queue = arguments.queue(queue_text)
    _one_form(port, "thresholds", queue)
    row = port.row("other_thresholds", queue, queue=queue)
    row.set("unit", unit)
    for name, value in values.items():
        row.set(name, value)


def _one_form(port: Part, collection: str, queue: int) -> None:
    """Raise BadArgumentError where a queue has its xoff in another unit already."""
    row = port.rows.get(collection, {}).get(queue)
    path = f"{port.below(collection)}[{queue}]"
    if row is not None and {"xoff", "xoff_kbytes"} & row.fields.keys():
        raise BadArgumentError(
            f"xoff of queue {queue} is in another unit on line {port.log.first[path]}",
            "keep one of the two lines",
        )


# --- drop profiles, whose limits have one of three units ------------------------------------------


def colour(name: str) -> Callable[..., None]:
    """Return the reader of the line of one colour."""

    def read(profile: Part, *words: str | None) -> None:
        _limits(profile.row("colours", name, colour=name), words)

    return read


def ecn(profile: Part, *words: str | None) -> None:
    """Read the queue depths between which a packet is marked."""
    _limits(profile.part("ecn"), words)


def _limits(part: Part, words: tuple[str | None, ...]) -> None:
    *pairs, percent = words
    for unit, low, high in zip(UNITS, pairs[::2], pairs[1::2], strict=True):
        if low is not None and high is not None:
            part.set("unit", unit)
            part.set("low", arguments.whole(low))
            part.set("high", arguments.whole(high))
    part.set("percent", arguments.whole(percent or ""))
