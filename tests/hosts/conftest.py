"""One HEPS server with its plan, its rendered script and a scratch root of real files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from host_root import HostRoot

from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.derive.host_plans import host_plans
from rocefort.dialects.server_configuration import SCRIPT, host_files, read_host, reader_of
from rocefort.models.finding import Report
from rocefort.models.network.servers import HostPlan, HostsSeen
from rocefort.validators.checks import check_hosts

LONE = "    port: 100GE1/0/2\n    segment: compute\n    nic: connectx-dscp34\n"
K8SGN08 = f"  - name: k8sgn08\n    leaf: leaf01\n{LONE}"


def factory_root(path: Path, plan: HostPlan, **options: Any) -> HostRoot:
    """Return a server in factory state, with every file that its plan sets."""
    nic = plan.nic
    files = (*nic.switches, *nic.parameters) if nic else ()
    settings: dict[str, Any] = {
        "address": str(plan.address),
        "speed_mbps": plan.port_gbps * 1000,
        "sysctl": dict.fromkeys(plan.sysctl, "1"),
        "parameters": {file.path: 7 for file in files},
    }
    return HostRoot(path, **(settings | options)).make()


@dataclass
class Site:
    """A server's plan and files, with methods that run its rendered script."""

    derived: DerivedNetwork
    plan: HostPlan
    root: HostRoot
    script: Path

    def run(self, *words: str) -> tuple[int, list[str], list[str]]:
        done = self.root.run(["/bin/bash", str(self.script), *words])
        return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()

    def check(self) -> Report:
        done = self.root.run(["/bin/sh", "-c", reader_of(self.plan)])
        assert (done.returncode, done.stderr) == (0, "")
        seen = HostsSeen(fabric="heps", hosts=(read_host(self.plan, done.stdout),))
        plans = {self.plan.server: self.plan}
        return check_hosts(self.derived.network, plans, seen, self.derived.sources)

    @property
    def calls(self) -> list[str]:
        return self.root.read("state/calls").splitlines()


MakeSite = Callable[..., Site]


@pytest.fixture
def make_site(tmp_path: Path) -> MakeSite:
    """Build a site of a fabric file; options are those of HostRoot."""

    def make(fabric: Path | DerivedNetwork, server: str = "k8sgn08", **options: Any) -> Site:
        derived = fabric if isinstance(fabric, DerivedNetwork) else derive(fabric)
        plan = host_plans(derived)[server]
        script = tmp_path / SCRIPT
        script.write_text(host_files(plan)[SCRIPT], encoding="utf-8")
        return Site(derived, plan, factory_root(tmp_path / "root", plan, **options), script)

    return make


@pytest.fixture
def site(heps: DerivedNetwork, make_site: MakeSite) -> Site:
    """Return a HEPS server in factory state."""
    return make_site(heps)


@pytest.fixture
def bonded(edit_heps: Callable[..., Path]) -> Path:
    """Return HEPS with k8sgn08 bonded to two ports of leaf01, with interface names."""
    bond = (
        "    bond: {ports: [100GE1/0/2, 100GE1/0/3]}\n    segment: compute\n"
        "    nic: connectx-dscp34\n"
        "    host: {interfaces: [ens1f0np0, ens1f1np1], rdma_device: mlx5_0}\n"
    )
    return edit_heps((K8SGN08, K8SGN08.replace(LONE, bond)))
