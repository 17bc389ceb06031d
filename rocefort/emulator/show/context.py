"""Access of display commands to the state of a switch."""

from __future__ import annotations

from rocefort.emulator.state.model import EmulatedState
from rocefort.emulator.switch.state_source import InterfaceState, StateSource
from rocefort.emulator.switch.switch import EmulatedSwitch

# Own wording: the reference does not show the output for an unknown interface.
NO_INTERFACE = "Error: The interface does not exist."


def state_source_of(switch: EmulatedSwitch) -> StateSource:
    """Return the state source of a switch; for a switch outside a lab, a model of it alone."""
    return switch.state_source or EmulatedState({switch.name: switch})


def interface_of(switch: EmulatedSwitch, name: str) -> InterfaceState | None:
    """Return the state of an interface; None if the switch does not have it."""
    states = state_source_of(switch).interfaces(switch.name)
    return next((state for state in states if state.name == name), None)
