"""Draw the Mermaid diagrams of the documentation as SVG, for the site (`make diagrams`).

A picture is named by a digest of its source, so that the site never shows an outdated one.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/pictures/diagrams"
DIAGRAM = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VIEW = re.compile(r'viewBox="0 0 ([0-9]+)[0-9.]* ([0-9]+)')
SVG = re.compile(r"<svg.*</svg>", re.DOTALL)
PAGE = """<!DOCTYPE html><meta charset="utf-8"><body><pre class="mermaid">{source}</pre>
<script>{library}</script>
<script>mermaid.initialize({{ startOnLoad: true, htmlLabels: false, theme: "neutral",
  flowchart: {{ htmlLabels: false }}, deterministicIds: true, fontFamily: "sans-serif" }});</script>
"""


def name_of(source: str) -> str:
    """Return the file name of a diagram."""
    return f"{hashlib.sha256(source.encode()).hexdigest()[:12]}.svg"


def sources() -> dict[str, str]:
    """Return the diagrams of all pages, by file name."""
    pages = (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
    texts = (path.read_text(encoding="utf-8") for path in pages)
    return {name_of(source): source for text in texts for source in DIAGRAM.findall(text)}


def drawn(source: str, library: str) -> str:
    """Return a diagram as SVG."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(PAGE.format(source=escape(source), library=library), encoding="utf-8")
        done = subprocess.run(
            [
                *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
                f"--user-data-dir={folder}/profile",
                *("--virtual-time-budget=10000", "--dump-dom", page.as_uri()),
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
    svg = SVG.search(done.stdout.partition("<script>")[0])
    view = VIEW.search(svg[0]) if svg else None
    if svg is None or view is None:
        raise SystemExit(f"not drawn:\n{source}")
    width, height = view.groups()
    return svg[0].replace('width="100%"', f'width="{width}" height="{height}"', 1) + "\n"


def main() -> None:
    """Draw the diagrams that have no picture, and remove other pictures."""
    if len(sys.argv) != 2:
        raise SystemExit("give MERMAID=FILE: mermaid.tiny.js of the npm package @mermaid-js/tiny")
    library = Path(sys.argv[1]).read_text(encoding="utf-8")
    FOLDER.mkdir(parents=True, exist_ok=True)
    every = sources()
    for path in FOLDER.iterdir():
        if path.name not in every:
            path.unlink()
    for name, source in every.items():
        path = FOLDER / name
        if not path.exists():
            path.write_text(drawn(source, library), encoding="utf-8")


if __name__ == "__main__":
    main()
