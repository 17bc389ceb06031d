"""Page of a real rollout: renewed while it runs, whole at its end, and never its cause to fail."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from rocefort.design.subject import write_files
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.emulator.switch.personality import LineFault
from rocefort.models.change.plan import Plan
from rocefort.rollout.apply import pages
from rocefort.rollout.planning.sealed_files import write_plan

Command = Callable[..., Any]
PlanOf = Callable[[Path], Plan]
ROCEFORT = Path(sys.executable).with_name("rocefort")
CHROMIUM = Path("/usr/bin/chromium")
# Looks at the page in its frame until the rollout has ended; scrolls it once.
FRAME = """<!DOCTYPE html><body><iframe src="page.html" style="width:1000px;height:600px"></iframe>
<script>
const frame = document.querySelector("iframe");
let scrolled = false, last = "";
setInterval(() => {
  const page = frame.contentDocument, view = frame.contentWindow;
  const head = page && page.readyState === "complete" && page.querySelector("h1 .verdict");
  if (!head) return;
  if (!scrolled && page.documentElement.scrollHeight > 900) { view.scrollTo(0, 200); scrolled = true; }
  const now = JSON.stringify({ verdict: head.textContent, top: Math.round(view.scrollY),
    done: page.querySelector(".sizes").textContent.split(" ")[0],
    rows: page.querySelectorAll("[data-table=events] tbody tr").length });
  if (now !== last) fetch("ADDRESS", { method: "POST", mode: "no-cors", body: now });
  last = now;
}, 100);
</script></body>"""

OWN = "none (policy of the fabric itself: git has no earlier version of it)"


@pytest.fixture
def sealed(raised: Path, plan_of: PlanOf, tmp_path: Path) -> Path:
    """File of a plan for four switches, both spines drained."""
    plan = tmp_path / "plan.json"
    write_plan(plan_of(raised), plan)
    return plan


@pytest.fixture
def apply(lab: Rehearsal, sealed: Path, command: Command) -> Callable[[Path], Any]:
    """Apply the plan with a page."""
    return lambda page: command(
        *("apply", sealed, "--connections", lab.file, "--html", page, "--progress", "plain")
    )


def test_the_page_of_an_ended_rollout_is_whole_and_not_live(
    apply: Callable[[Path], Any], command: Command, sealed: Path, tmp_path: Path
) -> None:
    page = tmp_path / "pages" / "rollout.html"
    ran = apply(page)
    assert ran.code == 0, ran.err
    assert ran.err == f"page: {page}, renewed while the rollout runs\n"
    text = page.read_text(encoding="utf-8")
    assert '"live":false' in text
    assert "4 of 4 switches done" in text
    assert ">finished<" in text
    assert f"<dt>Approvals</dt><dd>{OWN}" in text
    assert [path.name for path in page.parent.iterdir()] == ["rollout.html"]
    again = tmp_path / "status.html"
    assert command("status", sealed, "--html", again).code == 0
    written = re.compile(r"<dt>Written</dt><dd>.*?</dd>|\"written\":[\d.]+")
    assert written.sub("", again.read_text("utf-8")) == written.sub("", text)


def test_a_page_that_cannot_be_written_is_refused_before_any_change(
    apply: Callable[[Path], Any], lab: Rehearsal, command: Command, sealed: Path, tmp_path: Path
) -> None:
    before = {name: switch.running for name, switch in lab.switches.items()}
    (tmp_path / "file").write_text("")
    ran = apply(tmp_path / "file" / "rollout.html")
    assert ran.code == 2
    assert "cannot be written: " in ran.err
    page = tmp_path / "rollout.html"
    assert command("status", sealed, "--html", page).code == 0  # before any run
    assert f"<dt>Approvals</dt><dd>{OWN}" in page.read_text(encoding="utf-8")
    assert before == {name: switch.running for name, switch in lab.switches.items()}


@pytest.mark.thorough
def test_a_page_that_fails_later_ends_no_wave(
    apply: Callable[[Path], Any], lab: Rehearsal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Mapping[str, str]] = []

    def full(files: Mapping[str, str], directory: Path) -> list[Path]:
        calls.append(files)
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        return write_files(files, directory)

    monkeypatch.setattr(pages, "write_files", full)
    ran = apply(tmp_path / "rollout.html")
    assert ran.code == 0, ran.err
    assert len(calls) > 1
    assert ran.err.count("the page is not renewed") == 1
    assert all(switch.saved == switch.running for switch in lab.switches.values())


def test_the_page_of_a_failed_rollout_has_the_cause_and_the_commands(
    apply: Callable[[Path], Any], lab: Rehearsal, sealed: Path, tmp_path: Path
) -> None:
    lab.switches["leaf08"].faults = (LineFault("refuse-line", "xoff static 640"),)
    page = tmp_path / "rollout.html"
    assert apply(page).code != 0
    text = html.unescape(page.read_text(encoding="utf-8"))
    assert ">failed<" in text
    assert f"rocefort history {sealed}" in text
    assert "Wave canary: leaf08: " in text


@pytest.fixture
def reports() -> Iterator[tuple[str, list[str]]]:
    """Address of a server that collects what a browser posts, and the collected texts."""
    posted: list[str] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", posted
        server.shutdown()
        thread.join()


@pytest.mark.thorough
@pytest.mark.skipif(not CHROMIUM.exists(), reason="no /usr/bin/chromium")
def test_a_browser_follows_a_rollout_and_keeps_its_place(
    lab: Rehearsal, sealed: Path, tmp_path: Path, reports: tuple[str, list[str]]
) -> None:
    address, posted = reports
    frame, page = tmp_path / "frame.html", tmp_path / "page.html"
    frame.write_text(FRAME.replace("ADDRESS", address), encoding="utf-8")
    words = (ROCEFORT, "apply", sealed, "--connections", lab.file, "--html", page)
    options = (
        *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
        *("--disable-background-networking", "--allow-file-access-from-files"),
        "--remote-debugging-port=0",
    )
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    with subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL) as rollout:
        while not page.exists():
            assert rollout.poll() is None
            time.sleep(0.1)
        with subprocess.Popen(
            [str(CHROMIUM), *options, profile, frame.as_uri()],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as browser:
            assert rollout.wait(240) == 0
            last = time.monotonic() + 30
            while not (posted and '"finished"' in posted[-1]) and time.monotonic() < last:
                time.sleep(0.2)
            browser.terminate()
    seen = [json.loads(text) for text in posted]
    assert [each["verdict"] for each in seen][-1] == "finished"
    assert "under way" in [each["verdict"] for each in seen]
    assert seen[-1]["done"] == "4"
    rows = [each["rows"] for each in seen if each["rows"]]
    assert rows == sorted(rows)
    assert len(set(rows)) > 2
    scrolled = next(n for n, each in enumerate(seen) if each["top"] == 200)
    assert {each["top"] for each in seen[scrolled:]} == {200}
