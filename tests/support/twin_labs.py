"""Labs of the twin's tests: separate registries, commands that use one, checks of a lab."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from rocefort.base.repository import INVENTORY
from rocefort.lab.experiments.fault_injection import FaultSampler, run_chaos
from rocefort.lab.guest.image import Image, Package, recipe
from rocefort.lab.lab_report import Chaos
from rocefort.lab.network import await_law, running_network
from rocefort.lab.twin import registry as registries
from rocefort.lab.twin.faults import active_faults
from rocefort.lab.twin.registry import Registry, reap
from rocefort.lab.twin.status import status_of
from rocefort.lab.twin.topology import BACKSTAGE, VethPair
from rocefort.lab.twin.twin import Twin

HEPS = INVENTORY / "heps" / "fabric.yaml"
GUESTS = ("k8sgn08", "k8sgn09")  # on leaf01 and leaf02
HARDWARE = ("CE8851-32CQ8DQ-P", "CE9860-4C-EI")  # leaves and spines of the small fabric
PATIENT_S = 300.0  # longer than any wait here, even on a busy machine
PACKAGE = Package(name="dash", version="1", size=1, sha256="a")
Run = Callable[..., tuple[int, str, str]]


@dataclass(frozen=True)
class GuestLab:
    """HEPS with two servers that QEMU runs; messages: what `lab up` printed."""

    twin: Twin
    messages: tuple[str, ...]


@contextmanager
def labs_at(name: str) -> Iterator[Registry]:
    """Yield a registry in /run, which FRR's user can enter; its labs are removed at the end."""
    registry = Registry(Path(f"/run/rocefort-{name}-{os.getpid()}"))
    yield registry
    for lab in registry.names():
        with registry.lock(lab):
            reap(registry, registry.find(lab))
    assert not registry.root.exists()


@contextmanager
def commands_see(registry: Registry) -> Iterator[None]:
    """Let commands in this process use the labs of this registry only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registries.Registry.__init__, "__defaults__", (registry.root,))
        yield


def whole(twin: Twin) -> bool:
    """Return whether kernels match the prediction, no fault is active, and every session is up."""
    verdict = await_law(twin, running_network(twin), (), PATIENT_S)
    name, labs = twin.record.name, twin.registry
    until = time.monotonic() + PATIENT_S
    while status_of(name, labs).wrong and time.monotonic() < until:
        time.sleep(0.05)
    return verdict.holds and status_of(name, labs).wrong == () == active_faults(labs, twin.record)


def cables_of(twin: Twin) -> set[VethPair]:
    """Return the cables between nodes."""
    return {c for c in twin.topology.cables if BACKSTAGE not in {c.a, c.b}}


def image_at(directory: Path, **other: object) -> Path:
    """Write the files of a guest's image that is never booted."""
    directory.mkdir(parents=True)
    for name in ("vmlinux", "initrd.gz", "id_ed25519"):
        (directory / name).write_bytes(b"x")
    image = Image(recipe=recipe(), kernel="6.1", packages=(PACKAGE,), host_key="ssh-ed25519 A")
    image = image.model_copy(update=other)
    (directory / "image.json").write_text(image.model_dump_json(exclude={"directory"}))
    return directory


def law_holds(twin: Twin, seed: int, steps: int) -> None:
    """Check that kernels agree with the engine after each step of a chaos run."""
    steps_done: list[Chaos] = []
    done = run_chaos(twin, seed, 60, stopped_after(steps, steps_done), steps_done.append)
    assert len(done.steps) >= steps
    assert [step.first for step in done.steps if step.differing] == []
    assert {step.compared for step in done.steps if step.done.startswith("fixed")} <= {0, 178}
    faults = [step.done.split()[1] for step in done.steps if step.done.startswith("broken")]
    drawn = islice(FaultSampler(running_network(twin), Random(seed)).rounds(), len(done.steps))
    assert faults == [fault for faults in drawn for fault, _ in faults][: len(faults)]
    assert done.stopped == "asked to"
    assert whole(twin)


def stopped_after(steps: int, steps_done: list[Chaos]) -> Callable[[], bool]:
    """Return a callback that stops a chaos run after a number of steps."""
    return lambda: bool(steps_done) and len(steps_done[-1].steps) >= steps
