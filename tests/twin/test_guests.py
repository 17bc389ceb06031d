"""Servers that QEMU runs: real perftest from leaf to spine to leaf, and no trace of them left."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from twin_labs import GUESTS, GuestLab, commands_see, image_at, labs_at

from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.base.repository import INVENTORY
from rocefort.dialects.server_configuration import SCRIPT, host_files
from rocefort.fleet.connections import Connections, load_connections
from rocefort.lab.bring_up import bring_up, one_lab
from rocefort.lab.guest import qemu as guest_qemu
from rocefort.lab.guest.image import Cache, Image
from rocefort.lab.guest.rootfs import Tree
from rocefort.lab.twin import guests
from rocefort.lab.twin.registry import Registry, connections_of, processes_of
from rocefort.lab.twin.status import status_of, trace
from rocefort.lab.twin.twin import Twin, TwinOptions, take_down
from rocefort.models.network.network import Network
from rocefort.paper.stored_runs import stored_runs
from rocefort.rdma.designed_plan import RdmaRequest
from rocefort.rdma.host_settings import plans_of
from rocefort.rdma.judge import run_store
from rocefort.rdma.judge.path_difference import path_of
from rocefort.rdma.plan.message_sizes import size_set
from rocefort.rdma.plan.site import RdmaPlanOptions
from rocefort.rdma.rdma_plan import Program, Suite
from rocefort.rdma.results import MeasurementVerdict, RdmaResult
from rocefort.rdma.run_suite import RunDialogue, run_tests
from rocefort.rdma.server_readings import check_servers
from rocefort.validators.routing.external_peers import with_outside

pytestmark = pytest.mark.twin
HEPS = INVENTORY / "heps"
ONE, OTHER = PAIR = GUESTS
NOTE = "Soft-RoCE guests under TCG: correctness and counters are judged, speed is not"
UP = """
import sys
from pathlib import Path
from rocefort.lab.twin.registry import Registry
from rocefort.lab.twin.twin import Twin, TwinOptions
from rocefort.models.network.network import Network

network = Network.model_validate_json(sys.stdin.read())
print("begins", flush=True)
choice = TwinOptions(bfd=False, guests=("k8sgn08",), accel="tcg")
Twin.up(network, "killed", choice, Registry(Path(sys.argv[1])))
"""


@dataclass(frozen=True)
class Lab:
    """The shared lab, and access to its guests."""

    twin: Twin
    access: Connections
    messages: tuple[str, ...]

    def measure(self, folder: Path, *programs: Program) -> RdmaResult:
        options = RdmaPlanOptions(duration_s=4, iterations=1000, programs=programs)
        request = RdmaRequest(Suite.WRITE, PAIR, options, switches=False)
        return run_tests(HEPS, self.access, request, folder, RunDialogue(lambda _: None))

    def uplink_packets(self) -> int:
        """Return the packets that leaf01 has sent to its spines."""
        code, output = self.twin.run("leaf01", ["ip", "-s", "-j", "link", "show"])
        assert code == 0
        sent = {row["ifname"]: row["stats64"]["tx"]["packets"] for row in json.loads(output)}
        ends = [cable.ends for cable in self.twin.topology.cables]
        return sum(
            sent[port]
            for (node, port), far in (*ends, *((far, near) for near, far in ends))
            if node == "leaf01" and far[0].startswith("spine")
        )


@pytest.fixture
def lab(guest_lab: GuestLab) -> Lab:
    twin = guest_lab.twin
    file = connections_of(twin.registry, twin.record)
    assert file is not None
    return Lab(twin, load_connections(file), guest_lab.messages)


@pytest.fixture
def small(heps_network: Network) -> Network:
    """Return one leaf with its servers."""
    servers = tuple(s for s in heps_network.servers or () if s.port.device == "leaf01")
    nodes = tuple(node for node in heps_network.nodes if node.name == "leaf01")
    return heps_network.model_copy(update={"nodes": nodes, "servers": servers, "links": ()})


@pytest.mark.thorough
def test_two_servers_are_guests(lab: Lab) -> None:
    assert any(line.startswith("2 guests ready ") for line in lab.messages)
    assert f"note: {NOTE}" in lab.messages
    status = one_lab("guests")
    assert status.wrong == ()
    ports = {access.name: access.port for access in lab.access.servers}
    assert status.guests == tuple(f"{n} by TCG, SSH at 127.0.0.1:{ports[n]}" for n in PAIR)
    assert lab.access.speed_note == NOTE
    hops = trace(lab.twin, *PAIR).hops
    assert [hop.node for hop in hops[:2] + hops[3:]] == [ONE, "leaf01", "leaf02", OTHER]
    assert hops[2].node in ("spine01", "spine02")


@pytest.mark.thorough
def test_a_command_runs_in_the_guest(lab: Lab) -> None:
    code, output = lab.twin.run(ONE, ["sh", "-c", "uname -n; rdma link; exit 7"])
    lines = output.splitlines()
    assert (code, lines[0]) == (7, ONE)
    assert lines[1].strip() == "link rxe0/1 state ACTIVE physical_state LINK_UP netdev eth0"
    assert lab.twin.run(ONE, ["cat", "/sys/class/net/eth0/mtu"]) == (0, "9000\n")


@pytest.mark.thorough
def test_real_writes_from_leaf_to_spine_to_leaf(lab: Lab, tmp_path: Path) -> None:
    before = lab.uplink_packets()
    result = lab.measure(tmp_path / "rdma.db")
    programs = [each.run.program for each in result.measurements]
    assert programs == [Program.WRITE_BW, Program.WRITE_LAT]
    for each in result.measurements:
        assert each.outcome == "measured", each.sentence
        assert each.verdict is MeasurementVerdict.NOT_JUDGED
        assert each.sentence.endswith(f"not judged: {NOTE}")
        assert each.figures is not None and (each.figures.iterations or 0) > 0
        assert (each.figures.gbps or each.figures.latency_us or 0) > 0
    assert [each.sentence for each in result.judged if each.ok is False] == []
    writes = result.measurements[0].figures
    assert writes is not None and writes.iterations is not None
    # 64 KiB in packets of RoCE's MTU of 4096: all of them were sent to a spine.
    assert lab.uplink_packets() - before >= writes.iterations * 16
    with run_store.open_history(tmp_path / "rdma.db") as past:
        raw = past.outputs(result.id)
    assert any("RDMA_Write BW Test" in end.stdout for end in raw)
    assert all(end.exit_code == 0 for end in raw)


@pytest.mark.thorough
def test_what_drops_roce_is_found(lab: Lab, tmp_path: Path) -> None:
    """Filter as on the spines: SSH, BGP and ping continue, no RoCE packet passes."""
    rules = "table ip g { chain f { type filter hook forward priority 0; udp dport 4791 drop; }; }"
    spines = ("spine01", "spine02")
    for spine in spines:
        assert lab.twin.run(spine, ["nft", rules]) == (0, "")
    try:
        result = lab.measure(tmp_path / "rdma.db", Program.WRITE_BW)
    finally:
        for spine in spines:
            lab.twin.run(spine, ["nft", "delete table ip g"])
    (measured,) = result.measurements
    assert measured.verdict is MeasurementVerdict.NOT_MEASURED
    assert measured.outcome == "zero-iterations", measured.sentence


@pytest.mark.thorough
def test_settings_that_soft_roce_has_are_really_set(lab: Lab) -> None:
    """Run the servers' script on one; then `host check` has no finding for it."""
    _, plans = plans_of(HEPS, [ONE])
    script = host_files(plans[ONE])[SCRIPT]
    code, output = lab.twin.run(ONE, ["sh", "-c", "cat >/tmp/host; bash /tmp/host --apply"], script)
    assert code == 3, output  # settings that only a NIC has are not applied
    assert "net.core.rmem_max: 212992 -> 268435456" in output
    assert "connection class of rxe0 (cma_roce_tos): 0 -> 138" in output
    assert "mlnx_qos is not there" in output
    _, again = lab.twin.run(ONE, ["bash", "/tmp/host"])
    assert "->" not in again, again
    tos = "/sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_tos"
    assert lab.twin.run(ONE, ["cat", tos]) == (0, "138\n")
    checked = check_servers(HEPS, lab.access, [ONE])
    assert checked.exit_code != 3
    wrong = {finding.rule for finding in checked.report.findings}
    assert not wrong & {"HST101", "HST102", "HST108", "HST113"}, checked.report.findings


@pytest.mark.thorough
def test_another_host_key_is_refused(lab: Lab, tmp_path: Path) -> None:
    other = tmp_path / "known_hosts"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"], check=True
    )
    key = " ".join((tmp_path / "key.pub").read_text().split()[:2])
    hosts = lab.access.known_hosts.read_text()
    other_lines = [
        line for line in hosts.splitlines() if f":{lab.access.servers[0].port} " not in line
    ]
    other.write_text(
        "\n".join([*other_lines, f"[127.0.0.1]:{lab.access.servers[0].port} {key}"]) + "\n"
    )
    access = lab.access.model_copy(update={"known_hosts": other})
    checked = check_servers(HEPS, access, [ONE])
    assert checked.exit_code == 3
    (finding,) = [each for each in checked.report.findings if each.rule == "HST101"]
    assert "not the one on record" in finding.message


@pytest.mark.thorough
def test_a_guest_that_died_is_told(lab: Lab) -> None:
    pid = int((lab.twin.guests.directory / OTHER / "qemu.pid").read_text())
    os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + 20
    while lab.twin.guests.running(OTHER) and time.monotonic() < until:
        time.sleep(0.05)
    assert one_lab("guests").wrong == (f"guest {OTHER} does not run",)


@pytest.mark.thorough
def test_a_change_boots_what_it_changes(lab: Lab, heps_network: Network) -> None:
    """Guests with a new MTU, and the dead one, but not the others."""
    pid = lab.twin.guests.directory / ONE / "qemu.pid"
    before = pid.read_text()
    servers = tuple(
        server.model_copy(update={"mtu": 4200}) if server.name == OTHER else server
        for server in heps_network.servers or ()
    )
    lab.twin.apply(with_outside(heps_network.model_copy(update={"servers": servers})))
    assert one_lab("guests").wrong == ()
    assert pid.read_text() == before
    assert lab.twin.run(OTHER, ["cat", "/sys/class/net/eth0/mtu"]) == (0, "4200\n")


@pytest.mark.thorough
def test_a_bench_is_measured_back_to_back_and_through_a_bridge(
    guest_lab: GuestLab, tmp_path: Path
) -> None:
    """And the difference of both has an interval; what it is depends on this machine."""
    history = tmp_path / "rdma.db"
    options = RdmaPlanOptions(
        programs=(Program.WRITE_LAT,), sizes=size_set("2,64", tuple), iterations=100, repeat=2
    )
    request = RdmaRequest(Suite.SWEEP, ("host1", "host2"), options, switches=False)
    results = []
    for name, nodes in (("redigo-direct", 0), ("redigo-switch", 1)):
        with labs_at("bench") as labs, commands_see(labs):
            choice = TwinOptions(bfd=False, accel="tcg")
            twin = bring_up(INVENTORY / name, "bench", choice, lambda _: None, "all")
            assert (len(twin.topology.switches), twin.dead()) == (nodes, [])
            access = load_connections(connections_of(labs, twin.record) or Path())
            talk = RunDialogue(lambda _: None)
            results.append(run_tests(INVENTORY / name, access, request, history, talk))
    assert [path_of(each) for each in results] == [0, 1]
    assert [m.sentence for r in results for m in r.measurements if m.value is None] == []
    assert [j.sentence for r in results for j in r.judged if j.ok is False] == []
    bench = stored_runs(history).of_bench()
    assert bench.origin.startswith("between guests, run ")
    assert [(row.size_bytes, bool(row.interval)) for row in bench.rows] == [(2, True), (64, True)]


# --- labs that do not come up ---------------------------------------------------------------------


def _choice(*names: str) -> TwinOptions:
    return TwinOptions(bfd=False, guests=names, accel="tcg")


@pytest.mark.thorough
def test_a_guest_that_does_not_boot(
    small: Network,
    registry: Registry,
    guest_image: Image,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """One clear line with the last console line; only the console log is kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache = Cache()
    half = tmp_path / "half"
    shutil.copytree(guest_image.directory, half)
    lame = Tree()
    lame.file("init", "#!/bin/none\n", 0o755)
    (half / "initrd.gz").write_bytes(lame.archive())
    with cache.lock(lambda _: None):
        cache.keep(half, "lame")
    lab = f"{os.getpid():06x}"
    monkeypatch.setattr("rocefort.lab.twin.registry.secrets.token_hex", lambda _: lab)
    with pytest.raises(ServiceFailed) as failed:
        Twin.up(small, "lame", _choice(ONE), registry)
    console = tmp_path / "rocefort" / "guest" / "consoles" / "lame-k8sgn08.log"
    assert str(failed.value).startswith("k8sgn08: guest does not boot: QEMU ended: ")
    assert str(failed.value).endswith(f"; see {console}")
    assert "Kernel panic" in console.read_text()
    assert "lame" not in registry.names()
    assert not list(Path("/run/netns").glob(f"rf-{lab}-*"))
    assert not list(processes_of(lab))
    assert not registry.directory(lab).exists()


@pytest.mark.thorough
def test_killed_while_guests_boot(small: Network, registry: Registry, guest_image: Image) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", UP, str(registry.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin and child.stdout
    child.stdin.write(small.model_dump_json())
    child.stdin.close()
    assert child.stdout.readline() == "begins\n"
    until = time.monotonic() + 60
    while time.monotonic() < until and not _booting(registry):
        time.sleep(0.02)
    child.kill()
    child.wait()
    child.stdout.close()
    record = registry.find("killed")
    assert status_of("killed", registry).wrong == (
        "it was left starting; `rocefort lab down killed`",
    )
    take_down("killed", registry)
    assert list(processes_of(record.id)) == []
    assert not [path for path in Path("/run/netns").iterdir() if record.id in path.name]
    assert not registry.directory(record.id).exists()


def _booting(registry: Registry) -> bool:
    if "killed" not in registry.names():
        return False
    directory = registry.directory(registry.find("killed").id)
    return (directory / "guests" / ONE / "qemu.pid").exists()


def test_what_is_no_server(small: Network, registry: Registry) -> None:
    with pytest.raises(BadInput) as bad:
        Twin.up(small, "nobody", _choice(ONE, "unknown"), registry)
    assert str(bad.value) == (
        "--guests: no server is called 'unknown'; use all, or some of: transfer01, k8sgn08"
    )


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        (
            "QEMU",
            "no-such-qemu",
            "no-such-qemu: is not installed; "
            "apt-get install -y --no-install-recommends qemu-system-x86",
        ),
        ("TUN", Path("/no/tun"), "/no/tun: does not exist: no tap can be created; modprobe tun"),
    ],
)
def test_a_machine_without(
    small: Network,
    registry: Registry,
    qemu: None,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: object,
    sentence: str,
) -> None:
    monkeypatch.setattr(guest_qemu, name, value)
    with pytest.raises(ServiceFailed) as failed:
        Twin.up(small, "lacking", _choice(ONE), registry)
    assert str(failed.value) == sentence
    assert "lacking" not in registry.names()


def test_no_image_and_no_memory(
    small: Network,
    registry: Registry,
    qemu: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ServiceFailed) as failed:
        Twin.up(small, "lacking", _choice(ONE), registry)
    assert str(failed.value) == (
        f"no guest is built: nothing whole in {tmp_path}/rocefort/guest; rocefort lab guest build"
    )
    cache = Cache()
    with cache.lock(lambda _: None):
        cache.keep(image_at(tmp_path / "half"), "digest")
    memory = tmp_path / "meminfo"
    memory.write_text("MemTotal: 9 kB\nMemAvailable:     204800 kB\n")
    monkeypatch.setattr(guests, "MEMORY", memory)
    with pytest.raises(ServiceFailed) as failed:
        Twin.up(small, "lacking", _choice(ONE), registry)
    assert str(failed.value) == "--guests: 1 guest takes 360 MB, 200 MB are free; name fewer"
    assert "lacking" not in registry.names()
