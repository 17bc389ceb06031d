"""Headroom formulas, and the buffer that the lossless ports of a switch need."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil
from typing import NamedTuple

from rocefort.models.hardware.hardware import Family
from rocefort.models.network.network import LosslessIntent, Network, Port
from rocefort.models.units import kbytes
from rocefort.validators.facts.roce_ports import ports_by_device

GAP_BYTES = 20  # preamble 8, inter-frame gap 12
PFC_FRAME_BYTES = 64 + GAP_BYTES
DELAY_NS_PER_M = 5  # one way
QUANTUM_BYTES = 512 // 8
KIB = 1024
# Quanta of 512 bit times in which a peer may still send after a PAUSE arrived (802.3, 31B.3.7), as
# SONiC's buffer_headroom_mellanox.lua has them. 10 Gb/s is its mean of 60 and 74 (10GBASE-T); that
# of 800 Gb/s is 400's.
RESPONSE_QUANTA = {10: 67, 25: 80, 40: 118, 50: 147, 100: 394, 200: 453, 400: 905, 800: 905}
# Delay of a port's own interface: that of its transmitter for the PAUSE, and of its receiver for
# the last data. 802.3 bounds the sum of both for MAC and PHY, and the response of 31B.3.7 is this
# bound of the peer: for 10GBASE-T 8,192 + 4,096 + 25,600 bit times are 74 quanta (the delays of
# annex O in Linux, drivers/net/ethernet/intel/ixgbe/ixgbe_type.h, IXGBE_ID_X540). Both ends have
# one speed.
INTERFACE_QUANTA = RESPONSE_QUANTA


def cable_bytes(rate_gbps: int, cable_m: float) -> Fraction:
    """Bytes in flight on a cable, both ways, at a rate in Gb/s."""
    return Fraction(2 * DELAY_NS_PER_M * rate_gbps, 8) * Fraction(str(cable_m))


def response_bytes(rate_gbps: int) -> int:
    """Bytes that a peer may send between a PAUSE and its stop; KeyError for an unknown rate."""
    return RESPONSE_QUANTA[rate_gbps] * QUANTUM_BYTES


def interface_bytes(rate_gbps: int) -> int:
    """Bytes that a port's own interface delays, out and in; KeyError for an unknown rate."""
    return INTERFACE_QUANTA[rate_gbps] * QUANTUM_BYTES


def headroom_of_terms(port_mtu: int, lossless_mtu: int, delayed: Fraction) -> int:
    """Buffer that one lossless queue of a port needs beyond xoff, bytes, rounded up.

    delayed: bytes that arrive in the delays of cable, peer and own interface. The other terms are a
    frame of any class that has just begun here, the PFC frame, a lossless frame that has just begun
    at the peer, and the lossless frame that crosses xoff: a switch counts it when it is complete,
    and then sends the PFC frame. The last one is stored without preamble and gap.
    """
    frames = (port_mtu + GAP_BYTES) + PFC_FRAME_BYTES + (lossless_mtu + GAP_BYTES) + lossless_mtu
    return ceil(frames + delayed)


@cache
def headroom_bytes(port_mtu: int, lossless_mtu: int, rate_gbps: int, cable_m: float) -> int:
    """Buffer that one lossless queue of a port needs beyond xoff, bytes, rounded up.

    MTUs are in bytes. Source: the terms of IEEE 802.1Qbb annex O, and the frame that crosses xoff;
    without the ASIC's own pipeline. KeyError for an unknown rate.
    """
    delayed = cable_bytes(rate_gbps, cable_m)
    delayed += response_bytes(rate_gbps) + interface_bytes(rate_gbps)
    return headroom_of_terms(port_mtu, lossless_mtu, delayed)


@dataclass(frozen=True, slots=True)
class CellBuffer:
    """Additional headroom terms of a switch whose buffer consists of cells. Sizes in bytes.

    small_percent: share of the smallest packets, which waste the most of a cell. The defaults are
    SONiC's for Spectrum (cfgmgr/buffer_headroom_mellanox.lua and its documented values).
    """

    cell: int
    small_percent: int = 100
    pipeline: int = 19 * KIB
    mac_phy: Fraction = Fraction(8, 10) * KIB
    peer: Fraction = Fraction(38, 10) * KIB
    gearbox: int = 0
    lanes: int = 4

    @property
    def occupancy(self) -> Fraction:
        """Bytes of buffer that each arriving byte uses."""
        worst = Fraction(2 * self.cell, 1 + self.cell)
        if self.cell > 128:  # 64-byte packets, one a cell
            worst = Fraction(self.cell, 64)
        return (100 - self.small_percent + self.small_percent * worst) / 100


@dataclass(frozen=True, slots=True)
class CellHeadroom:
    """Lossless buffer by SONiC's formula, bytes; size: xon, xoff and the port's own addition."""

    xon: int
    xoff: int
    size: int


def cell_headroom(
    buffer: CellBuffer, rate_gbps: int, cable_m: float, *, port_mtu: int, lossless_mtu: int
) -> CellHeadroom:
    """Lossless buffer of one queue of one port on a switch with a cell buffer.

    Source: SONiC, "Dynamically Headroom Calculation" and buffer_headroom_mellanox.lua, with bytes
    on the cable in decimal and light at 1.98e8 m/s in it. The formula gives all 51 defaults that
    sonic-utilities ships for Spectrum 1 to 3. MTUs in bytes.
    """
    cable = Fraction(str(cable_m)) * Fraction(2 * rate_gbps * 10**9, 198_000_000 * 8)
    arriving = port_mtu + cable + 2 * buffer.gearbox + buffer.mac_phy + buffer.peer
    xoff = _whole_kib(lossless_mtu + arriving * buffer.occupancy)
    if buffer.lanes == 8:  # two pipelines, minus the KiB that they share, plus one frame
        xon = 2 * _whole_kib(Fraction(buffer.pipeline)) - KIB
        return CellHeadroom(xon, xoff, xon + xoff + port_mtu)
    xon = _whole_kib(Fraction(buffer.pipeline))
    return CellHeadroom(xon, xoff, xon + xoff)


def _whole_kib(size: Fraction) -> int:
    return ceil(size / KIB) * KIB


class PortDemand(NamedTuple):
    """Buffer demand of one lossless port, in kbytes of 1024 bytes. None: not known."""

    port: Port
    xoff_kbytes: int | None
    headroom_kbytes: int | None  # set, or the family's default where it sets headroom by queue
    needed_kbytes: int | None  # headroom by formula

    @property
    def kept_kbytes(self) -> int | None:
        """Headroom that counts against the buffer: the port's own, else the calculated one."""
        return self.needed_kbytes if self.headroom_kbytes is None else self.headroom_kbytes

    @property
    def promised_kbytes(self) -> int | None:
        """Sum of static xoff and headroom."""
        if self.xoff_kbytes is None or self.kept_kbytes is None:
            return None
        return self.xoff_kbytes + self.kept_kbytes


def port_demands(network: Network) -> dict[str, tuple[PortDemand, ...]]:
    """Demands of all lossless ports by device; empty where the intent is not known."""
    return {
        device: tuple(port_demand(intent, port) for port in ports)
        for device, ports in ports_by_device(network).items()
        if (intent := network.lossless_of(device)) is not None
    }


def port_demand(intent: LosslessIntent, port: Port) -> PortDemand:
    """Demand of one port for the intent's lossless queue."""
    family, mtu = port.node.family, intent.headroom_mtu
    row = None
    for threshold in port.interface.thresholds:
        if threshold.queue == intent.queue:
            row = threshold
    needed = None
    if port.cable_m is not None and port.speed_gbps in RESPONSE_QUANTA:
        needed = kbytes(headroom_bytes(mtu, mtu, port.speed_gbps, port.cable_m))
    own = row.headroom_kbytes if row else None
    return PortDemand(
        port=port,
        xoff_kbytes=row.xoff_kbytes if row else None,
        headroom_kbytes=own if own is not None else _default(family),
        needed_kbytes=needed,
    )


def _default(family: Family | None) -> int | None:
    fact = family.headroom_default_kbytes if family else None
    return fact.value if fact else None
