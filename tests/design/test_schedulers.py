"""Topology for schedulers: its files, and the law that growth adds lines and changes none."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from getpass import getuser
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.base.documents.read import document_of
from rocefort.base.documents.validate import validate
from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import DerivedNetwork, derive_loaded
from rocefort.design.expand import GrowthRequest, grow
from rocefort.design.load.documents import LoadedFabric, load_catalogue
from rocefort.design.new import Size, new_fabric
from rocefort.design.schedulers import FILES, SchedulerOptions, with_servers_of
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.network.network import Network

LEAF, SPINE = "CE8850-64CQ-EI", "CE9860-4C-EI"
CATALOGUE = load_catalogue()
BASE_BLOCKS = SchedulerOptions(block_sizes=(1, 2, 8))  # of a fabric with a server on each leaf


def loaded(text: str) -> LoadedFabric:
    document = document_of(text, "fabric.yaml")
    return LoadedFabric(validate(Fabric, document), document)


def network_of(text: str) -> Network:
    return derive_loaded(loaded(text), CATALOGUE).network


def grown(text: str, spines: int, leaves: int, servers: int) -> str:
    """Grow a fabric by switches with servers."""
    return grow(text, loaded(text), CATALOGUE, GrowthRequest(spines, leaves, servers)).text


def with_more_servers(text: str, number: int) -> str:
    """Add servers to the first leaf, which are like its first one."""
    data: dict[str, Any] = json.loads(json.dumps(document_of(text, "x").data))
    first = data["servers"][0]
    for each in range(number):
        data["servers"].append({**first, "name": f"{first['name']}-{each}"})
        data["servers"][-1]["port"] = f"100GE1/0/{30 + each}"
    return json.dumps(data, indent=2)


def lists(text: str) -> dict[str, list[str]]:
    """Read a file of Slurm by hand: the names of each switch or block."""
    pattern = r'(?m)^(?:SwitchName|BlockName)=(\S+) (?:Nodes|Switches)="((?:\\\n[^"\\]*)*)"$'
    return {name: re.findall(r"[^\\\n,]+", names) for name, names in re.findall(pattern, text)}


def servers_by_leaf(network: Network) -> dict[str, list[str]]:
    leaves: dict[str, list[str]] = {}
    for server in network.servers or ():
        leaves.setdefault(server.port.device, []).append(server.name)
    return {leaf: sorted(names) for leaf, names in sorted(leaves.items())}


def test_the_files_of_two_segments_of_heps(heps: DerivedNetwork) -> None:
    network = with_servers_of(heps.network, ("storage", "transfer"))
    assert FILES["slurm-topology"](network, SchedulerOptions()) == (
        "# Fabric heps: topology.conf(5) of Slurm: TopologyPlugin=topology/tree\n"
        'SwitchName=leaf01 Nodes="\\\ntransfer01,\\\n"\n'
        'SwitchName=leaf04 Nodes="\\\nstorage01,\\\n"\n'
        'SwitchName=heps Switches="\\\nleaf01,\\\nleaf04,\\\n"\n'
    )
    assert FILES["slurm-blocks"](network, SchedulerOptions()) == (
        "# Fabric heps: topology.conf(5) of Slurm 24.05 and later: TopologyPlugin=topology/block\n"
        'BlockName=leaf01 Nodes="\\\ntransfer01,\\\n"\n'
        'BlockName=leaf04 Nodes="\\\nstorage01,\\\n"\n'
        "BlockSizes=1\n"
    )
    assert FILES["kubernetes-labels"](network, SchedulerOptions()).splitlines() == [
        "# Fabric heps: labels of Kubernetes nodes, with the keys of NVIDIA Topograph 1.0",
        *(
            f"kubectl label --overwrite node {server} "
            f"fabric.topograph.run/tier-0={leaf} fabric.topograph.run/tier-1=heps"
            for server, leaf in (("transfer01", "leaf01"), ("storage01", "leaf04"))
        ),
    ]


def test_each_server_is_once_in_each_file_of_heps(heps: DerivedNetwork) -> None:
    leaves = servers_by_leaf(heps.network)
    tree = lists(FILES["slurm-topology"](heps.network, SchedulerOptions()))
    assert tree.pop("heps") == list(leaves)
    assert {leaf: sorted(names) for leaf, names in tree.items()} == leaves
    assert lists(FILES["slurm-blocks"](heps.network, SchedulerOptions())) == tree
    _, *commands = FILES["kubernetes-labels"](heps.network, SchedulerOptions()).splitlines()
    words = [shlex.split(command) for command in commands]
    labelled = {word[4]: word[5].rpartition("=")[2] for word in words}
    assert labelled == {name: leaf for leaf, names in leaves.items() for name in names}
    assert len(words) == len(labelled)


@settings(max_examples=tries(25))
@given(
    st.integers(1, 3), st.integers(2, 4), st.integers(1, 3),
    st.integers(0, 2), st.integers(0, 8), st.integers(1, 3), st.integers(0, 2),
)  # fmt: skip
def test_growth_adds_lines_and_changes_none(
    spines: int, leaves: int, servers: int,
    more_spines: int, more_leaves: int, servers_each: int, more_servers: int,
) -> None:  # fmt: skip
    """New spines, leaves and servers: each line of a file is in the file of the larger fabric."""
    text = new_fabric("plant", Size(spines, leaves, servers), LEAF, SPINE)
    larger = grown(text, more_spines, more_leaves, servers_each if more_leaves else 0)
    before, after = network_of(text), network_of(with_more_servers(larger, more_servers))
    for name, file in FILES.items():
        old, new = file(before, BASE_BLOCKS).splitlines(), file(after, BASE_BLOCKS).splitlines()
        rest = iter(new)
        assert all(line in rest for line in old), name
        added = len(new) - len(old)
        assert (added == 0) == (len(before.servers or ()) == len(after.servers or ())), name


@pytest.mark.parametrize(
    ("name", "replaced", "options", "message"),
    [
        (
            "slurm-topology", ("leaf001(?!-)", "plant"), SchedulerOptions(),
            "a leaf has the name of the fabric, 'plant'; in Slurm it is that of all spines; give the "
            "leaf another name",
        ),
        (
            "slurm-blocks", ("", ""), SchedulerOptions(block_sizes=(3,)),
            "--block-sizes: leaf001 has 2 servers, and the first size is 3; each leaf needs as many "
            "servers as the first size",
        ),
        (
            "slurm-blocks", ("", ""), SchedulerOptions(block_sizes=(2, 6)),
            "--block-sizes: 6 does not follow 2; use larger ones of 2 * 2, * 4, * 8 ..",
        ),
        (
            "slurm-blocks", ("", ""), SchedulerOptions(block_sizes=(2, 8, 4)),
            "--block-sizes: 4 does not follow 8; use larger ones of 2 * 2, * 4, * 8 ..",
        ),
        (
            "kubernetes-labels", ("leaf001(?!-)", "leaf001-"), SchedulerOptions(),
            "leaf001-: no value of a label of Kubernetes; let it end with a letter or digit",
        ),
        (
            "kubernetes-labels", ("leaf001-s01", "Server_1"), SchedulerOptions(),
            "Server_1: no name of a node of Kubernetes; give it another name, or leave it out by "
            "--segments",
        ),
    ],
)  # fmt: skip
def test_what_a_scheduler_refuses_is_an_error(
    name: str, replaced: tuple[str, str], options: SchedulerOptions, message: str
) -> None:
    text = new_fabric("plant", Size(1, 2, 2), LEAF, SPINE)
    network = network_of(re.sub(rf"\b{replaced[0]}\b", replaced[1], text) if replaced[0] else text)
    with pytest.raises(BadInput) as error:
        FILES[name](network, options)
    assert str(error.value) == message


@pytest.mark.parametrize("name", FILES)
def test_a_fabric_without_servers_is_an_error(heps: DerivedNetwork, name: str) -> None:
    network = heps.network.model_copy(update={"servers": ()})
    with pytest.raises(
        BadInput, match=r"^heps has no servers; list them in fabric\.yaml: servers$"
    ):
        FILES[name](network, SchedulerOptions())


def test_an_unknown_segment_is_an_error(heps: DerivedNetwork) -> None:
    with pytest.raises(BadInput, match="no server is in segment 'comput'; did you mean 'compute'"):
        with_servers_of(heps.network, ("comput",))


SLURMCTLD = shutil.which("slurmctld", path=f"{os.environ['PATH']}:/usr/sbin")
SETTINGS = """\
ClusterName=plant
SlurmctldHost=localhost
SlurmctldPort={port}
SlurmUser={user}
AuthType=auth/none
CredType=cred/none
MailProg=/bin/true
SelectType=select/cons_tres
TopologyPlugin=topology/tree
StateSaveLocation={folder}
SlurmctldPidFile={folder}/slurmctld.pid
NodeName={nodes} State=CLOUD CPUs=1
PartitionName=all Nodes=ALL
"""


def scontrol(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["scontrol", "show", *words],
        check=False,
        env={**os.environ, "SLURM_CONF": str(folder / "slurm.conf")},
        capture_output=True,
        text=True,
    )


@contextmanager
def slurmctld(folder: Path, nodes: Sequence[str]) -> Iterator[Path]:
    """Run slurmctld on the topology.conf of a folder; yields its log."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    configuration, log = folder / "slurm.conf", folder / "slurmctld.log"
    values = {"port": port, "user": getuser(), "folder": folder, "nodes": ",".join(nodes)}
    configuration.write_text(SETTINGS.format(**values))
    words = [str(SLURMCTLD), "-D", "-c", "-f", str(configuration)]
    with log.open("w") as out, subprocess.Popen(words, stdout=out, stderr=out) as daemon:
        try:
            yield log
        finally:
            daemon.terminate()
            daemon.wait(30)


def read_by_slurm(
    folder: Path, nodes: Sequence[str]
) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return what `scontrol show topology` prints, by switch, and warnings on switches."""
    with slurmctld(folder, nodes) as log:
        end = monotonic() + 60
        while (done := scontrol(folder, "topology")).returncode:
            assert monotonic() < end, log.read_text() + done.stderr
            sleep(0.2)
    rows = [dict(word.split("=", 1) for word in row.split()) for row in done.stdout.splitlines()]
    text = log.read_text().replace(str(folder), "")
    warnings = re.findall(r"(?i)^.*(?:warning|topology|switch).*$", text, re.MULTILINE)
    return {row["SwitchName"]: row for row in rows}, warnings


@pytest.mark.thorough
@pytest.mark.skipif(
    SLURMCTLD is None, reason="no Slurm; as root: apt-get install slurmctld slurm-client"
)
def test_slurm_reads_the_topology_of_8_x_64_and_after_growth(tmp_path: Path) -> None:
    def names(hosts: str) -> list[str]:
        return scontrol(tmp_path, "hostnames", hosts).stdout.split()

    small = new_fabric("plant", Size(4, 48, 4), LEAF, SPINE)
    for text in (small, with_more_servers(grown(small, 4, 16, 6), 2)):
        network = network_of(text)
        leaves = servers_by_leaf(network)
        nodes = [name for names in leaves.values() for name in names]
        (tmp_path / "topology.conf").write_text(
            FILES["slurm-topology"](network, SchedulerOptions())
        )
        tree, warnings = read_by_slurm(tmp_path, nodes)
        assert warnings == []
        top = tree.pop("plant")
        assert (top["Level"], sorted(names(top["Nodes"]))) == ("1", sorted(nodes))
        assert names(top["Switches"]) == list(leaves)
        assert {leaf: row["Level"] for leaf, row in tree.items()} == dict.fromkeys(leaves, "0")
        assert {leaf: sorted(names(row["Nodes"])) for leaf, row in tree.items()} == leaves
    assert (len(network.nodes), len(leaves), len(nodes)) == (8 + 64, 64, 48 * 4 + 16 * 6 + 2)
    _, warnings = read_by_slurm(tmp_path, nodes[1:])  # a server that slurm.conf does not have
    assert [line.rpartition("error: ")[2] for line in warnings] == [
        "WARNING: Invalid hostnames in switch configuration: leaf001-s01"
    ]
