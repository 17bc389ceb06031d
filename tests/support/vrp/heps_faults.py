"""Faults of one line in the texts of HEPS by area, which a check should find at their line."""

from __future__ import annotations

from typing import NamedTuple

from text_faults import Found, Line

PORT, UPLINK, SPINE_PORT = "interface 100GE1/0/1", "interface 100GE1/0/57", "interface 100GE1/1/1"
SERVER = "interface 25GE1/0/1"


class Fault(NamedTuple):
    """Fault of one line."""

    area: str
    line: Line


LOSSLESS = [
    Line("leaf03", "dcb pfc", "priority 4", "priority 5"),
    Line("leaf03", "dcb pfc", "undo priority 3"),
    Line("spine01", SPINE_PORT, "dcb pfc enable mode manual"),
    Line("leaf01", PORT, "dcb pfc enable mode manual"),
    Line(
        "leaf02",
        UPLINK,
        "dcb pfc buffer 4 xoff static 600 kbytes xon offset 50 kbytes",
        "dcb pfc buffer 4 xoff static 60 kbytes xon offset 50 kbytes",
    ),
    Line("leaf02", PORT, "trust dscp"),
    Line("spine02", SPINE_PORT, "trust upstream roce"),
    Line("leaf02", PORT, "qos queue 4 drr weight 65", "qos queue 4 drr weight 5"),
    Line("leaf02", " ai-ecn", "assign queue 4 model ai_ecn_hpc", "assign queue 4"),
    Line("leaf02", " ai-ecn", "assign queue 4 model ai_ecn_hpc", "assign queue 5 model ai_ecn_hpc"),
    Line("leaf01", " ai-ecn", "ai-ecn enable"),
    Line("leaf02", "diffserv domain roce", "ip-dscp-inbound 33 phb be green"),
    Line(
        "leaf02",
        "dcb pfc",
        "priority 4 deadlock-detect time 10 deadlock-recovery time 10",
        "priority 4 deadlock-detect time 1 deadlock-recovery time 10",
    ),
]
ROUTING = [
    Line("leaf02", " ipv4-family unicast", "maximum load-balancing 32"),
    Line("leaf02", " ipv4-family unicast", "network 10.65.1.0 255.255.255.0"),
    Line("leaf02", " ipv4-family unicast", "peer SPINE route-policy EXPORT export"),
    Line("leaf02", "bgp 65102", "peer SPINE bfd enable"),
    Line("leaf02", "bgp 65102", "peer SPINE timer keepalive 10 hold 30"),
    Line("leaf02", "bgp 65102", "peer 10.1.0.16 as-number 65000", "peer 10.1.0.16 as-number 65009"),
    Line("leaf02", "interface Vlanif120", "mtu 9000"),
    Line("leaf02", UPLINK, "mtu 9000", "mtu 1500"),
    Line("leaf02", "", "bfd"),
    Line("spine01", "", "", "ip route-static 10.65.1.0 255.255.255.128 NULL0"),
    Line("spine02", "", "", "ip route-static 10.65.2.0 255.255.255.0 NULL0"),
    Line("leaf02", "", "ip ip-prefix LOCAL index 120 permit 10.65.1.0 24"),
    Line("leaf03", "interface Vlanif120", "ip address 10.65.2.1 255.255.255.0"),
]
MANAGEMENT = [
    Line("leaf02", "", "ntp unicast-server 10.255.0.250"),
    Line("leaf02", "", "ntp unicast-server 10.255.0.250", "ntp unicast-server 10.255.0.99"),
    Line("leaf02", "", "info-center loghost 10.255.0.251"),
    Line("leaf02", "", "lldp enable"),
    Line("leaf02", "user-interface vty 0 4", "acl 2000 inbound"),
    Line("leaf02", "user-interface vty 0 4", "idle-timeout 15 0", "idle-timeout 600 0"),
    Line("leaf02", "user-interface vty 0 4", "protocol inbound ssh", "protocol inbound all"),
    Line("leaf02", "", "stelnet server enable"),
    Line("leaf02", "aaa", "local-user netops level 3", "local-user netops level 1"),
    Line("leaf02", "", "snmp-agent sys-info version v3", "snmp-agent sys-info version v2c v3"),
    Line("leaf02", "acl number 2000", "rule 5 permit source 10.255.0.0 0.0.0.255"),
    Line("leaf02", "", "telnet server disable"),
]
FAULTS = [
    Fault(area, line)
    for area, lines in (("lossless", LOSSLESS), ("routing", ROUTING), ("management", MANAGEMENT))
    for line in lines
]


def is_found(fault: Line, findings: list[Found], texts: dict[str, str]) -> bool:
    """Whether an error or warning is at the fault's switch, at its line or a view around it."""
    lines = {
        *fault.new.splitlines(),
        fault.view.strip(),
        fault.old if not fault.new else "",
        "" if fault.view else f"sysname {fault.switch}",
    }
    if fault.view.startswith("bgp "):  # the lines of the same peer or group
        words = (fault.new or fault.old).split()[:2]
        lines |= {" ".join(words), f"group {words[1]}"} if words[0] == "peer" else set()
    if fault.view == " ipv4-family unicast" and "SPINE" in fault.old:
        lines.add("group SPINE")
    if fault.view.startswith(" "):  # the view around the view
        above = texts[fault.switch].splitlines()
        start = above.index(fault.view)
        lines.add(next(line for line in reversed(above[:start]) if not line.startswith(" ")))
    return any(
        found.switch == fault.switch
        and any(part and found.line.startswith(part.strip()) for part in lines)
        for found in findings
    )
