"""Rules on AS numbers for private use and on BGP passwords: exact messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocefort.models.device.routing import BgpGroup
from rocefort.models.network.network import TextLine

Change = Callable[[Any], Any]

HERE, THERE = ("leaf01", "10.1.1.2"), ("spine01", "10.1.1.3")


def _both(small: Any, here: dict[str, Any], there: dict[str, Any]) -> Any:
    """The two ends of one session with settings of their own."""
    return small.peer(*HERE, **here).peer(*THERE, **there)


def _lent(small: Any) -> Any:
    """A password of the group at one end, of the peer at the other."""
    group = BgpGroup(name="SPINE", password="env:P")
    return (
        small.bgp("leaf01", groups=(group,))
        .peer(*HERE, group="SPINE")
        .peer(*THERE, password="env:P")
    )


UNSEEN = (
    "not judged fabric: BGP sessions have passwords; whether both ends have the same one "
    "is not in the text"
)

BGP001: list[tuple[Change, list[str]]] = [
    (lambda s: _both(s, {"password": "env:P"}, {"password": "env:P"}), []),
    (_lent, []),
    (lambda s: _both(s, {"keychain": "A"}, {"keychain": "B"}), []),  # its name is local
    (
        lambda s: s.peer(*HERE, password="env:P"),
        [
            "error leaf01: peer 10.1.1.2: the password of env:P here, no password at spine01; "
            "TCP does not connect"
        ],
    ),
    (
        lambda s: s.peer(*THERE, password="encrypted"),
        [
            "error leaf01: peer 10.1.1.2: no password here, a password at spine01; TCP does not "
            "connect",
            UNSEEN,
        ],
    ),
    (
        lambda s: _both(s, {"keychain": "A"}, {"password": "env:P"}),
        [
            "error leaf01: peer 10.1.1.2: keychain A here, the password of env:P at spine01; "
            "TCP does not connect"
        ],
    ),
    (
        lambda s: _both(s, {"password": "env:P"}, {"password": "env:Q"}),
        [
            "error leaf01: peer 10.1.1.2: the password of env:P here, the password of env:Q at "
            "spine01; they may differ"
        ],
    ),
    (
        lambda s: _both(s, {"password": "env:P"}, {"password": "env:P version 2"}),
        [
            "error leaf01: peer 10.1.1.2: the password of env:P here, the password of env:P "
            "version 2 at spine01; they may differ"
        ],
    ),
    (lambda s: _both(s, {"password": "encrypted"}, {"password": "encrypted"}), [UNSEEN]),
    (lambda s: _both(s, {"password": "encrypted"}, {"password": "readable"}), [UNSEEN]),
    (lambda s: _both(s, {"password": "encrypted"}, {"password": "env:P"}), [UNSEEN]),
]


def _line(small: Any, text: str) -> Any:
    return small.node("leaf01", unmodelled=(TextLine((), text, 7),))


SEC004: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (lambda s: s.peer(*HERE, password="encrypted").peer(*THERE, password="env:P"), []),
    (
        lambda s: s.peer(*HERE, password="readable"),
        ["error leaf01: the BGP password of peer 10.1.1.2 can be read"],
    ),
    (
        lambda s: s.bgp("leaf01", groups=(BgpGroup(name="SPINE", password="readable"),)),
        ["error leaf01: the BGP password of group SPINE can be read"],
    ),
    (
        lambda s: _line(s, "ospf authentication-mode simple <removed>"),
        ["error leaf01: `ospf authentication-mode simple <removed>` shows its secret"],
    ),
    (lambda s: _line(s, "ospf authentication-mode md5 1 cipher <removed>"), []),
    (lambda s: _line(s, "description so simple"), []),
]

ADR005: list[tuple[Change, list[str]]] = [
    (lambda s: s.bgp("leaf01", asn=64512).bgp("leaf02", asn=65534), []),
    (lambda s: s.bgp("leaf01", asn=4200000000).bgp("leaf02", asn=4294967294), []),
    (
        lambda s: s.bgp("leaf01", asn=64511).bgp("leaf02", asn=4199999999),
        [
            "warning leaf01: its AS number is 64511, which is public",
            "warning leaf02: its AS number is 4199999999, which is public",
        ],
    ),
    (
        lambda s: s.bgp("leaf01", asn=65535).bgp("leaf02", asn=23456),
        [
            "error leaf01: its AS number is 65535, which is reserved (RFC 7300)",
            "error leaf02: its AS number is 23456, which represents every 4-byte AS number "
            "(AS_TRANS, RFC 6793)",
        ],
    ),
    (lambda s: s.device("leaf01", bgp=None), []),
]


@pytest.mark.parametrize(("change", "says"), BGP001)
def test_bgp001_both_ends_authenticate_alike(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("BGP001") == says


@pytest.mark.parametrize(("change", "says"), SEC004)
def test_sec004_no_readable_secret(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("SEC004") == says


@pytest.mark.parametrize(("change", "says"), ADR005)
def test_adr005_private_asns(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("ADR005") == says
