"""Reference cases by the HPCC simulator (ns-3), as the lines of tests/tuning/hpcc_simulator.csv.

    python tests/bench/hpcc_simulator.py SIMULATION >tests/tuning/hpcc_simulator.csv

SIMULATION is the directory `simulation` of alibaba-edu/High-Precision-Congestion-Control (commit
9f4be2a), built with Python 2.7 and g++ 12:

    sed -i 's/if (Simulator::Now().GetTimeStep() % qlen_dump_interval == 0)/if \
      (Simulator::Now().GetTimeStep() >= (int64_t)qlen_mon_end)/' scratch/third.cc
    CXXFLAGS='-O2 -w -fpermissive -std=gnu++11' ./waf configure -d release \
      --enable-modules=point-to-point,internet,applications && ./waf build

A case is an incast by one switch with cables of 1 us. Parameters are those of its run.py for the
congestion control and the speed; DCQCN has the lowest rate of mix/config.txt, 100 Mb/s. Queues are
of the receiver's port, in bins of 1 kbyte each 100 ns, until the last completion.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from statistics import mean

START_NS = 2_000_000_000  # of the flows
MODES = {"dcqcn": 1, "hpcc": 3, "timely": 7, "dctcp": 8}
COLUMNS = ("control", "senders", "gbps", "bytes", "kmin_kbytes", "kmax_kbytes", "pmax_percent")
FIGURES = (
    "goodput_gbps",
    "completion_mean_us",
    "completion_max_us",
    "queue_mean_kbytes",
    "queue_p99_kbytes",
    "queue_max_kbytes",
)
Row = dict[str, int | str]


def cases() -> Iterator[Row]:
    """The conditions of all cases."""
    slow = ((100, 400, 20), (50, 400, 10), (20, 100, 50), (5, 200, 1), (200, 600, 5))
    fast = ((400, 1600, 20), (100, 800, 10))
    sizes = {2: 5_000_000, 4: 4_000_000, 8: 2_000_000, 16: 1_000_000, 24: 1_000_000}
    for senders, size in sizes.items():
        for ecn in slow:
            yield dict(zip(COLUMNS, ("dcqcn", senders, 25, size, *ecn), strict=True))
    for senders, size in ((2, 20_000_000), (8, 5_000_000), (16, 3_000_000)):
        for ecn in fast:
            yield dict(zip(COLUMNS, ("dcqcn", senders, 100, size, *ecn), strict=True))
    for senders in (2, 8, 24):
        for control, marks in (("dctcp", (75, 75, 100)), ("hpcc", None), ("timely", None)):
            ecn_of = marks or ("", "", "")
            yield dict(zip(COLUMNS, (control, senders, 25, sizes[senders], *ecn_of), strict=True))


def config(case: Row, end_ns: int, files: Path) -> str:
    """The simulator's configuration of a case."""
    control, gbps = str(case["control"]), int(case["gbps"])
    window = control in ("hpcc", "dctcp")
    step = {"dcqcn": (gbps / 5, 2 * gbps), "hpcc": (gbps / 2.5,) * 2, "timely": (gbps, 5 * gbps)}
    slow, fast = step.get(control, (10, 10))
    rate = gbps * 10**9
    values = {
        "ENABLE_QCN": 1,
        "USE_DYNAMIC_PFC_THRESHOLD": 1,
        "PACKET_PAYLOAD_SIZE": 1000,
        "TOPOLOGY_FILE": files / "topology",
        "FLOW_FILE": files / "flows",
        "TRACE_FILE": files / "traced",
        "TRACE_OUTPUT_FILE": files / "trace",
        "FCT_OUTPUT_FILE": files / "completions",
        "PFC_OUTPUT_FILE": files / "pauses",
        "SIMULATOR_STOP_TIME": (end_ns + 1000) / 1e9,
        "CC_MODE": MODES[control],
        "ALPHA_RESUME_INTERVAL": 1,
        "RATE_DECREASE_INTERVAL": 4,
        "CLAMP_TARGET_RATE": 0,
        "RP_TIMER": 300,
        "EWMA_GAIN": 0.0625 if control == "dctcp" else 0.00390625,
        "FAST_RECOVERY_TIMES": 1,
        "RATE_AI": f"{slow}Mb/s",
        "RATE_HAI": f"{fast}Mb/s",
        "MIN_RATE": "100Mb/s" if control == "dcqcn" else "1000Mb/s",
        "DCTCP_RATE_AI": "615Mb/s",
        "ERROR_RATE_PER_LINK": 0,
        "L2_CHUNK_SIZE": 4000,
        "L2_ACK_INTERVAL": 1,
        "L2_BACK_TO_ZERO": 0,
        "HAS_WIN": int(window),
        "GLOBAL_T": 1,
        "VAR_WIN": int(window),
        "FAST_REACT": int(control == "hpcc"),
        "U_TARGET": 0.95,
        "MI_THRESH": 0,
        "INT_MULTI": gbps // 25 if control == "hpcc" else 1,
        "MULTI_RATE": 0,
        "SAMPLE_FEEDBACK": 0,
        "RATE_BOUND": 1,
        "ACK_HIGH_PRIO": int(not window),
        "LINK_DOWN": "0 0 0",
        "ENABLE_TRACE": 0,
        "KMAX_MAP": f"1 {rate} {case['kmax_kbytes'] or 400}",
        "KMIN_MAP": f"1 {rate} {case['kmin_kbytes'] or 100}",
        "PMAX_MAP": f"1 {rate} {int(case['pmax_percent'] or 20) / 100}",
        "BUFFER_SIZE": 16 * gbps // 50,
        "QLEN_MON_FILE": files / "queues",
        "QLEN_MON_START": START_NS,
        "QLEN_MON_END": end_ns,
    }
    return "".join(f"{key} {value}\n" for key, value in values.items())


def figures(simulation: Path, case: Row, run: int) -> tuple[float, ...]:
    """The figures of one run, in the order of FIGURES."""
    senders, gbps, size = (int(case[key]) for key in ("senders", "gbps", "bytes"))
    ideal_ns = senders * size * 8 * 1.048 / gbps
    end_ns = START_NS + int(2.5 * ideal_ns + 500_000) // 100 * 100
    with tempfile.TemporaryDirectory() as directory:
        files = Path(directory)
        links = [f"0 {node} {gbps}Gbps 0.001ms 0\n" for node in range(1, senders + 2)]
        head = f"{senders + 2} 1 {senders + 1}\n0\n"
        (files / "topology").write_text(head + "".join(links), encoding="ascii")
        flows = [f"{node} 1 3 100 {size} 2\n" for node in range(2, senders + 2)]
        (files / "flows").write_text(f"{senders}\n" + "".join(flows), encoding="ascii")
        (files / "traced").write_text("0\n", encoding="ascii")
        (files / "config").write_text(config(case, end_ns, files), encoding="ascii")
        own = {"LD_LIBRARY_PATH": str(simulation / "build"), "NS_GLOBAL_VALUE": f"RngRun={run}"}
        command = [simulation / "build/scratch/third", files / "config"]
        subprocess.run(
            command, check=True, cwd=simulation, env=os.environ | own, stdout=subprocess.DEVNULL
        )
        done = (files / "completions").read_text(encoding="ascii").splitlines()
        times = [int(line.split()[6]) / 1000 for line in done]
        if len(times) < senders:
            raise SystemExit(f"{case}: {len(times)} flows of {senders} ended")
        queues = (files / "queues").read_text(encoding="ascii").splitlines()
    bins = next([int(n) for n in x.split()[2:]] for x in queues if x.startswith("0 1 "))
    bins[0] -= max(0, sum(bins) - int(max(times) * 10))  # after the last completion
    total = sum(bins)
    p99 = next(kb for kb, below in enumerate(accumulate(bins)) if below >= 0.99 * total)
    queue = sum((kb + 0.5) * count for kb, count in enumerate(bins) if kb) / total
    goodput = senders * size * 8 / 1000 / max(times)
    return goodput, mean(times), max(times), queue, p99 + 0.5, len(bins) - 0.5


def main() -> None:
    """Print all cases: the mean of 10 runs of DCQCN, of one of the others, which draw nothing."""
    simulation = Path(sys.argv[1]).resolve()
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow((*COLUMNS, "runs", *FIGURES))
    for case in cases():
        runs = 10 if case["control"] == "dcqcn" else 1
        measured = [figures(simulation, case, run) for run in range(1, runs + 1)]
        means = [f"{mean(values):.4g}" for values in zip(*measured, strict=True)]
        out.writerow((*case.values(), runs, *means))


if __name__ == "__main__":
    main()
