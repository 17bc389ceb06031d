"""Cost of many devices: load 10 lines, the device's own diff, a trial, its confirm, on each.

`devices.py run SWITCHES` prints one JSON line. The emulated switches run in a separate process
(`devices.py serve SWITCHES FOLDER`), so that the cost of each side is measured. Each side waits only
for the other. Both share the cores of this machine with other processes. The count is from the
first connection to the last logout, without the start of Python and its imports.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import flow
from calibration import peak_mb, slowness

WORKERS = 50  # sessions at a time
CHANGE = "".join(f"interface LoopBack{n}\n description measured {n}\n" for n in range(20, 25))


def main() -> None:
    """Serve or run, by the arguments."""
    match sys.argv[1:]:
        case ["serve", switches, folder]:
            serve(int(switches), Path(folder))
        case ["run", switches]:
            print(json.dumps(run(int(switches))))
        case _:
            sys.exit("devices.py serve SWITCHES FOLDER | run SWITCHES")


def serve(switches: int, folder: Path) -> None:
    """Run the switches of a fabric; print their addresses, and at the end their cost."""
    from rocefort.emulator.emulated_site import rehearse  # noqa: PLC0415 - same
    from rocefort.emulator.options import LabOptions  # noqa: PLC0415 - not a cost of the client

    with rehearse(*_designed(switches, folder), folder, LabOptions(keep=True)) as lab:
        begun = _cpu_s()
        user, password = lab.server.user, lab.server.password
        access = {"ports": lab.server.ports, "user": user, "password": password}
        print(json.dumps(access | {"known_hosts": str(lab.server.known_hosts)}), flush=True)
        sys.stdin.read()
        changed = sum(len(switch.points) == 1 for switch in lab.switches.values())
        trials = sum(switch.trial is not None for switch in lab.switches.values())
        costs = {"seconds": _cpu_s() - begun, "MB": peak_mb(), "changed": changed}
        print(json.dumps(costs | {"trials": trials}), flush=True)


def _designed(switches: int, folder: Path) -> tuple[Any, Mapping[str, str]]:
    """Return the fabric of flow.py with its links and servers, and each switch's text."""
    from rocefort.design.derive.derive import derive_loaded  # noqa: PLC0415 - same
    from rocefort.design.load.documents import load_fabric  # noqa: PLC0415 - same
    from rocefort.dialects.network_text import render_all  # noqa: PLC0415 - same

    file = folder / "fabric.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(flow.fabric_text(switches))
    network = derive_loaded(load_fabric(file), flow.catalogue()).network
    return network, render_all(network)


def run(switches: int) -> dict[str, float]:
    """Start the switches, change all of them, and print the cost on both sides."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "serve", str(switches), folder]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as lab:
            assert lab.stdin is not None
            assert lab.stdout is not None
            where = json.loads(lab.stdout.readline())
            client = _client(where)
            lab.stdin.close()
            emulator = json.loads(lab.stdout.readline())
    if (emulator["changed"], emulator["trials"]) != (switches, 0):
        raise RuntimeError(f"not every switch was changed: {emulator}")
    return client | {
        "devices/s": switches / client["wall"],
        "client ms": client["seconds"] / switches * 1000,
        "emulator ms": emulator["seconds"] / switches * 1000,
        "emulator MB": emulator["MB"],
    }


def _client(where: dict[str, Any]) -> dict[str, float]:
    """Change every switch, `WORKERS` at a time; return wall and CPU seconds, and memory."""
    from napalm_cloudengine import CloudEngineDriver  # noqa: PLC0415 - not a cost of the emulator

    def change(name: str, port: int) -> None:
        options = {"name": name, "port": port, "ssh_known_hosts": where["known_hosts"]}
        login = ("127.0.0.1", where["user"], where["password"])
        with CloudEngineDriver(*login, 120, options) as driver:
            driver.load_merge_candidate(config=CHANGE)
            if not driver.compare_config():
                raise RuntimeError(f"{name}: no difference")
            driver.commit_config(revert_in=600)
            driver.confirm_commit()

    slow = slowness()
    wall, cpu = time.perf_counter(), _cpu_s()
    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(change, where["ports"], where["ports"].values()))
    costs = {"wall": time.perf_counter() - wall, "seconds": _cpu_s() - cpu, "MB": peak_mb()}
    return costs | {"slowness": (slow + slowness()) / 2}


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
