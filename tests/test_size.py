"""`make size` counts code without comments and docstrings, and a linked folder once."""

from __future__ import annotations

import ast
from pathlib import Path

from size import Module, code_lines, modules, private_used_once

TEXT = '''"""A module.

Two lines of it.
"""

import os  # why

LINES = """one
two"""


class Thing:
    """A class."""

    def run(self) -> None:  # noqa
        """A function."""
        # a comment

        os.getpid()


def _once() -> int:
    """Used once."""
    return 1


def _twice() -> int:
    return _once() + len(LINES)


print(_twice(), _twice())
'''


def test_blank_lines_comments_and_docstrings_do_not_count() -> None:
    module = Module(Path("rocefort/made_up.py"), TEXT, ast.parse(TEXT))
    assert code_lines(module) == 11
    assert [node.name for node in private_used_once(module)] == ["_once"]


def test_a_linked_folder_counts_once() -> None:
    paths = [module.path for module in modules()]
    assert len(paths) == len(set(paths))
    assert Path("validators/checks.py") in paths
    assert Path("rocefort/validators/checks.py") not in paths
    names = {module.name for module in modules()}
    assert {"rocefort.validators", "rocefort.tasks", "napalm_cloudengine"} <= names
