"""Interface: one port or logical interface of a switch, as its text says it."""

from __future__ import annotations

import re
from functools import cache
from ipaddress import IPv4Interface
from typing import Literal

from pydantic import model_validator

from rocefort.models.base import Frozen
from rocefort.models.bond import NO_BOND, Bond
from rocefort.models.drop_profile import QueueMarking
from rocefort.models.keyed import Keyed
from rocefort.models.optics import Fec

ETHERNET_MTU = 1500  # default of a routed port, V300R023C00 `mtu`
JUMBO_FRAME_BYTES = 9216  # default of a switched port, V300R023C00 `jumboframe enable`
FRAME_OVERHEAD_BYTES = 22  # Ethernet header 14, 802.1Q tag 4, FCS 4
LOGICAL = ("Vlanif", "LoopBack", "MEth")  # layer 3 without `undo portswitch`
DEFAULT_DOMAIN = "default"  # diffserv domain of a port that names none
NO_DOMAIN = "none"  # `trust upstream none`: the port maps no priority at all


class DrrQueue(Frozen):
    """A queue that a port serves by weight; one without a row has strict priority, the default.

    Weight 1 to 100, 1 by default (V300R023C00, `qos queue drr`).
    """

    queue: int
    weight: int = 1

    @property
    def key(self) -> int:
        """One row a queue."""
        return self.queue


class PfcThreshold(Frozen):
    """Static ingress thresholds of one queue of a port, in kbytes."""

    queue: int
    xoff_kbytes: int
    xon_kbytes: int
    headroom_kbytes: int | None = None  # G2 only

    @property
    def key(self) -> int:
        """One row a queue."""
        return self.queue


class OtherThreshold(Frozen):
    """Ingress thresholds of one queue of a port that are no kbytes: buffer cells, or a share.

    A share is an alpha of what is free in the buffer (`dynamic`). A queue has one row here or one
    of `PfcThreshold`.
    """

    queue: int
    unit: Literal["cells", "alpha"]
    xoff: int
    xon: int | None = None  # G1, alpha
    offset_kbytes: int | None = None  # V200, G2: xon lies so far below xoff

    @property
    def key(self) -> int:
        """One row a queue."""
        return self.queue


class InterfacePfc(Frozen):
    """`dcb pfc enable [profile] [mode ..]` on a port."""

    profile: str = "default"
    mode: Literal["manual", "auto"] = "manual"  # omitted = manual, V300R023C00


Kind = Literal["ethernet", "eth-trunk", "vlanif", "loopback", "management", "other"]
KINDS: dict[str, Kind] = {
    "Vlanif": "vlanif",
    "LoopBack": "loopback",
    "MEth": "management",
    "Eth-Trunk": "eth-trunk",
}
SWITCHING = ("ethernet", "eth-trunk")  # layer 2 until `undo portswitch`


@cache  # the rules ask for each interface again and again, and names repeat from switch to switch
def kind_of(name: str) -> Kind:
    """What the name of an interface says that it is."""
    named = (kind for prefix, kind in KINDS.items() if name.startswith(prefix))
    return next(named, "ethernet" if re.match(r"\d+GE\d", name) else "other")


class Interface(Frozen):
    """One interface, physical or logical; its kind is its name's first word."""

    name: str
    description: str | None = None
    enabled: bool = True
    routed: bool = False  # `undo portswitch`; always true for logical layer-3 interfaces
    vrf: str | None = None  # `ip binding vpn-instance`: the table of its addresses
    addresses: tuple[IPv4Interface, ...] = ()  # primary first
    mtu: int | None = None
    autonegotiation: bool = True  # `negotiation disable`: false; optics have none either way
    fec: Fec | None = None  # `fec mode`; None: the switch's default for what is plugged in
    link_type: Literal["access", "trunk"] = "access"  # the default, which a switch does not save
    access_vlan: int | None = None
    trunk_vlans: Keyed[int] = ()
    edge: bool = False  # `stp edged-port enable`
    flow_control: bool = False  # 802.3x: must be off where PFC is; off is the default
    trust_dscp: bool = False
    domain: str | None = None  # `trust upstream`
    filter_in: str | None = None  # `traffic-policy .. inbound`: what comes from the network there
    filter_out: str | None = None
    eth_trunk: int | None = None  # the Eth-Trunk that a physical port is a member of
    bond: Bond = NO_BOND  # of an Eth-Trunk
    drr: Keyed[DrrQueue] = ()
    markings: Keyed[QueueMarking] = ()
    pfc: InterfacePfc | None = None
    thresholds: Keyed[PfcThreshold] = ()
    other_thresholds: Keyed[OtherThreshold] = ()

    @model_validator(mode="before")
    @classmethod
    def _logical_is_routed(cls, data: object) -> object:
        """Give logical layer-3 interfaces their one value of `routed`: no line says it."""
        if isinstance(data, dict) and str(data.get("name", "")).startswith(LOGICAL):
            return {**data, "routed": True}
        return data

    @property
    def key(self) -> str:
        """Interfaces are told apart by name."""
        return self.name

    @property
    def logical(self) -> bool:
        """Whether the interface is layer 3 by its kind, without `undo portswitch`."""
        return self.name.startswith(LOGICAL)

    @property
    def kind(self) -> Kind:
        """What the name says the interface is."""
        return kind_of(self.name)

    @property
    def layer3(self) -> bool:
        """Whether the interface can carry an address."""
        return self.routed or self.kind in ("vlanif", "loopback", "management")

    def carries(self, vlan: int) -> bool:
        """Whether frames of the VLAN enter and leave here; VLAN 1 is there by default."""
        if self.layer3 or self.kind not in SWITCHING or self.eth_trunk is not None:
            return False  # a member's frames are its Eth-Trunk's
        if self.link_type == "trunk":
            return vlan in self.trunk_vlans or vlan == 1
        return (self.access_vlan or 1) == vlan
