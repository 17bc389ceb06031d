"""Options of `lab cli`, and the one clear line for a wrong one."""

from __future__ import annotations

import asyncio
import re
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from personalities import SILENT

from rocefort import tasks
from rocefort.base.errors import BadInput, Refused, RocefortError, ServiceFailed
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.subject import subject_of_derived
from rocefort.emulator.cli.server import LabServer, run_in_thread
from rocefort.emulator.emulated_site import rehearse
from rocefort.emulator.options import LabOptions, read_faults, read_listen
from rocefort.emulator.show.configuration import whole
from rocefort.emulator.state.state_faults import StateFault
from rocefort.emulator.switch.personality import LineFault, axes
from rocefort.emulator.switch.switch import CandidateMode, CommitOrder, EmulatedSwitch
from rocefort.fleet.connections import load_connections
from rocefort.lab.lab_commands import Candidates, lab_cli

MakeSwitch = Callable[..., EmulatedSwitch]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("127.0.0.1:2200", ("127.0.0.1", 2200)),
        ("127.0.0.1:0", ("127.0.0.1", 0)),
        ("[::1]:2200", ("::1", 2200)),
    ],
)
def test_where_it_listens(text: str, read: tuple[str, int]) -> None:
    assert read_listen(text, others=False) == read
    assert read_listen("10.0.0.1:2200", others=True) == ("10.0.0.1", 2200)


@pytest.mark.parametrize(
    ("text", "error", "sentence"),
    [
        (
            "2200",
            BadInput,
            "'2200' is no address and port; write 127.0.0.1:PORT or [::1]:PORT, the",
        ),
        ("::1:2200", BadInput, "'::1:2200' is no address and port"),
        ("localhost:2200", BadInput, "'localhost:2200' is no address and port"),
        ("127.0.0.1:22", BadInput, "the first port from 1024 to 65535"),
        ("127.0.0.1:65536", BadInput, "'127.0.0.1:65536' is no address and port"),
        ("0.0.0.0:2200", Refused, "others can reach 0.0.0.0, and log in with a "),
        ("10.0.0.1:2200", Refused, "add --open-to-others if that is intended"),
    ],
)
def test_where_it_does_not_listen(text: str, error: type[RocefortError], sentence: str) -> None:
    with pytest.raises(error) as raised:
        read_listen(text, others=False)
    assert sentence in str(raised.value)


def test_faults_of_the_dialogue_and_of_the_state_are_told_apart_by_name() -> None:
    texts = ["leaf01:refuse-line@mtu 9100", "leaf02:input-errors@100GE1/0/1=5/s"]
    assert read_faults(texts, ["leaf01", "leaf02"]) == [
        ("leaf01", LineFault("refuse-line", "mtu 9100")),
        ("leaf02", StateFault("input-errors", "100GE1/0/1", None, 0, 5)),
    ]


def test_every_fault_in_error_is_named() -> None:
    texts = ["leaf9:hang@commit", "leaf01:explode", "nonsense", "leaf01:link-down"]
    with pytest.raises(BadInput) as raised:
        read_faults(texts, ["leaf01", "leaf02"])
    lines = str(raised.value).splitlines()
    assert lines[0] == (
        "--fault leaf9:hang@commit: no switch is called 'leaf9'; did you mean 'leaf02'?"
    )
    assert lines[1].startswith(
        "--fault leaf01:explode: no fault is called 'explode'; known here: ai-ecn-abnormal, dead"
    )
    assert lines[2] == "--fault nonsense: is no fault; write SWITCH:NAME or SWITCH:NAME@WHAT"
    assert lines[3].startswith("--fault leaf01:link-down: '' names no port")


def free_port(count: int) -> int:
    """Return the first of some consecutive free ports."""
    for first in range(23000, 60000, count):
        try:
            for port in range(first, first + count):
                with socket.socket() as trying:
                    trying.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first
    raise AssertionError("no free ports")


def test_ports_follow_the_order_of_names(make_switch: MakeSwitch, tmp_path: Path) -> None:
    first = free_port(3)
    switches = {name: make_switch(name=name) for name in ("leaf10", "spine1", "leaf2")}
    lab = LabServer(switches, tmp_path, listen=("127.0.0.1", first))
    with run_in_thread(lab):
        assert lab.ports == {"leaf2": first, "leaf10": first + 1, "spine1": first + 2}
        other = LabServer({"a": make_switch()}, tmp_path / "b", listen=("127.0.0.1", first + 1))
        with pytest.raises(ServiceFailed) as raised, run_in_thread(other):
            pass
        assert str(raised.value) == (
            f"lab: port {first + 1} of 127.0.0.1 is in use, and a needs it; choose another port"
        )
    beyond = LabServer(switches, tmp_path, listen=("127.0.0.1", 65534))
    with pytest.raises((BadInput, ServiceFailed)) as ended:
        asyncio.run(beyond.__aenter__())
    assert "no port is left for spine1; choose a first port up to 65533" in str(ended.value)


def test_a_lab_listens_on_the_other_loopback(hall: DerivedNetwork, tmp_path: Path) -> None:
    subject = subject_of_derived(hall)
    options = LabOptions(listen=read_listen("[::1]:0", others=False))
    with rehearse(subject.network, subject.texts, tmp_path, options) as lab:
        access = load_connections(lab.file).devices[0]
        assert access.host == "::1"
        entry = f"[::1]:{access.port} ssh-ed25519 "
        assert entry in lab.connections.known_hosts.read_text()


def test_the_state_behind_heps_is_the_engines(heps: DerivedNetwork, tmp_path: Path) -> None:
    subject = subject_of_derived(heps)
    options = LabOptions(
        personality=SILENT,
        candidate="shared",
        faults=("leaf01:link-down@100GE1/0/57", "leaf02:refuse-line@mtu"),
    )
    with rehearse(subject.network, subject.texts, tmp_path, options) as lab:
        states = {str(p.address): p.state for p in lab.model.peers("leaf01")}
        assert sorted(states.values()) == ["Established", "Idle"]
        hops = {r.prefix: len(r.hops) for r in lab.model.routes("leaf01") if r.protocol == "EBGP"}
        assert set(hops.values()) == {1}, "one spine is left"
        assert len(hops) > 10
        assert [n.device for n in lab.model.neighbours("leaf01")] == ["spine02"]
        assert lab.switches["leaf02"].faults == (LineFault("refuse-line", "mtu"),)
        assert {s.personality for s in lab.switches.values()} == {SILENT}
        assert {s.candidate_mode for s in lab.switches.values()} == {"shared"}
        leaf = lab.switches["leaf01"]
        assert "\ninterface 100GE1/0/64\n#\n" in whole(leaf, leaf.running), "a port without a line"
        lab.model.faults.clear()
        assert {p.state for p in lab.model.peers("leaf01")} == {"Established"}


def test_a_lab_goes_on_from_its_folder_or_after_a_power_loss(
    hall: DerivedNetwork, tmp_path: Path
) -> None:
    subject = subject_of_derived(hall)
    keep = LabOptions(keep=True)
    with rehearse(subject.network, subject.texts, tmp_path, keep) as lab:
        assert lab.restored == ()
        leaf = lab.switches["leaf07"]
        number = leaf.open_session("netops")
        leaf.keep(number, (), "sysname other", leaf.enter(number, (), "sysname other"))
        leaf.commit(number, CommitOrder())
        lab.server.store.keep(leaf) if lab.server.store else None
    with rehearse(subject.network, subject.texts, tmp_path, keep) as lab:
        assert len(lab.restored) == len(lab.switches) == 4
        assert lab.switches["leaf07"].hostname == "other"
    off = LabOptions(keep=True, power_loss=True)
    with rehearse(subject.network, subject.texts, tmp_path, off) as lab:
        assert lab.switches["leaf07"].hostname == "leaf07"


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("--listen", "0.0.0.0:2200"), 4, "--listen: others can reach 0.0.0.0"),
        (("--listen", "here"), 2, "--listen: 'here' is no address and port"),
        (("--fault", "leaf99:hang@x"), 2, "no switch is called 'leaf99'; did you mean 'leaf08'?"),
        (("--factory", "leaf80"), 2, "--factory leaf80: no switch is called 'leaf80'; did you"),
    ],
)
def test_a_lab_that_cannot_start_says_why_and_writes_nothing(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    words: tuple[str, ...],
    code: int,
    sentence: str,
) -> None:
    command = ["rocefort", "lab", "cli", "heps", "--state", str(tmp_path / "lab"), *words]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as ended:
        tasks.app()
    captured = capsys.readouterr()
    assert (ended.value.code, captured.out) == (code, "")
    assert len(captured.err.splitlines()) == 1
    assert sentence in captured.err
    assert not (tmp_path / "lab").exists()


def test_every_behaviour_of_a_trial_and_of_a_candidate_can_be_chosen() -> None:
    hints = get_type_hints(lab_cli)
    assert hints["persist"] is bool
    chosen = {name: get_args(hints[name]) for name in axes() if name != "persist"}
    assert {"persist": ("present", "absent"), **chosen} == axes()
    assert {candidate.value for candidate in Candidates} == set(get_args(CandidateMode))


def test_all_faults_are_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["rocefort", "lab", "faults"])
    with pytest.raises(SystemExit) as ended:
        tasks.app()
    assert ended.value.code == 0
    output = capsys.readouterr().out
    assert "link-down               the cable of a port carries nothing" in output
    assert "refuse-line " in output


def test_a_line_that_no_other_user_can_type_is_refused_at_the_start(
    hall: DerivedNetwork, tmp_path: Path
) -> None:
    subject = subject_of_derived(hall)
    options = LabOptions(faults=("leaf07:foreign-candidate@x",))
    sentence = "leaf07:foreign-candidate@x: the switch refuses the line 'x' (Error: Unrecognized"
    with (
        pytest.raises(BadInput, match=re.escape(sentence)),
        rehearse(subject.network, subject.texts, tmp_path, options),
    ):
        pass
