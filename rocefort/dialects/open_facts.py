"""Facts of the hardware data that no source confirms, each with the command that shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rocefort.dialects.words import line
from rocefort.models.base import Frozen
from rocefort.models.hardware.hardware import (
    Condition,
    Fact,
    Family,
    Hardware,
    Range,
    Requirement,
    Unconfirmed,
    expand_ports,
)
from rocefort.models.units import KBYTE


class OpenFact(Frozen):
    """Fact to confirm on a first real switch.

    of: a syntax family, a switch model, or `any release`. used: the switches that it concerns.
    ask: input for the switch; `?` is the help of the command line, ` / ` enters a view.
    """

    of: str
    fact: str
    ask: str
    used: tuple[str, ...] = ()


class OpenFacts(Frozen):
    """Acceptance list of a fabric, or of all hardware data."""

    name: str
    switches: int = 0
    facts: tuple[OpenFact, ...] = ()


# V300R023C00, `display current-configuration`: default lines begin with `~`.
DEFAULTS = "display current-configuration include-default"
SHOWN = re.compile(r"`([^`]+)`( and `\?`)? shows?\b")  # a note with its command
PLACEHOLDER = re.compile(r"[A-Z]|M S|[/(].*|with|without|rights|of")  # ends the words of a command
NO_LIMIT = "nothing is known"
SPLIT = "port split dimension interface"

# Ranges and numbers of a family, by field: the line that needs them. The field is also the term of
# the command that shows them.
NEEDED_BY: dict[str, str] = {
    "pfc_queues": "dcb pfc enable",
    "xoff_kbytes": "dcb pfc buffer",
    "deadlock_detect_time": "priority Q deadlock-detect",
    "deadlock_recovery_time": "priority Q deadlock-detect",
    "ecn_bytes": "drop-profile",
    "ecn_cells": "drop-profile",
    "drop_profiles": "drop-profile",
    "cell_bytes": "drop-profile",
}
# Trials of what a line needs besides a commit.
TRIED = {
    Requirement.IDLE_PORT: "{} on a port with traffic, then commit",
    Requirement.NO_ROLLBACK: "{}, commit, rollback configuration last 1",
}


@dataclass(frozen=True)
class Concern:
    """Switches that a fact concerns: those whose text has a command, or all.

    command: first words of a line; `surely` leaves out a switch whose use of it is unknown.
    """

    command: str = ""
    surely: bool = False


def of_family(family: Family) -> Iterator[tuple[OpenFact, Concern]]:
    """Yield open facts of a syntax family, each with the switches that it concerns."""
    name = str(family.name)
    fact = "what holds without a line, and which lines the factory leaves (they begin with ~)"
    yield OpenFact(of=name, fact=fact, ask=DEFAULTS), Concern()
    for field in Family.model_fields:
        value = getattr(family, field)
        if isinstance(value, (Range, Fact)) and not value.confirmed:
            here = value if isinstance(value, Range) else value.value
            fact = f"{field}, here {here}: {value.source}"
            yield OpenFact(of=name, fact=fact, ask=line(family, field)), Concern(NEEDED_BY[field])
    for entry in family.unconfirmed:
        fact = f"`{entry.command}`: {entry.note}"
        yield OpenFact(of=name, fact=fact, ask=ask_of(entry)), Concern(command=entry.command)
    for condition in family.conditions:
        if not condition.confirmed:
            fact = f"`{condition.command}`: {condition.note} ({condition.source})"
            concern = Concern(command=condition.command, surely=True)
            yield OpenFact(of=name, fact=fact, ask=_trial_of(condition)), concern


def ask_of(entry: Unconfirmed) -> str:
    """Return the command in its note, or the one that shows the line as saved."""
    if commands := SHOWN.findall(entry.note):
        command, help_too = commands[-1]
        return f"{command} ?" if help_too else command
    words: list[str] = []
    for word in entry.command.split():
        if PLACEHOLDER.fullmatch(word):
            break
        words.append(word)
    return f"display current-configuration | include {' '.join(words)}"


def _trial_of(condition: Condition) -> str:
    return TRIED.get(condition.needs[0], "{} and what the switch prints").format(condition.command)


def of_hardware(hardware: Hardware) -> Iterator[OpenFact]:
    """Yield open facts of a switch model."""
    buffer = hardware.buffer_kbytes
    if not hardware.confirmed:
        fact = f"its ports and their names: {hardware.note or hardware.source}"
        yield OpenFact(of=hardware.model, fact=fact, ask="display interface brief")
    if buffer is None or not buffer.confirmed:
        size = f"{buffer.value // KBYTE} MB: {buffer.source}" if buffer else NO_LIMIT
        fact = f"the size of its buffer: {size}"
        yield OpenFact(of=hardware.model, fact=fact, ask=line(None, "buffer_kbytes"))
    yield from _splits(hardware)
    for card in hardware.cards:
        if card.above_upper_ecn and not card.above_upper_ecn.confirmed:
            fact = f"packets above the upper ECN threshold are {card.above_upper_ecn.value}"
            fact += f" ({card.model}): {card.above_upper_ecn.source}"
            yield OpenFact(
                of=hardware.model, fact=fact, ask="display qos ecn threshold interface P"
            )


def _splits(hardware: Hardware) -> Iterator[OpenFact]:
    """Yield open facts of split types; ports of equal cards are one fact."""
    rows: dict[str, list[str]] = {}
    for entry in hardware.breakout:
        if not entry.confirmed:
            note = f"; {entry.note}" if entry.note else ""
            rows.setdefault(f"{', '.join(entry.types)}: {entry.source}{note}", []).extend(
                entry.ports
            )
    for text, ports in rows.items():
        first = expand_ports(ports[0])[0]
        yield OpenFact(
            of=hardware.model,
            fact=f"ways to split {', '.join(ports)}: {text}",
            ask=f"{SPLIT} {first} split-type ?",
        )
