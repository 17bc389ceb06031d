"""Policy between segments: its meaning, its ACLs, and growth without changes of ACLs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from planned import own_policy

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import derive
from rocefort.dialects.network_text import render_all
from rocefort.models.device.packet_filters import Flow
from rocefort.models.fabric.policy import PolicyEntry, SegmentPolicy
from rocefort.models.network.network import Network
from rocefort.rdma.plan.gate_pairs import plan_gate

EditHeps = Callable[..., Path]
SSH, SSH_REPLY = (
    Flow(protocol="tcp", destination_port=22),
    Flow(protocol="tcp", source_port=22, destination_port=49152),
)
PING = Flow(protocol="icmp")


def entry(**fields: Any) -> PolicyEntry:
    return PolicyEntry(
        **{"id": 1, "action": "allow", "source": ("a",), "destination": ("b",)} | fields
    )


@pytest.mark.parametrize(
    ("default", "entries", "query", "allowed"),
    [
        ("allow", (), ("a", "b", Flow()), True),
        ("deny", (), ("a", "b", Flow()), False),
        ("deny", (), ("a", "a", Flow()), True),  # the default does not apply within a segment
        ("deny", (entry(),), ("a", "b", PING), True),
        ("deny", (entry(),), ("b", "a", PING), True),  # replies
        ("deny", (entry(),), ("a", "c", PING), False),
        ("deny", (entry(protocol="rdma"),), ("a", "b", Flow()), True),
        ("deny", (entry(protocol="rdma"),), ("b", "a", Flow()), True),
        ("deny", (entry(protocol="rdma"),), ("a", "b", SSH), False),
        ("deny", (entry(protocol="tcp", ports=(22,)),), ("a", "b", SSH), True),
        ("deny", (entry(protocol="tcp", ports=(22,)),), ("b", "a", SSH_REPLY), True),
        ("deny", (entry(protocol="tcp", ports=(22,)),), ("b", "a", SSH), False),
        ("deny", (entry(protocol="tcp", ports=(23, 99)),), ("a", "b", SSH), False),
        ("deny", (entry(protocol="tcp", ports=(20, 22)),), ("a", "b", SSH), True),
        ("allow", (entry(action="deny", destination=("a",)),), ("a", "a", Flow()), False),
        ("allow", (entry(id=2, action="deny"), entry(id=1)), ("a", "b", Flow()), True),
        ("allow", (entry(id=1, action="deny"), entry(id=2)), ("a", "b", Flow()), False),
    ],
)
def test_what_a_policy_allows(
    default: Any, entries: tuple[PolicyEntry, ...], query: tuple[str, str, Flow], allowed: bool
) -> None:
    assert SegmentPolicy(default=default, entries=entries).allows(*query) is allowed


POLICY = """
security:
  policy:
    default: deny
    entries:
      - {id: 1, action: allow, source: [compute], destination: [storage], protocol: rdma}
      - {id: 2, action: allow, source: [compute], destination: [storage], protocol: tcp, ports: [2049]}
      - {id: 7, action: allow, source: [beamline, transfer], destination: [storage]}
"""


def acl(network: Network, device: str, name: str) -> list[str]:
    node = network.by_name[device]
    acls = {acl.name: acl for acl in node.device.filters.acls}
    text = render_all(network.model_copy(update={"nodes": (node,)}))[device]
    body = text[text.index(f"acl name {name} advance") :].split("\n#")[0].splitlines()[1:]
    assert len(body) == len(acls[name].rules)
    return [line.strip() for line in body]


def test_the_acls_of_a_leaf(edit_heps: EditHeps) -> None:
    network = derive(edit_heps(own_policy(POLICY))).network
    compute, storage = "10.65.0.0 0.0.255.255", "10.66.0.0 0.0.255.255"
    assert acl(network, "leaf04", "VLAN120") == [
        f"rule 10130 permit udp source {compute} destination {storage} destination-port eq 4791",
        f"rule 20130 permit tcp source {compute} destination {storage} destination-port eq 2049",
        f"rule 100000110 deny ip source {compute} destination 10.64.0.0 0.0.255.255",
        f"rule 100000130 deny ip source {compute} destination {storage}",
        f"rule 100000140 deny ip source {compute} destination 10.67.0.0 0.0.255.255",
    ]
    assert acl(network, "leaf04", "VLAN130") == [  # replies have rules of their own
        f"rule 15120 permit udp source {storage} destination {compute} destination-port eq 4791",
        f"rule 25120 permit tcp source {storage} source-port eq 2049 destination {compute}",
        f"rule 75110 permit ip source {storage} destination 10.64.0.0 0.0.255.255",
        f"rule 75140 permit ip source {storage} destination 10.67.0.0 0.0.255.255",
        f"rule 100000120 deny ip source {storage} destination {compute}",
    ]
    applied = {
        (node.name, port.name): port.filter_in
        for node in network.nodes
        for port in node.device.interfaces
        if port.filter_in or port.filter_out
    }
    assert applied[("leaf04", "Vlanif130")] == "VLAN130"
    assert set(applied.values()) == {"VLAN110", "VLAN120", "VLAN130", "VLAN140"}
    assert all(name.startswith("leaf") for name, _ in applied)


def test_without_a_policy_or_where_it_says_nothing_there_is_no_filter(edit_heps: EditHeps) -> None:
    silent = POLICY.split("    entries", maxsplit=1)[0].replace("deny", "allow")
    network = derive(edit_heps(own_policy(silent))).network
    assert all("traffic" not in text for text in render_all(network).values())


NEW_LEAF = """  - id: 9
    name: leaf09
    hardware: CE6866-48S8CQ-P
    software: V300R023C00
    segments: [archive, compute]

servers:
"""
NEW_SEGMENT = """  - name: archive
    role: storage
    vlan: 99
    prefix: 10.68.0.0/16
  - name: management """


def test_law_3_another_leaf_and_segment_only_add_lines(edit_heps: EditHeps) -> None:
    before = render_all(derive(edit_heps(own_policy(POLICY))).network)
    after = render_all(
        derive(
            edit_heps(
                own_policy(POLICY),
                ("\nservers:\n", f"\n{NEW_LEAF}"),
                ("  - name: management ", NEW_SEGMENT),
            )
        ).network
    )
    for name, text in before.items():
        lines = iter(after[name].splitlines())
        assert all(line in lines for line in text.splitlines()), name  # in order, none gone
    added = set(after["leaf04"].splitlines()) - set(before["leaf04"].splitlines())
    assert sorted(added) == [
        " rule 100000099 deny ip source 10.65.0.0 0.0.255.255 destination 10.68.0.0 0.0.255.255",
        " rule 100000099 deny ip source 10.66.0.0 0.0.255.255 destination 10.68.0.0 0.0.255.255",
    ]


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        (
            "      - {id: 1, action: deny, source: [compute], destination: [storge]}\n",
            "security.policy.entries[0].destination[0]: no segment 'storge' with a VLAN; did you "
            "mean 'storage'?",
        ),
        (
            "      - {id: 1, action: deny, source: [management], destination: [storage]}\n",
            "security.policy.entries[0].source[0]: no segment 'management' with a VLAN",
        ),
        (
            "      - {id: 3, action: deny, source: [compute], destination: [storage]}\n"
            "      - {id: 3, action: allow, source: [compute], destination: [beamline]}\n",
            "security.policy.entries[1].id: id 3 is given twice; write another one: the first is on line ",
        ),
        (
            "      - {id: 3, action: deny, source: [compute], destination: [storage], ports: [1]}\n",
            "security.policy.entries[0]: ports with protocol any; give them with tcp or udp",
        ),
        (
            "      - {id: 3, action: deny, source: [compute], destination: [storage], "
            "protocol: tcp, ports: [9, 1]}\n",
            "security.policy.entries[0]: ports 9 to 1; the lower one comes first",
        ),
        (
            "      - {id: 10000, action: deny, source: [compute], destination: [storage]}\n",
            "security.policy.entries[0].id: 10000 is out of range; write an id from 1 to 9999",
        ),
    ],
)
def test_bad_policies(edit_heps: EditHeps, entries: str, sentence: str) -> None:
    path = edit_heps(own_policy(f"  policy:\n    entries:\n{entries}"))
    with pytest.raises(BadInput) as caught:
        derive(path)
    assert sentence in str(caught.value)


def test_a_gateway_outside_its_segment_cannot_be_filtered(edit_heps: EditHeps) -> None:
    pinned = "segments: [compute, storage]\n    pins: {gateways: {storage: 10.99.0.1/24}}\n"
    path = edit_heps(own_policy(POLICY), ("segments: [compute, storage]\n", pinned))
    with pytest.raises(BadInput) as caught:
        derive(path)
    assert (
        "10.99.0.0/24 is not in 10.66.0.0/16, by which security.policy identifies packets of storage"
        in str(caught.value)
    )


def test_gates_pair_servers_that_the_policy_lets_talk(edit_heps: EditHeps) -> None:
    fabric = derive(edit_heps(own_policy(POLICY)))
    servers = {server.name: server.segment for server in fabric.network.servers or ()}
    gate = plan_gate(fabric.network, fabric.fabric.rdma)
    pairs = {(servers[pair.client], servers[pair.server]) for pair in gate.pairs}
    policy = fabric.network.policy
    assert policy is not None
    assert pairs
    assert all(policy.allows(*pair, Flow()) for pair in pairs)
    alone = fabric.network.model_copy(
        update={"policy": SegmentPolicy(default="deny", entries=()), "servers": None}
    )
    apart = [s for s in fabric.network.servers or () if s.name in ("transfer01", "storage01")]
    denied = plan_gate(alone.model_copy(update={"servers": tuple(apart)}), fabric.fabric.rdma)
    assert denied.pairs == ()
    assert denied.unmeasured[0] == ("leaf01, the policy denies RDMA to servers of other leaves")
