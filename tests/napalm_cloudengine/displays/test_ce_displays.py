"""Descriptions of displays against the vendor's outputs: each is read, and written as it was.

The written text may differ from a sample in blanks at line ends, unless a case states more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from vendor_displays import vendor_display

from napalm_cloudengine.displays import (
    commits,
    hardware,
    interfaces,
    lldp,
    lossless,
    routing,
    routing_details,
    switching,
    system,
)
from napalm_cloudengine.displays.block import LabelledDisplay
from napalm_cloudengine.displays.interface_fields import read_interfaces
from napalm_cloudengine.displays.interfaces import BLOCKS, BRIEF, MANAGEMENT, PORT_V200, PORT_V300
from napalm_cloudengine.displays.lines import DisplayAnswer, UnreadableError
from napalm_cloudengine.displays.table import DisplayTable, Form

Row = dict[str, Any]
Read = Callable[[DisplayAnswer], list[dict[str, Any]]]
Write = Callable[[list[dict[str, Any]]], str]
PORT = {"interface": "100GE1/0/1", "queue": 4}


def _queue(queue: int, passed: int, passed_bytes: int, dropped: int, dropped_bytes: int) -> Row:
    rates = dict.fromkeys(("passed_pps", "passed_bps", "dropped_pps", "dropped_bps"), 0)
    return {"queue": queue, "cir": "0", "pir": "100000000", "drop_time": "-", **rates} | {
        "passed_packets": passed,
        "passed_bytes": passed_bytes,
        "dropped_packets": dropped,
        "dropped_bytes": dropped_bytes,
    }


def _heard(local: str, expires_s: int, port: str, device: str) -> Row:
    return {"local": local, "expires_s": expires_s, "port": port, "device": device}


PARAGRAPH = {
    "local": "100GE1/0/1",
    "index": "1",
    "chassis_type": "MAC Address",
    "chassis_id": "00e0-fc12-3456",
    "port_id_subtype": "Interface Name",
    "port_id": "100GE1/0/4",
    "port_description": "--",
    "system_name": "spine01",
    "system_description": """\
Huawei Versatile Routing Platform Software
VRP (R) software, Version 8.191 (VRP )
Copyright (C) 2012-2016 Huawei Technologies Co., Ltd.
HUAWEI VRP""",
    "capabilities": "bridge router",
    "enabled_capabilities": "bridge router",
    "address_type": "IPv4",
    "address": "192.0.2.2",
    "expires": "96s",
}


def _brief(interface: str, **values: str) -> Row:
    row = {"interface": interface, "physical": "up", "protocol": "up", "rx_errors": "0"}
    return row | {"tx_errors": "0", "rx_utility": "0%", "tx_utility": "0%"} | values


PREFERENCES = {"Direct": 0, "EBGP": 255, "Static": 60}


def _hop(next_hop: str, interface: str, flags: str = "D") -> Row:
    return {"next_hop": next_hop, "interface": interface, "flags": flags}


def _peer(
    address: str, asn: str, age: str, state: str, prefixes: int, received: int = 0, sent: int = 0
) -> Row:
    row = {"address": address, "version": "4", "asn": asn, "age": age, "queued": 0}
    return row | {"state": state, "prefixes": prefixes, "received": received, "sent": sent}


def _arp(address: str, mac: str, minutes: str, kind: str, instance: str) -> Row:
    row = {"address": address, "mac": mac, "minutes": minutes, "kind": kind}
    return row | {"interface": "100GE1/0/1", "instance": instance}


def _mac(mac: str, where: str, interface: str, kind: str, age: int | None) -> Row:
    return {"mac": mac, "where": where, "interface": interface, "kind": kind, "age": age}


def _route(hop: str, interface: str, state: str, age: str, indirect: str, flags: str) -> Row:
    row = {"destination": "198.51.100.0/24", "protocol": "EBGP", "process": "0", "cost": 80}
    row |= {"preference": 255, "next_hop": hop, "neighbour": hop, "state": state, "age": age}
    row |= {"tag": "0", "priority": "low", "label": "NULL", "qos": "0x0", "indirect": indirect}
    row |= {"relay": "0.0.0.0", "interface": interface, "tunnel": "0x0"}
    return row | {"flags": flags, "color": "0"}


VLAN = {"type": "common", "status": "enable", "property": "default", "learning": "enable"}
VLAN |= {"statistics": "disable", "broadcast": "FWD", "multicast": "FWD", "unicast": "FWD"}
VLAN_ROWS: list[Row] = [
    {"vlan": 2, "name": "VLAN 0002", "tagged": ["100GE1/0/5(U)"], **VLAN}
    | {"untagged": ["100GE1/0/1(U)", "100GE1/0/2(U)"]},
    {"vlan": 3, "name": "VLAN 0003", "tagged": [], **VLAN}
    | {"untagged": ["100GE1/0/3(U)", "100GE1/0/4(U)"]},
]
FILES = [
    {"index": 0, "attributes": "dr-x", "size": "-", "name": "$_checkpoint"}
    | {"at": "Nov 11 2019 20:16:35"},
    {"index": 7, "attributes": "-rw-", "size": "572,847,476", "name": "123.cc"}
    | {"at": "Oct 21 2019 15:21:23"},
]


# `display interface` of a port in each family.
PORT_10GE = {
    "state": "UP",
    "ifindex": 6,
    "protocol": "UP",
    "description": "",
    "frame_bytes": 9216,
    "processing": "disabled",
    "mac": "00e0-fc12-3456",
    "loopback": "NONE",
    "duplex": "FULL",
    "negotiation": "-",
    "flow_control_in": "DISABLE",
    "mdi": "-",
    "cleared_at": "never",
    **dict.fromkeys(("rx_threshold", "tx_threshold"), "90.00%"),
    **dict.fromkeys(("rx_broadcast", "rx_jumbo", "rx_ignored", "rx_giants", "rx_fragments"), 0),
    **dict.fromkeys(("rx_runts", "rx_drop_events", "rx_alignments", "rx_symbols"), 0),
    **dict.fromkeys(("tx_broadcast", "tx_jumbo", "tx_purged"), 0),
}
V300 = {
    "name": "10GE1/0/1",
    "pvid": 1,
    "split": "-",
    "speed": "10000",
    "fec": "-",
    "flow_control_out": "ENABLE",
    "system_time": "2026-03-28 15:53:50",
    "physical_up_at": "2026-03-28 10:44:55",
    "physical_down_at": "2026-03-28 10:43:49",
    "rx_bps": 79,
    "rx_pps": 1,
    "rx_peak_bps": 181,
    "rx_peak_at": "2026-03-28 10:45:15",
    "tx_bps": 491,
    "tx_pps": 2,
    "tx_peak_bps": 494,
    "tx_peak_at": "2026-03-28 10:52:49",
    "rx_octets": 207592,
    "rx_packets": 616,
    "tx_octets": 1325324,
    "tx_packets": 9268,
    "rx_unicast": 0,
    "rx_multicast": 616,
    "rx_discards": 5,
    "rx_frames": None,
    "rx_pauses": 7,
    "rx_errors": 12,
    "crc": 11,
    "rx_jabbers": None,
    "tx_unicast": 0,
    "tx_multicast": 9268,
    "tx_discards": 6,
    "tx_pauses": 8,
    "rx_utility": "0.01%",
    "tx_utility": "0.01%",
}
V200 = {
    "name": "100GE1/0/1",
    "pvid": 10,
    "split": "DISABLE",
    "speed": "100000",
    "flow_control_out": "DISABLE",
    "system_time": "2026-01-02 03:04:05",
    "physical_up_at": "-",
    "physical_down_at": "2026-01-02 01:00:00",
    "rx_bps": 0,
    "rx_pps": 0,
    "rx_peak_bps": 0,
    "rx_peak_at": "-",
    "tx_bps": 0,
    "tx_pps": 0,
    "tx_peak_bps": 0,
    "tx_peak_at": "-",
    "rx_octets": 123,
    "rx_packets": 3,
    "tx_octets": 321,
    "tx_packets": 4,
    "rx_unicast": 3,
    "rx_multicast": 0,
    "rx_discards": 5,
    "rx_frames": 0,
    "rx_pauses": 0,
    "rx_errors": 6,
    "crc": 6,
    "rx_jabbers": 0,
    "tx_unicast": 4,
    "tx_multicast": 0,
    "tx_discards": 7,
    "tx_pauses": 0,
    "rx_utility": "0.00%",
    "tx_utility": "0.00%",
}
METH = {
    "name": "MEth0/0/0",
    "state": "UP",
    "ifindex": 12,
    "protocol": "UP",
    "protocol_up_at": "2026-01-02 01:00:00",
    "description": "out of band",
    "mtu": 1500,
    "address": "10.255.0.9/24",
    "mac": "00e0-fc12-3456",
    "loopback": "NONE",
    "maximal_bandwidth": "1000M",
    "bandwidth": "1000M",
    "cleared_at": "never",
    "physical_up_at": "2026-01-02 01:00:00",
    "physical_down_at": "-",
    "system_time": "2026-01-02 03:04:05",
    **dict.fromkeys(("rx_bps", "rx_pps", "tx_bps", "tx_pps", "rx_peak_bps", "tx_peak_bps"), 0),
    **dict.fromkeys(("rx_peak_at", "tx_peak_at"), "2026-01-02 01:10:00"),
    "rx_octets": 330033,
    "rx_packets": 3003,
    "tx_octets": 44044,
    "tx_packets": 404,
    "rx_unicast": 3001,
    "rx_multicast": 2,
    "rx_broadcast": 0,
    "rx_overrun": 0,
    "rx_over_car": 0,
    "rx_errors": 5,
    "crc": 4,
    "rx_giants": 0,
    "rx_jabbers": 0,
    "rx_runts": 1,
    "rx_fragments": 0,
    "tx_unicast": 404,
    "tx_multicast": 0,
    "tx_broadcast": 0,
    "tx_underrun": 0,
    "rx_utility": "0.00%",
    "tx_utility": "0.00%",
}


def _interface(sample: str, block: LabelledDisplay, row: Row) -> tuple[str, Read, Write, list[Row]]:
    """Return every field of a block; no reader of the driver needs all of them at once."""
    fields = [cell.name for line in block.lines for cell in line.cells]
    return (
        sample,
        lambda shown: read_interfaces(shown, fields),
        lambda rows: block.write(rows[0]),
        [row],
    )


# Sample, its reader, its writer, its rows.
CASES: list[tuple[str, Read, Write, list[Row]]] = [
    (
        "dcb",
        lossless.PORTS.read,
        lossless.PORTS.write,
        [
            {"interface": "25GE1/0/1", "profile": "default", "status": "ENABLE(M)"}
            | {"ets_profile": "default", "ets_status": "ENABLE", "app_profile": "-"},
            {"interface": "25GE1/0/2", "profile": "lossless", "status": "FAILED(A)"}
            | {"ets_profile": "-", "ets_status": "-", "app_profile": "-"},
        ],
    ),
    (
        "dcb-pfc-profile",
        lossless.read_profiles,
        lambda rows: lossless.write_profiles(rows, 2),
        [{"name": "default", "queues": [3]}, {"name": "lossless", "queues": [4]}],
    ),
    (
        "dcb-pfc",
        lossless.COUNTERS.read,
        lossless.COUNTERS.write,
        [
            PORT
            | {"rx_frames": 118_000_880, "rx_rate": 43_000, "deadlocks": 1}
            | {"tx_frames": 17, "tx_rate": 2, "recoveries": 1}
        ],
    ),
    (
        "dcb-pfc-buffer-v300-g1",
        lossless.read_thresholds,
        lambda rows: lossless.THRESHOLDS.write(rows, "v300-g1"),
        [PORT | {"xon": "550(K)", "xoff": "600(K)"}],
    ),
    (
        "dcb-pfc-buffer-v300-g2",
        lossless.read_thresholds,
        lambda rows: lossless.THRESHOLDS.write(rows, "v300-g2"),
        [
            PORT
            | {"guaranteed": "1600(B)", "xon_lowest": "640(B)", "xon_offset": "50(K)"}
            | {"xoff": "600(K)", "hdrm": "40(K)"}
        ],
    ),
    (
        "dcb-pfc-buffer-v200",
        lossless.read_thresholds,
        lambda rows: lossless.THRESHOLDS.write(rows, "v200"),
        [
            PORT
            | {"guaranteed": "12(C)", "xon": "90(C)", "xon_offset": "18(C)"}
            | {"xoff": "5(D)", "hdrm": "240(C)"}
        ],
    ),
    (
        "qos-ecn-statistics",
        lossless.ECN_MARKS.read,
        lossless.ECN_MARKS.write,
        [{"interface": "10GE1/0/1", "marked_packets": 0}],
    ),
    (
        "ai-ecn-calculated-state",
        lossless.STATE.read,
        lambda rows: lossless.STATE.write(rows, version="1.0.1"),
        [
            PORT
            | {"low_bytes": 204_800, "high_bytes": 614_400, "percent": 5, "mode": "BBR"}
            | {"model": "AI_ECN_HPC", "since": "2026-01-10 09:09:23"},
            PORT
            | {"interface": "100GE1/0/2", "low_bytes": 204_800, "high_bytes": 614_400}
            | {"percent": 5, "mode": "NN", "model": "AI_ECN_DistributedStorage"}
            | {"since": "2026-01-10 09:09:23"},
        ],
    ),
    (
        "qos-queue-statistics-interface",
        lossless.read_queues,
        lossless.STATISTICS.write,
        [_queue(0, 0, 0, 0, 0), _queue(1, 54, 5676, 3, 300)],
    ),
    (
        "qos-queue-statistics-slot",
        lossless.OF_SLOT.read,
        lambda rows: lossless.OF_SLOT.write(rows, interface="10GE1/0/1"),
        [_queue(5, 0, 0, 0, 0), _queue(6, 1330, 195_356, 0, 0) | {"passed_bps": 152}],
    ),
    (
        "lldp-neighbor-brief-v300",
        lldp.BRIEF.read,
        lldp.BRIEF.write,
        [
            _heard("100GE1/0/1", 96, "10GE1/0/1", "spine01"),
            _heard("100GE1/0/2", 19, "10GE1/0/2", "spine02"),
        ],
    ),
    (
        "lldp-neighbor-brief",
        lldp.BRIEF.read,
        lambda rows: lldp.BRIEF.write(rows, "wide"),
        [
            _heard("400GE1/1/5", 113, "400GE6/0/19", "spine01"),
            _heard("400GE1/1/6", 103, "400GE6/0/20", "spine02"),
        ],
    ),
    (
        "lldp-neighbor",
        lambda shown: [{"local": n.local, **n.values} for n in lldp.read_detail(shown)],
        lambda rows: lldp.write_detail({row["local"]: [row] for row in rows} | {"100GE1/0/2": []}),
        [PARAGRAPH],
    ),
    (
        "ip-routing-table",
        routing.read_routes,
        lambda rows: routing.ROUTES.write(
            [
                line
                for row in rows
                for line in routing.route_rows(row, PREFERENCES[row["protocol"]])
            ],
            destinations=4,
            routes=5,
        ),
        [
            {
                "prefix": "10.0.0.1/32",
                "protocol": "Direct",
                "hops": [_hop("127.0.0.1", "LoopBack1")],
            },
            {
                "prefix": "10.0.2.0/24",
                "protocol": "EBGP",
                "hops": [_hop("10.4.1.5", "100GE1/0/3"), _hop("10.4.1.3", "100GE1/0/2")],
            },
            {
                "prefix": "172.22.0.0/16",
                "protocol": "Static",
                "hops": [_hop("0.0.0.0", "NULL0", "DB")],
            },
            {
                "prefix": "172.23.0.0/16",
                "protocol": "EBGP",
                "hops": [_hop("10.0.255.253", "100GE1/0/1", "RD")],
            },
        ],
    ),
    (
        "bgp-peer-v300",
        routing.PEERS.read,
        lambda rows: routing.PEERS.write(
            rows, router_id="10.0.0.11", local_as="65101", total=2, established=1, dynamic=0
        ),
        [
            _peer("10.1.0.0", "65001", "0522h45m", "Established", 13),
            _peer("10.1.0.2", "65001", "0522h45m", "Idle", 0),
        ],
    ),
    (
        "bgp-peer",
        lambda shown: routing.PEERS.read(shown)[2:],
        lambda rows: routing.PEERS.write(
            [
                _peer("10.1.0.0", "65001", "0522h45m", "Established", 13, 36659, 36154),
                _peer("10.1.0.2", "65002", "626h43m", "Established", 14, 62697, 61772),
                *rows,
            ],
            "wide",
            router_id="10.0.0.11",
            local_as="65101",
            total=4,
            established=3,
            dynamic=1,
        ).replace("  626h43m", " 626h43m"),  # an age without its zero moves the following text
        [
            _peer("*10.1.0.4", "1.24", "0147h32m", "Established", 4, 116, 117),
            _peer("10.1.0.6", "65004", "00:00:07", "Idle", 0),
        ],
    ),
    (
        "cpu-usage",
        lambda shown: [system.CPU_V300.read(shown)],
        lambda rows: system.CPU_V300.write(rows[0]),
        [
            {
                "slot": "1",
                "cpu": "0",
                "at": "2019-12-07 13:57:10 689 ms",
                "percent": 31,
                "dataplane": 13,
                "five_seconds": 39,
                "one_minute": 38,
                "five_minutes": 39,
                "most": 91,
                "most_at": "2019-12-06 17:05:50 521 ms",
                "state": "Unoverload",
                "overload": 90,
                "clear": 75,
                "duration": "60s",
            }
        ],
    ),
    (
        "cpu-v200",
        lambda shown: [system.CPU_V200.read(shown)],
        lambda rows: system.CPU_V200.write(rows[0]),
        [
            {
                "at": "2026-02-03 17:37:27 338 ms",
                "percent": 17,
                "five_seconds": 0,
                "one_minute": 0,
                "five_minutes": 0,
                "most": 86,
                "state": "Non-overload",
                "most_at": "2026-02-03 16:12:36 637 ms",
                "overload": 90,
                "clear": 75,
                "duration": "480s",
            }
        ],
    ),
    (
        "memory",
        lambda shown: [system.MEMORY_V300.read(shown)],
        lambda rows: system.MEMORY_V300.write(rows[0]),
        [
            {
                "slot": "1",
                "cpu": "0",
                "total": 3_857_648,
                "used": 2_297_184,
                "percent": 59,
                "state": "Unoverload",
                "overload": 95,
                "clear": 75,
                "duration": "60s",
            }
        ],
    ),
    (
        "memory-v200",
        lambda shown: [system.MEMORY_V200.read(shown)],
        lambda rows: system.MEMORY_V200.write(rows[0]),
        [
            {
                "at": "2026-02-03 12:01:59 680 ms",
                "total": 1_997_568,
                "used": 811_168,
                "percent": 40,
                "state": "Non-overload",
                "overload": 95,
                "clear": 75,
                "duration": "60s",
            }
        ],
    ),
    (
        "version-v300",
        lambda shown: [system.VERSION_V300.read(shown)],
        lambda rows: system.VERSION_V300.write(rows[0]),
        [
            {"version": "1.23.0.X", "release": "CE6800 V300R023C00", "years": "2021-2023"}
            | {"model": "CE6866-48S8CQ-P", "uptime": "0 day, 5 hours, 32 minutes"}
        ],
    ),
    (
        "version-v200",
        lambda shown: [system.VERSION_V200.read(shown)],
        lambda rows: system.VERSION_V200.write(rows[0]),
        [
            {"version": "8.180", "release": "CE8850EI V200R005C10SPC800", "years": "2012-2018"}
            | {"model": "CE8850-64CQ-EI", "uptime": "162 days, 0 hour, 4 minutes"}
        ],
    ),
    (
        "device-esn",
        lambda shown: [system.SERIAL.read(shown)],
        lambda rows: system.SERIAL.write(rows[0]),
        [{"slot": "1", "serial": "2102350DYT10K1000045"}],
    ),
    (
        "clock",
        lambda shown: [{"at": system.read_clock(shown).isoformat()}],
        lambda rows: system.CLOCK.write(
            {"time": rows[0]["at"].replace("T", " "), "weekday": "Tuesday"}
            | {"zone": "BJ", "offset": "+08:00"}
        ),
        [{"at": "2026-02-03T17:02:34+08:00"}],
    ),
    (
        "dir",
        lambda shown: [{"free": system.read_free_kbytes(shown)}],
        lambda rows: "\n\n".join(
            [
                system.FILES.write(FILES, folder="flash:/"),
                system.FREE.write({"total": 2_994_228, **rows[0]}),
            ]
        ),
        [{"free": 801_664}],
    ),
    (
        "device",
        system.BOARDS.read,
        lambda rows: system.BOARDS.write(rows, name="CE6866"),
        [
            {"slot": 1, "card": "-", "model": "CE6866-48S8CQ-P", "online": "Present"}
            | {"power": "On", "register": "Registered", "alarm": "Normal", "primary": "Master"}
        ],
    ),
    (
        "configuration-commit-list",
        commits.LIST.read,
        commits.LIST.write,
        [
            {"number": 1, "commit": "1000000741", "label": "-"}
            | {"user": "netops", "at": "2026-08-26 11:34:42+03:00"},
            {"number": 2, "commit": "1000000740", "label": "-"}
            | {"user": "netops", "at": "2026-08-26 11:34:41+03:00"},
        ],
    ),
    (
        "configuration-commit-list-verbose",
        lambda shown: [commits.VERBOSE.read(shown)],
        lambda rows: commits.VERBOSE.write(rows[0]),
        [
            {"number": 1, "commit": "1000000114", "label": "-", "user": "netops"}
            | {"interface": "VTY 0", "kind": "CLI", "at": "2026-07-03 20:20:40"}
            | {"description": "This is a new name"}
        ],
    ),
    (
        "interface-brief-v300",
        lambda shown: BRIEF.read(shown)[:3],
        lambda rows: BRIEF.write(
            [
                *rows,
                _brief("  100GE1/0/1"),
                _brief("  100GE1/0/10"),
                _brief("  100GE1/0/2"),
                _brief("MEth0/0/0"),
                _brief("NULL0", protocol="up(s)"),
            ]
        ),
        [
            _brief("100GE1/0/3", physical="*down", protocol="down"),
            _brief("400GE1/1/1:1(200GE)", rx_errors="7"),
            _brief("Eth-Trunk10"),
        ],
    ),
    (
        "arp",
        switching.read_arp,
        switching.write_arp,
        [
            _arp("192.0.2.12", "00e0-fc41-0202", "", "I", "r2"),
            _arp("192.0.2.1", "00e0-fc41-0200", "17", "D", "r2"),
            _arp("192.0.2.11", "00e0-fc41-0201", "", "I", "r1"),
            _arp("192.0.2.1", "00e0-fc41-0200", "17", "D", "r1"),
        ],
    ),
    (
        "mac-address",
        switching.read_mac_addresses,
        switching.write_mac_addresses,
        [
            _mac("00e0-fc12-3456", "10/-/-", "25GE1/0/1", "dynamic", 544),
            _mac("00e0-fc12-3457", "10/-/-", "Eth-Trunk10", "dynamic", 4_294_367_295),
            _mac("00e0-fc12-3458", "-/-/10", "10.0.0.12", "dynamic", 574),
            _mac("00e0-fc12-3459", "20/-/-", "25GE1/0/2", "static", None),
        ],
    ),
    (
        "vlan",
        lambda shown: [
            {str(row["vlan"]): (row["name"], row["ports"])} for row in switching.read_vlans(shown)
        ],
        lambda rows: switching.write_vlans(VLAN_ROWS[: len(rows)], total=True),
        [
            {"2": ("VLAN 0002", ["100GE1/0/1", "100GE1/0/2", "100GE1/0/5"])},
            {"3": ("VLAN 0003", ["100GE1/0/3", "100GE1/0/4"])},
        ],
    ),
    (
        "interface-transceiver-brief",
        hardware.read_optics,
        hardware.write_optics,
        [
            {"interface": "10GE1/0/1", "temperature": [21.39], "voltage": [3.29]}
            | {"bias": [22.8], "rx_power": [-40.0], "tx_power": [-3.33]},
            {"interface": "10GE1/0/3", "temperature": [33.25], "voltage": [3.3]}
            | {"bias": [45.39, 60.52, 43.26, 60.76], "rx_power": [1.17, -0.91, 0.88, 0.9]}
            | {"tx_power": [1.69, 1.23, 0.42, 2.25]},
        ],
    ),
    (
        "ip-routing-table-verbose",
        routing_details.read_route_details,
        lambda rows: "\n\n".join(
            [
                routing_details.ROUTE_HEAD.format(len(rows)).rstrip("\n"),
                *map(routing_details.ROUTE.write, rows),
            ]
        ),
        [
            _route("10.1.1.2", "100GE1/0/1", "Active Adv", "00h05m41s", "0x2", "D"),
            _route("10.2.1.2", "100GE1/0/2", "Inactive Adv", "11d00h51m05s", "0x1", ""),
        ],
    ),
    _interface("interface-port-v300", PORT_V300, PORT_10GE | V300),
    _interface("interface-port-v200", PORT_V200, PORT_10GE | V200),
    _interface("interface-management", MANAGEMENT, METH),
]
MODULES = (lossless, lldp, routing, system, commits, interfaces, switching, hardware)
NAMES = [case[0] for case in CASES]


def plain(text: str) -> list[str]:
    """Lines without blanks at their ends."""
    return [line.rstrip() for line in text.rstrip("\n").split("\n")]


@pytest.mark.parametrize(("sample", "read", "write", "rows"), CASES, ids=NAMES)
def test_a_sample_of_the_vendor_is_read(
    sample: str, read: Read, write: Write, rows: list[Row]
) -> None:
    assert read(DisplayAnswer("display", vendor_display(sample))) == rows


@pytest.mark.parametrize(("sample", "read", "write", "rows"), CASES, ids=NAMES)
def test_its_rows_are_written_as_the_vendor_prints_them(
    sample: str, read: Read, write: Write, rows: list[dict[str, Any]]
) -> None:
    assert plain(write(rows)) == plain(vendor_display(sample))


def test_every_form_says_where_it_is_printed_so() -> None:
    described = (value for module in MODULES for value in vars(module).values())
    tables = [value for value in described if isinstance(value, DisplayTable)]
    forms: list[Form | LabelledDisplay] = [
        form for table in tables for form in table.forms.values()
    ]
    forms += [
        *BLOCKS,
        lldp.DETAIL,
        commits.STATUS,
        *(b for b in vars(system).values() if isinstance(b, LabelledDisplay)),
        *(b for b in vars(routing_details).values() if isinstance(b, LabelledDisplay)),
    ]
    assert len(tables) == 22
    assert [form.source for form in forms if not form.source] == []
    assert [form.source for form in forms if not form.confirmed] == [
        "AI Fabric best practice, EDOC1100155250 (f1a44286)",
        'command reference V300R023C00, "display lldp neighbor brief", table 1: names of columns of '
        "older releases",
        "outputs of VRP switches that public parsers are tested with",
        'configuration guide V300R023C00, "display ip routing-table"; widths: outputs of switches',
        "an output of a CloudEngine switch that a public collector is tested with",
        "outputs of V200 switches that public parsers are tested with",
        *["outputs of V200 switches that the public driver napalm-ce is tested with"] * 3,
        "outputs of V100 and V200 switches that public drivers are tested with",
        'command reference V300R023C00, "display interface", of Eth-Trunk 11',
        "outputs of V200 switches that public parsers are tested with",
        "clients of CloudEngine switches",
        *["outputs of V200 switches in public notes and parsers"] * 2,
    ]


TWO_LINES = DisplayTable(
    "display two",
    {
        "": Form(
            head="Total: {total:d}\n----\nName   Count\n       (B/s)\n----",
            row="{name:<6i} {count:>5d}\n       {rate:>5?} {since:*}",
            foot="----",
        )
    },
    carried=True,
)
TWO = """\
Total: 2
----
Name   Count
       (B/s)
----
GE1        5
           7 2026-01-02 10:00:00
           6
           - -
----
"""
ROWS = [
    {"name": "GE1", "count": 5, "rate": 7, "since": "2026-01-02 10:00:00"},
    {"name": "GE1", "count": 6, "rate": None, "since": "-"},
]


@pytest.mark.parametrize(
    "text", [TWO, TWO.replace("       (B/s)\n", ""), TWO.replace("----", "====")]
)
def test_a_table_may_leave_out_units_and_the_name_of_a_further_row(text: str) -> None:
    assert TWO_LINES.read(DisplayAnswer("display two", text)) == ROWS
    assert TWO_LINES.totals(DisplayAnswer("display two", text)) == ({"total": 2}, 1)


@pytest.mark.parametrize(
    ("old", "new", "reply"),
    [
        ("Name   Count", "Nam    Count", "line 1: 0 headings of its table instead of one"),
        ("Name   Count", "Name   Count Rate", "line 3: 'Name   Count Rate' is not the documented heading"),
        ("GE1        5", "           5", "line 6: '5' is of no interface"),
        ("           - -\n", "", "line 8: no second line below '6'"),
    ],
)  # fmt: skip
def test_another_form_is_an_error_with_its_line(old: str, new: str, reply: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        TWO_LINES.read(DisplayAnswer("display two", TWO.replace(old, new)))
    assert str(caught.value) == f"'display two', {reply}"
    assert caught.value.line == int(reply.split()[1].rstrip(":"))
