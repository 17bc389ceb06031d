"""The page: whole, self-contained, escaped, and at work in a real browser where there is one."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest
from page_contents import FACT, clos, content_of, error_at

from rocefort.design.subject import subject_of
from rocefort.models.device.device import Device
from rocefort.models.finding import Finding, NotJudged, Severity, Where
from rocefort.models.network.network import Network, Node
from rocefort.validators.routing_results import (
    Reachability,
    RoutingState,
    ServerClass,
    reachability,
)
from rocefort.verification.page.fabric_page import (
    BufferFit,
    DeviceBudget,
    PageContent,
    fabric_page,
    page,
)

BORDER = Path(__file__).parents[1] / "samples" / "border"
Drive = Callable[..., dict[str, Any]]
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>&\"'{{ 7 * 7 }}"


class _Reader(HTMLParser):
    """Every tag with its attributes, and the text between tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str, css: str = "") -> list[dict[str, str | None]]:
        """Attributes of all tags of one name, of one class."""
        return [a for t, a in self.tags if t == tag and css in (a.get("class") or "").split(" ")]


def _data(text: str) -> dict[str, Any]:
    """The data that the page's script reads."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    assert isinstance(data, dict)
    for table in data["tables"].values():
        columns = [_column(packed) for packed in table.pop("packed")]
        table["rows"] = [list(row) for row in zip(*columns, strict=True)]
    data["texts"] = {
        name: "\n".join(data["runs"][part] if isinstance(part, int) else part for part in parts)
        for name, parts in data["texts"].items()
    }
    return data


def _column(packed: dict[str, list[Any]]) -> list[Any]:
    """Unpack a column as the script does."""
    if "cells" in packed:
        return packed["cells"]
    runs = zip(packed["runs"], packed["lengths"], strict=True)
    return [cell for cell, length in runs for _ in range(length)]


def test_it_fetches_nothing_and_lets_only_its_own_script_run(heps_content: PageContent) -> None:
    text = page(heps_content)
    read = _Reader(text)
    for tag, attributes in read.tags:
        assert "src" not in attributes, (tag, attributes)
        assert (attributes.get("href") or "#").startswith(("#", "data:,")), (tag, attributes)
    assert not re.search(r"@import|url\(|fetch\(|XMLHttp|https?://", text)
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
        in html.unescape(text)
    )
    assert "innerHTML" not in text


def test_the_head_says_the_verdict_and_what_is_not_judged(
    heps_content: PageContent, failed_content: PageContent
) -> None:
    clean, failed = page(heps_content), page(failed_content)
    unjudged = len(heps_content.report.not_judged)
    assert '<span class="verdict clean">no errors found</span>' in clean
    assert f'<li class="unjudged">{unjudged} not judged</li>' in clean
    assert '<span class="verdict failed">failed</span>' in failed
    assert '<li class="error">2 errors</li>' in failed
    assert "2 spines \u00b7 8 leaves \u00b7 16 links \u00b7 12 servers" in clean


def test_same_content_same_bytes(heps_content: PageContent) -> None:
    assert page(heps_content) == page(heps_content)


def test_every_verdict_is_on_the_page_with_its_line_of_text(heps_content: PageContent) -> None:
    data = _data(page(heps_content))
    report = heps_content.report
    places = [(g["rule"], *place) for g in data["groups"] for place in g["places"]]
    assert len(places) == len(report.findings) + len(report.not_judged)
    assert [g["kind"] for g in data["groups"]] == sorted(
        (g["kind"] for g in data["groups"]), key=["error", "warning", "info", "unjudged"].index
    )
    timers = [p for p in places if p[0] == "PFC004" and p[1] == "leaf03"]
    lines = heps_content.texts["leaf03"].splitlines()
    assert {lines[line - 1] for _, _, _, line, _ in timers} == {"dcb pfc"}
    told = []
    for *_, source in timers:
        file, line = (source or "").rsplit(":", 1)
        told.append(Path(file).read_text(encoding="utf-8").splitlines()[int(line) - 1].split()[0])
    assert set(told) == {"detect_ms:", "recovery_ms:"}


def test_without_lines_of_text_a_verdict_stands_at_its_interface() -> None:
    network = clos(1, 1)
    text = "#\nsysname l1\n#\ninterface 100GE1/0/1\n mtu 9000\n"
    content = content_of(
        network,
        error_at("l1", "100GE1/0/1"),
        error_at("l1", "100GE1/0/9"),
        error_at("l1"),
        error_at("s1"),
        texts={"l1": text},
    )
    (group,) = _data(page(content))["groups"]
    assert [place[2] for place in group["places"]] == [4, 2, 2, None]


def test_where_the_network_is_text_its_own_lines_count() -> None:
    network = clos(1, 1).model_copy(update={"origin": "text"})
    found = [
        error_at("l1").model_copy(update={"where": Where(device="l1", file="l1.cfg", line=line)})
        for line in (2, 3, 99)
    ]
    (group,) = _data(page(content_of(network, *found, texts={"l1": "#\nsysname l1\n#\n"})))[
        "groups"
    ]
    assert [place[2] for place in group["places"]] == [2, 3, 3]


def test_a_hostile_value_is_text_everywhere() -> None:
    network = clos(2, 2).model_copy(update={"name": HOSTILE})
    node = network.nodes[2].model_copy(
        update={"device": Device(name=HOSTILE), "rack": HOSTILE, "software": HOSTILE}
    )
    network = network.model_copy(update={"nodes": (*network.nodes[:2], node, network.nodes[3])})
    content = content_of(
        network,
        Finding(
            rule=HOSTILE,
            severity=Severity.ERROR,
            where=Where(device=HOSTILE, interface=HOSTILE, file=HOSTILE, line=1),
            message=f"`{HOSTILE}` and {HOSTILE}",
            hint=HOSTILE,
        ),
        NotJudged(rule="BUF002", where=Where(device=HOSTILE), missing=FACT, reason=HOSTILE),
        texts={HOSTILE: HOSTILE},
        titles={HOSTILE: HOSTILE},
        budgets=(
            DeviceBudget(
                device=HOSTILE,
                buffer_kbytes=1,
                xoff_kbytes=2,
                headroom_kbytes=3,
                buffer_source=HOSTILE,
            ),
        ),
        routing=RoutingState(
            engine=HOSTILE,
            sessions=(),
            routes=(),
            reachability=_reached(HOSTILE, "b", lost={"b": {HOSTILE}}),
        ),
    )
    text = page(content)
    read = _Reader(text)
    assert not read.all("img")
    assert len(read.all("script")) == text.count("<script") == 2
    assert not any(name.startswith("on") for _, attributes in read.tags for name in attributes)
    assert _data(text)["texts"] == {HOSTILE: HOSTILE}
    assert HOSTILE in read.text


def test_not_judged_is_grouped_by_cause_with_a_count() -> None:
    where, cause = Where(device="l1"), "facts of v200 are unconfirmed"
    verdicts = [
        NotJudged(rule="X", where=where, missing=FACT, reason="r"),
        *(
            NotJudged(rule=rule, where=where, missing=FACT, reason=rule, shared_cause=cause)
            for rule in "YZ"
        ),
    ]
    text = page(content_of(clos(2, 2), *verdicts))
    (section,) = re.findall(r'(?s)<section id="unjudged">.*?\n</section>\n\n', text)
    causes = re.findall(r"(\d because [^<]+)|<code>(\w)</code>", section)
    assert ["".join(found) for found in causes] == [f"2 because {cause}", *"YZ", "1 because r", "X"]


def test_what_is_not_known_is_said() -> None:
    node = Node(device=Device(name="x1"))
    network = Network(name="found", origin="text", nodes=(node,))
    text = _Reader(page(content_of(network))).text
    for sentence in (
        "1 switch of unknown role \u00b7 links not known \u00b7 servers not known",
        "The cabling between switches is not known.",
        "The servers are not known.",
        "Routing was not verified for this page.",
        "no budget to show",
    ):
        assert sentence in text


BUDGET = DeviceBudget(device="l1", buffer_kbytes=1000, xoff_kbytes=600, headroom_kbytes=400)


@pytest.mark.parametrize(
    ("update", "fit", "words"),
    [
        ({}, BufferFit.FITS, "1,000 KB of 1,000 KB, 100.0 %"),
        ({"headroom_kbytes": 401}, BufferFit.OVER, "1,001 KB of 1,000 KB, 100.1 %: 1 KB too much"),
        ({"buffer_confirmed": False}, BufferFit.UNCONFIRMED, "1,000 KB of 1,000 KB, 100.0 %"),
        (
            {"buffer_confirmed": False, "xoff_kbytes": 601},
            BufferFit.OVER,
            "1,001 KB of 1,000 KB, 100.1 %: 1 KB too much",
        ),
        ({"buffer_kbytes": None}, BufferFit.UNKNOWN, "1,000 KB of a buffer that is not known"),
        (
            {"headroom_kbytes": None},
            BufferFit.UNKNOWN,
            "what the ports may take of 1,000 KB of buffer cannot be added up",
        ),
    ],
)
def test_a_budget_fits_only_where_all_of_it_is_known(
    update: dict[str, Any], fit: BufferFit, words: str
) -> None:
    budget = BUDGET.model_copy(update=update)
    assert budget.fit is fit
    text = page(content_of(clos(1, 1), budgets=(budget,)))
    (bar,) = _Reader(text).all("div", "bar")
    assert bar["class"] == f"bar {fit}"
    assert (bar["aria-label"] or "") == f"{fit}: {words}"
    drawn = 'style="width:' in text
    assert drawn == (fit is not BufferFit.UNKNOWN)
    assert ('class="end"' in text) == (fit is BufferFit.OVER)


def test_switches_with_the_same_budget_share_a_bar() -> None:
    budgets = [BUDGET.model_copy(update={"device": f"l{n}"}) for n in range(1, 6)]
    budgets[3] = budgets[3].model_copy(update={"xoff_kbytes": 700})
    read = _Reader(page(content_of(clos(1, 5), budgets=tuple(budgets))))
    names = [" ".join(part.split()) for part in read.text.split("Lossless budget")[1].split("\n")]
    assert len(read.all("div", "bar")) == 2
    assert "l4 hardware not known" in names
    assert "l1 to l3, l5 4 switches hardware not known" in names


def test_the_routing_that_failed_is_named() -> None:
    reached = _reached("a", "b", "c", lost={"c": {"a", "b"}})
    state = RoutingState(engine="embedded", sessions=(), routes=(), reachability=reached)
    text = page(content_of(clos(1, 1), routing=state))
    assert "<dd>4 of 6</dd>" in text
    assert "<li>of a to of c: 1 of 1 pairs, first a to c</li>" in text
    assert "of a to of b" not in text


def _reached(*servers: str, lost: dict[str, set[str]]) -> Reachability:
    """One server a segment."""
    net = IPv4Network("10.0.0.0/24")
    classes = (
        ServerClass(leaf="l1", segment=f"of {name}", subnet=net, servers=(name,))
        for name in servers
    )
    return reachability(classes, lost)


def test_tables_hold_every_address_and_cable(heps_content: PageContent) -> None:
    tables = _data(page(heps_content))["tables"]
    addresses = tables["addresses"]["rows"]
    assert ["leaf01", "Vlanif120", "10.65.0.1/24", "gateway of compute"] in addresses
    assert [
        "transfer01",
        "",
        "10.67.0.10/24",
        "server in transfer at leaf01 100GE1/0/1",
    ] in addresses
    cables = tables["cabling"]["rows"]
    assert len(cables) == 16 + 12
    assert ["spine01", "100GE1/1/1", "leaf01", "100GE1/0/57", 50.0, 100] in cables
    assert ["leaf01", "100GE1/0/1", "transfer01", "", 5.0, 100] in cables
    assert tables["ports"]["rows"][0] == ["leaf01", "100GE1/0/1", 100, None, 600, None, None]


def test_exits_are_drawn_and_listed_and_cables_say_what_they_are(tmp_path: Path) -> None:
    """Page of a fabric with an exit; addresses alone do not show an exit."""
    text = (BORDER / "fabric.yaml").read_text(encoding="utf-8")
    cables = "cables: {fabric_m: 50, server_m: 5"
    assert cables in text
    path = tmp_path / "fabric.yaml"
    exits = "exits:\n      - id: 2\n"
    lonely = "{id: 4, name: lab, port: 100GE1/0/12, address: 192.0.2.9/30, peer: 192.0.2.10"
    more = f"exits:\n      - {lonely}, default: static}}\n      - id: 2\n"
    assert exits in text
    text = text.replace(cables, f"{cables}, fabric: {{medium: sr4, fec: rs}}")
    path.write_text(text.replace(exits, more))
    written = fabric_page(subject_of(path, None))
    tables = _data(written)["tables"]
    assert tables["exits"]["rows"][1][:7] == [
        *("beamline", "leaf01", "100GE1/0/11", "192.0.2.5/30", "192.0.2.6", 64950, "none")
    ]
    assert tables["exits"]["rows"][3][6:8] == ["accept", "172.16.0.0/12 to /24"]
    assert tables["exits"]["rows"][2][5:8] == ["none", "static", "none"]
    assert tables["cabling"]["rows"][0][-4:] == [50.0, 100, "100GBASE-SR4", "rs"]
    ways_out = [row[:6] for row in tables["cabling"]["rows"] if row[2].startswith("exit ")]
    assert ["leaf01", "100GE1/0/11", "exit beamline", "", 30.0, 100] in ways_out
    assert "leaf01, CE8850-64CQ-EI, 1 server, 2 exits" in written
    assert "leaf03, CE8851-32CQ8DQ-P, 1 server:" in written


def test_a_bond_without_lacp_is_not_one_whose_timeout_nobody_knows(tmp_path: Path) -> None:
    text = (BORDER / "fabric.yaml").read_text(encoding="utf-8")
    port = "leaf: leaf01, port: 100GE1/0/1,"
    assert port in text
    path = tmp_path / "fabric.yaml"
    bond = "leaf: leaf01, bond: {ports: [100GE1/0/1, 100GE1/0/2], mode: manual},"
    path.write_text(text.replace(port, bond))
    (row,) = _data(fabric_page(subject_of(path, None)))["tables"]["bonds"]["rows"]
    assert row[0] == "leaf01"
    assert row[2:6] == ["node01", 200, "manual load-balance", "no LACP"]


# --- in a browser ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("width", "dark"),
    [
        (1280, False),
        (400, True),
        pytest.param(1280, True, marks=pytest.mark.thorough),
        pytest.param(400, False, marks=pytest.mark.thorough),
    ],
)
def test_in_a_browser(drive: Drive, failed_content: PageContent, width: int, dark: bool) -> None:
    seen = drive(failed_content, width, dark=dark, device="leaf03")
    assert (seen["width"], seen["dark"]) == (width, dark)
    assert (seen["overflow"], seen["overflowOpen"]) == (0, 0)
    assert seen["background"] == ("rgb(21, 24, 28)" if dark else "rgb(251, 251, 250)")
    assert seen["rows"] == 28
    assert seen["drawn"] == 0  # configurations are drawn when opened
    assert seen["errors"] == 1 < seen["groups"]
    assert seen["shown"].startswith("2 of ")
    assert {name.split()[0] for name in seen["links"]} == {"leaf03"}
    assert seen["aim"] == "interface 100GE1/0/25"
    assert seen["note"] == "error ADR003: no"
    assert (seen["open"], seen["focus"]) == (1, "leaf03")
    assert seen["lines"] == len(failed_content.texts["leaf03"].splitlines())


def test_500_leaves_and_hostile_names_in_a_browser(
    drive: Drive, failed_content: PageContent
) -> None:
    network = clos(8, 500)
    text = f"#\nsysname l300\n# {HOSTILE}\n" + "interface 100GE1/0/1\n" * 40
    texts = {node.name: text for node in network.nodes}
    errors = [error_at(f"l{n}", message=HOSTILE) for n in range(1, 501)]
    seen = drive(content_of(network, *errors, texts=texts), 400, dark=False, device="l300")
    assert (seen["overflow"], seen["overflowOpen"]) == (0, 0)
    assert seen["rows"] == 200  # of 8,000: the rest on demand
    assert seen["links"] == ["l300"]
    assert seen["aim"] == "sysname l300"
    assert seen["note"] == f"error PFC004: {HOSTILE}"
    assert seen["lines"] == 43
