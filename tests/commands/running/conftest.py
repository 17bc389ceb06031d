"""Saved configurations of HEPS, rendered once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from text_faults import with_faults, write_texts

from rocefort.design.derive.derive import derive
from rocefort.dialects.network_text import render_all


@pytest.fixture(scope="session")
def heps_texts() -> Mapping[str, str]:
    """Text of every switch of HEPS."""
    return render_all(derive(Path("heps")).network)


@pytest.fixture
def saved(heps_texts: Mapping[str, str], tmp_path: Path) -> Callable[..., Path]:
    """Function that writes the texts with some edits, and returns their directory."""
    return lambda *edits: write_texts(with_faults(heps_texts, edits), tmp_path / "texts")
