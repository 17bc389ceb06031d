"""Labs of emulated servers that run commands over real SSH, with connections to them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from outputs import hold

from rocefort import tasks
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.emulator.servers.sandbox import RdmaRoot, write_servers
from rocefort.emulator.servers.ssh_hosts import RdmaHosts
from rocefort.fleet.connections import Connections, ServerAccess, SshAccess, save_connections
from rocefort.fleet.server_scripts import EVERY
from rocefort.fleet.ssh_exec import guarded_words

FOUR = ("k8sgn08", "k8sgn09", "k8sgn12", "daisygn01")  # on four leaves


@dataclass
class RdmaLab:
    """Servers by name, and the connections to them."""

    roots: Mapping[str, RdmaRoot]
    hosts: RdmaHosts
    access: Connections
    file: Path
    fabric: Path
    history: Path

    @property
    def processes(self) -> dict[str, list[str]]:
        """Processes that still run, by server."""
        processes = {name: list(root.processes().values()) for name, root in self.roots.items()}
        return {name: commands for name, commands in processes.items() if commands}


OpenLab = Callable[..., RdmaLab]


@pytest.fixture
def open_lab(
    heps: DerivedNetwork, heps_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[OpenLab]:
    """Open a lab of some servers, with faults and other fields by server name."""
    monkeypatch.setenv("SERVER_PASSWORD", "emulated-only")
    with ExitStack() as opened:

        def open_(
            names: Collection[str] = FOUR,
            faults: Mapping[str, Collection[str]] | None = None,
            closed: Collection[str] = (),
            note: str = "",
            **fields: Mapping[str, Any],
        ) -> RdmaLab:
            wire = tmp_path / "wire"
            servers = {s.name: s for s in heps.network.servers or () if s.name in names}
            roots = {
                name: RdmaRoot(
                    name,
                    tmp_path / "servers" / name,
                    wire,
                    str(server.address.ip),
                    server.port.device,
                    server.flow_gbps,
                    guarded_words,
                    EVERY,
                    faults=(faults or {}).get(name, ()),
                    **fields.get(name, {}),
                ).make()
                for name, server in servers.items()
            }
            write_servers(wire, roots)
            addresses = {name: root.address for name, root in roots.items()}
            hosts = RdmaHosts(addresses, {}, tmp_path / "keys", settings=roots)
            opened.enter_context(hosts.in_thread())
            for root in roots.values():
                opened.callback(root.kill_all)
            (tmp_path / "known_hosts").write_text(hosts.known_hosts_text)
            access = Connections(
                known_hosts=tmp_path / "known_hosts",
                connect_timeout_s=5,
                speed_note=note,
                devices=tuple(
                    SshAccess(
                        name=n.name, host="127.0.0.1", port=1, user="x", credential="env:HOME"
                    )
                    for n in heps.network.nodes
                ),
                servers=tuple(
                    ServerAccess(
                        name=name,
                        host="127.0.0.1",
                        port=1 if name in closed else port,
                        user="rdma",
                        credential="env:SERVER_PASSWORD",
                        rdma_device="rxe0",
                        gid_index=1,
                    )
                    for name, port in hosts.ports.items()
                ),
            )
            file = tmp_path / "connections.yaml"
            save_connections(access, file)
            return RdmaLab(roots, hosts, access, file, heps_file, tmp_path / "rdma.db")

        yield open_


@pytest.fixture
def rocefort(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run a command in this process."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["rocefort", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            tasks.app()
        output = capsys.readouterr()
        hold([str(each) for each in arguments], output.out)
        assert "Traceback" not in output.out + output.err
        return int(ended.value.code or 0), output.out, output.err

    return run
