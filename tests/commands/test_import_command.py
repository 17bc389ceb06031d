"""The command `import`, as a user types it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from rocefort.design.derive import Derived
from rocefort.dialects.vrp.texts import render_all
from rocefort.steps.fabric.judging import write_texts

COMMAND = Path(sys.executable).with_name("rocefort")
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


def rocefort(*arguments: object) -> subprocess.CompletedProcess[str]:
    words = [str(COMMAND), *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_what_was_rendered_is_imported_checked_and_never_overwritten(
    heps: Derived, tmp_path: Path
) -> None:
    configs, out, table = tmp_path / "configs", tmp_path / "inv" / "site", tmp_path / "switches.csv"
    write_texts(render_all(heps.network), configs)
    table.write_text(SWITCHES)
    words: list[object] = ["import", configs, "--out", out, "--switches", table]
    for leaf in ("leaf03", "leaf04"):
        words += ["--hardware", f"{leaf}=CE8851-32CQ8DQ-P", "--software", f"{leaf}=V300R023C00"]
    done = rocefort(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(f"written to {out / 'fabric.yaml'}\n")
    assert "not carried over" not in done.stdout
    assert rocefort("check", out).returncode == 0
    again = rocefort(*words)
    assert again.returncode == 4
    assert again.stderr.startswith(f"rocefort: {out / 'fabric.yaml'}: is there already; ")


def test_a_directory_without_a_fabric_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "sw1.cfg").write_text("sysname sw1\n#\nreturn\n")
    done = rocefort("import", tmp_path, "--out", tmp_path / "site")
    assert done.returncode == 2
    assert done.stderr == (
        "rocefort: nothing here looks like a fabric: none of 1 switch has BGP; give the texts of "
        "spines and leaves that peer by eBGP\n"
    )
    assert not (tmp_path / "site").exists()
