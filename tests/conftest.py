"""Fixtures of several folders: the reference fabric, derived once, edited copies and labs."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer

from rocefort.base.gc_tuning import collect_seldom
from rocefort.base.repository import INVENTORY
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.fleet.connections import Connections, ServerAccess, SshAccess
from rocefort.models.network.network import Network


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of `make golden`, which rewrites the golden files."""
    parser.addoption("--golden-update", action="store_true", help="rewrite the golden files")


def pytest_collection() -> None:
    """Disable the garbage collector: objects of the collection stay until the end."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Enable it for objects of the tests, as rarely as in a command."""
    gc.freeze()
    gc.enable()
    collect_seldom()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Collect unreachable objects once more; pytest collects five times afterwards."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _one_tree_of_commands() -> Iterator[None]:
    """Build Typer's tree of commands once per process, not for every command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", cache(typer.main.get_command))
        yield


@pytest.fixture(scope="session", autouse=True)
def _columns() -> Iterator[None]:
    """Fold the output of commands at 80 columns, on any terminal and in a pipe.

    A slow machine adds no lines of progress to it.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        patch.setenv("ROCEFORT_PROGRESS", "none")
        yield


@pytest.fixture
def golden_update(request: pytest.FixtureRequest) -> bool:
    """Return whether golden files are written instead of compared."""
    return bool(request.config.getoption("--golden-update"))


if TYPE_CHECKING:
    from shared_lab import SharedLab

    from rocefort.emulator.servers.ssh_hosts import RdmaHosts

HEPS = INVENTORY / "heps" / "fabric.yaml"
EditHeps = Callable[..., Path]
AccessTo = Callable[..., Connections]


@pytest.fixture(scope="session")
def heps() -> DerivedNetwork:
    """Return the HEPS fabric."""
    return derive(HEPS)


@pytest.fixture
def heps_file() -> Path:
    """Return the file of the HEPS fabric."""
    return HEPS


@pytest.fixture
def edit_heps(tmp_path: Path) -> EditHeps:
    """Write a copy of HEPS with pieces of its YAML replaced; each piece must occur once."""
    return _editor(HEPS.read_text(encoding="utf-8"), tmp_path)


@pytest.fixture(scope="session")
def hall_text() -> str:
    """Return HEPS's hall2 alone: both spines, leaf07 and leaf08 with a server each."""
    text = HEPS.read_text(encoding="utf-8")
    for first, following in (
        ("  - id: 1\n    name: leaf01\n", "  - id: 7\n    name: leaf07\n"),
        ("  - name: transfer01\n", "  - name: readout03\n"),
    ):
        text = text[: text.index(first)] + text[text.index(following) :]
    return text


@pytest.fixture
def edit_hall(hall_text: str, tmp_path: Path) -> EditHeps:
    """Write an edited copy as edit_heps does, of hall2 alone."""
    return _editor(hall_text, tmp_path)


@pytest.fixture
def transfer_node(edit_hall: EditHeps) -> Path:
    """Return hall2 with LANL's host profile and a server with a bond of two ports."""
    alone = "    port: 25GE1/0/1\n    segment: beamline\n    nic: connectx-dscp34\n"
    bonded = (
        "    bond: {ports: [25GE1/0/1, 25GE1/0/2]}\n    segment: beamline\n"
        "    nic: connectx-dscp34\n    host: {interfaces: [ens1f0np0, ens1f1np1]}\n"
    )
    server = "  - name: readout03\n    leaf: leaf07\n"
    return edit_hall(
        ("\nhost: roce-server  # assumed\n", "\nhost: lanl-400g\n"),
        (server + alone, server + bonded),
    )


@pytest.fixture(scope="session")
def hall(hall_text: str, tmp_path_factory: pytest.TempPathFactory) -> DerivedNetwork:
    """Return HEPS's hall2, derived."""
    path = tmp_path_factory.mktemp("hall") / "fabric.yaml"
    path.write_text(hall_text, encoding="utf-8")
    return derive(path)


@pytest.fixture(scope="session")
def hall_shared(
    hall: DerivedNetwork, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SharedLab]:
    """Run four emulated switches and two servers over real SSH, for all tests of a worker."""
    yield from _shared(hall, tmp_path_factory.mktemp("hall"))


@pytest.fixture(scope="session")
def heps_shared(
    heps: DerivedNetwork, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SharedLab]:
    """Run the lab of all HEPS, for tests that need ten switches or mixed leaves."""
    yield from _shared(heps, tmp_path_factory.mktemp("heps"))


def _shared(derived: DerivedNetwork, state: Path) -> Iterator[SharedLab]:
    from shared_lab import shared_lab  # noqa: PLC0415 - only tests of a lab import so much

    from rocefort.design.subject import subject_of_derived  # noqa: PLC0415 - the same

    with shared_lab(subject_of_derived(derived), state) as shared:
        yield shared


@pytest.fixture
def edit_heps_without_nics(tmp_path: Path) -> EditHeps:
    """Write an edited copy as edit_heps does, of a HEPS without NIC profiles."""
    text = HEPS.read_text(encoding="utf-8")
    return _editor(re.sub(r"    nic: .*\n|congestion_control: .*\n", "", text), tmp_path)


def _editor(text: str, directory: Path) -> EditHeps:
    def edit(*replacements: tuple[str, str]) -> Path:
        edited = text
        for old, new in replacements:
            assert edited.count(old) == 1, f"{old!r} occurs {edited.count(old)} times"
            edited = edited.replace(old, new)
        path = directory / "fabric.yaml"
        path.write_text(edited, encoding="utf-8")
        return path

    return edit


@pytest.fixture
def access_to(monkeypatch: pytest.MonkeyPatch) -> AccessTo:
    """Return connections of a fabric with emulated servers; its switches do not listen."""
    monkeypatch.setenv("SERVER_PASSWORD", "emulated-only")

    def access(
        network: Network, hosts: RdmaHosts, directory: Path, timeout_s: float | None = None
    ) -> Connections:
        known_hosts = directory / "known_hosts"
        known_hosts.write_text(hosts.known_hosts_text, encoding="utf-8")
        servers = tuple(
            ServerAccess(
                name=name,
                host="127.0.0.1",
                port=port,
                user="rdma",
                credential="env:SERVER_PASSWORD",
                rdma_device="mlx5_0",
                gid_index=3,
            )
            for name, port in hosts.ports.items()
        )
        devices = tuple(
            SshAccess(name=node.name, host="127.0.0.1", user="none", credential="env:NONE")
            for node in network.nodes
        )
        connections = Connections(known_hosts=known_hosts, devices=devices, servers=servers)
        update = {} if timeout_s is None else {"command_timeout_s": timeout_s}
        return connections.model_copy(update=update)

    return access
