"""What tests of several rooms share: the reference fabric, derived once, and edited copies."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer

from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.fleet.connections import Connections, ServerAccess, SshAccess
from rocefort.gc_tuning import collect_seldom
from rocefort.models.network.network import Network
from rocefort.paths import INVENTORY


def pytest_addoption(parser: pytest.Parser) -> None:
    """`make golden` writes the golden files anew."""
    parser.addoption("--golden-update", action="store_true", help="write golden files anew")


def pytest_collection() -> None:
    """Keep the garbage collector away: what collection makes lives until the end."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Let it run again, over what the tests make, as seldom as in a command."""
    gc.freeze()
    gc.enable()
    collect_seldom()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Look once more for what is unreachable; pytest looks five times after it."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _one_tree_of_commands() -> Iterator[None]:
    """Keep Typer's tree of commands: a process that runs many builds it once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", cache(typer.main.get_command))
        yield


@pytest.fixture(scope="session", autouse=True)
def _columns() -> Iterator[None]:
    """Fold the output of commands at 80 columns, on any terminal; in a pipe it would not be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        yield


@pytest.fixture
def golden_update(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are written instead of compared."""
    return bool(request.config.getoption("--golden-update"))


if TYPE_CHECKING:
    from shared_lab import SharedLab

    from rocefort.lab.servers.ssh_hosts import RdmaHosts

HEPS = INVENTORY / "heps" / "fabric.yaml"
EditHeps = Callable[..., Path]
AccessTo = Callable[..., Connections]


@pytest.fixture(scope="session")
def heps() -> DerivedNetwork:
    """The HEPS fabric."""
    return derive(HEPS)


@pytest.fixture
def heps_file() -> Path:
    """The HEPS fabric's file."""
    return HEPS


@pytest.fixture
def edit_heps(tmp_path: Path) -> EditHeps:
    """Write a copy of HEPS with pieces of its YAML replaced, each of which must occur once."""
    return _editor(HEPS.read_text(encoding="utf-8"), tmp_path)


@pytest.fixture(scope="session")
def hall_text() -> str:
    """HEPS's hall2 alone: both spines, leaf07 and leaf08 with a server each."""
    text = HEPS.read_text(encoding="utf-8")
    for first, kept in (
        ("  - id: 1\n    name: leaf01\n", "  - id: 7\n    name: leaf07\n"),
        ("  - name: transfer01\n", "  - name: readout03\n"),
    ):
        text = text[: text.index(first)] + text[text.index(kept) :]
    return text


@pytest.fixture
def edit_hall(hall_text: str, tmp_path: Path) -> EditHeps:
    """As edit_heps, of its hall2 alone."""
    return _editor(hall_text, tmp_path)


@pytest.fixture(scope="session")
def hall(hall_text: str, tmp_path_factory: pytest.TempPathFactory) -> DerivedNetwork:
    """HEPS's hall2, derived."""
    path = tmp_path_factory.mktemp("hall") / "fabric.yaml"
    path.write_text(hall_text, encoding="utf-8")
    return derive(path)


@pytest.fixture(scope="session")
def hall_shared(
    hall: DerivedNetwork, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SharedLab]:
    """Four emulated switches and two servers over real SSH, for all tests of a worker."""
    yield from _shared(hall, tmp_path_factory.mktemp("hall"))


@pytest.fixture(scope="session")
def heps_shared(
    heps: DerivedNetwork, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SharedLab]:
    """As hall_shared, of all HEPS: for what needs ten switches or mixed leaves."""
    yield from _shared(heps, tmp_path_factory.mktemp("heps"))


def _shared(derived: DerivedNetwork, state: Path) -> Iterator[SharedLab]:
    from shared_lab import shared_lab  # noqa: PLC0415 - only tests of a lab import so much

    from rocefort.steps.fabric.subject import subject_of_derived  # noqa: PLC0415 - the same

    with shared_lab(subject_of_derived(derived), state) as shared:
        yield shared


@pytest.fixture
def edit_heps_without_nics(tmp_path: Path) -> EditHeps:
    """As edit_heps, of a HEPS that does not tell how its NICs are set."""
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
    """The connections of a fabric whose servers are emulated; at its switches nobody listens."""
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
        found = Connections(known_hosts=known_hosts, devices=devices, servers=servers)
        update = {} if timeout_s is None else {"command_timeout_s": timeout_s}
        return found.model_copy(update=update)

    return access
