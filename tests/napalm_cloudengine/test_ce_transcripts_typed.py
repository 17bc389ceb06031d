"""The vendor's sessions, typed at the emulated command line: its answers must be the vendor's.

The driver's part of the same files is in test_ce_transcripts.py, so each of the two is compared
with a third source. Blanks at the ends of lines and remaining seconds may differ.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from rocefort.emulator.cli.session import CliSession
from rocefort.emulator.switch.personality import Persist, Personality
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.hardware.hardware import SyntaxFamily

TRANSCRIPTS = Path(__file__).parent / "transcripts"
ELSEWHERE = ("system-view", "sysname DeviceA", "commit trial 600 persist abcid")
PORT = "100GE1/0/1"  # where the reference has a Tunnel1, which Rocefort does not support
WHOLE = "display current-configuration"  # transcripts show a part: only the prompt


@dataclass(frozen=True)
class Typed:
    """Commands that bring a switch into the state where a transcript begins."""

    before: tuple[str, ...] = ()  # typed in another session
    startup: str = ""
    persist: Persist = "present"


SESSIONS = {
    "trial-confirmed": Typed(startup=f"interface {PORT}\n mtu 1400\n#\n"),
    "persist-started": Typed(),
    "persist-confirmed-elsewhere": Typed(before=ELSEWHERE),
    "persist-aborted-elsewhere": Typed(before=ELSEWHERE),
    "persist-unknown": Typed(persist="absent"),
}
OTHERS = {
    "abort-takes-its-time": "trials of emulated switches end at once",
    "commit-failed": "a sentence of older releases; the emulated switch fails with words of its own",
    "plain-aborted-elsewhere": "the session has the number 392; its refusal is in our words",
    "plain-refused-elsewhere": "its refusals are in our words",
    "rolled-back": "V200's words; those of V300 are in test_ce_sessions.py and tests/lab",
    "saved": "V200's words; those of V300 are in test_ce_sessions.py and tests/lab",
    "trial-being-cancelled": "trials of emulated switches end at once",
    "trial-of-old-vrp8": "another release: a line of progress, and an asterisk that stays",
}


def test_every_transcript_is_typed_or_it_is_said_why_not() -> None:
    files = {path.stem for path in TRANSCRIPTS.glob("*.txt")}
    assert {*SESSIONS, *OTHERS} == files
    assert not {*SESSIONS} & {*OTHERS}


def comparable(text: str) -> list[str]:
    """Return a reply as words by line; a remaining time becomes one word."""
    left = re.sub(r"(time left \(sec\): )[1-9]\d*", r"\1some", text.replace("Tunnel1", PORT))
    return [" ".join(row.split()) for row in left.splitlines() if row.strip()]


def typed_at(switch: EmulatedSwitch) -> Callable[[str], str]:
    """Open a session of the switch.

    It returns a line's output, with the prompt or question after it.
    """
    session = CliSession(switch, "netops")

    def say(line: str) -> str:
        reply = session.handle(line)
        return reply.text if reply.asks else f"{reply.text}\n{session.prompt}"

    return say


@pytest.mark.parametrize("name", SESSIONS)
def test_the_emulated_command_line_answers_as_the_vendors(name: str) -> None:
    case = SESSIONS[name]
    startup = f"#\nsysname HUAWEI\n#\n{case.startup}return\n"
    release = Personality(persist=case.persist)
    switch = EmulatedSwitch("HUAWEI", startup, SyntaxFamily.V300_G1, personality=release)
    assert switch.startup_refusals == ()
    elsewhere = typed_at(switch)
    for line in case.before:
        elsewhere(line)
    here = typed_at(switch)
    text = (TRANSCRIPTS / f"{name}.txt").read_text(encoding="utf-8").partition("\n\n")[2]
    _greeting, *rest = re.split(r"\{\{(.*?)\}\}\n", text)
    for line, expected in zip(rest[::2], rest[1::2], strict=True):
        reply = here(line.replace("Tunnel1", PORT))
        if line == WHOLE:
            reply, expected = reply.splitlines()[-1], expected.splitlines()[-1]  # noqa: PLW2901
        assert comparable(reply) == comparable(expected), line
