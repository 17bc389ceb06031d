"""Commands of priority maps, PFC and AI-ECN, in the forms of all syntax families.

Sources: V300R023C00 command reference (DCB, QoS, AI ECN); V200 forms from published
configurations.
"""

from __future__ import annotations

from typing import get_args

from rocefort.dialects.vrp.parsing import arguments
from rocefort.dialects.vrp.parsing.commands import UNMODELLED, Match, View, command, flag
from rocefort.dialects.vrp.parsing.parts import BadArgumentError, Part
from rocefort.models.lossless import BUILT_IN_QUEUE
from rocefort.models.qos import Colour, Phb

SLOT = "1"  # the one slot of a box switch; what other slots are told is not modelled
PHBS, COLOURS = get_args(Phb), get_args(Colour)

# -- priority maps -------------------------------------------------------------------------------


@command("system", r"diffserv domain (\S+)")
def _domain(device: Part, match: Match) -> View:
    return View("domain", device.row("domains", match[1], name=match[1]))


def _map(domain: Part, collection: str, value: int, match: Match) -> None:
    phb, colour = match[2], match[3] or "green"
    if phb not in PHBS or colour not in COLOURS:
        raise BadArgumentError(
            f"{phb} {colour} is no PHB and colour",
            f"it is one of {', '.join(PHBS)} and one of {', '.join(COLOURS)}",
        )
    row = domain.row(collection, value, value=value)
    row.set("phb", phb)
    row.set("colour", colour)


@command("domain", r"ip-dscp-inbound (\d+) phb (\S+)(?: (\S+))?")
def _dscp(domain: Part, match: Match) -> None:
    _map(domain, "dscp", arguments.dscp(match[1]), match)


@command("domain", r"8021p-inbound (\d+) phb (\S+)(?: (\S+))?")
def _dot1p(domain: Part, match: Match) -> None:
    _map(domain, "dot1p", arguments.dot1p(match[1]), match)


# -- PFC of the switch ---------------------------------------------------------------------------


@command("system", r"dcb pfc(?: (\S+))?")
def _profile(device: Part, match: Match) -> View:
    """Open a profile; it pauses the built-in queue until told otherwise."""
    name = match[1] or "default"
    profile = device.part("pfc").row("profiles", name, name=name)
    profile.values.setdefault("queues", {BUILT_IN_QUEUE: None})
    return View("pfc-profile", profile)


PFC_OFF = "pfc off"  # fact of a switch on which no port pauses, whatever its lines say


@command("system", "dcb pfc global disable")
def _pfc_off(device: Part, _match: Match) -> View:
    device.facts.add(PFC_OFF)
    return UNMODELLED


@command("pfc-profile", r"priority (\d+(?: \d+)*)")
def _priority(profile: Part, match: Match) -> None:
    for queue in match[1].split():
        profile.add("queues", arguments.queue(queue))


@command("pfc-profile", r"undo priority (\d+)")
def _undo_priority(profile: Part, match: Match) -> None:
    profile.take("queues", arguments.queue(match[1]))


@command(
    "pfc-profile",
    r"priority (\d+)(?: deadlock-detect time (\d+))?(?: deadlock-recovery time (\d+))?",
)
def _queue_timers(profile: Part, match: Match) -> None:
    """Read V200's one line, or either of the two lines of V300 G2."""
    queue = arguments.queue(match[1])
    row = profile.row("timers", queue, queue=queue)
    for name, time in (("detect_time", match[2]), ("recovery_time", match[3])):
        if time:
            row.set(name, arguments.whole(time))


@command("pfc-profile", r"priority (\d+) turn-off threshold (\d+)")
def _turn_off(profile: Part, match: Match) -> None:
    queue = arguments.queue(match[1])
    profile.row("turn_off", queue, queue=queue).set("deadlocks", arguments.whole(match[2]))


@command("system", r"dcb pfc deadlock-(detect|recovery) timer (\d+)")
def _switch_timer(device: Part, match: Match) -> None:
    device.part("pfc").set(f"{match[1]}_ms", arguments.whole(match[2]))


@command("system", r"dcb pfc deadlock-detect interval (\d+)")
def _interval(device: Part, match: Match) -> None:
    device.part("pfc").set("interval_ms", arguments.whole(match[1]))


@command("system", r"dcb pfc dscp-mapping enable slot (\d+)")
def _dscp_mapping(device: Part, match: Match) -> View | None:
    if match[1] != SLOT:
        return UNMODELLED
    device.part("pfc").set("dscp_mapping", value=True)
    return None


@command("system", r"qos buffer headroom-pool size (\d+) (kbytes|mbytes) slot (\d+)")
def _headroom_pool(device: Part, match: Match) -> View | None:
    if match[3] != SLOT:
        return UNMODELLED
    device.part("pfc").set("headroom_pool_kbytes", arguments.kbytes(match[1], match[2]))
    return None


# -- PFC of a port -------------------------------------------------------------------------------


@command("interface", r"dcb pfc enable(?: (\S+))?(?: mode (manual|auto))?")
def _port_pfc(port: Part, match: Match) -> None:
    pfc = port.part("pfc")
    pfc.set("profile", match[1] or "default")
    pfc.set("mode", match[2] or "manual")  # omitted = manual


def _one_form(port: Part, collection: str, queue: int) -> None:
    """Raise BadArgumentError where a queue has its xoff in another unit already."""
    known = port.rows.get(collection, {}).get(queue)
    path = f"{port.below(collection)}[{queue}]"
    if known is not None and {"xoff", "xoff_kbytes"} & known.fields.keys():
        raise BadArgumentError(
            f"xoff of queue {queue} is in another unit on line {port.log.first[path]}",
            "keep one of the two lines",
        )


def _threshold(port: Part, queue_text: str, xon_kbytes: int, xoff_kbytes: int) -> None:
    queue = arguments.queue(queue_text)
    _one_form(port, "other_thresholds", queue)
    row = port.row("thresholds", queue, queue=queue)
    row.set("xon_kbytes", xon_kbytes)
    row.set("xoff_kbytes", xoff_kbytes)


@command(
    "interface",
    r"dcb pfc buffer (\d+) xon static (\d+) (kbytes|mbytes) xoff static (\d+) (kbytes|mbytes)",
)
def _threshold_pair(port: Part, match: Match) -> None:
    """V300 G1: both thresholds."""
    xon = arguments.kbytes(match[2], match[3])
    _threshold(port, match[1], xon, arguments.kbytes(match[4], match[5]))


DEFAULT_OFFSET_KBYTES = 6  # V300 G2, `dcb pfc buffer`


@command(
    "interface",
    r"dcb pfc buffer (\d+) xoff static (\d+) (kbytes|mbytes)"
    r"(?: xon offset (\d+) (kbytes|mbytes))?",
)
def _threshold_offset(port: Part, match: Match) -> None:
    """V200 and V300 G2: xon lies an offset below xoff."""
    xoff = arguments.kbytes(match[2], match[3])
    offset = arguments.kbytes(match[4], match[5]) if match[4] else DEFAULT_OFFSET_KBYTES
    if offset > xoff:
        raise BadArgumentError(
            f"an xon offset of {offset} kbytes below an xoff of {xoff} kbytes",
            "lower the offset",
        )
    _threshold(port, match[1], xoff - offset, xoff)


def _other_threshold(port: Part, queue_text: str, unit: str, **values: int) -> None:
    queue = arguments.queue(queue_text)
    _one_form(port, "thresholds", queue)
    row = port.row("other_thresholds", queue, queue=queue)
    row.set("unit", unit)
    for name, value in values.items():
        row.set(name, value)


@command("interface", r"dcb pfc buffer (\d+) xon dynamic (\d+) xoff dynamic (\d+)")
def _shares(port: Part, match: Match) -> None:
    """V300 G1: both thresholds as shares of the free buffer."""
    xon, xoff = arguments.whole(match[2]), arguments.whole(match[3])
    _other_threshold(port, match[1], "alpha", xoff=xoff, xon=xon)


@command(
    "interface",
    r"dcb pfc buffer (\d+) xoff (?:static (\d+) cells|dynamic (\d+))"
    r"(?: xon offset (\d+) (kbytes|mbytes))?",
)
def _threshold_of_other_unit(port: Part, match: Match) -> None:
    """V200: cells or a share; V300 G2: a share."""
    offset = {"offset_kbytes": arguments.kbytes(match[4], match[5])} if match[4] else {}
    unit = "cells" if match[2] else "alpha"
    _other_threshold(port, match[1], unit, xoff=arguments.whole(match[2] or match[3]), **offset)


@command("interface", r"dcb pfc buffer (\d+) hdrm (\d+)(?: kbytes)?")
def _headroom(port: Part, match: Match) -> None:
    queue = arguments.queue(match[1])
    row = port.row("thresholds", queue, queue=queue)
    row.set("headroom_kbytes", arguments.whole(match[2]))


# -- AI-ECN --------------------------------------------------------------------------------------


@command("system", "ai-service")
def _ai_service(device: Part, _match: Match) -> View:
    return View("ai-service", device)


@command("ai-service", "ai-ecn")
def _ai_ecn(device: Part, _match: Match) -> View:
    return View("ai-ecn", device.part("ai_ecn"))


flag("ai-ecn", "ai-ecn enable", "enabled")


@command("ai-ecn", r"assign queue (\d+)(?: model (\S+))?")
def _assign(ai_ecn: Part, match: Match) -> None:
    queue = arguments.queue(match[1])
    ai_ecn.row("queues", queue, queue=queue).set("model", match[2])
