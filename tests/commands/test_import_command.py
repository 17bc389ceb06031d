"""The command `import`, as a user types it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.subject import write_texts
from rocefort.dialects.network_text import render_all

Rocefort = Callable[..., Any]
SWITCHES = """name,hardware,software
spine01,CE9860-4C-EI,V200R022C00
spine02,CE9860-4C-EI,V200R022C00
leaf01,CE8850-64CQ-EI,V200R022C00
leaf02,CE8850-64CQ-EI,V200R022C00
leaf05,CE6866-48S8CQ-P,V300R023C00
leaf06,CE6866-48S8CQ-P,V300R023C00
leaf07,CE6866-48S8CQ-P,V300R023C00
leaf08,CE6866-48S8CQ-P,V300R023C00
"""


def test_what_was_rendered_is_imported_checked_and_never_overwritten(
    rocefort: Rocefort, heps: DerivedNetwork, tmp_path: Path
) -> None:
    configs, out, table = tmp_path / "configs", tmp_path / "inv" / "site", tmp_path / "switches.csv"
    write_texts(render_all(heps.network), configs)
    table.write_text(SWITCHES)
    words: list[object] = ["import", configs, "--out", out, "--switches", table]
    for leaf in ("leaf03", "leaf04"):
        words += ["--hardware", f"{leaf}=CE8851-32CQ8DQ-P", "--software", f"{leaf}=V300R023C00"]
    done = rocefort(*words)
    assert (done.code, done.err) == (0, "")
    assert done.words.endswith(f"written to {out / 'fabric.yaml'}")
    assert "not carried over" not in done.out
    assert rocefort("check", out).code == 0
    again = rocefort(*words)
    assert again.code == 4
    assert again.err.startswith(f"rocefort: {out / 'fabric.yaml'}: is there already; ")


def test_strict_ends_with_1_for_what_is_not_carried_over(
    rocefort: Rocefort, heps: DerivedNetwork, tmp_path: Path
) -> None:
    configs = tmp_path / "configs"
    texts = render_all(heps.network)
    write_texts(texts, configs)
    whole = rocefort("import", configs, "--out", tmp_path / "whole", "--strict")
    assert (whole.code, whole.err) == (0, "")
    leaf = configs / "leaf01.cfg"
    leaf.write_text(texts["leaf01"].replace("lldp enable\n", "lldp enable\nospf 1\n"))
    words = ("import", configs, "--out")
    assert rocefort(*words, tmp_path / "lax").code == 0
    strict = rocefort(*words, tmp_path / "site", "--strict")
    assert strict.code == 1
    assert strict.words.startswith("OSPF is not modelled: 1 line on 1 switch (leaf01); ")
    assert (tmp_path / "site" / "fabric.yaml").exists()


def test_a_directory_without_a_fabric_writes_nothing(rocefort: Rocefort, tmp_path: Path) -> None:
    (tmp_path / "sw1.cfg").write_text("sysname sw1\n#\nreturn\n")
    done = rocefort("import", tmp_path, "--out", tmp_path / "site")
    assert done.code == 2
    assert done.err == (
        "rocefort: nothing here looks like a fabric: none of 1 switch has BGP; give the texts of "
        "spines and leaves that peer by eBGP\n"
    )
    assert not (tmp_path / "site").exists()
