"""Both engines on HEPS with isolated segments deliver exactly the flows that the policy permits.

Batfish's answers are real ones, recorded (see RECORD_COMMAND); with a service they are requested
again.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from planned import own_policy

from rocefort.base.errors import Refused
from rocefort.design.derive.derive import derive
from rocefort.dialects.data import sources_of
from rocefort.dialects.eos import render_eos
from rocefort.dialects.network_text import render_all
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.models.network.network import Network, Node, Position, Sources
from rocefort.validators.batfish.batfish_engine import ask
from rocefort.validators.routing.engine import analyse
from rocefort.validators.rules.verification.answers import verify
from rocefort.validators.rules.verification.engine_difference import compare, disagreements
from rocefort.validators.verification.batfish_recording import record, replay

RECORDED = Path(__file__).parents[2] / "recorded"
EditHeps = Callable[..., Path]
POLICY = """
security:
  policy:
    default: deny
    entries:
      - {id: 1, action: allow, source: [beamline, compute], destination: [storage], protocol: rdma}
      - {id: 2, action: allow, source: [compute], destination: [storage], protocol: tcp, ports: [2049]}
      - {id: 3, action: allow, source: [transfer], destination: [compute, storage]}
      - {id: 4, action: deny, source: [beamline], destination: [beamline]}
      - {id: 5, action: allow, source: [transfer], destination: [beamline], protocol: icmp}
"""
# name of the recording: (device, text to replace, what it becomes, what both engines must say)
FAULTS: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "heps-policy": ("leaf05", "", "", ()),
    "heps-policy-open": (
        "leaf05",
        " traffic-policy VLAN110 inbound\n",
        "",
        (
            "RDMA of readout01 reaches daisycn01, which the policy denies",
            "RDMA of readout01 reaches readout02, which the policy denies",
            "RDMA of readout01 reaches transfer01, which the policy denies",
            "ICMP of readout01 reaches storage01, which the policy denies",
        ),
    ),
    "heps-policy-closed": (
        "leaf04",
        " rule 25120 permit tcp",
        " rule 25120 deny tcp",
        (
            "TCP from port 2049 of storage01 does not reach daisycn01, which the policy allows: "
            "rule 25120 of ACL VLAN130 on leaf04 Vlanif130 drops it",
        ),
    ),
}


@pytest.fixture
def case(edit_heps: EditHeps, fault: str) -> tuple[Network, Sources]:
    """HEPS with a policy, parsed from its text, one text edited by hand."""
    network = derive(edit_heps(own_policy(POLICY))).network
    device, old, new, _ = FAULTS[fault]
    texts = render_all(network)
    assert old in texts[device]
    texts[device] = texts[device].replace(old, new) if old else texts[device]
    nodes: list[Node] = []
    table: dict[str, Position] = {}
    for node in network.nodes:
        parsed = parse(texts[node.name], f"{node.name}.cfg")
        assert parsed.unmodelled == ()
        table |= sources_of(parsed, f"{node.name}.cfg")
        nodes.append(node.model_copy(update={"device": parsed.device}))
    return network.model_copy(update={"nodes": tuple(nodes)}), Sources(table)


@pytest.mark.parametrize("fault", FAULTS)
def test_both_engines_say_what_the_policy_and_the_text_make(
    case: tuple[Network, Sources], fault: str
) -> None:
    network, sources = case
    solution = analyse(network, sources)
    batfish = replay(network, RECORDED / f"{fault}.json")
    assert disagreements(solution, batfish) == ()
    for state in (solution.state, batfish):
        findings = verify(network, state, sources).findings
        said = [finding.message for finding in findings]
        assert [s.partition(" (and ")[0] for s in said] == list(FAULTS[fault][3])
        assert {finding.rule for finding in findings} <= {"SEC101"}
        assert all(finding.where.file and finding.where.line for finding in findings)
    if fault == "heps-policy":
        reached = solution.state.reachability
        assert 0 < reached.delivered < reached.pairs
        assert {answer.delivered for answer in batfish.answers} == {True, False}


@pytest.mark.parametrize("fault", ["heps-policy"])
def test_engines_that_differ_on_a_flow_are_an_error(case: tuple[Network, Sources]) -> None:
    network, sources = case
    state = analyse(network, sources).state
    first, *others = state.answers
    turned = first.model_copy(update={"delivered": not first.delivered})
    other = state.model_copy(update={"engine": "other", "answers": (turned, *others)})
    (finding,) = compare(state, other, network)
    assert finding.message == (
        f"the engines disagree: {first.flow} of {first.source} to {first.destination}: "
        "embedded reports delivered, other reports not delivered"
    )


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (" rule 10130 permit udp", " rule 10130 permit udp dscp 34", "matches by DSCP"),
        (" rule 10130 permit udp", " rule 10130 permit udp time-range night", "is not modelled"),
        (
            "precedence 5\n",
            "precedence 5\n classifier X behavior X\n",
            "has 2 classifiers, not one",
        ),
        ("#\ntraffic behavior PERMIT", "", "traffic behavior PERMIT does not exist"),
        (
            "undo portswitch\n",
            "undo portswitch\n traffic-policy VLAN120 inbound\n",
            "not to a Vlanif",
        ),
    ],
)
@pytest.mark.parametrize("fault", ["heps-policy"])
def test_what_is_not_evaluated_is_refused(
    case: tuple[Network, Sources], old: str, new: str, sentence: str
) -> None:
    network, _ = case
    text = render_all(network)["leaf04"]
    assert old in text
    parsed = parse(text.replace(old, new, 1), "leaf04.cfg")
    update = {"device": parsed.device, "unmodelled": parsed.unmodelled}
    nodes = tuple(n.model_copy(update=update) if n.name == "leaf04" else n for n in network.nodes)
    with pytest.raises(Refused) as caught:
        analyse(network.model_copy(update={"nodes": nodes}))
    assert sentence in str(caught.value)


@pytest.mark.parametrize("fault", ["heps-policy"])
def test_the_access_list_in_eos(case: tuple[Network, Sources]) -> None:
    text = render_eos(case[0].by_name["leaf04"].device)
    assert "   ip access-group TP-VLAN130 in\n" in text
    assert text[text.index("ip access-list TP-VLAN130") :].split("!")[0].splitlines()[1:] == [
        "   10 permit udp 10.66.0.0/16 10.64.0.0/16 eq 4791",
        "   20 permit udp 10.66.0.0/16 10.65.0.0/16 eq 4791",
        "   30 permit tcp 10.66.0.0/16 eq 2049 10.65.0.0/16",
        "   40 permit ip 10.66.0.0/16 10.67.0.0/16",
        "   50 deny ip 10.66.0.0/16 10.64.0.0/16",
        "   60 deny ip 10.66.0.0/16 10.65.0.0/16",
        "   70 permit ip any any",
    ]


@pytest.mark.batfish
@pytest.mark.parametrize("fault", FAULTS)
def test_a_live_service_says_what_is_recorded(
    case: tuple[Network, Sources], fault: str, service: tuple[str, int]
) -> None:
    path = RECORDED / f"{fault}.json"
    if os.environ.get("ROCEFORT_RECORD") == "1":
        record(case[0], path, *service)
    assert ask(case[0], *service) == replay(case[0], path)
