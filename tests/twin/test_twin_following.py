"""Changes that a switch of a twin makes alone or cannot apply: trials that end, refusals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from ipaddress import IPv4Address, IPv4Network
from time import monotonic, sleep

import pytest

from rocefort.base.repository import INVENTORY
from rocefort.design.derive.derive import derive
from rocefort.design.subject import ReadNetwork, subject_of_derived
from rocefort.emulator.cli.server import DurableSession
from rocefort.emulator.emulated_site import Rehearsal, rehearse
from rocefort.emulator.options import LabOptions
from rocefort.emulator.switch.audit_log import read_audit_log
from rocefort.emulator.switch.personality import Personality
from rocefort.emulator.switch.state_source import RouteState
from rocefort.lab.twin.config_sync import ConfigSync, with_plan
from rocefort.lab.twin.registry import Registry, lines_directory
from rocefort.lab.twin.state_source import GREETING, TwinStateSource
from rocefort.lab.twin.status import status_of
from rocefort.lab.twin.twin import Twin, TwinOptions
from rocefort.lab.twin_cli import couple_twin
from rocefort.models.network.network import Network

pytestmark = pytest.mark.twin
KEPT = {"spine01", "spine02", "leaf01", "leaf02"}
FAR = IPv4Network("10.0.1.2/32")  # the loopback of leaf02
PLACE = ("system-view", "bgp 65101")
Typed = Callable[..., str]


@pytest.fixture(scope="module")
def small() -> ReadNetwork:
    """Two spines and two leaves of HEPS."""
    subject = subject_of_derived(derive(INVENTORY / "heps" / "fabric.yaml"))
    network: Network = subject.network
    cut = network.model_copy(
        update={
            "nodes": tuple(n for n in network.nodes if n.name in KEPT),
            "servers": tuple(s for s in network.servers or () if s.port.device in KEPT),
            "links": tuple(k for k in network.links or () if {k.a.device, k.b.device} <= KEPT),
        }
    )
    return replace(subject, network=cut)


@pytest.fixture(scope="module")
def twin(small: ReadNetwork, registry: Registry) -> Iterator[Twin]:
    new_twin = Twin.up(small.network, "small", TwinOptions(bfd=False), registry)
    yield new_twin
    new_twin.down()


@pytest.fixture(scope="module")
def lab(twin: Twin, small: ReadNetwork) -> Iterator[Rehearsal]:
    """Run command lines in this process, where a test can move the clock of a trial."""
    couple = partial(couple_twin, twin.registry, twin.record)
    state = lines_directory(twin.registry, twin.record)
    survives = LabOptions(personality=Personality(trial_mode="survives"))  # its session has ended
    with rehearse(small.network, small.texts, state, survives, couple) as running:
        yield running


@pytest.fixture
def typed(lab: Rehearsal) -> Typed:
    """Type lines on leaf01 in a session of their own; returns the output."""

    def type_(*lines: str) -> str:
        output: list[str] = []

        def work() -> None:
            audit_log, switch = lab.server.audit_log, lab.switches["leaf01"]
            session = DurableSession(switch, "netops", None, audit_log)
            output.extend(session.handle(line).text for line in lines)
            session.close()

        lab.server.call(work)
        return "\n".join(output)

    return type_


def _watch(lab: Rehearsal) -> None:
    following = lab.server.audit_log
    assert isinstance(following, ConfigSync)
    lab.server.call(following.watch)


def _comes(true: Callable[[], bool]) -> bool:
    """Whether a condition becomes true soon: daemons and kernels take their time."""
    until = monotonic() + 40
    while not true() and monotonic() < until:
        sleep(0.05)
    return true()


def _protocols(state: TwinStateSource, prefix: IPv4Network) -> list[str]:
    return [r.protocol for r in state.routes("leaf01") if r.prefix == prefix]


def _port(state: TwinStateSource, switch: str, name: str) -> str:
    return next(s.physical for s in state.interfaces(switch) if s.name == name)


def _hops(twin: Twin, count: int) -> int:
    """Return next hops of leaf01 to leaf02, once they are as many, or after a while."""
    _comes(lambda: len(twin.fib("leaf01").get(FAR, ())) == count)
    return len(twin.fib("leaf01").get(FAR, ()))


def _drops(twin: Twin) -> dict[str, int]:
    with twin.daemons("leaf01").vty("bgpd") as vty:
        peers = vty.read("show bgp ipv4 unicast summary json")["peers"]
    return {peer: row["connectionsDropped"] for peer, row in peers.items()}


ONE_PATH = (*PLACE, "ipv4-family unicast", "maximum load-balancing 1")


def test_a_trial_that_nobody_confirms_leaves_the_kernel(
    twin: Twin, lab: Rehearsal, typed: Typed
) -> None:
    whole, drops = twin.fib("leaf01"), _drops(twin)
    assert len(whole[FAR]) == 2
    assert "trial" in typed(*ONE_PATH, "commit trial 60")
    assert _hops(twin, 1) == 1
    leaf = lab.switches["leaf01"]
    assert leaf.trial is not None
    leaf.trial = replace(leaf.trial, deadline=leaf.clock())
    _watch(lab)
    assert _hops(twin, 2) == 2
    assert twin.fib("leaf01") == whole
    assert _drops(twin) == drops


def test_an_abort_and_a_rollback_leave_the_kernel(twin: Twin, lab: Rehearsal, typed: Typed) -> None:
    assert "succeeded" in typed(*ONE_PATH, "commit trial 60", "abort trial", "Y")
    assert _hops(twin, 2) == 2
    assert "Error" not in typed(*ONE_PATH, "commit")
    assert _hops(twin, 1) == 1
    assert "Error" not in typed("rollback configuration last 1", "Y")
    assert _hops(twin, 2) == 2


def test_what_the_twin_cannot_do_is_told_and_forgotten_when_undone(
    twin: Twin, lab: Rehearsal, typed: Typed
) -> None:
    spoilt = "ip route-static 10.99.0.0 255.255.0.0 NULL0 preference 255"
    assert "Error" not in typed("system-view", spoilt, "commit")
    why = "preference 255 is not below that of BGP in the twin"
    (wrong,) = [text for text in status_of("small", twin.registry).wrong if "leaf01" in text]
    assert wrong.startswith(
        "leaf01 runs what the twin does not: leaf01 ip route-static 10.99.0.0/16"
    )
    assert why in wrong
    rows = read_audit_log(lines_directory(twin.registry, twin.record) / "deeds.jsonl")
    assert [row.switch for row in rows if why in row.line] == ["leaf01"]
    assert "Error" not in typed(
        "system-view", f"undo {spoilt.partition(' preference')[0]}", "commit"
    )
    assert not [t for t in status_of("small", twin.registry).wrong if "leaf01" in t]


def test_a_static_route_and_a_shutdown_show_as_the_kernel_has_them(
    twin: Twin, lab: Rehearsal, typed: Typed
) -> None:
    state = lab.model
    assert isinstance(state, TwinStateSource)
    assert lab.switches["leaf01"].greeting == GREETING
    prefix = IPv4Network("10.98.0.0/16")
    typed("system-view", "ip route-static 10.98.0.0 255.255.0.0 NULL0", "commit")
    assert _comes(lambda: _protocols(state, prefix) == ["Static"])
    typed("system-view", "undo ip route-static 10.98.0.0 255.255.0.0 NULL0", "commit")
    assert _comes(lambda: not _protocols(state, prefix))
    heard = {n.interface: (n.device, n.port) for n in state.neighbours("leaf01")}
    assert heard["100GE1/0/57"] == ("spine01", "100GE1/1/1")
    typed("system-view", "interface 100GE1/0/57", "shutdown", "commit")
    states = {s.name: s for s in state.interfaces("leaf01")}
    assert states["100GE1/0/57"].physical == "*down"
    assert _comes(lambda: _port(state, "spine01", "100GE1/1/1") == "down")
    assert "100GE1/0/57" not in {n.interface for n in state.neighbours("leaf01")}
    assert _hops(twin, 1) == 1
    (route,) = (r for r in state.routes("leaf01") if r.prefix == FAR)
    assert route == RouteState(FAR, "EBGP", 255, (("10.1.0.2", "100GE1/0/58"),))
    typed("system-view", "interface 100GE1/0/57", "undo shutdown", "commit")
    assert _hops(twin, 2) == 2
    assert _comes(lambda: state.peers("leaf01")[0].state == "Established")


def test_the_bgp_table_is_that_of_bgpd(twin: Twin, lab: Rehearsal, typed: Typed) -> None:
    assert _hops(twin, 2) == 2
    shown = typed("display bgp routing-table").splitlines()
    (at,) = [n for n, row in enumerate(shown) if f" {FAR.network_address}/" in row]
    (as_path,) = [p.as_path for p in lab.model.bgp_paths("leaf01") if p.prefix == FAR and p.best]
    assert len(as_path) == 2
    origin = " ".join(map(str, as_path)) + "i"
    assert [row.split() for row in shown[at : at + 2]] == [
        ["*>", str(FAR), "10.1.0.0", "0", origin.split()[0], origin.split()[1]],
        ["*", "10.1.0.2", "0", origin.split()[0], origin.split()[1]],
    ]
    (own,) = [row.split() for row in shown if " 10.0.1.1/32 " in row]
    assert own == ["*>", "10.0.1.1/32", "0.0.0.0", "0", "0", "i"]
    paths = lab.model.bgp_paths("leaf01")
    learned = {p.prefix for p in paths if p.as_path}
    assert learned == twin.fib("leaf01", ["bgp"]).keys()
    for prefix in learned:
        hops = {IPv4Address(p.next_hop) for p in paths if p.prefix == prefix}
        assert hops == twin.fib("leaf01")[prefix]
    assert f" Total Number of Routes: {len(paths)}" in shown
    assert lab.model.bgp_paths("nobody") == ()


def test_a_port_that_the_text_names_no_more_is_bare(twin: Twin) -> None:
    topology = Twin.find("small", twin.registry).topology
    plan = topology.by_switch["leaf01"]
    port = next(link for link in plan.links if link.name == "100GE1_0_57")
    less = plan.model_copy(update={"links": tuple(k for k in plan.links if k != port)})
    ports = with_plan(topology, less)
    (bare,) = [k for k in ports.by_switch["leaf01"].links if k.name == port.name]
    assert (bare.up, bare.addresses, bare.interface) == (True, (), "100GE1/0/57")
    assert ports.cables == topology.cables
    assert with_plan(ports, plan).by_switch["leaf01"] == plan


def test_a_ping_is_real(twin: Twin, lab: Rehearsal, typed: Typed) -> None:
    assert _hops(twin, 2) == 2
    host, own = str(FAR.network_address), "-a 10.0.1.1"  # links' addresses are in no route
    output = typed(f"ping -c 3 -s 1000 -m 10 {own} {host}")
    assert re.findall(r"Reply from (\S+): bytes=1000 Sequence=(\d) ttl=63 ", output) == [
        (host, "1"),
        (host, "2"),
        (host, "3"),
    ]
    assert "3 packet(s) received\n    0.00% packet loss\n    round-trip min/avg/max = " in output
    assert "100.00% packet loss" in typed(f"ping -c 2 -h 1 -t 100 {own} {host}")  # spine01 ends it
    assert "  0.00% packet loss" in typed(f"ping -i 100GE1/0/57 -c 1 {own} {host}")
    assert "100.00% packet loss" in typed("ping -c 2 -t 100 198.51.100.1")  # no route
    wrong = typed(f"ping -a 192.0.2.77 {host}")
    assert wrong.startswith(
        "Error: This emulator cannot ping it: the kernel reports: Cannot assign"
    )
    assert "System name                        :spine01" in typed("display lldp neighbor")
