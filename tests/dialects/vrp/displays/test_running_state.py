"""State of a CloudEngine, read strictly: the vendor's forms, and every invalid one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import pytest
from napalm.base.exceptions import CommandErrorException
from recorded_driver import RecordedDriver
from vendor_displays import vendor_display

from rocefort.base.errors import DeviceFailed
from rocefort.dialects.vrp.running_state import read_topic, unread_lines
from rocefort.models.network.observed import (
    AiEcnSeen,
    CpuSeen,
    MarkedSeen,
    MemorySeen,
    PfcCountersSeen,
    PfcPortSeen,
    PfcProfileSeen,
    PortCounters,
    PortSeen,
    QueueSeen,
    RouteSeen,
    StateTopic,
    ThresholdSeen,
)

# Forms of the V300R023C00 command reference, with our own values.
INTERFACE = """\
2026-06-03 10:17:27.684 +08:00
100GE1/0/25 current state : UP (ifindex: 6)
Line protocol current state : UP
Description: to spine01
Route Port,The Maximum Transmit Unit is 9000,The Maximum Frame Length is 9216
Internet protocol processing : disabled
IP Sending Frames' Format is PKTFMT_ETHNT_2, Hardware address is 00e0-fc12-3456
Port Mode:     COMMON FIBER,     Port Split/Aggregate:               -
Speed:               100000,     Loopback:                        NONE
Duplex:                FULL,     Negotiation:                        -
Input Flow-control: DISABLE,     Output Flow-control:          DISABLE
Mdi:                      -,     Fec:                                -
Statistics last cleared:never
    Last 300 seconds input rate: 79 bits/sec, 0 packets/sec
    Input :             207592 bytes,                616 packets
    Output:            1325324 bytes,               9268 packets
    Input:
      Unicast:                      0,   Multicast:                     616
      Broadcast:                    0,   Jumbo:                           0
      Discard:                      5,   Frames:                         --
      Pause:                        7,   Ignoreds:                        0

      Total Error:                 12
      CRC:                         11,   Giants:                          0
      Jabbers:                     --,   Fragments:                       0

    Output:
      Unicast:                      0,   Multicast:                    9268
      Discard:                      6,   Buffers Purged:                  0
      Pause:                        8

    Input bandwidth utilization threshold : 90.00%
Eth-Trunk11 current state : Administratively DOWN (ifindex: 2010)
Line protocol current state : DOWN
Switch Port, TPID : 8100(Hex), Hash arithmetic : According to flow, The Maximum Transmit Unit is 1500
    Input: 0 packets,0 bytes
           0 errors,0 drops
"""
PORTS = (
    PortSeen(
        name="100GE1/0/25",
        state="UP",
        up=True,
        mtu=9000,
        frame_bytes=9216,
        speed_mbps=100_000,
        counters=PortCounters(
            rx_errors=12, crc=11, rx_discards=5, tx_discards=6, rx_pauses=7, tx_pauses=8
        ),
    ),
    PortSeen(name="Eth-Trunk11", state="Administratively DOWN", up=False, shut=True, mtu=1500),
)
ROUTES = """\
Proto: Protocol        Pre: Preference
Route Flags: R - relay, D - download to fib, T - to vpn-instance, B - black hole route
------------------------------------------------------------------------------
Routing Table : _public_
         Destinations : 3       Routes : 4

Destination/Mask    Proto   Pre  Cost        Flags NextHop         Interface

      10.65.0.0/24  EBGP    255  0           RD    10.1.0.32       100GE1/0/25
                    EBGP    255  0           RD    10.1.0.34       100GE1/0/26
      10.65.1.0/24  EBGP    255  0             R   10.1.0.32       100GE1/0/25
      127.0.0.0/8   Direct  0    0             D   127.0.0.1       InLoopBack0
"""
HOPS = (IPv4Address("10.1.0.32"), IPv4Address("10.1.0.34"))
TABLE = (
    RouteSeen(prefix=IPv4Network("10.65.0.0/24"), protocol="EBGP", next_hops=HOPS),
    RouteSeen(prefix=IPv4Network("10.65.1.0/24"), protocol="EBGP", next_hops=()),
    RouteSeen(
        prefix=IPv4Network("127.0.0.0/8"), protocol="Direct", next_hops=(IPv4Address("127.0.0.1"),)
    ),
)
DCB = """\
M:Manual;    A:Auto
-------------------------------------------------------------------------------
Interface         PFC Name     PFC Status  ETS Name    ETS Status App-Profile
-------------------------------------------------------------------------------
25GE1/0/1         default      ENABLE(M)   default     ENABLE     -
25GE1/0/2         nof          FAILED(A)   -           -          -
25GE1/0/3         -            -           -           -          -
-------------------------------------------------------------------------------
"""
PROFILES = """\
PFC-Profile Maximum: 2
Total: 2
-------------------------------------------------------------------------------
PFC-profile Name                      Priority
-------------------------------------------------------------------------------
default                               4
-------------------------------------------------------------------------------
two                                   3 5
-------------------------------------------------------------------------------
"""
PFC = """\
-----------------------------------------------------------------------------------------
Interface         Queue         Received(Frames)        ReceivedRate(pps)     DeadlockNum
                             Transmitted(Frames)     TransmittedRate(pps)     RecoveryNum
-----------------------------------------------------------------------------------------
100GE1/0/1             4                      17                        3               1
                                              18                        4               2
                       5                       0                        0               0
                                               0                        0               0
-----------------------------------------------------------------------------------------
"""


def _pfc(queue: int, *numbers: int) -> PfcCountersSeen:
    names = ("rx_frames", "rx_rate", "deadlocks", "tx_frames", "tx_rate", "recoveries")
    return PfcCountersSeen(
        interface="100GE1/0/1", queue=queue, **dict(zip(names, numbers, strict=True))
    )


G1 = """\
Xon:        PFC backpressure stop threshold
Xoff:       PFC backpressure threshold
K:kilobytes   D:dynamic alpha
--------------------------------------------------
Interface      Queue            Xon           Xoff
--------------------------------------------------
100GE1/0/1         4         550(K)         600(K)
100GE1/0/2         4           2(D)           3(D)
--------------------------------------------------
"""
G2 = """\
Interface      Queue    Guaranteed     Xon-Lowest  Xon-Offset       Xoff        Hdrm
100GE1/0/1         4       1600(B)         640(B)       50(K)     600(K)      256(K)
                   5       1600(B)       40960(B)       50(K)      70(K)       40(K)
"""
V200 = """\
Interface  Queue Guaranteed  Xon     Xon-Offset  Xoff  Hdrm
100GE1/0/1 4     10(C)       100(C)  20(C)       2000(C)  250(C)
100GE1/0/2 4     -           -       50(K)       600(K)   -
"""


def _row(interface: str, queue: int, *values: int | None, **other: Any) -> ThresholdSeen:
    xoff, xon, headroom = (*values, None)[:3]
    return ThresholdSeen(
        interface=interface,
        queue=queue,
        xoff_kbytes=xoff,
        xon_kbytes=xon,
        headroom_kbytes=headroom,
        **other,
    )


QUEUES = """\
 Queue   CIR/PIR              Passed     Pass Rate             Dropped     Drop Rate  Drop Time
        (% or kbps)   (Packets/Bytes)    (pps/bps)      (Packets/Bytes)    (pps/bps)
 ----------------------------------------------------------------------------------------------
     4         0                   6             0                   3             0          -
       100000000                1092             0                 546             0
 ----------------------------------------------------------------------------------------------
     6         0                   0             0                   9             0  2026-01-01 10:00:00
       100000000                   0             0                 900             0
 ----------------------------------------------------------------------------------------------
"""
AI_ECN = """\
AI-ECN Model Version : 1.0.1
Mode : NN - Model inference    BBR - Heuristic inference    STATIC - Static threshold
-----------------------------------------------------------------------------------------------
Interface       Queue   Low-Threshold   High-Threshold   Probability   Mode     Active model    Actived time
                               (Byte)           (Byte)           (%)
-----------------------------------------------------------------------------------------------
100GE1/0/1          4          204800           614400             5    BBR   AI_ECN_HPC   2022-01-10 09:09:23
100GE1/0/2          4               -                -             -      -   AI_ECN_HPC   -
-----------------------------------------------------------------------------------------------
"""
CLOCK = "2026-02-02 17:02:34+08:00\nMonday\nTime Zone(BJ) : UTC+08:00\n"
DIR = """\
Directory of flash:/

  Idx  Attr     Size(Byte)  Date        Time       FileName
    0  dr-x              -  Nov 11 2019 20:16:35   $_checkpoint
    7  -rw-    572,847,476  Oct 21 2019 15:21:23   123.cc

2,994,228 KB total (801,664 KB free)
"""

COMMANDS = {
    StateTopic.PORTS: "display interface",
    StateTopic.ROUTES: "display ip routing-table",
    StateTopic.PFC_PORTS: "display dcb",
    StateTopic.PFC_PROFILES: "display dcb pfc-profile",
    StateTopic.PFC_COUNTERS: "display dcb pfc",
    StateTopic.THRESHOLDS: "display dcb pfc buffer",
    StateTopic.QUEUES: "display qos queue statistics interface 100GE1/0/1",
    StateTopic.AI_ECN: "display ai-ecn calculated state",
    StateTopic.ECN_MARKS: "display qos ecn statistics",
    StateTopic.CLOCK: "display clock",
    StateTopic.CPU: "display cpu-usage",
    StateTopic.MEMORY: "display memory",
    StateTopic.DISK: "dir",
}
UTC_NOW = datetime(2026, 2, 2, 9, 2, 34, tzinfo=UTC)


def read(topic: StateTopic, text: str, now: datetime = UTC_NOW) -> Any:
    """The topic of a switch that answers its command with this text."""
    driver = RecordedDriver({COMMANDS[topic]: text})
    return read_topic(driver, topic, "leaf03", ("100GE1/0/1",), lambda: now)


GOOD: list[tuple[StateTopic, str, object]] = [
    (StateTopic.PORTS, INTERFACE, PORTS),
    (StateTopic.ROUTES, ROUTES, TABLE),
    (
        StateTopic.ROUTES,  # not confirmed: a further next hop without its protocol
        ROUTES.replace(
            "EBGP    255  0           RD    10.1.0.34", "     255  0     RD    10.1.0.34"
        ),
        TABLE,
    ),
    (
        StateTopic.PFC_PORTS,
        DCB,
        (
            PfcPortSeen(interface="25GE1/0/1", profile="default", enabled=True, state="ENABLE(M)"),
            PfcPortSeen(interface="25GE1/0/2", profile="nof", enabled=False, state="FAILED(A)"),
            PfcPortSeen(interface="25GE1/0/3", profile="-", enabled=False, state="-"),
        ),
    ),
    (
        StateTopic.PFC_PROFILES,
        PROFILES,  # not confirmed: how two queues are written
        (PfcProfileSeen(name="default", queues=(4,)), PfcProfileSeen(name="two", queues=(3, 5))),
    ),
    (
        StateTopic.PFC_COUNTERS,
        PFC,  # not confirmed: the blank interface of a port's second queue
        (_pfc(4, 17, 3, 1, 18, 4, 2), _pfc(5, 0, 0, 0, 0, 0, 0)),
    ),
    (
        StateTopic.THRESHOLDS,
        G1,
        (
            _row("100GE1/0/1", 4, 600, 550, text="Xon 550(K), Xoff 600(K)"),
            _row("100GE1/0/2", 4, None, None, dynamic=True, text="Xon 2(D), Xoff 3(D)"),
        ),
    ),
    (
        StateTopic.THRESHOLDS,
        G2,
        (
            _row(
                *("100GE1/0/1", 4, 600, 550, 256),
                text="Guaranteed 1600(B), Xon-Lowest 640(B), Xon-Offset 50(K), Xoff 600(K), Hdrm 256(K)",
            ),
            _row(  # xon is the higher of the lowest and the offset below xoff
                *("100GE1/0/1", 5, 70, 40, 40),
                text="Guaranteed 1600(B), Xon-Lowest 40960(B), Xon-Offset 50(K), Xoff 70(K), Hdrm 40(K)",
            ),
        ),
    ),
    (
        StateTopic.THRESHOLDS,
        V200,
        (
            _row(
                *("100GE1/0/1", 4, None, None),
                text="Guaranteed 10(C), Xon 100(C), Xon-Offset 20(C), Xoff 2000(C), Hdrm 250(C)",
            ),
            _row(
                *("100GE1/0/2", 4, 600, 550),
                text="Guaranteed -, Xon -, Xon-Offset 50(K), Xoff 600(K), Hdrm -",
            ),
        ),
    ),
    (
        StateTopic.QUEUES,
        QUEUES,
        (
            QueueSeen(
                interface="100GE1/0/1",
                queue=4,
                dropped_packets=3,
                dropped_bytes=546,
                passed_packets=6,
                passed_bytes=1092,
            ),
            QueueSeen(
                interface="100GE1/0/1",
                queue=6,
                dropped_packets=9,
                dropped_bytes=900,
                passed_packets=0,
                passed_bytes=0,
            ),
        ),
    ),
    (
        StateTopic.AI_ECN,
        AI_ECN,
        (
            AiEcnSeen(interface="100GE1/0/1", queue=4, mode="BBR", model="AI_ECN_HPC"),
            AiEcnSeen(interface="100GE1/0/2", queue=4, mode="-", model="AI_ECN_HPC"),
        ),
    ),
    (
        StateTopic.ECN_MARKS,
        vendor_display("qos-ecn-statistics"),
        (MarkedSeen(interface="10GE1/0/1", marked_packets=0),),
    ),
    (StateTopic.DISK, DIR, 801_664),
    (
        StateTopic.CPU,
        vendor_display("cpu-usage"),
        CpuSeen(five_seconds=39, one_minute=38, five_minutes=39),
    ),
    (
        StateTopic.MEMORY,
        vendor_display("memory"),
        MemorySeen(total_kbytes=3_857_648, used_kbytes=2_297_184),
    ),
    (
        StateTopic.MEMORY,
        vendor_display("memory-v200"),
        MemorySeen(total_kbytes=1_997_568, used_kbytes=811_168),
    ),
    (StateTopic.DISK, "631,960 KB total available (237,728 KB free)", 237_728),  # older VRP8
]

HOW = "; its form is not the documented one: run the command by hand, and report what it shows"
BAD: list[tuple[StateTopic, str, str]] = [
    (
        StateTopic.CPU,
        "CPU Usage            : 12% Max: 45%",
        "line 1: no CPU utilization for five seconds, one minute and five minutes",
    ),
    (
        StateTopic.CPU,
        vendor_display("cpu-usage").replace("one minute: 38%", "one minute: 380%"),
        "line 1: 380 % of the CPU",
    ),
    (
        StateTopic.MEMORY,
        "System Total Memory Is: 171493452 bytes",
        "line 1: no total and used memory in Kbytes",
    ),
    (
        StateTopic.MEMORY,
        vendor_display("memory").replace("2297184", "22971840"),
        "line 1: 22971840 of 3857648 Kbytes used",
    ),
    (StateTopic.PORTS, "", "line 1: no interface at all"),
    (StateTopic.PORTS, "Info: wait\n", "line 1: 'Info: wait' belongs to no interface"),
    (
        StateTopic.PORTS,
        INTERFACE.replace("      CRC:                         11,", "      CRX:                         11,"),
        "line 2: 100GE1/0/25 shows no 'CRC' of its input",
    ),
    (
        StateTopic.PORTS,
        INTERFACE.replace("      Pause:                        8\n", ""),
        "line 2: 100GE1/0/25 shows no 'Pause' of its output",
    ),
    (
        StateTopic.PORTS,
        INTERFACE.replace("Speed:               100000,", "Pace:                100000,"),
        "line 2: 100GE1/0/25 shows no speed",
    ),
    (
        StateTopic.PORTS,
        INTERFACE.replace("Eth-Trunk11", "100GE1/0/25").replace("Switch Port", "Speed: AUTO, Pause: 1, ")
        + INTERFACE[INTERFACE.index("    Input:\n") : INTERFACE.index("    Input bandwidth")],
        "line 33: 100GE1/0/25 is shown twice",
    ),
    (StateTopic.ROUTES, "", "line 1: 0 headings of its table instead of one"),
    (
        StateTopic.ROUTES,
        ROUTES.replace("Routes : 4", "Routes : 5"),
        "line 5: 3 destinations and 5 routes announced, 3 and 4 read",
    ),
    (
        StateTopic.ROUTES,
        ROUTES[: ROUTES.rindex("      127")],
        "line 5: 3 destinations and 4 routes announced, 2 and 3 read",
    ),
    (StateTopic.ROUTES, ROUTES.replace("127.0.0.1", "127.0.0.x"), "line 12: '127.0.0.x' is no next hop"),
    (StateTopic.PFC_PORTS, "", "line 1: 0 headings of its table instead of one"),
    (
        StateTopic.PFC_PROFILES,
        PROFILES.replace("Total: 2", "Total: 1"),
        "line 2: 1 profiles announced, 2 read",
    ),
    (
        StateTopic.PFC_COUNTERS,
        PFC.replace("100GE1/0/1             4", "                       4"),
        "line 5: '4                      17                        3               1' is of no interface",
    ),
    (StateTopic.THRESHOLDS, G1.replace("Xoff\n", "Xofo\n", 2), "line 5: 'Interface      Queue            Xon           Xofo' is not the documented heading"),
    (StateTopic.QUEUES, "", "line 1: 0 headings of its table instead of one"),
    (StateTopic.QUEUES, QUEUES[: QUEUES.index("     4 ")], "line 1: no queue at all"),
    (StateTopic.QUEUES, QUEUES.replace("     6  ", "     4  "), "line 7: queue 4 is shown twice"),
    (StateTopic.CLOCK, "soon", "line 1: no date and time"),
    (StateTopic.CLOCK, "2026-02-30 17:02:34+08:00", "line 1: '2026-02-30 17:02:34+08:00' is no date and time"),
    (StateTopic.CLOCK, "2026-02-02 17:02:34\nMonday\n", "line 1: a time without its offset from UTC"),
    (StateTopic.DISK, "Directory of flash:/\n", "line 1: no line with the free space"),
]  # fmt: skip


@pytest.mark.parametrize(("topic", "text", "seen"), GOOD)
def test_the_documented_form_is_read(topic: StateTopic, text: str, seen: object) -> None:
    assert read(topic, text) == seen


@pytest.mark.parametrize(("topic", "text", "message"), BAD)
def test_what_does_not_add_up_is_an_error_with_device_command_and_line(
    topic: StateTopic, text: str, message: str
) -> None:
    with pytest.raises(DeviceFailed) as caught:
        read(topic, text)
    assert str(caught.value) == f"leaf03: '{COMMANDS[topic]}', {message}{HOW}"


ODD: list[tuple[StateTopic, str, int, str, str]] = [  # the odd row, the lines unread, their key
    (StateTopic.ROUTES, ROUTES + "what is this\n", -1, "line 13: 'what is this' is no route", ""),
    (
        StateTopic.PFC_PORTS,
        DCB.replace("ENABLE(M)", "MAYBE(M)"),
        0,
        "line 5: 'MAYBE(M)' is no status",
        "25GE1/0/1",
    ),
    (
        StateTopic.PFC_COUNTERS,
        PFC.replace("                                              18                        4               2\n", ""),
        0,
        "line 5: no second line below '100GE1/0/1             4                      17                        3               1'",
        "100GE1/0/1",
    ),
    (StateTopic.PFC_COUNTERS, PFC.replace(" 17 ", " 1x "), 0, "line 5: '1x' is not a count", "100GE1/0/1"),
    (StateTopic.THRESHOLDS, G1.replace("600(K)", "600(X)"), 0, "line 7: '600(X)' is no xoff", "100GE1/0/1"),
    (
        StateTopic.THRESHOLDS,
        G1.replace("550(K)", ""),
        0,
        "line 7: '100GE1/0/1         4                  600(K)' has not 4 cells",
        "100GE1/0/1",
    ),
    (
        StateTopic.AI_ECN,
        AI_ECN.replace("100GE1/0/1          4", "100GE1/0/1           "),
        0,
        "line 7: '204800' is no queue",
        "100GE1/0/1",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("topic", "text", "odd", "why", "key"), ODD)
def test_an_odd_row_is_left_out_and_noted(
    topic: StateTopic, text: str, odd: int, why: str, key: str
) -> None:
    driver = RecordedDriver({COMMANDS[topic]: text})
    rows = read_topic(driver, topic, "leaf03", ("100GE1/0/1",))
    whole = next(seen for name, _, seen in GOOD if name == topic)
    assert isinstance(whole, tuple)
    assert rows == tuple(row for number, row in enumerate(whole) if number != odd)
    line = unread_lines(driver)[0]
    assert line.command == COMMANDS[topic]
    assert (f"line {line.line}: {line.why}", line.key) == (why, key)


# A profile may pause no queue, and the reader ignores the last lines of the others.
UNCUT = {
    *(StateTopic.PFC_PROFILES, StateTopic.PORTS, StateTopic.CLOCK, StateTopic.CPU),
    StateTopic.MEMORY,
}


@pytest.mark.parametrize("topic", [topic for topic in COMMANDS if topic not in UNCUT])
def test_an_answer_that_is_cut_off_in_a_row_is_never_read_as_less(topic: StateTopic) -> None:
    """Every table is cut inside its last row: none may be read as if that row were not there."""
    whole = next(text for name, text, _ in GOOD if name == topic)
    row = [n for n, line in enumerate(whole.splitlines()) if line.strip(" -")][-1]
    lines = whole.splitlines()[: row + 1]
    lines[-1] = lines[-1][: len(lines[-1].rstrip()) - max(3, len(lines[-1].split()[-1]) + 1)]
    with pytest.raises(DeviceFailed):
        read(topic, "\n".join(lines))


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        (CLOCK, 8),
        ("2026-02-02 17:02:34\nMonday\nTime Zone(DefaultZoneName) : UTC\n", 0),  # field evidence
        ("2026-02-02 17:02:34\nMonday\nTime Zone(X) : UTC-05:00\n", -5),
        ("2026-02-02 17:02:34.123 +08:00\n", 8),
    ],
)
def test_a_clock_is_read_with_its_offset(text: str, hours: int) -> None:
    utc = datetime(2026, 2, 2, 17, 2, 34, tzinfo=UTC) - timedelta(hours=hours)
    assert read(StateTopic.CLOCK, text, utc) == 0.5, "it shows whole seconds"


def test_the_cpu_of_a_v200_has_another_command() -> None:
    driver = RecordedDriver({"display cpu": vendor_display("cpu-v200")})
    assert read_topic(driver, StateTopic.CPU, "leaf03") == CpuSeen(
        five_seconds=0, one_minute=0, five_minutes=0
    )
    with pytest.raises(CommandErrorException, match="'display cpu'"):
        read_topic(RecordedDriver({}), StateTopic.CPU, "leaf03")


def test_the_environment_of_napalm_has_cpu_and_memory() -> None:
    answers = {"cpu-usage": "display cpu-usage", "memory": "display memory"}
    driver = RecordedDriver({text: vendor_display(name) for name, text in answers.items()})
    assert driver.get_environment() == {
        "fans": {},
        "temperature": {},
        "power": {},
        "cpu": {0: {"%usage": 39.0}},
        "memory": {"available_ram": 3_857_648 * 1024, "used_ram": 2_297_184 * 1024},
    }


@pytest.mark.parametrize(
    "shown", ["", "Info: No statistics.", "Interface Queue ECN-marked packets"]
)
def test_ecn_marks_in_another_form_are_a_failure_of_the_switch(shown: str) -> None:
    """A run of RDMA tests continues without them, as it does on a release without the command."""
    with pytest.raises(DeviceFailed, match="leaf03: 'display qos ecn statistics', line 1: "):
        read(StateTopic.ECN_MARKS, shown)
