"""Which display commands an emulated switch knows, by their formats: one row a command.

The formats are the reference's, keywords may be shortened by who types them. What a session has
pending is shown by `pending.py`, the state behind the switch by `show/`, the rest here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rocefort.dialects.vrp.tree import ConfigLine
from rocefort.lab import display
from rocefort.lab.show import IN_USER_VIEW, STATES
from rocefort.lab.show.asked import NO_INTERFACE, interface_of
from rocefort.lab.switch import EmulatedSwitch, PeerState

Params = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a display command can ask: the switch, and its BGP states of this moment."""

    switch: EmulatedSwitch
    peers: Callable[[], list[PeerState]]


Show = Callable[[Shown, Params], str | None]


def _current(shown: Shown, _params: Params) -> str:
    return display.configuration(shown.switch, shown.switch.running)


def _saved(shown: Shown, _params: Params) -> str:
    return display.configuration(shown.switch, shown.switch.saved)


def _interface(shown: Shown, params: Params) -> str:
    """One interface, also without a line of its own; where it is not there it says so."""
    wanted = f"interface {params['interface']}"
    switch = shown.switch
    ports = display.with_ports(switch.running, switch.ports, switch.family)
    lines = display.only(ports, wanted)
    if not lines and interface_of(switch, params["interface"]) is None:
        return NO_INTERFACE
    return display.saved_form(lines or (ConfigLine(wanted),), switch.family)


def _interfaces(shown: Shown, _params: Params) -> str:
    return display.section(shown.switch, "interface")


def _typed(shown: Shown, params: Params) -> str | None:
    """A type of configuration; one that has no line shows none, defaults are not known here."""
    if params["word"].casefold() in NOT_SHOWN:
        return None
    return display.section(shown.switch, params["word"])


def _part(shown: Shown, params: Params) -> str | None:
    """`all`, or what VRP5 takes for a type; a word that begins no line is a wrong parameter."""
    word = params["word"]
    if word.casefold() == "all":
        return _current(shown, params)
    begins = any(line.text.startswith(word) for line in shown.switch.running)
    return _typed(shown, params) if begins else None


# Of the formats of the reference: defaults, and what boards hold that are not there.
NOT_SHOWN = ("include-default", "inactive")
# Format -> what it prints, None where a parameter names nothing. Only a format's parameters reach
# the function, by their names.
DISPLAYS: Mapping[str, Show] = {
    **STATES,
    "display saved-configuration": _saved,
    "display current-configuration": _current,
    "display current-configuration [ configuration ] interface": _interfaces,
    "display current-configuration [ configuration ] interface <interface>": _interface,
    "display current-configuration configuration <word>": _typed,
    "display current-configuration <word>": _part,
}
# Only in the user view.
USER: Mapping[str, Show] = {**IN_USER_VIEW}
