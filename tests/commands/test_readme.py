"""Every command of the README and of the pages runs, and prints the output that they show.

`tests/docs/pages.py` runs them. `inventory` is that of a clone, and git has an author there.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pages import TUTORIAL, Page, Shell, settled

from rocefort.base.repository import ROOT

README = ROOT / "README.md"
ELSEWHERE = {  # commands without their output, and those that other tests run
    "docs/how-to/batfish.md",
    "docs/how-to/templates.md",
    "docs/how-to/twin.md",
    "docs/reference/output.md",
}
SLOW = {  # a quarter of a minute and more, with steps that the tutorial or other tests have, too
    "docs/how-to/accept.md",
    "docs/how-to/add-leaf.md",
    "docs/how-to/connections.md",
    "docs/how-to/failed-gate.md",
    "docs/how-to/grow.md",
    "docs/how-to/probe.md",
    "docs/how-to/rehearse.md",
    "docs/how-to/rotate-secret.md",
    "docs/how-to/stages.md",
    "docs/how-to/tuning.md",
}
UNFOLDED = ("$ ", "> ", "rocefort: ")  # commands and errors
INSTALLS = "pip install"  # tests/test_install.py does


def pages() -> dict[str, Page]:
    """Pages with commands, by their paths."""
    every = [README, *sorted((ROOT / "docs").rglob("*.md"))]
    named = {path.relative_to(ROOT).as_posix(): Page(path) for path in every}
    return {name: page for name, page in named.items() if page.blocks and name not in ELSEWHERE}


PAGES = pages()


@pytest.fixture
def shell(forked: str, tmp_path: Path, author: dict[str, str]) -> Shell:
    """A shell in a directory like a clone's."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "inventory").symlink_to(ROOT / "inventory")
    own = {name: value for name, value in os.environ.items() if name != "ROCEFORT_BATFISH"}
    return Shell({**own, **author, "PATH": forked}, home, tmp_path / "state")


def test_the_output_in_pages_fits_a_terminal() -> None:
    texts = [block for page in PAGES.values() for block in page.blocks]
    lines = [line for text in texts for line in text.splitlines() if not line.startswith(UNFOLDED)]
    assert max(map(len, lines)) == 80  # of a demonstration, which fills its lines


def test_the_readme_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.thorough] * (name in SLOW)) for name in PAGES],
)
def test_a_page_shows_what_its_commands_print(
    shell: Shell, golden_update: bool, effort: str, name: str
) -> None:
    page = PAGES[name]
    if page.path == TUTORIAL and effort == "thorough" and not golden_update:
        pytest.skip("tests/test_install.py runs the tutorial, from the wheels")
    if page.begins_in_tutorial:
        for block in Page(TUTORIAL).blocks[1:2]:
            shell.play(block)
    blocks = [block for block in page.blocks if INSTALLS not in block]
    printed = {}
    try:
        for block in blocks:
            printed[block] = shell.play(block)
            assert golden_update or printed[block] == settled(block)
    finally:
        if "lab cli" in "".join(blocks):  # a failed page does not leave its lab running
            shell.stop_lab()
    if golden_update:
        page.rewrite(printed)
