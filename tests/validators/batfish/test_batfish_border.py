"""Both engines on a fabric with exits: they agree when it is whole, and on faults in its text.

Batfish's answers are real ones, recorded (see RECORD_COMMAND); with a service they are requested
again.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from rocefort.design.derive.derive import derive
from rocefort.dialects.network_text import render_all
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.models.network.network import Network
from rocefort.validators.batfish.batfish_engine import ask
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing.external_peers import with_outside
from rocefort.validators.rules.verification.answers import verify
from rocefort.validators.rules.verification.engine_difference import disagreements
from rocefort.validators.verification.batfish_recording import record, replay

TESTS = Path(__file__).parents[2]
SAMPLE = TESTS / "samples" / "border" / "fabric.yaml"
RECORDED = TESTS / "recorded"

# Name, pattern for lines of leaf01, their replacement, expected message.
FAULTS: dict[str, tuple[str, str, str]] = {
    "border": ("sysname", "sysname", ""),
    "border-no-import": (
        r"  peer 192\.0\.2\.0 route-policy EXIT-wan-a-IN import\n",
        "",
        "leaf01 takes 203.0.113.0/24 from exit wan-a, which must not come in",
    ),
    "border-no-export": (
        r"  peer 192\.0\.2\.0 route-policy EXIT-wan-a-OUT export\n",
        "",
        "leaf01 announces 10.0.1.4/32 to exit wan-a, which must not go out",
    ),
    "border-dropped": (
        "ip route-static 10.66.0.0",
        "ip route-static 10.66.2.0 255.255.255.0 NULL0\nip route-static 10.66.0.0",
        "node01 does not reach store01 by every path: leaf01 drops 10.66.2.0/24 (NULL0)",
    ),
}


@pytest.fixture(scope="module")
def networks() -> dict[str, Network]:
    """The sample read from its text, whole and with each fault."""
    network = derive(SAMPLE).network
    texts = render_all(network)
    found: dict[str, Network] = {}
    for name, (pattern, replacement, _) in FAULTS.items():
        text, count = re.subn(pattern, replacement, texts["leaf01"])
        assert count == 1
        nodes = tuple(
            node.model_copy(
                update={
                    "device": parse(
                        text if node.name == "leaf01" else texts[node.name], node.name
                    ).device
                }
            )
            for node in network.nodes
        )
        found[name] = with_outside(network.model_copy(update={"nodes": nodes}))
    return found


@pytest.mark.parametrize("name", FAULTS)
def test_both_engines_agree_and_say_what_is_wrong(networks: dict[str, Network], name: str) -> None:
    network, sentence = networks[name], FAULTS[name][2]
    solution = analyse(network)
    batfish = replay(network, RECORDED / f"{name}.json")
    assert disagreements(solution, batfish) == ()
    for state in (solution.state, batfish):
        said = [finding.message for finding in verify(network, state).findings]
        assert (sentence in said) if sentence else (said == [])


@pytest.mark.batfish
@pytest.mark.parametrize("name", FAULTS)
def test_a_live_service_says_what_is_recorded(
    networks: dict[str, Network], name: str, service: tuple[str, int]
) -> None:
    path = RECORDED / f"{name}.json"
    if os.environ.get("ROCEFORT_RECORD") == "1":
        record(networks[name], path, *service)
    assert ask(networks[name], *service) == replay(networks[name], path)
