"""`rocefort demo` changes thresholds in the fabric's own file, so they must stand there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocefort.errors import BadInput
from rocefort.steps.demo.fabric import run_demo
from rocefort.validators.engine_choice import Engine


def test_a_shipped_profile_is_not_changed(edit_heps: Callable[..., Path]) -> None:
    path = edit_heps(("lossless: heps\n", "lossless: heps-like\n"))
    told: list[str] = []
    with pytest.raises(BadInput) as caught:
        run_demo(path, Engine.EMBEDDED, None, told.append)
    assert str(caught.value).removeprefix(f"{path.parent}/") == (
        "fabric.yaml:40:1: the demonstration changes the fabric's own file, and 'heps-like' is not "
        "in it; copy that profile into profiles.lossless of the fabric, under another name"
    )
    assert told == []
