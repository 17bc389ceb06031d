"""Buffer demand of a switch's lossless ports: static xoff and headroom, for rules and reports."""

from __future__ import annotations

from typing import NamedTuple

from rocefort.models.hardware.hardware import Family
from rocefort.models.network.network import LosslessIntent, Network, Port
from rocefort.models.units import kbytes
from rocefort.validators.facts.headroom import RESPONSE_QUANTA, headroom_bytes
from rocefort.validators.facts.roce_ports import ports_by_device


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
    intent = network.lossless
    if intent is None:
        return {}
    return {
        device: tuple(port_demand(intent, port) for port in ports)
        for device, ports in ports_by_device(network).items()
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
