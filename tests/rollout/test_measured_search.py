"""`tune measure`: one trial a candidate on the canary leaf, which ends at the values that it had.

The servers replay a judge: their rates follow from the xoff that the leaf runs at that moment.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from rocefort.base.errors import BadInput, DeviceFailed, Refused
from rocefort.change.edit import read_fabric
from rocefort.design.derive.derive import derive
from rocefort.design.subject import subject_of_derived
from rocefort.dialects.vrp.text.config_tree import tree_text
from rocefort.emulator.emulated_site import Rehearsal, rehearse
from rocefort.emulator.options import LabOptions
from rocefort.emulator.servers.sandbox import RdmaRoot, write_servers
from rocefort.fleet.connections import Connections
from rocefort.fleet.running_configs import running_of
from rocefort.rollout.controller.napalm_switches import NapalmSwitches
from rocefort.tune.measure import (
    MeasureRequest,
    approved_window,
    measure,
    measured_costs,
    measured_ratios,
    with_verdict,
)
from rocefort.tune.model import MeasuredFigures, MeasuredSearch, MeasuredTrial
from rocefort.tune.run import SearchRequest

CANARY = "leaf002"
SERVERS = ("leaf001-s01", "leaf001-s02", "leaf001-s03", "leaf002-s01")
LIMITED = "rdma:\n  rate_limit_gbps: 20\n"  # less than a third of the receiver's port
HOUR = timedelta(hours=1)
HANGS_S = 900  # a loaded machine takes minutes for what takes seconds
Command = Callable[..., Any]


def window(first: int, last: int) -> str:
    """Window by hours from now."""
    now = datetime.now(UTC).astimezone()
    return f"{now + first * HOUR:%H:%M}-{now + last * HOUR:%H:%M}"


def opened(window: str) -> str:
    """Key of a fabric.yaml with its window."""
    return f"rollout:\n  tuning_window: {window}\n"


@pytest.fixture
def open_window() -> str:
    """Window that is open now; the module was imported long before a late test."""
    return window(-1, 1)


@pytest.fixture
def fabric(tmp_path: Path, command: Command, open_window: str) -> Path:
    """A small fabric whose window is open."""
    sizes = ("--spines", "2", "--leaves", "2", "--servers-per-leaf", "3")
    assert command("new", "small", *sizes, "--directory", tmp_path).code == 0
    file: Path = tmp_path / "small/fabric.yaml"
    text = file.read_text(encoding="utf-8")
    text = text.replace("rollout:\n", opened(open_window)).replace("rdma:\n", LIMITED)
    file.write_text(text, encoding="utf-8")
    return file


def share_of(xoff_kbytes: float) -> float:
    """Part of its speed that a server gives."""
    return 0.5 if xoff_kbytes == 600 else 0.9 if xoff_kbytes == 128 else 0.6


@dataclass
class Judge:
    """Server whose speed follows from the xoff of the canary leaf."""

    root: RdmaRoot
    lab: Rehearsal
    roots: dict[str, RdmaRoot]
    seen: list[int]

    def allows(self, command: str | None) -> bool:
        return self.root.allows(command)

    async def serve(self, command: str, process: Any) -> None:
        found = re.search(r"xoff static (\d+)", tree_text(self.lab.switches[CANARY].running))
        assert found is not None
        xoff = int(found[1])
        self.seen.append(xoff)
        share = share_of(xoff)
        shares = {name: replace(root, share=share) for name, root in self.roots.items()}
        part = self.root.wire.with_name("next")
        write_servers(part, shares)  # at once: another program may be reading
        (part / "servers.json").replace(self.root.wire / "servers.json")
        await self.root.serve(command, process)


@dataclass
class Bench:
    """A lab with its judge."""

    lab: Rehearsal
    fabric: Path
    access: Connections
    seen: list[int]

    def measure(self, **more: Any) -> MeasuredSearch:
        folder = self.fabric.parents[1]
        search = SearchRequest(
            fabric=self.fabric,
            objective="latency",
            method="annealing",
            evaluations=12,
            workers=1,
            results=folder / "results",
        )
        keys: dict[str, Any] = {"trials": 2, "duration_s": 4, "history": folder / "tuning.db"}
        request = MeasureRequest(search, SERVERS, **(keys | more))
        return measure(request, self.access, lambda _: None)

    @property
    def runs(self) -> str:
        return tree_text(self.lab.switches[CANARY].running)


@pytest.fixture
def bench(fabric: Path, tmp_path: Path) -> Iterator[Bench]:
    """The small fabric as a lab whose servers run emulated perftest."""
    derived = derive(fabric)
    texts = subject_of_derived(derived).texts
    options = LabOptions(keep=True, time_scale=10)
    with rehearse(derived.network, texts, tmp_path / "lab", options) as lab:
        seen: list[int] = []
        roots = dict(lab.hosts.settings)
        lab.hosts.settings = {n: Judge(root, lab, roots, seen) for n, root in roots.items()}  # type: ignore[arg-type]
        access = lab.connections.model_copy(update={"speed_note": ""})
        yield Bench(lab, fabric, access, seen)


def test_the_choice_is_what_servers_measured_and_the_leaf_is_as_before(bench: Bench) -> None:
    before = bench.runs
    result = bench.measure(write=True)
    assert [trial.problem for trial in (*result.today, *result.trials)] == [""] * 4
    assert result.noise_percent == 0
    tried = {trial.name: trial.values["xoff_kbytes"] for trial in result.trials}
    assert set(bench.seen) == {600, *map(int, tried.values())}
    for trial in result.trials:
        faster = share_of(trial.values["xoff_kbytes"])
        assert trial.ratios["goodput"] == pytest.approx(faster / share_of(600), rel=0.01)
    best = max(result.trials, key=lambda trial: trial.ratios["goodput"] or 0)
    assert tried[result.chosen] == best.values["xoff_kbytes"]
    assert bench.runs == before
    switch = bench.lab.switches[CANARY]
    assert switch.trial is None
    assert not any(switch.dirty(session) for session in switch.logins)
    others = [each for name, each in bench.lab.switches.items() if name != CANARY]
    assert all(each.saved == each.running for each in others)
    written = derive(bench.fabric)
    assert written.lossless.xoff_kbytes == tried[result.chosen]
    source = written.fabric.profiles.lossless["tuned-latency"].sources["xoff_kbytes"]
    assert source.endswith(f", measured on {CANARY}")


def test_replayed_figures_choose_nothing(bench: Bench) -> None:
    bench.access = bench.lab.connections
    result = bench.measure(trials=1)
    assert result.trials[0].figures is not None
    assert result.chosen == ""
    assert result.verdict == (
        "nothing is chosen, because ECN and PFC act in switches and NICs, which are not here: "
        "emulated servers, figures of a model: correctness is judged, speed is not"
    )


def test_a_measurement_that_fails_ends_the_trial(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = bench.runs
    check = NapalmSwitches.check

    def refused(self: NapalmSwitches, *arguments: Any) -> Any:
        assert bench.runs != before, "the trial runs"
        check(self, *arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(NapalmSwitches, "check", refused)
    with pytest.raises(KeyboardInterrupt):
        bench.measure(trials=1)
    assert bench.runs == before
    assert bench.lab.switches[CANARY].trial is None


def test_a_leaf_that_does_not_return_is_an_error(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NapalmSwitches, "abort", lambda *_: {})
    with pytest.raises(DeviceFailed, match="its trial's timer restores them within 700 s"):
        bench.measure(trials=1)


def test_a_leaf_that_runs_something_else_is_not_touched(bench: Bench) -> None:
    text = bench.fabric.read_text(encoding="utf-8").replace("xoff_kbytes: 600", "xoff_kbytes: 640")
    bench.fabric.write_text(text, encoding="utf-8")
    before = bench.runs
    with pytest.raises(Refused, match="it does not run what the fabric intends"):
        bench.measure(trials=1)
    assert bench.runs == before


def test_bounds_end_the_measurements(bench: Bench) -> None:
    result = bench.measure(minutes=0.1)
    assert result.verdict == "today's values were not measured"
    problems = {trial.problem for trial in (*result.today, *result.trials)}
    assert problems == {"not begun: it would end after 0.1 minutes"}
    assert bench.seen == []


def test_a_receiver_must_be_behind_the_canary_leaf(bench: Bench) -> None:
    with pytest.raises(BadInput, match=f"no server that may be loaded is behind .* {CANARY}"):
        bench.measure(target="leaf001-s01")


def test_a_canary_leaf_with_a_profile_of_its_own_is_not_measured(bench: Bench) -> None:
    text = bench.fabric.read_text(encoding="utf-8")
    named = text.replace(f"name: {CANARY}\n", f"name: {CANARY}\n    lossless: heps-like\n", 1)
    bench.fabric.write_text(named, encoding="utf-8")
    with pytest.raises(Refused, match=f"{CANARY} has a lossless profile of its own .heps-like."):
        bench.measure()
    assert bench.seen == []


# --- the window -----------------------------------------------------------------------------------


def test_no_window_no_trial(fabric: Path, open_window: str) -> None:
    assert approved_window(read_fabric(fabric, "")) == open_window
    text = fabric.read_text(encoding="utf-8")
    fabric.write_text(text.replace(opened(open_window), "rollout:\n"), encoding="utf-8")
    with pytest.raises(Refused, match="approves no window in which thresholds are tried"):
        approved_window(read_fabric(fabric, ""))


def test_outside_the_window_nothing_is_tried(fabric: Path, open_window: str) -> None:
    shut = window(3, 4)
    text = fabric.read_text(encoding="utf-8")
    fabric.write_text(text.replace(open_window, shut), encoding="utf-8")
    with pytest.raises(Refused, match=f"thresholds are tried {shut}"):
        approved_window(read_fabric(fabric, ""))


def test_outside_the_window_of_rdma_no_server_is_loaded(fabric: Path) -> None:
    shut = window(3, 4)
    text = fabric.read_text(encoding="utf-8")
    fabric.write_text(text.replace(LIMITED, f"{LIMITED}  window: {shut}\n"), encoding="utf-8")
    search = SearchRequest(fabric=fabric, objective="latency", method="annealing")
    nowhere = Connections(known_hosts=fabric, devices=())
    with pytest.raises(Refused, match=f"and RDMA tests run {shut}; wait for the window"):
        measure(MeasureRequest(search, SERVERS), nowhere, lambda _: None)


def test_a_window_that_is_not_committed_is_not_approved(fabric: Path, open_window: str) -> None:
    def git(*words: str) -> None:
        author = ("-c", "user.name=Me", "-c", "user.email=me@example.com")
        subprocess.run(["git", *author, *words], cwd=fabric.parent, check=True)

    text = fabric.read_text(encoding="utf-8")
    fabric.write_text(text.replace(opened(open_window), "rollout:\n"), encoding="utf-8")
    git("init", "--quiet")
    git("add", "fabric.yaml")
    git("commit", "--quiet", "--message", "First fabric")
    fabric.write_text(text, encoding="utf-8")
    with pytest.raises(Refused, match="the window is not committed"):
        approved_window(read_fabric(fabric, ""))
    git("commit", "--quiet", "--all", "--message", "Window")
    assert approved_window(read_fabric(fabric, "")) == open_window
    copy = fabric.with_name("copy.yaml")
    copy.write_text(text, encoding="utf-8")
    with pytest.raises(Refused, match="the window is not committed"):
        approved_window(read_fabric(copy, ""))


# --- judging --------------------------------------------------------------------------------------


def figures(gbps: float, slowest: float = 30) -> MeasuredFigures:
    return MeasuredFigures(goodput_gbps=gbps, median_gbps=30, slowest_gbps=slowest, pauses=0)


def judged_of(again: float, *trials: float) -> MeasuredSearch:
    names = (MeasuredTrial(name="today", values={}, figures=figures(g)) for g in (90, again))
    tried = (
        MeasuredTrial(name=f"candidate {n}", values={}, figures=figures(gbps))
        for n, gbps in enumerate(trials, 1)
    )
    bare = MeasuredSearch(
        search="small",
        objective="throughput",
        canary=CANARY,
        target="b",
        senders=("a",),
        window="",
        trial_s=60,
        today=tuple(names),
        trials=tuple(tried),
        noise_percent=None,
        chosen="",
        verdict="",
        not_measured=(),
    )
    return with_verdict(bare, "")


def test_a_candidate_is_chosen_if_it_is_better_by_more_than_the_noise() -> None:
    assert judged_of(90, 90.5).chosen == ""
    assert judged_of(90, 93, 92).chosen == "candidate 1"
    noisy = judged_of(85, 93)
    assert noisy.chosen == ""
    assert noisy.noise_percent == pytest.approx(100 * (90 / 85 - 1), rel=0.01)
    assert noisy.verdict == "no candidate is better by more than today's values vary, and 1 %"


def test_ratios_are_figures_by_todays_and_costs_are_below_one_for_what_is_better() -> None:
    own, today = figures(90, 20), figures(60, 30)
    assert measured_ratios(own, today) == {
        "goodput": pytest.approx(own.goodput_gbps / today.goodput_gbps),
        "median sender": pytest.approx(own.median_gbps / today.median_gbps),
        "slowest sender": pytest.approx(2 / 3),
        "pauses": 1,
    }
    costs = measured_costs(own, today)
    assert costs["goodput"] == pytest.approx(2 / 3)
    assert costs["completion p99"] == 1.5
    some = own.model_copy(update={"pauses": 4})
    assert measured_ratios(some, today)["pauses"] is None
    assert measured_ratios(today, some)["pauses"] == 0


# --- a dead tuner ---------------------------------------------------------------------------------


@contextmanager
def on_trial(bench: Bench, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Process that measures, with a candidate on trial; it ends with the test."""
    words = ("tune", "measure", bench.fabric, "--connections", bench.lab.file, "--trials", "1")
    quick = ("--method", "annealing", "--evaluations", "3", "--results", folder / "results")
    load = ("--servers", ",".join(SERVERS), "--history", folder / "tuning.db")
    command = [sys.executable, "-m", "rocefort", *words, *quick, *load]
    with subprocess.Popen(list(map(str, command)), cwd=folder, stdout=subprocess.DEVNULL) as tuner:
        try:
            switch, began = bench.lab.switches[CANARY], time.monotonic()
            while switch.trial is None and tuner.poll() is None:
                assert time.monotonic() - began < HANGS_S
                time.sleep(0.1)
            assert switch.trial is not None
            yield tuner
        finally:
            tuner.kill()


@pytest.mark.thorough
def test_ctrl_c_ends_the_measurements_as_an_operators_stop(bench: Bench, tmp_path: Path) -> None:
    before = bench.runs
    with on_trial(bench, tmp_path) as tuner:
        tuner.send_signal(signal.SIGINT)
        assert tuner.wait(timeout=HANGS_S) == 5
    assert (bench.runs, bench.lab.switches[CANARY].trial) == (before, None)


@pytest.mark.thorough
def test_the_timer_restores_the_leaf_after_a_killed_tuner(bench: Bench, tmp_path: Path) -> None:
    before = bench.runs
    with on_trial(bench, tmp_path) as tuner:
        tuner.kill()
    assert bench.runs != before
    began = time.monotonic()
    while bench.runs != before and time.monotonic() - began < HANGS_S:
        time.sleep(5)
        running_of(bench.fabric, bench.lab.connections, None)  # a login: it ends an old trial
    assert bench.runs == before
