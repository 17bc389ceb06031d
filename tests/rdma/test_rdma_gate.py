"""Gate over real SSH: good pairs pass, a bad run fails with its cause, no process remains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from nornir.core import Nornir
from nornir.core.inventory import Host

from rocefort.base.errors import Refused, RocefortError
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.emulator.servers.ssh_hosts import (
    NEWEST_VERSION,
    ProcessOutput,
    RdmaHosts,
    read_sample,
)
from rocefort.fleet.connections import Connections
from rocefort.fleet.nornir_session import open_fleet
from rocefort.models.change.plan import Gate, GatePair
from rocefort.models.network.network import Network
from rocefort.rdma.plan.command_lines import NEWEST_TRIED, untried_versions
from rocefort.rdma.plan.gate_pairs import plan_gate, plan_pairs, traffic_class
from rocefort.rdma.plan.probe import perftest_versions
from rocefort.rdma.rdma_plan import Program
from rocefort.rdma.results import MeasurementVerdict
from rocefort.rdma.run.gate import GateResult, expectation, perftest_command, run_gate

GOOD = {"ib_write_bw": "4.5/ib_write_bw.tclass106", "ib_write_lat": "4.5/ib_write_lat.iters"}
PAIR = "k8sgn12 -> k8sgn08"


@dataclass
class Site:
    """Servers, connections and network of a gate."""

    hosts: RdmaHosts
    nornir: Nornir
    gate: Gate
    connections: Connections


@pytest.fixture
def site(
    heps: DerivedNetwork, tmp_path: Path, access_to: Callable[..., Connections]
) -> Iterator[Site]:
    network = heps.network
    good = {tool: read_sample(name) for tool, name in GOOD.items()}
    addresses = {server.name: str(server.address.ip) for server in network.servers or ()}
    with RdmaHosts(addresses, good, tmp_path).in_thread() as hosts:
        connections = access_to(network, hosts, tmp_path)
        gate = plan_gate(network, heps.fabric.rdma, {"leaf03"}, "the servers are emulated")
        with open_fleet(network, connections) as nornir:
            yield Site(hosts, nornir, gate, connections)
        assert hosts.running == ()


def leaves_of(network: Network, pairs: tuple[GatePair, ...]) -> list[set[str]]:
    at = {server.name: server.port.device for server in network.servers or ()}
    return [{at[pair.client], at[pair.server]} for pair in pairs]


# --- planning -----------------------------------------------------------------------------------


def test_heps_pairs_cover_every_leaf_once_at_one_speed(heps: DerivedNetwork) -> None:
    pairs = plan_pairs(heps.network)
    covered = leaves_of(heps.network, pairs)
    assert sorted(leaf for two in covered for leaf in two) == [f"leaf0{n}" for n in range(1, 9)]
    assert all(len(two) == 2 for two in covered)
    assert [(p.client_rate_gbps, p.server_rate_gbps) for p in pairs] == [(100, 100)] * 2 + [
        (25, 25)
    ] * 2


def test_a_wave_is_covered_by_its_own_leaves(heps: DerivedNetwork) -> None:
    (pair,) = plan_pairs(heps.network, {"leaf08"})
    assert (pair.client, pair.server) == ("readout04", "readout01")
    (partner,) = (s for s in heps.network.servers or () if s.name == "readout01")
    assert pair.server_address == str(partner.address.ip)


def test_a_spine_touches_every_leaf(heps: DerivedNetwork) -> None:
    assert plan_pairs(heps.network, {"spine02"}) == plan_pairs(heps.network)


def test_an_odd_leaf_takes_a_partner_that_is_covered_already(heps: DerivedNetwork) -> None:
    servers = tuple(s for s in heps.network.servers or () if s.port.device != "leaf08")
    network = heps.network.model_copy(update={"servers": servers})
    assert set.union(*leaves_of(network, plan_pairs(network))) == {f"leaf0{n}" for n in range(1, 8)}


@pytest.mark.parametrize("roce", [True, False])
def test_servers_without_roce_or_without_another_leaf_make_no_pair(
    heps: DerivedNetwork, roce: bool
) -> None:
    servers = tuple(
        s.model_copy(update={"roce": roce})
        for s in heps.network.servers or ()
        if not roce or s.port.device == "leaf01"
    )
    assert plan_pairs(heps.network.model_copy(update={"servers": servers})) == ()


def test_traffic_class_is_the_dscp_with_ect0() -> None:
    assert [traffic_class(dscp) for dscp in (34, 26)] == [138, 106]


def test_gate_of_the_plan(heps: DerivedNetwork) -> None:
    gate = plan_gate(heps.network, heps.fabric.rdma, {"leaf08"})
    assert (gate.traffic_class, gate.speed_judged, gate.speed_note) == (138, True, "")
    slow, fast = gate.pairs[0], plan_pairs(heps.network, {"leaf01"})[0]
    assert expectation(gate, fast).min_gbps == pytest.approx(92)
    assert expectation(gate, slow).min_gbps == pytest.approx(23)
    assert expectation(gate, fast).max_latency_us == pytest.approx(4.65)


def without(network: Network, *leaves: str) -> Network:
    """Return the network without servers on these leaves."""
    servers = tuple(s for s in network.servers or () if s.port.device not in leaves)
    return network.model_copy(update={"servers": servers})


@pytest.mark.parametrize(
    ("devices", "unmeasured"),
    [
        ({"leaf08"}, ("leaf08 has no RoCE server",)),
        ({"leaf01", "leaf08"}, ("leaf08 has no RoCE server",)),
        ({"leaf01"}, ()),
        ({"spine01"}, ("leaf07 has no RoCE server", "leaf08 has no RoCE server")),
        (None, ("leaf07 has no RoCE server", "leaf08 has no RoCE server")),
    ],
)
def test_leaves_that_no_pair_covers_are_named(
    heps: DerivedNetwork, devices: set[str] | None, unmeasured: tuple[str, ...]
) -> None:
    gate = plan_gate(without(heps.network, "leaf07", "leaf08"), heps.fabric.rdma, devices)
    assert gate.unmeasured == unmeasured
    assert bool(gate.pairs) == (devices != {"leaf08"})


def test_a_leaf_alone_with_its_servers_has_no_partner(heps: DerivedNetwork) -> None:
    others = [node.name for node in heps.network.nodes if node.name != "leaf01"]
    gate = plan_gate(without(heps.network, *others), heps.fabric.rdma, {"leaf01"})
    assert (gate.pairs, gate.unmeasured) == ((), ("leaf01 has the only RoCE servers",))


def test_pairs_are_made_of_servers_that_can_be_logged_in_to(heps: DerivedNetwork) -> None:
    plain = plan_gate(heps.network, heps.fabric.rdma, {"leaf01"}).pairs[0]
    names = {s.name for s in heps.network.servers or ()}
    (pair,) = plan_gate(
        heps.network, heps.fabric.rdma, {"leaf01"}, accessible=names - {plain.client}
    ).pairs
    assert pair.client != plain.client
    with pytest.raises(Refused) as caught:
        plan_gate(heps.network, heps.fabric.rdma, {"leaf05"}, accessible=())
    assert str(caught.value) == (
        "leaf05: its RoCE servers, or all on other leaves, cannot be logged in to;"
        " add readout01, and one on another leaf, to the connections' servers"
    )


def test_a_gate_needs_the_dscp(heps: DerivedNetwork) -> None:
    blind = heps.network.model_copy(update={"lossless": None})
    with pytest.raises(RocefortError, match="heps: the DSCP of RoCE is not known"):
        plan_gate(blind, heps.fabric.rdma)


def test_a_leaf_that_nobody_measures_is_told_where_it_is_said_why(heps: DerivedNetwork) -> None:
    gate = plan_gate(
        heps.network, heps.fabric.rdma, {"leaf05"}, "guests", ["k8sgn08", "k8sgn09"], "by no guest"
    )
    assert (gate.pairs, gate.unmeasured) == ((), ("leaf05, by no guest",))
    assert (gate.bandwidth_s, gate.latency_iterations) == (2, 200)
    spine = plan_gate(
        heps.network, heps.fabric.rdma, {"spine01"}, "guests", ["k8sgn08", "k8sgn09"], "by no guest"
    )
    assert [(pair.client, pair.server) for pair in spine.pairs] == [("k8sgn08", "k8sgn09")]
    assert len(spine.unmeasured) == 6


def test_command_lines(heps: DerivedNetwork) -> None:
    gate = plan_gate(heps.network, heps.fabric.rdma)
    host = Host("k8sgn12", data={"rdma_device": "mlx5_0", "gid_index": 3})
    assert perftest_command(host, Program.WRITE_BW, gate) == (
        "ib_write_bw -d mlx5_0 -x 3 -F --report_gbits -D 5 --cpu_util --tclass 138"
    )
    assert perftest_command(host, Program.WRITE_LAT, gate, "10.65.3.10") == (
        "ib_write_lat -d mlx5_0 -x 3 -F -n 10000 --tclass 138 10.65.3.10"
    )


# --- running ------------------------------------------------------------------------------------


def test_a_good_pair_passes_and_says_that_speed_is_not_judged(site: Site) -> None:
    result = run_gate(site.nornir, site.gate)
    assert result.passed
    assert result.sentences == (
        f"{PAIR} ib_write_bw: 0.40 Gb/s; speed not judged: the servers are emulated",
        f"{PAIR} ib_write_lat: 381.28 us on average; speed not judged: the servers are emulated",
    )


@pytest.mark.parametrize("end", [0, -1], ids=["above", "below"])
def test_lines_outside_the_tables_are_noted_and_change_no_figure(site: Site, end: int) -> None:
    """Since 24.01 every run by duration prints the first of these lines."""
    plain = run_gate(site.nornir, site.gate)
    lines = " WARNING: BW peak won't be measured in this run.\nCUDA: größe: error 14\n".encode()

    def noisy(output: ProcessOutput) -> ProcessOutput:
        both = (lines, output.stdout) if end == 0 else (output.stdout, lines)
        return replace(output, stdout=b"".join(both))

    for tool, name in GOOD.items():
        sample = read_sample(name)
        changed = replace(sample, client=noisy(sample.client), server=noisy(sample.server))
        site.hosts.replay(changed, tool)
    result = run_gate(site.nornir, site.gate)
    assert result.passed
    assert result.sentences == plain.sentences
    assert {one.notes for one in result.results} == {("client, server: CUDA: größe: error 14",)}
    assert result.summary == f"{plain.summary}; noted: client, server: CUDA: größe: error 14"


def test_versions_newer_than_all_tried_ones_are_named_once(site: Site) -> None:
    site.hosts.versions = {"k8sgn08": "7.01", "k8sgn12": "7.01", "k8sgn09": "6.31"}
    names = ["k8sgn08", "k8sgn09", "k8sgn12", "daisygn01", "no-such-server"]
    versions = perftest_versions(site.nornir, names)
    assert versions["daisygn01"] == f"Version: {NEWEST_VERSION}\n"
    tried = "{}.{:02}".format(*NEWEST_TRIED)
    assert tried == NEWEST_VERSION  # of the recordings
    newer = f"is newer than {tried}, the newest that Rocefort was tried with"
    assert untried_versions(versions) == (
        f"perftest 7.01 on k8sgn08 and k8sgn12 {newer}",
        f"perftest 6.31 on k8sgn09 {newer}",
    )
    assert untried_versions({"a": tried, "b": "Version: 5.60", "c": "no such file"}) == ()


def test_where_speed_is_judged_a_slow_pair_fails(site: Site) -> None:
    strict = site.gate.model_copy(update={"speed_judged": True})
    result = run_gate(site.nornir, strict)
    assert [one.verdict for one in result.results] == [MeasurementVerdict.TOO_SLOW] * 2
    assert result.sentences == (
        f"{PAIR} ib_write_bw: 0.40 Gb/s, at least 92.00 expected",
        f"{PAIR} ib_write_lat: 381.28 us on average, at most 4.65 expected",
    )
    lenient = strict.model_copy(update={"line_rate_fraction": 0.004, "latency_us": 381.0})
    assert run_gate(site.nornir, lenient).passed


BAD = [
    (
        "4.5/fail.udp4791_blocked",
        "zero-iterations: no message arrived: UDP 4791 is blocked, or the path MTU is smaller"
        " than the RoCE MTU (client: '65536 0 0.000000 0.000000 0.000000')",
    ),
    (
        "4.5/fail.server_sigKILL_midrun",
        "killed: ended by a signal, or with its session, before it finished (server: 'Killed')",
    ),
    (
        "4.5/fail.retry_exceeded_rdma_cm",
        "retry-exceeded: the NIC gave up resending: packets are lost in the network"
        " (client: 'Failed status 12: wr_id 0 syndrom 0x0')",
    ),
    (
        "4.5/fail.gid0_link_local",
        "no-path: the NIC has no path to the peer: check the GID index and the routes"
        " (client: 'Failed to modify QP 104 to RTR')",
    ),
    (
        "4.5/fail.wrong_device",
        "no-device: there is no such RDMA device (client: 'IB device mlx5_0 not found')",
    ),
    (
        "4.5/ib_write_bw.output_bw",
        "no-table: printed no table of results (client: '0.592021')",
    ),
]


@pytest.mark.parametrize(("name", "sentence"), BAD, ids=[name for name, _ in BAD])
def test_a_bad_run_fails_the_gate_in_words(site: Site, name: str, sentence: str) -> None:
    site.hosts.replay(read_sample(name), "ib_write_bw", ["k8sgn12"])
    bandwidth, latency = run_gate(site.nornir, site.gate).results
    assert bandwidth.verdict is MeasurementVerdict.NOT_MEASURED
    assert (bandwidth.gbps, bandwidth.sentence) == (None, f"{PAIR} ib_write_bw: {sentence}")
    assert latency.verdict is MeasurementVerdict.PASSED
    assert site.hosts.running == ()


def test_a_latency_run_whose_server_died_is_not_believed(site: Site) -> None:
    site.hosts.replay(read_sample("4.5/fail.lat_server_sigKILL_midrun"), "ib_write_lat")
    result = run_gate(site.nornir, site.gate)
    assert not result.passed
    assert result.sentences[1] == (
        f"{PAIR} ib_write_lat: killed: ended by a signal, or with its session, before it finished"
        " (server: 'Killed')"
    )


def test_a_hanging_pair_ends_at_its_deadline_and_leaves_nothing(site: Site) -> None:
    site.hosts.replay(read_sample("4.5/fail.udp4791_blocked_rdma_cm"), "ib_write_bw")
    result = run_gate(site.nornir, site.gate, deadline_s=1)
    assert not result.passed
    assert result.sentences[0] == (
        f"{PAIR} ib_write_bw: timed-out: not finished at its deadline: it hung,"
        " or no packet arrived (client)"
    )
    assert site.hosts.running == ()


def test_the_gate_recovers_when_the_fabric_does(site: Site) -> None:
    site.hosts.replay(read_sample("4.5/fail.udp4791_blocked"), "ib_write_bw")
    assert not run_gate(site.nornir, site.gate).passed
    site.hosts.replay(read_sample("4.5/ib_write_bw.gbits"), "ib_write_bw")
    assert run_gate(site.nornir, site.gate).passed


def test_an_unreachable_server_is_not_measured_and_the_others_are(
    site: Site, heps: DerivedNetwork
) -> None:
    gate = plan_gate(heps.network, heps.fabric.rdma, None, "the servers are emulated")
    site.nornir.inventory.hosts["daisygn01"].port = 1  # nothing listens there
    result = run_gate(site.nornir, gate)
    assert not result.passed
    lost = [one for one in result.results if one.verdict is MeasurementVerdict.NOT_MEASURED]
    assert {(one.pair.server, one.tool) for one in lost} == {
        ("daisygn01", Program.WRITE_BW),
        ("daisygn01", Program.WRITE_LAT),
    }
    assert lost[0].sentence.startswith(
        "k8sgn12 -> daisygn01 ib_write_bw: not run: daisygn01: no SSH session with 127.0.0.1:1: "
    )
    assert len(result.results) == 8


def test_a_server_outside_the_inventory_is_not_measured(site: Site) -> None:
    stranger = site.gate.pairs[0].model_copy(update={"server": "nowhere"})
    missing = site.gate.pairs[0].model_copy(update={"client": "absent"})
    gate = site.gate.model_copy(update={"pairs": (stranger, missing)})
    assert run_gate(site.nornir, gate).sentences[::2] == (
        "k8sgn12 -> nowhere ib_write_bw: not run: nowhere is not in the inventory",
        "absent -> k8sgn08 ib_write_bw: not run: absent is not in the inventory",
    )


def test_pairs_that_share_a_server_run_one_after_the_other(site: Site) -> None:
    first = site.gate.pairs[0]
    gate = site.gate.model_copy(
        update={"pairs": (first, first.model_copy(update={"client": "k8sgn09"}))}
    )
    assert run_gate(site.nornir, gate).passed


def test_an_empty_gate_has_not_passed(site: Site) -> None:
    empty: Gate = site.gate.model_copy(update={"pairs": ()})
    result = run_gate(site.nornir, empty)
    assert (result.passed, result.sentences) == (False, ("no pair of servers to measure between",))
    assert GateResult(results=()).passed is False
