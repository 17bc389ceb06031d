"""Random unowned lines in every view of a text, for the law that a patch deletes none of them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hypothesis import strategies as st

from rocefort.dialects.vrp.text.config_tree import parse_tree

Path = tuple[str, ...]
SYSTEM_LINES = ("bfd NAME bind peer-ip 10.9.9.9", "ospf 9", "dns server 10.9.9.9")
# Beginning of a view's line -> lines that no model has, as switches save them below it.
LINES: Mapping[str, tuple[str, ...]] = {
    "interface (Vlanif|MEth|LoopBack)": ("ipv6 enable", "ipv6 address 2001:DB8::9/64", "arp ttl 9"),
    "interface .*GE": ("port-isolate enable group 9", "device transceiver 40GBASE-FIBER"),
    "bgp ": (
        "peer 10.1.1.1 tracking",
        "peer 10.1.1.3 tracking",
        "peer SPINE tracking",
        "ipv6-family unicast / peer 10.1.1.1 enable",
        "ipv4-family unicast / peer 10.1.1.1 next-hop-local",
        "ipv4-family unicast / peer OTHER next-hop-local",
        "ipv4-family unicast / reflect between-clients",
        "ipv4-family vpn-instance MGMT / peer 10.1.1.1 as-number 64999",
        "ipv4-family vpn-instance OOB / network 10.9.9.0 255.255.255.0",
    ),
    "ip vpn-instance ": ("ipv6-family", "description kept"),
    "acl ": ("rule 4000 permit tcp established",),
    "traffic behavior ": ("mirroring observe-port 9",),
    "traffic policy ": ("share-mode",),
    "diffserv domain ": ("ip-dscp-outbound af1 green map 9",),
    "drop-profile ": ("description kept",),
    "route-policy ": ("if-match tag 9", "apply cost-type type-1"),
    "aaa$": (
        "local-user netops ftp-directory flash:",
        "local-user admin ftp-directory flash:",
        "domain kept",
    ),
    "user-interface vty": ("screen-length 9", "history-command max-size 9"),
    "bfd$": ("delay-up 9",),
    "dcb pfc( \\S+)?$": ("priority 4 error-down threshold 9",),
    "telemetry": ("netstream kept",),
    "ai-service": ("eai kept",),
}


@st.composite
def unowned_lines(draw: st.DrawFn, text: str) -> tuple[Path, ...]:
    """Draw unowned lines in some views of a text, in the order of their views."""
    paths: list[Path] = [(line,) for line in SYSTEM_LINES]
    for top in parse_tree(text):
        below = (each for view, each in LINES.items() if re.match(view, top.text))
        paths += [(top.text, *line.split(" / ")) for some in below for line in some]
    some = draw(st.sets(st.sampled_from(paths), max_size=12))
    lines = [path for path in paths if path in some]
    with_views = (
        path[:depth]
        for path in lines
        for depth in range(2, len(path) + 1)
        if path[1:depth] != ("ipv4-family unicast",)  # each process has it
    )
    return tuple(dict.fromkeys(with_views))
