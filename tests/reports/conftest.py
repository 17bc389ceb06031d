"""A report page of HEPS with a fault, as the command that writes it puts it together."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from planned import unreached

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.data import sources_of
from rocefort.dialects.network_text import render_all
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.models.change.plan import Plan
from rocefort.models.finding import Finding, Severity, Where
from rocefort.models.network.network import Position, Sources
from rocefort.rollout.plan.make_plan import make_plan
from rocefort.validators.checks import check, titles
from rocefort.verification.page.fabric_page import DeviceBudget, PageContent, PortBudget, page

CHROMIUM = Path("/usr/bin/chromium")
Browse = Callable[..., dict[str, Any]]
Drive = Callable[..., dict[str, Any]]
Violations = Callable[..., list[list[str]]]
AXE = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
AXE_PROBE = """
window.addEventListener("load", async () => {
  document.querySelectorAll("details:not(.config)").forEach((one) => { one.open = true; });
  FIRST
  await new Promise((done) => setTimeout(done, 50));
  const { violations, passes } = await axe.run(document, { resultTypes: ["violations"] });
  parent.postMessage(JSON.stringify({
    passes: passes.length,
    violations: violations.flatMap(({ id, nodes }) => nodes.slice(0, 3).map((node) => [id, node.html.slice(0, 200), node.failureSummary])),
  }), "*");
});
"""
# In a browser. The page's own security policy is kept; the probe joins it by its digest.
PROBE = """
window.addEventListener("load", () => {
  const visible = () => [...document.querySelectorAll(".group")].filter((g) => g.offsetParent).length;
  const set = (input, value) => {
    if (input.type === "checkbox") input.checked = value; else input.value = value;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const form = document.getElementById("filter");
  const kinds = [...form.querySelectorAll("[name=kind]")];
  const result = {
    width: innerWidth,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    background: getComputedStyle(document.body).backgroundColor,
    groups: visible(),
    rows: document.querySelectorAll("[data-table=cabling] tbody tr").length,
    drawn: document.querySelectorAll(".config ol").length,
  };
  kinds.forEach((kind) => set(kind, kind.value === "error"));
  result.errors = visible();
  result.shown = document.getElementById("shown").textContent;
  kinds.forEach((kind) => set(kind, true));
  set(form.querySelector("[name=device]"), ASKED);
  result.links = [...document.querySelectorAll(".group:not([hidden]) .places a")].map((a) => a.textContent);
  const first = document.querySelector(".group:not([hidden]) .places a");
  location.hash = first.getAttribute("href");
  setTimeout(() => {
    const aim = document.querySelector(".aim");
    result.aim = aim && aim.textContent;
    result.note = aim && aim.nextElementSibling.textContent;
    result.open = document.querySelectorAll("details.config[open]").length;
    result.focus = document.activeElement.closest("details")?.dataset.device;
    result.lines = document.querySelectorAll("details.config[open] li[data-line]").length;
    result.overflowOpen = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    parent.postMessage(JSON.stringify(result), "*");
  }, 100);
});
"""


@pytest.fixture(scope="session")
def heps_content(heps: DerivedNetwork) -> PageContent:
    """HEPS as it is: no errors, two warnings, and much that is not judged."""
    texts = render_all(heps.network)
    table: dict[str, Position] = {}
    for name, text in texts.items():
        table |= sources_of(parse(text, f"{name}.cfg"), f"{name}.cfg")
    budget = DeviceBudget(
        device="leaf01",
        buffer_kbytes=43008,
        buffer_confirmed=False,
        buffer_source="third-party table",
        xoff_kbytes=600,
        headroom_kbytes=49,
        ports=(PortBudget(interface="100GE1/0/1", speed_gbps=100, xoff_kbytes=600),),
    )
    return PageContent(
        network=heps.network,
        report=check(heps.network, heps.sources),
        text_report=check(heps.network, Sources(table)),
        texts=texts,
        titles=titles(),
        budgets=(
            budget,
            budget.model_copy(update={"device": "leaf02"}),
            DeviceBudget(
                device="spine01", buffer_kbytes=None, xoff_kbytes=4800, headroom_kbytes=392
            ),
        ),
    )


@pytest.fixture(scope="session")
def failed_content(heps_content: PageContent) -> PageContent:
    """The same with an error at both ends of one link."""
    wheres = (
        Where(device="spine01", interface="100GE1/0/3", file="fabric.yaml", line=108),
        Where(device="leaf03", interface="100GE1/0/25", file="fabric.yaml", line=108),
    )
    errors = tuple(
        Finding(rule="ADR003", severity=Severity.ERROR, where=where, message="no", hint="mend")
        for where in wheres
    )
    report = heps_content.report
    return replace(
        heps_content, report=report.model_copy(update={"findings": (*errors, *report.findings)})
    )


@pytest.fixture
def browse(tmp_path: Path) -> Browse:
    """Open a page in headless Chromium, in a frame of a width, and give what the probe posted.

    A frame, because a headless window is never narrower than 500 pixels. The probe is a script
    that joins the page's own by its digest, and posts JSON to its parent.
    """
    if not CHROMIUM.exists():
        pytest.skip("no /usr/bin/chromium; it is installed by: apt-get install -y chromium")

    def run(text: str, probe: str, width: int, *, dark: bool) -> dict[str, Any]:
        digest = base64.b64encode(hashlib.sha256(probe.encode()).digest()).decode()
        own = "script-src '" if "script-src '" in text else "style-src '"  # a page may have none
        assert text.count(own) == 1
        policy = f"script-src 'sha256-{digest}'"
        probed = f"{policy} '" if own[1] == "c" else f"{policy}; {own}"
        text = text.replace(own, probed)
        text = text.replace("</body>", f"<script>{probe}</script></body>")
        (tmp_path / "page.html").write_text(text, encoding="utf-8")
        frame = tmp_path / "frame.html"
        frame.write_text(
            "<!DOCTYPE html><html><head><link rel='icon' href='data:,'></head><body><pre></pre>"
            "<script>addEventListener('message', (e) => {"
            "document.querySelector('pre').textContent = e.data; });</script>"
            f"<iframe src='page.html' style='width:{width}px;height:800px;border:0'></iframe>",
            encoding="utf-8",
        )
        profile = tmp_path / "profile"
        shutil.rmtree(profile, ignore_errors=True)
        done = subprocess.run(
            [
                str(CHROMIUM),
                *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"),
                *("--no-first-run", "--disable-background-networking"),
                *("--disable-component-update", "--disable-sync", "--enable-logging=stderr"),
                f"--user-data-dir={profile}",
                f"--blink-settings=preferredColorScheme={0 if dark else 1}",
                f"--window-size={max(width, 500)},900",
                *("--virtual-time-budget=5000", "--dump-dom", frame.as_uri()),
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        assert console == []
        found = re.search(r"<pre>(\{.*?\})</pre>", done.stdout, re.DOTALL)
        assert found is not None, done.stdout[:2000]
        result = json.loads(html.unescape(found[1]))
        assert isinstance(result, dict)
        return result

    return run


@pytest.fixture
def violations(browse: Browse) -> Violations:
    """Open a page, run a script in it, and give what axe-core complains about.

    At least 20 of its rules pass, so a page that it cannot read fails.
    """

    def run(text: str, width: int, *, dark: bool, first: str = "") -> list[list[str]]:
        seen = browse(text, AXE + AXE_PROBE.replace("FIRST", first), width, dark=dark)
        assert seen["passes"] > 20
        found = seen["violations"]
        assert isinstance(found, list)
        return found

    return run


@pytest.fixture
def drive(browse: Callable[..., dict[str, Any]]) -> Drive:
    """Open the page of a content in headless Chromium, ask for a device, and give what is seen."""

    def run(content: PageContent, width: int, *, dark: bool, device: str) -> dict[str, Any]:
        return browse(page(content), PROBE.replace("ASKED", json.dumps(device)), width, dark=dark)

    return run


@pytest.fixture
def raised(heps: DerivedNetwork, edit_heps: Callable[..., Path], heps_file: Path) -> Plan:
    """Plan of another threshold on every switch of HEPS, with its demand."""
    fabric = edit_heps(("xoff_kbytes: 600 ", "xoff_kbytes: 640 "))
    shutil.copy(heps_file.with_name("demand.yaml"), fabric.parent)
    return make_plan(fabric, unreached(heps.network), render_all(heps.network))
