"""Cost of a review of 500 switches, in a repository like a site's, with one branch per change.

`reviews.py` prints the lines. CPU seconds are of the whole command, including git, on a copy of the
application whose inventory also has the bench's spine. They are printed as measured, and as scaled
to the quiet machine of the bars. The failure sweep has a separate line: by default, a review
studies no fabric of this size.
"""

from __future__ import annotations

import compileall
import os
import resource
import runpy
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rocefort.base.repository import ROOT

SLOWNESS = runpy.run_path(str(Path(__file__).with_name("calibration.py")))["slowness"]
FLOW = runpy.run_path(str(Path(__file__).with_name("flow.py")))
SWITCHES, FABRIC, MARKDOWN_BAR = 500, "inventory/bench/fabric.yaml", 60_000
APPLICATION = ("rocefort", "models", "validators", "napalm_cloudengine", "templates", "tasks.py")
START = "from rocefort.tasks import app; app()"
CARD, SLOTS = "BENCH-32CQ", range(1, 17)
TIMES = 2  # runs; the best counts, because other work shares the machine
WHOLE = 500  # leaves with reserved addresses and ports: at least one more than the fabric has
LEAF = 250  # the leaf that changes


@dataclass(frozen=True)
class Reviewed:
    """Result of one review: CPU seconds, slowness of the machine, and output."""

    seconds: float
    slowness: float
    characters: int

    @property
    def quiet(self) -> float:
        """CPU seconds on the quiet machine of the bars."""
        return self.seconds / self.slowness


@dataclass(frozen=True)
class Case:
    """A change, its branch, and its bar in CPU seconds."""

    name: str
    branch: str
    make: Callable[[Path], None]
    bar: float


def main() -> None:
    """Print a line for each change, and one for the failure sweep."""
    with tempfile.TemporaryDirectory() as directory:
        site = Path(directory) / "site"
        set_up(site)
        print(f"\nreview of {SWITCHES} switches     measured CPU   quiet CPU         Markdown")
        for case in CASES:
            branch(site, case)
            done = min((review(site, case.branch) for _ in range(TIMES)), key=lambda r: r.seconds)
            print(f"{case.name:<28} {done.seconds:6.2f} s    {done.quiet:6.2f} s "
                  f"{done.characters:7} characters   "
                  f"(bars {case.bar:g} s, {MARKDOWN_BAR}: {_verdict(done.quiet, case.bar)}, "
                  f"{_verdict(done.characters, MARKDOWN_BAR)}; the machine is "
                  f"{done.slowness:.2f} times as slow)", flush=True)  # fmt: skip
            if case is CASES[0]:
                without = done
        swept = review(site, CASES[0].branch, "--failures", "single")
        print(
            f"{'every failure, both sides':<28} {swept.seconds - without.seconds:6.2f} s    "
            f"{swept.quiet - without.quiet:6.2f} s more   (only where it is asked for)"
        )


def set_up(site: Path) -> None:
    """Copy the application, add the bench's hardware and fabric, and commit it as `main`."""
    away = shutil.ignore_patterns("__pycache__")
    for name in APPLICATION:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, site / name, symlinks=True, ignore=away)
        else:
            shutil.copy2(source, site / name)
    for name in ("hardware", "profiles"):
        shutil.copytree(ROOT / "inventory" / name, site / "inventory" / name)
    _write_hardware(site / "inventory" / "hardware")
    data: dict[str, Any] = yaml.safe_load(FLOW["fabric_text"](SWITCHES))
    data["capacity"]["leaves"] = WHOLE
    (site / FABRIC).parent.mkdir()
    (site / FABRIC).write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    (site / ".gitignore").write_text("__pycache__/\nreview/\n", encoding="utf-8")
    compileall.compile_dir(site, quiet=1)  # as in an installed application
    _git(site, "init", "--quiet", "--initial-branch=main")
    _commit(site)


def _write_hardware(directory: Path) -> None:
    """Write a fictitious spine with a port for every leaf: 16 cards of 32 ports."""
    card = {
        "manufacturer": "Huawei",
        "model": CARD,
        "interfaces": [
            {"name": f"100GE{{module}}/0/{n}", "type": "100gbase-x-qsfp28"} for n in range(1, 33)
        ],
        "rocefort": {"source": "fictitious"},
    }
    spine: dict[str, Any] = yaml.safe_load((directory / "ce9860-4c-ei.yaml").read_text())
    slots = [str(n) for n in SLOTS]
    spine |= {"model": FLOW["SPINE_MODEL"], "slug": "bench-spine"}
    spine["module-bays"] = [{"name": f"Slot {slot}", "position": slot} for slot in slots]
    spine["rocefort"] |= {
        "cards": dict.fromkeys(slots, CARD),
        "fabric_ports": [f"100GE{slot}/0/1-32" for slot in slots],
    }
    for name, data in (("bench-spine", spine), ("cards/bench-32cq", card)):
        (directory / f"{name}.yaml").write_text(yaml.safe_dump(data, sort_keys=False))


def branch(site: Path, case: Case) -> None:
    """Make a change on a separate branch, and commit it."""
    _git(site, "checkout", "--quiet", "-b", case.branch, "main")
    case.make(site)
    _commit(site)


def review(site: Path, head: str, *options: str) -> Reviewed:
    """Review a branch against `main`; findings are no failure."""
    words = ("review", FABRIC, "--base", "main", "--head", head, "--engine", "embedded", *options)
    slow = SLOWNESS()
    seconds = rocefort(site, *words)
    slow = (slow + SLOWNESS()) / 2
    return Reviewed(seconds, slow, len((site / "review" / "review.md").read_text(encoding="utf-8")))


def rocefort(site: Path, *words: str) -> float:
    """Run a command in a repository; count CPU seconds of it and of its children."""
    command = [sys.executable, "-c", START, *words]
    environment = {**os.environ, "PYTHONPATH": str(site)}
    before = _children()
    done = subprocess.run(
        command, cwd=site, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr)
    return _children() - before


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _one_device(site: Path) -> None:
    """Move a server to another port: routing is solved on both sides."""
    name, last = f"server{LEAF:04}-1", FLOW["SERVERS_PER_LEAF"] + 1
    _edit(site, f"name: {name}\n  leaf: leaf{LEAF:04}\n  port: 25GE1/0/1\n",
          f"name: {name}\n  leaf: leaf{LEAF:04}\n  port: 25GE1/0/{last}\n")  # fmt: skip


def _one_leaf(site: Path) -> None:
    like = f"leaf{LEAF:04}"
    rocefort(site, "expand", FABRIC, "--add-leaves", "1", "--like", like, "--servers", "8")


def _profile(site: Path) -> None:
    _edit(site, "xoff_kbytes: 600", "xoff_kbytes: 640")


def _edit(site: Path, old: str, new: str) -> None:
    file = site / FABRIC
    text = file.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise ValueError(old)
    file.write_text(text.replace(old, new), encoding="utf-8")


def _commit(site: Path) -> None:
    _git(site, "add", "--all")
    _git(site, "-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "--quiet",
         "--message", "bench")  # fmt: skip


def _git(site: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=site, check=True)


def _verdict(figure: float, bar: float) -> str:
    return "held" if figure <= bar else "MISSED"


CASES = (
    Case("one device", "one-device", _one_device, 10.0),
    Case("one leaf added by expand", "one-leaf", _one_leaf, 10.0),
    Case("a profile of all of them", "profile", _profile, 20.0),
)

if __name__ == "__main__":
    main()
