"""Readings of the small fabric without faults, and methods that add a fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Network
from typing import Any

import pytest

from rocefort.models.finding import Finding, NotJudged
from rocefort.models.network.network import End, Network, Node, Sources
from rocefort.models.network.observed import (
    AiEcnSeen,
    DeviceSeen,
    FactsSeen,
    NeighbourSeen,
    Observed,
    PeerSeen,
    PfcCountersSeen,
    PfcPortSeen,
    PfcProfileSeen,
    PortCounters,
    PortSeen,
    QueueSeen,
    RouteSeen,
    StateTopic,
    ThresholdSeen,
)
from rocefort.validators.checks import check_live
from rocefort.validators.rules.live.switch_readings import HealthLimits, SwitchReadings, intended_of

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
UNKNOWN = "the switch does not report it: 'display x': Error: Unrecognized command"
UNREACHED = "no session to 10.255.0.11:22 as netops: refused"
ZEROS = dict.fromkeys(PortCounters.model_fields, 0)


def _well(network: Network) -> Observed:
    return Observed(
        fabric=network.name,
        at=AT,
        devices=tuple(_device(network, node) for node in network.nodes),
    )


def _device(network: Network, node: Node) -> DeviceSeen:
    intended = intended_of(network)
    roce = [p for p in network.roce_ports if p.end.device == node.name]
    ports = [p.end.interface for p in roce]
    hardware = node.hardware.model if node.hardware else ""
    return DeviceSeen(
        name=node.name,
        at=AT,
        facts=FactsSeen(
            hostname=node.name, hardware=hardware, software="X V300R023C00SPC500", serial="1"
        ),
        peers=tuple(
            PeerSeen(
                address=address,
                asn=65000,
                established=up,
                prefixes=intended.used[node.name, address],
            )
            for address, up in intended.up[node.name].items()
        ),
        routes=tuple(
            RouteSeen(prefix=prefix, protocol="EBGP", next_hops=hops)
            for prefix, hops in intended.hops.get(node.name, {}).items()
        ),
        neighbours=tuple(
            NeighbourSeen(local=here.interface, device=far.device, port=far.interface)
            for link in network.links or ()
            for here, far in ((link.a, link.b), (link.b, link.a))
            if here.device == node.name
        ),
        ports=tuple(_port(network, node, i.name, i.mtu) for i in node.device.interfaces),
        pfc_ports=tuple(
            PfcPortSeen(interface=name, profile="default", enabled=True, state="ENABLE(M)")
            for name in ports
        ),
        pfc_profiles=(PfcProfileSeen(name="default", queues=(4,)),),
        pfc_counters=tuple(
            PfcCountersSeen(
                interface=name,
                queue=4,
                **dict.fromkeys(
                    ("rx_frames", "tx_frames", "rx_rate", "tx_rate", "deadlocks", "recoveries"), 0
                ),
            )
            for name in ports
        ),
        thresholds=tuple(
            ThresholdSeen(
                interface=port.end.interface,
                queue=row.queue,
                xoff_kbytes=row.xoff_kbytes,
                xon_kbytes=row.xon_kbytes,
                headroom_kbytes=row.headroom_kbytes,
                text="as shown",
            )
            for port in roce
            for row in port.interface.thresholds
        ),
        queues=tuple(
            QueueSeen(interface=n, queue=q, dropped_packets=0) for n in ports for q in (0, 4)
        ),
        ai_ecn=tuple(
            AiEcnSeen(interface=name, queue=4, mode="NN", model="AI_ECN_HPC") for name in ports
        ),
        clock_ahead_s=0.2,
        disk_free_kbytes=800_000,
        saved=True,
    )


def _port(network: Network, node: Node, name: str, mtu: int | None) -> PortSeen:
    speed = network.speed_gbps(End(device=node.name, interface=name))
    physical = "GE1/" in name
    return PortSeen(
        name=name,
        state="UP",
        up=True,
        mtu=mtu or 1500,
        frame_bytes=9216 if physical else None,
        speed_mbps=speed * 1000 if physical and speed else None,
        counters=PortCounters(**ZEROS) if physical else None,
    )


@dataclass(frozen=True)
class Live:
    """A network and two readings, a minute apart; each method returns a changed copy."""

    network: Network
    now: Observed
    before: Observed | None = None
    limits: HealthLimits = field(default_factory=HealthLimits)
    sources: Sources = field(default_factory=Sources)

    def device(self, name: str, **update: Any) -> Live:
        """Change the present reading of a switch."""
        return replace(self, now=_changed(self.now, name, update))

    def row(self, name: str, topic: str, index: int, /, **update: Any) -> Live:
        """Change one row of a switch's reading."""
        rows = list(getattr(self.now.by_name[name], topic))
        rows[index] = rows[index].model_copy(update=update)
        return self.device(name, **{topic: tuple(rows)})

    def untold(self, topic: StateTopic) -> Live:
        """leaf01's release lacks a command."""
        return self.device("leaf01", **{topic.value: None, "missing": {topic: UNKNOWN}})

    def silent(self) -> Live:
        """leaf01 is unreachable."""
        fields = dict.fromkeys(topic.value for topic in StateTopic)
        missing = dict.fromkeys(StateTopic, UNREACHED)
        return self.device("leaf01", **fields, failed=(UNREACHED,), missing=missing)

    def all_clocks(self, seconds: float) -> Live:
        """Every switch is as far ahead."""
        live = self
        for node in self.network.nodes:
            live = live.device(node.name, clock_ahead_s=seconds)
        return live

    def port(self, name: str, port: str, **update: Any) -> Live:
        """Change one interface."""
        names = [seen.name for seen in self.now.by_name[name].ports or ()]
        return self.row(name, "ports", names.index(port), **update)

    def counts(self, name: str, port: str, **update: int | None) -> Live:
        """Change counters of one port."""
        return self.port(name, port, counters=PortCounters(**{**ZEROS, **update}))

    def earlier(self) -> Live:
        """Use the present reading as the earlier one, too."""
        at = AT + timedelta(minutes=1)
        devices = tuple(device.model_copy(update={"at": at}) for device in self.now.devices)
        later = self.now.model_copy(update={"at": at, "devices": devices})
        return replace(self, before=self.now, now=later)

    def meant(self, **update: Any) -> Live:
        """Change fields of the Network, but not the readings."""
        return replace(self, network=self.network.model_copy(update=update))

    def says(self, rule: str) -> list[str]:
        """Verdicts of one rule, as lines `severity place: message`."""
        readings = SwitchReadings(self.now, self.before, self.limits)
        report = check_live(self.network, readings, self.sources)
        verdicts: list[Finding | NotJudged] = [*report.findings, *report.not_judged]
        lines = []
        for verdict in verdicts:
            place = str(verdict.where) or "fabric"
            if verdict.rule != rule:
                continue
            if isinstance(verdict, Finding):
                lines.append(f"{verdict.severity} {place}: {verdict.message}")
            else:
                lines.append(f"not judged {place}: {verdict.reason}")
        return lines


def _changed(observed: Observed, name: str, update: dict[str, Any]) -> Observed:
    devices = tuple(d.model_copy(update=update) if d.name == name else d for d in observed.devices)
    return observed.model_copy(update={"devices": devices})


@pytest.fixture
def live(small: Any) -> Live:
    """The small fabric, whose leaves announce their prefixes, without faults."""
    for n in (1, 2):
        own = (IPv4Network(f"10.0.1.{n}/32"), IPv4Network(f"10.10.{n}.0/24"))
        small = small.bgp(f"leaf{n:02}", networks=own)
    return Live(small.network, _well(small.network))


Change = Callable[[Live], Live]
