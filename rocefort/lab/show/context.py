"""Where the displays of a switch find the state behind it."""

from __future__ import annotations

from rocefort.lab.state.model import EmulatedState
from rocefort.lab.switch.state_source import InterfaceState, StateSource
from rocefort.lab.switch.switch import EmulatedSwitch

# Own wording: the reference does not show what an interface leads to that is not there.
NO_INTERFACE = "Error: The interface does not exist."


def behind_of(switch: EmulatedSwitch) -> StateSource:
    """What stands behind a switch; behind one that is in no lab, a model of it alone."""
    return switch.behind or EmulatedState({switch.name: switch})


def interface_of(switch: EmulatedSwitch, name: str) -> InterfaceState | None:
    """The state of an interface; None: there is no such interface."""
    states = behind_of(switch).interfaces(switch.name)
    return next((state for state in states if state.name == name), None)
