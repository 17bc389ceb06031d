"""Memory: many command lines in one process stay below 200 MB, with cables, servers and routing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rocefort.base.repository import ROOT

LAB = """
import sys
from pathlib import Path
from rocefort.design.derive.derive import derive
from rocefort.dialects.network_text import render_all
from rocefort.emulator.options import LabOptions
from rocefort.emulator.emulated_site import rehearse

COPIES = int(sys.argv[3])

def many(network, texts):
    # The switches of HEPS so many times over, each time with other names and addresses.
    nodes, links, servers, more = [], [], [], {}

    def on(copy, end):
        return end.model_copy(update={"device": f"{end.device}x{copy}"})

    for copy in range(COPIES):
        for link in network.links:
            ends = {"a": on(copy, link.a), "b": on(copy, link.b)}
            links.append(link.model_copy(update=ends))
        for server in network.servers:
            ports = tuple(on(copy, end) for end in server.ports)
            own = {"name": f"{server.name}x{copy}", "ports": ports}
            servers.append(server.model_copy(update=own))
        for node in network.nodes:
            name = f"{node.name}x{copy}"
            device = node.device.model_copy(update={"name": name})
            nodes.append(node.model_copy(update={"device": device}))
            text = texts[node.name].replace(f"sysname {node.name}", f"sysname {name}")
            more[name] = text.replace(" 10.", f" {20 + copy}.")
    made = {"nodes": tuple(nodes), "links": tuple(links), "servers": tuple(servers), "exits": ()}
    return network.model_copy(update=made), more

def designed():
    network = derive(Path(sys.argv[2])).network
    return many(network, render_all(network))

with rehearse(*designed(), Path(sys.argv[1]), LabOptions(keep=True)) as lab:
    assert {peer.state for peer in lab.model.peers("leaf01x0")} == {"Established"}
    assert len(lab.connections.servers) == COPIES * 12
    for name in lab.switches:
        assert lab.model.interfaces(name)
    # Not ru_maxrss: that also counts the memory of the process that started this one.
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    peak_kb = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    print(len(lab.switches), peak_kb // 1024)
"""


@pytest.mark.parametrize(
    ("copies", "bar_mb"), [(2, 150), pytest.param(20, 200, marks=pytest.mark.thorough)]
)
def test_many_switches_in_one_process(tmp_path: Path, copies: int, bar_mb: int) -> None:
    heps = ROOT / "inventory" / "heps"
    command = [sys.executable, "-c", LAB, str(tmp_path / "lab"), str(heps), str(copies)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    switches, peak_mb = map(int, done.stdout.split())
    assert switches == copies * 10
    assert peak_mb < bar_mb
