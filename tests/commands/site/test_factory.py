"""A new leaf out of its box: day 0 at its console, host key, first deployment with its gate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rocefort.design.subject import ReadNetwork, subject_of
from rocefort.dialects.vrp.text.config_tree import parse_tree
from rocefort.emulator.emulated_site import Rehearsal, rehearse
from rocefort.emulator.options import LabOptions
from rocefort.emulator.servers.sandbox import RdmaRoot
from rocefort.emulator.switch.logins import ssh_admits, ssh_listens

Rocefort = Callable[..., Any]
NEW, OLD_PAIR = "leaf3", ("leaf3-s01", "leaf1-s01")
OPTIONS = LabOptions(keep=True, factory=(NEW,), time_scale=100)
DAY0 = """interface MEth0/0/0
 ip address 10.255.0.11 255.255.255.0
#
aaa
 local-user netops password irreversible-cipher emulated-only
 local-user netops service-type ssh
#
stelnet server enable
#
ssh server-source -i MEth0/0/0
ssh user netops
#
user-interface vty 0 4
 protocol inbound ssh
#
"""


@dataclass(frozen=True)
class GrownSite:
    """A fabric with one leaf more than its spines are configured for."""

    fabric: Path
    subject: ReadNetwork
    texts: dict[str, str]

    def lab(self, state: Path) -> Any:
        return rehearse(self.subject.network, self.texts, state, OPTIONS)


@pytest.fixture
def site(rocefort: Rocefort, tmp_path: Path) -> GrownSite:
    small = ("--spines", 2, "--leaves", 2, "--servers-per-leaf", 1, "--directory", tmp_path)
    assert rocefort("new", "plant", *small).code == 0
    fabric = tmp_path / "plant" / "fabric.yaml"
    fabric.write_text(
        fabric.read_text().replace("leaf00", "leaf").replace("leaves: 128", "leaves: 9")
    )
    old = subject_of(fabric, None).texts
    grown = ("--add-leaves", 1, "--like", "leaf1", "--servers", 1, "--names", f"leaves={NEW}")
    assert rocefort("expand", fabric, *grown).code == 0
    subject = subject_of(fabric, None)
    return GrownSite(fabric, subject, {**subject.texts, **old})


def routed(lab: Rehearsal) -> bool:
    """Whether RDMA passes between a server of the new leaf and one of an old leaf."""
    near, far = (lab.hosts.settings[name] for name in OLD_PAIR)
    assert isinstance(near, RdmaRoot)
    assert isinstance(far, RdmaRoot)
    return near.routed(near.address, far.address)


def test_a_new_leaf_goes_from_its_box_to_a_gated_commit(
    rocefort: Rocefort, site: GrownSite, tmp_path: Path
) -> None:
    state, text, out = tmp_path / "lab", tmp_path / "day0.txt", tmp_path / "plan.json"
    with site.lab(state) as lab:
        access = ("--connections", lab.file)
        assert lab.switches[NEW].hostname == "HUAWEI"
        refused = rocefort("plan", site.fabric, *access, "--out", out)
        assert (refused.code, "leaf3: 127.0.0.1:" in refused.err) == (3, True)

        secret = f"netops=file:{state / 'netops.secret'}"
        printed = rocefort(
            "day0", site.fabric, NEW, *access, "--password", secret, "--with-secrets", "--out", text
        )
        assert "1. On the console of leaf3. Answer Y to each prompt. Lines:" in printed.out
        assert "emulated-only" not in printed.out
        assert text.stat().st_mode & 0o777 == 0o600
        typed = rocefort("lab", "console", NEW, text, "--state", state)
        assert typed.out == f"leaf3: 22 lines of {text} entered at its console, none refused\n"

        unproven = rocefort("plan", site.fabric, *access, "--out", out)
        assert (unproven.code, "which is not on record" in unproven.err) == (3, True)
        trusted = rocefort("trust", site.fabric, *access, "--yes")
        assert "1 host key added to" in trusted.words
        assert lab.server.fingerprint(NEW) in trusted.words

        planned = rocefort("plan", site.fabric, *access, "--out", out)
        waves = planned.out[planned.out.index("\nwave ") :]
        assert waves.index("spine 1 of 2") < waves.index("spine 2 of 2")
        assert waves.index("spine 2 of 2") < waves.index("new leaves 1 of 1")
        assert waves.count("leaf3-s01 > ") == 1, "no gate before it has its servers"
        assert not routed(lab)
        done = rocefort("apply", out, *access)
        assert done.code == 0
        assert "3 switches confirmed, read back and saved: spine01, spine02, leaf3" in done.words
        assert routed(lab)
    with site.lab(state) as lab:  # its state and its key on record stay
        assert NEW in lab.restored
        assert rocefort("plan", site.fabric, *access, "--out", out).out.count("nothing changes")


@pytest.mark.parametrize(
    ("switch", "text", "code", "sentence"),
    [
        ("leaf9", "system-view", 2, "leaf9: has no console; did you mean 'leaf3'?"),
        ("leaf3", None, 2, "day0.txt: cannot be read: No such file or directory; write it with"),
        (
            "leaf3",
            "system-view\nvlan 5000\n",
            3,
            "day0.txt, line 2: leaf3 refuses 'vlan 5000': Err",
        ),
    ],
)
def test_a_console_refuses_what_is_wrong(
    rocefort: Rocefort,
    site: GrownSite,
    tmp_path: Path,
    switch: str,
    text: str | None,
    code: int,
    sentence: str,
) -> None:
    file = tmp_path / "day0.txt"
    if text is not None:
        file.write_text(text)
    with site.lab(tmp_path / "lab"):
        done = rocefort("lab", "console", switch, file, "--state", tmp_path / "lab")
    assert (done.code, sentence in done.err) == (code, True)


def test_a_lab_without_a_switch_out_of_its_box_has_no_console(
    rocefort: Rocefort, tmp_path: Path
) -> None:
    (tmp_path / "day0.txt").write_text("save\n")
    done = rocefort("lab", "console", NEW, tmp_path / "day0.txt", "--state", tmp_path)
    assert done.err.endswith("no switch has a console there; start the lab with --factory leaf3\n")


@pytest.mark.parametrize("line", [line for line in DAY0.splitlines() if len(line) > 1])
def test_every_line_of_day_0_is_needed_for_a_login(line: str) -> None:
    def opens(text: str) -> bool:
        running = parse_tree(text)
        listens = ssh_listens(running, "10.255.0.11")
        return listens and ssh_admits(running, "netops", "emulated-only")

    assert opens(DAY0)
    assert not ssh_admits(parse_tree(DAY0), "netops", "another")
    assert not ssh_listens(parse_tree(DAY0), "10.255.0.12")
    section = line in {"interface MEth0/0/0", "aaa", "user-interface vty 0 4"}
    rest = DAY0.replace(f"{line}\n", "sysname leaf\n" if section else "")
    assert not opens(rest)
