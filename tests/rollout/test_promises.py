"""docs/reference/promises.md: every promise names existing tests, or states that it is not shown."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from rocefort.base.repository import ROOT

PAGE = ROOT / "docs" / "reference/promises.md"
NAMED = re.compile(r"^- `(?P<file>\S+)::(?P<test>\w+)`$", re.MULTILINE)
PROMISES = [part.split("\n", 1) for part in PAGE.read_text(encoding="utf-8").split("\n### ")[1:]]


@cache
def collected(file: str) -> frozenset[str]:
    """Tests that pytest collects from a module: its functions `test_...`."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    names = (node.name for node in tree.body if isinstance(node, ast.FunctionDef))
    return frozenset(name for name in names if name.startswith("test_"))


def test_all_promises_are_there_in_order() -> None:
    assert [title.split(".")[0] for title, _ in PROMISES] == [f"P{n}" for n in range(1, 28)]


@pytest.mark.parametrize(
    ("title", "text"), PROMISES, ids=[title.split(".")[0] for title, _ in PROMISES]
)
def test_a_promise_names_tests_that_exist_or_says_that_it_is_not_shown(
    title: str, text: str
) -> None:
    tests = [(match["file"], match["test"]) for match in NAMED.finditer(text)]
    assert tests or "\nNot shown: " in text, title
    assert text.count("\n- ") == len(tests), "a line that names no test"
    missing = [f"{file}::{test}" for file, test in tests if test not in collected(file)]
    assert missing == []
