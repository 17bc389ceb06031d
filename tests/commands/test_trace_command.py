"""`rocefort trace`: every path hop by hop, its end with the reason, and errors for bad input."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface
from pathlib import Path

import pytest
from outputs import fields_of
from planned import own_policy
from typer.testing import CliRunner

from rocefort.base.errors import BadInput
from rocefort.design.subject import ReadNetwork, subject_of
from rocefort.models.device.packet_filters import Flow
from rocefort.reports.writers.terminal import text_of
from rocefort.tasks import cli
from rocefort.validators.routing_results import Trace
from rocefort.verification.trace import flow_of, trace_between, trace_report

SAMPLES = Path(__file__).parents[1] / "samples"
EditHeps = Callable[..., Path]
POLICY = """
security:
  policy:
    default: deny
    entries:
      - {id: 1, action: allow, source: [beamline], destination: [storage], protocol: rdma}
"""


@pytest.fixture(scope="module")
def heps_subject() -> ReadNetwork:
    return subject_of(Path("heps"), None)


@pytest.fixture(scope="module")
def border() -> ReadNetwork:
    return subject_of(SAMPLES / "border", None)


def test_every_equal_path_hop_by_hop(heps_subject: ReadNetwork) -> None:
    found = trace_between(heps_subject, ("readout01", "storage01"), Flow())
    assert [[hop.device for hop in path.hops] for path in found.paths] == [
        ["leaf05", "spine01", "leaf04"],
        ["leaf05", "spine02", "leaf04"],
    ]
    text = text_of(*trace_report(found), width=80)
    assert text.startswith(
        "RDMA of readout01 (10.64.4.10) to storage01 (10.66.3.11)\n2 paths, 2 delivered\n"
    )
    assert text.endswith(
        "    spine02\n"
        "        in by 100GE1/1/5\n"
        "        10.66.3.0/24 by BGP, ECMP width 1\n"
        "        out by 100GE1/1/4 to 10.1.0.51\n"
        "    leaf04\n"
        "        in by 100GE1/0/26\n"
        "        10.66.3.0/24 connected\n"
        "        VLAN 130, gateway Vlanif130\n"
        "        out by 100GE1/0/2\n"
        "    delivered\n"
    )
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("down", "sentences"),
    [
        (["spine01"], ["1 path, 1 delivered", "without spine01"]),
        (["leaf04:100GE1/0/25"], ["leaf05 starts", "1 path, 1 delivered"][1:]),
        (["spine01", "spine02"], ["not delivered: leaf05 has no route to 10.66.3.11"]),
        (["leaf05"], ["not delivered: leaf05 25GE1/0/1 is shut down"]),
        (["leaf04:100GE1/0/2"], ["not delivered: leaf04 100GE1/0/2 is shut down"]),
    ],
)
def test_what_is_down_is_not_on_the_way(
    heps_subject: ReadNetwork, down: list[str], sentences: list[str]
) -> None:
    text = text_of(
        *trace_report(trace_between(heps_subject, ("readout01", "storage01"), Flow(), down)),
        width=80,
    )
    assert all(sentence in text for sentence in sentences), text


def test_the_rule_that_decides_is_named_with_its_line(edit_heps: EditHeps) -> None:
    subject = subject_of(edit_heps(own_policy(POLICY)), None)
    allowed = trace_between(subject, ("readout01", "storage01"), Flow())
    (judged,) = allowed.paths[0].hops[0].judged
    assert (judged.direction, judged.permitted, allowed.delivered) == ("inbound", True, True)
    assert f"rule {judged.rule} of ACL VLAN110 permits it, inbound on Vlanif110" in text_of(
        *trace_report(allowed), width=80
    )
    flow = flow_of("tcp", 22)
    denied = trace_between(subject, ("readout01", "storage01"), flow)
    (path,) = denied.paths
    assert path.reason.startswith("rule ") and path.reason.endswith(
        " of ACL VLAN110 on leaf05 Vlanif110 drops it"
    )
    assert (path.delivered, path.where.device) == (False, "leaf05")
    assert path.where.file and path.where.line


def test_servers_beside_each_other_are_switched(heps_subject: ReadNetwork) -> None:
    text = text_of(
        *trace_report(trace_between(heps_subject, ("storage01", "10.66.3.1"), Flow())), width=80
    )
    assert "1 path, 1 delivered" in text and "leaf04" in text  # its gateway
    network = heps_subject.network
    by_place: dict[tuple[str, str], list[str]] = {}
    for server in network.servers or ():
        by_place.setdefault((server.port.device, server.segment), []).append(server.name)
    a, b, *_ = next(names for names in by_place.values() if len(names) > 1)
    assert "switched to " in text_of(
        *trace_report(trace_between(heps_subject, (a, b), Flow())), width=80
    )


def test_a_switch_that_has_the_servers_address_keeps_its_packets(heps_subject: ReadNetwork) -> None:
    network = heps_subject.network
    (storage,) = (s for s in network.servers or () if s.name == "storage01")
    gateway = IPv4Interface((int(IPv4Address("10.66.3.1")), storage.address.network.prefixlen))
    servers = tuple(
        s.model_copy(update={"address": gateway}) if s is storage else s
        for s in network.servers or ()
    )
    spoiled = replace(heps_subject, network=network.model_copy(update={"servers": servers}))
    found = trace_between(spoiled, ("readout01", "storage01"), Flow())
    assert {(path.delivered, path.reason) for path in found.paths} == {
        (False, "10.66.3.1 is also the address of leaf04 Vlanif130")
    }


def test_out_of_the_fabric_and_into_it_by_its_exits(border: ReadNetwork) -> None:
    out = trace_between(border, ("store01", "8.8.8.8"), Flow())
    assert {path.leaves_by for path in out.paths} == {"wan-a", "wan-b"}
    assert "leaves the fabric by exit wan-a" in text_of(*trace_report(out), width=80)
    into = trace_between(border, ("172.16.1.1", "store01"), Flow())
    assert into.delivered
    assert {path.hops[0].device for path in into.paths} == {"leaf01", "leaf02"}


@pytest.mark.parametrize(
    ("ends", "down", "sentence"),
    [
        (("storage09", "readout01"), (), "no server, segment or switch 'storage09'; did you mean"),
        (
            ("readout01", "10.64.9.9"),
            (),
            "no device has 10.64.9.9, and no exit leads out of the fabric",
        ),
        (("readout01", "10.66.3.99"), (), "no device has 10.66.3.99, which is in segment storage"),
        (("readout01", "readout01"), (), "readout01 and readout01 are one; name two ends"),
        (("readout01", "storage01"), ("spin01",), "--down: no switch 'spin01'; did you mean"),
        (("readout01", "storage01"), ("leaf01:100GE9/0/1",), "leaf01 has no port '100GE9/0/1'"),
    ],
)
def test_bad_ends_and_failures(
    heps_subject: ReadNetwork, ends: tuple[str, str], down: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(BadInput) as caught:
        trace_between(heps_subject, ends, Flow(), down)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("protocol", "port", "sentence"),
    [
        ("sctp", None, "no protocol 'sctp'; one of: rdma, tcp, udp, icmp"),
        ("tcp", None, "--protocol tcp without --port; for example: --port 2049"),
        ("rdma", 22, "--port with rdma; give a port with tcp or udp"),
        ("udp", 70000, "--port 70000 is no port; use 1 to 65535"),
    ],
)
def test_bad_flows(protocol: str, port: int | None, sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        flow_of(protocol, port)
    assert str(caught.value) == sentence


def test_the_command_ends_with_1_where_a_path_does_not_deliver() -> None:
    runner = CliRunner()
    words = ["trace", "heps", "readout01", "storage01", "--format", "json"]
    good = runner.invoke(cli, words)
    assert good.exit_code == 0
    assert Trace.model_validate(fields_of(good.stdout)).delivered
    cut = runner.invoke(cli, [*words, "--down", "leaf04"])
    assert cut.exit_code == 1
    assert not json.loads(cut.stdout)["paths"][0]["delivered"]
    assert isinstance(runner.invoke(cli, ["trace", "heps", "readout01"]).exception, BadInput)
