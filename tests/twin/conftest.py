"""What tests of the twin share: HEPS as read back from its text, and a registry of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocefort.design.derive import derive
from rocefort.errors import ServiceFailed
from rocefort.lab.guest.building import build
from rocefort.lab.guest.cache import Image
from rocefort.lab.guest.machine import require_qemu
from rocefort.lab.twin.host import require_host
from rocefort.lab.twin.reap import reap
from rocefort.lab.twin.registry import Registry
from rocefort.models.network import Network
from rocefort.paths import INVENTORY
from rocefort.steps.fabric.judging import subject_of_derived


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs root and FRR where they are missing, with what installs it."""
    try:
        require_host()
    except ServiceFailed as error:
        skip = pytest.mark.skip(reason=str(error).splitlines()[0])
        for item in items:
            if item.get_closest_marker("twin"):
                item.add_marker(skip)


@pytest.fixture(scope="session")
def heps_network() -> Network:
    """The HEPS fabric, of the text that its switches would run."""
    return subject_of_derived(derive(INVENTORY / "heps" / "fabric.yaml")).network


@pytest.fixture(scope="module")
def registry() -> Iterator[Registry]:
    """Labs of this test module, all removed at its end; in /run, where FRR's user can go."""
    found = Registry(Path(f"/run/rocefort-test-{os.getpid()}"))
    yield found
    for name in found.names():
        with found.lock(name):
            reap(found, found.find(name))
    assert not found.root.exists()


@pytest.fixture(scope="session")
def guest_image() -> Image:
    """What guests are booted from, built where it is not there; without QEMU or a mirror: skip."""
    try:
        require_qemu()
        return build(lambda _: None)
    except ServiceFailed as error:
        pytest.skip(str(error).splitlines()[0])
