"""Rules on text and on cabling evidence: exact messages, and none on near misses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocefort.models.hardware.hardware import RefutedForm
from rocefort.models.hardware.site_data import PlacedCommand, SiteCommand, SiteFamily
from rocefort.models.network.network import (
    CablingEvidence,
    CablingSource,
    End,
    Position,
    Sources,
    TextLine,
)

Change = Callable[[Any], Any]


def _claims(small: Any, *claims: tuple[CablingSource, str, str | None]) -> Any:
    at = End(device="leaf01", interface="100GE1/0/31")
    told = (CablingEvidence(by=by, at=at, device=device, port=port) for by, device, port in claims)
    return small.change(claims=tuple(told))


LLDP, ADDRESSES, DESCRIPTIONS = (
    CablingSource.LLDP,
    CablingSource.ADDRESSES,
    CablingSource.DESCRIPTIONS,
)
TOP007: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (lambda s: _claims(s, (LLDP, "spine01", "100GE1/0/1"), (ADDRESSES, "spine01", None)), []),
    (
        lambda s: _claims(s, (LLDP, "spine02", None), (ADDRESSES, "spine01", "100GE1/0/1")),
        [
            "error leaf01 100GE1/0/31: LLDP reports spine02 there; by its address it is cabled to "
            "spine01 100GE1/0/1"
        ],
    ),
    (
        lambda s: _claims(
            s, (ADDRESSES, "spine01", "100GE1/0/1"), (DESCRIPTIONS, "spine01", "100GE1/0/2")
        ),
        [
            "warning leaf01 100GE1/0/31: by its address it is cabled to spine01 100GE1/0/1; its "
            "description names spine01 100GE1/0/2"
        ],
    ),
    (
        lambda s: _claims(s, (LLDP, "spine01", None), (LLDP, "spine02", None)),
        ["error leaf01 100GE1/0/31: LLDP reports spine01 there; LLDP reports spine02 there"],
    ),
]


def _line(small: Any, text: str, command: str = "", path: tuple[str, ...] = ()) -> Any:
    return small.node("leaf01", unmodelled=(TextLine(path, text, 7, command),))


TXT004: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (lambda s: _line(s, "frobnicate"), []),
    (
        lambda s: _line(s, "lacp timeout fast user-defined 3", "lacp timeout"),
        ["info leaf01: `lacp timeout` is known, but nothing judges what it sets"],
    ),
    (  # a line of routing is a warning, and one of another design is in TXT002
        lambda s: _line(s, "apply cost 7", "apply cost", ("route-policy OUT permit node 10",)),
        [
            "warning leaf01: `apply cost 7` in route-policy OUT permit node 10 may change the "
            "routes that BGP uses or announces, and nothing judges it"
        ],
    ),
    (lambda s: _line(s, "dfs-group 1", "dfs-group"), []),
]


def _template(small: Any, *lines: TextLine) -> Any:
    """Return a fabric whose site has a template that adds lines to both leaves."""
    for name in ("leaf01", "leaf02"):
        hardware = small.network.by_name[name].hardware.model_copy(
            update={"site_templates": (("cloudengine.j2", "..."),)}
        )
        small = small.node(name, hardware=hardware, unmodelled=lines)
    table = {
        f"{name}/unmodelled[{line.line}]": Position("templates/vrp/cloudengine.j2", line.line - 3)
        for name in ("leaf01", "leaf02")
        for line in lines
    }
    return replace(small, sources=Sources(table))


def _site_command(small: Any, **keys: object) -> Any:
    """Return a fabric whose site adds a command, with two lines of it on a leaf."""
    command = SiteCommand.model_validate(
        {
            "view": "system",
            "format": "frobnicate <name>",
            "effect": "frobs",
            "affects_service": False,
            "source": "typed on a CE8851",
            **keys,
        }
    )
    family = small.network.by_name["leaf01"].family
    own = SiteFamily.model_validate({**dict(family), "commands": (PlacedCommand(command),)})
    lines = tuple(TextLine((), f"frobnicate {n}", 7, "frobnicate ..") for n in "ab")
    return small.node("leaf01", family=own, unmodelled=lines)


UNCONFIRMED: list[tuple[Change, list[str]]] = [
    (_site_command, []),
    (
        lambda s: _site_command(s, confirmed=False),
        ["info leaf01: `frobnicate ..` is not confirmed on v300-g1: typed on a CE8851"],
    ),
    (lambda s: _site_command(s, confirmed=False, families=["v200"]), []),
]
TXT006: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (lambda s: _line(s, "frobnicate"), []),
    (lambda s: _template(s, TextLine((), "lacp priority 1", 7, "lacp priority")), []),
    (
        lambda s: _template(s, TextLine((), "frobnicate", 7)),
        [
            "warning templates/vrp/cloudengine.j2:4: `frobnicate` is not in the command table: not "
            "judged; 2 lines on 2 switches"
        ],
    ),
]
TEMPLATE_LINES: list[tuple[Change, list[str]]] = [
    (
        lambda s: _template(s, TextLine((), "lacp priority 1", 7, "lacp priority")),
        [
            "info templates/vrp/cloudengine.j2:4: `lacp priority` is known, but nothing judges "
            "what it sets; 2 lines on 2 switches"
        ],
    ),
]
UNKNOWN: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (lambda s: _line(s, "lacp timeout fast user-defined 3", "lacp timeout"), []),
    (
        lambda s: _line(s, "frobnicate", path=("interface 100GE1/0/1",)),
        ["warning leaf01: `frobnicate` in interface 100GE1/0/1 is not understood"],
    ),
    (
        lambda s: _line(s, "x" * 500),
        [f"warning leaf01: `{'x' * 120} ..` is not understood"],
    ),
]
POOL = RefutedForm(
    command="qos buffer headroom-pool",
    why="the switch refuses it: Error: Unrecognized command",
    source="leaf01 (CE8851-32CQ8DQ-P, V300R023C00), probed on 2026-11-27",
)
STRANGE = POOL.model_copy(update={"command": "low-latency fabric"})
TXT009: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.family("leaf01", "G1", refuted=(POOL,)),
        [
            "error leaf01: `qos buffer headroom-pool` is wrong on leaf01 (CE8851-32CQ8DQ-P, "
            "V300R023C00), probed on 2026-11-27: the switch refuses it: Error: Unrecognized command"
        ],
    ),
    (  # a form that the switch does not use
        lambda s: s.family("leaf01", "G1", refuted=(POOL,)).pfc(
            "leaf01", headroom_pool_kbytes=None
        ),
        [],
    ),
    (
        lambda s: s.family("leaf01", "V200", refuted=(STRANGE,)),
        [
            "not judged leaf01: `low-latency fabric` is wrong on leaf01 (CE8851-32CQ8DQ-P, "
            "V300R023C00), probed on 2026-11-27: the switch refuses it: Error: Unrecognized "
            "command; whether the switch uses it is not in its model"
        ],
    ),
]
TXT005: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.node("leaf01", cut_off_at=9),
        ["warning leaf01: the text ends without `return`; it may be cut off here"],
    ),
]


@pytest.mark.parametrize(("change", "expected"), TOP007)
def test_cabling_is_told_in_one_way(small: Any, change: Change, expected: list[str]) -> None:
    assert change(small).says("TOP007") == expected


@pytest.mark.parametrize(("change", "expected"), UNKNOWN)
def test_unknown_lines(small: Any, change: Change, expected: list[str]) -> None:
    assert change(small).says("TXT002") == expected


@pytest.mark.parametrize(("change", "expected"), UNCONFIRMED)
def test_commands_of_a_site(small: Any, change: Change, expected: list[str]) -> None:
    assert [line for line in change(small).says("TXT001") if "frobnicate" in line] == expected


@pytest.mark.parametrize(("change", "expected"), TXT009)
def test_refuted_forms(small: Any, change: Change, expected: list[str]) -> None:
    assert change(small).says("TXT009") == expected


@pytest.mark.parametrize(("change", "expected"), TXT006)
def test_lines_of_templates(small: Any, change: Change, expected: list[str]) -> None:
    assert change(small).says("TXT006") == expected


@pytest.mark.parametrize(("change", "expected"), TEMPLATE_LINES)
def test_known_lines_of_templates(small: Any, change: Change, expected: list[str]) -> None:
    assert change(small).says("TXT004") == expected


@pytest.mark.parametrize(("change", "expected"), TXT004)
def test_known_lines(small: Any, change: Change, expected: list[str]) -> None:
    assert change(small).says("TXT004") == expected


@pytest.mark.parametrize(("change", "expected"), TXT005)
def test_whole_text(small: Any, change: Change, expected: list[str]) -> None:
    assert change(small).says("TXT005") == expected
