"""Benchmark of the report page of 8 spines and 120 leaves in headless Chromium (`make bench`).

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
from pathlib import Path

COMMAND = Path(sys.executable).with_name("rocefort")
CHROMIUM = shutil.which("chromium")
LOAD_MS, KEY_MS, TIMES = 1500.0, 100.0, 3
FABRIC = ("--spines", "8", "--leaves", "120", "--servers-per-leaf", "4")
# Types into each field, one key after the other, and takes the slowest key.
PROBE = """
addEventListener("load", () => {
  const laid = () => document.body.offsetHeight;
  const figures = { "load": (laid(), performance.now()) };
  const fields = { "find": "#find", "path": "#source", "findings of a device": "#filter [name=device]",
    "table of addresses": "[data-search=addresses]", "configuration": "#config-search" };
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
  const begin = performance.now();
  document.querySelector("[data-zoom=in]").click();
  laid();
  figures.zoom = performance.now() - begin;
  figures.elements = document.querySelectorAll("*").length;
  const output = document.createElement("pre");
  output.id = "figures";
  output.textContent = JSON.stringify(figures);
  document.body.append(output);
});
"""


def main() -> None:
    """Print the figures."""
    if CHROMIUM is None:
        print("\nreport page: not measured; no chromium")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rocefort("new", "big", *FABRIC, "--directory", folder)
        rocefort("report", folder / "big", "--out", folder)
        page = folder / "index.html"
        size = page.stat().st_size
        add_probe(page)
        runs = [measured(page, folder / "profile") for _ in range(TIMES)]
    best = {key: min(run[key] for run in runs) for key in runs[0]}
    count = best.pop("elements")
    print(f"\nreport page of 8 x 120: {size / 1e6:.2f} MB, {count:.0f} elements")
    for key, figure in best.items():
        bar = LOAD_MS if key == "load" else KEY_MS
        word = "held" if figure <= bar else "MISSED"
        print(f"{key:<28} {figure:8.0f} ms   (bar {bar:.0f}, {word})")


def rocefort(*words: str | Path) -> None:
    """Run a command."""
    subprocess.run([COMMAND, *words], check=True, stdout=subprocess.DEVNULL)


def add_probe(page: Path) -> None:
    """Add the probe to the page, and its digest to the security policy of the page."""
    text = page.read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(PROBE.encode()).digest()).decode()
    text = text.replace("script-src '", f"script-src 'sha256-{digest}' '")
    page.write_text(text.replace("</head>", f"<script>{PROBE}</script></head>"), encoding="utf-8")


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
