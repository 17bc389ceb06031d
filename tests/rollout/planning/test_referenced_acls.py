"""A plan keeps the objects that an unowned line still uses."""

from __future__ import annotations

import pytest
from planned import make_changes

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.network_text import render_node

FILTERS = """#
acl number 2005
 rule 5 permit source 192.0.2.0 0.0.0.255
#
acl number 3005
 rule 5 deny ip
#
traffic classifier C type or
 if-match acl 3005
#
traffic behavior B
#
traffic policy P
 classifier C behavior B precedence 5
#
"""


@pytest.mark.parametrize(
    ("line", "deleted"),
    [
        (
            "",
            {
                "undo acl number 2005",
                "undo acl number 3005",
                "undo traffic classifier C",
                "undo traffic behavior B",
                "undo traffic policy P",
            },
        ),
        (
            "ssh server acl 2005\n#\n",
            {
                "undo acl number 3005",
                "undo traffic classifier C",
                "undo traffic behavior B",
                "undo traffic policy P",
            },
        ),
        (
            "snmp-agent acl 2006\nssh server acl ipv4 2005\n#\nvlan 120\n traffic-policy P inbound\n#\n",
            set(),
        ),
    ],
)
def test_an_acl_that_a_kept_line_uses_stays(
    heps: DerivedNetwork, line: str, deleted: set[str]
) -> None:
    node = heps.network.by_name["leaf04"]
    running = {n.name: render_node(n) for n in heps.network.nodes}
    running["leaf04"] = running["leaf04"].replace("#\ninterface", f"{FILTERS}{line}interface", 1)
    change = next(c for c in make_changes(heps.network, running) if c.device == node.name)
    assert {text for text in change.patch if text.startswith("undo ")} == deleted
    assert change.empty is not bool(deleted)
