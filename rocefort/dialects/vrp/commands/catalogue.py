"""Table of VRP commands with their effects: of a family, and of a site that adds to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache

from rocefort.dialects.syntax_families import load_families
from rocefort.dialects.vrp.commands import (
    table_bgp,
    table_interface,
    table_lossless,
    table_management,
    table_packet_filters,
    table_system,
)
from rocefort.dialects.vrp.commands.command import PORT, SYSTEM, Row, with_ranges
from rocefort.models.hardware.hardware import SyntaxFamily

__all__ = [
    "OPAQUE_VIEW",
    "PORT",
    "PROMPTS",
    "QUESTIONS",
    "SYSTEM",
    "CommandQuestion",
    "Row",
    "rows_by_view",
]


GROUPS = (
    *table_system.GROUPS,
    *table_lossless.GROUPS,
    *table_interface.GROUPS,
    *table_packet_filters.VIEWS,
    *table_bgp.GROUPS,
    *table_management.GROUPS,
)


@cache
def rows_by_view() -> Mapping[str, tuple[Row, ...]]:
    """Return the rows of each view with the ranges of the families that have them."""
    families = load_families()
    views: dict[str, list[Row]] = defaultdict(list)
    for number, rows in enumerate(GROUPS):
        for row in rows:
            block = number * 1000 if row.block else 0
            ranked = replace(row, rank=number * 1000 + len(views[row.view]), block=block)
            views[row.view] += with_ranges(ranked, families)
    return {view: tuple(rows) for view, rows in views.items()}


OPAQUE_VIEW = "opaque"  # its lines are kept word for word; each is its own key

PROMPTS: Mapping[str, str] = {  # a view's suffix of the prompt; CR, examples of each command
    "vlan": "vlan{1}",
    "dcb-pfc": "dcb-pfc-{2}",
    "diffserv": "dsdomain-{2}",
    "bfd": "bfd",
    "vpn-instance": "vpn-instance-{2}",
    "drop-profile": "drop-{1}",
    "ai-service": "ai-service",
    "ai-ecn": "ai-ecn",
    "acl": "acl4-{acl}-{2}",
    "acl-advanced": "acl4-advance-{2}",
    "traffic-classifier": "classifier-{2}",
    "traffic-behavior": "behavior-{2}",
    "traffic-policy": "trafficpolicy-{2}",
    "aaa": "aaa",
    "interface": "{1}",
    "bgp": "bgp",
    "bgp-af": "af-ipv4",
    "route-policy": "route-policy",
    "netconf": "netconf",
    "user-group": "user-group-{2}",
    "telemetry": "telemetry",
    "sensor-group": "sensor-group-{2}",
    "destination-group": "destination-group-{2}",
    "subscription": "subscription-{2}",
    "vty": "ui-vty{2}-{3}",
    OPAQUE_VIEW: "{0}",
}


@dataclass(frozen=True, slots=True)
class CommandQuestion:
    """A [Y/N] question of a command; `beside` must match a line of its view."""

    view: str
    line: str  # regular expression over the typed line
    text: str
    source: str
    beside: str = ""
    always: bool = False  # also for an unchanged configuration


RESET = "Warning: Changing the parameter in this command resets the peer session. Continue? [Y/N]:"
ANNET = "annet huawei.deploy, dialogs"

QUESTIONS: tuple[CommandQuestion, ...] = (
    CommandQuestion(
        SYSTEM,
        r"(undo )?port split dimension interface .*",
        "Warning: This operation will delete current port(s) and all configurations of the current "
        "port(s) will be cleared. After the operation is done, it may take a few seconds before "
        "viewing the port information. Continue? [Y/N]:",
        "CR Interface_Basic_Configuration_Commands, `port split` (dynamic split)",
    ),
    CommandQuestion(
        SYSTEM, r"port split refresh", "Are you sure to continue? [Y/N]", ANNET, always=True
    ),
    CommandQuestion(
        SYSTEM,
        r"undo bgp \S+",
        "Warning: All BGP configurations will be deleted. Continue? [Y/N]:",
        ANNET,
    ),
    CommandQuestion(
        SYSTEM, r"undo bfd", "Warning: The BFD process will be deleted. Continue? [Y/N]:", ANNET
    ),
    CommandQuestion(
        SYSTEM,
        r"undo vlan \d+",
        "Warning: The configurations of the VLAN will be deleted. Continue? [Y/N]:",
        ANNET,
    ),
    CommandQuestion(
        SYSTEM,
        r"dcb pfc global disable",
        "Warning: This command will disable PFC on all ports. Continue? [Y/N]:",
        "CR DCB_Configuration_Commands",
    ),
    CommandQuestion(
        SYSTEM,
        r"undo stelnet server enable",
        "Warning: The operation will stop the STelnet server. Do you want to continue? [Y/N]:",
        ANNET,
    ),
    CommandQuestion(
        "bgp",
        r"undo peer \S+",
        "Warning: All the configurations related to the BGP peer will be deleted. Continue? [Y/N]:",
        ANNET,
    ),
    CommandQuestion(
        "bgp",
        r"undo peer \S+ group \S+",
        "Warning: This operation will reset the peer session. Continue? [Y/N]:",
        ANNET,
    ),
    CommandQuestion("bgp", r"(undo )?router-id.*", RESET, ANNET, beside=r"peer .*"),
    CommandQuestion("bgp", r"(undo )?graceful-restart", RESET, ANNET, beside=r"peer .*"),
    CommandQuestion("bgp", r"(undo )?peer \S+ timer .*", RESET, ANNET),
    CommandQuestion(
        "bgp-af",
        r"(undo )?peer \S+ enable",
        "Warning: This operation will reset the peer session. Continue? [Y/N]:",
        ANNET,
    ),
    CommandQuestion(
        "interface",
        r"port link-type .*",
        "Warning: This command will delete VLANs on this port. Continue? [Y/N]:",
        ANNET,
        beside=r"port (default|trunk) .*",
    ),
)


MOST_SITES = 32  # syntaxes of sites in a cache: both sides of a review, and some fabrics


@dataclass(frozen=True)
class SiteSyntax:
    """Syntax family with rows of a site: a key of the caches, as the family itself is.

    first: beginnings of lines that a patch sets before all others.
    """

    family: SyntaxFamily
    rows: tuple[Row, ...] = field(hash=False)  # their hash takes longer than a lookup
    first: tuple[str, ...] = field(default=(), hash=False)


Syntax = SyntaxFamily | SiteSyntax


def family_of(syntax: Syntax) -> SyntaxFamily:
    """Return the family of a syntax."""
    return syntax.family if isinstance(syntax, SiteSyntax) else syntax


def site_rows(syntax: Syntax | None) -> tuple[Row, ...]:
    """Return the rows that the site adds."""
    return syntax.rows if isinstance(syntax, SiteSyntax) else ()


@lru_cache(maxsize=MOST_SITES)
def rows_with(syntax: Syntax) -> Mapping[str, tuple[Row, ...]]:
    """Return the rows of each view that a syntax has."""
    shipped, own, family = rows_by_view(), site_rows(syntax), family_of(syntax)
    return {
        view: tuple(
            row
            for row in (*shipped.get(view, ()), *own)
            if row.view == view and family in row.families
        )
        for view in dict.fromkeys((*shipped, *(row.view for row in own)))
    }
