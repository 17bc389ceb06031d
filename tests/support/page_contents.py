"""Pages in tests: fabrics without configuration, findings on them, and the looks of a page."""

from __future__ import annotations

from typing import Any

import pytest

from rocefort.models.device.device import Device
from rocefort.models.finding import Finding, MissingFact, NotJudged, Report, Severity, Where
from rocefort.models.network.network import End, Link, Network, Node, Server, SwitchRole
from rocefort.verification.page.fabric_page import PageContent

# A missing fact for verdicts that tests build by hand, and how a report shows it.
FACT = MissingFact(fact="the size", ask="display size", key="size")
SHOWN = "the size; ask a switch: `display size`; state: size"

# Widths and dark colors in which axe-core judges a page: each once in a quick run, all thorough.
LOOKS = [
    (1400, False),
    (400, True),
    pytest.param(1400, True, marks=pytest.mark.thorough),
    pytest.param(400, False, marks=pytest.mark.thorough),
]


def content_of(network: Network, *verdicts: Finding | NotJudged, **rest: Any) -> PageContent:
    report = Report(
        network=network.name,
        rules=("PFC004",),
        findings=tuple(v for v in verdicts if isinstance(v, Finding)),
        not_judged=tuple(v for v in verdicts if isinstance(v, NotJudged)),
    )
    return PageContent(network=network, report=report, texts=rest.pop("texts", {}), **rest)


def clos(spines: int, leaves: int, servers: int = 8) -> Network:
    """A Clos without configuration: what the drawing needs and no more."""
    nodes = [
        Node(device=Device(name=f"s{n}"), role=SwitchRole.SPINE, id=n) for n in range(1, spines + 1)
    ]
    nodes += [
        Node(device=Device(name=f"l{n}"), role=SwitchRole.LEAF, id=n, rack=f"rack{n // 16}")
        for n in range(1, leaves + 1)
    ]
    links = [
        Link(
            a=End(device=f"s{s}", interface=f"100GE1/0/{n}"),
            b=End(device=f"l{n}", interface=f"100GE1/0/{s}"),
        )
        for s in range(1, spines + 1)
        for n in range(1, leaves + 1)
    ]
    hosts = [
        Server.model_validate(
            {
                "name": f"h{n}-{p}",
                "port": {"device": f"l{n}", "interface": f"25GE1/0/{p}"},
                "segment": "compute",
                "address": "10.0.0.1/24",
                "mtu": 9000,
                "speed_gbps": 25,
            }
        )
        for n in range(1, leaves + 1)
        for p in range(1, servers + 1)
    ]
    return Network(
        name="clos", origin="fabric", nodes=tuple(nodes), links=tuple(links), servers=tuple(hosts)
    )


def error_at(device: str, interface: str | None = None, message: str = "no") -> Finding:
    where = Where(device=device, interface=interface)
    return Finding(rule="PFC004", severity=Severity.ERROR, where=where, message=message)
