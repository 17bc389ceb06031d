"""Hint before a rollout that a lost SSH session would end."""

from __future__ import annotations

import pytest

from rocefort.rollout.apply.operate import hint_of_session

HINT = "if this SSH session is lost, the current wave is rolled back; --detach or tmux avoids that"
SSH = {"SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22"}


@pytest.mark.parametrize(
    ("environment", "terminal", "hint"),
    [
        (SSH, True, HINT),
        (SSH, False, ""),  # CI, or a pipe
        ({**SSH, "TMUX": "/tmp/tmux-0/default,1,0"}, True, ""),
        ({**SSH, "STY": "1234.pts-0.host"}, True, ""),
        ({}, True, ""),  # at the console of this machine
    ],
)
def test_only_a_terminal_that_may_be_lost_has_the_hint(
    environment: dict[str, str], terminal: bool, hint: str
) -> None:
    assert hint_of_session(environment, terminal=terminal) == hint
