"""The documentation site: its strict build, its navigation, and pages that ask no other host."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from rocefort.base.repository import ROOT

MOST_MEGABYTES = 20
FETCHED = {  # attributes that a browser loads without a click
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "link": "href",
    "object": "data",
}
AT_ROOT = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")


def build(folder: Path, out: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={"NO_MKDOCS_2_WARNING": "1", "PATH": "/usr/bin:/bin"},
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "site"
    done = build(ROOT, out)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return out


class Fetches(HTMLParser):
    """Addresses that a page loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.classes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.classes |= set((values.get("class") or "").split())
        if address := values.get(FETCHED.get(tag, "")):
            self.addresses.append(address)
        self.addresses += re.findall(r"url\(([^)]+)\)", values.get("style") or "")


def test_each_page_is_in_the_site(site: Path) -> None:
    sources = list((ROOT / "docs").rglob("*.md"))
    pages = [path for path in site.rglob("*.html") if path.name != "404.html"]
    assert len(pages) == len(sources) + len(AT_ROOT)
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) / 1e6
    assert size < MOST_MEGABYTES


def test_a_diagram_is_a_picture(site: Path) -> None:
    text = (site / "install.html").read_text(encoding="utf-8")
    (picture,) = re.findall(r'src="(pictures/diagrams/[0-9a-f]{12}\.svg)"', text)
    assert (site / picture).exists()
    assert "flowchart" not in text


def test_no_page_asks_another_host(site: Path) -> None:
    fetched = 0
    for path in site.rglob("*.html"):
        page = Fetches(path.read_text(encoding="utf-8"))
        fetched += len(page.addresses)
        assert [a for a in page.addresses if re.match(r"(\w+:)?//", a)] == [], path.name
        # The theme would load the library that draws these from a public server.
        assert "mermaid" not in page.classes, path.name
    assert fetched > 100
    sheets = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    assert len(sheets) >= 3
    assert not any(re.search(r"(@import|url\()\s*['\"]?(\w+:)?//", sheet) for sheet in sheets)


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Output of a build with a page of each fault."""
    root = tmp_path_factory.mktemp("faulty")
    for path in ROOT.iterdir():
        if path.name not in {"docs", "tests", "site"}:
            (root / path.name).symlink_to(path)
    shutil.copytree(ROOT / "tests/docs", root / "tests/docs")
    shutil.copytree(ROOT / "docs", root / "docs")
    (root / "docs/how-to/lost.md").write_text(
        "# Lost\n\n[a](missing.md) [b](grow.md#no-such-heading) [c](../../validators/missing.py)\n"
        "\n[README](../../README.md#no-such-step)\n",
        encoding="utf-8",
    )
    done = build(root, root / "site")
    assert done.returncode == 1
    return done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize(
    "fault",
    [
        "docs/how-to/lost.md: a link to `missing.md`, which does not exist",
        "a link 'grow.md#no-such-heading', but the doc 'how-to/grow.md' does not contain an anchor",
        "docs/how-to/lost.md: a link to `../../validators/missing.py`, which does not exist",
        "a link '../install.md#no-such-step', but the doc 'install.md' does not contain an anchor",
        'not included in the "nav" configuration:\n  - how-to/lost.md',
    ],
)
def test_a_fault_stops_the_strict_build(faulty: str, fault: str) -> None:
    assert fault in faulty
