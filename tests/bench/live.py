"""Cost of live checks in an `apply`: one threshold of HEPS rolled out in waves, client CPU only.

`live.py` prints the figures; `live.py run` measures once and prints one JSON line. The emulated
switches run in a separate process (`live.py serve FOLDER`). The cost of live checks is all client CPU
between the event of their begin and the event of their end in a wave.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

FABRIC = Path("heps")
CHANGE = ("xoff_kbytes: 600", "xoff_kbytes: 640")
TIMES = 3  # runs; the cheapest is reported
BAR = 3.0  # times the client CPU of the same rollout without them


def main() -> None:
    """Serve, run once, or print the figures, by the arguments."""
    match sys.argv[1:]:
        case ["serve", folder]:
            serve(Path(folder))
        case ["run"]:
            print(json.dumps(run()))
        case []:
            show()
        case _:
            sys.exit("live.py [serve FOLDER | run]")


def show() -> None:
    """Print the cheapest of some runs, each in a separate process."""
    command = [sys.executable, __file__, "run"]
    answers = [subprocess.run(command, check=True, capture_output=True) for _ in range(TIMES)]
    costs = min((json.loads(each.stdout) for each in answers), key=lambda each: each["times"])
    rest = costs["seconds"] - costs["live"]
    held = "held" if costs["times"] <= BAR else "MISSED"
    print(
        f"\nHEPS rolled out in {costs['waves']} waves, client CPU: {costs['seconds']:.2f} s with "
        f"live checks, {rest:.2f} s without, {costs['times']:.2f} times (bar {BAR:g}, {held})"
    )
    print(f"one live check of a wave ({costs['checks']} of them): {costs['check ms']:.0f} ms")  # fmt: skip
    print(
        f"wall clock {costs['wall']:.1f} s, including {costs['soaks'] / costs['scale']:.1f} s of "
        f"soaks: {costs['soaks']} s of switches whose clock runs {costs['scale']:g} times as fast"
    )


def serve(folder: Path) -> None:
    """Run the switches of HEPS and its servers until the other side has ended."""
    from rocefort.design.subject import subject_of  # noqa: PLC0415 - not a cost of the client
    from rocefort.emulator.emulated_site import rehearse  # noqa: PLC0415 - same

    subject = subject_of(FABRIC, None)
    with rehearse(subject.network, subject.texts, folder) as lab:
        print(lab.file, flush=True)
        sys.stdin.read()


def run() -> dict[str, float]:
    """Start the switches, plan and apply the change, and print the cost of the live checks."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "serve", str(Path(folder) / "lab")]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as lab:
            assert lab.stdin is not None
            assert lab.stdout is not None
            costs = _client(Path(lab.stdout.readline().strip()), Path(folder))
            lab.stdin.close()
    return costs


def _client(connections: Path, folder: Path) -> dict[str, float]:
    """Apply the change; return CPU seconds of the whole and of the live checks."""
    from rocefort.design.load.documents import find_fabric  # noqa: PLC0415 - not a cost of the emulator
    from rocefort.fleet.connections import load_connections  # noqa: PLC0415 - same
    from rocefort.fleet.running_configs import running_of  # noqa: PLC0415 - same
    from rocefort.rollout.apply.apply import apply_plan  # noqa: PLC0415 - same
    from rocefort.rollout.journal.events import ActPhase, Event  # noqa: PLC0415 - same
    from rocefort.rollout.journal.run_directory import RunDirectory  # noqa: PLC0415 - same
    from rocefort.rollout.plan.make_plan import make_plan  # noqa: PLC0415 - same

    raised = folder / "fabric.yaml"
    raised.write_text(find_fabric(FABRIC).read_text(encoding="utf-8").replace(*CHANGE))
    access = load_connections(connections)
    plan = make_plan(raised, access, running_of(raised, access, None))
    checks: list[float] = []
    begun = [0.0]

    def heard(event: Event) -> None:
        if event.act == "health" and event.phase is ActPhase.INTENT:
            begun[0] = time.process_time()
        elif event.act == "health":
            checks.append(time.process_time() - begun[0])

    before, wall = time.process_time(), time.perf_counter()
    applied = apply_plan(plan, access, RunDirectory.of_journal(folder / "journal"), [heard])
    seconds, wall = time.process_time() - before, time.perf_counter() - wall
    if applied.failure or not checks:
        raise RuntimeError(f"not rolled out: {applied}")
    live = sum(checks)
    return {
        "seconds": seconds,
        "live": live,
        "times": seconds / (seconds - live),
        "wall": wall,
        "scale": access.time_scale,
        "soaks": sum(plan.soak_s(wave) for wave in plan.waves),
        "waves": len(plan.waves),
        "checks": len(checks),
        "check ms": statistics.mean(checks) * 1000,
    }


if __name__ == "__main__":
    main()
