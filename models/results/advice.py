"""Advice of a review: effect of one part of a change on traffic, and the steps to make it."""

from __future__ import annotations

from enum import StrEnum

from rocefort.models.base import Frozen


class AdviceKind(StrEnum):
    """Kind of a part of a change that is not growth."""

    REMOVAL = "removal"  # a switch is removed
    RENAME = "rename"  # one switch, another name
    SERVER_RENAME = "server rename"  # one server, another name
    NOT_A_RENAME = "not a rename"  # it looks like one, but its id is another
    HARDWARE = "hardware"  # a switch gets another model or operating system
    RELEASE = "release"  # a switch runs another release
    MOVE = "move"  # a server gets another port
    PASSWORD = "password"  # noqa: S105 - a kind of change
    LOSSLESS = "lossless"  # a threshold or a profile


class AdviceStep(Frozen):
    """One step; `commands` are for the switch `on`, or for a shell if `on` is empty.

    `back`: commands that undo them, as long as no later step was made.
    """

    text: str
    on: str = ""
    commands: tuple[str, ...] = ()
    back: tuple[str, ...] = ()


class Advice(Frozen):
    """Effect of a part of a change on traffic, and the steps to make it.

    `unconfirmed`: facts without a source, or with one for another release. `place`: file:line.
    """

    kind: AdviceKind
    title: str
    devices: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    traffic: tuple[str, ...]
    steps: tuple[AdviceStep, ...] = ()
    unconfirmed: tuple[str, ...] = ()
    place: str = ""
