"""Rows of the catalogue whose lines are patched by a function of their own.

`logic.single_line` patches all other lines: a new line overwrites the line of its key, and a
removed line is undone by the undo format of its row. `BY_KIND` has the functions of rows that list
several values in a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from rocefort.dialects.vrp.commands.command import SYSTEM, Row
from rocefort.dialects.vrp.patch.rulebook import logic

Function = Callable[..., Iterator[logic.Command]]


@dataclass(frozen=True)
class Handler:
    """Rows of a view, by the beginnings of their formats, and the function for their lines.

    The function receives the lines of one key; with `owner` all lines of one owner, whose name is
    that word of the line (from 0); with `whole_view` all lines of the view. port_line: beginning of
    the lines of ports that it also reads.
    """

    view: str
    formats: tuple[str, ...]
    function: Function
    owner: int | None = None
    whole_view: bool = False
    port_line: str = ""
    diff: Callable[..., Any] | None = None  # computes the differences instead of annet's default

    def covers(self, row: Row) -> bool:
        """Whether a row is one of them."""
        return row.view == self.view and self._beginning(row) is not None

    def name(self, row: Row) -> str:
        """Return the rule name of a row: one for all rows whose lines are patched together."""
        together = self.whole_view or self.owner is not None
        return self.formats[0] if together else self._beginning(row) or ""

    def _beginning(self, row: Row) -> str | None:
        return next(
            (each for each in self.formats if f"{row.format} ".startswith(f"{each} ")), None
        )


HANDLERS: tuple[Handler, ...] = (
    Handler(SYSTEM, ("port split dimension",), logic.undo_then_set),
    Handler(SYSTEM, ("dcb pfc [ <name> ]",), logic.profile, port_line="dcb pfc enable"),
    Handler(SYSTEM, ("qos buffer headroom-pool",), logic.pool),
    Handler(SYSTEM, ("diffserv domain", "drop-profile"), logic.named_view),
    Handler(SYSTEM, ("aaa", "netconf", "telemetry", "user-interface"), logic.permanent_view),
    Handler(SYSTEM, ("interface",), logic.interface, diff=logic.interface_diff),
    Handler(SYSTEM, ("bgp",), logic.undo_then_set, diff=logic.bgp_diff),
    Handler(SYSTEM, ("route-policy",), logic.replace),
    Handler(SYSTEM, ("ip route-static",), logic.replace),
    Handler(SYSTEM, ("ssh user",), logic.owned_lines, owner=2),
    Handler(SYSTEM, ("snmp-agent usm-user v3",), logic.owned_lines, owner=3),
    Handler("aaa", ("local-user",), logic.owned_lines, owner=1),
    Handler("dcb-pfc", ("priority",), logic.queue),
    Handler("interface", ("ip binding vpn-instance",), logic.undo_then_set),
    Handler("interface", ("eth-trunk",), logic.undo_then_set),
    Handler("interface", ("negotiation disable", "fec mode"), logic.fec, whole_view=True),
    Handler("interface", ("trust",), logic.trust, whole_view=True),
    Handler("interface", ("dcb pfc enable",), logic.applied_profile),
    Handler("interface", ("traffic-policy",), logic.undo_then_set),
    Handler("interface", ("qos { pq | drr | lpq }",), partial(logic.number_list, runs=1)),
    Handler("bgp", ("peer", "group"), logic.peer, owner=1),
    Handler("bgp", ("ipv4-family",), logic.permanent_view),
    Handler("bgp-af", ("peer",), logic.family_peer, owner=1),
    Handler("acl", ("rule",), logic.replace),
    Handler("acl-advanced", ("rule",), logic.replace),
)
# First words of lines that a function reads together: `reduced` keeps or drops them together.
SAME_WORD: Mapping[str, str] = {
    beginning.split()[0]: entry.formats[0].split()[0]
    for entry in HANDLERS
    for beginning in entry.formats
    if entry.whole_view
}
PORT_LINES: Mapping[str, str] = {
    entry.formats[0].split()[0]: entry.port_line for entry in HANDLERS if entry.port_line
}
PEERS = next(entry for entry in HANDLERS if entry.function is logic.peer)

BY_KIND: Mapping[str, Function] = {"list": logic.number_list, "versions": logic.snmp_versions}
