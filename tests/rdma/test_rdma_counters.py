"""Readers of counters, and the rules for their growth during a test."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.models.network.observed import (
    DeviceSeen,
    MarkedSeen,
    NicCounters,
    PfcCountersSeen,
    QueueSeen,
    StateTopic,
    UnreadSeen,
)
from rocefort.rdma.parse.outcome import TableError
from rocefort.rdma.run.counters import (
    driver_of,
    judge_nics,
    judge_switches,
    read_counters,
    read_ethtool,
    read_rdma_statistic,
)

# Recorded on Soft-RoCE guests before and after a run with one packet in a hundred lost.
BEFORE = (
    "link rxe0/1 sent_pkts 97133 rcvd_pkts 46021 duplicate_request 0 out_of_seq_request 0 "
    "rcvd_rnr_err 0 send_rnr_err 0 rcvd_seq_err 0 ack_deferred 0 retry_exceeded_err 0 "
    "retry_rnr_exceeded_err 0 completer_retry_err 0 send_err 0 link_downed 0 rdma_sends 0 "
    "rdma_recvs 0 \n"
)
# In the form of iproute2 on ConnectX-5, written by us.
MLX5 = (
    "link mlx5_0/1 rx_write_requests 10 out_of_buffer 135 out_of_sequence 0 packet_seq_err 0 "
    "local_ack_timeout_err 0 roce_adp_retrans 0 rp_cnp_handled 0 np_cnp_sent 0 "
    "np_ecn_marked_roce_packets 0 rx_icrc_encapsulated 0\n"
)
ETHTOOL = (
    "NIC statistics:\n     rx_prio4_pause: 5\n     tx_prio4_pause: 0\n     rx_prio4_discards: 0\n"
    "     rx_discards_phy: 0\n     rx_prio0_bytes: 12\n"
)


def nic(text: str, **changes: int) -> tuple[NicCounters, ...]:
    ((link,), _) = read_rdma_statistic(text, "k8sgn08")
    return (link.model_copy(update={"values": link.values | changes}),)


def sentences(text: str, **changes: int) -> list[tuple[bool | None, str]]:
    return [(j.ok, j.sentence) for j in judge_nics(nic(text), nic(text, **changes), 10, 4)]


def test_rdma_statistic_of_two_links() -> None:
    ((link,), _) = read_rdma_statistic(BEFORE, "g1")
    assert (link.server, link.link, link.values["sent_pkts"], len(link.values)) == (
        "g1", "rxe0/1", 97133, 15,
    )  # fmt: skip
    two, _ = read_rdma_statistic(BEFORE + MLX5, "g1")
    assert [driver_of(each) for each in two] == ["rxe", "mlx5"]


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("", "no-table"),
        ("error: no such device\n", "no-table"),
        (BEFORE.replace(" 97133", ""), "damaged-row"),
        (BEFORE.replace("97133", "many"), "damaged-row"),
        (BEFORE.replace("rcvd_pkts", "sent_pkts"), "damaged-row"),
        (BEFORE.replace("rcvd_pkts", "5"), "damaged-row"),
        (BEFORE.replace("link ", "ink "), "damaged-row"),
        (BEFORE.replace("link ", ""), "damaged-row"),
        (BEFORE.replace(" duplicate_request", "\nduplicate_request"), "damaged-row"),
        (BEFORE + BEFORE, "two-tables"),
        (BEFORE.replace("\n", " ") + MLX5, "damaged-row"),
    ],
)
def test_what_is_no_rdma_statistic(text: str, outcome: str) -> None:
    with pytest.raises(TableError) as caught:
        read_rdma_statistic(text, "g1")
    assert caught.value.outcome.value == outcome


@pytest.mark.parametrize(
    ("text", "name", "ok", "sentence"),
    [
        (BEFORE, "out_of_seq_request", False, "k8sgn08 rxe0/1: out_of_seq_request grew by 7: packets were lost or came out of order, towards this NIC"),
        (BEFORE, "completer_retry_err", False, "k8sgn08 rxe0/1: completer_retry_err grew by 7: requests were resent: packets were lost"),
        (MLX5, "out_of_sequence", False, "k8sgn08 mlx5_0/1: out_of_sequence grew by 7: packets were lost or came out of order, towards this NIC"),
        (MLX5, "rx_icrc_encapsulated", False, "k8sgn08 mlx5_0/1: rx_icrc_encapsulated grew by 7: packets were damaged: a cable, or an optic"),
        (MLX5, "np_cnp_sent", None, "k8sgn08 mlx5_0/1: np_cnp_sent grew by 7: CNPs were sent for marked packets"),
    ],
)  # fmt: skip
def test_a_counter_that_grew(text: str, name: str, ok: bool | None, sentence: str) -> None:
    before = nic(text)[0].values[name]
    assert sentences(text, **{name: before + 7}) == [(ok, sentence)]


def test_traffic_alone_is_no_finding() -> None:
    assert sentences(BEFORE, sent_pkts=10**9, ack_deferred=4) == []
    assert sentences(MLX5, rx_write_requests=10**9) == []


def test_a_counter_that_fell_is_not_judged() -> None:
    assert sentences(MLX5, out_of_buffer=3) == [
        (None, "k8sgn08 mlx5_0/1: out_of_buffer decreased, so it is not judged")
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [(MLX5, "out_of_sequence"), (MLX5, "np_cnp_sent"), (ETHTOOL, "rx_prio4_discards"), (ETHTOOL, "rx_prio4_pause")],
)  # fmt: skip
@pytest.mark.parametrize("first", [True, False])
def test_a_counter_that_one_reading_lacks_is_not_passed(text: str, name: str, first: bool) -> None:
    whole = nic(text) if text is MLX5 else (read_ethtool(text, "k8sgn08", "ens1")[0],)
    values = {key: value for key, value in whole[0].values.items() if key != name}
    cut = (whole[0].model_copy(update={"values": values}),)
    before, after = (cut, whole) if first else (whole, cut)
    (found,) = judge_nics(before, after, 10, 4)
    assert (found.ok, found.subject) == (None, name)
    assert found.sentence.endswith(f"{name} was read only once, so it is not judged")


def test_a_link_that_is_gone_or_unknown_is_said() -> None:
    (gone,) = judge_nics(nic(MLX5), (), 10, 4)
    assert (gone.ok, gone.sentence) == (None, "k8sgn08 mlx5_0/1: not read after the test")
    odd = (NicCounters(server="k8sgn08", link="eth0", values={"rx_queue_0_packets": 1}),)
    (unknown,) = judge_nics(odd, odd, 10, 4)
    assert (
        unknown.sentence
        == "k8sgn08 eth0: it has no counter that a rule covers, so nothing is judged"
    )


@pytest.mark.parametrize(
    ("most", "ok", "end"),
    [
        (None, None, "no bound is given"),
        (9.0, False, "at most 9 allowed"),
        (10.0, True, "at most 10 allowed"),
    ],
)
def test_pauses_of_the_port(most: float | None, ok: bool | None, end: str) -> None:
    before, _ = read_ethtool(ETHTOOL, "k8sgn08", "ens1")
    after, _ = read_ethtool(ETHTOOL.replace("pause: 5", "pause: 105"), "k8sgn08", "ens1")
    (found,) = judge_nics((before,), (after,), 10, 4, most)
    assert found.ok is ok
    assert found.sentence == f"k8sgn08 ens1 rx_prio4_pause: 100 pauses, 10.0 a second, {end}"


def test_discards_of_the_port_by_priority() -> None:
    before, _ = read_ethtool(ETHTOOL, "k8sgn08", "ens1")
    after, _ = read_ethtool(ETHTOOL.replace("discards: 0", "discards: 2"), "k8sgn08", "ens1")
    assert [j.ok for j in judge_nics((before,), (after,), 10, 4)] == [False]
    assert not [
        j for j in judge_nics((before,), (after,), 10, 3) if j.subject.startswith("rx_prio")
    ]


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("", "no-table"),
        ("no stats available", "no-table"),
        ("NIC statistics:\n  rx: many\n", "damaged-row"),
        ("NIC statistics:\n", "missing-row"),
        (ETHTOOL + ETHTOOL, "two-tables"),
        (ETHTOOL + "NIC statistics:\n", "two-tables"),
    ],
)
def test_what_is_no_ethtool(text: str, outcome: str) -> None:
    with pytest.raises(TableError) as caught:
        read_ethtool(text, "k8sgn08", "ens1")
    assert caught.value.outcome.value == outcome


def test_counters_of_other_drivers() -> None:
    text = "NIC statistics:\n     [0]: rx_ucast_packets: 3\n     Queue[1] InPackets: 4\n"
    link, notes = read_ethtool(text, "g1", "ens1")
    assert (link.values, notes) == ({"[0]: rx_ucast_packets": 3, "Queue[1] InPackets": 4}, ())


def damages() -> Iterator[str]:
    """Yield every damage of one row of the table that does not remove it whole."""
    lines = ETHTOOL.splitlines()
    for n in range(1, len(lines)):
        row, head, tail = lines[n], lines[:n], lines[n + 1 :]
        name, value = row.split(":")
        others = [row.strip(), row.replace(":", ""), f"{name}:", f"{row}x", f":{value}"]
        others += [row[:cut] for cut in range(6, row.index(":") + 2)]
        others += [f"{row.strip()} 7", row.replace("_", ": 1_", 1)]
        yield from ("\n".join([*head, other, *tail]) for other in others)
        yield "\n".join([*head, "mlx5_core: warning", row, *tail])
        yield "\n".join([row, *head, *tail])
        if tail:
            yield "\n".join([*head, row + tail[0], *tail[1:]])
            yield "\n".join([*head, f"{row} {tail[0].strip()}", *tail[1:]])
            yield "\n".join([*head, name + tail[0], *tail[1:]])


def test_every_damage_within_the_table_voids_it() -> None:
    texts = list(damages())
    for text in texts:
        with pytest.raises(TableError, match="damaged-row"):
            read_ethtool(text, "g1", "ens1")
    assert len(texts) > 100


PROSE = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=30).map(
    lambda words: f"warning: {words}"
)


@settings(max_examples=tries(60))
@given(line=PROSE, at=st.integers(0, 20))
def test_a_line_beside_the_counters_is_a_note_and_changes_none(line: str, at: int) -> None:
    note = " ".join(line.split())
    rows = (BEFORE + MLX5).splitlines()
    place = at % (len(rows) + 1)
    links, notes = read_rdma_statistic("\n".join([*rows[:place], line, *rows[place:]]), "g1")
    assert (links, notes) == (read_rdma_statistic(BEFORE + MLX5, "g1")[0], (note,))
    for text in (f"{line}\n{ETHTOOL}", f"{ETHTOOL}{line}\n"):
        assert read_ethtool(text, "g1", "ens1") == (read_ethtool(ETHTOOL, "g1", "ens1")[0], (note,))


@settings(max_examples=tries(60))
@given(
    at=st.integers(1, 5),
    damage=st.sampled_from(["     rx_prio", "     rx: 1x", "     : 5", "  12"]),
)
def test_a_damaged_row_voids_its_table(at: int, damage: str) -> None:
    lines = ETHTOOL.splitlines()
    with pytest.raises(TableError, match="damaged-row"):
        read_ethtool("\n".join([*lines[:at], damage, *lines[at:]]), "g1", "ens1")


def test_counters_of_other_sections_are_kept_beside_a_damaged_one() -> None:
    text = f"motd\n@statistic\nlibibverbs: warning\n{BEFORE}@ethtool ens1\nno stats\n@end\n"
    counters, sentences = read_counters(text, "g1")
    assert [link.link for link in counters] == ["rxe0/1"]
    assert sentences == (
        "g1: rdma statistic also printed: libibverbs: warning",
        "g1: ethtool -S ens1 was not read: no stats",
    )


# --- switches -------------------------------------------------------------------------------------


AT = datetime(2026, 2, 2, tzinfo=UTC)


def switch(dropped: int = 0, rx: int = 0, deadlocks: int = 0, marked: int = 0) -> DeviceSeen:
    pfc = PfcCountersSeen(
        interface="100GE1/0/1", queue=4, rx_frames=rx, tx_frames=0, rx_rate=0, tx_rate=0,
        deadlocks=deadlocks, recoveries=0,
    )  # fmt: skip
    queues = tuple(
        QueueSeen(interface="100GE1/0/1", queue=queue, dropped_packets=dropped) for queue in (0, 4)
    )
    seen = MarkedSeen(interface="100GE1/0/1", marked_packets=marked)
    return DeviceSeen(name="leaf01", at=AT, pfc_counters=(pfc,), queues=queues, ecn_marks=(seen,))


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({}, {}, []),
        ({}, {"dropped": 3}, [(False, "leaf01 100GE1/0/1: 3 packets dropped in queue 4, which must lose none")]),
        ({"dropped": 3}, {}, [(None, "leaf01 100GE1/0/1: drops of queue 4 were cleared, so they are not judged")]),
        ({}, {"rx": 50}, [(True, "leaf01 100GE1/0/1 queue 4 received: 50 pauses, 5.0 a second, at most 10 allowed")]),
        ({}, {"rx": 500}, [(False, "leaf01 100GE1/0/1 queue 4 received: 500 pauses, 50.0 a second, at most 10 allowed")]),
        ({"rx": 5}, {}, [(None, "leaf01 100GE1/0/1 queue 4: PFC frames were cleared, so they are not judged")]),
        ({}, {"deadlocks": 1}, [(False, "leaf01 100GE1/0/1 queue 4: 1 PFC deadlocks")]),
        ({}, {"marked": 9}, [(None, "leaf01 100GE1/0/1: 9 packets marked by ECN")]),
    ],
)  # fmt: skip
def test_a_switch(
    before: dict[str, int], after: dict[str, int], found: list[tuple[bool | None, str]]
) -> None:
    judged = judge_switches((switch(**before),), (switch(**after),), 10, 4, 10)
    assert [(j.ok, j.sentence) for j in judged] == found


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ((0, 4), (0,), "of 100GE1/0/1 were"),
        ((0,), (0, 4), "of 100GE1/0/1 were"),
        ((0,), (0,), "were"),
        ((), (), "were"),
    ],
)
def test_a_queue_that_one_reading_lacks_is_not_passed(
    before: tuple[int, ...], after: tuple[int, ...], said: str
) -> None:
    def counted(queues: tuple[int, ...]) -> DeviceSeen:
        rows = tuple(q for q in switch().queues or () if q.queue in queues)
        return switch().model_copy(update={"queues": rows})

    found = judge_switches((counted(before),), (counted(after),), 10, 4)
    assert [(j.ok, j.sentence) for j in found] == [
        (None, f"leaf01: drops of queue 4 {said} not read twice, so they are not judged")
    ]


def test_what_was_not_read_on_a_switch_is_not_passed() -> None:
    silent = DeviceSeen(name="leaf01", at=AT)
    assert [(j.ok, j.sentence) for j in judge_switches((silent,), (silent,), 10, 4)] == [
        (None, "leaf01: dropped packets were not read, so loss there is not judged"),
        (None, "leaf01: PFC frames were not read, so pauses there are not judged"),
    ]
    line = UnreadSeen(command="display dcb pfc", line=7, why="has not 9 cells")
    cut = switch().model_copy(update={"unread": {StateTopic.PFC_COUNTERS: (line,)}})
    assert [j.sentence for j in judge_switches((cut,), (switch(rx=500),), 10, 4)] == [
        "leaf01: PFC frames were not read, so pauses there are not judged"
    ]
    (gone,) = judge_switches((silent,), (), 10, 4)
    assert gone.sentence == "leaf01: not read after the test"
