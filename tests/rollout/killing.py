"""Controllers that are killed while they work: real processes, real SSH, real switches' CLIs.

A lab process runs the emulated switches and writes what each was told and did (`--log`). A
controller process, `rocefort apply` or `resume`, is killed by SIGKILL at an instant that a seed
draws, then another takes over, until one comes to its end. The verdict is drawn from the
switches' own log; the tool's journal is read only to ask whether every act was meant.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rocefort.lab.deeds import GONE, Deed, read_deeds

ROCEFORT = Path(sys.executable).with_name("rocefort")
READY = "Ctrl-C ends the lab"
PATIENCE_S = 240.0
QUIET_S = 0.1  # for what a killed controller had sent, and for the end of its sessions
MOST_LIVES = 60
TRIAL_S = 60  # the shortest there is
MAX_UNAVAILABLE = 2
WORDS_OF = {  # which intents an act of a switch may follow
    "load": {"load"},
    "trial": {"trial"},
    "confirm": {"confirm"},
    "save": {"save"},
    "back": {"abort"},
    "clear": {"abort", "load", "trial"},
}


def rocefort(*words: object) -> str:
    """Run a command to its end; gives what it printed."""
    command = [str(ROCEFORT), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def small_fabric(directory: Path) -> tuple[Path, Path]:
    """Two spines and four leaves, as they are and as they shall be; nothing is drained."""
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
        ("trial_s: 600", f"trial_s: {TRIAL_S}"),
        ("max_unavailable: 1", f"max_unavailable: {MAX_UNAVAILABLE}\n  drain: false"),
    ):
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    old.write_text(text, encoding="utf-8")
    new = old.with_name("raised.yaml")
    new.write_text(text.replace("xoff_kbytes: 600", "xoff_kbytes: 640"), encoding="utf-8")
    return old, new


@contextmanager
def lab_process(fabric: Path, state: Path, *options: str) -> Iterator[None]:
    """A lab of its own process; it lives on whatever happens to controllers."""
    state.mkdir(parents=True)
    words = ["lab", "cli", str(fabric), "--state", str(state), "--log", str(state / "deeds")]
    with (state / "out").open("w+") as out:
        lab = subprocess.Popen([str(ROCEFORT), *words, *options], stdout=out, stderr=out)
        try:
            wait_for(lambda: READY in (state / "out").read_text(), lab)
            yield
        finally:
            lab.terminate()
            lab.wait(timeout=PATIENCE_S)


def wait_for(ready: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Wait until something is so; a process that ended meanwhile fails."""
    until = time.monotonic() + PATIENCE_S
    while not ready():
        assert process.poll() is None, "the lab ended"
        assert time.monotonic() < until, "the lab is not ready"
        time.sleep(0.05)


@dataclass(frozen=True)
class Instant:
    """When a controller is killed: after a time, or after so many rows or deeds of the switches."""

    kind: str  # time, row, deed
    count: int = 0
    delay_s: float = 0.0


def drawn(chance: random.Random) -> Instant:
    """An instant; most of them while switches are being changed."""
    kind = chance.choices(["time", "row", "deed"], [1, 3, 5])[0]
    if kind == "time":
        return Instant(kind, delay_s=chance.uniform(0, 2.5))
    return Instant(kind, chance.randint(1, 120 if kind == "row" else 9), chance.uniform(0, 0.02))


@dataclass
class Watch:
    """Counts rows of the switches' log as they come."""

    log: Path
    place: int = 0
    rows: int = 0
    deeds: int = 0
    states: dict[str, tuple[object, ...]] = field(default_factory=dict)

    def look(self) -> None:
        """Take up what came since the last look."""
        with self.log.open("rb") as file:
            file.seek(self.place)
            new = file.read()
        whole = new[: new.rfind(b"\n") + 1]
        self.place += len(whole)
        for line in whole.splitlines():
            deed = Deed(**json.loads(line))
            self.rows += 1
            self.deeds += deed.state != self.states.get(deed.switch, deed.state)
            self.states[deed.switch] = deed.state

    def reached(self, instant: Instant, since_s: float) -> bool:
        """Whether a controller has come to its instant."""
        if instant.kind == "time":
            return since_s >= instant.delay_s
        self.look()
        return (self.rows if instant.kind == "row" else self.deeds) >= instant.count


@dataclass
class Site:
    """One lab, one plan, and the controllers that carry it out one after the other."""

    state: Path
    plan: Path
    kills: list[str] = field(default_factory=list)  # what was under way at each

    @property
    def journal(self) -> Path:
        return self.state / "journal"

    def deeds(self) -> list[Deed]:
        return read_deeds(self.state / "deeds")

    def rows(self) -> list[tuple[str, str, str, str]]:
        """The journal's rows (at, device, act, phase), of a copy: it is only looked at."""
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
        """Whether a run was begun that did not end."""
        runs = [phase for _, _, act, phase in self.rows() if act == "run"]
        return bool(runs) and runs[-1] == "intent"

    def life(self, instant: Instant | None) -> int | None:
        """One controller; gives its exit code, None where it was killed."""
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
                    assert since < PATIENCE_S, "a controller does not end"
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
        """What the last controller printed."""
        return (self.state / "told").read_text(encoding="utf-8")

    def carry_out(self, chance: random.Random, most_kills: int) -> int:
        """Let controllers die until there were enough kills or one ends well; gives the kills."""
        for done in range(MOST_LIVES):
            code = self.life(drawn(chance) if done < most_kills else None)
            if code is not None:
                assert code == 0, self.told()
                return done
            time.sleep(QUIET_S)
            deeds = self.deeds()
            self.kills.append(under_way(deeds))
            judge(deeds, self.waves(), self.rows())
        raise AssertionError("it does not come to its end")

    def waves(self) -> list[list[str]]:
        """Switches by wave, as the sealed plan has them."""
        plan = json.loads(self.plan.read_text(encoding="utf-8"))
        return [wave["devices"] for wave in plan["waves"]]


def under_way(deeds: list[Deed]) -> str:
    """What the switches were in when the controller died."""
    last = {deed.switch: deed for deed in deeds if deed.line != GONE}
    now = {deed.switch: deed for deed in deeds}
    if any(deed.left_s is not None for deed in last.values()):
        ran_on = any(deed.left_s is not None for deed in now.values())
        return "a trial ran on" if ran_on else "a trial ended with its session"
    if all(deed.line == "" for deed in last.values()):
        return "no switch had been reached"
    if any(deed.candidate for deed in last.values()):
        return "a patch was loaded"
    unsaved = any(deed.running != deed.saved for deed in last.values())
    return "a change was confirmed, not saved" if unsaved else "nothing was pending"


# --- the verdict ----------------------------------------------------------------------------------


def judge(deeds: list[Deed], waves: list[list[str]], rows: list[tuple[str, str, str, str]]) -> None:
    """Whether everything that the switches were told and did keeps the promises."""
    old: dict[str, str] = {}
    for deed in deeds:
        old.setdefault(deed.switch, deed.running)
    now: dict[str, Deed] = {}
    new: dict[str, str] = {}
    for deed in deeds:
        before = now.get(deed.switch, deed)
        whole(deed, old[deed.switch], new)
        kind = kind_of(before, deed)
        if kind and deed.line:
            meant(deed, kind, rows)
        if kind in {"load", "trial"}:
            barrier(deed, waves, now, new)
        now[deed.switch] = deed
        together([each.switch for each in now.values() if each.left_s is not None])


def whole(deed: Deed, old: str, new: dict[str, str]) -> None:
    """P1: old; or new; or new on a trial whose timer runs and brings the old back."""
    if deed.left_s is not None:
        new.setdefault(deed.switch, deed.running)
        assert deed.before == old and 0 <= deed.left_s <= TRIAL_S, deed
    assert deed.running in {old, new.get(deed.switch)}, deed
    assert deed.saved in {old, new.get(deed.switch)}, deed
    assert deed.left_s is None or deed.running != old, deed


def kind_of(before: Deed, deed: Deed) -> str:
    """What a switch has just done, by its states alone; empty: nothing that lasts."""
    if before.left_s is None and deed.left_s is not None:
        return "trial"
    if before.left_s is not None and deed.left_s is None:
        return "confirm" if before.running == deed.running else "back"
    if before.saved != deed.saved:
        return "save"
    if before.candidate != deed.candidate:
        return "load" if deed.candidate else "clear"
    assert before.running == deed.running, deed  # nothing else may change what runs
    return ""


def meant(deed: Deed, kind: str, rows: list[tuple[str, str, str, str]]) -> None:
    """P3: the newest word on a switch, when it was told to act, was the intent of that act."""
    if deed.line == GONE:
        return  # nobody's act: the controller died
    own = [row for row in rows if row[1] == deed.switch and row[0] <= deed.at]
    assert own, deed
    _, _, act, phase = own[-1]
    assert phase == "intent", (deed, own[-3:])
    assert act in WORDS_OF[kind], (deed, own[-3:])


def barrier(deed: Deed, waves: list[list[str]], now: dict[str, Deed], new: dict[str, str]) -> None:
    """P2: no wave begins before all of the earlier ones run what is new, confirmed and saved."""
    mine = next(i for i, wave in enumerate(waves) if deed.switch in wave)
    for switch in (each for wave in waves[:mine] for each in wave):
        earlier = now[switch]
        assert earlier.left_s is None, (deed, earlier)
        assert earlier.running == earlier.saved == new.get(switch), (deed, earlier)


def together(unconfirmed: list[str]) -> None:
    """P2: never more than may be, and a spine alone."""
    assert len(unconfirmed) <= MAX_UNAVAILABLE, unconfirmed
    spines = [name for name in unconfirmed if name.startswith("spine")]
    assert not spines or len(unconfirmed) == 1, unconfirmed


def judge_end(deeds: list[Deed], intended: dict[str, str]) -> None:
    """All run what is intended, confirmed and saved, and nobody's candidate is left."""
    last = {deed.switch: deed for deed in deeds}
    for name, deed in last.items():
        assert deed.running == deed.saved == intended[name], deed
        assert deed.left_s is None and not deed.candidate, deed


def counted(kills: list[str]) -> str:
    """How often what was under way."""
    return ", ".join(f"{count} where {what}" for what, count in sorted(Counter(kills).items()))
