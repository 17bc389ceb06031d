"""Lines of configurations that belong to another design than an eBGP Clos of routed leaves."""

from __future__ import annotations

import re

from rocefort.dialects.data import ForeignDesign
from rocefort.dialects.vrp.interpreter.implicit_lines import written_by_itself
from rocefort.models.network.network import TextLine

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
