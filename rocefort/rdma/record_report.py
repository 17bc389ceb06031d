"""Record of a run for a person: which network ran, what was in force, what the counters show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rocefort.models.network.observed import DeviceSeen, NicCounters, StateTopic
from rocefort.models.network.servers import HostSeen, NicSeen
from rocefort.models.wording import count_of, names_text
from rocefort.rdma.run_record import DCQCN_ENABLE, FabricState, RunRecord, SwitchSettings
from rocefort.reports.blocks import (
    Block,
    Items,
    Note,
    Section,
    Table,
    TableColumn,
    Tone,
    columns,
)

MOST_LINES = 40
MOST_COUNTERS = 12  # of one NIC
SHORT_COMMIT = 12
EMULATED = "the figures are constants of an emulator, and enter no comparison"


def record_report(record: RunRecord) -> Iterator[Block]:
    """All of a record."""
    yield Section("which network ran:", (Items(tuple(_origin(record))),))
    yield from _in_force(record)
    yield from _servers(record.hosts)
    if record.differences:
        yield _listed("not as the fabric intends:", record.differences, Tone.WARNING)
    yield from _switch_counters(record)
    yield from _nic_counters(record)
    unread = (*record.unread, *record.before.unread, *record.after.unread)
    if unread:
        yield _listed("not read:", tuple(_grouped(unread)))


def record_summary(record: RunRecord) -> str:
    """The record in one sentence, beside the figures of a run."""
    modes = record.conditions.get("ecn", "not read")
    differing = count_of(len(record.differences), "difference") if record.differences else "none"
    state = f"differences from the intent: {differing}"
    if not record.switches and not record.hosts:
        state = "nothing was read back"
    elif record.unread:
        state += f", {len(record.unread)} values not read"
    return f"record: {fabric_words(record.fabric)}; ECN {modes}; {state}"


def fabric_words(fabric: FabricState) -> str:
    """Fabric, its commit, and whether files differ from it."""
    if not fabric.commit:
        return f"{fabric.source}, content {fabric.digest[:SHORT_COMMIT]} ({fabric.why})"
    state = "with uncommitted changes" if fabric.uncommitted else "clean"
    return f"{fabric.source} at commit {fabric.commit[:SHORT_COMMIT]}, {state}"


def _origin(record: RunRecord) -> Iterator[str]:
    yield fabric_words(record.fabric)
    yield f"content of the fabric: SHA-256 {record.fabric.digest}"
    if record.plan:
        wave = f", gate of wave {record.wave}" if record.wave else ""
        yield f"plan {record.plan}{wave}"
    if record.emulated:
        yield EMULATED
    seen = record.before.switches
    if not seen:
        yield "switches: not read"
    releases: dict[str, list[str]] = {}
    for each in seen:
        known = f"{each.facts.hardware}, {each.facts.software}" if each.facts else "model not read"
        releases.setdefault(known, []).append(each.name)
    for known, names in releases.items():
        yield f"{known}: {names_text(names)}"


def _in_force(record: RunRecord) -> Iterator[Block]:
    read = [each for each in record.switches if not each.why]
    if not read:
        return
    rows = [*_setting_rows("ECN", read), *_setting_rows("PFC", read)]
    heads = (*columns("", "in force"), TableColumn("ports"), TableColumn("switches", wraps=True))
    whole = sum(each.digest == each.intended_digest for each in read)
    note = f"{whole} of {count_of(len(read), 'switch')} run the configuration of the fabric"
    yield Section("in force, read back from switches:", (Table(heads, tuple(rows)), Note(note)))


def _setting_rows(
    kind: str, read: Sequence[SwitchSettings]
) -> Iterator[tuple[str, str, int | None, str]]:
    """Yield a row for each setting, with its ports and switches; thresholds on a second row."""
    ports: dict[str, int] = {}
    names: dict[str, list[str]] = {}
    for each in read:
        for setting in each.ecn if kind == "ECN" else each.pfc:
            ports[setting.text] = ports.get(setting.text, 0) + setting.ports
            names.setdefault(setting.text, []).append(each.device)
    for text, count in ports.items():
        first, *rest = text.split("; ")
        yield kind, first, count, names_text(names[text])
        yield from (("", each, None, "") for each in rest)


def _servers(hosts: Iterable[HostSeen]) -> Iterator[Block]:
    answered = [host for host in hosts if not host.failed]
    if not answered:
        return
    lines = tuple(f"{host.name}: {'; '.join(_host_parts(host))}" for host in answered)
    yield Section("in force, read back from servers:", (Items(lines),))


def _host_parts(host: HostSeen) -> Iterator[str]:
    yield f"{host.interface or 'interface not known'}, MTU {_or_unread(host.mtu)}"
    yield f"kernel {_or_unread(host.kernel)}"
    for nic in host.nics:
        yield f"{nic.name} driver {_driver(nic)}"
        yield f"DCQCN {_dcqcn(nic)}"
        if nic.paused is not None:
            yield f"PFC of priorities {', '.join(map(str, nic.paused)) or 'none'}"
    if host.clock_ahead_s is None:
        yield "clock not read"
    else:
        yield f"clock {host.clock_ahead_s:+.3f} s (within {host.clock_error_s or 0:.3f} s)"


def _or_unread(value: object) -> str:
    return "not read" if value is None else str(value)


def _driver(nic: NicSeen) -> str:
    if nic.driver is None:
        return "not read"
    firmware = nic.driver.firmware
    parts = (nic.driver.name, nic.driver.version, f"firmware {firmware}" if firmware else "")
    return " ".join(filter(None, parts))


def _dcqcn(nic: NicSeen) -> str:
    """DCQCN of a NIC by its kernel's files: on, off, and the values of its parameters."""
    files = nic.files or {}
    enabled = [value for path, value in files.items() if path.startswith(DCQCN_ENABLE)]
    if not enabled:
        return "not read"
    values = [
        f"{path.rsplit('/', 1)[-1]}={value}"
        for path, value in files.items()
        if not path.startswith((DCQCN_ENABLE, "roce_np/enable"))
    ]
    state = "on" if any(enabled) else "off"
    return f"{state} ({', '.join(values)})" if values else state


# --- counters -------------------------------------------------------------------------------------


def _switch_counters(record: RunRecord) -> Iterator[Block]:
    queue = record.queue
    later = {seen.name: seen for seen in record.after.switches}
    pairs = [(seen, later.get(seen.name)) for seen in record.before.switches if not seen.failed]
    if not pairs:
        return
    heads = (
        *columns("switch"),
        *(TableColumn(title, "right") for title in ("CPU %", "memory %", "GB sent", "dropped")),
        *(TableColumn(title, "right") for title in ("pauses", "ECN marks")),
    )
    rows = tuple(_counter_row(start, end, queue) for start, end in pairs)
    of_queue = "of all queues" if queue is None else f"of queue {queue}"
    note = (
        f"growth over the run {of_queue}, on all RoCE ports; CPU over 1 min and memory at its end; "
        "-: not read; --format json has each port before and after"
    )
    yield Section("counters of switches:", (Table(heads, rows), Note(note)))


def _counter_row(
    start: DeviceSeen, end: DeviceSeen | None, queue: int | None
) -> tuple[str | int | None, ...]:
    if end is None:
        return (start.name, *[None] * 6)
    sent = grown(start, end, StateTopic.QUEUES, "passed_bytes", queue)
    pauses = [
        grown(start, end, StateTopic.PFC_COUNTERS, name, queue)
        for name in ("rx_frames", "tx_frames")
    ]
    return (
        start.name,
        None if end.cpu is None else end.cpu.one_minute,
        None if end.memory is None else f"{end.memory.percent:.0f}",
        None if sent is None else f"{sent / 1e9:.2f}",
        grown(start, end, StateTopic.QUEUES, "dropped_packets", queue),
        None if None in pauses else sum(each or 0 for each in pauses),
        grown(start, end, StateTopic.ECN_MARKS, "marked_packets", None),
    )


def grown(
    start: DeviceSeen, end: DeviceSeen, topic: StateTopic, name: str, queue: int | None
) -> int | None:
    """Growth of a counter over all ports; None: not read twice, or cleared meanwhile."""
    before, after = (_values(seen.whole(topic), name, queue) for seen in (start, end))
    if before is None or after is None or before.keys() != after.keys():
        return None
    growth = [after[key] - before[key] for key in before]
    return None if any(each < 0 for each in growth) else sum(growth)


def _values(
    rows: Sequence[object] | None, name: str, queue: int | None
) -> Mapping[tuple[object, object], int] | None:
    values: dict[tuple[object, object], int] = {}
    for row in rows or ():
        own = getattr(row, "queue", None)
        value = getattr(row, name)
        if value is None:
            return None
        if queue is None or own == queue:
            values[getattr(row, "interface", None), own] = value
    return None if rows is None else values


def _nic_counters(record: RunRecord) -> Iterator[Block]:
    later = {(nic.server, nic.link): nic for nic in record.after.nics}
    lines = [
        f"{nic.server} {nic.link}: {_growth(nic, later.get((nic.server, nic.link)))}"
        for nic in record.before.nics
    ]
    if lines:
        yield Section("counters of NICs that grew:", (Items(tuple(lines[:MOST_LINES])),))


def _growth(start: NicCounters, end: NicCounters | None) -> str:
    if end is None:
        return "not read after the run"
    growth = {n: end.values[n] - v for n, v in start.values.items() if n in end.values}
    grown = [f"{name} {value:+,}" for name, value in growth.items() if value]
    more = len(grown) - MOST_COUNTERS
    rest = [f"and {more} more"] if more > 0 else []
    return ", ".join((*grown[:MOST_COUNTERS], *rest)) or f"none of {len(growth)}"


def _listed(title: str, sentences: Sequence[str], tone: Tone = Tone.PLAIN) -> Section:
    more = len(sentences) - MOST_LINES
    rest = [f"and {more} more; --format json has them all"] if more > 0 else []
    return Section(title, (Items((*sentences[:MOST_LINES], *rest)),), tone=tone)


def _grouped(sentences: Iterable[str]) -> Iterator[str]:
    """Yield sentences that begin with a name; those with the same rest once, with all names."""
    names: dict[str, list[str]] = {}
    for sentence in dict.fromkeys(sentences):
        name, colon, rest = sentence.partition(": ")
        names.setdefault(rest if colon else sentence, []).append(name if colon else "")
    for rest, whose in names.items():
        yield f"{names_text(whose)}: {rest}" if any(whose) else rest
