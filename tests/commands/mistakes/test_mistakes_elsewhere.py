"""Mistakes in connections, demand, settings, hardware and profiles, and in names of a command."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from outputs import messages

from rocefort.base.repository import HARDWARE, INVENTORY

Rocefort = Callable[..., Any]
CONNECTIONS = """\
known_hosts: known_hosts
devices:
  - {name: leaf01, host: 10.255.0.9, user: netops, credential: "env:NETOPS"}
"""
DEMAND = """\
demand: trial
peak: 1.6 Tb/s
flows:
  - senders: {segments: [beamline]}
    receivers: {segments: [compute]}
    share: 1
"""
MODEL = "ce6866-48s8cq-p.yaml"
PLAN = ("plan", "heps", "--connections", "connections.yaml", "--out", "plan.json")
FILES: list[tuple[str, str, str, str]] = [  # file, text, text instead, sentence
    ("connections.yaml", "{name: leaf01", "{nam: leaf01", "3:6: devices[0].nam: unknown key 'nam'; did you mean 'name'?"),
    ("connections.yaml", "devices", "device", "2:1: device: unknown key 'device'; did you mean 'devices'?"),
    ("connections.yaml", "10.255.0.9", '"10.255.0.9 "', "3:26: devices[0].host: '10.255.0.9 ' is not an address or a host name; write one of the two"),
    ("connections.yaml", '"env:NETOPS"', "netops123", "3:64: devices[0].credential: a credential that is not a reference; write env:NAME or file:PATH, or keyring:SERVICE/USER"),
    ("connections.yaml", "env:NETOPS", "env:NET-OPS", "3:64: devices[0].credential: env: without the name of an environment variable; write env:NAME, with letters, digits and _"),
    ("connections.yaml", "known_hosts: known_hosts\n", "", "1:1: known_hosts: 'known_hosts' is missing; add it, for example known_hosts: known_hosts"),
    ("connections.yaml", "user: netops", "port: ssh, user: netops", "3:44: devices[0].port: 'ssh' is not a whole number; write the number alone"),
    ("inventory/heps/demand.yaml", "1.6 Tb/s", "1.6 TB", "2:7: peak: unit 'TB' is not Gb/s or Tb/s; write 3200 Gb/s or 3.2 Tb/s"),
    ("inventory/heps/demand.yaml", "beamline", "beam", "4:26: flows[0].senders.segments[0]: the fabric has no segment 'beam'; did you mean 'beamline'?"),
    ("inventory/heps/demand.yaml", "share: 1", "share: 100%", "6:12: flows[0].share: '100%' is not a number; write the number alone"),
    ("inventory/heps/demand.yaml", "senders", "sender", "4:5: flows[0].sender: unknown key 'sender'; did you mean 'senders'?"),
    ("rocefort.toml", "", 'engine = "batfsh"', "1:10: engine: 'batfsh' cannot be used; did you mean 'batfish'?"),
    ("rocefort.toml", "", 'conections = "c"', "1:1: conections: unknown key 'conections'; did you mean 'connections'?"),
    ("rocefort.toml", "", "format = json", '1:10: not TOML: invalid value; write each key once: KEY = "VALUE"'),
    (f"inventory/hardware/{MODEL}", "{name: 100GE1/0/1, type: 100gbase-x-qsfp28}", "{name: 100GE1/0/1, type: 100gbase-x-qsfp27}", "56:5: interfaces[49]: unknown interface type '100gbase-x-qsfp27'; the nearest is '100gbase-x-qsfp28'"),
    (f"inventory/hardware/{MODEL}", "family: v300-g1", "family: v400-g1", "75:30: rocefort.releases[0].family: no syntax family 'v400-g1'; did you mean 'v300-g1'?"),
    (f"inventory/hardware/{MODEL}", "  fabric_ports:", "  fabrik_ports:", "66:3: rocefort.fabrik_ports: unknown key 'fabrik_ports'; did you mean 'fabric_ports'?"),
    ("inventory/profiles/own.yaml", "", "ecn:\n  own:\n    kind: statc\n    thresholds: {}\n", "3:11: ecn.own.kind: there is no kind 'statc'; did you mean 'static'?"),
    ("inventory/profiles/own.yaml", "", "loseless: {}\n", "1:1: loseless: unknown key 'loseless'; did you mean 'lossless'?"),
    ("inventory/profiles/own.yaml", "", "ecn:\n  own:\n    kind: static\n    thresholds:\n      25: {kmin_kbytes: 1, kmax_kbytes: 2, pmax_percent: 0}\n", "5:58: ecn.own.thresholds.25.pmax_percent: 0 is out of range; write a percentage from 1 to 100"),
]  # fmt: skip
WORDS: list[tuple[tuple[str, ...], str]] = [
    (("check", "hep"), "hep: no such fabric; did you mean 'heps'?"),
    (("render", "heps", "--device", "leaf1"), "no switch 'leaf1'; did you mean 'leaf01'?"),
    (("expand", "heps", "--add-leaves", "2", "--like", "leaf1"), "--like: no spine or leaf 'leaf1'; did you mean 'leaf01'?"),
    (("expand", "heps", "--add-leaves", "2", "--like", "leaf08", "--segments", "beam"), "--segments: no segment 'beam' with a VLAN; did you mean 'beamline'?"),
    (("expand", "heps", "--add-leaves", "1", "--like", "leaf08", "--hardware", "CE8855"), "--hardware: no hardware 'CE8855' in inventory/hardware; did you mean 'CE8855-32CQ4BQ'?"),
    (("remove", "heps", "leaf9"), "no spine, leaf or server 'leaf9'; did you mean 'leaf08'?"),
    (("rename", "heps", "leaf1", "leaf11"), "no spine, leaf or server 'leaf1'; did you mean 'leaf01'?"),
    (("lab", "cli", "heps", "--fault", "leaf1:hang@x"), "--fault leaf1:hang@x: no switch is called 'leaf1'; did you mean 'leaf01'?"),
]  # fmt: skip
SHIPPED = {
    "connections.yaml": CONNECTIONS,
    "inventory/heps/demand.yaml": DEMAND,
    f"inventory/hardware/{MODEL}": (HARDWARE / MODEL).read_text(encoding="utf-8"),
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a site with a copy of HEPS, which is the current directory."""
    for folder in ("heps", "hardware", "profiles"):
        (tmp_path / "inventory" / folder).mkdir(parents=True)
    fabric = (INVENTORY / "heps" / "fabric.yaml").read_text(encoding="utf-8")
    (tmp_path / "inventory" / "heps" / "fabric.yaml").write_text(fabric, encoding="utf-8")
    (tmp_path / "rocefort.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("file", "old", "new", "sentence"), FILES)
def test_a_mistake_in_another_file(
    site: Path, rocefort: Rocefort, file: str, old: str, new: str, sentence: str
) -> None:
    text = SHIPPED.get(file, "")
    assert not old or text.count(old) == 1
    (site / file).write_text(text.replace(old, new) if old else new, encoding="utf-8")
    commands = {"connections.yaml": PLAN, "inventory/heps/demand.yaml": ("capacity", "heps")}
    done = rocefort(*commands.get(file, ("check", "heps")))
    assert (done.code, done.out) == (2, "")
    assert messages(done.err).replace(f"{site}/", "") == f"rocefort: {file}:{sentence}\n"


@pytest.mark.parametrize(("words", "sentence"), WORDS)
def test_a_mistake_in_a_name(
    site: Path, rocefort: Rocefort, words: tuple[str, ...], sentence: str
) -> None:
    done = rocefort(*words)
    assert (done.code, done.out, done.err) == (2, "", f"rocefort: {sentence}\n")


def test_a_file_of_a_revision_shows_its_line(site: Path, rocefort: Rocefort) -> None:
    fabric = site / "inventory" / "heps" / "fabric.yaml"
    right = fabric.read_text()
    fabric.write_text(right.replace("hold_s: 30", "hold_s: soon"))
    for words in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "-m", "wrong")):
        subprocess.run(("git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words), check=True)
    fabric.write_text(right)
    line = right[: right.index("hold_s")].count("\n") + 1
    done = rocefort("diff", "HEAD:inventory/heps", "heps")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"rocefort: HEAD:inventory/heps/fabric.yaml:{line}:11: routing.hold_s: 'soon' is not a "
        "whole number; write the number alone, in seconds\n"
        f"  {line} |   hold_s: soon\n"
        "     |           ^^^^\n"
    )


def test_wrong_files_are_reported_together(site: Path, rocefort: Rocefort) -> None:
    fabric = site / "inventory" / "heps" / "fabric.yaml"
    fabric.write_text(fabric.read_text().replace("hold_s: 30", "hold_sec: 30"))
    (site / "inventory" / "profiles" / "own.yaml").write_text("loseless: {}\n")
    (site / "inventory" / "profiles" / "two.yaml").write_text("nics: {}\n")
    model = (HARDWARE / MODEL).read_text(encoding="utf-8").replace(" fabric_ports", " fabrik_ports")
    (site / "inventory" / "hardware" / MODEL).write_text(model, encoding="utf-8")
    lines = messages(rocefort("check", "heps").err).splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "inventory/heps/fabric.yaml",
        f"inventory/hardware/{MODEL}",
        "inventory/profiles/own.yaml",
        "inventory/profiles/two.yaml",
    ]
