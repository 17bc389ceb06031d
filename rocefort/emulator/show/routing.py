"""Displays of routes and BGP peers, and `ping`.

Forms of routes and peers: `napalm_cloudengine/displays/`; samples of the others: V300R023C00
command reference, IP Routing. Messages are not counted and shown as 0. Of a peer's capabilities
only the address family is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from napalm_cloudengine.displays import routing_details
from napalm_cloudengine.displays.routing import OF_ADDRESS, PEERS, ROUTES, age_text, route_rows
from rocefort.base.errors import BadInput
from rocefort.dialects.vrp.interpreter.interpreter import Lines
from rocefort.emulator.show.context import state_source_of
from rocefort.emulator.switch.state_source import (
    BgpPath,
    EchoReply,
    EchoRequest,
    PeerState,
    RouteState,
)
from rocefort.emulator.switch.switch import EmulatedSwitch, bgp_lines, bgp_view

# Alternatives of the reference; each may be given once. -m is the wait of the switch between two
# requests, which passes no time here. Ranges are those of other VRP8 devices.
FORMAT = (
    "ping [ ip ] [ -vpn-instance <word> | -a <source> | -i <interface> | -c <1-4294967295> | "
    "-h <1-255> | -m <1-10000> | -s <20-9600> | -t <0-65535> ] * <host>"
)
MOST_SENT = 1000  # own limit: all are answered at once, in one reply


def ping(switch: EmulatedSwitch, params: Mapping[str, str]) -> str:
    """Return the output of a ping; one error line if the model has no answer."""
    try:
        echo = _echo(params)
        return printed(echo, state_source_of(switch).ping(switch.name, echo))
    except BadInput as error:
        return f"Error: This emulator cannot ping it: {error.problem}."


def _echo(params: Mapping[str, str]) -> EchoRequest:
    """Return the request of a ping. Raises BadInput for options that are not modelled."""
    if "word" in params:
        raise BadInput("VPN instances have no routes here")
    count = int(params.get("1-4294967295", 5))
    if count > MOST_SENT:
        raise BadInput(f"it sends {MOST_SENT} packets at most")
    source = params.get("source")
    return EchoRequest(
        IPv4Address(params["host"]),
        IPv4Address(source) if source else None,
        params.get("interface", ""),
        count,
        int(params.get("20-9600", 56)),
        int(params.get("1-255", 255)),
        int(params.get("0-65535", 2000)),
    )


def printed(echo: EchoRequest, replies: Sequence[EchoReply | None]) -> str:
    """Return a row for each request, and the statistics."""
    rows = [f"  PING {echo.host}: {echo.size}  data bytes, press CTRL_C to break"]
    for number, reply in enumerate(replies, 1):
        rows.append(
            "    Request time out"
            if reply is None
            else f"    Reply from {echo.host}: bytes={echo.size} Sequence={number} "
            f"ttl={reply.ttl} time={reply.ms} ms"
        )
    times = [reply.ms for reply in replies if reply is not None]
    rows += [
        "",
        f"  --- {echo.host} ping statistics ---",
        f"    {len(replies)} packet(s) transmitted",
        f"    {len(times)} packet(s) received",
        f"    {100 * (len(replies) - len(times)) / len(replies):.2f}% packet loss",
    ]
    if times:
        average = sum(times) // len(times)
        rows.append(f"    round-trip min/avg/max = {min(times)}/{average}/{max(times)} ms")
    return "\n".join(rows)


BGP_HEAD = (
    " Status codes: * - valid, > - best, d - damped, x - best external, a - add path,",
    "               h - history,  i - internal, s - suppressed, S - Stale",
    "               Origin : i - IGP, e - EGP, ? - incomplete",
    " RPKI validation codes: V - valid, I - invalid, N - not-found",
)
FAMILY = "ipv4-family unicast"
ROUTING_POLICY = " Routing policy configured:"
BGP_COLUMNS = (
    "        Network            NextHop                       MED        LocPrf    PrefVal Path/Ogn"
)


def table(switch: EmulatedSwitch) -> str:
    """`display ip routing-table`: further next hops leave the prefix column empty."""
    routes = state_source_of(switch).routes(switch.name)
    rows = [row for route in routes for row in _rows(route)]
    return ROUTES.write(rows, destinations=len(routes), routes=len(rows))


def of_address(switch: EmulatedSwitch, address: str, mask: str | None = None) -> str:
    """`display ip routing-table A [MASK]`: the longest match, or with a mask only that prefix."""
    routes = state_source_of(switch).routes(switch.name)
    if mask is None:
        routes = [route for route in routes if IPv4Address(address) in route.prefix]
    else:
        prefix = IPv4Network((address, mask), strict=False)
        routes = [route for route in routes if route.prefix == prefix]
    longest = max((route.prefix.prefixlen for route in routes), default=0)
    matches = [route for route in routes if route.prefix.prefixlen == longest]
    if not matches:
        return ""  # the output in this case is not confirmed
    rows = [row for route in matches for row in _rows(route)]
    return OF_ADDRESS.write(rows, routes=len(rows))


def details(switch: EmulatedSwitch, address: str, mask: str, *, longer: bool = False) -> str:
    """`display ip routing-table A MASK verbose`: one block for each next hop, all active."""
    prefix = IPv4Network((address, mask), strict=False)
    routes = [
        route
        for route in state_source_of(switch).routes(switch.name)
        if route.prefix == prefix or (longer and route.prefix.subnet_of(prefix))
    ]
    if not routes:
        return ""  # the output in this case is not confirmed
    age = routing_details.age_text(int(switch.clock() - switch.booted))
    blocks = [_route_details(route, hop, name, age) for route in routes for hop, name in route.hops]
    return "\n".join([routing_details.ROUTE_HEAD.format(len(blocks)), "\n\n".join(blocks)])


def longer_details(switch: EmulatedSwitch, address: str, mask: str) -> str:
    """`display ip routing-table A MASK longer-match verbose`: longer prefixes, too."""
    return details(switch, address, mask, longer=True)


def _route_details(route: RouteState, hop: str, interface: str, age: str) -> str:
    learned = route.protocol in ("EBGP", "IBGP")
    return routing_details.ROUTE.write(
        {
            "destination": str(route.prefix),
            "protocol": route.protocol,
            **dict.fromkeys(("process", "cost", "tag", "color"), 0),
            "preference": route.preference,
            "next_hop": hop,
            "neighbour": hop if learned else "0.0.0.0",  # noqa: S104 - as printed
            "state": "Active Adv",
            "age": age,
            "priority": "low" if learned else "medium",
            "label": "NULL",
            **dict.fromkeys(("qos", "indirect", "tunnel"), "0x0"),
            "relay": "0.0.0.0",  # noqa: S104 - as printed
            "interface": interface,
            "flags": "DB" if interface == "NULL0" else "D",
        }
    )


def _rows(route: RouteState) -> list[dict[str, Any]]:
    flags = "DB" if route.hops[0][1] == "NULL0" else "D"
    hops = [{"next_hop": hop, "interface": name, "flags": flags} for hop, name in route.hops]
    row = {"prefix": str(route.prefix), "protocol": route.protocol, "hops": hops}
    return route_rows(row, route.preference)


def bgp_peer(switch: EmulatedSwitch) -> str:
    """`display bgp peer`; a switch without BGP prints nothing."""
    bgp = bgp_view(switch.running)
    if bgp is None:
        return ""
    peers = state_source_of(switch).peers(switch.name)
    rows = [
        {
            "address": str(peer.address),
            "version": 4,
            "asn": peer.asn,
            **dict.fromkeys(("received", "sent", "queued"), 0),
            "age": age_text(state_source_of(switch).peer_age_s(switch.name, str(peer.address))),
            "state": peer.state,
            "prefixes": peer.prefixes,
        }
        for peer in peers
    ]
    return PEERS.write(
        rows,
        router_id=router_id(switch.running),
        local_as=bgp.text.split()[1],
        total=len(peers),
        established=sum(peer.state == "Established" for peer in peers),
        dynamic=0,
    )


def bgp_table(switch: EmulatedSwitch) -> str:
    """`display bgp routing-table`; further next hops leave the network column empty."""
    if bgp_view(switch.running) is None:
        return ""
    paths, rows, shown = state_source_of(switch).bgp_paths(switch.name), [], None
    for path in paths:
        rows.append(_path(path, str(path.prefix) if path.prefix != shown else ""))
        shown = path.prefix
    return "\n".join(
        [
            f" BGP Local router ID is {router_id(switch.running)}",
            *BGP_HEAD,
            "",
            "",
            f" Total Number of Routes: {len(paths)}",
            BGP_COLUMNS,
            "",
            *rows,
        ]
    )


def _path(path: BgpPath, network: str) -> str:
    """Format a path as in the sample; LocPrf is for IBGP only, and no route here has a PrefVal."""
    status, med = "*>" if path.best else "*", "" if path.med is None else path.med
    origin = " ".join(map(str, path.as_path)) + "i"
    return f" {status:<6} {network:<18} {path.next_hop:<30} {med:<21} {0:<6} {origin}"


def router_id(config: Lines) -> str:
    """Return the router ID of BGP: its own line, else the first address of a loopback."""
    loopbacks = (line for line in config if line.text.startswith("interface LoopBack"))
    of_loopbacks = (child.text for line in loopbacks for child in line.children)
    for text in (*bgp_lines(config), *of_loopbacks):
        if text.startswith(("router-id ", "ip address ")):
            return text.removeprefix("ip ").split()[1]
    return "0.0.0.0"  # noqa: S104 - what a router without an ID shows; nothing listens here


def bgp_verbose(switch: EmulatedSwitch, address: str | None = None) -> str:
    """`display bgp peer [A] verbose`: the lab's data of a peer, in the sample's order."""
    peers = state_source_of(switch).peers(switch.name)
    return "\n".join(_verbose(switch, p) for p in peers if address in (None, str(p.address)))


def _verbose(switch: EmulatedSwitch, peer: PeerState) -> str:
    up = peer.state == "Established"
    bgp = bgp_view(switch.running)
    asn = bgp.text.split()[1] if bgp else ""
    age = state_source_of(switch).peer_age_s(switch.name, str(peer.address))
    since = f", Up for {routing_details.age_text(age)}" if up else ""
    keepalive, hold = timers(switch.running, str(peer.address))
    values: dict[str, object] = {
        "address": peer.address,
        "remote_as": peer.asn,
        "type": "IBGP" if peer.asn == asn else "EBGP",
        "version": 4,
        "remote_id": "-" if up else "0.0.0.0",  # noqa: S104 - not known
        "state": f"{peer.state}{since}",
        "ups": int(up),
        "received": peer.prefixes,
        "active": peer.prefixes,
        "hold": hold,
        "keepalive": keepalive,
        "authentication": _authentication(switch, peer),
    }
    shown = routing_details.PEER.write(values)
    if up:
        family = "  Address family IPv4 Unicast: advertised and received\n"
        shown = shown.replace(" Authentication type", f"{family} Authentication type")
    policies = routing_details.PEER.write(_policies(switch, peer))
    return "\n".join([shown, ROUTING_POLICY, policies or " No routing policy is configured"])


def _policies(switch: EmulatedSwitch, peer: PeerState) -> dict[str, str]:
    """Return the route policies of a peer by direction; its own ones count before its group's."""
    policies: dict[str, str] = {}
    for text in _of_peer(switch.running, str(peer.address)):
        words = text.split()
        if words[0] == "route-policy" and len(words) == 3:
            policies.setdefault(f"{words[2]}_policy", words[1])
    return policies


def _of_peer(config: Lines, address: str) -> list[str]:
    """Return BGP lines of a peer and its group, without `peer NAME`; its own lines first.

    Those of the public IPv4 family are among them.
    """
    bgp = bgp_view(config)
    views = [child.children for child in bgp.children if child.text == FAMILY] if bgp else []
    of_family = (line.text for lines in views for line in lines)
    texts = [text.split(None, 2) for text in (*bgp_lines(config), *of_family)]
    lines = [words[1:] for words in texts if len(words) == 3 and words[0] == "peer"]
    own = [text for name, text in lines if name == address]
    groups = {text.split()[1] for text in own if text.startswith("group ")}
    return [*own, *(text for name, text in lines if name in groups)]


def timers(config: Lines, address: str) -> tuple[int, int]:
    """Return keepalive and hold time in seconds: the peer's, its group's, BGP's, or 60 and 180."""
    for text in (*_of_peer(config, address), *bgp_lines(config)):
        words = text.split()
        if words[:2] == ["timer", "keepalive"] and len(words) >= 5:
            return int(words[2]), int(words[4])
    return 60, 180


def _authentication(switch: EmulatedSwitch, peer: PeerState) -> str:
    """Only `None` is in the sample; the other words are this emulator's."""
    for text in _of_peer(switch.running, str(peer.address)):
        if text.startswith("password "):
            return "MD5"
        if text.startswith("keychain "):
            return f"Keychain({text.split()[1]})"
    return "None"
