"""Pictures of the documentation: pages that Rocefort writes, in Chromium (`make pictures`)."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from rocefort.base.repository import ROOT

CHROMIUM = Path("/usr/bin/chromium")
FOLDER = ROOT / "docs/pictures"
MOST_BYTES = 150_000
COMMIT = """
git init --quiet && git add inventory
git -c user.name=ada -c user.email=ada@example.org commit --quiet --message HEPS
"""
REPORT = f"{COMMIT} rocefort report heps"
REVIEW = f"""{COMMIT}
sed -i 's/xoff_kbytes: 600/xoff_kbytes: 640/' inventory/heps/fabric.yaml
rocefort review heps --head worktree
"""


class Picture(NamedTuple):
    """Picture of the top of a page; script: commands that write it, in a site with HEPS."""

    script: str
    page: str
    width: int
    height: int


PICTURES = {
    "report": Picture(REPORT, "report/index.html", 1200, 700),
    "review": Picture(REVIEW, "review/review.html", 1200, 760),
}


def size_of(path: Path) -> tuple[int, int]:
    """Width and height of a PNG (RFC 2083, 11.2.1)."""
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", head[16:])
    return width, height


@pytest.mark.thorough
@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_that_of_a_page(name: str, tmp_path: Path, golden_update: bool) -> None:
    if not CHROMIUM.exists():
        pytest.skip("no /usr/bin/chromium; it is installed by: apt-get install -y chromium")
    picture = PICTURES[name]
    site = tmp_path / "site"
    shutil.copytree(ROOT / "inventory/heps", site / "inventory/heps")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {"PATH": path, "HOME": str(tmp_path)}
    subprocess.run(["sh", "-ec", picture.script], cwd=site, env=env, check=True)
    taken = tmp_path / "taken.png"
    subprocess.run(
        [
            str(CHROMIUM),
            *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
            f"--user-data-dir={tmp_path / 'profile'}",
            "--blink-settings=preferredColorScheme=1",
            f"--window-size={picture.width},{picture.height}",
            *("--virtual-time-budget=5000", f"--screenshot={taken}"),
            (site / picture.page).as_uri(),
        ],
        capture_output=True,
        timeout=120,
        check=True,
    )
    assert size_of(taken) == (picture.width, picture.height)
    assert taken.stat().st_size > 10_000, "it shows nothing"
    if golden_update:
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / f"{name}.png").write_bytes(taken.read_bytes())


def test_the_pictures_are_small_and_shown() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.*")) == sorted(PICTURES)
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")]
    for name, picture in PICTURES.items():
        path = FOLDER / f"{name}.png"
        assert size_of(path) == (picture.width, picture.height), "run `make pictures`"
        assert path.stat().st_size < MOST_BYTES
        assert any(re.search(rf"!\[[^\]]+\]\(\S*pictures/{name}\.png\)", text) for text in texts)
