"""Benchmark of pages of 8 spines and 120 leaves in headless Chromium (`make bench`).

The pages of the fabric, of a plan that changes every switch, and of its rollout with all waves done.
Times are wall milliseconds with script, style and layout, without painting; the best of several.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from planned import begun, run_of, status_of, unreached, wave_events

from rocefort.design.derive.derive import derive
from rocefort.fleet.connections import save_connections
from rocefort.rollout.journal.events import ActPhase, RunEnded
from rocefort.rollout.journal.history import FINISHED
from rocefort.rollout.planning.sealed_files import read_plan
from rocefort.rollout.report.rollout_page import RolloutPageContent, rollout_page

COMMAND = Path(sys.executable).with_name("rocefort")
CHROMIUM = shutil.which("chromium")
LOAD_MS, KEY_MS, TIMES = 1500.0, 100.0, 3
FABRIC = ("--spines", "8", "--leaves", "120", "--servers-per-leaf", "4")
# Types into each field, one key after the other, and takes the slowest key.
PROBE = """
addEventListener("load", () => {
  const laid = () => document.body.offsetHeight;
  const figures = { "load": (laid(), performance.now()) };
  const fields = FIELDS;
  for (const [name, selector] of Object.entries(fields)) {
    const field = document.querySelector(selector);
    figures[name] = Math.max(...["l", "le", "leaf11", "leaf119", ""].map((words) => {
      const begin = performance.now();
      field.value = words;
      field.dispatchEvent(new Event("input", { bubbles: true }));
      laid();
      return performance.now() - begin;
    }));
  }
  const zoom = document.querySelector("[data-zoom=in]"), begin = performance.now();
  if (zoom) {
    zoom.click();
    laid();
    figures.zoom = performance.now() - begin;
  }
  figures.elements = document.querySelectorAll("*").length;
  const output = document.createElement("pre");
  output.id = "figures";
  output.textContent = JSON.stringify(figures);
  document.body.append(output);
});
"""


FIELDS = {
    "report": {
        "find": "#find",
        "path": "#source",
        "findings of a device": "#filter [name=device]",
        "table of addresses": "[data-search=addresses]",
        "configuration": "#config-search",
    },
    "plan": {"table of waves": "[data-search=waves]"},
    "rollout": {"table of events": "[data-search=events]"},
}


def main() -> None:
    """Print the figures."""
    if CHROMIUM is None:
        print("\npages: not measured; no chromium")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages = {"report": report(folder), **plan_and_rollout(folder)}
        for kind, page in pages.items():
            size = page.stat().st_size
            add_probe(page, PROBE.replace("FIELDS", json.dumps(FIELDS[kind])))
            print_figures(kind, size, [measured(page, folder / "profile") for _ in range(TIMES)])


def print_figures(kind: str, size: int, runs: list[dict[str, float]]) -> None:
    """Print the best figures of one page."""
    best = {key: min(run[key] for run in runs) for key in runs[0]}
    count = best.pop("elements")
    print(f"\n{kind} page of 8 x 120: {size / 1e6:.2f} MB, {count:.0f} elements")
    for key, figure in best.items():
        bar = LOAD_MS if key == "load" else KEY_MS
        word = "held" if figure <= bar else "MISSED"
        print(f"{key:<28} {figure:8.0f} ms   (bar {bar:.0f}, {word})")


def report(folder: Path) -> Path:
    """Write the page of the fabric."""
    rocefort("new", "big", *FABRIC, "--directory", folder)
    rocefort("report", folder / "big", "--out", folder)
    return folder / "index.html"


def plan_and_rollout(folder: Path) -> dict[str, Path]:
    """Write the pages of a plan of another threshold, and of its rollout."""
    fabric, texts = folder / "big" / "fabric.yaml", folder / "texts"
    rocefort("render", fabric, "--out", texts)
    text = fabric.read_text(encoding="utf-8")
    fabric.write_text(text.replace("xoff_kbytes: 600", "xoff_kbytes: 640"), encoding="utf-8")
    connections, sealed = folder / "connections.yaml", folder / "plan.json"
    save_connections(unreached(derive(fabric).network), connections)
    pages = {kind: folder / f"{kind}.html" for kind in ("plan", "rollout")}
    words = ("--connections", connections, "--running", texts, "--out", sealed)
    rocefort("plan", fabric, *words, "--html", pages["plan"])
    plan = read_plan(sealed)
    events = [event for wave in plan.waves for event in wave_events(plan, wave)]
    end = RunEnded(phase=ActPhase.DONE, ended=FINISHED)
    status = status_of(plan, run_of(plan, begun(), *events, end), FINISHED)
    before = time.process_time()
    page = rollout_page(RolloutPageContent(status, [str(sealed)]))
    print(f"\nrollout page of {len(events)} events written in {time.process_time() - before:.2f} s")
    pages["rollout"].write_text(page, encoding="utf-8")
    return pages


def rocefort(*words: str | Path) -> None:
    """Run a command."""
    subprocess.run([COMMAND, *words], check=True, stdout=subprocess.DEVNULL)


def add_probe(page: Path, probe: str) -> None:
    """Add a probe to the page, and its digest to the security policy of the page."""
    text = page.read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(probe.encode()).digest()).decode()
    text = text.replace("script-src '", f"script-src 'sha256-{digest}' '")
    page.write_text(text.replace("</head>", f"<script>{probe}</script></head>"), encoding="utf-8")


def measured(page: Path, profile: Path) -> dict[str, float]:
    """Open the page in a new browser; return the figures of the probe."""
    shutil.rmtree(profile, ignore_errors=True)
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000")
    done = subprocess.run(
        [str(CHROMIUM), *options, f"--user-data-dir={profile}", "--dump-dom", page.as_uri()],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    match = re.search(r'<pre id="figures">(.*?)</pre>', done.stdout)
    if match is None:
        raise SystemExit("the page did not finish")
    figures: dict[str, float] = json.loads(html.unescape(match[1]))
    return figures


if __name__ == "__main__":
    main()
