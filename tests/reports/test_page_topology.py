"""The topology of the page: its content, its layout in a browser, search, zoom and keyboard."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from page_contents import FACT, clos, content_of, error_at

from rocefort.models.finding import NotJudged, Where
from rocefort.models.network.network import Link, Network, SwitchRole
from rocefort.verification.page.fabric_page import PageContent, page
from rocefort.verification.page.findings_section import groups_of, worst_of
from rocefort.verification.page.pictures import TopologyPicture, topology_of

Browse = Callable[..., dict[str, Any]]
PROBE = """
window.addEventListener("load", () => {
  const svg = document.querySelector("svg.topology");
  const rects = [...svg.querySelectorAll("rect.switch")], captions = [...svg.querySelectorAll(".rack")];
  const overlap = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
  const boxes = rects.map((rect) => rect.getBBox());
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const result = {
    boxes: boxes.length,
    links: svg.querySelectorAll("path.link").length,
    errors: svg.querySelectorAll("path.link.error").length,
    ways: new Set([...svg.querySelectorAll("path.link")].map((path) => path.getAttribute("d"))).size,
    racks: captions.map((text) => text.textContent),
    outside: boxes.filter((box) => box.x < 0 || box.y < 0 || box.x + box.width > width || box.y + box.height > height).length,
    overlaps: boxes.filter((box, at) => boxes.slice(at + 1, at + 30).some((other) => overlap(box, other))).length,
    wide: [...svg.querySelectorAll("a text")].filter((text) => text.getBBox().width > text.parentNode.querySelector("rect").getBBox().width).length,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  };
  const obstacles = [...captions, ...rects].map((one) => [one.getBBox(), one.textContent || one.parentNode.dataset.switch]);
  // Links of each of some switches: whether one crosses a caption or the box of another switch.
  result.crossed = [];
  result.own = {};
  for (const name of NAMES) {
    const link = svg.querySelector(`[data-switch="${name}"]`);
    link.dispatchEvent(new Event("pointerover", { bubbles: true }));
    const paths = [...svg.querySelectorAll(".own path, path.link")];
    result.own[name] = svg.querySelectorAll(".own path").length;
    for (const path of paths) {
      const length = path.getTotalLength();
      for (let at = 3; at < length - 3; at += paths.length > 50 ? 25 : 5) {
        const { x, y } = path.getPointAtLength(at), point = { x, y, width: 0, height: 0 };
        const hit = obstacles.find(([box]) => overlap(box, point));
        if (hit) { result.crossed.push([name, hit[1]]); break; }
      }
    }
  }
  result.facts = document.getElementById("facts").textContent;
  // Search: type, choose by keyboard.
  const find = document.getElementById("find"), key = (target, name) => target.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
  result.stolen = false;
  result.search = SEARCH.map((words) => {
    find.value = words;
    find.dispatchEvent(new Event("input", { bubbles: true }));
    result.stolen ||= document.querySelector(".hit")?.dataset.switch === words; // before it is chosen
    const choices = [...document.querySelectorAll("#find-list [role=option]")].map((item) => item.textContent);
    key(find, "ArrowDown");
    const active = document.getElementById(find.getAttribute("aria-activedescendant"));
    key(find, "Enter");
    return [choices[0], active && active.textContent === choices[0], document.querySelector(".hit")?.dataset.switch, document.activeElement.dataset.switch];
  });
  key(document.activeElement, "ArrowRight");
  result.right = document.activeElement.dataset.switch;
  result.stops = svg.querySelectorAll('[tabindex="0"]').length;
  const before = svg.getBoundingClientRect().width;
  key(document.getElementById("map"), "+");
  document.querySelector("[data-zoom=in]").click();
  result.zoomed = svg.getBoundingClientRect().width / before;
  for (let n = 0; n < 5; n++) document.querySelector("[data-zoom=out]").click();
  result.far = svg.querySelector("text") && getComputedStyle(svg.querySelector("text")).visibility;
  parent.postMessage(JSON.stringify(result), "*");
});
"""


def topology(content: PageContent) -> TopologyPicture:
    return topology_of(content.network, worst_of(content.network, groups_of(content)))


def probe(*names: str, search: tuple[str, ...] = ()) -> str:
    text = PROBE.replace("NAMES", json.dumps(names))
    return text.replace("SEARCH", json.dumps(search))


def test_a_fault_colors_its_link_and_its_switches(failed_content: PageContent) -> None:
    drawn = topology(failed_content)
    assert [s.name for s in drawn.switches if s.kind == "error"] == ["spine01", "leaf03"]
    assert {kind: list(drawn.links.values()).count(kind) for kind in ("error",)} == {"error": 1}
    assert drawn.sentence == "16 links of 100 Gb/s, 1 with errors or warnings."
    leaf = next(s for s in drawn.switches if s.name == "leaf03")
    assert (leaf.model, leaf.rack, leaf.servers, leaf.speeds) == (
        *("CE8851-32CQ8DQ-P", "row2", "2 servers", "2 \N{MULTIPLICATION SIGN} 100 Gb/s"),
    )


def test_what_is_not_judged_colors_nothing() -> None:
    where = Where(device="l1", interface="100GE1/0/1")
    drawn = topology(
        content_of(clos(2, 2), NotJudged(rule="X", where=where, missing=FACT, reason="r"))
    )
    assert {s.kind for s in drawn.switches} == {"none"}
    assert drawn.links == {}
    (title,) = (s.title for s in drawn.switches if s.name == "l1")
    assert title.startswith("l1, hardware not known, rack0, 8 servers: 1 not judged")


def test_speeds_are_written_once() -> None:
    drawn = topology(content_of(clos(2, 3)))
    assert drawn.sentence == "6 links of 100 Gb/s, none with errors or warnings."
    assert {s.speeds for s in drawn.switches} == {
        f"{n} \N{MULTIPLICATION SIGN} 100 Gb/s" for n in (2, 3)
    }


def test_parallel_links_do_not_hide_each_other(browse: Browse) -> None:
    network = clos(1, 1)
    (link,) = network.links or ()
    network = network.model_copy(update={"links": (link, link, link)})
    seen = browse(page(content_of(network)), probe("l1"), 1280, dark=False)
    assert (seen["links"], seen["ways"], seen["crossed"]) == (3, 3, [])


@pytest.mark.parametrize(
    ("spines", "leaves", "width", "dark"),
    [(8, 120, 400, True), (16, 512, 1280, False), (8, 120, 1900, False)],
)
def test_large_fabrics_are_boxes_by_rack_and_no_link_crosses_a_word(
    browse: Browse, spines: int, leaves: int, width: int, dark: bool
) -> None:
    content = content_of(
        clos(spines, leaves, 2), error_at("l7", "100GE1/0/3"), error_at("s2", "100GE1/0/9")
    )
    names = ("l1", "l50", f"l{leaves}", "s1", f"s{spines}")
    search = ("l77", "h9-1", "rack3", "no such thing")
    seen = browse(page(content), probe(*names, search=search), width, dark=dark)
    assert seen["boxes"] == spines + leaves
    assert (seen["outside"], seen["overlaps"], seen["wide"], seen["overflow"]) == (0, 0, 0, 0)
    assert (seen["links"], seen["errors"], seen["crossed"]) == (2, 2, [])
    assert seen["own"] == dict.fromkeys(names[:3], spines) | dict.fromkeys(names[3:], leaves)
    assert len(seen["racks"]) == leaves // 16 + 1
    assert seen["facts"].startswith(f"s{spines}, hardware not known")
    assert seen["search"][:3] == [
        ["l77 leaf, rack4", True, "l77", "l77"],
        ["h9-1 at l9 25GE1/0/1", True, "l9", "l9"],
        ["rack3 rack of l48", True, "l48", "l48"],
    ]
    assert seen["search"][3][0] == "nothing matches"
    assert not seen["stolen"]
    assert (seen["right"], seen["stops"]) == ("l49", 1)
    assert round(seen["zoomed"], 2) == 1.56
    assert seen["far"] == "hidden"


@pytest.mark.parametrize(("spines", "leaves"), [(0, 0), (1, 0), (30, 0), (30, 3), (2, 25)])
def test_odd_sizes_are_drawn(browse: Browse, spines: int, leaves: int) -> None:
    seen = browse(page(content_of(clos(spines, leaves))), probe(), 700, dark=False)
    assert seen["boxes"] == spines + leaves
    assert (seen["outside"], seen["overlaps"], seen["overflow"]) == (0, 0, 0)


def test_links_between_leaves_and_unknown_roles_are_drawn(browse: Browse) -> None:
    network: Network = clos(1, 3)
    nodes = [n.model_copy(update={"role": None}) if n.name == "l3" else n for n in network.nodes]
    (first, second, third) = network.links or ()
    peers = Link(a=first.b, b=second.b)
    network = network.model_copy(update={"nodes": nodes, "links": (first, second, third, peers)})
    assert [n.name for n in network.nodes if n.role is SwitchRole.LEAF] == ["l1", "l2"]
    seen = browse(page(content_of(network)), probe("l1", "l3"), 1280, dark=False)
    assert (seen["own"], seen["crossed"]) == ({"l1": 2, "l3": 1}, [])
