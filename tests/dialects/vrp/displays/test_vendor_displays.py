"""The readers of live checks and of cabling against the vendor's display outputs."""

from __future__ import annotations

from typing import Any

from recorded_driver import RecordedDriver
from vendor_displays import vendor_display

from napalm_cloudengine.displays.lldp import Neighbor
from rocefort.dialects.vrp.running_state import read_topic
from rocefort.dialects.vrp.saved_text import read_display
from rocefort.models.network.observed import QueueSeen, StateTopic


def thresholds(text: str) -> Any:
    driver = RecordedDriver({"display dcb pfc buffer": text})
    return read_topic(driver, StateTopic.THRESHOLDS, "leaf01")


def ports(sample: str) -> Any:
    driver = RecordedDriver({"display interface": vendor_display(sample)})
    return read_topic(driver, StateTopic.PORTS, "leaf01")


def test_ports_of_v200_and_of_management() -> None:
    [port] = ports("interface-port-v200")
    assert (port.name, port.up, port.speed_mbps, port.frame_bytes) == (
        *("100GE1/0/1", True, 100_000),
        9216,
    )
    assert port.counters is not None
    assert (port.counters.rx_errors, port.counters.crc) == (6, 6)
    assert (port.counters.rx_discards, port.counters.tx_discards) == (5, 7)
    [management] = ports("interface-management")
    assert (management.name, management.mtu, management.counters) == ("MEth0/0/0", 1500, None)


def test_thresholds_of_each_family() -> None:
    thresholds_by_family = {
        family: thresholds(vendor_display(f"dcb-pfc-buffer-{family}"))[0]
        for family in ("v200", "v300-g1", "v300-g2")
    }
    assert {
        name: (row.xoff_kbytes, row.xon_kbytes) for name, row in thresholds_by_family.items()
    } == {
        "v200": (None, None),  # a share, and xon in cells
        "v300-g1": (600, 550),
        "v300-g2": (600, 550),
    }
    assert [
        thresholds_by_family["v200"].dynamic,
        thresholds_by_family["v300-g2"].headroom_kbytes,
    ] == [True, 40]


def test_the_xon_of_v200_is_the_higher_of_two() -> None:
    """Its legend: the value of xon, or xoff less xon-offset; in cells the first is not known."""
    text = vendor_display("dcb-pfc-buffer-v200").replace("  5(D)", "600(K)")
    text = text.replace("     18(C)", "     50(K)")
    rows = [text, *(text.replace("    90(C)", cell) for cell in ("   590(K)", "    90(K)"))]
    xon_kbytes = [thresholds(each)[0].xon_kbytes for each in rows]
    assert xon_kbytes == [None, 590, 550]


def test_queues_and_neighbours() -> None:
    command = "display qos queue statistics interface 100GE1/0/1"
    driver = RecordedDriver({command: vendor_display("qos-queue-statistics-interface")})
    assert read_topic(driver, StateTopic.QUEUES, "leaf01", ["100GE1/0/1"]) == (
        QueueSeen(
            interface="100GE1/0/1",
            queue=0,
            passed_packets=0,
            passed_bytes=0,
            dropped_packets=0,
            dropped_bytes=0,
        ),
        QueueSeen(
            interface="100GE1/0/1",
            queue=1,
            passed_packets=54,
            passed_bytes=5676,
            dropped_packets=3,
            dropped_bytes=300,
        ),
    )
    heard = read_display(vendor_display("lldp-neighbor-brief"))
    assert heard is not None
    assert heard.neighbours == (
        Neighbor("400GE1/1/5", "spine01", "400GE6/0/19", 2),
        Neighbor("400GE1/1/6", "spine02", "400GE6/0/20", 3),
    )
