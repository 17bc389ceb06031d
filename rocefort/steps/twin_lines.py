"""The command lines of a twin's switches: a process of the lab that stands until it is down.

    python -m rocefort.steps.twin_lines ROOT NAME PIPE

It bears the lab's mark, so that `lab down` ends it however the lab was left. What it is started
with is a file in the lab's directory; it says `ready` on the pipe, or why it cannot start.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from time import sleep

from rocefort.errors import RocefortError, ServiceFailed
from rocefort.lab.deeds import Deeds
from rocefort.lab.model import Model
from rocefort.lab.switch import EmulatedSwitch
from rocefort.lab.twin import host
from rocefort.lab.twin.behind import GREETING, TwinBehind
from rocefort.lab.twin.following import Following
from rocefort.lab.twin.lines import lines_directory, log_file, pid_file
from rocefort.lab.twin.namespaces import marked
from rocefort.lab.twin.registry import Record, Registry
from rocefort.models.network import Network
from rocefort.steps.rehearsal import rehearse

READY = "ready"
WATCH_S = 0.1  # at the latest a trial's end reaches the kernel so much later


def start_lines(
    registry: Registry, record: Record, network: Network, texts: Mapping[str, str]
) -> Path:
    """Start the command lines of a lab, and wait until they listen; gives the connections file.

    Raises ServiceFailed with what the process says.
    """
    state = lines_directory(registry, record)
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    design = state / "design.json"
    design.touch(mode=0o600)
    design.write_text(json.dumps([network.model_dump_json(), dict(texts)]), encoding="utf-8")
    reading, writing = os.pipe()
    module = [sys.executable, "-m", "rocefort.steps.twin_lines"]
    try:
        with log_file(registry, record).open("ab") as log:
            subprocess.run(  # noqa: S603 - our own module
                ["setsid", "--fork", *module, str(registry.root), record.name, str(writing)],  # noqa: S607
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(writing,),
                env=marked(record.id),
                check=True,
            )
    finally:
        os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        said = pipe.read().strip()
    if said != READY:
        how = "" if said else f"see {log_file(registry, record)}"
        raise ServiceFailed(said or "the command lines did not start", where=record.name, how=how)
    return state / "connections.yaml"


def serve(registry: Registry, record: Record, pipe: int) -> None:
    """Run the command lines until the process is killed."""
    state = lines_directory(registry, record)
    design = state / "design.json"
    network_text, texts = json.loads(design.read_text(encoding="utf-8"))
    design.unlink()
    network = Network.model_validate_json(network_text)
    with rehearse(network, texts, state, couple=partial(couple_twin, registry, record)) as lab:
        pid_file(registry, record).write_text(str(os.getpid()), encoding="ascii")
        os.write(pipe, READY.encode())
        os.close(pipe)
        following = lab.server.deeds
        assert isinstance(following, Following)  # noqa: S101 - couple_twin made it
        while True:
            sleep(WATCH_S)
            lab.server.call(following.watch)


def couple_twin(
    registry: Registry, record: Record, switches: Mapping[str, EmulatedSwitch], model: Model
) -> tuple[Model, Deeds]:
    """Put a lab that is up behind its switches, which begin with what it runs."""
    state = lines_directory(registry, record)
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    for switch in switches.values():
        switch.greeting = GREETING
    kept = {one.name: getattr(model, one.name) for one in fields(model) if one.name[0] != "_"}
    behind = TwinBehind(**kept, registry=registry, lab=record.name)
    following = Following(
        state / "deeds.jsonl",
        registry=registry,
        lab=record.name,
        features=host.features_of(host.probe()),
        switches=switches,
    )
    return behind, following


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
