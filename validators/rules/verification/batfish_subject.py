"""Subject of rules on Batfish's checks of a snapshot."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import ClassVar

from rocefort.base.errors import BadInput
from rocefort.dialects.eos import EosNames
from rocefort.models.finding import Report
from rocefort.models.network.network import Network, Node, Sources
from rocefort.validators.batfish.snapshot import Checks, Files, host_name
from rocefort.validators.facts.overview import Overview
from rocefort.validators.routing.underlay import DevicePlace
from rocefort.validators.rules.registry import registered
from rocefort.validators.rules.verification.answers import AnswerSubject, answer_report

# Blocks of the translation, each with the field of the Device from which it was translated.
BLOCKS = {
    "route-map RP-": "route_policies[{}]",
    "ip prefix-list PL-": "prefix_lists[{}]",
    "ip access-list TP-": "filters.policies[{}]",
    "vrf instance VRF-": "vrfs[{}]",
    "router bgp ": "bgp",
    "ip route ": "static_routes",
}


def verify_checks(
    network: Network,
    files: Files,
    checks: Checks,
    sources: Sources | None = None,
    today: date | None = None,
) -> Report:
    """Judge the checks of Batfish. files: the snapshot, to map its lines to Devices."""
    overview = Overview(network, sources or Sources())
    subjects = [BatfishSubject(overview, one, files, checks) for one in registered(BatfishSubject)]
    return answer_report(subjects, today)


@dataclass(frozen=True)
class BatfishSubject(AnswerSubject):
    """Checks of Batfish, and the mapping of its names, files and lines to Devices."""

    files: Files
    checks: Checks

    given: ClassVar[str] = "a Batfish service"

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """Switches by Batfish's name."""
        return {host_name(node.name): node for node in self.network.nodes}

    def name(self, node: str) -> str:
        """Name of a switch or a server in the network."""
        if node in self.nodes:
            return self.nodes[node].name
        return self._servers.get(node, node)

    @cached_property
    def _servers(self) -> Mapping[str, str]:
        return {host_name(server.name): server.name for server in self.network.servers or ()}

    def port(self, node: str, interface: str) -> DevicePlace:
        """Position of an interface that Batfish names."""
        try:
            ours = EosNames.to_vrp(interface)
        except BadInput:
            ours = interface  # of a server
        return DevicePlace(self.name(node), f"interfaces[{ours}]", ours)

    def line(self, file: str, number: int) -> DevicePlace:
        """Position in a Device from which a line of the snapshot was translated."""
        node = self.name(file.rpartition("/")[2].removesuffix(".cfg").removesuffix(".json"))
        lines = self.files.get(file, b"").decode().splitlines()[:number]
        head = next((line for line in reversed(lines) if line[:1] not in (" ", "!", "")), "")
        if match := re.fullmatch(r"interface (\S+)", head):
            return self.port(host_name(node), match[1])
        for start, path in BLOCKS.items():
            if head.startswith(start):
                return DevicePlace(node, path.format(head.removeprefix(start).split()[0]))
        return DevicePlace(node)
