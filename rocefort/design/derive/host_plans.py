"""Derive the intended settings of each server, so that they match its leaf port."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.load.profiles import LosslessUse
from rocefort.models.device.interface import MANUAL, Bond
from rocefort.models.fabric.hosts import Adapter, HostProfile, Hosts, NicProfile, ServerHost
from rocefort.models.fabric.topology import ServerIntent
from rocefort.models.network.network import LosslessIntent, Network, Server
from rocefort.models.network.servers import PRIORITIES, HostBond, HostPlan, NicFile, NicSettings
from rocefort.models.wording import listing

# Names of settings in mlx5's driver and tools; an adapter with other names is left unchanged.
MLX5 = {
    "trust": "mlnx_qos/trust",
    "dscp2prio": "mlnx_qos/dscp2prio",
    "paused_priorities": "mlnx_qos/pfc",
    "roce_dscp": "cma_roce_tos",
    "controlled_priorities": "roce_rp/enable",
}
NIC_FILE = re.compile(r"roce_(np|rp)/[a-z0-9_]{1,63}", re.ASCII)
GENERIC = "RoCE v2 as default and its traffic class are set"


def host_plans(derived: DerivedNetwork) -> dict[str, HostPlan]:
    """Return the intended settings of each server, by name.

    Queue, DSCP, MTU and bond are those of the fabric, not of a NIC profile. If the two differ,
    HST001 to HST006 report it. Raises BadInput if RoCE's queue and DSCP are unknown.
    """
    network = derived.network
    if network.lossless is None or network.hosts is None:
        raise BadInput("RoCE settings are unknown", where=network.name, how="name a fabric file")
    intents = {server.name: server for server in derived.fabric.servers}
    plans = {}
    for server in network.servers or ():
        leaf = server.port.device
        lossless = network.lossless_of(leaf) or network.lossless
        guessed = _guessed(derived.lossless_of(leaf))
        planner = _Planner(network, network.hosts, lossless, server, intents, guessed)
        plans[server.name] = planner.plan()
    return plans


def _guessed(use: LosslessUse) -> tuple[str, ...]:
    """Return a sentence on unconfirmed values of a leaf's lossless profile."""
    keys = [k for k in ("roce_dscp", "cnp_dscp") if not use.profile.is_confirmed(k)]
    return (f"{listing(keys)} of lossless profile {use.name}",) if keys else ()


@dataclass(frozen=True)
class _Planner:
    """Server with all inputs of its plan."""

    network: Network
    hosts: Hosts
    lossless: LosslessIntent  # of its leaf
    server: Server
    intents: Mapping[str, ServerIntent]
    guessed: tuple[str, ...]  # of the lossless profile

    @property
    def host(self) -> ServerHost:
        return self.intents[self.server.name].host or ServerHost()

    def plan(self) -> HostPlan:
        server, tuning = self.server, self.hosts.tuning or HostProfile()
        rings = {"rx": tuning.ring_rx, "tx": tuning.ring_tx}
        nic, left_out, unconfirmed = self._nic()
        return HostPlan(
            server=server.name,
            leaf=server.port.device,
            carrier=server.port.interface,
            ports=self.intents[server.name].ports,
            gateway=server.port.interface if (vlan := self._vlan()) is None else f"Vlanif{vlan}",
            queue=self.lossless.queue if server.roce else None,
            address=server.address,
            mtu=server.mtu,
            port_gbps=server.flow_gbps,
            interfaces=self.host.interfaces,
            bond=self._bond(),
            rdma_device=self.host.rdma_device,
            roce_dscp=self.lossless.roce_dscp if server.roce else None,
            cnp_dscp=self.lossless.cnp_dscp if server.roce else None,
            nic=nic,
            sysctl=tuning.sysctl,
            rings={name: size for name, size in rings.items() if size is not None},
            governor=tuning.governor,
            interrupts=tuning.interrupts == "numa",
            qdisc=tuning.qdisc,
            left_out=(*self._not_tuned(), *self._recorded(), *self._no_bond(), *left_out),
            unconfirmed=(
                *(self.guessed if server.roce else ()),
                *unconfirmed,
                *self._guessed_tuning(),
            ),
        )

    def _vlan(self) -> int | None:
        mine = (self.server.port.device, self.server.segment)
        return next((s.vlan for s in self.network.segments or () if (s.leaf, s.name) == mine), None)

    def _bond(self) -> HostBond | None:
        trunk = self.network.interface(self.server.port) if self.server.members else None
        if trunk is None:
            return None
        bond: Bond = trunk.bond
        lacp = bond.mode != MANUAL
        return HostBond(
            name=self.host.bond,
            mode="802.3ad" if lacp else "balance-xor",
            lacp_rate=bond.lacp_timeout if lacp else None,
            minimum_links=bond.minimum_links,
        )

    def _no_bond(self) -> Iterator[str]:
        if self.server.members and not self.host.interfaces:
            yield (
                "its bond is not made, only its options are set: its interfaces are not named "
                "(servers.host.interfaces)"
            )

    def _not_tuned(self) -> Iterator[str]:
        if self.hosts.tuning is None:
            yield (
                "kernel parameters, rings, interrupts and CPU governor are left as they are: the "
                "fabric names no host profile (host)"
            )

    def _recorded(self) -> Iterator[str]:
        for name, text in (self.hosts.tuning or HostProfile()).recorded.items():
            yield f"{name} is recorded in host profile {self.hosts.tuning_name}, not set: {text}"

    def _guessed_tuning(self) -> Iterator[str]:
        tuning = self.hosts.tuning
        if tuning is None:
            return
        given = ("sysctl", "ring_rx", "ring_tx", "governor", "interrupts", "qdisc")
        keys = [k for k in given if getattr(tuning, k) and not tuning.is_confirmed(k)]
        if keys:
            yield f"{listing(keys)} of host profile {self.hosts.tuning_name}"

    def _nic(self) -> tuple[NicSettings | None, list[str], list[str]]:
        """Return settings of the NIC, sentences on left out ones, and on unconfirmed ones."""
        if not self.server.roce:
            return None, ["its port is not lossless: nothing of RoCE is set (servers.roce)"], []
        profile = self.hosts.nics.get(self.server.nic or "")
        adapter = self.hosts.adapters.get(profile.adapter or "") if profile else None
        if profile is None or adapter is None:
            key = "servers.nic" if profile is None else f"profiles.nic.{self.server.nic}.adapter"
            why = (
                f"trust, dscp2prio, PFC and DCQCN are left as they are: the make of its NIC is not "
                f"known ({key}); {GENERIC}"
            )
            return None, [why], []
        foreign = [key for key, name in MLX5.items() if _name(adapter, key) != name]
        if foreign:
            why = (
                f"trust, dscp2prio, PFC and DCQCN are left as they are: how {profile.adapter} sets "
                f"{listing(foreign)} is not known here; {GENERIC}"
            )
            return None, [why], []
        return self._mlx5(profile, adapter)

    def _mlx5(
        self, profile: NicProfile, adapter: Adapter
    ) -> tuple[NicSettings, list[str], list[str]]:
        lossless, left_out = self.lossless, list[str]()
        priorities = {lossless.roce_dscp: lossless.queue, lossless.cnp_dscp: lossless.cnp_queue}
        switches = [*self._switches(profile), *self._cnp(profile, adapter, left_out)]
        parameters = list(self._parameters(adapter, profile.adapter or "", left_out))
        reaction = self.hosts.congestion
        guessed = [f.key for f in parameters if reaction and not reaction.is_confirmed(f.key)]
        unconfirmed = [f"{listing(guessed)} of {self.hosts.congestion_name}"] if guessed else []
        if reaction is None:
            left_out.append(
                "DCQCN is left as the NIC has it: the fabric names no congestion control "
                "(congestion_control)"
            )
        settings = NicSettings(
            priorities={**profile.dscp2prio, **priorities},
            paused=self._paused(),
            switches=tuple(switches),
            parameters=tuple(parameters),
        )
        return settings, left_out, unconfirmed

    def _paused(self) -> tuple[int, ...]:
        """Priorities that the leaf's port pauses."""
        node = self.network.by_name.get(self.server.port.device)
        port = self.network.interface(self.server.ports[0])
        pfc = node.device.profile_of(port) if node and port else None
        return tuple(sorted(pfc.queues)) if pfc else (self.lossless.queue,)

    def _switches(self, profile: NicProfile) -> Iterator[NicFile]:
        """Yield files that enable DCQCN by priority: reaction (rp) and notification (np)."""
        reaction = self.hosts.congestion
        if reaction is None:
            return
        on: set[int] = set()
        if reaction.kind == "dcqcn":
            on = {*(profile.controlled_priorities or ()), self.lossless.queue}
        for side in ("np", "rp"):
            for priority in PRIORITIES:
                path = f"roce_{side}/enable/{priority}"
                yield NicFile(path=path, value=int(priority in on), key="controlled_priorities")

    def _cnp(self, profile: NicProfile, adapter: Adapter, left_out: list[str]) -> Iterator[NicFile]:
        values = {"cnp_dscp": self.lossless.cnp_dscp, "cnp_priority": self.lossless.cnp_queue}
        for key, value in values.items():
            if path := _path(adapter, profile.adapter or "", key, value, left_out):
                yield NicFile(path=path, value=value, key=key)

    def _parameters(self, adapter: Adapter, name: str, left_out: list[str]) -> Iterator[NicFile]:
        reaction = self.hosts.congestion
        for key, value in reaction.parameters().items() if reaction else ():
            if path := _path(adapter, name, key, value, left_out):
                yield NicFile(path=path, value=value * adapter.parameters[key].factor, key=key)


def _name(adapter: Adapter, key: str) -> str | None:
    parameter = adapter.parameters.get(key)
    return parameter.name if parameter else None


def _path(adapter: Adapter, name: str, key: str, value: int, left_out: list[str]) -> str | None:
    """Return the file that sets a key; None, with a sentence in left_out, if there is none."""
    parameter = adapter.parameters.get(key)
    if parameter is None:
        left_out.append(f"{key} is left as it is: what {name} calls it is not known")
    elif not NIC_FILE.fullmatch(parameter.name):
        left_out.append(f"{key} is left as it is: {parameter.name} is no file of mlx5's driver")
    elif not parameter.takes(value):
        left_out.append(
            f"{key} is left as it is: it is {value}, and {parameter.name} takes {parameter.span}"
        )
    else:
        return parameter.name
    return None
