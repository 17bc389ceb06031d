"""Lines that a switch saves alone are no intent: they make no finding and no difference."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from text_faults import Line, findings_of

Rocefort = Callable[..., Any]

WITHOUT_ROCE = """!Software Version V200R002C50SPC800
#
sysname agg1
#
drop-profile default
#
dcb pfc
#
dcb ets-profile default
#
diffserv domain default
#
interface 100GE1/0/1
 shutdown
#
return
"""


def test_a_switch_without_roce_has_no_finding_of_pfc(rocefort: Rocefort, tmp_path: Path) -> None:
    (tmp_path / "agg1.cfg").write_text(WITHOUT_ROCE, encoding="utf-8")
    ran = rocefort("check", "--configs", tmp_path, "--select", "PFC,ECN")
    assert (ran.code, "PFC201" in ran.out) == (0, False)
    other = WITHOUT_ROCE.replace("dcb pfc\n", "dcb pfc\n priority 4\n")
    (tmp_path / "agg1.cfg").write_text(other, encoding="utf-8")
    ran = rocefort("check", "--configs", tmp_path, "--select", "PFC,ECN")
    assert (ran.code, "it has a line of PFC profile" in ran.words) == (1, True)


SAVED = ("drop-profile default", "dcb ets-profile default", "diffserv domain default")


@pytest.mark.parametrize("line", SAVED)
def test_a_line_of_the_switch_is_no_difference(
    rocefort: Rocefort, saved: Callable[..., Path], line: str
) -> None:
    texts = saved(Line("leaf03", "", "lldp enable", f"lldp enable\n#\n{line}"))
    for words in (("check", "heps"), ("check",)):
        found = findings_of(rocefort, *words, "--configs", texts, "--select", "TXT")
        assert found == []
    assert rocefort("drift", "heps", "--configs", texts).code == 0
