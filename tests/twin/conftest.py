"""Labs that tests of the twin share, and a registry for labs of their own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from outputs import hold
from twin_labs import GUESTS, HARDWARE, HEPS, GuestLab, Run, cables_of, commands_see, labs_at, whole

from rocefort import tasks
from rocefort.base.errors import ServiceFailed
from rocefort.design.derive.derive import derive
from rocefort.design.new import Size, new_fabric, write_new
from rocefort.design.subject import subject_of_derived
from rocefort.lab.bring_up import bring_up
from rocefort.lab.guest.image import Image, build
from rocefort.lab.guest.qemu import require_qemu
from rocefort.lab.twin.registry import Registry, processes_of
from rocefort.lab.twin.requirements import require_host
from rocefort.lab.twin.twin import Twin, TwinOptions
from rocefort.models.network.network import Network


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests that need root and FRR if these are missing, and show how to install them."""
    try:
        require_host()
    except ServiceFailed as error:
        skip = pytest.mark.skip(reason=str(error).splitlines()[0])
        for item in items:
            if item.get_closest_marker("twin"):
                item.add_marker(skip)


@pytest.fixture(scope="session")
def heps_network() -> Network:
    """The HEPS fabric, from the text that its switches would run."""
    return subject_of_derived(derive(HEPS)).network


@pytest.fixture(scope="session")
def small_fabric(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two spines, two leaves, a server on each."""
    folder = tmp_path_factory.mktemp("small")
    write_new("small", new_fabric("small", Size(2, 2, 1), *HARDWARE), folder)
    return folder / "small" / "fabric.yaml"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process: exit code, output, errors."""

    def ran(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["rocefort", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            tasks.app()
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        hold([str(each) for each in arguments], out)
        return int(ended.value.code or 0), out, err

    return ran


@pytest.fixture(scope="module")
def registry() -> Iterator[Registry]:
    """Registry for the labs of one module."""
    with labs_at("test") as labs:
        yield labs


@pytest.fixture(scope="session")
def heps_lab() -> Iterator[Twin]:
    """HEPS with its command lines, for all tests that leave it unchanged."""
    with labs_at("heps") as labs:
        with commands_see(labs):
            new_twin = bring_up(HEPS, "heps", TwinOptions(bfd=False), lambda _: None)
        yield new_twin


@pytest.fixture(scope="module")
def heps_twin(heps_lab: Twin) -> Iterator[Twin]:
    """The shared lab of HEPS, visible to commands; it is whole before and after a module."""
    with commands_see(heps_lab.registry):
        before = Twin.find("heps", heps_lab.registry)
        assert whole(before)
        tables = before.fibs()
        yield before
        now = Twin.find("heps", heps_lab.registry)
        assert whole(now)
        assert now.fibs() == tables
        assert cables_of(now) == cables_of(before)


@pytest.fixture(scope="session")
def qemu() -> None:
    """Skip with the command that installs QEMU, if it is missing."""
    try:
        require_qemu()
    except ServiceFailed as error:
        pytest.skip(str(error).splitlines()[0])


@pytest.fixture(scope="session")
def guest_image(qemu: None) -> Image:
    """The image of guests, built if missing; without a mirror: skip."""
    try:
        return build(lambda _: None)
    except ServiceFailed as error:
        pytest.skip(str(error).splitlines()[0])


@pytest.fixture(scope="session")
def booted(guest_image: Image) -> Iterator[GuestLab]:
    """One boot for all tests of guests."""
    with labs_at("guests") as labs:
        messages: list[str] = []
        with commands_see(labs):
            choice = TwinOptions(bfd=False, accel="tcg")
            twin = bring_up(HEPS, "guests", choice, messages.append, ",".join(GUESTS))
        yield GuestLab(twin, tuple(messages))
        twin.down()
        assert list(processes_of(twin.record.id)) == []


@pytest.fixture(scope="module")
def guest_lab(booted: GuestLab) -> Iterator[GuestLab]:
    """The lab with guests, visible to commands."""
    with commands_see(booted.twin.registry):
        yield booted
