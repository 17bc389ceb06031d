"""Rules of load in a rollout: listed servers, limit and window of the fabric bound its gates."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rocefort.dialects.vrp.text.config_tree import tree_text
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.models.change.plan import Plan
from rocefort.rdma.rollout_gate import GateLoad, covered_in_window
from rocefort.rdma.run.gate import expectation
from rocefort.rollout.operator import user
from rocefort.rollout.planning.sealed_files import read_plan

Command = Callable[..., Any]
NOW = datetime.now(UTC).astimezone()
HOURS = {"inside": (-2, 2), "outside": (2, 4)}
BOTH = "servers: [readout03, readout04]"
REASON = "no beam today"


def window(when: str) -> str:
    """Window around the present time, or after it."""
    begin, end = (NOW + timedelta(hours=hours) for hours in HOURS[when])
    return f"{begin:%H:%M}-{end:%H:%M}"


@pytest.fixture
def planned(
    lab: Rehearsal, edit_hall: Callable[..., Path], command: Command, tmp_path: Path
) -> Callable[..., tuple[Path, str]]:
    """Plan another threshold of both leaves, with these keys of `rdma`; the file and the text."""

    def seal(*keys: str) -> tuple[Path, str]:
        fabric = edit_hall(
            *(
                (f"  - name: readout0{n}\n", f"  - name: readout0{n}\n    description: det {n}\n")
                for n in (3, 4)
            ),
            ("rdma:\n", "rdma:\n" + "".join(f"  {key}\n" for key in keys)),
        )
        file = tmp_path / "plan.json"
        done = command("plan", fabric, "--connections", lab.file, "--out", file)
        assert done.code == 0, done.err
        return file, done.words

    return seal


def changed(lab: Rehearsal) -> list[str]:
    """Switches that run the change."""
    return [name for name, s in lab.switches.items() if "det " in tree_text(s.running)]


def gates(command: Command, plan: Path) -> list[str]:
    """Details of the gates in the journal, and words of the operator."""
    rows = json.loads(command("history", plan, "--format", "json").out)["runs"][-1]["events"]
    acts = ("gate", "hold", "unmeasured")
    return [row["detail"] for row in rows if row["act"] in acts and row["phase"] == "done"]


def test_a_gate_inside_its_window_is_limited_and_judged_by_the_limit(
    lab: Rehearsal, planned: Callable[..., tuple[Path, str]], command: Command
) -> None:
    open_now = window("inside")
    file, text = planned(BOTH, "rate_limit_gbps: 10", f'window: "{open_now}"')
    assert f"readout04 > readout03, limited to 10 Gb/s, only {open_now}" in text
    assert f"its RDMA gate runs {open_now} only, on the clock of the machine" in text
    gate = read_plan(file).waves[0].gate
    assert (gate.limit_gbps, gate.window, gate.uncovered) == (10, open_now, ())
    assert expectation(gate, gate.pairs[0]).min_gbps == pytest.approx(9.2)
    ran = command("apply", file, "--connections", lab.file)
    assert (ran.code, changed(lab)) == (0, ["leaf07", "leaf08"])
    assert [text[:15] for text in gates(command, file)] == ["1 pair measured"] * 2


def test_outside_its_window_no_wave_begins_and_the_operator_may_go_on_unmeasured(
    lab: Rehearsal, planned: Callable[..., tuple[Path, str]], command: Command
) -> None:
    shut, at = window("outside"), ("--connections", lab.file)
    file, _ = planned(BOTH, f'window: "{shut}"')
    why = rf"it is \d\d:\d\d \S+, and RDMA tests run {shut}"
    held = (
        rf"wave canary waits for its RDMA gate: {why}; `rocefort resume` continues when it may run; "
        "`rocefort resume --allow-unmeasured REASON` continues without it"
    )
    for verb in ("apply", "resume"):
        ran = command(verb, file, *at)
        assert (ran.code, changed(lab)) == (5, [])
        assert re.search(held, ran.words)
    status = f"state: wave canary waits for its RDMA gate: {why}; `rocefort resume` continues"
    assert re.search(status, command("status", file).words)

    ran = command("resume", file, *at, "--allow-unmeasured", REASON)
    assert (ran.code, changed(lab)) == (0, ["leaf07", "leaf08"])
    *_, word, first, second = gates(command, file)
    assert word == f"by {user()}: {REASON}"
    for text in (first, second):
        assert re.fullmatch(rf"not run, as permitted by {user()}: {REASON}: {why}", text)


def test_a_wave_that_the_listed_servers_do_not_cover_needs_the_operators_word(
    lab: Rehearsal, planned: Callable[..., tuple[Path, str]], command: Command
) -> None:
    file, text = planned("servers: [readout03]")
    flaw = "leaf08, none of its RoCE servers is in rdma.servers"
    assert f"not covered: {flaw}" in text
    assert f"WARNING of canary: its RDMA gate is not covered: {flaw}; `apply` refuses" in text
    at = ("--connections", lab.file)
    ran = command("apply", file, *at)
    assert (ran.code, changed(lab)) == (4, [])
    assert f"wave canary: its RDMA gate is not covered: {flaw}; extend the keys" in ran.err
    assert "--allow-unmeasured REASON" in ran.err
    assert "no run" in command("history", file).words
    ran = command("apply", file, *at, "--allow-unmeasured", f"{REASON}\n")
    assert (ran.code, ran.err.startswith("rocefort: --allow-unmeasured: the reason is not")) == (
        2,
        True,
    )
    ran = command("apply", file, *at, "--allow-unmeasured", REASON)
    assert (ran.code, changed(lab)) == (0, ["leaf07", "leaf08"])
    assert gates(command, file)[:2] == [f"by {user()}: {REASON}", f"not covered: {flaw}"]


def test_a_window_that_closes_during_a_trial_rolls_the_wave_back(
    lab: Rehearsal,
    planned: Callable[..., tuple[Path, str]],
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file, _ = planned(BOTH, f'window: "{window("inside")}"')
    times: Iterator[datetime] = iter([NOW, NOW, *[NOW + timedelta(hours=3)] * 9])
    monkeypatch.setattr(
        "rocefort.rdma.rollout_gate.GateLoad", partial(GateLoad, now=lambda: next(times))
    )
    ran = command("apply", file, "--connections", lab.file)
    assert (ran.code, changed(lab)) == (4, [])
    assert "wave canary: its RDMA gate did not begin: it is " in ran.words
    assert not any(switch.trial for switch in lab.switches.values())


def test_a_forged_window_or_limit_is_no_gate_of_the_fabric(
    lab: Rehearsal, planned: Callable[..., tuple[Path, str]], command: Command
) -> None:
    file, _ = planned(BOTH, "rate_limit_gbps: 10", f'window: "{window("outside")}"')
    plan = read_plan(file)
    for name, value in (("window", None), ("limit_gbps", None), ("limit_gbps", 25.0)):
        waves = (with_gate(plan, name, value), *plan.waves[1:])
        file.write_text(plan.model_copy(update={"waves": waves}).seal().model_dump_json())
        ran = command("apply", file, "--connections", lab.file)
        assert (ran.code, changed(lab)) == (4, [])
        assert f"wave canary: its gate ({name}) does not follow from the fabric" in ran.err


def with_gate(plan: Plan, name: str, value: object) -> Any:
    """First wave with another value in its gate."""
    wave = plan.waves[0]
    return wave.model_copy(update={"gate": wave.gate.model_copy(update={name: value})})


def test_a_window_shorter_than_a_wave_covers_no_gate(
    planned: Callable[..., tuple[Path, str]],
) -> None:
    file, _ = planned(BOTH, f'window: "{NOW:%H:%M}-{NOW + timedelta(minutes=3):%H:%M}"')
    plan = read_plan(file)
    assert [wave.gate.uncovered for wave in plan.waves] == [(), ()]  # a lab's timers run faster
    slow = covered_in_window(plan, 1)
    for wave in slow.waves:
        (why,) = wave.gate.uncovered
        assert re.fullmatch(r"it may take \d+ s, and rdma.window \S+ is 180 s", why)
