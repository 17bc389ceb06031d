"""Plan of one switch of the twin: kernel and FRR state as plain data."""

from __future__ import annotations

from typing import Literal

from rocefort.models.base import Frozen

DAEMONS = ("zebra", "staticd", "bfdd", "bgpd")  # in the order in which they are started

LinkKind = Literal["port", "bridge", "bond", "vlan", "vrf", "loopback"]


class Features(Frozen):
    """Kernel features that a plan can use; the defaults are of a kernel that has all."""

    vrf: bool = True
    vlan: bool = True  # 802.1Q
    bonding: bool = True
    hash_seed: bool = True  # net.ipv4.fib_multipath_hash_seed: Linux 6.11


class LinkState(Frozen):
    """One link of a namespace; `port` is an end of a cable and created with it.

    interface: the switch's own name for it, empty where it has none. settings: arguments after
    `type KIND` at creation. parent: of a VLAN's subinterface.
    """

    name: str
    kind: LinkKind
    interface: str = ""
    up: bool = True
    mtu: int | None = None  # None: the kernel's default
    master: str | None = None
    parent: str | None = None
    settings: str = ""
    addresses: tuple[str, ...] = ()


class SwitchPlan(Frozen):
    """Plan of one switch: links, sysctls, filter chains, and the text of each of its daemons.

    notes: sentences for the user on parts of the text that the twin does not implement.
    """

    name: str
    links: tuple[LinkState, ...] = ()
    sysctls: tuple[tuple[str, str], ...] = ()
    chains: tuple[tuple[str, tuple[str, ...]], ...] = ()  # of table `ip rocefort`
    daemons: tuple[tuple[str, str], ...] = ()
    peers: tuple[str, ...] = ()  # enabled ones, whose sessions can come up
    notes: tuple[str, ...] = ()

    @property
    def by_link(self) -> dict[str, LinkState]:
        """Return links by their kernel name."""
        return {link.name: link for link in self.links}

    @property
    def ports(self) -> dict[str, str]:
        """Return kernel names of the ends of cables, by the switch's own names."""
        return {link.interface: link.name for link in self.links if link.kind == "port"}

    @property
    def texts(self) -> dict[str, str]:
        """Return the configuration by daemon."""
        return dict(self.daemons)
