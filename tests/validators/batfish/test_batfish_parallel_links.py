"""Two links for each leaf and spine of HEPS: both engines count twice the sessions and paths."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocefort.design.derive.derive import derive
from rocefort.dialects.network_text import read_back, render_all
from rocefort.validators.batfish.batfish_engine import ask
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing_results import SessionStatus
from rocefort.validators.rules.verification.engine_difference import disagreements

pytestmark = pytest.mark.batfish


def test_both_engines_count_every_link(
    service: tuple[str, int], edit_heps: Callable[..., Path]
) -> None:
    path = edit_heps(
        (
            "  spines: 8\n  leaves: 64\n",
            "  spines: 4\n  leaves: 64\n  links_per_pair: 2\nlinks_per_pair: 2\n",
        ),
        ("  server_m: 5\n", "  server_m: 5\n  fabric: {medium: sr4}\n"),
    )
    network = derive(path).network
    network = read_back(network, render_all(network))
    state = ask(network, *service)
    assert len(state.sessions) == 2 * 2 * 8 * 2
    assert {session.status for session in state.sessions} == {SessionStatus.ESTABLISHED}
    assert max(route.width for route in state.routes) == 4
    assert disagreements(analyse(network), state) == ()
