"""VRP commands by the terms of rules and reports (`dialects/words.py`).

Each `{}` takes a value of the term and is left out without one. Tests check every command with the
catalogue, or with the emulated switch.
"""

from __future__ import annotations

from collections.abc import Mapping

from rocefort.dialects.data import DialectWords

COMMANDS: Mapping[str, str] = {
    # PFC and buffers
    "PFC on a port": "dcb pfc enable",
    "PFC in manual mode": "dcb pfc enable mode manual",
    "no PFC on a port": "undo dcb pfc enable",
    "a PFC profile": "dcb pfc {}",
    "a paused queue": "priority {}",
    "no pause of queue": "undo priority {}",
    "PFC by DSCP": "dcb pfc dscp-mapping",
    "PFC by DSCP on slot": "dcb pfc dscp-mapping enable slot {}",
    "PFC thresholds": "dcb pfc buffer",
    "headroom of queue": "dcb pfc buffer {} hdrm {} kbytes",
    "a headroom pool": "qos buffer headroom-pool",
    "the size of the headroom pool": "qos buffer headroom-pool size .. slot 1",
    "deadlock detection": "dcb pfc deadlock-detect",
    "deadlock recovery": "dcb pfc deadlock-recovery",
    "the recovery behavior": "dcb pfc deadlock recovery-behavior",
    "discarding during recovery": "dcb pfc deadlock recovery-behavior discard slot 1",
    "the limit of deadlocks of a queue": "priority {} turn-off",
    "the limit of deadlocks of a port": "port pfc-deadlock trigger",
    "802.3x flow control": "flow-control",
    "no 802.3x flow control": "undo flow-control",
    # priorities and marks
    "trust of a port": "trust",
    "trust of DSCP": "trust dscp",
    "domain of a port": "trust upstream {}",
    "the map of DSCP": "ip-dscp-inbound",
    "queues by weight": "qos drr",
    "queues by strict priority": "qos pq",
    "the AI service": "ai-service",
    "its AI-ECN": "ai-ecn",
    "AI-ECN": "ai-ecn enable",
    "queue of AI-ECN": "assign queue {}",
    "static ECN for the switch": "qos ecn enable",
    "ECN of queue": "qos queue {} ecn",
    "drop profile of queue": "qos queue {} wred ..",
    "a drop profile": "drop-profile {}",
    "ECN limits": "ecn",
    "drop limits": "color",
    # interfaces
    "an interface": "interface {}",
    "an enabled port": "undo shutdown",
    "a port out of use": "shutdown",
    "a routed port": "undo portswitch",
    "an edge port": "stp edged-port enable",
    "MTU of a port": "mtu {}",
    "longest frame": "jumboframe enable {}",
    "FEC": "fec mode",
    "LLDP": "lldp enable",
    "address of a port": "ip address",
    "member of Eth-Trunk": "eth-trunk {}",
    "mode of a bond": "mode",
    "a bond with LACP": "mode lacp-static",
    "timeout of LACP": "lacp timeout",
    "members that must be up": "least active-linknumber",
    # routing
    "BFD": "bfd",
    "BGP of AS": "bgp {}",
    "AS number of peer": "peer {} as-number",
    "the IPv4 family": "ipv4-family unicast",
    "use of peer": "peer {} enable",
    "policy of peer": "peer {} route-policy",
    "password of peer": "peer {} password",
    "equal paths of BGP": "maximum load-balancing",
    "equal paths of EBGP": "maximum load-balancing ebgp {}",
    "equal paths over unlike ASNs": "load-balancing as-path-relax",
    "network": "network",
    "a static route": "ip route-static",
    "preference of BGP": "preference",
    # filters
    "an ACL": "acl number {}",
    "rule of an ACL": "rule",
    "drop": "deny",
    "let through": "permit",
    "a traffic policy": "traffic policy {}",
    "traffic policy of a port": "traffic-policy",
    "class of a policy": "classifier {} behavior",
    "ACL of a class": "if-match acl",
    # management access
    "name of a switch": "sysname {}",
    "protocol of logins": "protocol inbound",
    "logins by SSH alone": "protocol inbound ssh",
    "the check of logins": "authentication-mode",
    "logins checked by AAA": "authentication-mode aaa",
    "ACL of logins": "acl",
    "the SSH server": "stelnet server enable",
    "the interfaces of the SSH server": "ssh server-source",
    "interface of the SSH server": "ssh server-source -i {}",
    "no Telnet server": "telnet server disable",
    "the idle time of logins": "idle-timeout",
    "a group of SNMP users": "snmp-agent group v3",
    "the level of user": "local-user {} privilege level",
    "the services of user": "local-user {} service-type {}",
    "version of SNMP": "snmp-agent sys-info version {}",
}
# Commands of a dialogue, which the emulated switch answers.
DIALOGUE: Mapping[str, str] = {
    "configure": "system-view",
    "commit": "commit",
    "leave": "return",
    "end of a text": "return",
    "leave a view": "quit",
    "save in": "save {}",
    "list of commits": "display configuration commit list {}",
    "changes of the candidate": "display configuration candidate changes",
    "end of a trial": "abort trial",
    "end of trial": "abort trial persist {}",
    "id of a trial": "commit trial persist ID",
    "state of the trial": "display configuration trial status",
    "the newest commit": "display configuration commit list verbose 1",
    "what the newest commit changed": "display configuration commit changes last 1",
    "what runs with its defaults": "display current-configuration include-default",
    "what runs": "display current-configuration",
    "the deadlock lines of what runs": "display current-configuration | include deadlock",
    "what a restart loads": "display saved-configuration",
    "model and release": "display version",
    "serial number": "display device esn",
    "state of cards": "display device",
    "the clock": "display clock",
    "list of files": "dir",
    "load of the CPU": "display cpu-usage",
    "use of memory": "display memory",
    "save": "save",
    "state of ports": "display interface",
    "ports in brief": "display interface brief",
    "neighbours of ports": "display lldp neighbor brief",
    "state of optics": "display interface transceiver brief",
    "state of BGP peers": "display bgp peer",
    "state of BGP peer": "display bgp peer {} verbose",
    "routing table": "display ip routing-table",
    "PFC of ports": "display dcb",
    "queues of PFC profiles": "display dcb pfc-profile",
    "thresholds of ports": "display dcb pfc buffer",
    "counters of PFC": "display dcb pfc",
    "counters of queues": "display qos queue statistics",
    "packets that ECN marked": "display qos ecn statistics",
    "thresholds of ECN": "display qos ecn threshold",
    "the limits that AI-ECN chose": "display ai-ecn",
    "state of AI-ECN": "display ai-ecn calculated state",
}
# Commands of the V300R023C00 command reference that the emulated switch does not have; tests
# compare them with its formats.
TYPED: Mapping[str, str] = {
    "an SNMP community": "snmp-agent community",
    "the FTP server": "ftp server enable",
    "ciphers of the SSH server": "ssh server cipher",
    "restart": "reboot",
    "domains": "display diffserv domain",
    "drop profiles": "display drop-profile",
    "services of ports": "display qos configuration interface",
    "a closed session with": "peer {} ignore",
    "no closed session with": "undo peer {} ignore",
    "all routes announced again": "refresh bgp all export",
    "state of NTP": "display ntp status",
    "list of all files": "dir /all",
    "delete for good": "delete /unreserved",
    "routes received from": "display bgp routing-table peer {} received-routes",
    "routes to": "display ip routing-table {} verbose",
    "clear the counters of PFC": "reset dcb pfc",
    "where PFC was turned off": "display dcb pfc deadlock trigger status",
    "clear the counters of queues": "reset qos queue statistics",
    "models of AI-ECN": "display ai-service model",
}
# Input that shows an unconfirmed fact, by its field of a family or model; ` / ` enters a view, and
# `?` is the help of the command line.
FACTS: Mapping[str, str] = {
    "pfc_queues": "dcb pfc / priority ?",
    "xoff_kbytes": "interface P / dcb pfc buffer 4 xoff static ?",
    "headroom_kbytes": "interface P / dcb pfc buffer 4 ?",
    "deadlock_detect_time": "dcb pfc / priority 4 deadlock-detect time ?",
    "deadlock_recovery_time": (
        "dcb pfc / priority 4 deadlock-detect time 10 deadlock-recovery time ?"
    ),
    "recovery_behavior": "dcb pfc deadlock recovery-behavior ?",
    "ecn_bytes": "drop-profile x / ecn buffer-size low-limit ?",
    "ecn_cells": "drop-profile x / ecn buffer-size cell low-limit ?",
    "drop_profiles": "display drop-profile all",
    "cell_bytes": "display dcb pfc buffer",
    "buffer_kbytes": "display qos buffer ingress-usage",
}
# Commands without a confirmed source: an older command reference of data centre switches reportedly
# has them, and that of V300R023C00 has not.
UNCONFIRMED: Mapping[str, str] = {
    "delay of new policies": "route-policy-change notify-delay",
}
KEYWORDS: Mapping[str, str] = {  # words of commands
    "headroom": "hdrm",
    "a readable secret": "simple",
    "an encrypted secret": "cipher",
}
NAMES: Mapping[str, str] = {
    "the vendor's reference": "V300R023C00 command reference",
    "the vendor's documents": "V300R023C00 and V200 documents",
    "the vendor's guide": "V300R023C00 configuration guide",
    "a switch of this vendor": "a CloudEngine",
    "the vendor's system": "VRP",
}
WORDS = DialectWords({**COMMANDS, **DIALOGUE, **TYPED, **FACTS, **UNCONFIRMED, **KEYWORDS}, NAMES)
