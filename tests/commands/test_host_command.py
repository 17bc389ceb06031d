"""`rocefort host` as a person runs it: files for every server, and a check over real SSH."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from host_root import HostRoot

from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.derive.host_plans import host_plans
from rocefort.dialects.server_configuration import SCRIPT, host_files, reader_command
from rocefort.emulator.servers.ssh_hosts import RdmaHosts
from rocefort.fleet.connections import Connections, save_connections
from rocefort.fleet.ssh_exec import guarded_command
from rocefort.models.network.servers import HostPlan

ASKED = ("k8sgn08", "k8sgn12")
DEADLINE_S = 60.0
NIC = "sys/class/net/ens1f0np0"


@pytest.fixture(scope="module")
def ready(heps: DerivedNetwork, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Roots of servers on which the rendered script was applied."""
    plans = host_plans(heps)
    roots = {}
    for name in ASKED:
        at = tmp_path_factory.mktemp(name)
        plan, script = plans[name], at / SCRIPT
        root = root_of(at / "root", plan).make()
        script.write_text(host_files(plan)[SCRIPT], encoding="utf-8")
        assert root.run(["/bin/bash", str(script), "--apply"]).returncode == 0
        roots[name] = at / "root"
    return roots


def root_of(path: Path, plan: HostPlan) -> HostRoot:
    nic = plan.nic
    files = (*nic.switches, *nic.parameters) if nic else ()
    return HostRoot(
        path,
        address=str(plan.address),
        sysctl=plan.sysctl,
        parameters={file.path: file.value for file in files},
    )


@dataclass
class Servers:
    """Two servers over SSH, their roots, and the connections that lead there."""

    roots: dict[str, HostRoot]
    connections: Path
    access: Connections
    fabric: Path

    def closed(self, name: str) -> None:
        """Close the port of a server: connections are refused from now on."""
        servers = tuple(
            s.model_copy(update={"port": 1}) if s.name == name else s for s in self.access.servers
        )
        save_connections(self.access.model_copy(update={"servers": servers}), self.connections)


OpenServers = Callable[..., Any]
AccessTo = Callable[..., Connections]


@pytest.fixture
def servers(
    ready: dict[str, Path], heps_file: Path, tmp_path: Path, access_to: AccessTo
) -> Iterator[Servers]:
    """Servers as the script left them."""
    yield from opened(ready, heps_file, tmp_path, access_to)


def opened(
    ready: dict[str, Path], fabric: Path, at: Path, access_to: AccessTo
) -> Iterator[Servers]:
    derived = derive(fabric)
    plans = host_plans(derived)
    roots = {}
    for name, path in ready.items():
        shutil.copytree(path, at / name, symlinks=True)
        roots[name] = root_of(at / name, plans[name])
        roots[name].readers.add(guarded_command(reader_command(plans[name]), DEADLINE_S))
    addresses = {name: str(plans[name].address.ip) for name in ready}
    with RdmaHosts(addresses, {}, at / "ssh", settings=roots).in_thread() as hosts:
        access = access_to(derived.network, hosts, at, DEADLINE_S)
        save_connections(access, at / "connections.yaml")
        yield Servers(roots, at / "connections.yaml", access, fabric)


@pytest.fixture
def check(rocefort: Callable[..., Any], servers: Servers) -> Callable[..., Any]:
    """Run the check; returns its exit code, findings and what was not judged, in words."""

    def run(*words: object) -> tuple[int, list[str], list[str]]:
        ran = rocefort(
            *("host", "check", servers.fabric, "--connections", servers.connections),
            *("--format", "json", *words),
        )
        report = json.loads(ran.out)
        return (
            ran.code,
            [f"{told(f)}: {f['message']}; {f['hint']}" for f in report["findings"]],
            [f"{told(n)}: {n['reason']}" for n in report["not_judged"]],
        )

    return run


def told(verdict: dict[str, Any]) -> str:
    where = verdict["where"]
    place = " ".join(filter(None, (where["device"], where["interface"])))
    return " ".join(filter(None, (verdict["rule"], verdict.get("severity"), place)))


APPLY = "run rocefort-host --apply there (rocefort host render)"
WRONG: list[tuple[Callable[[HostRoot], object], int, list[str]]] = [
    (
        lambda root: root.write(
            "state/qos.ens1f0np0/map",
            root.read("state/qos.ens1f0np0/map").replace("34 4", "34 3"),
        ),
        1,
        [
            "HST106 error k8sgn08 ens1f0np0: it gives DSCP 34 (RoCE) priority 3, and leaf01 "
            "100GE1/0/2 has it in queue 4; mlnx_qos -i ens1f0np0 --dscp2prio set,34,4, or "
            + APPLY
        ],
    ),
    (
        lambda root: root.write(f"{NIC}/mtu", "1500"),
        0,
        [
            "HST104 warning k8sgn08 ens1f0np0: its MTU is 1500 bytes, and Vlanif120 of leaf01 has "
            f"9000; set it to 9000: {APPLY}"
        ],
    ),
    (
        lambda root: root.write(f"{NIC}/mtu", "9500"),
        1,
        [
            "HST104 error k8sgn08 ens1f0np0: its MTU is 9500 bytes, and Vlanif120 of leaf01 has "
            f"9000; set it to 9000: {APPLY}"
        ],
    ),
    (
        lambda root: root.write(f"{NIC}/ecn/roce_rp/rpg_time_reset", "55"),
        0,
        [
            "HST111 warning k8sgn08 ens1f0np0: roce_rp/rpg_time_reset is 55, and the fabric has 300 "
            f"(increase_timer_us); {APPLY}"
        ],
    ),
    (
        lambda root: root.write("state/qos.ens1f0np0/trust", "pcp"),
        1,
        [
            "HST105 error k8sgn08 ens1f0np0: it trusts pcp, and RoCE of leaf01 100GE1/0/2 has a "
            f"DSCP only; {APPLY}"
        ],
    ),
    (
        lambda root: root.write("state/qos.ens1f0np0/pfc", "0 0 0 1 0 0 0 0"),
        1,
        [
            "HST107 error k8sgn08 ens1f0np0: its PFC is on for priority 3, and leaf01 100GE1/0/2 "
            f"pauses priority 4; {APPLY}"
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("change", "code", "findings"), WRONG)
def test_what_is_wrong_on_one_server_is_told_of_that_one(
    servers: Servers,
    check: Callable[..., Any],
    change: Callable[[HostRoot], object],
    code: int,
    findings: list[str],
) -> None:
    change(servers.roots["k8sgn08"])
    found = check()
    assert found[:2] == (code, findings)
    trust = [f for f in findings if "it trusts pcp" in f]
    pcp = "DSCP is not trusted there (HST105), so no priority of one is shown"
    assert found[2] == ([f"HST106 k8sgn08 ens1f0np0: {pcp}"] if trust else [])


def test_the_check_changes_nothing(servers: Servers, check: Callable[..., Any]) -> None:
    before = [root.state() for root in servers.roots.values()]
    assert check() == (0, [], [])
    assert [root.state() for root in servers.roots.values()] == before
    for root in servers.roots.values():
        calls = root.read("state/calls").splitlines()[-5:]
        assert sorted(set(calls)) == [
            *("ethtool -g ens1f0np0", "ethtool -i ens1f0np0", "ip -o -4 addr show"),
            "mlnx_qos -i ens1f0np0",
        ]


def test_a_server_that_does_not_answer_stops_no_other(
    servers: Servers, check: Callable[..., Any]
) -> None:
    servers.closed("k8sgn12")
    servers.roots["k8sgn08"].write(f"{NIC}/mtu", "1500")
    code, findings, not_judged = check()
    assert code == 3
    assert len(findings) == 2
    assert findings[0].startswith(
        "HST101 error k8sgn12: it could not be read: no SSH session with 127.0.0.1:1: "
    )
    assert findings[1].startswith("HST104 warning k8sgn08 ens1f0np0: its MTU is 1500 bytes")
    assert {n.partition(" ")[2] for n in not_judged} == {"k8sgn12: it could not be read (HST101)"}


def test_a_server_that_does_not_answer_is_told_once(
    servers: Servers, rocefort: Callable[..., Any]
) -> None:
    servers.closed("k8sgn12")
    ran = rocefort("host", "check", servers.fabric, "--connections", servers.connections)
    assert ran.code == 3
    blocks = ran.out.split("\n\n")
    assert [block.splitlines()[0] for block in blocks[:-1]] == [
        "ERROR HST101 Every server that is read answers",
        "NOT JUDGED: 14 because it could not be read (HST101)",
    ]
    assert "        at: k8sgn12" in blocks[1].splitlines()


def test_a_missing_tool_is_one_reason_and_the_rest_is_judged(
    servers: Servers, check: Callable[..., Any]
) -> None:
    root = servers.roots["k8sgn08"]
    (root.root / "bin/mlnx_qos").unlink()
    root.write(f"{NIC}/ecn/roce_np/cnp_dscp", "0")
    code, findings, not_judged = check()
    assert (code, findings) == (
        1,
        [
            "HST110 error k8sgn08 ens1f0np0: roce_np/cnp_dscp is 0, and the fabric has 48 "
            f"(cnp_dscp); {APPLY}"
        ],
    )
    assert not_judged == [
        f"HST{n} k8sgn08 ens1f0np0: mlnx_qos is not installed there" for n in (105, 106, 107)
    ]


def test_an_interface_that_nobody_knows_is_one_finding(
    servers: Servers, check: Callable[..., Any], heps: DerivedNetwork
) -> None:
    servers.roots["k8sgn08"].write("state/addresses", "lo 127.0.0.1/8")
    code, findings, not_judged = check("--server", "k8sgn08")
    address = host_plans(heps)["k8sgn08"].address
    assert (code, findings) == (
        1,
        [
            f"HST102 error k8sgn08: no interface has {address.ip}, its address behind leaf01 "
            f"100GE1/0/2; give {address} to the one that is cabled"
        ],
    )
    assert {n.partition(" ")[2] for n in not_judged} == {
        "k8sgn08: its interface is not known (HST102)"
    }


def test_a_missing_bond_is_told_with_the_eth_trunk(
    ready: dict[str, Path],
    edit_heps: Callable[..., Path],
    tmp_path: Path,
    access_to: AccessTo,
    rocefort: Callable[..., Any],
) -> None:
    lone = "    port: 100GE1/0/2\n    segment: compute\n    nic: connectx-dscp34\n"
    head = "  - name: k8sgn08\n    leaf: leaf01\n"
    fabric = edit_heps(
        (head + lone, head + lone.replace("port:", "bond: {ports: [").replace("2\n", "2, 100GE1/0/3]}\n", 1))
    )  # fmt: skip
    mine = {"k8sgn08": ready["k8sgn08"]}
    for servers in opened(mine, fabric, tmp_path / "bonded", access_to):
        ran = rocefort("host", "check", fabric, "--connections", servers.connections)
        assert ran.code == 1
        assert "ERROR HST103" in ran.out
        assert "ens1f0np0 is no bond, and leaf01 bundles 2 ports to it in Eth-Trunk" in ran.words
        assert "fix: bond its ports with mode 802.3ad, layer3+4 and lacp_rate fast" in ran.words


def test_servers_without_an_access_are_named_and_asked_for_ones_must_have_one(
    servers: Servers, rocefort: Callable[..., Any]
) -> None:
    words = ("host", "check", servers.fabric, "--connections", servers.connections)
    ran = rocefort(*words)
    assert ran.code == 0
    assert (
        "10 servers not checked, without a connection: transfer01, k8sgn09, daisycn01, daisygn02, "
        "daisygn01, storage01, readout01, readout02, readout03, readout04" in ran.words
    )
    ran = rocefort(*words, "--server", "storage01")
    assert (ran.code, ran.err) == (
        2,
        f"rocefort: {servers.connections}: no entry for storage01; add under servers: "
        "- {name: storage01, host: ADDRESS, user: USER, credential: REFERENCE, "
        "rdma_device: DEVICE, gid_index: NUMBER}\n",
    )
    ran = rocefort(*words, "--server", "k8sgn8")
    assert (ran.code, ran.err) == (
        2,
        "rocefort: --server: no server 'k8sgn8' in heps; did you mean 'k8sgn08'?\n",
    )


# --- render -------------------------------------------------------------------------------------


def test_render_writes_a_directory_a_server(
    rocefort: Callable[..., Any],
    heps_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("COLUMNS")
    ran = rocefort("host", "render", heps_file, "--out", tmp_path, "--server", "k8sgn08")
    at = tmp_path / "k8sgn08"
    assert (ran.code, ran.out.splitlines()) == (
        0,
        [
            f"k8sgn08: 4 files in {at}",
            "k8sgn08: assumed or not confirmed: roce_dscp and cnp_dscp of lossless profile heps",
            "k8sgn08: assumed or not confirmed: sysctl, ring_rx, ring_tx, governor and "
            "interrupts of host profile roce-server",
        ],
    )
    assert sorted(path.name for path in at.iterdir()) == [
        *("rocefort-host", "rocefort-host-drift.service", "rocefort-host-drift.timer"),
        "rocefort-host.service",
    ]
    assert stat.S_IMODE((at / "rocefort-host").stat().st_mode) == 0o755


def test_what_holds_for_all_servers_is_said_once(
    rocefort: Callable[..., Any],
    heps_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("COLUMNS")
    ran = rocefort("host", "render", heps_file, "--out", tmp_path)
    lines = ran.out.splitlines()
    assert [line for line in lines if " files in " not in line] == [
        "all 12 servers: assumed or not confirmed: roce_dscp and cnp_dscp of lossless profile heps",
        "all 12 servers: assumed or not confirmed: sysctl, ring_rx, ring_tx, governor and "
        "interrupts of host profile roce-server",
    ]


def test_render_prints_every_server_without_a_directory(
    rocefort: Callable[..., Any], heps_file: Path
) -> None:
    ran = rocefort("host", "render", heps_file)
    assert ran.code == 0
    assert ran.out.count("##### rocefort-host\n") == 12
    assert (
        "# rocefort-host: sets readout04 to what its leaf port leaf08 25GE1/0/1 needs." in ran.out
    )


def test_render_of_an_unknown_server_writes_nothing(
    rocefort: Callable[..., Any], heps_file: Path, tmp_path: Path
) -> None:
    ran = rocefort("host", "render", heps_file, "--out", tmp_path, "--server", "leaf01")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("rocefort: --server: no server 'leaf01' in heps; ")
    assert list(tmp_path.iterdir()) == []


def test_a_check_needs_connections_or_outputs(
    rocefort: Callable[..., Any], heps_file: Path
) -> None:
    ran = rocefort("host", "check", heps_file)
    assert (ran.code, ran.err) == (
        2,
        "rocefort: neither --connections nor --outputs is given; give one of them\n",
    )


def test_outputs_that_a_person_kept_are_checked(
    rocefort: Callable[..., Any], heps_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "k8sgn08.ip-addr.txt").write_text(
        "2: ens1    inet 10.65.0.12/24 scope global ens1\n"
    )
    ran = rocefort("host", "check", heps_file, "--outputs", tmp_path)
    assert ran.code == 1
    assert "no interface has 10.65.0.11, its address behind leaf01 100GE1/0/2" in ran.out


PASTED = """[root@k8sgn08 ~]# mlnx_qos -i ens1f0
DCBX mode: OS controlled
Priority trust state: dscp
PFC configuration:
\tpriority    0   1   2   3   4   5   6   7
\tenabled     0   0   0   1   0   0   0   0
"""
RINGS = "[root@k8sgn08 ~]# ethtool -g ens1f0\nRing parameters for ens1f0:\n"


@pytest.mark.parametrize("text", [PASTED, PASTED.replace("\n", "\r\n"), RINGS + PASTED])
def test_a_pasted_output_is_recognized_by_its_lines(
    text: str, rocefort: Callable[..., Any], heps_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "k8sgn08.txt").write_bytes(text.encode())
    (tmp_path / "k8sgn07.txt").write_text("another server")
    ran = rocefort("host", "check", heps_file, "--outputs", tmp_path)
    assert ran.code == 1
    assert "its PFC is on for priority 3, and leaf01 100GE1/0/2 pauses priority 4" in ran.out
    assert "HST101" not in ran.out
    note = f"not read: {tmp_path / 'k8sgn07.txt'}: no server 'k8sgn07'; did you mean 'k8sgn09'?"
    assert note in ran.words


def test_a_file_that_is_no_reading_is_named_with_its_file(
    rocefort: Callable[..., Any], heps_file: Path, tmp_path: Path
) -> None:
    file = tmp_path / "k8sgn08.txt"
    file.write_text("-bash: mlnx_qos: command not found\n")
    ran = rocefort("host", "check", heps_file, "--outputs", tmp_path)
    assert ran.code == 3
    assert "it could not be read: the reading is cut off" in ran.out
    assert f"{file} is for the whole output" in ran.words
    assert "SSH" not in ran.out


def test_a_directory_of_other_servers_alone_is_refused(
    rocefort: Callable[..., Any], heps_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "k8sgn07.txt").write_text("another server")
    ran = rocefort("host", "check", heps_file, "--outputs", tmp_path)
    assert (ran.code, "no server 'k8sgn07'; did you mean 'k8sgn09'?" in ran.err) == (2, True)
