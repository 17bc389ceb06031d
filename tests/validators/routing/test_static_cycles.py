"""Cyclic buffer dependencies that static routes close, by what forwards and not by BGP alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from ipaddress import IPv4Address, IPv4Network
from itertools import pairwise
from pathlib import Path

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from rocefort.models.device.packet_filters import Flow
from rocefort.models.device.routing import StaticRoute
from rocefort.models.network.network import LosslessIntent, Network, Sources
from rocefort.tasks import cli
from rocefort.validators.checks import check
from rocefort.validators.failures.study import study
from rocefort.validators.routing.buffer_dependencies import Buffer, bgp_alone, components
from rocefort.validators.routing.engine import Solution, analyse
from rocefort.validators.routing.trace import trace
from rocefort.validators.routing_results import Endpoint, TracePath

Clos = Callable[..., Network]
Edits = dict[str, Callable[..., Network]]
QUEUE = LosslessIntent(
    queue=4, roce_dscp=34, cnp_dscp=48, detect_ms=100, recovery_ms=100, headroom_mtu=9216
)


def _neighbour(network: Network, name: str, other: str) -> IPv4Address:
    """Address of a neighbour on the first link to it."""
    for link in network.links or ():
        ends = {link.a.device: link.a, link.b.device: link.b}
        if ends.keys() == {name, other} and (port := network.interface(ends[other])):
            return port.addresses[0].ip
    raise AssertionError(f"{name} and {other} have no link")


def _routed(network: Network, edits: Edits, *routes: tuple[str, str, str]) -> Network:
    """Static routes: the switch, the prefix, and the neighbour to which it leads."""
    by_switch: dict[str, dict[StaticRoute, None]] = defaultdict(dict)
    for name, prefix, other in routes:
        hop = _neighbour(network, name, other)
        by_switch[name][StaticRoute(prefix=IPv4Network(prefix), next_hop=hop)] = None
    for name, own in by_switch.items():
        network = edits["device"](network, name, static_routes=tuple(own))
    return network


BOUNCES = (
    ("spine1", "10.5.10.0/24", "leaf1"),
    ("leaf1", "10.5.10.0/24", "spine2"),
    ("spine2", "10.1.10.0/24", "leaf5"),
    ("leaf5", "10.1.10.0/24", "spine1"),
)


def _clos(clos: Clos, spines: int = 2, leaves: int = 5) -> Network:
    return clos(spines, leaves).model_copy(update={"lossless": QUEUE})


def _dlk001(network: Network) -> list[str]:
    report = check(network)
    return [f.message for f in report.findings if f.rule == "DLK001"]


def test_two_bounces_by_static_routes_close_a_cycle(clos: Clos, edits: Edits) -> None:
    network = _routed(_clos(clos), edits, *BOUNCES)
    (message,) = _dlk001(network)
    assert message.startswith("cyclic buffer dependency in queue 4: ")
    circle = message.rpartition(": ")[2].split(" > ")[:-1]
    assert circle[circle.index("spine1") :] + circle[: circle.index("spine1")] == [
        "spine1", "leaf1", "spine2", "leaf5"
    ]  # fmt: skip
    done = study(network)
    assert done.circles == (
        f"not judged: there is one without any failure: {message.rpartition(': ')[2]}"
    )


@pytest.mark.parametrize("spine", ["spine1", "spine2"])
def test_one_bounce_closes_none(clos: Clos, edits: Edits, spine: str) -> None:
    """Without one spine's route nothing excludes a cycle, and the study of failures searches it."""
    routes = [route for route in BOUNCES if route[0] != spine]
    network = _routed(_clos(clos), edits, *routes)
    assert _dlk001(network) == []
    assert not bgp_alone(network)
    assert study(network).circles == ""


@pytest.mark.parametrize(
    ("prefix", "alone"),
    [
        ("10.3.10.0/24", False),
        ("10.3.0.0/16", False),
        ("10.3.10.128/25", False),
        ("0.0.0.0/0", False),
        ("192.0.2.0/24", True),
    ],
)
def test_bgp_decides_alone_where_no_static_route_overlaps_a_subnet(
    clos: Clos, edits: Edits, prefix: str, *, alone: bool
) -> None:
    assert bgp_alone(_routed(_clos(clos), edits, ("leaf2", prefix, "spine1"))) is alone


def test_a_floating_route_closes_a_cycle_after_a_failure(clos: Clos, edits: Edits) -> None:
    """spine1 sends packets for leaf3 by leaf1 only once its link to leaf3 is lost."""
    network = _routed(
        _clos(clos),
        edits,
        ("leaf2", "10.3.10.0/24", "spine1"),
        ("spine1", "10.3.10.0/24", "leaf3"),
        ("leaf1", "10.3.10.0/24", "spine2"),
        ("spine2", "10.4.10.0/24", "leaf5"),
        ("leaf5", "10.4.10.0/24", "spine1"),
    )
    (first,) = network.by_name["spine1"].device.static_routes
    other = _neighbour(network, "spine1", "leaf1")
    floating = first.model_copy(update={"next_hop": other, "preference": 200})
    network = edits["device"](network, "spine1", static_routes=(first, floating))
    assert _dlk001(network) == []
    circles = {str(e.failure): e.circle for e in study(network).effects if e.circle}
    found = circles["leaf3 100GE1/0/1 - spine1 100GE1/0/3"]
    assert found == "leaf1 > spine2 > leaf5 > spine1 > leaf1"


def _paths(solution: Solution, leaves: int) -> Iterator[TracePath]:
    """Every path from each server to each subnet, to a server and to an address without one."""
    for a in range(1, leaves + 1):
        start = Endpoint(name=f"srv{a}-1", address=IPv4Address(f"10.{a}.10.11"), server=True)
        for b in range(1, leaves + 1):
            for host in (11, 200) if b != a else ():
                address = IPv4Address(f"10.{b}.10.{host}")
                end = Endpoint(name=str(address), address=address, server=False)
                yield from trace(solution, (start, end), Flow(), Sources()).paths


def _buffers(path: TracePath) -> tuple[Buffer, ...]:
    """Buffers of a path; packets in a loop pass its first link again."""
    names = [hop.device for hop in path.hops]
    if path.reason.startswith("packets loop: "):
        names += path.reason.removeprefix("packets loop: ").split(" - ")[:2]
    return tuple((a, b, 4) for a, b in pairwise(names))


PREFIXES = ("10.{}.10.0/24", "10.{}.10.0/25", "10.{}.0.0/16", "0.0.0.0/0")


@given(st.data())
@settings(max_examples=tries(150))
def test_the_verdict_is_that_of_all_traces(clos: Clos, edits: Edits, data: st.DataObject) -> None:
    """A search over every path of the trace, by definition, for random static routes."""
    spines, leaves = data.draw(st.integers(2, 3)), data.draw(st.integers(2, 4))
    network = _clos(clos, spines, leaves)
    side = st.tuples(st.integers(1, spines), st.integers(1, leaves), st.booleans())
    routes = []
    for spine, leaf, up in data.draw(st.lists(side, max_size=8)):
        prefix = data.draw(st.sampled_from(PREFIXES)).format(data.draw(st.integers(1, leaves)))
        ends = (f"leaf{leaf}", f"spine{spine}") if up else (f"spine{spine}", f"leaf{leaf}")
        routes.append((ends[0], prefix, ends[1]))
    network = _routed(network, edits, *routes)
    graph: defaultdict[Buffer, set[Buffer]] = defaultdict(set)
    for path in _paths(analyse(network), leaves):
        for waiting, awaited in pairwise(_buffers(path)):
            graph[waiting].add(awaited)
            graph[awaited].update(())
    expected = components({buffer: frozenset(after) for buffer, after in graph.items()})
    assert bool(_dlk001(network)) is bool(expected)


STATIC = "ip route-static 10.{}.{}.0 255.255.255.0 {}\n#\nreturn"


def test_the_texts_alone_show_the_cycle(tmp_path: Path) -> None:
    """leaf01 serves 10.64.0.0/24 and leaf05 10.64.4.0/24; each is bounced off the other."""
    runner, texts = CliRunner(), tmp_path / "texts"
    assert runner.invoke(cli, ["render", "heps", "--out", str(texts)]).exit_code == 0
    for name, subnet, hop in (
        ("spine01", (64, 4), "10.1.0.1"),  # leaf01
        ("leaf01", (64, 4), "10.1.0.2"),  # spine02
        ("spine02", (67, 0), "10.1.0.67"),  # leaf05
        ("leaf05", (67, 0), "10.1.0.64"),  # spine01
    ):
        path = texts / f"{name}.cfg"
        text = path.read_text(encoding="utf-8")
        assert text.count("#\nreturn") == 1
        path.write_text(text.replace("#\nreturn", "#\n" + STATIC.format(*subnet, hop)), "utf-8")
    done = runner.invoke(cli, ["check", "--configs", str(texts), "--select", "DLK001"])
    words = " ".join(done.output.split())
    assert done.exit_code == 1
    assert "cyclic buffer dependency in queue 4: leaf01 > spine02 > leaf05 > spine01" in words
    done = runner.invoke(cli, ["verify", "--configs", str(texts)])
    words = " ".join(done.output.split())
    assert "not judged: there is one without any failure: leaf01 > spine02 > leaf05" in words
    assert "no path passes the AS of the spines twice" not in words
