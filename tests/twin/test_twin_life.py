"""Life of labs: several at once, killed at any point, and no trace of them left."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rocefort.base.errors import BadInput, Refused, ServiceFailed
from rocefort.dialects.frr import plan_switch
from rocefort.lab.twin import requirements
from rocefort.lab.twin.namespaces import MARK
from rocefort.lab.twin.registry import Registry, processes_of
from rocefort.lab.twin.status import LabStatus, status_of
from rocefort.lab.twin.twin import Twin, TwinOptions, take_down
from rocefort.models.network.network import Network

pytestmark = pytest.mark.twin
CHOICE = TwinOptions(bfd=False)
THOROUGH = [pytest.param(s, marks=pytest.mark.thorough) for s in (0.05, 0.25, 0.6, 0.9, 1.5)]
DELAYS_S = [0.4, *THOROUGH]
UP = """
import sys
from pathlib import Path
from rocefort.lab.twin.registry import Registry
from rocefort.lab.twin.twin import Twin
from rocefort.models.network.network import Network

network = Network.model_validate_json(sys.stdin.read())
print("begins", flush=True)
Twin.up(network, sys.argv[2], registry=Registry(Path(sys.argv[1])))
"""


@pytest.fixture(scope="module")
def small(heps_network: Network) -> Network:
    """A spine, two leaves and their servers."""
    names = {"spine01", "leaf01", "leaf02"}
    return heps_network.model_copy(
        update={
            "nodes": tuple(n for n in heps_network.nodes if n.name in names),
            "servers": tuple(s for s in heps_network.servers or () if s.port.device in names),
            "links": tuple(
                k for k in heps_network.links or () if {k.a.device, k.b.device} <= names
            ),
        }
    )


def _left(lab: str, registry: Registry) -> list[str]:
    """Return all parts of a lab: namespaces, mounts, processes, files, links outside."""
    mounts = Path("/proc/self/mounts").read_text("utf-8").split()
    return [
        *(path.name for path in Path("/run/netns").glob(f"rf-{lab}-*")),
        *(word for word in mounts if f"rf-{lab}-" in word),
        *(f"process {pid}" for pid in processes_of(lab)),
        *(str(path) for path in registry.root.rglob("*") if lab in str(path)),
    ]


@pytest.fixture
def strangers() -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """Create a namespace and a process of another owner."""
    name = f"rf-stranger-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    with subprocess.Popen(["sleep", "600"]) as sleeper:
        yield Path("/run/netns", name), sleeper
        sleeper.kill()
    subprocess.run(["ip", "netns", "del", name], check=True)


def test_labs_stand_side_by_side_and_nothing_outside_the_registry_is_touched(
    small: Network, registry: Registry, strangers: tuple[Path, subprocess.Popen[bytes]]
) -> None:
    first, two = (Twin.up(small, name, CHOICE, registry) for name in ("one", "two"))
    assert registry.names() == ("one", "two")
    assert first.fib("leaf01") == two.fib("leaf01")
    first.down()
    assert _left(first.record.id, registry) == []
    assert registry.names() == ("two",)
    status = status_of("two", registry)
    assert (status.established, status.wrong) == (4, ())
    two.down()
    assert _left(two.record.id, registry) == []
    assert not registry.root.exists()
    namespace, sleeper = strangers
    assert namespace.exists()
    assert sleeper.poll() is None


def test_a_start_that_fails_leaves_nothing(
    small: Network, registry: Registry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "frr"
    broken.mkdir()
    for name in ("zebra", "staticd", "bfdd", "bgpd"):
        (broken / name).symlink_to(f"/usr/lib/frr/{name}")
    (broken / "bgpd").unlink()
    (broken / "bgpd").write_text("#!/bin/sh\necho out of order >&2\nexit 1\n", "ascii")
    (broken / "bgpd").chmod(0o755)
    monkeypatch.setattr("rocefort.lab.twin.frr.FRR", broken)
    lab = f"{os.getpid():06x}"
    monkeypatch.setattr("rocefort.lab.twin.registry.secrets.token_hex", lambda _: lab)
    with pytest.raises(ServiceFailed, match=r"bgpd: .*/bgpd failed: out of order"):
        Twin.up(small, "broken", CHOICE, registry)
    assert _left(lab, registry) == []
    assert not registry.root.exists()


def test_a_lab_does_not_stand_before_all_of_it_does(small: Network, registry: Registry) -> None:
    """A kill between the fabric and its command lines leaves a rest that `up` replaces."""
    seen: list[LabStatus] = []

    def finish(twin: Twin) -> None:
        seen.append(status_of(twin.record.name, registry))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space left"):
        Twin.up(small, "early", replace(CHOICE, finish=finish), registry)
    assert [status.wrong for status in seen] == [
        ("it was left starting; `rocefort lab down early`",)
    ]
    assert not registry.root.exists()


def test_a_line_that_frr_does_not_know_is_named(
    small: Network, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoilt(*arguments: object, **options: object) -> object:
        plan = plan_switch(*arguments, **options)  # type: ignore[arg-type]
        text = plan.texts["bgpd"].replace(" coalesce-time 50", " coalesce-times 50")
        return plan.model_copy(update={"daemons": (("zebra", plan.texts["zebra"]), ("bgpd", text))})

    monkeypatch.setattr("rocefort.lab.twin.topology.plan_switch", spoilt)
    with pytest.raises(ServiceFailed, match="bgpd: does not understand `coalesce-times 50`: "):
        Twin.up(small, "spoilt", CHOICE, registry)
    assert not registry.root.exists()


def test_a_name_in_use_is_refused_and_a_dead_bgpd_is_told(
    small: Network, registry: Registry
) -> None:
    twin = Twin.up(small, "one", CHOICE, registry)
    with pytest.raises(Refused) as refused:
        Twin.up(small, "one", CHOICE, registry)
    assert str(refused.value) == "a lab called one is up; rocefort lab down one, or use --name"
    assert status_of("one", registry).wrong == ()
    pid = int((twin.daemons("leaf01").directory / "bgpd.pid").read_text("ascii"))
    os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + 20
    while len(status_of("one", registry).wrong) < 3 and time.monotonic() < until:
        time.sleep(0.05)
    wrong = status_of("one", registry).wrong
    assert wrong[0] == "bgpd of leaf01 does not run"
    assert "leaf01 to 10.1.0.0: no answer" in wrong
    assert any(text.startswith("spine01 to 10.1.0.1: ") for text in wrong)
    twin.down()
    with pytest.raises(BadInput, match="no lab is called 'one'"):
        take_down("one", registry)


@pytest.mark.parametrize("delay_s", DELAYS_S)
def test_killed_while_it_comes_up(
    heps_network: Network, registry: Registry, delay_s: float
) -> None:
    others = {path.name for path in Path("/run/netns").glob("rf-*")} if registry.names() else set()
    child = subprocess.Popen(
        [sys.executable, "-c", UP, str(registry.root), "killed"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin and child.stdout
    child.stdin.write(heps_network.model_dump_json())
    child.stdin.close()
    assert child.stdout.readline() == "begins\n"
    until = time.monotonic() + 20
    while not registry.names() and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(delay_s)
    child.kill()
    child.wait()
    child.stdout.close()
    record = registry.find("killed")
    if record.status != "up":
        assert status_of("killed", registry).wrong == (
            "it was left starting; `rocefort lab down killed`",
        )
    take_down("killed", registry)
    assert _left(record.id, registry) == []
    time.sleep(0.2)  # a child of the dead process would still be at work
    assert _left(record.id, registry) == []
    assert not registry.root.exists()
    assert not others


def test_what_was_killed_is_started_anew(small: Network, registry: Registry) -> None:
    with registry.lock("again"):
        remains = registry.begin("again", "heps", bfd=False, frr="8.4.4", lacks=())
    subprocess.run(["ip", "netns", "add", f"rf-{remains.id}-leaf01"], check=True)
    stranger = subprocess.Popen(["sleep", "60"], env={**os.environ, MARK: remains.id})
    twin = Twin.up(small, "again", CHOICE, registry)
    assert stranger.wait(5) == -signal.SIGKILL
    assert _left(remains.id, registry) == []
    assert status_of("again", registry).wrong == ()
    twin.down()


def test_no_machine_no_lab(
    small: Network, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        requirements, "probe", lambda: dict.fromkeys((*requirements.PROBES, "hash_seed"), False)
    )
    with pytest.raises(ServiceFailed, match="this kernel has no veth, bridge, nftables"):
        Twin.up(small, "one", CHOICE, registry)
    assert not registry.root.exists()
