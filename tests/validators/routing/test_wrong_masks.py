"""A wrong mask on a link has one verdict, by texts alone and with intent."""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import IPv4Interface

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.base.errors import Refused
from rocefort.design.infer import infer
from rocefort.models.network.network import Network, Node
from rocefort.validators.batfish.snapshot import snapshot_files
from rocefort.validators.checks import check
from rocefort.validators.routing.engine import analyse, solve
from rocefort.validators.rules.verification.answers import verify

Clos = Callable[..., Network]
Edits = dict[str, Callable[..., Network]]


def _texts(network: Network) -> Network:
    return infer("texts", [Node(device=node.device) for node in network.nodes])


def _masked(clos: Clos, edits: Edits, link: int, leaf: bool, length: int) -> Network:
    network = clos(2, 3)
    assert network.links is not None
    end = network.links[link].b if leaf else network.links[link].a
    port = network.interface(end)
    assert port is not None
    address = IPv4Interface(f"{port.addresses[0].ip}/{length}")
    return edits["port"](network, end.device, end.interface, addresses=(address,))


def _adr003(network: Network) -> list[set[str]]:
    """Addresses that ADR003 names; either end of a cable may be its first."""
    findings = [f.message for f in check(network).findings if f.rule == "ADR003"]
    return [set(re.findall(r"\d+\.\S+/\d+", message)) for message in findings]


def _sessions(network: Network) -> list[str]:
    report = verify(network, solve(network))
    return sorted(f"{f.where}: {f.message}" for f in report.findings if f.rule == "BGP101")


@pytest.mark.parametrize("length", [23, 24, 29, 30])
def test_check_names_the_two_masks(clos: Clos, edits: Edits, length: int) -> None:
    """leaf3's port to spine2; its subnet begins elsewhere than the link's."""
    network = _masked(clos, edits, 5, leaf=True, length=length)
    addresses = {f"172.16.0.11/{length}", "172.16.0.10/31"}
    for judged in (network, _texts(network)):
        assert _adr003(judged) == [addresses]
        with pytest.raises(Refused, match="Batfish does not follow such a link"):
            snapshot_files(judged)


@given(st.integers(0, 5), st.booleans(), st.integers(8, 32))
@settings(max_examples=tries(100))
def test_texts_alone_give_the_verdict_of_intent(
    clos: Clos, edits: Edits, link: int, leaf: bool, length: int
) -> None:
    network = _masked(clos, edits, link, leaf, length)
    texts = _texts(network)
    assert _adr003(texts) == _adr003(network)
    assert len(_adr003(texts)) == (length != 31)
    assert _sessions(texts) == _sessions(network)
    assert analyse(texts).state.routes == analyse(network).state.routes


def test_a_port_whose_far_end_has_no_text_has_no_cable(clos: Clos) -> None:
    network = clos(2, 3)
    nodes = [Node(device=node.device) for node in network.nodes if node.name != "spine2"]
    links = infer("texts", nodes).links or ()
    assert len(links) == 3
