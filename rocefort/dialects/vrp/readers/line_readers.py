"""Readers of VRP lines with more content than fields and their values.

Sources: V300R023C00 command reference (DCB, congestion avoidance); V200 forms from published
configurations and the AI Fabric best practice (static ECN).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rocefort.dialects.vrp.readers import arguments
from rocefort.dialects.vrp.readers.arguments import NOT_MODELLED, BadArgumentError, Part
from rocefort.dialects.vrp.text import secret_forms
from rocefort.dialects.vrp.text.acl_words import ORDER, prefix_of, saved_rule
from rocefort.dialects.vrp.text.names import interface_name, is_address
from rocefort.models.device.interface import HIGHEST_ID, MOST_LINKS, kind_of, trunk_number
from rocefort.models.device.lossless_queue import Unit
from rocefort.models.device.packet_filters import PortRange
from rocefort.models.device.routing import NULL, STATIC_PREFERENCE, Bfd, StaticRoute

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


SOURCE = re.compile(r"(?P<match>any|(?P<ip>\d\S*) (?P<wildcard>\d\S*))", re.ASCII)
NTP_SOURCE = re.compile(r"source-interface (?P<interface>\S+)", re.ASCII)
Read = bool | None


def basic_rule(acl: Part, index: str, action: str, text: str | None) -> Read:
    """Read a rule by source; one with more matches, or with gaps in its wildcard, is no network."""
    source = None
    if text is not None:
        match = SOURCE.fullmatch(text.removeprefix("source "))
        if match is None or not text.startswith("source "):
            return NOT_MODELLED
        if match["ip"]:
            length = arguments.wildcard_length(match["wildcard"])
            if length is None:
                return NOT_MODELLED
            source = arguments.network(match["ip"], str(length))
    number = arguments.number(0, 4294967294, "rule")(index)
    row = acl.row("rules", number, index=number)
    row.set("action", action)
    row.set("source", source)
    return None


def idle_timeout(vty: Part, minutes: str, seconds: str | None) -> None:
    """Read minutes and seconds; if both are zero, a session never ends."""
    whole = arguments.number(0, 35791, "idle-timeout")(minutes) * 60
    vty.set("idle_timeout_s", whole + arguments.number(0, 59, "seconds")(seconds or "0"))


def ntp_server(device: Part, ip: str, text: str | None) -> Read:
    """Read a server of the public table."""
    return ntp_server_of_table(device, ip, None, text)


def ntp_server_of_table(device: Part, ip: str, vrf: str | None, text: str | None) -> Read:
    """Read a server; a Device cannot have two in different tables, or of different sources."""
    match = NTP_SOURCE.fullmatch(text or "")
    if text and match is None:
        return NOT_MODELLED
    given = {"ntp_vrf": vrf, "ntp_source": match and interface_name(match["interface"])}
    if any(device.fields.get(name, value) != value for name, value in given.items()):
        return NOT_MODELLED
    for name, value in given.items():
        device.set(name, value)
    device.add("ntp_servers", arguments.address(ip))
    return None


def loghost(device: Part, ip: str, text: str | None) -> Read:
    """Read a host of the public table."""
    return loghost_of_table(device, ip, None, text)


def loghost_of_table(device: Part, ip: str, vrf: str | None, text: str | None) -> Read:
    """Read a host; a Device cannot have two in different tables."""
    syslog = device.part("syslog")
    if text or syslog.fields.get("vrf", vrf) != vrf:
        return NOT_MODELLED
    syslog.set("vrf", vrf)
    syslog.add("hosts", arguments.address(ip))
    return None


def ssh_source(device: Part, interface: str | None) -> Read:
    """Read the one source interface of SSH; a switch may have more, a Device may not."""
    return _one_source(device.part("ssh"), interface)


def snmp_source(device: Part, interface: str) -> Read:
    """Read the one source interface of SNMP; a switch may have more, a Device may not."""
    return _one_source(device.part("snmp"), interface)


def _one_source(part: Part, interface: str | None) -> Read:
    name = interface_name(interface or "")
    if name is None or part.fields.get("source_interface", name) != name:
        return NOT_MODELLED
    part.set("source_interface", name)
    return None


def collector(
    group: Part, ip: str, port: str, vrf: str | None, protocol: str | None, no_tls: str | None
) -> None:
    """Read a destination of telemetry."""
    address, number = arguments.address(ip), arguments.number(1, 65535, "port")(port)
    row = group.row("collectors", f"{address}:{number}", address=address, port=number)
    row.set("vrf", vrf)
    row.set("protocol", protocol and protocol.casefold())
    row.set("tls", no_tls is None)


def rights(group: Part, name: str, *some: str | None) -> None:
    """Read the rights of a user group on the commands of a task."""
    row = group.row("grants", name, name=name)
    for right in filter(None, some):
        row.add("rights", right)


FIELDS = dict(
    zip(
        ORDER,
        ("source", "source_ports", "destination", "destination_ports", "dscp"),
        strict=True,
    )
)
MATCH = re.compile(rf" ({'|'.join(sorted(ORDER, key=len, reverse=True))}) ")


def advanced_rule(acl: Part, number: str, action: str, text: str) -> bool | None:
    """Read a rule; one with more matches than the models have stays unmodelled."""
    saved = saved_rule(text.split())
    values = None if saved is None else _matches(saved)
    if saved is None or values is None:
        return NOT_MODELLED
    index = arguments.number(0, 4294967294, "rule")(number)
    row = acl.row("rules", index, index=index)
    row.set("action", action)
    row.set("protocol", saved.split()[0])
    for field, value in values.items():
        row.set(field, value)
    return None


def _matches(saved: str) -> dict[str, object] | None:
    """Return fields of a rule's matches; None where a wildcard has gaps and names no network."""
    pieces = MATCH.split(f"{saved} ")[1:]
    values: dict[str, object] = {}
    for name, text in zip(pieces[::2], pieces[1::2], strict=True):
        value = _value(name, text.strip())
        if value is None:
            return None
        values[FIELDS[name]] = value
    return values


def _value(name: str, text: str) -> object:
    if name.endswith("-port"):
        _, first, *last = text.split()
        return PortRange(low=int(first), high=int((last or [first])[0]))
    return int(text) if name == "dscp" else prefix_of(text)


def network(bgp: Part, ip: str, mask: str, policy: str | None) -> Read:
    """Read a prefix that the process announces unchanged."""
    if policy is not None:
        return NOT_MODELLED
    bgp.add("networks", arguments.network(ip, mask))
    return None


def password(bgp: Part, who: str, cipher: str | None, simple: str | None) -> None:
    """Read that there is a password, and its form in the text; never the password."""
    form, value = ("simple", simple) if cipher is None else ("cipher", cipher)
    _peer(bgp, who).set("password", secret_forms.stated_secret(form, value or ""))


def bfd(bgp: Part, who: str, *timers: str | None) -> Read:
    """Read BFD timers; an omitted one has VRP's default."""
    names = ("min_tx_ms", "min_rx_ms", "multiplier")
    given = {name: arguments.whole(t) for name, t in zip(names, timers, strict=True) if t}
    if not given:
        return NOT_MODELLED
    _peer(bgp, who).set("bfd", Bfd(**given))
    return None


def _peer(bgp: Part, who: str) -> Part:
    if not is_address(who):
        return bgp.row("groups", who, name=who)
    address = arguments.address(who)
    return bgp.row("peers", address, address=address)


def prefix(
    device: Part,
    name: str,
    number: str,
    action: str,
    ip: str,
    length: str,
    greater_equal: str | None,
    less_equal: str | None,
) -> None:
    """Read an entry of a prefix list."""
    index = arguments.whole(number)
    row = device.row("prefix_lists", name, name=name).row("entries", index, index=index)
    bound = arguments.number(0, 32, "prefix length")
    row.set("action", action)
    row.set("prefix", arguments.network(ip, length))
    row.set("greater_equal", bound(greater_equal) if greater_equal else None)
    row.set("less_equal", bound(less_equal) if less_equal else None)


def static_route(
    device: Part,
    ip: str,
    mask: str,
    via: str,
    next_hop: str | None,
    preference: str | None,
    description: str | None,
) -> Read:
    """Read a route of the public table."""
    return static_route_of_table(device, None, ip, mask, via, next_hop, preference, description)


def static_route_of_table(
    device: Part,
    vrf: str | None,
    ip: str,
    mask: str,
    via: str,
    next_hop: str | None,
    preference: str | None,
    description: str | None,
) -> Read:
    """Read a route to an address or to NULL0; other forms are not modelled."""
    to = f"{via}{next_hop or ''}"  # `NULL 0` is two words
    if to != NULL and (next_hop is not None or not is_address(via)):
        return NOT_MODELLED
    given = arguments.number(1, 255, "preference")(preference) if preference else None
    route = StaticRoute(
        prefix=arguments.network(ip, mask),
        next_hop=None if to == NULL else arguments.address(via),
        vrf=vrf,
    )
    row = device.row("static_routes", route.key, prefix=route.prefix)
    row.fields |= {"next_hop": route.next_hop, "vrf": route.vrf}
    row.set("preference", None if given == STATIC_PREFERENCE else given)
    row.set("description", description)
    return None
