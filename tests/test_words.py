"""Check of words: it reports unwanted words with their position, and nothing in code."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from scripts import script

SOURCE = '''
"""Where a switch stands."""

told = {"says": 1}  # it says `told`


def said() -> str:
    """Return a message."""
    return "the switch says\\nno" + "says"
'''


@pytest.fixture(scope="module")
def words() -> ModuleType:
    return script("words")


def test_prose_is_checked_and_code_is_not(words: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(SOURCE)
    assert [(one.line, one.word) for one in words.complaints(path)] == [
        (1, "Where"),
        (4, "says"),
        (2, "stands"),
        (9, "says"),
    ]


def test_code_of_a_document_is_not_checked(words: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("`told`\n```console\n$ says\n```\nA plan\ntells.\n")
    assert [(one.line, one.word, one.better) for one in words.complaints(path)] == [
        (6, "tells", "reports, shows, lists, prints")
    ]
