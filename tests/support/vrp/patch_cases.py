"""Hand-written changes of configurations, each with its patch: tests/dialects/patches/*.yaml."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from rocefort.dialects.vrp.patch import patch
from rocefort.models.hardware.hardware import SyntaxFamily

FOLDER = Path(__file__).parents[2] / "dialects" / "patches"


class Case(NamedTuple):
    """One hand-written change."""

    name: str
    family: SyntaxFamily
    before: str
    after: str
    patch: str
    back: str
    source: str = ""  # vendor text that shows or describes it


def load(path: Path) -> list[Case]:
    rows = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return [Case(**{**row, "family": SyntaxFamily(row["family"])}) for row in rows]


CASES = [case for path in sorted(FOLDER.glob("*.yaml")) for case in load(path)]
BY_NAME = {case.name: case for case in CASES}


@contextmanager
def of_whole_texts() -> Iterator[None]:
    """Make patches of all rows of two texts, not only of the rows that differ."""
    with pytest.MonkeyPatch.context() as context:
        context.setattr(patch, "reduced", lambda was, will: (was, will))
        yield
