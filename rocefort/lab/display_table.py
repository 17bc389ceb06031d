"""Which display commands an emulated switch knows, by their formats: one row a command.

The formats are the reference's, keywords may be shortened by who types them. What a session has
pending is shown by `pending.py`, the state behind the switch by `show/`, the rest here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rocefort.lab import display
from rocefort.lab.show import IN_USER_VIEW, STATES
from rocefort.lab.switch import EmulatedSwitch, PeerState

Params = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a display command can ask: the switch, and its BGP states of this moment."""

    switch: EmulatedSwitch
    peers: Callable[[], list[PeerState]]


def _current(shown: Shown, _params: Params) -> str:
    return display.configuration(shown.switch, shown.switch.running)


def _saved(shown: Shown, _params: Params) -> str:
    return display.configuration(shown.switch, shown.switch.saved)


def _interface(shown: Shown, params: Params) -> str:
    return display.section(shown.switch.running, f"interface {params['interface']}")


def _interfaces(shown: Shown, _params: Params) -> str:
    return display.section(shown.switch.running, "interface")


def _section(shown: Shown, params: Params) -> str:
    return display.section(shown.switch.running, params["word"])


# Format -> what it prints. Only a format's parameters reach the function, by their names.
DISPLAYS: Mapping[str, Callable[[Shown, Params], str]] = {
    **STATES,
    "display saved-configuration": _saved,
    "display current-configuration": _current,
    "display current-configuration [ configuration ] interface": _interfaces,
    "display current-configuration [ configuration ] interface <interface>": _interface,
    "display current-configuration [ configuration ] <word>": _section,
}
# Only in the user view.
USER: Mapping[str, Callable[[Shown, Params], str]] = {**IN_USER_VIEW}
