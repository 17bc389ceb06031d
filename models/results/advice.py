"""Advice of a review: what one part of a change does to traffic, and in which order to make it."""

from __future__ import annotations

from enum import StrEnum

from rocefort.models.base import Frozen


class AdviceKind(StrEnum):
    """Parts of a change that are not growth."""

    REMOVAL = "removal"  # a switch goes
    RENAME = "rename"  # one switch, another name
    NOT_A_RENAME = "not a rename"  # it looks like one, and its id says that it is none
    HARDWARE = "hardware"  # a switch becomes another model or system
    RELEASE = "release"  # a switch runs another release
    MOVE = "move"  # a server gets another port
    PASSWORD = "password"  # noqa: S105 - a kind of change
    LOSSLESS = "lossless"  # a threshold or a profile


class AdviceStep(Frozen):
    """One step; `commands` are typed on the switch `on`, or in a shell where that is empty.

    `back`: what undoes them, as long as no later step was made.
    """

    text: str
    on: str = ""
    commands: tuple[str, ...] = ()
    back: tuple[str, ...] = ()


class Advice(Frozen):
    """What a part of a change does to traffic, and how to make it.

    `unconfirmed`: what no source says, or only one for another release. `place`: file:line.
    """

    kind: AdviceKind
    title: str
    devices: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    traffic: tuple[str, ...]
    steps: tuple[AdviceStep, ...] = ()
    unconfirmed: tuple[str, ...] = ()
    place: str = ""
