"""A plan with unowned lines that go with a command: set again, lost, and back, with its digests."""

from __future__ import annotations

from pathlib import Path

from planned import unreached

from rocefort.change.differences_report import kept_line, service_lines
from rocefort.change.effects.switch_configs import running_digest
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.network_text import render_node
from rocefort.models.hardware.hardware import Family
from rocefort.rollout.plan.make_plan import make_plan
from rocefort.rollout.planning.baseline import both_sides

PORT = "interface Vlanif120\n"
TABLE = "ip vpn-instance OOB\n ipv4-family\n  route-distinguisher 1:1\n#\n"
BOUND = f"{PORT} ip binding vpn-instance OOB\n ipv6 enable\n ipv6 address 2001:DB8::9/64\n"


def digest(text: str, family: Family) -> str:
    return running_digest(dialect_of(family).parse(text, "leaf01"), family)


def test_lines_that_go_are_planned_both_ways(heps: DerivedNetwork) -> None:
    running = {node.name: render_node(node) for node in heps.network.nodes}
    text = running["leaf01"].replace(PORT, f"{TABLE}{BOUND}")
    running["leaf01"] = text
    plan = make_plan(Path("inventory/heps"), unreached(heps.network), running)
    change = plan.change("leaf01")
    family = heps.network.by_name["leaf01"].family
    assert family is not None
    assert change.patch[-4:] == (
        "interface Vlanif120",
        " ipv6 enable",
        " ipv6 address 2001:DB8::9/64",
        " quit",
    )
    assert [line for line in service_lines(change) if "goes with `" in line] == [
        "affects service: `route-distinguisher 1:1` of ip vpn-instance OOB / ipv4-family goes with "
        "`undo ip vpn-instance OOB`, and is not set again",
        "affects service: `ipv6 enable` of interface Vlanif120 goes with "
        "`undo ip binding vpn-instance OOB`, and is set again",
        "affects service: `ipv6 address 2001:DB8::9/64` of interface Vlanif120 goes with "
        "`undo ip binding vpn-instance OOB`, and is set again",
    ]
    assert kept_line(change) == "2 lines without an owner stay, 1 goes"
    sides = both_sides(plan, heps.network)
    before, after = sides.before["leaf01"], sides.after["leaf01"]
    assert digest(before, family) == digest(text, family) == change.running_digest
    assert digest(after, family) == change.intended_digest
    assert " ipv6 address 2001:DB8::9/64\n" in after
    assert "OOB" not in after
    back = change.undone
    lines = [line.split(" / ") for line in (*back.kept, *back.kept_after)]
    restored = dialect_of(family).applied(after, back.patch, family, lines)
    assert digest(restored, family) == back.intended_digest
