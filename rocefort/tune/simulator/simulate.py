"""Run a scenario on the kernel, once for each seed, and measure it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from rocefort.base.errors import BadInput, install_command
from rocefort.models.fabric.congestion_control import DcqcnParameters
from rocefort.tune.model import (
    Completion,
    FlowsUse,
    GroupMeasures,
    Measures,
    PortPauses,
    QueueUse,
    Simulation,
    SimulationRun,
    SwitchUse,
)
from rocefort.tune.scenario import Scenario
from rocefort.tune.simulator.layout import Ground, ground_of, layout_of

if TYPE_CHECKING:
    from rocefort.tune.simulator.tables import Memory

NOT_MODELLED = (
    "AI-ECN: the learnt model of a switch is not public; simulate the bounds of its thresholds",
    "further data queues: there are one lossless queue, one of TCP, and that of CNPs and ACKs",
    "TCP: ECN, delayed acknowledgments, pacing and segmentation offload",
    "PCIe, caches and message boundaries of NICs: a server sends and receives at line rate",
    "corrupted packets, but a share that a scenario sets: all others are lost in a full buffer",
    "pause timers: a pause lasts until a resume frame",
)


def require_numba() -> None:
    """Raise BadInput if the compiler of the simulator is not installed."""
    if find_spec("numba") is None:
        raise BadInput(
            "the simulator needs numba, which is not installed",
            how=install_command("tuning"),
        )


def simulate(
    scenario: Scenario, profile: DcqcnParameters | None, ground: Ground | None = None
) -> Simulation:
    """Simulate a scenario with each of its seeds.

    profile: of DCQCN, for omitted keys of `nic`. ground: of a fabric; None: the scenario's own.
    """
    require_numba()
    nic, ground = with_profile(scenario, profile), ground or ground_of(scenario)
    runs = tuple(measured(simulated(scenario, nic, seed, ground), seed) for seed in scenario.seeds)
    return simulation_of(scenario, runs)


def simulation_of(scenario: Scenario, runs: tuple[SimulationRun, ...]) -> Simulation:
    """Return the result of a scenario from its runs."""
    return Simulation(
        scenario=scenario.scenario,
        congestion_control=scenario.congestion_control,
        nic_profile=scenario.nic.profile,
        seeds=tuple(run.seed for run in runs),
        runs=runs,
        not_modelled=NOT_MODELLED,
        **_means(runs),
    )


def with_profile(scenario: Scenario, profile: DcqcnParameters | None) -> DcqcnParameters:
    """Return the NIC's parameters: the scenario's, and the profile's for those it leaves out."""
    keys = DcqcnParameters.model_fields
    own = {key: getattr(scenario.nic, key) for key in keys}
    if profile is None:
        return DcqcnParameters(**own)
    given = {key: getattr(profile, key) for key in keys}
    return DcqcnParameters(**{k: given[k] if own[k] is None else own[k] for k in keys})


def simulated(scenario: Scenario, nic: DcqcnParameters, seed: int, ground: Ground) -> Memory:
    """Return the memory of the kernel at the end of a run."""
    from rocefort.tune.simulator.kernel import columns as c  # noqa: PLC0415 - numba is optional
    from rocefort.tune.simulator.kernel.engine import run  # noqa: PLC0415 - the same
    from rocefort.tune.simulator.tables import prepare  # noqa: PLC0415 - the same

    layout = layout_of(scenario, ground, seed)
    for doublings in range(8):
        memory = prepare(scenario, nic, layout, seed, spare=2**doublings)
        run(memory.integers, memory.floats)
        if memory.integers[c.STATUS] != c.NO_PACKETS:
            return memory
    raise BadInput(
        "more packets are under way than the simulator can hold",
        where=scenario.scenario,
        how="enlarge packet_bytes or reduce flows.count",
    )


def measured(memory: Memory, seed: int) -> SimulationRun:
    """Return what a run measures."""
    import numpy as np  # noqa: PLC0415 - numba's

    from rocefort.tune.simulator.kernel import columns as c  # noqa: PLC0415 - numba is optional

    flows, ports = memory.flows, memory.ports
    finite = flows[:, c.SIZE] < c.NEVER
    ended = memory.integers[c.STATUS] == c.FINISHED_ALL
    last = int(flows[finite, c.FINISHED].max()) if ended else 0
    end = last or int(memory.integers[c.NOW])
    begin = min(int(memory.floats[c.MEASURE_FROM]), end)
    span = max(1, end - begin)
    own = flows[:, c.TCP] == 0
    own = own if own.any() else ~own
    outputs = np.flatnonzero(ports[:, c.SWITCH] >= 0)
    port = int(outputs[memory.port_floats[outputs, c.AREA].argmax()])
    paused = ports[:, c.PAUSED_PS] + np.where(
        ports[:, c.PAUSING] == 1,
        np.maximum(0, end - np.maximum(ports[:, c.PAUSED_SINCE], begin)),
        0,
    )
    whole = _group(memory, own, begin, end)
    names = dict.fromkeys(spec.group for spec in memory.specs)
    members = {name: np.array([spec.group == name for spec in memory.specs]) for name in names}
    return SimulationRun(
        seed=seed,
        end_ms=end / 1e9,
        goodput_gbps=whole.goodput_gbps,
        fairness=_jain(_rates(memory, own, begin, end)),
        completion_us=whole.completion_us,
        unfinished=whole.unfinished,
        groups={name: _group(memory, rows, begin, end) for name, rows in members.items()}
        if len(members) > 1
        else {},
        queue_kbytes=_queue(memory, port, span),
        queue_port=">".join(memory.names[port]),
        marks=int(ports[:, c.MARKS].sum()),
        pauses=int(ports[:, c.PAUSES].sum()),
        paused_us=float(paused.sum()) / 1e6,
        paused_ports={
            ">".join(memory.names[n]): PortPauses(
                pauses=int(ports[n, c.PAUSES]), paused_us=float(paused[n]) / 1e6
            )
            for n in np.flatnonzero(paused)
        },
        drops=int(ports[:, c.DROPS].sum()),
        tcp_drops=int(ports[:, c.LOSSY_DROPS].sum()),
        corrupted=float(memory.integers[c.CORRUPTED]),
        resent_kbytes=float(flows[own, c.RESENT].sum()) / 1000,
        switches=tuple(_switches(memory, own, span, end)),
        flows=_flows(memory, own, begin, end),
        events=int(memory.integers[c.EVENTS]),
    )


def _rates(memory: Memory, members: Any, begin: int, end: int) -> Any:  # noqa: ANN401 - arrays of numpy
    """Return the goodput of flows, bytes/ps.

    Of finite flows: all payload, from a flow's start to its end. begin, end: of the measured time,
    ps, which is that of endless flows.
    """
    import numpy as np  # noqa: PLC0415 - numba's

    from rocefort.tune.simulator.kernel import columns as c  # noqa: PLC0415 - numba is optional

    flows = memory.flows[members]
    finite = flows[:, c.SIZE] < c.NEVER
    ends = np.where(flows[:, c.FINISHED] >= 0, flows[:, c.FINISHED], end)
    times = np.maximum(1, np.where(finite, ends - flows[:, c.START], end - begin))
    return np.where(finite, flows[:, c.EXPECTED], flows[:, c.MEASURED]) / times


def _group(memory: Memory, members: Any, begin: int, end: int) -> GroupMeasures:  # noqa: ANN401 - the same
    """Return the measures of some flows; begin, end: of the measured time, ps.

    Goodput of finite flows: all payload, from the first start to the last end.
    """
    from rocefort.tune.simulator.kernel import columns as c  # noqa: PLC0415 - numba is optional

    flows = memory.flows[members]
    done, finite = flows[:, c.FINISHED] >= 0, flows[:, c.SIZE] < c.NEVER
    slowest = float(_rates(memory, members, begin, end).min()) * 8000
    payload = flows[:, c.EXPECTED if finite.all() else c.MEASURED].sum()
    if finite.all():
        begin = int(flows[:, c.START].min())
        end = int(flows[:, c.FINISHED].max()) if done.all() else end
    times = (flows[done, c.FINISHED] - flows[done, c.START]) / 1e6
    return GroupMeasures(
        goodput_gbps=float(payload) * 8000 / max(1, end - begin),
        slowest_gbps=slowest,
        completion_us=_completion(times) if done.any() else None,
        unfinished=int((finite & ~done).sum()),
    )


def _switches(
    memory: Memory,
    members: Any,  # noqa: ANN401 - an array of numpy
    span: int,
    end: int,
) -> Iterator[SwitchUse]:
    """Yield the traffic of each switch, by its name; members: flows that count."""
    from rocefort.tune.simulator.kernel import columns as c  # noqa: PLC0415 - numba is optional

    carried: dict[str, float] = {}
    for spec, flow, counts in zip(memory.specs, memory.flows, members, strict=True):
        for node in spec.nodes[1:-1] if counts else ():
            carried[node] = carried.get(node, 0) + float(flow[c.MEASURED])
    queues = _port_queues(memory, span)
    sent: dict[str, int] = {}
    marks: dict[str, int] = {}
    for (near, _), port in zip(memory.names, memory.ports, strict=True):
        sent[near] = sent.get(near, 0) + int(port[c.CARRIED])
        marks[near] = marks.get(near, 0) + int(port[c.MARKS])
    for name in sorted({near for near, _ in queues}):
        yield SwitchUse(
            switch=name,
            goodput_gbps=carried.get(name, 0) * 8000 / span,
            queue_kbytes=sum(size for (near, _), size in queues.items() if near == name),
            sent_gbps=sent[name] * 8000 / max(1, end),
            marks=marks[name],
        )


LEAST_KBYTES = 0.001  # a shorter queue counts as one byte, as objectives divide by queues


def _flows(memory: Memory, members: Any, begin: int, end: int) -> FlowsUse:  # noqa: ANN401 - the same
    """Return the statistics of the goodput and queues of some flows."""
    import numpy as np  # noqa: PLC0415 - numba's

    gbps = _rates(memory, members, begin, end) * 8000
    queues = _port_queues(memory, max(1, end - begin))
    specs = [spec for spec, counts in zip(memory.specs, members, strict=True) if counts]
    own = np.array([sum(queues.get(port, 0) for port in spec.ports) for spec in specs])
    own = np.maximum(own, LEAST_KBYTES)
    return FlowsUse(
        count=len(own),
        mean_gbps=float(gbps.mean()),
        highest_gbps=float(gbps.max()),
        spread_gbps=float(gbps.std()),
        queue_kbytes=float(own.mean()),
        harmonic_queue_kbytes=float(1 / (1 / own).mean()),
        least_queue_kbytes=float(own.min()),
    )


def _port_queues(memory: Memory, span: int) -> dict[tuple[str, str], float]:
    """Return the mean data queue of each port of a switch, kbytes."""
    from rocefort.tune.simulator.kernel import columns as c  # noqa: PLC0415 - numba is optional

    means = memory.port_floats[:, c.AREA] / span / 1000
    of_switch = memory.ports[:, c.SWITCH] >= 0
    return {
        name: float(mean)
        for name, mean, kept in zip(memory.names, means, of_switch, strict=True)
        if kept
    }


def _jain(rates: Any) -> float:  # noqa: ANN401 - an array of numpy
    squares = float((rates**2).sum())
    return float(rates.sum()) ** 2 / (len(rates) * squares) if squares else 1.0


def _completion(times: Any) -> Completion:  # noqa: ANN401 - an array of numpy
    import numpy as np  # noqa: PLC0415 - numba's

    p50, p99 = np.percentile(times, [50, 99])
    return Completion(
        min=float(times.min()),
        mean=float(times.mean()),
        p50=float(p50),
        p99=float(p99),
        max=float(times.max()),
    )


def _queue(memory: Memory, port: int, span: int) -> QueueUse:
    """Return the statistics of a port's queue, weighted by time."""
    import numpy as np  # noqa: PLC0415 - numba's

    from rocefort.tune.simulator.kernel import columns as c  # noqa: PLC0415 - numba is optional

    histogram = memory.histograms[port]
    shift = int(memory.floats[c.BIN_SHIFT])
    until = np.cumsum(histogram)
    shares = {}
    for percent in (50, 95, 99):
        place = int(np.searchsorted(until, until[-1] * percent / 100))
        fine = place < c.FINE_BINS
        lower = place << c.FINE_SHIFT if fine else (place - c.FINE_BINS) << shift
        shares[percent] = lower if fine else lower + (1 << shift) / 2
    return QueueUse(
        mean=float(memory.port_floats[port, c.AREA]) / span / 1000,
        p50=shares[50] / 1000,
        p95=shares[95] / 1000,
        p99=shares[99] / 1000,
        max=int(memory.ports[port, c.LARGEST]) / 1000,
    )


def _means(runs: Sequence[SimulationRun]) -> dict[str, Any]:
    """Return the means of all measures over the runs."""

    def mean(value: Callable[[SimulationRun], float]) -> float:
        return sum(map(value, runs)) / len(runs)

    numbers = [n for n, field in Measures.model_fields.items() if field.annotation is float]
    out: dict[str, Any] = {n: mean(lambda run, n=n: getattr(run, n)) for n in numbers}  # type: ignore[misc]
    out["queue_kbytes"] = _mean_use([run.queue_kbytes for run in runs])
    out["completion_us"] = _mean_completion([run.completion_us for run in runs])
    out["groups"] = {
        name: _mean_group([run.groups[name] for run in runs]) for name in runs[0].groups
    }
    ports = dict.fromkeys(name for run in runs for name in run.paused_ports)
    out["paused_ports"] = {
        name: PortPauses(
            pauses=mean(lambda run, n=name: p.pauses if (p := run.paused_ports.get(n)) else 0),  # type: ignore[misc]
            paused_us=mean(
                lambda run, n=name: p.paused_us if (p := run.paused_ports.get(n)) else 0  # type: ignore[misc]
            ),
        )
        for name in sorted(ports)
    }
    parts = range(len(runs[0].switches))
    out["switches"] = tuple(_mean_use([run.switches[n] for run in runs]) for n in parts)
    out["flows"] = _mean_use([run.flows for run in runs])
    return out


def _mean_completion(times: Sequence[Completion | None]) -> Completion | None:
    ended = [each for each in times if each is not None]
    return _mean_use(ended) if ended else None


def _mean_group(runs: Sequence[GroupMeasures]) -> GroupMeasures:
    completion = _mean_completion([run.completion_us for run in runs])
    return _mean_use(runs).model_copy(update={"completion_us": completion})


Use = TypeVar("Use", Completion, QueueUse, GroupMeasures, SwitchUse, FlowsUse)


def _mean_use(uses: Sequence[Use]) -> Use:
    """Return the mean of each figure of the same part of several runs."""
    numbers = [n for n, field in type(uses[0]).model_fields.items() if field.annotation is float]
    means = {n: sum(getattr(use, n) for use in uses) / len(uses) for n in numbers}
    return uses[0].model_copy(update=means)
