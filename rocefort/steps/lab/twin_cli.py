"""Process that serves the command lines of a twin's switches until the lab is down.

    python -m rocefort.steps.lab.twin_cli ROOT NAME PIPE

It has the lab's mark, so that `lab down` ends it in any state of the lab. Its input is a file in
the lab's directory. It writes `ready` to the pipe, or the reason that it cannot start.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import fields
from functools import partial
from pathlib import Path
from time import sleep

from rocefort.base.errors import RocefortError, ServiceFailed
from rocefort.emulator.cli.server import LabServer
from rocefort.emulator.state.model import EmulatedState
from rocefort.emulator.switch.audit_log import AuditLog
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.lab.twin import requirements
from rocefort.lab.twin.cli_faults import LineFaults, in_force_file
from rocefort.lab.twin.cli_process import lines_directory, log_file, network_file, pid_file
from rocefort.lab.twin.config_sync import ConfigSync
from rocefort.lab.twin.faults import broken_file
from rocefort.lab.twin.processes import LabProcess, say_ready
from rocefort.lab.twin.registry import LabRecord, Registry, write_whole
from rocefort.lab.twin.state_source import GREETING, TwinStateSource
from rocefort.models.network.network import Network
from rocefort.steps.lab.emulated_site import rehearse
from rocefort.steps.lab.options import LabOptions
from rocefort.steps.lab.recorded_runs import ReplayedByTwin
from rocefort.steps.lab.twin_cli_grow import grow_lines

WATCH_S = 0.1  # longest delay until the end of a trial reaches the kernel


def start_lines(
    registry: Registry, record: LabRecord, network: Network, texts: Mapping[str, str]
) -> Path:
    """Start the command lines of a lab, and wait until they listen; returns the connections file.

    Raises ServiceFailed with the error of the process.
    """
    state = lines_directory(registry, record)
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    design = state / "design.json"
    design.touch(mode=0o600)
    design.write_text(json.dumps([network.model_dump_json(), dict(texts)]), encoding="utf-8")
    process = LabProcess(record.id, record.name, "the command lines", log_file(registry, record))
    process.start("rocefort.steps.lab.twin_cli", (str(registry.root), record.name))
    return state / "connections.yaml"


def serve(registry: Registry, record: LabRecord, pipe: int) -> None:
    """Run the command lines until the process is killed."""
    state = lines_directory(registry, record)
    design = state / "design.json"
    network_text, texts = json.loads(design.read_text(encoding="utf-8"))
    design.unlink()
    write_whole(network_file(registry, record), network_text)
    network = Network.model_validate_json(network_text)
    couple = partial(couple_twin, registry, record)
    options = LabOptions(whole=True)
    with ExitStack() as opened, rehearse(network, texts, state, options, couple) as lab:
        lab.hosts.choose = ReplayedByTwin(registry, record.name).choose
        pid_file(registry, record).write_text(str(os.getpid()), encoding="ascii")
        say_ready(pipe)
        sync = lab.server.audit_log
        assert isinstance(sync, ConfigSync)  # noqa: S101 - couple_twin made it
        faults = LineFaults(
            injected=broken_file(registry, record),
            in_force=in_force_file(registry, record),
            switches=lab.switches,
            model=lab.model,
        )
        while True:
            sleep(WATCH_S)
            lab.server.call(sync.watch)
            follow_faults(faults, lab.server)
            grow_lines(lab, registry, record, opened, GREETING)


def follow_faults(faults: LineFaults, server: LabServer) -> None:
    """Put faults of the command lines in force, and report them."""
    if faults.changed():
        server.call(faults.follow)
    for name in tuple(faults.renew):
        with suppress(ServiceFailed):  # its port is in use for a moment: the next call tries again
            server.reopen(name)
            faults.renew.discard(name)
    if faults.unreported and not faults.renew:
        faults.report()


def couple_twin(
    registry: Registry,
    record: LabRecord,
    switches: Mapping[str, EmulatedSwitch],
    model: EmulatedState,
) -> tuple[EmulatedState, AuditLog]:
    """Connect switches to a lab that is up; they begin with its configurations."""
    state = lines_directory(registry, record)
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    for switch in switches.values():
        switch.greeting = GREETING
    arguments = {
        item.name: getattr(model, item.name) for item in fields(model) if item.name[0] != "_"
    }
    state_source = TwinStateSource(**arguments, registry=registry, lab=record.name)
    sync = ConfigSync(
        state / "deeds.jsonl",
        registry=registry,
        lab=record.name,
        features=requirements.features_of(requirements.probe()),
        switches=switches,
    )
    return state_source, sync


def main() -> None:
    """Serve a lab's command lines."""
    root, name, pipe = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    registry = Registry(root)
    try:
        serve(registry, registry.find(name), pipe)
    except RocefortError as error:
        os.write(pipe, str(error).encode())
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
