"""Routing in detail: BGP peers, routes of a prefix, and VPN instances."""

import re
from collections.abc import Iterator, Sequence

from napalm_cloudengine.displays.block import LabelledDisplay
from napalm_cloudengine.displays.lines import (
    DisplayAnswer,
    DisplayLine,
    Rows,
    is_interface,
)
from napalm_cloudengine.displays.table import REFERENCE, Row

PEERS_COMMAND = "display bgp peer verbose"
PEER_COMMAND = "display bgp peer {} verbose"
PEER = LabelledDisplay(
    """\
BGP Peer is {address},  remote AS {remote_as}
 Type: {type} link
 BGP version {version}, Remote router ID {remote_id}
 BGP current state: {state:*}
 BGP current event: {event}
 BGP last state: {last_state:*}
 BGP Peer Up count: {ups:d}
 Received total routes: {received:d}
 Received active routes total: {active:d}
 Advertised total routes: {advertised:d}
 Port: Local - {local_port:d}        Remote - {remote_port:d}
 Configured: Active Hold Time: {hold:d} sec   Keepalive Time:{keepalive:d} sec
 Received  : Active Hold Time: {peer_hold:d} sec
 Negotiated: Active Hold Time: {used_hold:d} sec   Keepalive Time:{used_keepalive:d} sec
 Authentication type configured: {authentication}
 Import route policy is: {import_policy}
 Export route policy is: {export_policy}""",
    source=REFERENCE.format("display bgp peer verbose")
    + '; policies: "display bgp ipv6 unnumbered peer verbose"',
)
MULTIHOP = "Multi-hop ebgp has been enabled"
_MESSAGES = LabelledDisplay(
    " Total {total:d}\n Update messages {updates:d}",
    source=REFERENCE.format("display bgp peer verbose"),
)
_LEAST = ("address", "remote_as", "state")
_AS = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_UP_FOR = re.compile(r"(\w+(?: +\w+)*)\s*(?:\((\w+)\))?(?:,\s*Up for (\S+))?", re.ASCII)
_AGE = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", re.ASCII)


def seconds_of(age: str) -> int:
    """Return the seconds of `00h57m53s` or `11d00h51m05s`; -1 for another form."""
    match = _AGE.fullmatch(age) if age else None
    if match is None:
        return -1
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def age_text(seconds: int) -> str:
    """Format seconds as `00h57m53s`, from a day on `11d00h51m05s`."""
    hours, rest = divmod(seconds, 3600)
    days = f"{hours // 24}d" if hours >= 24 else ""
    return f"{days}{hours % 24:02}h{rest // 60:02}m{rest % 60:02}s"


def _blocks(
    lines: Sequence[DisplayLine], begins: re.Pattern[str]
) -> Iterator[tuple[DisplayLine, list[DisplayLine]]]:
    """Yield the line that begins each block, and all lines of the block."""
    starts = [n for n, line in enumerate(lines) if begins.match(line.text.strip(" \t"))]
    ends = [*starts[1:], len(lines)]
    for start, end in zip(starts, ends, strict=False):
        yield lines[start], list(lines[start:end])


def read_peer_details(shown: DisplayAnswer) -> Rows[Row]:
    """Read every peer of `display bgp peer verbose`; values that it does not show are missing.

    `input_*` and `output_*` count messages. Raises UnreadableError for a peer without AS or state.
    An empty answer, as of a switch without BGP, has no peers.
    """
    rows: list[Row] = []
    blocks = list(_blocks(shown.lines, re.compile(r"BGP Peer is ")))
    if shown.lines and not blocks:
        raise shown.wrong(1, "no BGP peer")
    for first, lines in blocks:
        row, section = Row(), ""
        for line in lines:
            text = line.text.strip(" \t")
            if text in ("Received:", "Sent:"):
                section = "input" if text == "Received:" else "output"
            elif section and (counts := _MESSAGES.match(line)):
                row |= {f"{section}_{name}": count for name, count in counts.items()}
            else:
                row |= PEER.match(line)
                row["multihop"] = row.get("multihop", False) or text == MULTIHOP
        if lacking := next((name for name in _LEAST if name not in row), None):
            raise shown.wrong(first.number, f"a peer without its {lacking.replace('_', ' ')}")
        if not _AS.fullmatch(row["remote_as"]):
            raise shown.wrong(first.number, f"{row['remote_as']!r} is no AS number")
        state = _UP_FOR.fullmatch(row["state"])
        row["state"], row["up_s"] = row["state"], -1
        if state:
            reason = f"({state[2]})" if state[2] else ""
            row |= {"state": state[1] + reason, "up_s": seconds_of(state[3] or "")}
        rows.append(row)
    return Rows(rows)


ROUTE_COMMAND = "display ip routing-table {} {}{} verbose"
LONGER = " longer-match"
ROUTE_HEAD = """\
Route Flags: R - relay, D - download to fib, T - to vpn-instance, B - black hole route
------------------------------------------------------------------------------
Routing Table : _public_
Summary Count : {}
"""
ROUTE = LabelledDisplay(
    """\
Destination: {destination}
     Protocol: {protocol:<15} Process ID: {process}
   Preference: {preference:<21d} Cost: {cost:d}
      NextHop: {next_hop:<16} Neighbour: {neighbour}
        State: {state:<22*} Age: {age}
          Tag: {tag:<17} Priority: {priority}
        Label: {label:<18} QoSInfo: {qos}
   IndirectID: {indirect}
 RelayNextHop: {relay:<16} Interface: {interface}
     TunnelID: {tunnel:<20} Flags:  {flags:*}
   RouteColor: {color}""",
    source=REFERENCE.format("display ip routing-table (All views)"),
)
_SUMMARY = re.compile(r"Summary [Cc]ount\s*:\s*(\d+)", re.ASCII)
_LEAST_OF_ROUTE = ("destination", "protocol", "preference", "next_hop", "state", "age", "interface")


def read_route_details(shown: DisplayAnswer) -> Rows[Row]:
    """Read every route of `display ip routing-table .. verbose`; an empty answer has none.

    Raises UnreadableError for a route without one of its values, and where announced routes are
    missing.
    """
    rows: list[Row] = []
    for first, lines in _blocks(shown.lines, re.compile(r"Destination\s*:")):
        row = Row()
        for line in lines:
            row |= ROUTE.match(line)
        if lacking := next((name for name in _LEAST_OF_ROUTE if name not in row), None):
            raise shown.wrong(first.number, f"a route without its {lacking.replace('_', ' ')}")
        rows.append(row)
    totals = [(line, m) for line in shown.lines if (m := _SUMMARY.match(line.text.strip()))]
    for line, match in totals:
        shown.require_all(line.number, "routes", int(match[1]), len(rows), 0)
    if shown.lines and not rows and not totals:
        raise shown.wrong(1, "no route and no number of routes")
    return Rows(rows)


INSTANCES_COMMAND = "display ip vpn-instance verbose"
INSTANCE = LabelledDisplay(
    """\
VPN-Instance Name and ID : {name}, {id:d}
  Description : {description:*}
  Interfaces : {interfaces:*}
Address family {family}
  Vrf Status : {status}
  Route Distinguisher : {distinguisher}""",
    source=REFERENCE.format("display ip vpn-instance"),
)
INSTANCES_HEAD = """\
Total VPN-Instances configured : {total}
Total IPv4 VPN-Instances configured : {ipv4}
Total IPv6 VPN-Instances configured : {ipv6}
"""
_TOTAL = re.compile(r"Total VPN-Instances configured\s*:\s*(\d+)", re.ASCII)


def read_instances(shown: DisplayAnswer) -> Rows[Row]:
    """Read VPN instances: `name`, `distinguisher` ("" without one) and `interfaces`.

    Further lines of interfaces follow the first one: that form is not confirmed. The first
    distinguisher counts where families differ. Raises UnreadableError where announced instances are
    missing; an empty answer has none.
    """
    rows: list[Row] = []
    for first, lines in _blocks(shown.lines, re.compile(r"VPN-Instance Name and ID\s*:")):
        row: Row = {"interfaces": [], "distinguisher": ""}
        listing = False
        for line in lines:
            values = INSTANCE.match(line)
            names = line.text.replace(",", " ").split()
            listing = "interfaces" in values or (listing and all(map(is_interface, names)))
            if "interfaces" in values:
                names = values["interfaces"].replace(",", " ").split()
            if listing:
                row["interfaces"] += names
            elif "distinguisher" in values:
                row["distinguisher"] = row["distinguisher"] or values["distinguisher"]
            else:
                row |= {key: values[key] for key in ("name", "description") if key in values}
        if "name" not in row:
            raise shown.wrong(first.number, "a VPN instance without its name")
        rows.append(row)
    totals = [(line, m) for line in shown.lines if (m := _TOTAL.match(line.text.strip()))]
    for line, match in totals:
        shown.require_all(line.number, "VPN instances", int(match[1]), len(rows), 0)
    if shown.lines and not rows and not totals:
        raise shown.wrong(1, "no VPN instance and no number of them")
    return Rows(rows)
