"""Meaning of unmodelled VRP lines: for routing, as another design, as weak access.

CR is the command reference V300R023C00; it names each command. Which algorithms are weak: RFC 8758
(RC4), RFC 9142 (key exchange with SHA-1 or group 1), RFC 6151 (MD5), and for DES, 3DES and CBC in
SSH and SNMP NIST SP 800-131A and CVE-2008-5161.

`peer ignore` closes the sessions of a peer and clears its routes (command reference of CloudEngine,
`peer ignore`). `import-route direct` announces the subnets in use (`import-route`, BGP view).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from ipaddress import IPv4Network

from napalm_cloudengine.masking import MASK
from napalm_cloudengine.text import quotable, why_not_sent, words_of
from rocefort.dialects.data import (
    AccessWeakness,
    ForeignDesign,
    RoutingEffect,
    RoutingLine,
    WeakAccess,
)
from rocefort.dialects.dialect import FILTERED, SUBNETS
from rocefort.dialects.vrp.commands.unmodelled import ignored_command, row_of, view_of
from rocefort.dialects.vrp.interpreter.execute import VrpRefusal, view_kind
from rocefort.dialects.vrp.interpreter.interpreter import apply_lines
from rocefort.dialects.vrp.interpreter.saved_lines import written_by_itself
from rocefort.dialects.vrp.interpreter.tree_edit import children_at
from rocefort.dialects.vrp.readers import arguments
from rocefort.dialects.vrp.readers.arguments import BadArgumentError
from rocefort.dialects.vrp.text.config_tree import RETURN, is_noise
from rocefort.dialects.vrp.text.secret_forms import masked_text
from rocefort.models.device.device import Device
from rocefort.models.device.packet_filters import Uses
from rocefort.models.device.routing import FACTORY_VRF
from rocefort.models.hardware.hardware import SyntaxFamily
from rocefort.models.network.network import TextLine
from rocefort.models.wording import listing

# Begin of a line, or of a view around it. OSPF, IS-IS, EVPN, VXLAN and M-LAG: published
# configurations of V200R005C10, and the command reference; RIP, MPLS, segment routing, VRRP,
# stacks and BGP in VPN instances: command reference.
LINES: tuple[tuple[ForeignDesign, re.Pattern[str]], ...] = tuple(
    (design, re.compile(pattern, re.IGNORECASE))
    for design, pattern in (
        (ForeignDesign.OSPF, r"ospf(v3)?\b"),
        (ForeignDesign.ISIS, r"isis\b"),
        (ForeignDesign.RIP, r"rip(ng)?\b"),
        (ForeignDesign.EVPN, r"evpn\b|evpn-overlay\b|l2vpn-family evpn\b|advertise l2vpn\b"),
        (ForeignDesign.VXLAN, r"bridge-domain\b|interface (nve|vbdif|\S+ mode l2\b)|vxlan\b"),
        (ForeignDesign.VPN, r"ipv4-family vpn-instance\b"),
        (ForeignDesign.MLAG, r"dfs-group\b|peer-link\b"),
        (ForeignDesign.STACK, r"stack\b|interface stack-port"),
        (ForeignDesign.VRRP, r"vrrp6?\b"),
        (ForeignDesign.MPLS, r"mpls\b"),
        (ForeignDesign.SEGMENT_ROUTING, r"segment-routing\b"),
    )
)
# IPv6 of the fabric, as the line with its views: not that of the management port.
IPV6 = re.compile(
    r"(interface (?!MEth)\S+ / )?ipv6\b|acl ipv6\b|ip ipv6-prefix\b"
    r"|bgp \S+ / (ipv6-family\b|(.* / )?(undo )?peer [\da-f]*:)",
    re.IGNORECASE,
)


def foreign_design(line: TextLine) -> ForeignDesign | None:
    """Return the design that an unmodelled line belongs to; None for all other lines.

    A line that a switch saves with nothing configured, such as an empty section, is of no design.
    """
    commands = (*line.path, line.text)
    if written_by_itself(line):
        return None
    design = next((d for d, begin in LINES if any(map(begin.match, commands))), None)
    if design is None and IPV6.match(" / ".join(commands)):
        return ForeignDesign.IPV6
    return design


WEAK_ALGORITHMS = frozenset(
    (
        *("des_cbc", "3des_cbc", "aes128_cbc", "aes192_cbc", "aes256_cbc", "blowfish_cbc"),
        *("arcfour128", "arcfour256", "md5", "md5_96", "sha1_96"),
        *("dh_group1_sha1", "dh_group14_sha1", "dh_group_exchange_sha1"),
    )
)
ALGORITHMS = re.compile(r"ssh (?:server|client) (cipher|hmac|key-exchange) (.+)")
SHORTEST_RSA, SHORTEST_DH = 2048, 2048  # NIST SP 800-131A; RFC 9142 for the exchange of groups
# A plain service, and the command that stops it. CR: `ftp server enable`, `tftp server enable`;
# `telnet server enable` and `http` of other releases: FIELD.
SERVERS = (
    (r"telnet (?:ipv6 )?server enable", "Telnet"),
    (r"ftp (?:ipv6 )?server enable", "FTP"),
    (r"tftp (?:ipv6 )?server enable", "TFTP"),
    (r"http server enable|web-manager http .*enable", "HTTP"),
)
GROUP = re.compile(r"snmp-agent group v3 (\S+)(?: (.*))?")
USER = re.compile(r"snmp-agent usm-user v3 (\S+) (authentication|privacy)-mode (\S+)")
WEAK_SNMP = {"md5": "MD5", "des56": "DES", "3des168": "3DES"}


def weak_access(line: TextLine) -> WeakAccess | None:
    """Return the weakness of a line of the system view; None for any other line."""
    if line.path:
        return None
    return next((found for judge in JUDGES for found in judge(line.text)), None)


def _server(text: str) -> Iterator[WeakAccess]:
    for pattern, name in SERVERS:
        if re.fullmatch(pattern, text):
            what = f"the {name} server runs: passwords and files cross the network as text"
            version = "ipv6" if " ipv6 " in text else "ipv4"
            telnet = version if name == "Telnet" else ""
            yield WeakAccess(AccessWeakness.SERVER, what, f"remove `{text}`", telnet)


def _algorithm(text: str) -> Iterator[WeakAccess]:
    if match := ALGORITHMS.fullmatch(text):
        weak = [word for word in match[2].split() if word in WEAK_ALGORITHMS]
        if weak:
            what = f"SSH offers weak algorithms ({match[1]}): {listing(weak)}"
            yield WeakAccess(AccessWeakness.ALGORITHM, what, "leave them out of the list")
    if text == "ssh server compatible-ssh1x enable":
        what = "the SSH server accepts version 1, which can be read and changed on its way"
        yield WeakAccess(AccessWeakness.ALGORITHM, what, f"remove `{text}`")
    for words, least in (
        ("rsa-key min-length", SHORTEST_RSA),
        ("dh-exchange min-len", SHORTEST_DH),
    ):
        match = re.fullmatch(rf"ssh server {words} (\d+)", text)
        if match and int(match[1]) < least:
            what = f"the SSH server accepts {words.split('-', maxsplit=1)[0].upper()} keys of "
            yield WeakAccess(
                AccessWeakness.ALGORITHM, f"{what}{match[1]} bits", f"require {least} bits or more"
            )


def _snmp(text: str) -> Iterator[WeakAccess]:
    if match := GROUP.fullmatch(text):
        level = (match[2] or "").split(" ", 1)[0]
        if level != "privacy":
            lacks = "encryption" if level == "authentication" else "authentication and encryption"
            what = f"SNMP group {match[1]} reads and writes without {lacks}"
            yield WeakAccess(AccessWeakness.SNMP, what, "give the group `privacy`")
    if (match := USER.match(text)) and match[3] in WEAK_SNMP:
        what = f"SNMP user {match[1]} uses {WEAK_SNMP[match[3]]} for {match[2]}"
        yield WeakAccess(AccessWeakness.ALGORITHM, what, "use SHA-2 and AES")


JUDGES: tuple[Callable[[str], Iterator[WeakAccess]], ...] = (_server, _algorithm, _snmp)


CLOSED = re.compile(r"bgp \S+ / peer (?P<name>\S+) ignore", re.ASCII)
_BGP = r"(?:undo )?bgp \S+(?: / ipv4-family unicast)?"
_ROUTES = rf"{_BGP} / import-route (?P<what>direct|static)"
_PREFIX = r"(?P<ip>[0-9.]+) (?P<mask>[0-9.]+)"
# The first pattern that matches a line with its views decides.
_PATTERNS: tuple[tuple[RoutingEffect, re.Pattern[str]], ...] = tuple(
    (effect, re.compile(pattern, re.ASCII))
    for effect, pattern in (
        (RoutingEffect.CLOSES, CLOSED.pattern),
        (
            RoutingEffect.DISABLES,
            r"bgp \S+ / ipv4-family unicast / undo peer (?P<name>\S+) enable",
        ),
        (RoutingEffect.IMPORTS, _ROUTES),
        (RoutingEffect.MAY_IMPORT, rf"{_ROUTES} .*"),  # with a metric, or a policy
        (RoutingEffect.MAY_ANNOUNCE, rf"{_BGP} / (?:network|aggregate) {_PREFIX}(?: .*)?"),
        (RoutingEffect.MAY_ANNOUNCE_DEFAULT, rf"{_BGP} / (?:peer \S+ )?default-route.*"),
        (RoutingEffect.MAY_ANNOUNCE_ALL, rf"{_BGP} / (?:import-route|summary) .*"),
        (
            RoutingEffect.MAY_PREFER_BGP,
            rf"{_BGP} / preference (?:(?P<value>\d+) \d+ \d+|route-policy .*)",
        ),
        (RoutingEffect.MAY_CHANGE_PEER, rf"{_BGP} / (?:undo )?(?:peer|group) (?P<name>\S+) .*"),
        (RoutingEffect.MAY_CHANGE_BGP, rf"{_BGP}(?: / (?!\S+-family ).*)?"),
        (RoutingEffect.MAY_CHANGE_POLICY, r"(?:undo )?route-policy (?P<name>\S+)(?: .*)?"),
        (RoutingEffect.MAY_CHANGE_LIST, r"(?:undo )?ip ip-prefix (?P<name>\S+)(?: .*)?"),
        (
            RoutingEffect.MAY_ROUTE,
            rf"(?:undo )?ip route-static (?!vpn-instance ){_PREFIX}(?: .*)?",
        ),
    )
)


def routing_line(line: TextLine) -> RoutingLine | None:
    """Return what a line does to routing; None: only that it may change it, or does not."""
    whole = " / ".join((*line.path, line.text))
    for effect, pattern in _PATTERNS:
        if match := pattern.fullmatch(whole):
            groups = match.groupdict()
            value, prefix = groups.get("value"), None
            if groups.get("ip") and (prefix := _prefix(groups["ip"], groups["mask"])) is None:
                return None
            return RoutingLine(
                effect=effect,
                name=groups.get("name") or "",
                static=groups.get("what") == "static",
                prefix=prefix,
                preference=int(value) if value else 0,
                routes_only=" / ipv4-family unicast / " in whole,
            )
    return None


def closed_peer(line: str) -> str | None:
    """Return the peer or group whose sessions a line shuts down, with its views."""
    match = CLOSED.fullmatch(line)
    return match["name"] if match else None


def _prefix(ip: str, mask: str) -> IPv4Network | None:
    try:
        return arguments.network(ip, mask)
    except BadArgumentError:
        return None


FILTERS = (
    r"((vlan \d+|interface (?!MEth)\S+) )?traffic-(policy|filter|secure|redirect)"
    r"|traffic policy|traffic (classifier|behavior)"
    r"|acl ((number )?3\d{3}|name \S+ advance) rule"
    r"|undo acl (?!ipv6\b|(number )?2\d{3}\b)"  # the ACL whole; number 2000 to 2999: not advanced
)
OVERLAY = (
    r"evpn|bridge-domain|vxlan|interface (Nve|Vbdif)\S* vxlan"
    r"|bgp \S+ (l2vpn-family|ipv4-family vpn-instance)"
)
# What commands change that decide on forwarding and that no Device represents: static routes, other
# routing protocols, VPN instances, filters and policies, redundant gateways, bundled ports; and
# unknown lines in the BGP and route-policy views (command reference, IP Routing, QoS, M-LAG).
FORWARDING: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (answer, re.compile(rf"({pattern})\b"))
    for answer, pattern in (
        ("the routes of an overlay", OVERLAY),
        ("the BGP sessions", r"bgp \S+ (undo )?(peer|group|default)"),
        ("the routes that BGP uses or announces", r"bgp|route-policy|ip ip-prefix"),
        ("the routes", r"ip route-static|ospf|isis|rip"),
        ("the paths of packets", r"policy-based-route|segment-routing"),
        (FILTERED, FILTERS),
        ("the paths over a pair of switches", r"dfs-group|interface \S+ (dfs-group|peer-link)"),
        ("the members of an Eth-Trunk", r"interface (?!MEth)\S+ (eth-trunk|trunkport|mode)"),
        ("the gateways", r"interface (?!MEth)\S+ vrrp"),
        (SUBNETS, r"interface (?!MEth)\S+ ip (address|binding)"),
        ("the routes", r"interface (?!MEth)\S+ (ospf|isis)"),
        ("the VLANs of a port", r"interface (?!MEth)\S+ (port|vlan)"),
        ("the interfaces and VLANs in use", r"undo (interface (?!MEth)\S+|vlan \d+)"),
    )
)
# A management VPN instance is harmless: the port's own line in one is refused.
HARMLESS = re.compile(
    r"peer \S+ (password|keychain|valid-ttl-hops)\b|graceful-restart\b"
    r"|ip route-static vpn-instance\b|statistics enable\b"
)
# `ssh server acl 2000`, `snmp-agent acl ipv4 2000`, `if-match acl X`, `acl 2000 inbound` ..
ACL = re.compile(r"(?<!\S)acl (?:(?:ipv4|number|name) )?(\S+)", re.ASCII)
POLICY = re.compile(r"traffic-policy (\S+)", re.ASCII)  # in a VLAN, for the whole switch
BINDING = re.compile(r"classifier (\S+) behavior (\S+)", re.ASCII)
OTHER_FAMILY = re.compile(
    r"bgp \S+ / (?:(?!ipv4-family unicast)\S+-family [^/]*/ )+peer (\S+) enable", re.ASCII
)
READABLE = (f" simple {MASK}", f" plain {MASK}")  # ends of lines with a masked secret
UNDO, QUIT = "undo", "quit"
# Conditions on a Device for a command in its text, by the command's first words in the hardware
# data.
USES: dict[str, Callable[[Device], bool]] = {
    "acl name": lambda d: any(not acl.name.isdecimal() for acl in d.filters.acls),
    "ai-service": lambda d: d.ai_ecn.enabled or bool(d.ai_ecn.queues),
    "dcb pfc buffer": lambda d: any(i.thresholds for i in d.interfaces),
    "dcb pfc enable": lambda d: any(i.pfc for i in d.interfaces),
    "info-center loghost source": lambda d: d.syslog.source_interface is not None,
    "netconf": lambda d: d.netconf.port_830,
    "snmp-agent protocol source-interface": lambda d: d.snmp.source_interface is not None,
    "telemetry": lambda d: bool(d.telemetry),
    "user-group": lambda d: bool(d.user_groups),
    "local-source-interface": lambda d: any(s.source_interface for s in d.telemetry.subscriptions),
    "ip binding vpn-instance (MEth0/0/0)": lambda d: any(
        i.vrf not in (None, FACTORY_VRF) and i.kind == "management" for i in d.interfaces
    ),
    "ip vpn-instance": lambda d: bool(d.vrfs),
    "load-balancing as-path-relax": lambda d: d.bgp is not None and d.bgp.as_path_relax,
    "drop-profile": lambda d: bool(d.drop_profiles),
    "fec mode": lambda d: any(i.fec for i in d.interfaces),
    "negotiation disable": lambda d: not all(i.autonegotiation for i in d.interfaces),
    "diffserv domain": lambda d: bool(d.domains),
    "port split refresh": lambda d: bool(d.splits),
    "priority Q deadlock-detect": lambda d: any(p.timers for p in d.pfc.profiles),
    "priority Q turn-off": lambda d: any(p.turn_off for p in d.pfc.profiles),
    "qos buffer headroom-pool": lambda d: d.pfc.headroom_pool_kbytes is not None,
    "traffic policy": lambda d: bool(d.filters.policies),
    "undo priority": lambda d: any(3 not in p.queues for p in d.pfc.profiles),
}


def forwarding_effect(line: TextLine) -> str:
    """Return the answers of a routing engine that a line may change, in words; empty: none."""
    bare = line.text.removeprefix(f"{UNDO} ") if removes(line) else line.text
    commands = [" ".join((*line.path, text)) for text in dict.fromkeys((line.text, bare))]
    effects = (answer for answer, begin in FORWARDING if any(map(begin.match, commands)))
    effect = next(effects, "")
    if not effect or HARMLESS.match(bare) or _is_ipv6_alone(line) or written_by_itself(line):
        return ""
    return "" if ignored_command(view_of(line.path), line.text) else effect


def _is_ipv6_alone(line: TextLine) -> bool:
    """Whether a line is of IPv6, and does not take IPv4 routes over IPv6 sessions."""
    ipv6 = foreign_design(line) is ForeignDesign.IPV6
    return ipv6 and not any(view.startswith("ipv4-family") for view in line.path)


def other_family_peer(line: TextLine) -> str | None:
    """Return the peer or group that a line enables in a family other than IPv4 unicast."""
    match = OTHER_FAMILY.fullmatch(_whole(line))
    return match[1] if match else None


def _whole(line: TextLine) -> str:
    return " / ".join((*line.path, line.text))


def removes(line: TextLine) -> bool:
    """Whether a line is an `undo`, or short for it, that no switch is known to save."""
    word = line.text.split(" ", 1)[0].casefold()
    if len(word) < 2 or not UNDO.startswith(word):
        return False
    return not written_by_itself(line) and not any(
        _is_saved(line.path, line.text, family) for family in SyntaxFamily
    )


def removes_setting(line: TextLine) -> bool:
    """Whether a line removes one of the command table, and no switch is known to save it."""
    return removes(line) and row_of((*line.path, line.text)) is not None


@lru_cache(maxsize=4096)  # switches repeat the lines of a template
def _is_saved(path: tuple[str, ...], text: str, family: SyntaxFamily) -> bool:
    """Whether a switch with the views of an `undo` saves it as a line."""
    if ignored_command(view_kind(path, family), text).startswith(f"{UNDO} "):
        return True
    try:
        config = apply_lines((), (*path, text), family)
    except VrpRefusal:
        return False
    return any(saved.text.startswith(f"{UNDO} ") for saved in children_at(config, path))


def actions(text: str, unmodelled: Sequence[TextLine]) -> Iterator[tuple[int, str]]:
    """Yield number of, and a sentence on, each line that no saved text has or that is not sent.

    The `return` at the end is of a saved text.
    """
    kept = {line.line: line.shown_text for line in unmodelled}
    rows = text.rstrip("\n").removesuffix(f"\n{RETURN}").split("\n")
    for number, row in enumerate(rows, 1):
        line = " ".join(words_of(row))
        if number in kept:
            leaves = len(line) > 1 and QUIT.startswith(line.casefold())
            why = "'quit' leaves a view and is not configuration" if leaves else why_not_sent(line)
        elif is_noise(line) and not line.startswith("#"):
            why = why_not_sent(line) or "it is not configuration"
        else:
            continue
        if why:
            yield number, f"`{quotable(kept.get(number) or masked_text(line))}`: {why}"


def opens_ssh(line: TextLine) -> bool:
    """Whether a line permits SSH sessions on some interface."""
    return line.text.startswith("ssh server-source ")


def is_community(line: TextLine) -> bool:
    """Whether a line sets an SNMP community."""
    return line.text.startswith("snmp-agent community")


def shows_secret(line: TextLine) -> bool:
    """Whether the secret of a line is readable."""
    return any(f"{end} " in f"{line.text} " for end in READABLE)


def matches_in(line: TextLine, classifier: str) -> bool:
    """Whether a line is a match of a traffic classifier."""
    inside = bool(line.path) and f"{line.path[-1]} ".startswith(f"traffic classifier {classifier} ")
    return inside and line.text.startswith("if-match ")


@cache
def _use_of(command: str) -> Callable[[Device], bool] | None:
    return next((used for words, used in USES.items() if command.startswith(words)), None)


def uses(line: TextLine) -> Uses:
    """Return ACLs and parts of traffic policies that a line names.

    None for an ACL and its rules.
    """
    if (*line.path, line.text)[0].startswith("acl "):
        return Uses()
    acls, policies, bound = (names.findall(line.text) for names in (ACL, POLICY, BINDING))
    return Uses(frozenset(acls), frozenset(policies), frozenset(bound))


def in_use(command: str, device: Device) -> bool | None:
    """Whether a Device causes a command in its text; None: no Device determines it."""
    used = _use_of(command) or _use_of(command.removeprefix("undo "))
    return None if used is None else used(device)
