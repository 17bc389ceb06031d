"""Plans of suites: properties of schedules, and the rounds and sentences of each suite."""

from __future__ import annotations

from collections import Counter
from ipaddress import IPv4Interface
from itertools import combinations

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.base.errors import BadInput, Refused
from rocefort.base.repository import INVENTORY
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.models.fabric.rdma import Rdma
from rocefort.models.network.network import End, Network, Server
from rocefort.rdma.plan.load_rules import LoadRules, allowed_servers
from rocefort.rdma.plan.shared_links import (
    MISSED,
    disjoint_rounds,
    miss_probability,
    qps_for,
    tournament,
)
from rocefort.rdma.plan.site import RdmaPlanOptions
from rocefort.rdma.plan.suites import PLANNERS, plan_suite
from rocefort.rdma.plan.sweep_suite import SIZES
from rocefort.rdma.rdma_plan import Program, RdmaHost, RdmaPlan, Suite

NETWORK = derive(INVENTORY / "heps" / "fabric.yaml").network
EXPECTED = Rdma(line_rate_fraction=0.92, latency_us=3.72, latency_tolerance=0.25)


def host(name: str, **more: object) -> RdmaHost:
    return RdmaHost.model_validate({"name": name, "device": "mlx5_0", "gid_index": 3} | more)


def hosts_of(network: Network, *names: str) -> list[RdmaHost]:
    return [host(s.name) for s in network.servers or () if not names or s.name in names]


def crowd(places: list[int], gbps: int = 100) -> Network:
    """Return HEPS's switches with a server for each place, on leaf PLACE."""
    servers = tuple(
        Server(
            name=f"s{n:03}",
            port=End(device=f"leaf{leaf:02}", interface=f"100GE1/0/{n}"),
            segment="compute",
            address=IPv4Interface(f"10.65.{n // 200}.{n % 200 + 10}/16"),
            mtu=9000,
            speed_gbps=gbps,
        )
        for n, leaf in enumerate(places)
    )
    return NETWORK.model_copy(update={"servers": servers})


def plan(suite: Suite, network: Network = NETWORK, **options: object) -> RdmaPlan:
    chosen = RdmaPlanOptions.model_validate(options)
    return plan_suite(network, EXPECTED, suite, hosts_of(network), chosen)


def leaves(network: Network) -> dict[str, str]:
    return {server.name: server.port.device for server in network.servers or ()}


# --- schedules ------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", range(2, 129))
def test_a_mesh_has_the_fewest_rounds_and_no_nic_twice_in_one(count: int) -> None:
    rounds = list(tournament(range(count)))
    assert len(rounds) == (count - 1 if count % 2 == 0 else count)
    for pairs in rounds:
        players = [player for pair in pairs for player in pair]
        assert len(players) == len(set(players)) == count // 2 * 2
    met = Counter(frozenset(pair) for pairs in rounds for pair in pairs)
    assert met == Counter(frozenset(pair) for pair in combinations(range(count), 2))


@pytest.mark.parametrize("count", [2, 3, 8, 9, 64])
def test_everybody_is_client_about_as_often_as_server(count: int) -> None:
    clients = Counter(pair[0] for pairs in tournament(range(count)) for pair in pairs)
    assert max(clients.values()) - min(clients[player] for player in range(count)) <= 1


@pytest.mark.parametrize("count", [0, 1])
def test_nobody_meets_nobody(count: int) -> None:
    assert [pair for pairs in tournament(range(count)) for pair in pairs] == []


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=40))
def test_disjoint_rounds_keep_every_item_and_share_nothing(items: list[tuple[int, int]]) -> None:
    rounds = list(disjoint_rounds(items, lambda item: item))
    assert Counter(item for group in rounds for item in group) == Counter(items)
    for group in rounds:
        used = [use for item in group for use in set(item)]
        assert len(used) == len(set(used))


PLACES = st.lists(st.integers(1, 8), min_size=2, max_size=40)


@settings(max_examples=tries(20))
@given(PLACES)
def test_a_mesh_plan_measures_every_pair_once(places: list[int]) -> None:
    network = crowd(places)
    made = plan(Suite.MESH, network)
    count = len(places)
    assert len(made.rounds) == (count - 1 if count % 2 == 0 else count)
    met = Counter(frozenset(run.servers) for run in made.runs)
    assert met == Counter(map(frozenset, combinations(leaves(network), 2)))
    for each in made.rounds:
        busy = [name for run in each.runs for name in run.servers]
        assert len(busy) == len(set(busy))
        ports = [run.port for run in each.runs]
        assert len(ports) == len(set(ports))


@settings(max_examples=tries(20))
@given(PLACES)
def test_a_covering_plan_uses_every_path_with_the_fewest_pairs(places: list[int]) -> None:
    network = crowd(places)
    made = plan(Suite.MESH, network, covering=True)
    at = leaves(network)
    used = sorted(set(at.values()))
    pairs = [frozenset(at[name] for name in run.servers) for run in made.runs]
    assert Counter(pairs) == Counter(map(frozenset, combinations(used, 2)))  # each once: the fewest
    assert made.coverage is not None
    wanted = {
        (frozenset(two), spine) for two in combinations(used, 2) for spine in ("spine01", "spine02")
    }
    assert {(frozenset((a, b)), spine) for a, spine, b in made.coverage.paths} == wanted
    assert made.coverage.uncovered == ()
    for each in made.rounds:
        busy = [at[name] for run in each.runs for name in run.servers]
        assert len(busy) == len(set(busy))  # one flow per leaf: no link is shared
        assert all(run.reach_gbps == 100 for run in each.runs)


@given(st.integers(1, 32))
def test_qps_are_the_fewest_that_leave_no_path_unused(paths: int) -> None:
    qps = qps_for(paths)
    assert miss_probability(paths, qps) <= MISSED
    assert qps == 1 or miss_probability(paths, qps - 1) > MISSED


def test_the_claim_of_a_covering_plan() -> None:
    made = plan(Suite.MESH, covering=True)
    assert (len(made.rounds), len(made.runs)) == (7, 28)
    assert made.coverage is not None
    assert made.coverage.claim == (
        "56 leaf-spine-leaf paths, 8 QPs a pair, each with its own UDP source port where the NIC"
        " gives it one; ECMP chooses by hash, so that a path between two leaves stays unused with"
        " a probability of at most 0.0078 if the hash is even: check the uplinks' counters"
    )


# --- what runs leave each other -------------------------------------------------------------------


def test_a_round_that_may_put_two_flows_on_one_uplink_promises_half() -> None:
    made = plan(Suite.MESH, crowd([1, 1, 2, 2]))
    crossing = [run for run in made.rounds[0].runs if run.switches == 3]
    assert {(run.reach_gbps, run.reach_why) for run in crossing} <= {
        (50, "this round needs 200 Gb/s on one uplink of leaf01, which has 100 Gb/s"),
        (50, "this round needs 200 Gb/s on one uplink of leaf02, which has 100 Gb/s"),
        (100, "line rate of s000"),
        (100, "line rate of s001"),
        (100, "line rate of s002"),
        (100, "line rate of s003"),
    }
    assert any(run.reach_gbps == 50 for each in made.rounds for run in each.runs)


def test_a_bond_gives_a_flow_one_member() -> None:
    network = crowd([1, 2])
    first, second = network.servers or ()
    members = tuple(End(device="leaf01", interface=f"100GE1/0/{n}") for n in (8, 9))
    bonded = first.model_copy(update={"members": members, "speed_gbps": 50})
    servers = (bonded, second)
    (run,) = plan(Suite.MESH, network.model_copy(update={"servers": servers})).runs
    assert (run.reach_gbps, run.reach_why) == (25, "line rate of one member of its bond of s000")


def test_two_names_of_one_machine_do_not_meet() -> None:
    network = crowd([1, 2, 3])
    two = [host("s000", machine="node1"), host("s001", machine="node1"), host("s002")]
    made = plan_suite(network, EXPECTED, Suite.MESH, two)
    assert {run.pair for run in made.runs} == {"s002 -> s000", "s001 -> s002"}


def test_a_rate_limit_holds_in_plan_and_expectation() -> None:
    slow = EXPECTED.model_copy(update={"rate_limit_gbps": 40})
    made = plan_suite(NETWORK, slow, Suite.WRITE, hosts_of(NETWORK))
    rates = {(run.limit_gbps, run.reach_gbps) for run in made.rounds[0].runs}
    assert rates == {(40, 40), (40, 25)}
    assert "limited to 40 Gb/s" in {run.reach_why for run in made.runs}


@pytest.mark.parametrize(
    ("suite", "said"),
    [
        (
            Suite.FAILOVER,
            "heps: failover cannot hold rdma.rate_limit_gbps: perftest limits no rate in a run that"
            " prints periodic rows; run it on a fabric without a limit, or choose another suite",
        ),
        (
            Suite.MPI,
            "heps: mpi cannot hold rdma.rate_limit_gbps: MPI sends as fast as it can;"
            " run it on a fabric without a limit, or choose another suite",
        ),
    ],
)
def test_what_cannot_hold_a_rate_limit_is_refused(suite: Suite, said: str) -> None:
    slow = EXPECTED.model_copy(update={"rate_limit_gbps": 40})
    with pytest.raises(Refused) as caught:
        plan_suite(NETWORK, slow, suite, hosts_of(NETWORK))
    assert str(caught.value) == said


# --- suites ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suite", "programs"),
    [
        (Suite.WRITE, ("ib_write_bw", "ib_write_lat")),
        (Suite.READ, ("ib_read_bw", "ib_read_lat")),
        (Suite.SEND, ("ib_send_bw", "ib_send_lat")),
    ],
)
def test_across_the_spines(suite: Suite, programs: tuple[str, str]) -> None:
    made = plan(suite)
    assert tuple(each.runs[0].program.value for each in made.rounds) == programs
    at = leaves(NETWORK)
    for run in made.runs:
        assert at[run.client] != at[run.server]
        assert run.switches == 3
        assert run.traffic_class == 138  # DSCP 34, ECT(0)
    assert {at[name] for run in made.runs for name in run.servers} == set(at.values())
    assert made.rounds[1].runs[0].iterations == 10_000
    assert made.unmeasured == (
        "in no pair, because their leaf is in one already: transfer01, daisycn01, daisygn02, storage01",
    )


def test_the_sweep_measures_each_size_within_a_leaf_and_across() -> None:
    made = plan(Suite.SWEEP)
    assert SIZES[0] == 2
    assert SIZES[-1] == 8 * 2**20
    assert len(made.runs) == 2 * 2 * len(SIZES)
    assert {run.size_bytes for run in made.runs} == {2**n for n in range(1, 24)}
    assert {run.client for run in made.runs} == {"k8sgn09"}
    assert {(run.server, run.switches) for run in made.runs} == {("daisycn01", 1), ("k8sgn08", 3)}
    by_size = {run.size_bytes: run.iterations for run in made.runs if run.iterations}
    assert (by_size[8192], by_size[16384]) == (10_000, 1000)


def test_a_sweep_without_a_near_pair_says_what_it_lacks() -> None:
    made = plan(Suite.SWEEP, crowd([1, 2]))
    assert made.unmeasured == ("switch latency: no two servers of one leaf may be used",)
    assert len(made.runs) == 2 * len(SIZES)


def test_incast_shares_the_receiver() -> None:
    made = plan(Suite.INCAST, target="daisygn01")
    one, many = made.rounds
    assert (len(one.runs), one.total_gbps) == (1, None)
    assert (len(many.runs), many.total_gbps) == (11, 100)
    assert {run.server for run in many.runs} == {"daisygn01"}
    assert (
        many.runs[0].reach_why
        == "this round needs 800 Gb/s on the port of daisygn01, which has 100 Gb/s"
    )
    assert len({run.port for run in many.runs}) == 11


@pytest.mark.parametrize("suite", [s for s in PLANNERS if s is not Suite.STORAGE])
def test_no_suite_measures_what_the_policy_denies(suite: Suite) -> None:
    server = {each.name: each for each in NETWORK.servers or ()}
    for covering in (False, True):
        runs = plan(suite, covering=covering).runs
        used = [list(run.ranks) or [run.client, run.server] for run in runs]
        pairs = {pair for names in used for pair in combinations(names, 2)}
        assert pairs
        assert all(NETWORK.lets_rdma(server[a], server[b or a]) for a, b in pairs)


def test_suites_report_what_the_policy_excludes() -> None:
    assert plan(Suite.MESH).unmeasured == (
        "4 pairs: the policy denies RDMA between beamline and transfer",
    )
    incast = plan(Suite.INCAST)
    assert ({run.server for run in incast.runs}, incast.unmeasured) == ({"k8sgn08"}, ())
    assert plan(Suite.INCAST, target="transfer01").unmeasured == (
        "in no pair, because no RDMA of theirs may reach transfer01 through a switch: "
        "readout01, readout02, readout03, readout04",
    )
    assert plan(Suite.MPI).unmeasured == (
        "in no pair, because the policy denies RDMA between them and other members: transfer01",
    )
    apart = hosts_of(NETWORK, "transfer01", "readout01", "readout02")
    assert plan_suite(NETWORK, EXPECTED, Suite.WRITE, apart).unmeasured == (
        "in no pair, because the policy lets RDMA of no other server reach them: transfer01",
    )
    for suite, sentence in (
        (Suite.MPI, "heps: the policy lets RDMA pass among 1 servers, 2 are needed; name others"),
    ):
        with pytest.raises(BadInput) as caught:
            plan_suite(NETWORK, EXPECTED, suite, apart[:2])
        assert str(caught.value) == sentence


def test_mixed_takes_the_weights_of_the_receiver_s_port() -> None:
    alone, beside = plan(Suite.MIXED).rounds
    rdma, tcp = beside.runs
    assert alone.runs[0].reach_gbps == 100
    assert rdma.reach_gbps == pytest.approx(100 * 65 / 70)
    assert rdma.reach_why == "leaf01 100GE1/0/2 weighs RDMA 65 against TCP 5"
    assert (tcp.program, tcp.traffic_class, tcp.reach_gbps) == (Program.IPERF3, 0, None)
    assert tcp.client != rdma.client
    assert plan(Suite.MIXED, tcp_dscp=8).rounds[1].runs[0].reach_gbps == pytest.approx(81.25)


def test_mixed_knows_no_share_where_a_queue_is_strict() -> None:
    rdma = plan(Suite.MIXED, tcp_dscp=48).rounds[1].runs[0]
    assert (rdma.reach_gbps, rdma.reach_why) == (
        None,
        "leaf01 100GE1/0/2 does not serve both queues by weight: no share is sure",
    )


def test_failover_names_the_links_that_may_die() -> None:
    near, far = plan(Suite.FAILOVER).rounds
    assert near.fault == "one uplink of leaf01 goes down"
    assert near.fault_links == ("leaf01 100GE1/0/57", "leaf01 100GE1/0/58")
    assert far.fault_links == ("leaf02 100GE1/0/57", "leaf02 100GE1/0/58")
    (run,) = near.runs
    assert (run.every_s, run.duration_s, run.qps) == (1, 30, 8)


def test_storage_and_mpi_follow_eantc() -> None:
    jobs = plan(Suite.STORAGE, storage_directory="/mnt/data").runs
    kinds = {(r.storage.block_bytes, r.storage.depth) for r in jobs if r.storage}
    assert kinds == {(block, depth) for block in (4096, 4 * 2**20) for depth in (1, 32, 128)}
    made = plan(Suite.MPI)
    assert [run.collective for run in made.runs] == [
        "alltoall", "allgather", "allreduce", "gather", "reduce",
    ]  # fmt: skip
    assert all(len(run.ranks) == 11 for run in made.runs)


@pytest.mark.parametrize("suite", list(PLANNERS))
def test_every_suite_is_a_function_of_its_input(suite: Suite) -> None:
    made = plan(suite, storage_directory="/mnt/data")
    assert made == plan(suite, storage_directory="/mnt/data")
    for each in made.rounds:
        assert len({run.port for run in each.runs}) == len(each.runs)
        assert all(run.id.startswith(f"{each.number:03}.") for run in each.runs)


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suite", "names", "options", "said"),
    [
        ("write", ["k8sgn08"], {}, "heps: write takes 2 RoCE servers, 1 may be used; name more with --servers, or list more under rdma.servers"),
        ("write", ["k8sgn08", "absent"], {}, "heps: no server absent; known here: daisycn01, daisygn01"),
        ("incast", ["k8sgn08", "k8sgn09", "k8sgn12"], {"target": "transfer01"}, "heps: transfer01 is not among the servers that may be used; known here: k8sgn08, k8sgn09, k8sgn12"),
        ("mixed", ["k8sgn08", "k8sgn09", "k8sgn12"], {"tcp_dscp": 34}, "TCP with DSCP 34 would be in queue 4, together with RoCE; choose a DSCP of another queue"),
        ("storage", ["k8sgn08"], {}, "heps: no directory of remote storage is named; name one that is mounted on all servers, by its whole path"),
        ("storage", ["k8sgn08"], {"storage_directory": "/mnt/../etc"}, "heps: '/mnt/../etc' is not a directory of remote storage; name one that is mounted on all servers, by its whole path"),
        ("write", ["k8sgn08", "k8sgn09"], {"duration_s": 2}, "a bandwidth run of 2 s; use at least 4 s: perftest leaves out a quarter at both ends"),
    ],
)  # fmt: skip
def test_bad_input(suite: str, names: list[str], options: dict[str, object], said: str) -> None:
    with pytest.raises(BadInput) as caught:
        plan_suite(
            NETWORK, EXPECTED, Suite(suite), [host(n) for n in names],
            RdmaPlanOptions.model_validate(options),
        )  # fmt: skip
    assert str(caught.value).startswith(said)


def test_a_server_without_roce_is_refused(heps: DerivedNetwork) -> None:
    servers = tuple(
        s.model_copy(update={"roce": s.name != "k8sgn08"}) for s in heps.network.servers or ()
    )
    network = heps.network.model_copy(update={"servers": servers})
    with pytest.raises(BadInput, match="heps: k8sgn08 does not support RoCE; leave it out"):
        plan_suite(network, EXPECTED, Suite.WRITE, hosts_of(network))


def test_servers_are_loaded_only_where_somebody_said_so() -> None:
    with pytest.raises(Refused) as caught:
        allowed_servers(NETWORK, LoadRules.of(EXPECTED))
    assert str(caught.value) == (
        "heps: no server is listed for RDMA tests, and no other server is loaded; list servers "
        "under rdma.servers of the fabric, or name them: --servers transfer01,k8sgn08"
    )
    kept = LoadRules(servers=("k8sgn08",))
    assert allowed_servers(NETWORK, kept) == ("k8sgn08",)
    assert allowed_servers(NETWORK, kept, ["k8sgn09"]) == ("k8sgn09",)
    with pytest.raises(BadInput, match="heps: no server k8s; did you mean 'k8sgn08'"):
        allowed_servers(NETWORK, kept, ["k8s"])
