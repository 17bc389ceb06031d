"""Both engines on the text of HEPS: they agree when it is whole, and on three faults in the text.

Batfish's answers are real ones, recorded (see RECORD_COMMAND); with a service they are requested
again.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.data import sources_of
from rocefort.dialects.network_text import render_all
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.models.network.network import Network, Node, Position, Sources
from rocefort.validators.batfish.batfish_engine import ask
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing.reachability_matrix import denied_pairs
from rocefort.validators.rules.verification.answers import verify
from rocefort.validators.rules.verification.engine_difference import disagreements
from rocefort.validators.verification.batfish_recording import record, replay

RECORDED = Path(__file__).parents[2] / "recorded"


@dataclass(frozen=True)
class Fault:
    """Fault in one device's text, and the finding that both engines must have."""

    name: str
    device: str
    pattern: str  # lines that match it ...
    replacement: str  # ... become this
    line: str  # the line of text that the finding points at
    sentence: str


FAULTS = [
    Fault(
        name="heps-wrong-as",
        device="leaf03",
        pattern=r" peer 10\.1\.0\.32 as-number 65000\n",
        replacement=" peer 10.1.0.32 as-number 65009\n",
        line=" peer 10.1.0.32 as-number 65009",
        sentence=(
            "BGP session of leaf03 with spine01 (10.1.0.32) is not compatible: "
            "leaf03 expects AS 65009, spine01 is AS 65000"
        ),
    ),
    Fault(
        name="heps-no-ecmp",
        device="leaf05",
        pattern=r"  maximum load-balancing 32\n",
        replacement="",
        line="bgp 65105",
        sentence=(
            "leaf05 has 1 of 2 paths to 10.0.1.1/32 of leaf01 and to 15 more prefixes of other "
            "leaves: `maximum load-balancing` is 1"
        ),
    ),
    Fault(
        name="heps-missing-session",
        device="leaf02",
        pattern=r" +peer 10\.1\.0\.16 .*\n",
        replacement="",
        line="bgp 65102",
        sentence=(
            "BGP session of spine01 with leaf02 (10.1.0.17) is not compatible: "
            "leaf02 has no peer 10.1.0.16"
        ),
    ),
]


def edited(heps: DerivedNetwork, fault: Fault | None) -> tuple[Network, Sources, dict[str, str]]:
    """HEPS parsed from its text, one text edited by hand."""
    texts = render_all(heps.network)
    if fault:
        text = re.sub(fault.pattern, fault.replacement, texts[fault.device])
        assert text != texts[fault.device]
        texts[fault.device] = text
    nodes: list[Node] = []
    table: dict[str, Position] = {}
    for node in heps.network.nodes:
        parsed = parse(texts[node.name], f"{node.name}.cfg")
        assert parsed.unmodelled == ()
        table |= sources_of(parsed, f"{node.name}.cfg")
        nodes.append(node.model_copy(update={"device": parsed.device}))
    return heps.network.model_copy(update={"nodes": tuple(nodes)}), Sources(table), texts


def test_both_engines_agree_on_heps_and_find_nothing(heps: DerivedNetwork) -> None:
    network, sources, _ = edited(heps, None)
    solution = analyse(network, sources)
    batfish = replay(network, RECORDED / "heps.json")
    assert disagreements(solution, batfish) == ()
    for state in (solution.state, batfish):
        assert verify(network, state, sources).findings == ()
        assert len(state.sessions) == 32
        denied = 2 * 4  # beamlines and the transfer server
        assert denied_pairs(network, state.reachability) == denied
        assert (state.reachability.delivered, state.reachability.pairs) == (132 - denied, 12 * 11)
    leaves = {f"leaf{n:02}" for n in range(1, 9)}
    prefixes = {s.prefix: s.leaf for s in network.segments or ()}
    widths = {
        (r.device, r.prefix): r.width
        for r in batfish.routes
        if r.device in leaves and r.prefix in prefixes
    }
    assert set(widths.values()) == {2}
    assert len(widths) == sum(8 - 1 for _ in prefixes)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_both_engines_find_the_fault_with_its_device_and_line(
    heps: DerivedNetwork, fault: Fault
) -> None:
    network, sources, texts = edited(heps, fault)
    solution = analyse(network, sources)
    batfish = replay(network, RECORDED / f"{fault.name}.json")
    assert disagreements(solution, batfish) == ()
    for state in (solution.state, batfish):
        findings = verify(network, state, sources).findings
        (found,) = [f for f in findings if f.message == fault.sentence]
        assert found.where.device == fault.device
        assert found.where.line is not None
        assert texts[fault.device].splitlines()[found.where.line - 1] == fault.line


@pytest.mark.batfish
@pytest.mark.parametrize(
    "fault", [None, *FAULTS], ids=lambda fault: fault.name if fault else "heps"
)
def test_a_live_service_says_what_is_recorded(
    heps: DerivedNetwork, fault: Fault | None, service: tuple[str, int]
) -> None:
    network, _, _ = edited(heps, fault)
    path = RECORDED / f"{fault.name if fault else 'heps'}.json"
    if os.environ.get("ROCEFORT_RECORD") == "1":
        record(network, path, *service)
    assert ask(network, *service) == replay(network, path)
