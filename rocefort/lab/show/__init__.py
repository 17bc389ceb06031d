"""What display commands print of the state behind a switch, in the vendor's forms: one table.

A row is a command's format as in the reference, and what it prints. Samples are those of the
V300R023C00 command reference; where a form is only near to one, its function says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from rocefort.errors import BadInput
from rocefort.lab.show import hardware, interfaces, lossless, queues, routing
from rocefort.lab.show.asked import Peers
from rocefort.lab.switch import EmulatedSwitch


class Asked(Protocol):
    """What a display command can ask."""

    @property
    def switch(self) -> EmulatedSwitch:
        """The switch that is asked."""

    @property
    def peers(self) -> Peers:
        """Its BGP states of this moment."""


Show = Callable[[Asked, Mapping[str, str]], str | None]  # None: a parameter names nothing

# Format -> what it prints. Only a format's parameters reach the function, by their names.
_STATES: Mapping[str, Show] = {
    "display version": lambda asked, _: hardware.version(asked.switch),
    "display device": lambda asked, _: hardware.device(asked.switch),
    "display device esn": lambda asked, _: hardware.esn(asked.switch),
    "display clock": lambda asked, _: hardware.clock(asked.switch),
    "display startup": lambda asked, _: hardware.startup(asked.switch),
    "display alarm active": lambda asked, _: hardware.alarms(asked.switch),
    "display interface": lambda asked, _: interfaces.all_of(asked.switch),
    "display interface <interface>": lambda asked, params: interfaces.one(
        asked.switch, params["interface"]
    ),
    "display interface brief": lambda asked, _: interfaces.brief(asked.switch),
    "display lldp neighbor brief": lambda asked, _: interfaces.lldp(asked.switch),
    "display lldp neighbor": lambda asked, _: interfaces.lldp_detail(asked.switch),
    "display lldp neighbor interface <interface>": lambda asked, params: interfaces.lldp_detail(
        asked.switch, params["interface"]
    ),
    "display eth-trunk": lambda asked, _: interfaces.trunks(asked.switch),
    "display eth-trunk <0-511>": lambda asked, params: interfaces.trunk(
        asked.switch, f"Eth-Trunk{params['0-511']}"
    ),
    "display ip routing-table": lambda asked, _: routing.table(asked.switch),
    "display ip routing-table <ip>": lambda asked, params: routing.of_address(
        asked.switch, params["ip"], None
    ),
    "display ip routing-table <ip> <mask>": lambda asked, params: routing.of_address(
        asked.switch, params["ip"], params["mask"]
    ),
    "display bgp routing-table": lambda asked, _: routing.bgp_table(asked.switch),
    "display bgp peer": lambda asked, _: routing.bgp_peer(asked.switch, asked.peers()),
    "display bgp peer verbose": lambda asked, _: routing.bgp_verbose(asked.switch, asked.peers()),
    "display bgp peer <ip> verbose": lambda asked, params: routing.bgp_verbose(
        asked.switch, asked.peers(), params["ip"]
    ),
    "display dcb": lambda asked, _: lossless.dcb(asked.switch),
    "display dcb pfc-profile": lambda asked, _: lossless.profiles(asked.switch),
    "display dcb pfc": lambda asked, _: lossless.pfc(asked.switch),
    "display dcb pfc interface <interface>": lambda asked, params: lossless.pfc(
        asked.switch, params["interface"]
    ),
    "display dcb pfc buffer": lambda asked, _: lossless.buffers(asked.switch),
    "display dcb pfc buffer interface <interface>": lambda asked, params: lossless.buffers(
        asked.switch, params["interface"]
    ),
    "display ai-ecn calculated state": lambda asked, _: queues.ai_ecn(asked.switch),
    "display ai-ecn calculated state interface <interface>": lambda asked, params: queues.ai_ecn(
        asked.switch, params["interface"]
    ),
    "display qos ecn threshold interface <interface>": lambda asked, params: queues.ecn_threshold(
        asked.switch, params["interface"]
    ),
    "display qos queue statistics interface <interface>": lambda asked, params: queues.statistics(
        asked.switch, params["interface"]
    ),
    "display qos queue statistics slot <word>": lambda asked, params: queues.slot_statistics(
        asked.switch, params["word"]
    ),
}


def _or_error(show: Show) -> Show:
    """Show, or say in one line what of the running configuration this emulator cannot read."""

    def shown(asked: Asked, params: Mapping[str, str]) -> str | None:
        try:
            return show(asked, params)
        except BadInput as error:
            return f"Error: This emulator cannot show it: {error.problem}"

    return shown


STATES: Mapping[str, Show] = {text: _or_error(show) for text, show in _STATES.items()}
IN_USER_VIEW: Mapping[str, Show] = {"dir": lambda asked, _: hardware.directory(asked.switch)}
