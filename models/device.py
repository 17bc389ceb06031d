"""Device: what one switch's configuration text says, vendor-neutral, and nothing more.

Collections are kept sorted by key, so two Devices are equal exactly when they mean the same.
What text cannot say (cable lengths, roles, servers) lives in Network.
"""

from __future__ import annotations

from functools import cached_property
from ipaddress import IPv4Address

from rocefort.models.access import LocalUser, Ssh, Vty
from rocefort.models.base import Frozen
from rocefort.models.bgp import Bgp, PrefixList, RoutePolicy
from rocefort.models.interface import Interface
from rocefort.models.keyed import Keyed
from rocefort.models.lossless import AiEcn, DiffservDomain, Pfc, PfcProfile
from rocefort.models.management import Acl, Netconf, Snmp, Syslog


class Device(Frozen):
    """What one switch's text says."""

    name: str  # sysname
    vlans: Keyed[int] = ()
    lldp: bool = False
    bfd: bool = False
    domains: Keyed[DiffservDomain] = ()
    pfc: Pfc = Pfc()
    ai_ecn: AiEcn = AiEcn()
    interfaces: Keyed[Interface] = ()
    bgp: Bgp | None = None
    prefix_lists: Keyed[PrefixList] = ()
    route_policies: Keyed[RoutePolicy] = ()
    ntp_servers: Keyed[IPv4Address] = ()
    users: Keyed[LocalUser] = ()
    ssh: Ssh = Ssh()
    netconf: Netconf = Netconf()
    acls: Keyed[Acl] = ()
    vty: Keyed[Vty] = ()
    syslog: Syslog = Syslog()
    snmp: Snmp = Snmp()

    @cached_property
    def by_interface(self) -> dict[str, Interface]:
        """Interfaces by name."""
        return {interface.name: interface for interface in self.interfaces}

    def profile_of(self, interface: Interface) -> PfcProfile | None:
        """PFC profile that a port applies; the built-in one exists without a line."""
        if interface.pfc is None:
            return None
        known = {profile.name: profile for profile in self.pfc.profiles}
        return known.get(interface.pfc.profile) or (
            PfcProfile() if interface.pfc.profile == "default" else None
        )
