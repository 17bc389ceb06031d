"""A small clean fabric (2 spines, 2 leaves) and the ways to spoil it, for tests of rules."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any

import pytest

from rocefort.design.load.hardware_catalogue import load_catalogue
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface, InterfacePfc, PfcThreshold
from rocefort.models.device.lossless_queue import (
    AiEcn,
    AiEcnQueue,
    DiffservDomain,
    DscpMap,
    Pfc,
    PfcProfile,
    PfcTimer,
)
from rocefort.models.device.management import Acl, AclRule, LocalUser, Ssh, Vty
from rocefort.models.device.routing import Bgp, BgpPeer
from rocefort.models.fabric.congestion_control import Dcqcn
from rocefort.models.fabric.hosts import Adapter, Hosts, NicProfile, Parameter
from rocefort.models.finding import Finding, NotJudged
from rocefort.models.hardware.hardware import Fact, Hardware, Release, SyntaxFamily
from rocefort.models.network.network import (
    End,
    Link,
    LosslessIntent,
    Network,
    Node,
    Reserved,
    Segment,
    Server,
    Sources,
    SwitchRole,
)
from rocefort.validators.batfish.access import Service, server_version
from rocefort.validators.checks import check
from rocefort.verification.verify import service_of

# The ranges of families.yaml, without what would have the sound fabric reported: a case adds that.
CLEAN: dict[str, Any] = {"unconfirmed": (), "conditions": (), "cell_bytes": None}
FAMILIES = {
    family.syntax.name.replace("V300_", ""): family.model_copy(update=CLEAN)
    for family in load_catalogue().families.values()
}
LEAF = Hardware(
    model="CE8851-32CQ8DQ-P",
    ports=("100GE1/0/1-32", "400GE1/0/1-8"),
    fabric_ports=("100GE1/0/31-32",),
    buffer_kbytes=Fact(value=65536, source="vendor"),
    releases=(Release(prefix="V300", family=SyntaxFamily.V300_G1),),
    template="ce8851",
    source="vendor",
)
SPINE = Hardware(
    model="CE8855-32CQ4BQ",
    ports=("100GE1/0/1-32",),
    fabric_ports=("100GE1/0/1-32",),
    buffer_kbytes=Fact(value=32768, source="vendor"),
    releases=(Release(prefix="V300", family=SyntaxFamily.V300_G2),),
    template="ce8855",
    source="vendor",
)
NIC = NicProfile(
    adapter="connectx",
    trust="dscp",
    roce_dscp=34,
    cnp_dscp=48,
    cnp_priority=6,
    paused_priorities=(4,),
    controlled_priorities=(4,),
    mtu_bytes=9000,
)
ADAPTER = Adapter(
    model="ConnectX",
    parameters={
        "increase_timer_us": Parameter(name="rpg_time_reset"),
        "byte_counter_bytes": Parameter(name="rpg_byte_reset", low=0, high=32767),
    },
)
DOMAIN = DiffservDomain(
    name="roce",
    dscp=tuple(DscpMap(value=d, phb="be") for d in range(32, 40) if d != 34),
    dot1p=(DscpMap(value=4, phb="be"),),
)


ADMINISTRATORS = IPv4Network("10.255.0.0/24")
MANAGEMENT = {
    "users": (LocalUser(name="netops", service_types=("ssh",), level=3),),
    "ssh": Ssh(stelnet=True, source_interface="MEth0/0/0"),
    "acls": (Acl(number=2000, rules=(AclRule(index=5, source=ADMINISTRATORS),)),),
    "vty": (Vty(first=0, last=4, authentication="aaa", protocol="ssh", acl=2000),),
}
METH = Interface(name="MEth0/0/0")


def _lossless(headroom_kbytes: int | None) -> dict[str, Any]:
    row = PfcThreshold(queue=4, xoff_kbytes=600, xon_kbytes=550, headroom_kbytes=headroom_kbytes)
    return {"domain": "roce", "pfc": InterfacePfc(), "thresholds": (row,)}


def _routed(name: str, address: str, headroom_kbytes: int | None) -> Interface:
    addresses = (IPv4Interface(address),)
    lossless = _lossless(headroom_kbytes)
    return Interface(name=name, routed=True, addresses=addresses, mtu=9000, **lossless)


def _bgp(asn: int, router_id: str, peers: dict[str, int]) -> Bgp:
    return Bgp(
        asn=asn,
        router_id=IPv4Address(router_id),
        peers=tuple(
            BgpPeer(address=IPv4Address(address), asn=peer, bfd_enabled=True, active=True)
            for address, peer in peers.items()
        ),
        maximum_paths=2,
    )


def _spine(number: int) -> Node:
    ports = [_routed(f"100GE1/0/{n}", f"10.1.{n}.{2 * number}/31", 98) for n in (1, 2)]
    loopback = Interface(name="LoopBack0", addresses=(IPv4Interface(f"10.0.0.{number}/32"),))
    timer = PfcTimer(queue=4, detect_time=10, recovery_time=10)
    device = Device(
        name=f"spine{number:02}",
        bfd=True,
        domains=(DOMAIN,),
        pfc=Pfc(
            profiles=(PfcProfile(queues=(4,), timers=(timer,)),),
            interval_ms=10,
            recovery_behavior="discard",
            dscp_mapping=True,
            headroom_pool_kbytes=4096,
        ),
        ai_ecn=AiEcn(enabled=True, queues=(AiEcnQueue(queue=4, model="ai_ecn_hpc"),)),
        interfaces=(METH, loopback, *ports),
        **MANAGEMENT,
        bgp=_bgp(
            65000,
            f"10.0.0.{number}",
            {f"10.1.{n}.{2 * number + 1}": 65100 + n for n in (1, 2)},
        ),
    )
    return Node(
        device=device, role=SwitchRole.SPINE, id=number, hardware=SPINE, family=FAMILIES["G2"]
    )


def _leaf(number: int) -> Node:
    uplinks = [_routed(f"100GE1/0/{30 + n}", f"10.1.{number}.{2 * n + 1}/31", None) for n in (1, 2)]
    server_port = Interface(
        name="100GE1/0/1", access_vlan=10, edge=True, trust_dscp=True, **_lossless(None)
    )
    gateway = Interface(
        name="Vlanif10", addresses=(IPv4Interface(f"10.10.{number}.1/24"),), mtu=9000
    )
    loopback = Interface(name="LoopBack0", addresses=(IPv4Interface(f"10.0.1.{number}/32"),))
    device = Device(
        name=f"leaf{number:02}",
        vlans=(10,),
        bfd=True,
        domains=(DOMAIN,),
        pfc=Pfc(
            profiles=(PfcProfile(queues=(4,)),),
            detect_ms=100,
            recovery_ms=100,
            headroom_pool_kbytes=2048,
        ),
        ai_ecn=AiEcn(enabled=True, queues=(AiEcnQueue(queue=4, model="ai_ecn_hpc"),)),
        interfaces=(METH, server_port, *uplinks, loopback, gateway),
        **MANAGEMENT,
        bgp=_bgp(
            65100 + number, f"10.0.1.{number}", {f"10.1.{number}.{2 * n}": 65000 for n in (1, 2)}
        ),
    )
    return Node(
        device=device, role=SwitchRole.LEAF, id=number, hardware=LEAF, family=FAMILIES["G1"]
    )


def _network() -> Network:
    return Network(
        name="small",
        origin="fabric",
        nodes=(_spine(1), _spine(2), _leaf(1), _leaf(2)),
        links=tuple(
            Link(
                a=End(device=f"spine{spine:02}", interface=f"100GE1/0/{leaf}"),
                b=End(device=f"leaf{leaf:02}", interface=f"100GE1/0/{30 + spine}"),
                cable_m=100,
                medium="lr4",
            )
            for spine in (1, 2)
            for leaf in (1, 2)
        ),
        servers=tuple(
            Server(
                name=f"node{leaf}",
                port=End(device=f"leaf{leaf:02}", interface="100GE1/0/1"),
                segment="compute",
                address=IPv4Interface(f"10.10.{leaf}.11/24"),
                mtu=9000,
                nic="plain",
                cable_m=3,
                medium="lr4",
                speed_gbps=100,
            )
            for leaf in (1, 2)
        ),
        segments=tuple(
            Segment(
                name="compute",
                leaf=f"leaf{leaf:02}",
                vlan=10,
                gateway=IPv4Interface(f"10.10.{leaf}.1/24"),
            )
            for leaf in (1, 2)
        ),
        lossless=LosslessIntent(
            queue=4, roce_dscp=34, cnp_dscp=48, detect_ms=100, recovery_ms=100, headroom_mtu=9216
        ),
        hosts=Hosts(
            nics={"plain": NIC},
            adapters={"connectx": ADAPTER},
            congestion_name="connectx-dcqcn",
            congestion=Dcqcn(kind="dcqcn", increase_timer_us=300, byte_counter_bytes=32767),
        ),
        spines=2,
        reserved=Reserved(spines=2, leaves=2),
        exits=(),
        oversubscription=3.0,
    )


@dataclass(frozen=True)
class Small:
    """The small fabric; each method returns a changed copy."""

    network: Network
    sources: Sources = field(default_factory=Sources)

    def change(self, **update: Any) -> Small:
        """Change fields of the Network."""
        return replace(self, network=self.network.model_copy(update=update))

    def node(self, name: str, **update: Any) -> Small:
        """Change fields of one Node."""
        nodes = tuple(
            n.model_copy(update=update) if n.name == name else n for n in self.network.nodes
        )
        return self.change(nodes=nodes)

    def device(self, name: str, **update: Any) -> Small:
        """Change fields of one Device."""
        return self.node(name, device=self._device(name).model_copy(update=update))

    def port(self, name: str, port: str, **update: Any) -> Small:
        """Change fields of one Interface."""
        interfaces = tuple(
            i.model_copy(update=update) if i.name == port else i
            for i in self._device(name).interfaces
        )
        return self.device(name, interfaces=interfaces)

    def row(self, name: str, port: str, **update: Any) -> Small:
        """Change fields of the one PFC threshold of a port."""
        rows = self._device(name).by_interface[port].thresholds
        return self.port(name, port, thresholds=(rows[0].model_copy(update=update),))

    def pfc(self, name: str, **update: Any) -> Small:
        """Change PFC settings of one switch."""
        return self.device(name, pfc=self._device(name).pfc.model_copy(update=update))

    def pausing(self, *queues: int) -> Small:
        """Let every switch pause these queues."""
        changed = self
        for node in self.network.nodes:
            changed = changed.pfc(node.name, profiles=(PfcProfile(queues=queues),))
        return changed

    def bgp(self, name: str, **update: Any) -> Small:
        """Change the BGP process of one switch."""
        bgp = self._device(name).bgp
        assert bgp is not None
        return self.device(name, bgp=bgp.model_copy(update=update))

    def peer(self, name: str, address: str, /, **update: Any) -> Small:
        """Change one BGP peer."""
        bgp = self._device(name).bgp
        assert bgp is not None
        peers = tuple(
            p.model_copy(update=update) if str(p.address) == address else p for p in bgp.peers
        )
        return self.bgp(name, peers=peers)

    def unpeer(self, name: str, address: str) -> Small:
        """Remove one BGP peer."""
        bgp = self._device(name).bgp
        assert bgp is not None
        return self.bgp(name, peers=tuple(p for p in bgp.peers if str(p.address) != address))

    def link(self, index: int, **update: Any) -> Small:
        """Change fields of one Link."""
        links = list(self.network.links or ())
        links[index] = links[index].model_copy(update=update)
        return self.change(links=tuple(links))

    def server(self, index: int, **update: Any) -> Small:
        """Change fields of one Server."""
        servers = list(self.network.servers or ())
        servers[index] = servers[index].model_copy(update=update)
        return self.change(servers=tuple(servers))

    def lossless(self, **update: Any) -> Small:
        """Change the lossless intent."""
        assert self.network.lossless is not None
        return self.change(lossless=self.network.lossless.model_copy(update=update))

    def own_lossless(self, name: str, **update: Any) -> Small:
        """Give a switch a lossless intent of its own, with changes."""
        assert self.network.lossless is not None
        own = self.network.lossless.model_copy(update=update)
        return self.change(own_lossless={**self.network.own_lossless, name: own})

    def hosts(self, **update: Any) -> Small:
        """Change the servers' side of the fabric."""
        assert self.network.hosts is not None
        return self.change(hosts=self.network.hosts.model_copy(update=update))

    def nic(self, **update: Any) -> Small:
        """Change the NIC profile of all servers."""
        return self.hosts(nics={"plain": NIC.model_copy(update=update)})

    def family(self, name: str, family: str, **update: Any) -> Small:
        """Give a switch one of the syntax families G1, G2, V200, with changes."""
        return self.node(name, family=FAMILIES[family].model_copy(update=update))

    def hardware(self, name: str, **update: Any) -> Small:
        """Change the hardware facts of one switch."""
        hardware = self.network.by_name[name].hardware
        assert hardware is not None
        return self.node(name, hardware=hardware.model_copy(update=update))

    def without(self, name: str) -> Small:
        """Remove a switch and its links."""
        assert self.network.links is not None
        links = tuple(x for x in self.network.links if name not in (x.a.device, x.b.device))
        return self.change(
            nodes=tuple(n for n in self.network.nodes if n.name != name), links=links
        )

    def says(self, rule: str) -> list[str]:
        """Verdicts of one rule, as lines `severity place: message`."""
        report = check(self.network, self.sources)
        verdicts: list[Finding | NotJudged] = [*report.findings, *report.not_judged]
        return [_line(verdict) for verdict in verdicts if verdict.rule == rule]

    def _device(self, name: str) -> Device:
        return self.network.by_name[name].device


def _line(verdict: Finding | NotJudged) -> str:
    place = str(verdict.where) or "fabric"
    if isinstance(verdict, Finding):
        return f"{verdict.severity} {place}: {verdict.message}"
    return f"not judged {place}: {verdict.reason}"


@pytest.fixture(scope="session")
def live_service() -> Service:
    """Batfish service of ROCEFORT_BATFISH; skips the test without one."""
    pytest.importorskip("pybatfish", reason="pip install 'rocefort[batfish]'")
    service = service_of(os.environ.get("ROCEFORT_BATFISH"))
    if service is None:
        pytest.skip("ROCEFORT_BATFISH names no service: docs/how-to/batfish.md")
    server_version(service.host, service.port, 5.0, service.access)
    return service


@pytest.fixture(scope="session")
def service(live_service: Service) -> tuple[str, int]:
    """Host and port of that service."""
    return live_service.host, live_service.port


@pytest.fixture(scope="session")
def small() -> Small:
    return Small(_network())
