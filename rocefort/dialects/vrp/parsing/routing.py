"""Commands of BGP, route policies and prefix lists."""

from __future__ import annotations

import re
from collections.abc import Callable

from rocefort.dialects.vrp import secrets
from rocefort.dialects.vrp.names import is_address
from rocefort.dialects.vrp.parsing import arguments
from rocefort.dialects.vrp.parsing.commands import UNMODELLED, Match, View, command, flag, setting
from rocefort.dialects.vrp.parsing.parts import Part
from rocefort.models.bgp import Bfd

FAMILY = "bgp-ipv4"
BGP_VIEWS = ("bgp", FAMILY)


@command("system", r"bgp (\d+(?:\.\d+)?)")
def _bgp(device: Part, match: Match) -> View:
    bgp = device.part("bgp")
    bgp.set("asn", arguments.asn(match[1]))
    return View("bgp", bgp)


@command("bgp", "ipv4-family unicast")
def _family(bgp: Part, _match: Match) -> View:
    return View(FAMILY, bgp)


setting("bgp", r"router-id (\d\S*)", "router_id", arguments.address)
flag("bgp", "private-4-byte-as enable", "private_4_byte_as")
flag("bgp", "private-4-byte-as disable", "private_4_byte_as", value=False)
for _view in BGP_VIEWS:  # both views take it
    setting(_view, r"maximum load-balancing (\d+)", "maximum_paths", arguments.whole)
flag(FAMILY, "load-balancing as-path-relax", "as_path_relax")


@command(FAMILY, r"network (\d\S*) (\d\S*)")
def _network(bgp: Part, match: Match) -> None:
    bgp.add("networks", arguments.network(match[1], match[2]))


# -- peers and groups ----------------------------------------------------------------------------


@command("bgp", r"group (\S+) (internal|external)")
def _group(bgp: Part, match: Match) -> None:
    bgp.row("groups", match[1], name=match[1]).set("external", match[2] == "external")


def _settings_of(bgp: Part, who: str) -> Part | None:
    """Row of a peer or a group; None for an IPv6 peer."""
    if ":" in who:
        return None
    if not is_address(who):
        return bgp.row("groups", who, name=who)
    address = arguments.address(who)
    return bgp.row("peers", address, address=address)


PeerHandler = Callable[[Part, Match], View | None]


def peer_command(pattern: str, *views: str) -> Callable[[PeerHandler], PeerHandler]:
    """Register what follows `peer WHO` in some views; the handler gets the row of WHO."""

    def register(handler: PeerHandler) -> PeerHandler:
        def handle(bgp: Part, match: Match) -> View | None:
            row = _settings_of(bgp, match["who"])
            return UNMODELLED if row is None else handler(row, match)

        for view in views:
            command(view, rf"peer (?P<who>\S+) {pattern}")(handle)
        return handler

    return register


@peer_command(r"as-number (?P<asn>\d+(?:\.\d+)?)", "bgp")
def _peer_asn(row: Part, match: Match) -> None:
    row.set("asn", arguments.asn(match["asn"]))


@peer_command(r"group (?P<group>\S+)", *BGP_VIEWS)
def _peer_group(row: Part, match: Match) -> View | None:
    """Read a membership; the switch writes it in both views."""
    if "address" not in row.fields:
        return UNMODELLED
    row.set("group", match["group"])
    return None


@peer_command(r"description (?P<text>.+)", "bgp")
def _peer_description(row: Part, match: Match) -> None:
    row.set("description", match["text"])


@peer_command(r"timer keepalive (?P<keepalive>\d+) hold (?P<hold>\d+)", "bgp")
def _peer_timers(row: Part, match: Match) -> None:
    row.set("keepalive_s", arguments.whole(match["keepalive"]))
    row.set("hold_s", arguments.whole(match["hold"]))


@peer_command(r"password (?P<form>cipher|simple) (?P<value>\S.*)", "bgp")
def _peer_password(row: Part, match: Match) -> None:
    """Read that there is a password, and how the text keeps it; never the password."""
    row.set("password", secrets.stated(match["form"], match["value"]))


@peer_command(r"keychain (?P<name>\S+)", "bgp")
def _peer_keychain(row: Part, match: Match) -> None:
    row.set("keychain", match["name"])


@peer_command("bfd enable", "bgp")
def _peer_bfd_enable(row: Part, _match: Match) -> None:
    row.set("bfd_enabled", value=True)


BFD_FIELDS = {
    "min-tx-interval": "min_tx_ms",
    "min-rx-interval": "min_rx_ms",
    "detect-multiplier": "multiplier",
}
BFD_TIMER = "|".join(BFD_FIELDS)


@peer_command(rf"bfd(?P<timers>(?: (?:{BFD_TIMER}) \d+)+)", "bgp")
def _peer_bfd(row: Part, match: Match) -> None:
    """Read BFD timers in any order; what is not given has VRP's default."""
    given = re.findall(r"(\S+) (\d+)", match["timers"])
    row.set("bfd", Bfd(**{BFD_FIELDS[word]: arguments.whole(value) for word, value in given}))


@peer_command("enable", FAMILY)
def _peer_enable(row: Part, _match: Match) -> None:
    row.set("active", value=True)


@peer_command(r"route-policy (?P<policy>\S+) (?P<way>import|export)", FAMILY)
def _peer_policy(row: Part, match: Match) -> None:
    row.set(f"{match['way']}_policy", match["policy"])


# -- policies ------------------------------------------------------------------------------------


@command("system", r"route-policy (\S+) (permit|deny) node (\d+)")
def _policy(device: Part, match: Match) -> View:
    policy = device.row("route_policies", match[1], name=match[1])
    number = arguments.number(0, 65535, "node")(match[3])
    node = policy.row("nodes", number, node=number)
    node.set("action", match[2])
    return View("policy-node", node)


setting("policy-node", r"if-match ip-prefix (\S+)", "match_prefix_list")


@command(
    "system",
    r"ip ip-prefix (\S+) index (\d+) (permit|deny) (\d\S*) (\d+)"
    r"(?: greater-equal (\d+))?(?: less-equal (\d+))?",
)
def _prefix(device: Part, match: Match) -> None:
    index = arguments.whole(match[2])
    row = device.row("prefix_lists", match[1], name=match[1]).row("entries", index, index=index)
    length = arguments.number(0, 32, "prefix length")
    row.set("action", match[3])
    row.set("prefix", arguments.network(match[4], match[5]))
    row.set("greater_equal", length(match[6]) if match[6] else None)
    row.set("less_equal", length(match[7]) if match[7] else None)
