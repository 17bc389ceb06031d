"""Interface: one port or logical interface of a switch, with the settings of an Eth-Trunk."""

from __future__ import annotations

import re
from functools import cache
from ipaddress import IPv4Interface
from typing import Annotated, Literal

from pydantic import model_validator

from rocefort.models.base import Frozen, Keyed
from rocefort.models.device.lossless_queue import QueueMarking
from rocefort.models.effect import (
    BOND,
    KEY,
    PORT,
    QUEUES,
    SAME,
    STATED,
    UNREAD,
    EditCondition,
    KeyedRow,
    LosslessTopic,
)
from rocefort.models.hardware.media import Fec

# V300R023C00 command reference, `mode (Eth-Trunk interface view)`.
BondMode = Literal["manual load-balance", "lacp-static", "lacp-dynamic"]
LacpTimeout = Literal["slow", "fast"]
MANUAL: BondMode = "manual load-balance"
HIGHEST_ID = 511  # the ids that every CloudEngine release takes begin at 0 and end at least here
MOST_LINKS = 256  # V300R023C00, `least active-linknumber`


class Bond(Frozen):
    """Settings of an Eth-Trunk; the defaults have no line.

    lacp_timeout: time after which a silent member is removed, slow 90 s or fast 3 s.
    minimum_links: with fewer active members the whole Eth-Trunk goes down.
    """

    # V300R023C00 command reference, `mode`, `lacp timeout` and `least active-linknumber`.

    mode: Annotated[
        BondMode,
        BOND.affecting(
            "{} bundles its members in another way: it is down until its server does so, too",
            down=EditCondition.ALWAYS,
            stated=True,
        ),
    ] = MANUAL
    lacp_timeout: Annotated[LacpTimeout, BOND.but(down=EditCondition.ALWAYS, stated=True)] = "slow"
    minimum_links: Annotated[
        int,
        BOND.affecting(
            "{} goes down with another number of members", down=EditCondition.ALWAYS, stated=True
        ),
    ] = 1


NO_BOND = Bond()  # of every other interface, and of an Eth-Trunk by default


def trunk_name(number: int) -> str:
    """Return the interface of an Eth-Trunk: 10 -> Eth-Trunk10."""
    return f"Eth-Trunk{number}"


@cache
def trunk_number(name: str) -> int | None:
    """Return the id of an Eth-Trunk by its interface; None for any other interface."""
    match = re.fullmatch(r"Eth-Trunk(\d+)", name, re.ASCII)
    return int(match[1]) if match else None


DEFAULT_VLAN = 1  # exists without a line on every switched port, and cannot be deleted
ETHERNET_MTU = 1500  # default of a routed port, V300R023C00 `mtu`
JUMBO_FRAME_BYTES = 9216  # default of a switched port, V300R023C00 `jumboframe enable`
FRAME_OVERHEAD_BYTES = 22  # Ethernet header 14, 802.1Q tag 4, FCS 4
LOGICAL = ("Vlanif", "LoopBack", "MEth")  # layer 3 without `undo portswitch`
DEFAULT_DOMAIN = "default"  # diffserv domain of a port without a line for one
NO_DOMAIN = "none"  # `trust upstream none`: the port maps no priority at all
OTHER_KIND = PORT.affecting(
    "{} changes between switched and routed, or access and trunk",
    down=EditCondition.ALWAYS,
    carries=True,
)
OTHER_LINK = PORT.affecting(  # V300R023C00, `negotiation disable` and `fec mode`
    "{} goes down and comes up once its other end has the same FEC and autonegotiation",
    down=EditCondition.ALWAYS,
)
OTHER_MAP = QUEUES.affecting(
    "{} classifies traffic differently: RoCE may enter another queue",
    topic=LosslessTopic.PRIORITY_MAP,
)
OTHER_FILTER = PORT.affecting("{} filters by another traffic policy: other traffic passes, or none")
OTHER_THRESHOLDS = QUEUES.affecting(
    "PFC thresholds of {} change under traffic; the port may refuse them while congested",
    topic=LosslessTopic.PORT_PFC,
)


class DrrQueue(KeyedRow):
    """Queue that a port serves by weight; a queue without a row has strict priority, the default.

    Weight 1 to 100, 1 by default.
    """

    # V300R023C00, `qos queue drr`

    queue: Annotated[int, KEY]
    weight: Annotated[int, STATED] = 1


def xon_at_most_xoff(xon: int, xoff: int) -> bool:
    """Whether xon is at most xoff, so that a pause can end; one unit."""
    return xon <= xoff


class PfcThreshold(KeyedRow):
    """Static ingress thresholds of one queue of a port, in kbytes."""

    queue: Annotated[int, KEY]
    xoff_kbytes: Annotated[int, SAME.but(topic=LosslessTopic.THRESHOLDS)]
    xon_kbytes: Annotated[int, SAME.but(topic=LosslessTopic.THRESHOLDS)]
    headroom_kbytes: Annotated[int | None, SAME.but(topic=LosslessTopic.THRESHOLDS)] = (
        None  # G2 only
    )


class OtherThreshold(KeyedRow):
    """Ingress thresholds of one queue of a port in another unit: buffer cells, or a share.

    A share is an alpha of the free buffer (`dynamic`). A queue has one row here or one of
    `PfcThreshold`.
    """

    queue: Annotated[int, KEY]
    unit: Annotated[Literal["cells", "alpha"], SAME]
    xoff: Annotated[int, SAME]
    xon: Annotated[int | None, SAME] = None  # G1, alpha
    offset_kbytes: Annotated[int | None, SAME] = None  # V200, G2: distance of xon below xoff


class InterfacePfc(Frozen):
    """PFC of a port: the profile of its queues, and whether it is manual or negotiated."""

    profile: Annotated[str, STATED] = "default"
    mode: Annotated[Literal["manual", "auto"], STATED] = "manual"  # omitted = manual, V300R023C00


Kind = Literal["ethernet", "eth-trunk", "vlanif", "loopback", "management", "other"]
KINDS: dict[str, Kind] = {
    "Vlanif": "vlanif",
    "LoopBack": "loopback",
    "MEth": "management",
    "Eth-Trunk": "eth-trunk",
}
SWITCHING = ("ethernet", "eth-trunk")  # layer 2 until `undo portswitch`


@cache  # rules read each interface many times, and names repeat from switch to switch
def kind_of(name: str) -> Kind:
    """Return the kind of an interface by its name."""
    kinds = (kind for prefix, kind in KINDS.items() if name.startswith(prefix))
    return next(kinds, "ethernet" if re.match(r"\d*GE\d", name) else "other")


@cache
def gateway_vlan(name: str) -> int | None:
    """Return the VLAN of a Vlanif by its name; None for any other interface."""
    match = re.fullmatch(r"Vlanif(\d+)", name, re.ASCII)
    return int(match[1]) if match else None


class Interface(KeyedRow):
    """Physical or logical interface; the first word of its name is its kind."""

    name: Annotated[str, KEY]
    description: Annotated[str | None, UNREAD] = None
    enabled: Annotated[
        bool,
        PORT.affecting("{} is shut down or brought up", down=EditCondition.ALWAYS, stated=True),
    ] = True
    # `undo portswitch`; always true for logical layer-3 interfaces.
    routed: Annotated[bool, OTHER_KIND] = False
    # `ip binding vpn-instance`: the table of its addresses.
    vrf: Annotated[
        str | None,
        PORT.affecting(
            "{} moves to another routing table: sessions over it break", down=EditCondition.ALWAYS
        ),
    ] = None
    # Primary first.
    addresses: Annotated[
        tuple[IPv4Interface, ...],
        PORT.affecting(
            "an address of {} goes: its neighbours lose it",
            EditCondition.GONE,
            down=EditCondition.GONE,
            order="the primary address of {} changes: what uses it is interrupted",
        ),
    ] = ()
    mtu: Annotated[
        int | None, PORT.affecting("the MTU of {} changes: larger frames are dropped")
    ] = None
    # `negotiation disable`: false; optics have none either way.
    autonegotiation: Annotated[bool, OTHER_LINK] = True
    # `fec mode`; None: the switch's default for the transceiver or cable.
    fec: Annotated[Fec | None, OTHER_LINK] = None
    # The default, which a switch does not save.
    link_type: Annotated[Literal["access", "trunk"], OTHER_KIND] = "access"
    access_vlan: Annotated[
        int | None,
        PORT.affecting("{} moves to another VLAN", down=EditCondition.ALWAYS, carries=True),
    ] = None
    trunk_vlans: Annotated[
        Keyed[int],
        PORT.affecting("{} stops carrying a VLAN", EditCondition.GONE, down=EditCondition.GONE),
    ] = ()
    edge: Annotated[bool, PORT] = False  # `stp edged-port enable`
    # 802.3x: must be off where PFC is; off is the default.
    flow_control: Annotated[
        bool, QUEUES.affecting("{} begins or ceases to answer pauses of the whole link (802.3x)")
    ] = False
    trust_dscp: Annotated[bool, OTHER_MAP] = False
    domain: Annotated[str | None, OTHER_MAP] = None  # `trust upstream`
    # `traffic-policy .. inbound`: for packets from the network.
    filter_in: Annotated[str | None, OTHER_FILTER] = None
    filter_out: Annotated[str | None, OTHER_FILTER] = None
    # The Eth-Trunk that a physical port is a member of.
    eth_trunk: Annotated[
        int | None,
        BOND.affecting(
            "{} joins or leaves an Eth-Trunk: flows move to other members, some packets are lost",
            down=EditCondition.ALWAYS,
            carries=True,
        ),
    ] = None
    bond: Annotated[Bond, BOND] = NO_BOND  # of an Eth-Trunk
    drr: Annotated[
        Keyed[DrrQueue],
        QUEUES.affecting(
            "{} shares its bandwidth among the queues in another way", topic=LosslessTopic.WEIGHTS
        ),
    ] = ()
    markings: Annotated[
        Keyed[QueueMarking],
        QUEUES.affecting(
            "{} marks or drops the packets of a queue at other depths",
            topic=LosslessTopic.QUEUE_ECN,
        ),
    ] = ()
    pfc: Annotated[
        InterfacePfc | None,
        QUEUES.affecting("PFC on {} changes under traffic", topic=LosslessTopic.PORT_PFC),
    ] = None
    thresholds: Annotated[Keyed[PfcThreshold], OTHER_THRESHOLDS] = ()
    other_thresholds: Annotated[Keyed[OtherThreshold], OTHER_THRESHOLDS] = ()

    @model_validator(mode="before")
    @classmethod
    def _logical_is_routed(cls, data: object) -> object:
        """Set `routed` of logical layer-3 interfaces, which have no line for it."""
        if isinstance(data, dict) and str(data.get("name", "")).startswith(LOGICAL):
            return {**data, "routed": True}
        return data

    @property
    def logical(self) -> bool:
        """Whether the interface is layer 3 by its kind, without a line for it."""
        return self.name.startswith(LOGICAL)

    @property
    def kind(self) -> Kind:
        """Kind of the interface by its name."""
        return kind_of(self.name)

    @property
    def layer3(self) -> bool:
        """Whether the interface can carry an address."""
        return self.routed or self.kind in ("vlanif", "loopback", "management")

    def carries(self, vlan: int) -> bool:
        """Whether the interface carries frames of a VLAN; it carries VLAN 1 by default."""
        if self.layer3 or self.kind not in SWITCHING or self.eth_trunk is not None:
            return False  # the Eth-Trunk carries the frames of its members
        if self.link_type == "trunk":
            return vlan in self.trunk_vlans or vlan == 1
        return (self.access_vlan or 1) == vlan
