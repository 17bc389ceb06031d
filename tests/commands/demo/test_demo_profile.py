"""`rocefort demo` changes thresholds in the fabric's own file, so they must stand there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocefort.base.errors import BadInput
from rocefort.base.repository import HARDWARE, Site
from rocefort.design.derive.derive import derive
from rocefort.lab.demo.emulated_demo import DemoWriter, raise_thresholds, run_demo
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


def test_the_changed_copy_of_a_fabric_has_the_data_of_its_site(
    edit_heps: Callable[..., Path], tmp_path: Path
) -> None:
    model = Site(tmp_path).hardware / "mine.yaml"
    model.parent.mkdir(parents=True)
    text = (HARDWARE / "ce9860-4c-ei.yaml").read_text(encoding="utf-8")
    model.write_text(text.replace("model: CE9860-4C-EI", "model: CE9860-MINE"), encoding="utf-8")
    fabric = edit_heps()
    fabric.write_text(fabric.read_text().replace("CE9860-4C-EI", "CE9860-MINE"), encoding="utf-8")
    state = tmp_path / "elsewhere" / "state"
    state.mkdir(parents=True)
    (state.parent / ".git").mkdir()  # the top of another repository
    told: list[str] = []
    raised = raise_thresholds(derive(fabric), state / "fabric.yaml", DemoWriter(told.append))
    hardware = derive(raised).network.by_name["spine01"].hardware
    assert hardware is not None
    assert hardware.model == "CE9860-MINE"
    assert "xoff_kbytes 600 -> " in " ".join(told)
