"""Tables of the page in a browser: sorted, filtered and exported; a configuration is copied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rocefort.verification.page.fabric_page import PageContent, page

Browse = Callable[..., dict[str, Any]]
PROBE = """
window.addEventListener("load", async () => {
  const table = document.querySelector("[data-table=cabling]");
  const head = (name) => [...table.tHead.rows[0].cells].find((cell) => cell.textContent === name);
  const column = (name) => [...table.tBodies[0].rows].map((row) => row.cells[head(name).cellIndex].textContent);
  const click = (name) => { head(name).querySelector("button").click(); return [head(name).getAttribute("aria-sort"), column(name)]; };
  let blob, file, clipboard;
  URL.createObjectURL = (given) => { blob = given; return "#"; };
  HTMLAnchorElement.prototype.click = function () { file = this.download; };
  navigator.clipboard.writeText = async (text) => { clipboard = text; };
  const result = { up: click("Far port"), down: click("Far port"), metres: click("Metres") };
  const search = document.querySelector("[data-search=cabling]");
  search.value = "LEAF03 spine";
  search.dispatchEvent(new Event("input", { bubbles: true }));
  result.sorts = table.querySelectorAll("[aria-sort]").length;
  document.querySelector("[data-export=cabling]").click();
  result.csv = await blob.text();
  result.file = file;
  location.hash = "#config/leaf03";
  setTimeout(async () => {
    const button = document.querySelector("details[open] .copy");
    button.click();
    await 0;
    setTimeout(() => {
      Object.assign(result, { clipboard, button: button.textContent });
      parent.postMessage(JSON.stringify(result), "*");
    }, 50);
  }, 50);
});
"""


def test_tables_are_sorted_filtered_and_exported(browse: Browse, heps_content: PageContent) -> None:
    seen = browse(page(heps_content), PROBE, 1280, dark=False)
    order, ports = seen["up"]
    assert order == "ascending"
    known = [port for port in ports if port]
    assert known.index("100GE1/0/25") < known.index("100GE1/0/57")
    order, ports = seen["down"]
    assert (order, [port for port in ports if port]) == ("descending", known[::-1])
    assert seen["metres"][1] == sorted(seen["metres"][1], key=float)
    assert seen["sorts"] == 1
    assert seen["file"] == "cabling.csv"
    assert seen["csv"].split("\r\n") == [
        "Switch,Port,To,Far port,Metres,Gb/s",
        "spine01,100GE1/1/3,leaf03,100GE1/0/25,50,100",
        "spine02,100GE1/1/3,leaf03,100GE1/0/26,50,100",
        "",
    ]
    assert seen["clipboard"] == heps_content.texts["leaf03"]
    assert seen["button"] == "Copied"
