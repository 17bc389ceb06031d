"""Controllers killed during work: real processes, real SSH, emulated switch CLIs.

A lab process runs the emulated switches and writes the commands and results of each (`--log`). A
controller process, `rocefort apply` or `resume`, is killed by SIGKILL at an instant that a seed
draws, then another takes over, until one comes to its end; where a spine was drained then, it may
get an abort first. The verdict is drawn from the switches' own log (judging_kills.py).
"""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from judging_kills import Judge

from rocefort.base.errors import ExitCode
from rocefort.emulator.switch.audit_log import AuditRecord, read_audit_log

ROCEFORT = Path(sys.executable).with_name("rocefort")
READY = "Ctrl-C ends the lab"
PATIENCE_S = 240.0  # at the fastest scale
QUIET_S = 0.1  # for what a killed controller had sent, and for the end of its sessions
MOST_LIVES = 60
SCALES = (20, 10, 5)  # of the lab's clock: a trial of 600 s lasts half a minute, or longer
RAN_OUT = re.compile(r"within the \d+ s that its trial leaves|are left of its trial|"
                     r"its trial ended before it was confirmed")  # fmt: skip
TRIAL_S, SETTLE_S = 600, 30
MAX_UNAVAILABLE = 2
ABORTED = 0.5  # share of those that die while a spine is drained and then get an abort


class TooSlow(Exception):  # noqa: N818 - no error of the product
    """A trial ran out during its checks: this machine needs a slower clock of the lab."""


def rocefort(*words: object) -> str:
    """Run a command to its end; returns its output."""
    command = [str(ROCEFORT), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def small_fabric(directory: Path, *, drain: bool) -> tuple[Path, Path]:
    """Two spines and four leaves, with their present and their intended fabric."""
    rocefort("new", "trial", "--spines", 2, "--leaves", 4, "--directory", directory)
    old = directory / "trial" / "fabric.yaml"
    text = old.read_text(encoding="utf-8")
    for number in range(1, 5):
        text = text.replace(
            f"    name: leaf00{number}\n", f"    name: leaf00{number}\n    rack: a\n"
        )
    servers = "".join(
        f"  - name: host{n}\n    leaf: leaf00{n}\n    port: 100GE1/0/1\n    segment: compute\n"
        for n in range(1, 5)
    )
    for before, after in (
        ("security:\n", f"servers:\n{servers}\nsecurity:\n"),
        ("trial_s: 600", f"trial_s: {TRIAL_S}\n  settle_s: {SETTLE_S}"),
        (
            "max_unavailable: 1",
            f"max_unavailable: {MAX_UNAVAILABLE}\n  drain: {str(drain).lower()}",
        ),
    ):
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    old.write_text(text, encoding="utf-8")
    new = old.with_name("raised.yaml")
    new.write_text(text.replace("xoff_kbytes: 600", "xoff_kbytes: 640"), encoding="utf-8")
    return old, new


@contextmanager
def lab_process(fabric: Path, state: Path, scale: int, *options: str) -> Iterator[None]:
    """Lab in a separate process, which outlives the controllers."""
    state.mkdir(parents=True)
    words = ["lab", "cli", str(fabric), "--state", str(state), "--log", str(state / "deeds")]
    words += ["--time-scale", str(scale)]
    with (state / "out").open("w+") as out:
        lab = subprocess.Popen([str(ROCEFORT), *words, *options], stdout=out, stderr=out)
        try:
            wait_for(lambda: READY in (state / "out").read_text(), lab)
            yield
        finally:
            lab.terminate()
            lab.wait(timeout=PATIENCE_S)


def wait_for(ready: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Wait for a condition; fail if a process ended meanwhile."""
    until = time.monotonic() + PATIENCE_S
    while not ready():
        assert process.poll() is None, "the lab ended"
        assert time.monotonic() < until, "the lab is not ready"
        time.sleep(0.05)


@dataclass(frozen=True)
class Instant:
    """Instant of a kill: after a time, or after a number of rows or acts of the switches."""

    kind: str  # time, row, deed
    count: int = 0
    delay_s: float = 0.0


def drawn(chance: random.Random) -> Instant:
    """Draw an instant; most of them during changes of switches."""
    kind = chance.choices(["time", "row", "deed"], [1, 3, 5])[0]
    if kind == "time":
        return Instant(kind, delay_s=chance.uniform(0, 2.5))
    return Instant(kind, chance.randint(1, 120 if kind == "row" else 9), chance.uniform(0, 0.02))


def late(chance: random.Random) -> Instant:
    """Draw an instant during a spine's drain and change: the leaves take 16 acts, spines 24."""
    return Instant("deed", chance.randint(18, 39), chance.uniform(0, 0.02))


@dataclass
class Watch:
    """Counter of new rows of the switches' log."""

    log: Path
    place: int = 0
    rows: int = 0
    deeds: int = 0
    states: dict[str, tuple[object, ...]] = field(default_factory=dict)

    def look(self) -> None:
        """Count the rows since the last call."""
        with self.log.open("rb") as file:
            file.seek(self.place)
            new = file.read()
        whole = new[: new.rfind(b"\n") + 1]
        self.place += len(whole)
        for line in whole.splitlines():
            deed = AuditRecord(**json.loads(line))
            self.rows += 1
            self.deeds += deed.state != self.states.get(deed.switch, deed.state)
            self.states[deed.switch] = deed.state

    def reached(self, instant: Instant, since_s: float) -> bool:
        """Whether a controller has reached its instant."""
        if instant.kind == "time":
            return since_s >= instant.delay_s
        self.look()
        return (self.rows if instant.kind == "row" else self.deeds) >= instant.count


@dataclass
class Site:
    """One lab, one plan, and the successive controllers that apply it."""

    state: Path
    plan: Path
    scale: int
    kills: list[str] = field(default_factory=list)  # what was under way at each
    aborts: int = 0

    @property
    def journal(self) -> Path:
        return self.state / "journal"

    def deeds(self) -> list[AuditRecord]:
        return read_audit_log(self.state / "deeds")

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Rows of the journal (at, device, act, phase), read from a copy."""
        if not self.journal.is_file():
            return []
        copy = self.state / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        for file in self.state.glob("journal*"):
            if file.is_file():
                shutil.copy(file, copy)
        with closing(sqlite3.connect(copy / "journal")) as connection:
            if not connection.execute("select count(*) from sqlite_master").fetchone()[0]:
                return []  # killed before it had any table
            found = connection.execute("select at, device, act, phase from entry order by id")
            return found.fetchall()

    def unfinished(self) -> bool:
        """Whether there is an unfinished run."""
        runs = [phase for _, _, act, phase in self.rows() if act in ("apply", "resume", "end")]
        return bool(runs) and runs[-1] == "intent"

    def life(self, instant: Instant | None) -> int | None:
        """Run one controller; returns its exit code, None if it was killed."""
        words = [
            "resume" if self.unfinished() else "apply",
            str(self.plan),
            *("--connections", str(self.state / "connections.yaml")),
            *("--journal", str(self.journal)),
        ]
        watch = Watch(self.state / "deeds")
        watch.look()
        watch.rows = watch.deeds = 0
        began = time.monotonic()
        with (self.state / "told").open("w") as out:
            controller = subprocess.Popen([str(ROCEFORT), *words], stdout=out, stderr=out)
            try:
                while controller.poll() is None:
                    since = time.monotonic() - began
                    patience_s = PATIENCE_S * SCALES[0] / self.scale
                    assert since < patience_s, "a controller does not end"
                    if instant and watch.reached(instant, since):
                        if instant.kind != "time":
                            time.sleep(instant.delay_s)
                        break
                    time.sleep(0.002 if instant else 0.05)
            finally:
                controller.send_signal(signal.SIGKILL)  # nothing, where it has ended
                controller.wait()
        return None if controller.returncode == -signal.SIGKILL else controller.returncode

    def told(self) -> str:
        """Output of the last controller."""
        return (self.state / "told").read_text(encoding="utf-8")

    def carry_out(
        self,
        chance: random.Random,
        most_kills: int,
        judge: Judge,
        first: Sequence[Instant] = (),
    ) -> None:
        """Kill controllers until the required number is reached, or one ends well.

        first: when the first of them die. Raises TooSlow if a trial ran out, and was rolled back.
        """
        aborted, planned = False, iter(first)
        for _ in range(MOST_LIVES):
            instant = next(planned, None) or drawn(chance)
            code = self.life(instant if len(self.kills) < most_kills else None)
            if code == 0:
                assert not aborted, self.told()
                return
            if code is not None:
                deeds = self.deeds()
                judge(deeds, self.rows())
                judge.rest(deeds)
                if self.scale > SCALES[-1] and RAN_OUT.search(" ".join(self.told().split())):
                    raise TooSlow
                assert aborted and code == ExitCode.STOPPED, self.told()
                aborted = False  # the next controller begins a new run
                continue
            time.sleep(QUIET_S)
            deeds = self.deeds()
            self.kills.append(judge.under_way(deeds))
            judge(deeds, self.rows())
            if judge.drained(deeds) and not aborted and chance.random() < ABORTED:
                rocefort("abort", self.plan, "--journal", self.journal)
                aborted = True
                self.aborts += 1
        raise AssertionError("it does not come to its end")
