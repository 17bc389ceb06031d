"""Memory of the kernel for one run of a scenario."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log2

import numpy as np

from rocefort.models.fabric.congestion_control import DcqcnParameters
from rocefort.tune.scenario import KB, Buffer, Marking, Scenario, lowest_rate_mbps
from rocefort.tune.simulator.kernel import columns as c
from rocefort.tune.simulator.kernel.memory import Floats, Ints
from rocefort.tune.simulator.layout import FlowSpec, Ground, PortName, RunLayout, port_names
from rocefort.validators.facts.headroom import (
    INTERFACE_QUANTA,
    QUANTUM_BYTES,
    RESPONSE_QUANTA,
    headroom_of_terms,
)

PS_PER_US = 1_000_000
CONTROL_BYTES = 64
TELEMETRY_BYTES = 42  # of HPCC
TCP_HEADER_BYTES = 70  # Ethernet 18, IPv4 20, TCP 20 with 12 of time stamps
FIRST_WINDOW = 10  # segments, RFC 6928
FIRST_RTO_PS = 1e12  # RFC 6298 (2.1)
KINDS = {
    "pfc_only": c.NO_CONTROL,
    "dcqcn": c.DCQCN,
    "dctcp": c.DCTCP,
    "hpcc": c.HPCC,
    "timely": c.TIMELY,
}
WITH_WINDOW = ("dctcp", "hpcc")


@dataclass(frozen=True)
class Memory:
    """Memory of a run, with views of its tables; `ports` and `flows` are in the tables' order."""

    integers: Ints
    floats: Floats
    ports: Ints
    port_floats: Floats
    flows: Ints
    histograms: Ints
    names: tuple[PortName, ...]
    specs: tuple[FlowSpec, ...]


def header_bytes(scenario: Scenario) -> int:
    """Return the bytes of a data packet that are not payload."""
    extra = TELEMETRY_BYTES if scenario.congestion_control == "hpcc" else 0
    return scenario.header_bytes + extra


def packet_bytes(scenario: Scenario) -> int:
    """Return the bytes of a full data packet."""
    return scenario.packet_bytes + header_bytes(scenario) - scenario.header_bytes


def size_of(scenario: Scenario, tcp: bool) -> int:
    """Return the bytes of a full packet of a flow of RoCE or TCP."""
    return scenario.tcp.packet_bytes if tcp else packet_bytes(scenario)


def payload_of(scenario: Scenario, tcp: bool) -> int:
    """Return the bytes of payload in a full packet of a flow of RoCE or TCP."""
    if tcp:
        return scenario.tcp.packet_bytes - TCP_HEADER_BYTES
    return scenario.packet_bytes - scenario.header_bytes


def ps_per_byte(gbps: int) -> int:
    """Return the time of a byte on a port; it is whole for all speeds."""
    return 8000 // gbps


def prepare(
    scenario: Scenario, nic: DcqcnParameters, layout: RunLayout, seed: int, spare: int = 1
) -> Memory:
    """Return the memory of a run.

    nic: the profile's parameters, with those of the scenario. spare: factor of the packets.
    """
    names = port_names(layout.ground.cables)
    number = {name: n for n, name in enumerate(names)}
    specs = tuple(sorted(layout.flows, key=lambda flow: number[flow.ports[0]]))
    ports, port_floats = _ports(scenario, layout)
    switches = np.zeros((len(layout.ground.switches), c.SWITCH_COLUMNS), np.int64)
    for place in range(len(layout.ground.switches)):
        inputs = ports[:, c.PEER] == place
        booked = ports[inputs][:, [c.RESERVE, c.HEADROOM]].sum()
        size = buffer_bytes(scenario, layout.ground, layout.ground.switches[place])
        switches[place, c.POOL] = max(0, size - int(booked))
    paths, back = _paths(specs, number)
    flows, flow_floats = _flows(scenario, specs, ports, paths, back)
    width = c.PACKET_COLUMNS
    if scenario.congestion_control == "hpcc":
        width += c.TELEMETRY * paths.shape[1]
    packets = np.zeros((_packet_count(scenario, layout, ports) * spare, width), np.int64)
    slots = 1 << ceil(log2(max(2, 3 * len(ports) + len(flows))))
    parts = {
        "header": np.zeros(c.HEADER, np.int64),
        "ports": ports,
        "switches": switches,
        "flows": flows,
        "paths": paths,
        "back": back,
        "rings": np.zeros((sum(spec.tcp for spec in specs), 3 * c.RING), np.int64),
        "reports": np.zeros((len(flows), paths.shape[1] * c.TELEMETRY), np.int64),
        "histograms": np.zeros((len(ports), c.BINS), np.int64),
        "calendar": np.full(slots, c.NEVER, np.int64),
        "winners": np.zeros(2 * slots, np.int64),
        "packets": packets,
    }
    at = dict(zip(parts, np.cumsum([0, *(part.size for part in parts.values())]), strict=False))
    _set_addresses(parts, at)
    _schedule(parts, at, seed)
    memory = np.concatenate([part.ravel() for part in parts.values()])
    parameters = _parameters(scenario, nic)
    buffers = [buffer_bytes(scenario, layout.ground, s) for s in layout.ground.switches]
    coarse = max(buffers) / (c.BINS - c.FINE_BINS)
    parameters[c.BIN_SHIFT] = max(0, ceil(log2(coarse)))
    if scenario.flows.bytes is not None:
        parameters[c.FINITE] = (flows[:, c.SIZE] < c.NEVER).sum()
    floats = np.concatenate([parameters, port_floats.ravel(), flow_floats.ravel()])

    def view(name: str) -> Ints:
        part = parts[name]
        return memory[at[name] : at[name] + part.size].reshape(part.shape)

    return Memory(
        integers=memory,
        floats=floats,
        ports=view("ports"),
        port_floats=floats[c.PARAMETERS : c.PARAMETERS + port_floats.size].reshape(
            port_floats.shape
        ),
        flows=view("flows"),
        histograms=view("histograms"),
        names=tuple(names),
        specs=specs,
    )


def _set_addresses(parts: dict[str, Ints], at: dict[str, int]) -> None:
    """Replace numbers of rows by their addresses; -1 stays."""
    ports, flows, packets = parts["ports"], parts["flows"], parts["packets"]
    hops = parts["paths"].shape[1]

    def address(numbers: Ints, name: str, columns: int) -> Ints:
        return np.where(numbers >= 0, at[name] + numbers * columns, -1)

    source = ports[:, c.SWITCH] < 0
    counts = np.bincount(flows[:, c.SOURCE_PORT], minlength=len(ports))
    ports[:, c.FLOW_COUNT] = np.where(source, counts, 0)
    ports[:, c.FIRST_FLOW] = at["flows"] + (np.cumsum(counts) - counts) * c.FLOW_COLUMNS
    for column in (c.SWITCH, c.PEER):
        ports[:, column] = address(ports[:, column], "switches", c.SWITCH_COLUMNS)
    ports[:, c.REVERSE] = address(ports[:, c.REVERSE], "ports", c.PORT_COLUMNS)
    order = np.arange(len(ports))
    ports[:, c.SLOT] = 3 * order
    ports[:, c.HISTOGRAM] = at["histograms"] + order * c.BINS
    ports[:, c.PORT_FLOATS_AT] = c.PARAMETERS + order * c.PORT_FLOATS
    order = np.arange(len(flows))
    flows[:, c.SLOT] = 3 * len(ports) + order
    flows[:, c.FLOATS] = c.PARAMETERS + len(ports) * c.PORT_FLOATS + order * c.FLOW_FLOATS
    flows[:, c.PATH], flows[:, c.WAY_BACK] = at["paths"] + order * hops, at["back"] + order * hops
    flows[:, c.REPORTS] = at["reports"] + order * hops * c.TELEMETRY
    rings = flows[:, c.TCP].cumsum() - 1
    flows[:, c.RINGS] = np.where(flows[:, c.TCP] > 0, at["rings"] + rings * 3 * c.RING, -1)
    flows[:, c.SOURCE_PORT] = address(flows[:, c.SOURCE_PORT], "ports", c.PORT_COLUMNS)
    for name in ("paths", "back"):
        parts[name][:] = address(parts[name], "ports", c.PORT_COLUMNS)
    packets[:, c.LINK] = at["packets"] + np.arange(1, len(packets) + 1) * packets.shape[1]
    packets[-1, c.LINK] = -1


def _schedule(parts: dict[str, Ints], at: dict[str, int], seed: int) -> None:
    """Fill the header, and the calendar with the servers' first packets, and its tree."""
    ports, calendar, winners = parts["ports"], parts["calendar"], parts["winners"]
    slots = len(calendar)
    calendar[ports[ports[:, c.FLOW_COUNT] > 0, c.SLOT]] = 0
    winners[slots:] = np.arange(slots)
    for node in range(slots - 1, 0, -1):
        left, right = winners[2 * node], winners[2 * node + 1]
        winners[node] = left if calendar[left] <= calendar[right] else right
    header = parts["header"]
    header[[c.CALENDAR, c.WINNERS, c.SLOTS]] = at["calendar"], at["winners"], slots
    header[[c.PORTS_AT, c.PORT_SLOTS, c.FLOWS_AT]] = at["ports"], 3 * len(ports), at["flows"]
    header[[c.FREE, c.STATUS, c.RANDOM]] = at["packets"], c.RUNNING, seed


def buffer_bytes(scenario: Scenario, ground: Ground, switch: str) -> int:
    """Return the buffer of a switch: the scenario's, its hardware's, or the HPCC simulator's."""
    if scenario.buffer.total_kbytes is not None:
        return round(scenario.buffer.total_kbytes * KB)
    if switch in ground.buffers:
        return ground.buffers[switch]
    return scenario.port_gbps * 16 * 1024 * 1024 // 50


def marking_of(scenario: Scenario) -> Marking:
    """Return the ECN thresholds of a scenario: its own, or those of the HPCC simulator."""
    if scenario.ecn is not None:
        return scenario.ecn
    speed = scenario.port_gbps
    if scenario.congestion_control == "dctcp":
        step = 30 * speed / 10
        return Marking(kmin_kbytes=step, kmax_kbytes=step, pmax_percent=100, scale_with_speed=True)
    if scenario.congestion_control != "dcqcn":
        return Marking(kmin_kbytes=1_000_000, kmax_kbytes=1_000_000, pmax_percent=0)
    low, high = 100 * speed / 25, 400 * speed / 25
    return Marking(kmin_kbytes=low, kmax_kbytes=high, pmax_percent=20, scale_with_speed=True)


def pause_quanta(buffer: Buffer, gbps: int) -> int:
    """Return the quanta of 512 bit times from a pause frame's arrival to the end of what it stops.

    The peer's response, and the delay of the pauser's own interface, out and in. Other packets pass
    interfaces in no time: only the pause loop has their bounds.
    """
    response, interface = buffer.response_quanta, buffer.interface_quanta
    return (RESPONSE_QUANTA[gbps] if response is None else response) + (
        INTERFACE_QUANTA[gbps] if interface is None else interface
    )


def headroom_of(scenario: Scenario, gbps: int, delay_us: float) -> int:
    """Return the headroom of a port, bytes: as given, or by the formula of rule BUF001.

    The formula has a delay for the cable's length, and the scenario's packets and response.
    """
    buffer = scenario.buffer
    if not buffer.pfc:
        return 0
    if buffer.headroom_kbytes is not None:
        return round(buffer.headroom_kbytes * KB)
    frame = packet_bytes(scenario)
    own = max(frame, scenario.tcp.packet_bytes) if scenario.has_tcp else frame
    cable = Fraction(2 * gbps * KB, 8) * Fraction(str(delay_us))
    return headroom_of_terms(own, frame, cable + pause_quanta(buffer, gbps) * QUANTUM_BYTES)


def _ports(scenario: Scenario, layout: RunLayout) -> tuple[Ints, Floats]:
    """Return the rows of all ports: both directions of each cable, as `port_names` has them."""
    place = {name: n for n, name in enumerate(layout.ground.switches)}
    count = len(layout.ground.cables)
    ports = np.zeros((2 * count, c.PORT_COLUMNS), np.int64)
    floats = np.zeros((2 * count, c.PORT_FLOATS))
    for position, cable in enumerate(layout.ground.cables):
        both = (position, position + count)
        ends = ((cable.a, cable.b), (cable.b, cable.a))
        for own, other, (near, far) in zip(both, both[::-1], ends, strict=True):
            row = ports[own]
            row[c.PS_PER_BYTE] = ps_per_byte(cable.gbps)
            row[c.DELAY] = round(cable.delay_us * PS_PER_US)
            row[c.SWITCH], row[c.PEER] = place.get(near, -1), place.get(far, -1)
            row[c.REVERSE] = other
            quanta = pause_quanta(scenario.buffer, cable.gbps)
            row[c.RESPONSE] = quanta * QUANTUM_BYTES * row[c.PS_PER_BYTE]
            if far in place:
                _set_buffer(scenario, row, cable.gbps, cable.delay_us)
            _set_marking(scenario, row, floats[own], cable.gbps)
    for head in (c.DATA, c.CONTROL, c.FRAMES, c.FLIGHT, c.EFFECTS, c.LOSSY):
        ports[:, head] = -1
    return ports, floats


def _set_buffer(scenario: Scenario, row: Ints, gbps: int, delay_us: float) -> None:
    """Set the buffer of an ingress port."""
    buffer = scenario.buffer
    row[c.PFC] = int(buffer.pfc)
    row[c.RESERVE] = round(buffer.reserve_kbytes * KB)
    row[c.HEADROOM] = headroom_of(scenario, gbps, delay_us)
    row[c.XOFF] = -1 if buffer.xoff_kbytes is None else round(buffer.xoff_kbytes * KB)
    row[c.XON] = -1 if buffer.xon_kbytes is None else round(buffer.xon_kbytes * KB)
    row[c.XON_OFFSET] = round(buffer.xon_offset_kbytes * KB)


def _set_marking(scenario: Scenario, row: Ints, floats: Floats, gbps: int) -> None:
    """Set the ECN of an egress port, and the alpha of an ingress port."""
    marking = marking_of(scenario)
    limits, times = marking.of_port(gbps, scenario.port_gbps), gbps / scenario.port_gbps
    row[c.KMIN] = round(limits.kmin_kbytes * KB)
    row[c.KMAX] = round(limits.kmax_kbytes * KB)
    floats[c.PMAX] = limits.pmax_percent / 100
    alpha = scenario.buffer.alpha
    if scenario.buffer.scale_alpha_with_speed and times > 1:
        alpha = max(alpha, min(1.0, alpha * 2 ** ceil(log2(times))))
    floats[c.THRESHOLD_ALPHA] = alpha


def _paths(flows: tuple[FlowSpec, ...], number: dict[PortName, int]) -> tuple[Ints, Ints]:
    """Return the ports of each flow's path, and of its way back."""
    longest = max(len(flow.nodes) for flow in flows) - 1
    paths = np.full((2, len(flows), longest), -1, np.int64)
    for position, flow in enumerate(flows):
        for way, names in enumerate((flow.ports, flow.ports_back)):
            ports = [number[name] for name in names]
            paths[way, position, : len(ports)] = ports
    return paths[0], paths[1]


def _flows(
    scenario: Scenario, flows: tuple[FlowSpec, ...], ports: Ints, paths: Ints, back: Ints
) -> tuple[Ints, Floats]:
    """Return the rows of all flows."""
    rows = np.zeros((len(flows), c.FLOW_COLUMNS), np.int64)
    floats = np.zeros((len(flows), c.FLOW_FLOATS))
    carries_data = np.zeros(len(ports), bool)
    carries_data[paths[paths >= 0]] = True
    size = packet_bytes(scenario)
    trips = [_trip(ports, ahead, size) for ahead in paths]
    longest = max(trips)
    control = scenario.congestion_control
    window = scenario.nic.window
    has_window = control in WITH_WINDOW if window is None else window
    for position, flow in enumerate(flows):
        row, ahead, behind = rows[position], paths[position], back[position]
        behind = behind[behind >= 0]
        row[c.SOURCE_PORT] = ahead[0]
        row[c.SIZE] = c.NEVER if flow.payload is None else flow.payload
        row[c.START] = row[c.AVAILABLE] = round(flow.start_us * PS_PER_US)
        row[c.RETURN_PS] = sum(
            int(ports[port, c.DELAY]) + CONTROL_BYTES * int(ports[port, c.PS_PER_BYTE])
            for port in behind
        )
        every = control in ("dctcp", "hpcc", "timely") or scenario.nic.acks == "every_packet"
        row[c.ACKS] = int(every or has_window or bool(carries_data[behind].any()))
        row[c.HOPS] = (ahead >= 0).sum()
        row[c.BASE_RTT] = longest
        line = 8e12 / int(ports[ahead[0], c.PS_PER_BYTE])
        row[c.WINDOW] = int(longest / int(ports[ahead[0], c.PS_PER_BYTE])) if has_window else 0
        row[c.FINISHED] = row[c.NACKED] = -1
        row[c.LAST_CNP] = -c.NEVER // 2
        row[c.CUT_AT] = row[c.RAISE_AT] = row[c.RETRY] = c.NEVER
        most = line if flow.most_gbps is None else min(line, flow.most_gbps * 1e9)
        floats[position, [c.RATE, c.TARGET, c.MAX_RATE, c.BASE_RATE]] = most
        floats[position, [c.ALPHA, c.LOAD]] = 1
        if flow.bursts_us is not None:
            burst, period = flow.bursts_us
            packets = max(1, round(most * burst / 8e6 / size_of(scenario, flow.tcp)))
            row[c.BURST] = packets * payload_of(scenario, flow.tcp)
            row[c.PERIOD] = round(period * PS_PER_US)
        if flow.tcp:
            row[[c.TCP, c.WINDOW]] = 1, 0
            floats[position, [c.CWND, c.SSTHRESH]] = (
                FIRST_WINDOW * payload_of(scenario, tcp=True),
                float(c.NEVER),
            )
            floats[position, [c.RTO, c.SRTT, c.RTTVAR]] = FIRST_RTO_PS, 0, 0
    return rows, floats


def _trip(ports: Ints, path: Ints, size: int) -> int:
    """Return the unloaded round trip of a path, ps, as the HPCC simulator counts it."""
    used = path[path >= 0]
    delay = sum(int(ports[port, c.DELAY]) for port in used)
    return 2 * delay + sum(size * int(ports[port, c.PS_PER_BYTE]) for port in used)


def _packet_count(scenario: Scenario, layout: RunLayout, ports: Ints) -> int:
    """Return how many packets fill all buffers and cables; a run that needs more is repeated."""
    size = packet_bytes(scenario)
    if scenario.has_tcp:
        size = min(size, scenario.tcp.packet_bytes)
    cables = sum(int(row[c.DELAY] // row[c.PS_PER_BYTE]) + size for row in ports)
    ground = layout.ground
    total = sum(buffer_bytes(scenario, ground, s) for s in ground.switches) + cables
    return total // size + 16 * len(ports) + 4 * len(layout.flows) + 1024


def _parameters(scenario: Scenario, nic: DcqcnParameters) -> Floats:
    """Return the parameters of a run."""
    p = np.zeros(c.PARAMETERS)
    p[c.CONTROL_KIND] = KINDS[scenario.congestion_control]
    p[c.HEADER_BYTES] = header_bytes(scenario)
    p[c.PAYLOAD_BYTES] = payload_of(scenario, tcp=False)
    p[c.CONTROL_BYTES] = CONTROL_BYTES
    p[c.CONTROL_QUEUED] = scenario.buffer.cnp_queue == "data"
    _set_dcqcn(p, scenario, nic)
    _set_references(p, scenario)
    p[c.MEASURE_FROM] = scenario.begin_ms * 1000 * PS_PER_US
    p[c.END_AT] = scenario.end_ms * 1000 * PS_PER_US
    if scenario.has_tcp:
        _set_tcp(p, scenario)
    p[c.RETRY_PS] = 1000 * PS_PER_US
    p[c.NACK_PS] = 500 * PS_PER_US
    p[c.CORRUPT] = scenario.corrupted_percent / 100
    return p


def _set_dcqcn(p: Floats, scenario: Scenario, nic: DcqcnParameters) -> None:
    """Set DCQCN's parameters; what the profile leaves out is as in the HPCC simulator."""

    def of(value: float | None, default: float) -> float:
        return default if value is None else float(value)

    scale = scenario.port_gbps / 25
    p[c.CNP_GAP] = of(nic.cnp_interval_us, 0) * PS_PER_US
    p[c.MIN_RATE] = lowest_rate_mbps(nic) * 1e6
    p[c.STEP] = of(nic.additive_increase_mbps, 5 * scale) * 1e6
    p[c.HYPER_STEP] = of(nic.hyper_increase_mbps, 50 * scale) * 1e6
    p[c.ALPHA_KEPT] = of(nic.alpha_kept_of_1024, 1020) / 1024
    p[c.ALPHA_FIRST] = of(nic.initial_alpha_of_1024, 1024) / 1024
    p[c.CUT_SHARE] = 1024 / 2 ** of(nic.alpha_divisor_log2, 11)
    p[c.LEAST_KEPT] = of(nic.min_decrease_percent, 0) / 100
    p[c.RAISE_PS] = of(nic.increase_timer_us, 300) * PS_PER_US
    p[c.ALPHA_PS] = max(1, of(nic.alpha_period_us, 1)) * PS_PER_US
    p[c.CUT_PS] = max(1, of(nic.decrease_period_us, 4)) * PS_PER_US
    p[c.STAGES] = of(nic.recovery_stages, 1)
    p[c.CLAMP] = bool(nic.clamp_target_rate)
    p[c.CLAMP_TIMER] = nic.clamp_target_after_timer is not False
    p[c.BYTE_COUNTER] = of(nic.byte_counter_bytes, 0) if scenario.nic.byte_counter else 0
    p[c.FIRST_RATE] = of(nic.first_cnp_rate_mbps, 0) * 1e6


def _set_tcp(p: Floats, scenario: Scenario) -> None:
    """Set the parameters of TCP and its queue; the smaller quantum of DWRR is one packet."""
    tcp = scenario.tcp
    largest = max(tcp.packet_bytes, packet_bytes(scenario))
    unit = largest / min(tcp.weight, tcp.roce_weight)
    p[c.MIXED], p[c.LOSSY_ALPHA] = 1, tcp.alpha
    p[c.QUANTUM], p[c.LOSSY_QUANTUM] = ceil(tcp.roce_weight * unit), ceil(tcp.weight * unit)
    p[c.SEGMENT_PAYLOAD], p[c.SEGMENT_HEADER] = payload_of(scenario, tcp=True), TCP_HEADER_BYTES
    p[c.RTO_LEAST] = tcp.min_rto_ms * 1000 * PS_PER_US


def _set_references(p: Floats, scenario: Scenario) -> None:
    """Set the parameters of DCTCP, HPCC and TIMELY as the HPCC simulator's run.py has them."""
    control, speed = scenario.congestion_control, scenario.port_gbps
    steps = {"dctcp": (615.0, 615.0), "hpcc": (10 * speed / 25,) * 2, "timely": (speed, 5 * speed)}
    if control in steps:
        p[c.STEP], p[c.HYPER_STEP] = (1e6 * step for step in steps[control])
        least = scenario.nic.min_rate_mbps  # an ACK clock stops at a ConnectX's 1 Mb/s
        p[c.MIN_RATE] = (1000 if least is None else max(1, least)) * 1e6
        if scenario.nic.step_mbps is not None:
            p[c.STEP] = scenario.nic.step_mbps * 1e6
    if control == "dctcp":
        p[c.ALPHA_KEPT] = 1 - 1 / 16
    p[c.UTILISATION] = scenario.nic.utilisation_percent / 100
    p[c.RTT_LOW], p[c.RTT_HIGH], p[c.RTT_LEAST] = (us * PS_PER_US for us in (50, 500, 20))
    p[c.RTT_BETA], p[c.RTT_WEIGHT] = 0.8, 0.875
