"""Lines that need more than a commit are recognised: in the data, in a patch, in a plan's text."""

from __future__ import annotations

import pytest
from planned import make_changes

from rocefort.change.differences_report import changes_report
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.load.documents import load_catalogue
from rocefort.dialects.changes import conditions_of
from rocefort.dialects.network_text import render_all
from rocefort.models.hardware.hardware import Requirement, SyntaxFamily
from rocefort.reports.writers.terminal import text_of

FAMILIES = load_catalogue().families
V200, G1, G2 = SyntaxFamily.V200, SyntaxFamily.V300_G1, SyntaxFamily.V300_G2
SAVE, REBOOT, FREES, IDLE, PFC_OFF, STAYS = (
    Requirement.SAVE,
    Requirement.REBOOT,
    Requirement.RESTART_FREES,
    Requirement.IDLE_PORT,
    Requirement.PFC_OFF,
    Requirement.NO_ROLLBACK,
)


@pytest.mark.parametrize(
    ("family", "lines", "needs"),
    [
        (V200, ["low-latency fabric"], [(SAVE, REBOOT)]),
        (V200, ["undo low-latency fabric"], [(SAVE, REBOOT)]),
        (G1, ["low-latency fabric"], []),  # V200 only
        (V200, ["low-latency fabrics"], []),
        (G1, ["interface 100GE1/0/1", " dcb pfc enable mode manual"], [(IDLE,)]),
        (G1, ["interface 100GE1/0/1", " undo dcb pfc enable"], [(FREES,)]),
        (G2, ["interface 100GE1/0/1", " undo dcb pfc enable"], []),
        (G2, ["undo qos buffer headroom-pool size 4 mbytes slot 1"], [(PFC_OFF,)]),
        (G1, ["undo qos buffer headroom-pool size 4 mbytes slot 1"], []),
        (G2, [" dcb pfc buffer 4 hdrm 64 kbytes", " undo dcb pfc buffer 4"], [(IDLE,), (IDLE,)]),
        (G1, ["port split dimension interface 100GE1/0/1 split-type 4*25GE"], [(IDLE, STAYS)]),
        (G1, ["undo port split dimension interface 100GE1/0/1"], [(IDLE, STAYS)]),
        (G1, ["sysname a", "vlan batch 10", "dcb pfc", " priority 4"], []),
    ],
)
def test_what_a_line_needs(
    family: SyntaxFamily, lines: list[str], needs: list[tuple[Requirement, ...]]
) -> None:
    assert [condition.needs for condition in conditions_of(lines, FAMILIES[family])] == needs


def test_a_line_names_its_view() -> None:
    patch = ["interface 100GE1/0/1", " mtu 9000", " dcb pfc enable mode manual", " quit", "bfd"]
    (condition,) = conditions_of(patch, FAMILIES[G1])
    assert (condition.view, condition.line) == (
        "interface 100GE1/0/1",
        "dcb pfc enable mode manual",
    )
    assert str(condition) == (
        "`dcb pfc enable` needs an idle port: may be refused while the port is congested; "
        "configure it on an idle port, or one shut down"
    )


@pytest.mark.parametrize("family", [V200, G1, G2])
def test_every_condition_names_a_source(family: SyntaxFamily) -> None:
    conditions = FAMILIES[family].conditions
    assert conditions
    assert all(c.source and c.note for c in conditions)
    # no available reference lists the models of V200, except its best practice
    unsure = {c.command for c in conditions if not c.confirmed}
    assert (unsure == {c.command for c in conditions} - {"low-latency fabric"}) == (family is V200)


def test_a_plan_tells_it(heps: DerivedNetwork) -> None:
    texts = render_all(heps.network)
    pfc = " dcb pfc enable mode manual\n"
    running = {**texts, "leaf03": texts["leaf03"].replace(pfc, "", 1)}
    changes = {c.device: c for c in make_changes(heps.network, running)}
    assert [c.line for c in changes["leaf03"].conditions] == [pfc.strip()]
    assert changes["leaf04"].conditions == ()
    words = " ".join(text_of(*changes_report(changes.values())).split())
    assert (
        "`dcb pfc enable` needs an idle port: may be refused while the port is congested; "
        "configure it on an idle port, or one shut down (1 line)"
    ) in words
