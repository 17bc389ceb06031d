"""Commands of an Eth-Trunk and of its member ports (V300R023C00, Eth-Trunk commands)."""

from __future__ import annotations

from rocefort.dialects.vrp.parsing import arguments
from rocefort.dialects.vrp.parsing.commands import UNMODELLED, Match, View, command
from rocefort.dialects.vrp.parsing.parts import Part
from rocefort.models.bond import trunk_number
from rocefort.models.interface import kind_of

MOST_LINKS = 256  # V300R023C00, `least active-linknumber`
HIGHEST_TRUNK = 1023  # of the largest CloudEngine; each prints its own range


def _is_trunk(part: Part) -> bool:
    return trunk_number(str(part.fields["name"])) is not None


@command("interface", r"eth-trunk (\d+)")
def _member(port: Part, match: Match) -> View | None:
    """Only a physical port can be a member."""
    if kind_of(str(port.fields["name"])) != "ethernet":
        return UNMODELLED
    port.set("eth_trunk", arguments.number(0, HIGHEST_TRUNK, "Eth-Trunk")(match[1]))
    return None


@command("interface", r"mode (manual load-balance|lacp-static|lacp-dynamic)")
def _mode(trunk: Part, match: Match) -> View | None:
    return _set(trunk, "mode", match[1])


@command("interface", r"lacp timeout (slow|fast)")
def _timeout(trunk: Part, match: Match) -> View | None:
    """Read the two fixed times; `fast user-defined` is kept unmodelled."""
    return _set(trunk, "lacp_timeout", match[1])


@command("interface", r"least active-linknumber (\d+)")
def _least(trunk: Part, match: Match) -> View | None:
    return _set(
        trunk, "minimum_links", arguments.number(1, MOST_LINKS, "number of links")(match[1])
    )


def _set(trunk: Part, name: str, value: object) -> View | None:
    if not _is_trunk(trunk):
        return UNMODELLED
    trunk.part("bond").set(name, value)
    return None
