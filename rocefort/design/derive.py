"""Fabric -> Network: one Device a switch, links, servers, and where every value came from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path

from rocefort.design import allocate
from rocefort.design.consistency import check_intent, switches
from rocefort.design.load import Catalogue, Loaded, load_catalogue, load_fabric
from rocefort.documents.read import Document, YamlPath
from rocefort.models.device import (
    AiEcn,
    AiEcnQueue,
    Bgp,
    BgpGroup,
    BgpPeer,
    Device,
    DiffservDomain,
    DscpMap,
    Interface,
    InterfacePfc,
    LocalUser,
    Pfc,
    PfcProfile,
    PfcThreshold,
    PfcTimer,
    PolicyNode,
    PrefixEntry,
    PrefixList,
    RoutePolicy,
    Ssh,
    SshUser,
    Vty,
)
from rocefort.models.fabric import DeadlockTimers, Fabric, Leaf, LinkPin, SegmentIntent, Switch
from rocefort.models.hardware import Family, Hardware, port_speed_gbps
from rocefort.models.network import (
    End,
    Link,
    LosslessIntent,
    Network,
    Node,
    Position,
    Role,
    Segment,
    Server,
    Sources,
)
from rocefort.models.qos import DSCPS, QUEUE_PHB, default_queue
from rocefort.models.saved_form import saved_form

MANAGEMENT = "MEth0/0/0"
LOOPBACK = "LoopBack0"
LOCAL = "LOCAL"  # prefix list: what a leaf announces
FABRIC = "FABRIC"  # prefix list: what a spine announces, by pool so that it does not grow
EXPORT = "EXPORT"
JUMBO_FRAME = 9216  # what a port takes by default, V300R023C00 `jumboframe enable`
FRAME_OVERHEAD = 22  # Ethernet header, one 802.1Q tag, FCS
INTERVALS_MS = (10, 100, 500, 1000)  # V300 G2 `dcb pfc deadlock-detect interval`


@dataclass(frozen=True)
class Derived:
    """A Network and the side table of where its values came from."""

    network: Network
    sources: Sources
    fabric: Fabric
    document: Document


def derive(name: Path) -> Derived:
    """Read a fabric and derive its Network; raises BadInput stage by stage."""
    return derive_loaded(load_fabric(name), load_catalogue())


def derive_loaded(loaded: Loaded, catalogue: Catalogue) -> Derived:
    """Derive the Network of a loaded fabric; raises BadInput where it contradicts itself."""
    check_intent(loaded, catalogue)
    return _Derivation(loaded, catalogue).run()


@dataclass(frozen=True)
class _Joint:
    """One leaf-spine link with both its ends worked out."""

    spine: Switch
    leaf: Leaf
    spine_port: str
    leaf_port: str
    spine_address: IPv4Interface
    leaf_address: IPv4Interface
    cable_m: float
    path: YamlPath  # the pin, or the leaf


@dataclass
class _Derivation:
    loaded: Loaded
    catalogue: Catalogue
    table: dict[str, Position] = field(default_factory=dict)

    @property
    def fabric(self) -> Fabric:
        return self.loaded.fabric

    def run(self) -> Derived:
        joints = list(self._joints())
        of_switch: dict[str, list[_Joint]] = defaultdict(list)
        for joint in joints:
            of_switch[joint.spine.name].append(joint)
            of_switch[joint.leaf.name].append(joint)
        nodes = tuple(self._node(path, s, of_switch[s.name]) for path, s in switches(self.loaded))
        lossless = self.fabric.lossless
        for name in ("queue", "roce_dscp", "cnp_dscp"):
            self.note("", f"lossless.{name}", "lossless", name)
        for name in ("detect_ms", "recovery_ms"):
            self.note("", f"lossless.{name}", "lossless", "deadlock", name)
        network = Network(
            name=self.fabric.fabric,
            origin="fabric",
            nodes=nodes,
            links=tuple(
                Link(
                    a=End(device=j.spine.name, interface=j.spine_port),
                    b=End(device=j.leaf.name, interface=j.leaf_port),
                    cable_m=j.cable_m,
                )
                for j in joints
            ),
            servers=tuple(self._servers()),
            segments=tuple(
                Segment(name=s.name, leaf=leaf.name, vlan=s.vlan or 0, gateway=gateway)
                for leaf in self.fabric.leaves
                for s, gateway in self._gateways(leaf)
            ),
            lossless=LosslessIntent(
                queue=lossless.queue,
                roce_dscp=lossless.roce_dscp,
                cnp_dscp=lossless.cnp_dscp,
                detect_ms=lossless.deadlock.detect_ms,
                recovery_ms=lossless.deadlock.recovery_ms,
                headroom_mtu=max(JUMBO_FRAME, self.fabric.mtu + FRAME_OVERHEAD),
            ),
            spines=len(self.fabric.spines),
        )
        return Derived(network, Sources(self.table), self.fabric, self.loaded.document)

    def note(self, device: str, field_path: str, *path: str | int) -> None:
        """Remember that a field of a device came from a YAML path."""
        self.table[f"{device}/{field_path}"] = self.loaded.document.key_at(path)

    # -- links ---------------------------------------------------------------------------------

    def _joints(self) -> Iterator[_Joint]:
        pins = {(pin.spine, pin.leaf): (i, pin) for i, pin in enumerate(self.fabric.links)}
        places = {switch.name: path for path, switch in switches(self.loaded)}
        for leaf in self.fabric.leaves:
            for spine in self.fabric.spines:
                index, pin = pins.get((spine.name, leaf.name), (None, None))
                path = places[leaf.name] if index is None else ("links", index)
                yield self._joint(spine, leaf, pin, path)

    def _joint(self, spine: Switch, leaf: Leaf, pin: LinkPin | None, path: YamlPath) -> _Joint:
        pin = pin or LinkPin(spine=spine.name, leaf=leaf.name)
        subnet = pin.subnet or allocate.link_subnet(self.fabric, spine, leaf)
        spine_address, leaf_address = allocate.link_ends(subnet)
        return _Joint(
            spine=spine,
            leaf=leaf,
            spine_port=pin.spine_port or self._hardware(spine).fabric_port_names()[leaf.id - 1],
            leaf_port=pin.leaf_port or self._hardware(leaf).fabric_port_names()[spine.id - 1],
            spine_address=spine_address,
            leaf_address=leaf_address,
            cable_m=pin.cable_m or self.fabric.cables.fabric_m,
            path=path,
        )

    def _hardware(self, switch: Switch) -> Hardware:
        return self.catalogue.hardware[switch.hardware]

    def _family(self, switch: Switch) -> Family:
        family = self._hardware(switch).family_of(switch.software)
        if family is None:  # check_intent refuses it
            raise LookupError(switch.software)
        return self.catalogue.families[family]

    # -- switches ------------------------------------------------------------------------------

    def _node(self, path: YamlPath, switch: Switch, joints: list[_Joint]) -> Node:
        family = self._family(switch)
        return Node(
            device=saved_form(self._device(path, switch, joints), family),
            role=Role.LEAF if isinstance(switch, Leaf) else Role.SPINE,
            id=switch.id,
            hardware=self._hardware(switch),
            software=switch.software,
            family=family,
            rack=switch.rack,
            management=allocate.management(self.fabric, switch, self._out_of_band()),
        )

    def _out_of_band(self) -> SegmentIntent:
        return next(s for s in self.fabric.segments if s.vlan is None)

    def _gateways(self, leaf: Leaf) -> Iterator[tuple[SegmentIntent, IPv4Interface]]:
        for segment in self.fabric.segments:
            if segment.name in leaf.segments:
                yield segment, allocate.gateway(segment, leaf)

    def _device(self, path: YamlPath, switch: Switch, joints: list[_Joint]) -> Device:
        fabric, name = self.fabric, switch.name
        self.note(name, "", *path, "name")
        leaf = switch if isinstance(switch, Leaf) else None
        self.note(name, "ntp_servers", "services", "ntp")
        self.note(name, "users", "security", "users")
        self.note(name, "ssh", "security", "users")
        return Device(
            name=name,
            vlans=tuple(s.vlan for s, _ in self._gateways(leaf) if s.vlan) if leaf else (),
            lldp=True,
            bfd=fabric.routing.bfd is not None,
            domains=(self._domain(name),),
            pfc=self._pfc(switch),
            ai_ecn=self._ai_ecn(name),
            interfaces=tuple(self._interfaces(path, switch, joints)),
            bgp=self._bgp(path, switch, joints),
            prefix_lists=(self._announced(switch),),
            route_policies=(
                RoutePolicy(
                    name=EXPORT,
                    nodes=(PolicyNode(node=10, match_prefix_list=LOCAL if leaf else FABRIC),),
                ),
            ),
            ntp_servers=fabric.services.ntp,
            users=tuple(
                LocalUser(name=user.name, service_types=("ssh",), level=user.level)
                for user in fabric.security.users
            ),
            ssh=Ssh(
                stelnet=True,
                source_interface=MANAGEMENT,
                users=tuple(
                    SshUser(name=u.name, authentication="password", service_types=("stelnet",))
                    for u in fabric.security.users
                ),
            ),
            vty=(Vty(first=0, last=4, authentication="aaa", protocol="ssh"),),
        )

    # -- lossless ------------------------------------------------------------------------------

    def _domain(self, name: str) -> DiffservDomain:
        """Only what differs from the default map: a switch saves nothing else."""
        lossless = self.fabric.lossless
        wanted = dict.fromkeys((d for d in DSCPS if default_queue(d) == lossless.queue), 0)
        wanted[lossless.roce_dscp] = lossless.queue
        rows = [
            DscpMap(value=dscp, phb=QUEUE_PHB[queue])
            for dscp, queue in wanted.items()
            if queue != default_queue(dscp)
        ]
        self.note(name, f"domains[{lossless.domain}]", "lossless", "roce_dscp")
        dot1p = DscpMap(value=lossless.queue, phb=QUEUE_PHB[0])
        return DiffservDomain(name=lossless.domain, dscp=tuple(rows), dot1p=(dot1p,))

    def _pfc(self, switch: Switch) -> Pfc:
        lossless, family = self.fabric.lossless, self._family(switch)
        deadlock = lossless.deadlock
        given = deadlock.by_family.get(family.name)
        place = ("lossless", "deadlock", *(("by_family", family.name.value) if given else ()))
        for part in ("detect_ms", "recovery_ms", "interval_ms", "profiles[default].timers"):
            self.note(switch.name, f"pfc.{part}", *place)
        self.note(switch.name, "pfc.profiles[default]", "lossless", "queue")
        timers = given or DeadlockTimers(
            detect_ms=deadlock.detect_ms, recovery_ms=deadlock.recovery_ms, reason="as intended"
        )
        profile = PfcProfile(queues=(lossless.queue,))
        common = Pfc(
            profiles=(profile,),
            dscp_mapping=family.headroom_kbytes is not None,
            headroom_pool_kbytes=(
                lossless.headroom_pool_kbytes if family.headroom_pool_kbytes else None
            ),
        )
        if family.deadlock_detect_ms:
            return common.model_copy(
                update={"detect_ms": timers.detect_ms, "recovery_ms": timers.recovery_ms}
            )
        interval, detect, recovery = _multiples(timers, family)
        timer = PfcTimer(queue=lossless.queue, detect_time=detect, recovery_time=recovery)
        profiles = (profile.model_copy(update={"timers": (timer,)}),)
        return common.model_copy(update={"profiles": profiles, "interval_ms": interval})

    def _ai_ecn(self, name: str) -> AiEcn:
        lossless = self.fabric.lossless
        self.note(name, "ai_ecn", "lossless", "ai_ecn_model")
        queue = AiEcnQueue(queue=lossless.queue, model=lossless.ai_ecn_model)
        return AiEcn(enabled=True, queues=(queue,))

    def _lossless_port(self, family: Family) -> dict[str, object]:
        lossless = self.fabric.lossless
        threshold = PfcThreshold(
            queue=lossless.queue,
            xoff_kbytes=lossless.xoff_kbytes,
            xon_kbytes=lossless.xon_kbytes,
            headroom_kbytes=lossless.headroom_kbytes if family.headroom_kbytes else None,
        )
        return {"pfc": InterfacePfc(), "thresholds": (threshold,)}

    def _note_lossless(self, name: str, interface: str) -> None:
        at = f"interfaces[{interface}]"
        self.note(name, f"{at}.thresholds", "lossless", "xoff_kbytes")
        self.note(name, f"{at}.pfc", "lossless", "queue")
        self.note(name, f"{at}.domain", "lossless", "domain")

    # -- interfaces ----------------------------------------------------------------------------

    def _interfaces(
        self, path: YamlPath, switch: Switch, joints: list[_Joint]
    ) -> Iterator[Interface]:
        management = allocate.management(self.fabric, switch, self._out_of_band())
        loopback = IPv4Interface(allocate.loopback(self.fabric, switch))
        self.note(switch.name, f"interfaces[{LOOPBACK}]", *path, "id")
        self.note(switch.name, f"interfaces[{MANAGEMENT}]", *path, "id")
        yield Interface(name=MANAGEMENT, addresses=(management,))
        yield Interface(name=LOOPBACK, addresses=(loopback,))
        for joint in joints:
            yield self._fabric_port(switch, joint)
        if isinstance(switch, Leaf):
            yield from self._vlanifs(path, switch)
            yield from self._server_ports(switch)

    def _fabric_port(self, switch: Switch, joint: _Joint) -> Interface:
        own_spine = switch is joint.spine
        name = joint.spine_port if own_spine else joint.leaf_port
        far = (joint.leaf, joint.leaf_port) if own_spine else (joint.spine, joint.spine_port)
        at = f"interfaces[{name}]"
        self.note(switch.name, at, *joint.path)
        self.note(switch.name, f"{at}.mtu", "mtu")
        self._note_lossless(switch.name, name)
        return Interface(
            name=name,
            description=f"to {far[0].name} {far[1]}",
            routed=True,
            addresses=(joint.spine_address if own_spine else joint.leaf_address,),
            mtu=self.fabric.mtu,
            domain=self.fabric.lossless.domain,
            **self._lossless_port(self._family(switch)),
        )

    def _vlanifs(self, path: YamlPath, leaf: Leaf) -> Iterator[Interface]:
        for segment, gateway in self._gateways(leaf):
            name = f"Vlanif{segment.vlan}"
            place = self.fabric.segments.index(segment)
            self.note(leaf.name, f"interfaces[{name}]", "segments", place)
            self.note(leaf.name, f"interfaces[{name}].addresses", *path, "segments")
            self.note(leaf.name, f"interfaces[{name}].mtu", "mtu")
            self.note(leaf.name, f"vlans[{segment.vlan}]", "segments", place, "vlan")
            yield Interface(
                name=name,
                description=f"gateway {segment.name}",
                addresses=(gateway,),
                mtu=self.fabric.mtu,
            )

    def _server_ports(self, leaf: Leaf) -> Iterator[Interface]:
        vlans = {s.name: s.vlan for s in self.fabric.segments}
        for index, server in enumerate(self.fabric.servers):
            if server.leaf != leaf.name:
                continue
            self.note(leaf.name, f"interfaces[{server.port}]", "servers", index)
            lossless = self._lossless_port(self._family(leaf)) if server.roce else {}
            if server.roce:
                self._note_lossless(leaf.name, server.port)
            yield Interface(
                name=server.port,
                description=server.description or f"to {server.name}",
                access_vlan=vlans[server.segment],
                edge=True,
                trust_dscp=True,
                domain=self.fabric.lossless.domain,
                **lossless,
            )

    def _servers(self) -> Iterator[Server]:
        leaves = {leaf.name: leaf for leaf in self.fabric.leaves}
        segments = {s.name: s for s in self.fabric.segments}
        for index, server in enumerate(self.fabric.servers):
            leaf = leaves[server.leaf]
            gateway = allocate.gateway(segments[server.segment], leaf)
            self.note(server.name, "", "servers", index, "name")
            yield Server(
                name=server.name,
                port=End(device=leaf.name, interface=server.port),
                segment=server.segment,
                address=allocate.server_address(server, gateway, self._hardware(leaf)),
                mtu=self.fabric.mtu,
                roce=server.roce,
                cable_m=server.cable_m or self.fabric.cables.server_m,
                speed_gbps=port_speed_gbps(server.port) or 0,
            )

    # -- routing -------------------------------------------------------------------------------

    def _bgp(self, path: YamlPath, switch: Switch, joints: list[_Joint]) -> Bgp:
        routing, leaf = self.fabric.routing, isinstance(switch, Leaf)
        group = "SPINE" if leaf else "LEAF"
        self.note(switch.name, "bgp", *path, "id")
        self.note(switch.name, "bgp.maximum_paths", "routing", "maximum_paths")
        self.note(switch.name, f"bgp.groups[{group}]", "routing")
        loopback = allocate.loopback(self.fabric, switch)
        return Bgp(
            asn=allocate.asn(self.fabric, switch),
            router_id=loopback,
            groups=(
                BgpGroup(
                    name=group,
                    bfd_enabled=routing.bfd is not None,
                    bfd=routing.bfd,
                    keepalive_s=routing.keepalive_s,
                    hold_s=routing.hold_s,
                    active=True,
                    export_policy=EXPORT,
                ),
            ),
            peers=tuple(self._peer(switch, joint, group) for joint in joints),
            networks=(
                IPv4Network(loopback),
                *(
                    g.network
                    for _, g in (self._gateways(switch) if isinstance(switch, Leaf) else ())
                ),
            ),
            maximum_paths=routing.maximum_paths,
        )

    def _peer(self, switch: Switch, joint: _Joint, group: str) -> BgpPeer:
        far, address = (
            (joint.leaf, joint.leaf_address)
            if switch is joint.spine
            else (joint.spine, joint.spine_address)
        )
        peer: IPv4Address = address.ip
        self.note(switch.name, f"bgp.peers[{peer}]", *joint.path)
        asn = allocate.asn(self.fabric, far)
        return BgpPeer(address=peer, asn=asn, group=group, description=far.name, active=True)

    def _announced(self, switch: Switch) -> PrefixList:
        """What may leave a switch: a leaf's own prefixes; on a spine whole pools."""
        self.note(switch.name, "prefix_lists", "pools")
        if isinstance(switch, Leaf):
            own = IPv4Network(allocate.loopback(self.fabric, switch))
            rows = [PrefixEntry(index=1, prefix=own)]
            for segment, gateway in self._gateways(switch):
                rows.append(PrefixEntry(index=segment.vlan or 0, prefix=gateway.network))
            return PrefixList(name=LOCAL, entries=tuple(rows))
        pools = self.fabric.pools
        entries = [
            PrefixEntry(index=index, prefix=pool, greater_equal=32, less_equal=32)
            for index, pool in ((1, pools.spine_loopbacks), (2, pools.leaf_loopbacks))
        ]
        entries += [
            PrefixEntry(
                index=segment.vlan,
                prefix=segment.prefix,
                greater_equal=segment.leaf_prefix_length,
                less_equal=segment.leaf_prefix_length,
            )
            for segment in self.fabric.segments
            if segment.vlan
        ]
        return PrefixList(name=FABRIC, entries=tuple(entries))


def _multiples(timers: DeadlockTimers, family: Family) -> tuple[int | None, int | None, int | None]:
    """(interval ms, detect, recovery) for a family that counts in multiples.

    An interval is chosen so that both times fit; a time that none fits keeps the largest interval
    and lands outside the range, where rule PFC reports it.
    """
    if timers.detect_time is not None or family.deadlock_interval_ms is None:
        return None, timers.detect_time, timers.recovery_time
    detect_ms, recovery_ms = timers.detect_ms or 0, timers.recovery_ms or 0
    fitting = [
        interval
        for interval in INTERVALS_MS
        if detect_ms % interval == 0
        and recovery_ms % interval == 0
        and family.deadlock_detect_time
        and detect_ms // interval in family.deadlock_detect_time
        and family.deadlock_recovery_time
        and recovery_ms // interval in family.deadlock_recovery_time
    ]
    interval = fitting[0] if fitting else INTERVALS_MS[-1]
    return interval, detect_ms // interval, recovery_ms // interval
