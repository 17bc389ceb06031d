"""Display commands of the switch state, in the vendor's forms: one table.

A row is a command's format as in the reference, and a function for its output. Samples are those of
the V300R023C00 command reference; a function whose form is only close to one states it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rocefort.base.errors import BadInput
from rocefort.emulator.show import hardware, interfaces, lossless, routing, switching
from rocefort.emulator.switch.switch import EmulatedSwitch

# Called with a switch and the parameters of the format, in their order; None: a parameter matches
# nothing.
Show = Callable[..., "str | None"]

_STATES: Mapping[str, Show] = {
    "display version": hardware.version,
    "display device": hardware.device,
    "display device esn": hardware.esn,
    "display device fan": hardware.fans,
    "display device power": hardware.power,
    "display device temperature": hardware.temperatures,
    "display device temperature all": hardware.all_temperatures,
    "display interface transceiver brief": hardware.optics,
    "display clock": hardware.clock,
    "display cpu-usage": hardware.cpu_usage,
    "display cpu": hardware.cpu,
    "display memory": hardware.memory,
    "display startup": hardware.startup,
    "display alarm active": hardware.alarms,
    "display interface": interfaces.all_of,
    "display interface <interface>": interfaces.show_interface,
    "display interface brief": interfaces.brief,
    "display lldp neighbor brief": interfaces.lldp,
    "display lldp neighbor": interfaces.lldp_detail,
    "display lldp neighbor interface <interface>": interfaces.lldp_detail,
    "display eth-trunk": interfaces.trunks,
    "display eth-trunk <0-511>": lambda switch, number: interfaces.trunk(
        switch, f"Eth-Trunk{number}"
    ),
    "display ip routing-table": routing.table,
    "display ip routing-table <ip>": routing.of_address,
    "display ip routing-table <ip> <mask>": routing.of_address,
    "display ip routing-table <ip> <mask> verbose": routing.details,
    "display ip routing-table <ip> <mask> longer-match verbose": routing.longer_details,
    "display ip vpn-instance verbose": switching.instances,
    "display arp": switching.arp,
    "display arp vpn-instance <word>": switching.arp,
    "display mac-address": switching.mac_addresses,
    "display vlan": switching.vlans,
    "display vlan <1-4094>": switching.vlans,
    "display bgp routing-table": routing.bgp_table,
    "display bgp peer": routing.bgp_peer,
    "display bgp peer verbose": routing.bgp_verbose,
    "display bgp peer <ip> verbose": routing.bgp_verbose,
    "display dcb": lossless.dcb,
    "display dcb pfc-profile": lossless.profiles,
    "display dcb pfc": lossless.pfc,
    "display dcb pfc interface <interface>": lossless.pfc,
    "display dcb pfc buffer": lossless.buffers,
    "display dcb pfc buffer interface <interface>": lossless.buffers,
    "display ai-ecn calculated state": lossless.ai_ecn,
    "display ai-ecn calculated state interface <interface>": lossless.ai_ecn,
    "display qos ecn statistics": lossless.ecn_statistics,
    "display qos ecn threshold interface <interface>": lossless.ecn_threshold,
    "display qos queue statistics interface <interface>": lossless.statistics,
    "display qos queue statistics slot <word>": lossless.slot_statistics,
}


def _or_error(show: Show) -> Show:
    """Wrap a display: a configuration that this emulator cannot read gives an error in one line."""

    def shown(switch: EmulatedSwitch, *params: str) -> str | None:
        try:
            return show(switch, *params)
        except BadInput as error:
            return f"Error: This emulator cannot show it: {error.problem}"

    return shown


STATES: Mapping[str, Show] = {text: _or_error(show) for text, show in _STATES.items()}
IN_USER_VIEW: Mapping[str, Show] = {"dir": hardware.directory}
