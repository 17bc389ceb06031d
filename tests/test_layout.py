"""Size of folders and modules, by the table `[tool.layout]` of pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
LAYOUT = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["layout"]
FILES = [
    path
    for top in ("models", "validators", "rocefort", "napalm_cloudengine", "tests")
    for path in sorted((ROOT / top).rglob("*.py"))
    if not any(part.is_symlink() for part in (path, *path.parents))
] + [ROOT / "tasks.py"]


def test_no_folder_holds_more_files_than_the_table_allows() -> None:
    folders = Counter(path.parent.relative_to(ROOT).as_posix() for path in FILES)
    assert len(folders) > 60
    crowded = {name for name, files in folders.items() if files > LAYOUT["most_files"]}
    assert crowded == set(LAYOUT["crowded"]), (
        "split it, or give the reason in [tool.layout.crowded]"
    )


def test_no_module_of_the_product_is_longer_than_the_table_allows() -> None:
    lines = {path: path.read_text().count("\n") for path in FILES if "tests" not in path.parts}
    longer = [path.name for path, count in lines.items() if count > LAYOUT["most_lines"]]
    assert longer == [], "split it by subject"


def test_each_module_that_a_text_names_is_there() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    pages += (ROOT / "napalm_cloudengine").glob("*.md")
    names = {path.name for path in FILES}
    names |= {path.name.removesuffix(".j2") for path in (ROOT / "templates").rglob("*.py.j2")}
    named = {
        (path.name, name)
        for path in (*pages, *FILES)
        for name in re.findall(r"`(?:[\w.-]+/)*([\w-]+\.py)`", path.read_text(encoding="utf-8"))
    }
    assert {(text, name) for text, name in named if name not in names} == set()
