"""docs/reference/output.md agrees with the outputs and exit codes (`make golden` rewrites it)."""

from __future__ import annotations

from rocefort.base.errors import ExitCode
from rocefort.base.repository import ROOT
from rocefort.site.output_page import output_page
from rocefort.site.outputs import OUTPUTS

PAGE = ROOT / "docs" / "reference/output.md"


def test_the_page_is_that_of_the_code(golden_update: bool) -> None:
    if golden_update:
        PAGE.write_text(output_page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == output_page(), "run `make golden`"


def test_the_page_has_every_exit_code_and_command() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"| {code:d} | {code.meaning} |" in text for code in ExitCode)
    assert all(f"| `{name}` | " in text for name in OUTPUTS)
