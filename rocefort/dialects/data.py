"""Data types in the interface of a dialect, the same for every network operating system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Network

from napalm_cloudengine.displays.lldp import Neighbor
from rocefort.models.device.device import Device
from rocefort.models.network.network import Position, TextLine


class ForeignDesign(StrEnum):
    """Design of a network that no fabric describes."""

    OSPF = "OSPF"
    ISIS = "IS-IS"
    RIP = "RIP"
    EVPN = "EVPN"
    VXLAN = "VXLAN"
    VPN = "BGP in VPN instances"
    MLAG = "M-LAG"
    VRRP = "VRRP"
    STACK = "a stack"
    MPLS = "MPLS"
    SEGMENT_ROUTING = "segment routing"
    IPV6 = "IPv6"


class RoutingEffect(StrEnum):
    """Effect on routing of a line that no Device represents; MAY_..: its result is not certain."""

    CLOSES = "closes the sessions of a peer"
    DISABLES = "disables IPv4 routes of a peer"
    IMPORTS = "announces connected subnets or static routes"
    MAY_IMPORT = "announces some of them"
    MAY_ANNOUNCE = "announces a prefix"
    MAY_ANNOUNCE_DEFAULT = "announces a default route"
    MAY_ANNOUNCE_ALL = "announces prefixes of other origins"
    MAY_PREFER_BGP = "prefers routes of BGP to static ones"
    MAY_CHANGE_PEER = "changes the routes of a peer, or its sessions"
    MAY_CHANGE_BGP = "changes the routes of all peers, or their sessions"
    MAY_CHANGE_POLICY = "changes the routes that a route-policy passes"
    MAY_CHANGE_LIST = "changes the prefixes that a list permits"
    MAY_ROUTE = "changes a static route"


@dataclass(frozen=True, slots=True)
class RoutingLine:
    """Effect of a line on routing, and what it names.

    name: of a peer, group, policy or list. static: static routes are announced, not subnets.
    preference: of routes from external BGP; 0: not given. routes_only: no session changes.
    """

    effect: RoutingEffect
    name: str = ""
    static: bool = False
    prefix: IPv4Network | None = None
    preference: int = 0
    routes_only: bool = False


class AccessWeakness(StrEnum):
    """Kind of weak access to a switch; each has a rule."""

    SERVER = "server"
    ALGORITHM = "algorithm"
    SNMP = "snmp"


@dataclass(frozen=True, slots=True)
class WeakAccess:
    """Weakness of one line: its kind, a sentence, and the fix.

    telnet: `ipv4` or `ipv6` if the line starts the Telnet server.
    """

    kind: AccessWeakness
    what: str
    how: str
    telnet: str = ""


@dataclass(frozen=True)
class ProbeForm:
    """Lines that show whether a switch has a form of a command, indented by their views.

    before: number of the first lines, which only prepare the others. help_words: instead, the
    words before a `?`; lists: the word that the help must have then.
    """

    typed: tuple[str, ...]
    before: int = 0
    help_words: str = ""
    lists: str = ""


@dataclass(frozen=True)
class ProbeQuestion:
    """Input that shows a number of the hardware data.

    views: lines that open the view. helps: whether the command is the words before a `?`.
    """

    views: tuple[str, ...]
    command: str
    helps: bool

    @property
    def text(self) -> str:
        """The input as text: ` / ` enters a view."""
        return " / ".join((*self.views, f"{self.command} ?" if self.helps else self.command))


@dataclass(frozen=True)
class ParsedConfig:
    """Content of a configuration text.

    `lines` maps paths of Device fields to the first line that sets them. A path is written like
    Python over the model, with the row's own key in brackets:

        name                                  bgp.asn
        vlans[120]                            bgp.networks[10.65.2.0/24]
        interfaces[100GE1/0/1]                bgp.groups[SPINE].bfd
        interfaces[100GE1/0/1].mtu            bgp.peers[10.1.0.32].asn
        interfaces[Vlanif120].addresses[10.65.2.1/24]
        interfaces[100GE1/0/1].thresholds[4].xoff_kbytes
        pfc.detect_ms                         pfc.profiles[default].queues[4]
        domains[roce].dscp[32].phb            ai_ecn.queues[4].model
        prefix_lists[LOCAL].entries[10]       route_policies[EXPORT].nodes[10]
        users[netops].level                   ssh.users[netops]
        vty[0].authentication                 ntp_servers[10.255.0.250]
        vrfs[MGMT].ipv4                       static_routes[MGMT 0.0.0.0/0 10.255.0.1]
        acls[2000].rules[5].source            snmp.users[monitor].group
        filters.acls[3000].rules[5].source    filters.policies[VLAN120].bindings[VLAN120]
        interfaces[100GE1/0/1].drr[4].weight  netconf.port_830
        interfaces[100GE1/0/1].eth_trunk      interfaces[Eth-Trunk1].bond.mode
        interfaces[100GE1/0/1].markings[4].ecn
        drop_profiles[roce].ecn.low           drop_profiles[roce].colours[green].high

    Every enclosing path that a line opens or touches is included, and "" is the line of the
    sysname, so the nearest enclosing path of any field has a line. `queues[3]` is the line that
    removes the built-in queue.
    """

    device: Device
    lines: Mapping[str, int]
    unmodelled: tuple[TextLine, ...]  # in order of the text
    total_lines: int  # commands in the text, without separators, comments and `return`
    software: str | None = None  # release named in the header, V200R022C00SPC500
    cut_off_at: int | None = None  # line of the last command if no `return` follows it


def sources_of(parsed: ParsedConfig, file: str) -> dict[str, Position]:
    """Return the side table for models.network.Sources: `device/field.path` -> line of the text."""
    name = parsed.device.name
    table = {f"{name}/{path}": Position(file, line) for path, line in parsed.lines.items()}
    for line in parsed.unmodelled:
        table[f"{name}/unmodelled[{line.line}]"] = Position(file, line.line)
    if parsed.cut_off_at is not None:
        table[f"{name}/cut_off"] = Position(file, parsed.cut_off_at)
    return table


@dataclass(frozen=True, slots=True)
class TakenLine:
    """Unowned line that a command takes with it, as its views and itself.

    after: the line after the patch, which sets it again; another view may have its name. None: it
    is lost. command: empty for a line whose view only gets another line. restored: whether the
    commands back set it again.
    """

    path: tuple[str, ...]
    after: tuple[str, ...] | None
    command: str
    restored: bool = True


@dataclass(frozen=True, slots=True)
class ConfigPatch:
    """Commands that change one text into another, and the commands back.

    disrupts: sentences on disruption that no order of the commands avoids. taken: unowned lines
    that the commands take with them.
    """

    commands: tuple[str, ...]
    reverse: tuple[str, ...]
    disrupts: tuple[str, ...] = ()
    taken: tuple[TakenLine, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtraLine:
    """A line of one text that is missing in the other: its views, its text, its field's path.

    others: paths of further fields that the line sets.
    """

    added: bool
    views: tuple[str, ...]
    text: str
    path: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class SavedDisplays:
    """Content of saved displays.

    neighbours: those with a name; port "" where it is not an interface's name.
    """

    software: str | None = None
    model: str | None = None
    neighbours: tuple[Neighbor, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class UnreadOutput:
    """Output in a saved file that is not read: the line of its prompt, and its command."""

    line: int
    command: str


@dataclass(frozen=True)
class SavedPart:
    """Part of a saved file that is of one switch; device: from its prompts, None without prompts.

    text: its configuration, with the line numbers of the file; "" without one.
    """

    device: str | None = None
    text: str = ""
    display: SavedDisplays | None = None
    unread: tuple[UnreadOutput, ...] = ()


@dataclass(frozen=True, slots=True)
class DialectWords:
    """A dialect's terms: commands and keywords (shown in backticks), other names."""

    quoted: Mapping[str, str]
    names: Mapping[str, str]

    def __contains__(self, term: str) -> bool:
        return term in self.quoted or term in self.names


NO_WORDS = DialectWords({}, {})
