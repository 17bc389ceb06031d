"""Connections file: errors with positions, write and read, checks against the fabric."""

from __future__ import annotations

from pathlib import Path

import pytest
from nornir.core.configuration import Config
from nornir.core.plugins.connections import ConnectionPluginRegister
from nornir_napalm.plugins.connections import Napalm

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.fleet.connections import Connections, SshAccess, load_connections, save_connections
from rocefort.fleet.inventory import NetworkInventory
from rocefort.models.network.network import Node

TEXT = """\
known_hosts: keys/known_hosts
devices:
  - name: leaf01
    host: 10.255.0.11
    user: netops
    credential: env:SWITCH_PASSWORD
servers:
  - name: k8sgn08
    host: k8sgn08.example
    port: 2222
    user: rdma
    credential: file:secrets/rdma
    rdma_device: mlx5_0
    gid_index: 3
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "connections.yaml"
    path.write_text(text)
    return path


def test_paths_start_at_the_file(tmp_path: Path) -> None:
    connections = load_connections(written(tmp_path, TEXT))
    assert connections.known_hosts == tmp_path / "keys/known_hosts"
    assert (connections.devices[0].port, connections.devices[0].credential) == (
        22,
        "env:SWITCH_PASSWORD",
    )
    assert connections.servers[0].credential == f"file:{tmp_path}/secrets/rdma"


def test_written_and_read_again(tmp_path: Path) -> None:
    connections = load_connections(written(tmp_path, TEXT))
    copy = tmp_path / "copy.yaml"
    save_connections(connections, copy)
    assert load_connections(copy) == connections
    assert copy.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("host: 10.255.0.11", "hosst: 10.255.0.11", ":4:5: devices[0].hosst: unknown key 'hosst'"),
        (
            "port: 2222",
            "port: 70000",
            ":10:11: servers[0].port: 70000 is out of range; write a TCP or UDP port from 1 to 65535",
        ),
        (
            "credential: env:SWITCH_PASSWORD",
            "credential: hunter2",
            ":6:17: devices[0].credential: a credential that is not a reference;"
            " write env:NAME or file:PATH",
        ),
        (
            "known_hosts: keys/known_hosts",
            "known_hosts: {file: known_hosts}",
            ":1:14: known_hosts: a mapping cannot be used; write the path of a file",
        ),
        ("k8sgn08.example", "-oProxyCommand=x", "is not an address or a host name"),
        ("user: rdma", "user: 'a b'", "is not a name"),
        ("name: k8sgn08", "name: leaf01", "leaf01 more than once; keep one entry per name"),
        ("    gid_index: 3\n", "", "'gid_index' is missing; add it"),
    ],
)
def test_every_problem_has_its_place(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert TEXT.count(old) == 1
    path = written(tmp_path, TEXT.replace(old, new))
    with pytest.raises(BadInput) as caught:
        load_connections(path)
    assert str(caught.value).startswith(str(path))
    assert sentence in str(caught.value)
    assert caught.value.exit_code == 2


def heps_connections(heps: DerivedNetwork, tmp_path: Path, *names: str) -> Connections:
    (tmp_path / "known_hosts").touch()
    devices = tuple(
        SshAccess(name=name, host="10.0.0.1", user="netops", credential="env:X") for name in names
    )
    return Connections(known_hosts=tmp_path / "known_hosts", devices=devices)


def test_groups_and_options(heps: DerivedNetwork, tmp_path: Path) -> None:
    names = tuple(node.name for node in heps.network.nodes)
    inventory = NetworkInventory(heps.network, heps_connections(heps, tmp_path, *names)).load()
    assert set(inventory.hosts) == set(names)
    leaf = inventory.hosts["leaf03"]
    assert [group.name for group in leaf.groups] == [
        "switches", "leaf", "rack:row2", "hardware:CE8851-32CQ8DQ-P",
    ]  # fmt: skip
    assert (leaf.platform, leaf.port, leaf.username) == ("cloudengine", 22, "netops")
    assert leaf.connection_options["napalm"].extras == {
        "timeout": 60,
        "optional_args": {"name": "leaf03", "ssh_known_hosts": str(tmp_path / "known_hosts")},
    }
    assert [n for n, h in inventory.hosts.items() if h.has_parent_group("spine")] == [
        "spine01",
        "spine02",
    ]


def test_a_switch_is_opened_by_the_driver_of_its_family(
    heps: DerivedNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("X", "hunter2-x")

    def changed(node: Node, **family: str | None) -> Node:
        assert node.family is not None
        return node.model_copy(update={"family": node.family.model_copy(update=family)})

    one, two, *others = heps.network.nodes
    names = [node.name for node in heps.network.nodes]
    connections = heps_connections(heps, tmp_path, *names)
    nodes = (changed(one, driver="tiny"), changed(two, driver="none_such"), *others)
    network = heps.network.model_copy(update={"nodes": nodes})
    hosts = NetworkInventory(network, connections).load().hosts
    assert [hosts[name].platform for name in names[:3]] == ["tiny", "none_such", "cloudengine"]
    ConnectionPluginRegister.register("napalm", Napalm)
    with pytest.raises(BadInput) as caught:
        hosts[two.name].open_connection("napalm", Config())
    assert str(caught.value) == (
        f"{two.name}: no NAPALM driver 'none_such' is installed; install it, or correct `driver` "
        "of its syntax family"
    )
    unknown = one.model_copy(update={"family": None})
    network = network.model_copy(update={"nodes": (unknown, changed(two, driver=None), *others)})
    with pytest.raises(BadInput) as caught:
        NetworkInventory(network, connections).load()
    assert [str(problem) for problem in caught.value.problems] == [
        f"{one.name}: its syntax family is not known; name its hardware",
        f"{two.name}: its syntax family v200 names no NAPALM driver; add `driver` to the family",
    ]


def test_all_that_does_not_fit_the_fabric_is_said_together(
    heps: DerivedNetwork, tmp_path: Path
) -> None:
    names = [node.name for node in heps.network.nodes if node.name != "leaf05"]
    connections = heps_connections(heps, tmp_path, *names, "leaf99")
    gone = connections.model_copy(update={"known_hosts": tmp_path / "none"})
    with pytest.raises(BadInput) as caught:
        NetworkInventory(heps.network, gone).load()
    assert [str(problem) for problem in caught.value.problems] == [
        "connections: no entry for leaf05; add under devices: "
        "- {name: leaf05, host: ADDRESS, user: USER, credential: REFERENCE}",
        "connections: heps has no device leaf99; did you mean 'leaf08'?",
        f"{tmp_path}/none: no such known_hosts file;"
        " record the host keys of all devices with `rocefort trust`; compare them with their consoles",
    ]


def test_a_problem_names_the_file_and_shows_the_entry_that_mends_it(
    heps: DerivedNetwork, tmp_path: Path
) -> None:
    names = [node.name for node in heps.network.nodes if node.name != "leaf05"]
    path = tmp_path / "site.yaml"
    save_connections(heps_connections(heps, tmp_path, *names), path)
    assert "place" not in path.read_text() and "site.yaml" not in path.read_text()
    with pytest.raises(BadInput) as caught:
        NetworkInventory(heps.network, load_connections(path)).load()
    (lacking,) = caught.value.problems
    assert (lacking.where, lacking.what) == (str(path), "no entry for leaf05")
    entry = lacking.how.removeprefix("add under devices: ")
    entry = entry.replace("ADDRESS", "10.0.0.1").replace("USER", "netops")
    text = path.read_text().replace(
        "servers: []", f"{entry.replace('REFERENCE', 'env:X')}\nservers: []"
    )
    path.write_text(text)
    assert "leaf05" in NetworkInventory(heps.network, load_connections(path)).load().hosts


def test_an_entry_of_a_server_is_shown_with_what_it_measures_with(
    heps: DerivedNetwork, tmp_path: Path
) -> None:
    lacking = heps_connections(heps, tmp_path).lacks_server("storage01")
    assert str(lacking) == (
        "connections: no entry for storage01; add under servers: - {name: storage01, "
        "host: ADDRESS, user: USER, credential: REFERENCE, rdma_device: DEVICE, gid_index: NUMBER}"
    )


def test_an_empty_file_is_told_how_to_begin(tmp_path: Path) -> None:
    path = tmp_path / "connections.yaml"
    path.touch()
    with pytest.raises(BadInput) as caught:
        load_connections(path)
    assert str(caught.value) == f"{path}:1:1: the file is empty; begin with `known_hosts: FILE`"


def test_a_faster_clock_is_of_emulated_switches_on_loopback_alone(tmp_path: Path) -> None:
    scaled = f"time_scale: 20\n{TEXT}"
    with pytest.raises(BadInput) as caught:
        load_connections(written(tmp_path, scaled))
    assert (
        "time_scale is for emulated switches on loopback, and leaf01 is at 10.255.0.11; leave it out"
    ) in str(caught.value)
    for host in ("127.0.0.1", "::1"):
        near = scaled.replace("10.255.0.11", host if host[0] != ":" else f"'{host}'")
        assert load_connections(written(tmp_path, near)).time_scale == 20
    assert load_connections(written(tmp_path, TEXT)).time_scale == 1
