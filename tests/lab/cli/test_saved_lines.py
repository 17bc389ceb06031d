"""Lines that an emulated switch joins when it saves, as real ones do: card splits, PFC queues."""

from __future__ import annotations

import pytest

from rocefort.dialects.vrp.interpreter.interpreter import replay
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.text.config_tree import parse_tree
from rocefort.emulator.show import configuration
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.hardware.hardware import SyntaxFamily

V200 = SyntaxFamily.V200
SPLIT = "port split dimension interface {} split-type {}\n"
PFC = "dcb pfc\n{}"


def shown(text: str) -> str:
    switch = EmulatedSwitch("leaf01", startup=f"sysname leaf01\n{text}", family=V200)
    return configuration.whole(switch, switch.running)


@pytest.mark.parametrize(
    ("typed", "saved"),
    [
        (  # a CE8850 with V200R002C50: a line a card
            [SPLIT.format(f"100GE{c}/0/{n}", "4*25GE") for c in (1, 2) for n in range(1, 7)],
            [
                SPLIT.format("100GE1/0/1 to 100GE1/0/6", "4*25GE"),
                SPLIT.format("100GE2/0/1 to 100GE2/0/6", "4*25GE"),
            ],
        ),
        (  # annet's fixtures: single ports and ranges in one line
            [SPLIT.format(f"100GE1/0/{n}", "4*25GE") for n in (1, 3, 7, 8, 9, 10)],
            [SPLIT.format("100GE1/0/1 100GE1/0/3 100GE1/0/7 to 100GE1/0/10", "4*25GE")],
        ),
        (  # one line of a type
            [SPLIT.format("100GE1/0/1", "4*25GE"), SPLIT.format("100GE1/0/2", "2*50GE")],
            [SPLIT.format("100GE1/0/1", "4*25GE"), SPLIT.format("100GE1/0/2", "2*50GE")],
        ),
        (  # the configuration guide of V300R023C00, PFC deadlock prevention
            [PFC.format(" priority 4\n priority 5\n undo priority 3\n")],
            [PFC.format(" priority 4 5\n undo priority 3\n")],
        ),
        (  # settings of a queue stay lines of their own
            [PFC.format(" priority 4\n priority 4 turn-off threshold 5\n priority 5\n")],
            [PFC.format(" priority 4 5\n priority 4 turn-off threshold 5\n")],
        ),
    ],
)
def test_a_saved_text_joins_lines_and_means_the_same(typed: list[str], saved: list[str]) -> None:
    text = "".join(typed)
    saved_text = shown(text)
    for line in saved:
        assert line in saved_text
    assert saved_text.count("port split") == sum("port split" in line for line in saved)
    typed_text = f"sysname leaf01\n{text}"
    assert parse(saved_text, "a.cfg").device == parse(typed_text, "a.cfg").device
    started = (replay(parse_tree(each), V200)[0] for each in (saved_text, typed_text))
    assert len(set(started)) == 1  # a switch that starts with it is equal
