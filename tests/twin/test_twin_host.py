"""Requirements on a machine: one line for each missing thing, with the command that installs it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from rocefort.base.errors import ServiceFailed
from rocefort.lab.twin import requirements

ALL = dict.fromkeys((*requirements.PROBES, "hash_seed"), True)


def _said(**options: bool) -> str:
    with pytest.raises(ServiceFailed) as failed:
        requirements.require_host(**options)
    return str(failed.value)


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)


def _install(directory: Path, version: str) -> None:
    for name in ("zebra", "staticd", "bfdd", "bgpd"):
        path = directory / name
        path.write_text(f"#!/bin/sh\necho 'bgpd version {version}'\n", encoding="ascii")
        path.chmod(0o755)


def test_not_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert _said() == (
        "a twin needs Linux, this is darwin; run it on a Linux machine or in a virtual one"
    )


def test_not_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert _said() == "a twin needs root, for its namespaces; run it with sudo"


def test_nothing_installed(root: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(requirements, "FRR", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _said().splitlines() == [
        f"ip: is not installed; {requirements.INSTALL}",
        f"nft: is not installed; {requirements.INSTALL}",
        f"FRR: has no zebra, staticd, bfdd, bgpd in {tmp_path}; {requirements.INSTALL}",
    ]


def test_another_version(root: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(requirements, "FRR", tmp_path)
    monkeypatch.setattr(requirements, "TOOLS", ())
    _install(tmp_path, "10.2.1")
    assert _said() == (
        "FRR: is version 10.2.1, and the twin is made for 8.4; install FRR 8.4 "
        f"(Debian 12: {requirements.INSTALL}), or add --other-frr to try this"
    )
    requirements.require_host(other_frr=True)
    _install(tmp_path, "8.4.9")
    requirements.require_host()


def test_what_a_kernel_lacks() -> None:
    assert requirements.lacks(ALL) == ()
    assert requirements.features_of(ALL).vrf
    lean = {**ALL, "vrf": False, "netem": False}
    assert requirements.lacks(lean) == (
        "no VRF: vpn-instances, their addresses and routes are left out",
        "no netem: no delay and no jitter can be injected",
    )
    assert not requirements.features_of(lean).vrf
    with pytest.raises(ServiceFailed, match="this kernel has no bridge, nftables; run a kernel"):
        requirements.features_of({**ALL, "bridge": False, "nftables": False})


@pytest.mark.twin
def test_this_kernel_is_probed_without_a_trace() -> None:
    before = sorted(Path("/sys/class/net").iterdir())
    have = requirements.probe()
    assert have.keys() == ALL.keys()
    assert have["veth"] and have["bridge"] and have["nftables"]
    assert sorted(Path("/sys/class/net").iterdir()) == before
