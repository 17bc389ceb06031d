"""Counters of NICs and switches during a test: read them, and judge them by rules.

Names: mlx5's (NVIDIA, "Understanding mlx5 Linux counters", and the kernel's documentation of
mlx5's ethtool counters), rxe's (as `rdma statistic` shows them). A counter that decreased was
cleared or has wrapped: it is not judged. A missing counter is not judged either; this is reported
once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nornir.core import Nornir
from nornir.core.task import Task

from rocefort.base.errors import RocefortError
from rocefort.fleet import ssh_exec
from rocefort.fleet.nornir_session import on_hosts
from rocefort.fleet.server_scripts import COUNTERS
from rocefort.models.network.observed import DeviceSeen, NicCounters, QueueSeen, StateTopic
from rocefort.models.wording import line_notes
from rocefort.rdma.parse.outcome import Outcome, TableError
from rocefort.rdma.plan.probe import read_sections
from rocefort.rdma.results import DerivedVerdict


@dataclass(frozen=True)
class CounterRule:
    """A counter that must not grow, and the meaning of its growth.

    informational: growth is reported and is no fault.
    """

    name: str
    means: str
    informational: bool = False


LOST = "packets were lost or came out of order"
MLX5 = (
    CounterRule("out_of_sequence", f"{LOST}, towards this NIC"),
    CounterRule("packet_seq_err", f"{LOST}, sent by this NIC"),
    CounterRule("implied_nak_seq_err", f"{LOST}: an answer came before its turn"),
    CounterRule("local_ack_timeout_err", "no answer came in time: packets were lost"),
    CounterRule("rx_icrc_encapsulated", "packets were damaged: a cable, or an optic"),
    CounterRule("out_of_buffer", "the receiver had posted no buffers"),
    CounterRule("rnr_nak_retry_err", "the other end had posted no buffers"),
    CounterRule("roce_adp_retrans", "the NIC resent: packets were lost"),
    CounterRule("rp_cnp_handled", "the sender slowed down for CNPs", informational=True),
    CounterRule("np_cnp_sent", "CNPs were sent for marked packets", informational=True),
    CounterRule("np_ecn_marked_roce_packets", "marked packets arrived", informational=True),
)
RXE = (
    CounterRule("out_of_seq_request", f"{LOST}, towards this NIC"),
    CounterRule("rcvd_seq_err", f"{LOST}, sent by this NIC"),
    CounterRule("duplicate_request", "requests came twice: answers were lost"),
    CounterRule("completer_retry_err", "requests were resent: packets were lost"),
    CounterRule("retry_exceeded_err", "the sender gave up resending"),
    CounterRule("retry_rnr_exceeded_err", "the sender gave up: no buffers at the other end"),
    CounterRule("send_err", "packets could not be sent"),
    CounterRule("rcvd_rnr_err", "the other end had posted no buffers"),
    CounterRule("link_downed", "the link went down"),
)
# rxe's timer can expire without a loss: the kernel's rxe_comp.c (6.1) documents it. An emulated or
# busy CPU answers late. If every packet arrived, none was lost.
BY_TIMER = ("completer_retry_err", "duplicate_request")
ALL_CAME = "resent when a timer expired; every packet that was sent has arrived"
VIRTIO = (  # of a guest's port, one queue (drivers/net/virtio_net.c)
    CounterRule("rx_queue_0_drops", "the guest had no buffer for packets"),
    CounterRule("rx_queue_0_xdp_drops", "the guest dropped packets"),
    CounterRule("tx_queue_0_tx_timeouts", "the guest's port took no packets for seconds"),
)
PORT = (  # of `ethtool -S`, mlx5; P is the priority of RoCE
    CounterRule("rx_prioP_discards", "the NIC had no buffer for packets of RoCE's priority"),
    CounterRule("rx_prioP_buf_discard", "the NIC had no buffer for packets of RoCE's priority"),
    CounterRule(
        "rx_prioP_cong_discard", "the NIC discarded packets of RoCE's priority: host congestion"
    ),
    CounterRule("rx_discards_phy", "the NIC's port had no buffer"),
    CounterRule("rx_crc_errors_phy", "frames were damaged: a cable, or an optic"),
    CounterRule("link_down_events_phy", "the link went down"),
)
PAUSES = ("rx_prioP_pause", "tx_prioP_pause")
KINDS = {"mlx5": MLX5, "rxe": RXE, "virtio": VIRTIO}


def driver_of(counters: NicCounters) -> str | None:
    """Return the driver whose counter names a link has; None: no driver in `KINDS`."""
    scores = {kind: sum(r.name in counters.values for r in rules) for kind, rules in KINDS.items()}
    best = max(scores, key=scores.__getitem__)
    return best if scores[best] else None


def judge_nics(
    before: Iterable[NicCounters],
    after: Iterable[NicCounters],
    seconds: float,
    priority: int,
    pause_rate_pps: float | None = None,
) -> tuple[DerivedVerdict, ...]:
    """Judge the growth of NIC counters over a test.

    seconds: duration of the test. priority: 802.1p priority of RoCE packets.
    """
    earlier, later = tuple(before), {(c.server, c.link): c for c in after}
    no_loss = _all_came(earlier, later)
    verdicts: list[DerivedVerdict] = []
    for start in earlier:
        end = later.get((start.server, start.link))
        where = f"{start.server} {start.link}"
        if end is None:
            verdicts.append(
                DerivedVerdict(subject=where, ok=None, sentence=f"{where}: not read after the test")
            )
            continue
        named = start.model_copy(update={"values": end.values | start.values})
        rules = _without_loss(_rules(named, priority)) if no_loss else _rules(named, priority)
        if not rules:
            sentence = f"{where}: it has no counter that a rule covers, so nothing is judged"
            verdicts.append(DerivedVerdict(subject=where, ok=None, sentence=sentence))
        names = [*(rule.name for rule in rules), *_pause_names(priority)]
        verdicts += _read_once(where, names, start.values.keys() ^ end.values.keys())
        verdicts += _growth_verdicts(where, rules, start.values, end.values)
        growth = {n: end.values[n] - v for n, v in start.values.items() if n in end.values}
        verdicts += _paused(where, growth, seconds, priority, pause_rate_pps)
    return tuple(verdicts)


def _all_came(before: Iterable[NicCounters], after: Mapping[tuple[str, str], NicCounters]) -> bool:
    """Return whether all rxe devices together received exactly as many packets as they sent."""
    sent = received = 0
    for start in before:
        if driver_of(start) == "rxe":
            end = after.get((start.server, start.link))
            if end is None or not {"sent_pkts", "rcvd_pkts"} <= start.values.keys() & end.values:
                return False
            sent += end.values["sent_pkts"] - start.values["sent_pkts"]
            received += end.values["rcvd_pkts"] - start.values["rcvd_pkts"]
    return sent == received > 0


def _without_loss(rules: Iterable[CounterRule]) -> tuple[CounterRule, ...]:
    return tuple(
        CounterRule(r.name, ALL_CAME, informational=True) if r.name in BY_TIMER else r
        for r in rules
    )


def _rules(counters: NicCounters, priority: int) -> tuple[CounterRule, ...]:
    port = tuple(CounterRule(r.name.replace("P", str(priority), 1), r.means) for r in PORT)
    driver = driver_of(counters)
    rules = KINDS[driver] if driver else port
    return tuple(rule for rule in rules if rule.name in counters.values)


def _read_once(
    where: str, names: Iterable[str], in_one_reading: Collection[str]
) -> Iterator[DerivedVerdict]:
    for name in (name for name in names if name in in_one_reading):
        sentence = f"{where}: {name} was read only once, so it is not judged"
        yield DerivedVerdict(subject=name, ok=None, sentence=sentence)


def _growth_verdicts(
    where: str, rules: Iterable[CounterRule], before: Mapping[str, int], after: Mapping[str, int]
) -> Iterator[DerivedVerdict]:
    for rule in (rule for rule in rules if rule.name in before and rule.name in after):
        grown = after[rule.name] - before[rule.name]
        if grown < 0:
            sentence = f"{where}: {rule.name} decreased, so it is not judged"
            yield DerivedVerdict(subject=rule.name, ok=None, sentence=sentence)
        elif grown:
            sentence = f"{where}: {rule.name} grew by {grown}: {rule.means}"
            yield DerivedVerdict(
                subject=rule.name, ok=None if rule.informational else False, sentence=sentence
            )


def _pause_names(priority: int) -> list[str]:
    return [name.replace("P", str(priority), 1) for name in PAUSES]


def _paused(
    where: str, growth: Mapping[str, int], seconds: float, priority: int, limit_pps: float | None
) -> Iterator[DerivedVerdict]:
    for name in _pause_names(priority):
        if growth.get(name, 0) > 0:
            yield from _rate(f"{where} {name}", growth[name], seconds, limit_pps)


def _rate(
    subject: str, frames: int, seconds: float, limit_pps: float | None
) -> Iterator[DerivedVerdict]:
    if not frames or seconds <= 0:
        return
    rate = frames / seconds
    bound = "no bound is given" if limit_pps is None else f"at most {limit_pps:g} allowed"
    sentence = f"{subject}: {frames} pauses, {rate:.1f} a second, {bound}"
    yield DerivedVerdict(
        subject=subject, ok=None if limit_pps is None else rate <= limit_pps, sentence=sentence
    )


# --- switches -------------------------------------------------------------------------------------


def judge_switches(
    before: Iterable[DeviceSeen],
    after: Iterable[DeviceSeen],
    seconds: float,
    queue: int,
    pause_rate_pps: float | None = None,
) -> tuple[DerivedVerdict, ...]:
    """Judge switch counters: no drop in RoCE's queue, no deadlock, pauses under a rate."""
    later = {counters.name: counters for counters in after}
    verdicts: list[DerivedVerdict] = []
    for start in before:
        end = later.get(start.name)
        if end is None:
            sentence = f"{start.name}: not read after the test"
            verdicts.append(DerivedVerdict(subject=start.name, ok=None, sentence=sentence))
        else:
            verdicts += _drops(start, end, queue)
            verdicts += _frames(start, end, seconds, queue, pause_rate_pps)
            verdicts += _marks(start, end)
    return tuple(verdicts)


def _drops(start: DeviceSeen, end: DeviceSeen, queue: int) -> Iterator[DerivedVerdict]:
    before, after = start.whole(StateTopic.QUEUES), end.whole(StateTopic.QUEUES)
    if before is None or after is None:
        sentence = f"{start.name}: dropped packets were not read, so loss there is not judged"
        yield DerivedVerdict(subject="drops", ok=None, sentence=sentence)
        return
    earlier = {row.interface: row.dropped_packets for row in before if row.queue == queue}
    yield from _unread_drops(start.name, earlier, after, queue)
    for row in after:
        if row.queue != queue or row.interface not in earlier:
            continue
        grown = row.dropped_packets - earlier[row.interface]
        where = f"{start.name} {row.interface}"
        if grown < 0:
            sentence = f"{where}: drops of queue {queue} were cleared, so they are not judged"
            yield DerivedVerdict(subject="drops", ok=None, sentence=sentence)
        elif grown:
            sentence = f"{where}: {grown} packets dropped in queue {queue}, which must lose none"
            yield DerivedVerdict(subject="drops", ok=False, sentence=sentence)


def _unread_drops(
    device: str, earlier: Mapping[str, int], later: Iterable[QueueSeen], queue: int
) -> Iterator[DerivedVerdict]:
    """Report ports whose queue is in one reading only: their loss is unknown."""
    lacking = sorted(earlier.keys() ^ {row.interface for row in later if row.queue == queue})
    if lacking or not earlier:
        ports = f" of {', '.join(lacking)}" if lacking else ""
        sentence = (
            f"{device}: drops of queue {queue}{ports} were not read twice, so they are not judged"
        )
        yield DerivedVerdict(subject="drops", ok=None, sentence=sentence)


def _frames(
    start: DeviceSeen, end: DeviceSeen, seconds: float, queue: int, limit_pps: float | None
) -> Iterator[DerivedVerdict]:
    before, after = start.whole(StateTopic.PFC_COUNTERS), end.whole(StateTopic.PFC_COUNTERS)
    if before is None or after is None:
        sentence = f"{start.name}: PFC frames were not read, so pauses there are not judged"
        yield DerivedVerdict(subject="pfc", ok=None, sentence=sentence)
        return
    earlier = {(row.interface, row.queue): row for row in before}
    for row in after:
        earlier_row = earlier.get((row.interface, row.queue))
        if earlier_row is None:
            continue
        where = f"{start.name} {row.interface} queue {row.queue}"
        if row.deadlocks > earlier_row.deadlocks:
            sentence = f"{where}: {row.deadlocks - earlier_row.deadlocks} PFC deadlocks"
            yield DerivedVerdict(subject="deadlock", ok=False, sentence=sentence)
        if row.queue != queue:
            continue
        if row.rx_frames < earlier_row.rx_frames or row.tx_frames < earlier_row.tx_frames:
            sentence = f"{where}: PFC frames were cleared, so they are not judged"
            yield DerivedVerdict(subject="pfc", ok=None, sentence=sentence)
            continue
        yield from _rate(
            f"{where} received", row.rx_frames - earlier_row.rx_frames, seconds, limit_pps
        )
        yield from _rate(f"{where} sent", row.tx_frames - earlier_row.tx_frames, seconds, limit_pps)


def _marks(start: DeviceSeen, end: DeviceSeen) -> Iterator[DerivedVerdict]:
    earlier = {row.interface: row.marked_packets for row in start.whole(StateTopic.ECN_MARKS) or ()}
    for row in end.whole(StateTopic.ECN_MARKS) or ():
        grown = row.marked_packets - earlier.get(row.interface, row.marked_packets)
        if grown > 0:
            sentence = f"{start.name} {row.interface}: {grown} packets marked by ECN"
            yield DerivedVerdict(subject="ecn", ok=None, sentence=sentence)


DEADLINE_S = 30.0
# A counter may have the number of its queue before it (`[0]: rx_bytes`), or a second word.
COUNTER = re.compile(
    r"\s+(?P<name>(?:\[?\d+\]?: ?)?[^\s:]+(?: [A-Za-z][^\s:]*)*):\s*(?P<value>-?\d+)\s*"
)
TITLE = "NIC statistics:"
# Lines that only a damaged table has outside its rows; a note has no such form.
PART_OF_ETHTOOL = re.compile(r"\s.*|(?:(?=[^\s:_]*_)[^\s:]++)?:\s*-?\d.*")
PART_OF_STATISTIC = re.compile(r"(?:.*\s)?[A-Za-z]\w*_\w*\s+\d+(?:\s.*)?")
STATISTIC_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)

# Counters, and a sentence for each part that was not read, or that is no part of a table.
Reading = tuple[tuple[NicCounters, ...], tuple[str, ...]]
Notes = tuple[str, ...]  # lines beside a table


def read_nics(nornir: Nornir, servers: Sequence[str]) -> Reading:
    """Read the counters of all NICs that RDMA uses, with a sentence for each unread part."""

    def read(task: Task) -> Reading:
        name = task.host.name
        try:
            done = ssh_exec.session(task.host, task.nornir.config).run(COUNTERS, DEADLINE_S)
            return read_counters(done.stdout, name)
        except RocefortError as error:
            cause = str(error).removeprefix(f"{name}: ")
        except TableError as flaw:
            cause = flaw.line
        return (), (f"{name}: its counters were not read: {cause}",)

    answers = on_hosts(nornir, servers, read).values()
    counters = tuple(one for server_counters, _ in answers for one in server_counters)
    return counters, tuple(sentence for _, unread in answers for sentence in unread)


def read_counters(text: str, server: str) -> Reading:
    """Parse the output of one server; raises TableError for an incomplete answer."""
    counters: list[NicCounters] = []
    sentences: list[str] = []
    for section in read_sections(text):
        statistic = section.name == "statistic"
        command = "rdma statistic" if statistic else f"ethtool -S {section.what}"
        try:
            if statistic:
                links, beside = read_rdma_statistic(section.text, server)
            else:
                link, beside = read_ethtool(section.text, server, section.what)
                links = (link,)
        except TableError as flaw:
            sentences.append(f"{server}: {command} was not read: {flaw.line or flaw.outcome}")
        else:
            counters += links
            sentences += [f"{server}: {command} also printed: {line}" for line in beside]
    return tuple(counters), tuple(sentences)


def read_rdma_statistic(text: str, server: str) -> tuple[tuple[NicCounters, ...], Notes]:
    """Read `rdma statistic show`; raises TableError for a damaged row, none, or a link twice.

    Lines that begin with `link` are rows. A line without this word that has a counter and its value
    is a damaged row; any other line is a note.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    rows = [line for line in lines if line.split()[0] == "link"]
    beside = [line for line in lines if line.split()[0] != "link"]
    if damaged := next(filter(PART_OF_STATISTIC.fullmatch, beside), None):
        raise TableError(Outcome.DAMAGED_ROW, damaged)
    if not rows:
        raise TableError(Outcome.NO_TABLE, "rdma statistic: no link")
    links = tuple(_link(line, server) for line in rows)
    if len({link.link for link in links}) != len(links):
        raise TableError(Outcome.TWO_TABLES, rows[-1])
    return links, line_notes(beside)


def _link(line: str, server: str) -> NicCounters:
    """Parse `link rxe0/1 sent_pkts 0 rcvd_pkts 0 ..`: names and values alternate."""
    words = line.split()
    names, values = words[2::2], words[3::2]
    if len(words) < 2 or len(names) != len(values):
        raise TableError(Outcome.DAMAGED_ROW, line)
    if not all(map(STATISTIC_NAME.fullmatch, names)) or len(set(names)) != len(names):
        raise TableError(Outcome.DAMAGED_ROW, line)
    if not all(value.isdecimal() for value in values):
        raise TableError(Outcome.DAMAGED_ROW, line)
    pairs = zip(names, map(int, values), strict=True)
    return NicCounters(server=server, link=words[1], values=dict(pairs))


def read_ethtool(text: str, server: str, interface: str) -> tuple[NicCounters, Notes]:
    """Read `ethtool -S INTERFACE`; raises TableError.

    The table is the title and all lines below it, up to the last counter. Other lines are notes,
    unless they are indented or have the form of a counter: then the table is damaged.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    titles = [n for n, line in enumerate(lines) if line.strip() == TITLE]
    if not titles:
        raise TableError(Outcome.NO_TABLE, lines[0] if lines else "ethtool -S: nothing")
    if len(titles) > 1:
        raise TableError(Outcome.TWO_TABLES, lines[titles[1]])
    above, below = lines[: titles[0]], lines[titles[0] + 1 :]
    end = max((n for n, line in enumerate(below, 1) if COUNTER.fullmatch(line)), default=0)
    beside = (*above, *below[end:])
    if damaged := next(filter(PART_OF_ETHTOOL.fullmatch, beside), None):
        raise TableError(Outcome.DAMAGED_ROW, damaged)
    if not end:
        raise TableError(Outcome.MISSING_ROW, TITLE)
    values: dict[str, int] = {}
    for line in below[:end]:
        match = COUNTER.fullmatch(line)
        if match is None or match["name"] in values:
            raise TableError(Outcome.DAMAGED_ROW, line)
        values[match["name"]] = int(match["value"])
    return NicCounters(server=server, link=interface, values=values), line_notes(beside)
