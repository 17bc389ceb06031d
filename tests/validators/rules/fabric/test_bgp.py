"""BGP rules: exact messages on faulty fabrics, and none on near misses."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Interface
from typing import Any

import pytest

from rocefort.models.device.routing import Bfd, BgpGroup
from rocefort.models.network.network import End, Link, Reserved, TextLine
from rocefort.validators.checks import check

Change = Callable[[Any], Any]


def _moved(small: Any, address: str) -> Any:
    """The far end of leaf01's first uplink takes another address."""
    return small.port("spine01", "100GE1/0/1", addresses=(IPv4Interface(address),))


def _parallel(small: Any) -> Any:
    """A second link between leaf01 and spine01."""
    link = Link(
        a=End(device="spine01", interface="100GE1/0/9"),
        b=End(device="leaf01", interface="100GE1/0/30"),
    )
    return small.change(links=(*small.network.links, link))


GROUPED = BgpGroup(name="SPINE", asn=65000, bfd_enabled=True, active=True)

BGP001: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.peer("leaf01", "10.1.1.2", asn=65009),
        ["error leaf01: peer 10.1.1.2 is expected in AS 65009, but spine01 is AS 65000"],
    ),
    (
        lambda s: s.peer("leaf01", "10.1.1.2", asn=None),
        ["error leaf01: peer 10.1.1.2 has no AS number"],
    ),
    (  # the group lends what the peer does not say
        lambda s: s.bgp("leaf01", groups=(GROUPED,)).peer(
            "leaf01", "10.1.1.2", asn=None, bfd_enabled=False, active=False, group="SPINE"
        ),
        [],
    ),
    (
        lambda s: s.unpeer("spine01", "10.1.1.3"),
        ["error leaf01: peer 10.1.1.2 does not peer back: spine01 has no peer 10.1.1.3"],
    ),
    (
        lambda s: s.unpeer("spine01", "10.1.1.3").unpeer("leaf01", "10.1.1.2"),
        ["error spine01 100GE1/0/1: no BGP session on the link to leaf01 100GE1/0/31"],
    ),
    (
        lambda s: _moved(s, "10.1.9.2/31"),
        [
            "error leaf01: peer 10.1.1.2 is not an address of any switch",
            "error spine01: no interface here is in one subnet with peer 10.1.1.3 of leaf01",
        ],
    ),
    (
        lambda s: s.peer("leaf01", "10.1.1.2", active=False),
        ["error leaf01: peer 10.1.1.2 is not enabled in the IPv4 family, so it brings no routes"],
    ),
    (
        lambda s: s.device("leaf01", bgp=None),
        ["error leaf01: no BGP process; every spine and leaf needs one"],
    ),
    (
        lambda s: s.peer("leaf01", "10.1.1.2", bfd_enabled=False),
        ["error leaf01: BFD is off for peer 10.1.1.2, but on at spine01"],
    ),
    (  # BFD at neither end
        lambda s: s.peer("leaf01", "10.1.1.2", bfd_enabled=False).peer(
            "spine01", "10.1.1.3", bfd_enabled=False
        ),
        [],
    ),
    (
        lambda s: s.device("leaf02", bfd=False),
        [
            "error leaf02: peer 10.1.2.2 has BFD enabled, but BFD is off on the switch",
            "error leaf02: peer 10.1.2.4 has BFD enabled, but BFD is off on the switch",
        ],
    ),
    (
        lambda s: s.peer("leaf01", "10.1.1.2", bfd=Bfd(min_tx_ms=300)),
        [
            "warning leaf01: peer 10.1.1.2: BFD 300/1000 ms x 3 here, "
            "BFD 1000/1000 ms x 3 at spine01"
        ],
    ),
    (  # BFD timers of a peer that has BFD off mean nothing
        lambda s: s.peer("leaf01", "10.1.1.2", bfd_enabled=False, bfd=Bfd(min_tx_ms=300)),
        ["error leaf01: BFD is off for peer 10.1.1.2, but on at spine01"],
    ),
    (  # the defaults, written out at one end
        lambda s: s.peer("leaf01", "10.1.1.2", bfd=Bfd(), keepalive_s=60, hold_s=180),
        [],
    ),
    (
        lambda s: s.peer("spine01", "10.1.1.3", keepalive_s=10, hold_s=30),
        [
            "warning leaf01: peer 10.1.1.2: keepalive 60 s and hold 180 s here, "
            "keepalive 10 s and hold 30 s at spine01"
        ],
    ),
    (  # a cable that is known excuses nothing, even where only text is
        lambda s: _moved(s, "10.1.9.2/31").change(origin="text"),
        [
            "error leaf01: peer 10.1.1.2 is not an address of any switch",
            "error spine01: no interface here is in one subnet with peer 10.1.1.3 of leaf01",
        ],
    ),
    (
        lambda s: s.peer("leaf01", "10.1.1.2", address=IPv4Address("192.0.2.1")),
        [
            "error leaf01: peer 192.0.2.1 is not an address of any switch",
            "error spine01: peer 10.1.1.3 does not peer back: leaf01 has no peer 10.1.1.2",
        ],
    ),
    (
        lambda s: _moved(s, "10.1.9.2/31").change(origin="text", links=None),
        [
            "error spine01: no interface here is in one subnet with peer 10.1.1.3 of leaf01",
            "not judged fabric: the cabling is not known, so nothing between two ports can be "
            "judged",
            "not judged leaf01: the configuration of a peer is not among the texts",
        ],
    ),
    (
        lambda s: s.node("leaf01", role=None).device("leaf01", bgp=None),
        ["not judged leaf01: no BGP process, and without a role it may need none"],
    ),
]

BGP002: list[tuple[Change, list[str]]] = [
    (  # a line that no model has sets the width of EBGP routes
        lambda s: s.bgp("leaf01", maximum_paths=1).node(
            "leaf01", unmodelled=(TextLine(("bgp 65101",), "maximum load-balancing ebgp 8", 9),)
        ),
        [
            "not judged leaf01: `maximum load-balancing ebgp 8` sets equal paths, and is not modelled"
        ],
    ),
    (lambda s: s, []),
    (
        lambda s: s.bgp("leaf01", maximum_paths=1),
        ["error leaf01: `maximum load-balancing` is 1, but there are 2 equal paths"],
    ),
    (lambda s: s.bgp("spine01", maximum_paths=1), []),
    (lambda s: s.bgp("leaf01", maximum_paths=64), []),
    (  # the intent counts three spines, though two are here
        lambda s: s.change(spines=3).bgp("leaf01", maximum_paths=3),
        ["error leaf02: `maximum load-balancing` is 2, but there are 3 equal paths"],
    ),
    (
        lambda s: _parallel(s).bgp("spine01", maximum_paths=1),
        [
            "error leaf01: `maximum load-balancing` is 2, but there are 3 equal paths",
            "error spine01: `maximum load-balancing` is 1, but there are 2 equal paths",
        ],
    ),
    (  # four spines with two links to each, one day
        lambda s: (
            s.change(reserved=Reserved(spines=4, leaves=4, links_per_pair=2))
            .bgp("leaf02", maximum_paths=8)
            .bgp("spine01", maximum_paths=1)
        ),
        [
            "warning leaf01: `maximum load-balancing` is 2, but the reserved capacity has 8 equal "
            "paths",
            "warning spine01: `maximum load-balancing` is 1, but the reserved capacity has 2 equal "
            "paths",
        ],
    ),
    (lambda s: s.change(reserved=None), []),
    (
        lambda s: s.bgp("spine02", asn=65001).bgp("leaf02", as_path_relax=True),
        [
            "error leaf01: the spines are AS 65000 and 65001, and `load-balancing as-path-relax` "
            "is off: "
            "paths over different spines are not shared"
        ],
    ),
    (
        lambda s: s.without("spine01").without("spine02").change(spines=None),
        ["not judged fabric: the number of spines is not known"],
    ),
]


@pytest.mark.parametrize(("change", "says"), BGP001)
def test_bgp001_ends_agree(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("BGP001") == says


def _timers(keepalive_s: int, hold_s: int) -> Change:
    return lambda s: s.peer("leaf01", "10.1.1.2", keepalive_s=keepalive_s, hold_s=hold_s)


def _in_group(small: Any, peer: dict[str, int]) -> Any:
    """leaf01's group has a hold time of half a keepalive; one of its peers has timers too."""
    group = GROUPED.model_copy(update={"keepalive_s": 10, "hold_s": 5})
    return small.bgp("leaf01", groups=(group,)).peer("leaf01", "10.1.1.2", group="SPINE", **peer)


SHORT_GROUP = "error leaf01: group SPINE: hold time 5 s is less than three keepalives of 10 s"
BGP006: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (_timers(10, 30), []),
    (_timers(1, 3), []),
    (_timers(1, 65535), []),
    (
        _timers(10, 29),
        ["error leaf01: peer 10.1.1.2: hold time 29 s is less than three keepalives of 10 s"],
    ),
    (_timers(1, 2), ["error leaf01: peer 10.1.1.2: hold time 2 s; the shortest is 3 s"]),
    (_timers(0, 1), ["error leaf01: peer 10.1.1.2: hold time 1 s; the shortest is 3 s"]),
    (
        _timers(0, 0),
        ["warning leaf01: peer 10.1.1.2: hold time 0: no peer is ever taken for lost"],
    ),
    (
        _timers(0, 30),
        ["warning leaf01: peer 10.1.1.2: keepalive 0: the keepalive timer does not start"],
    ),
    (lambda s: _in_group(s, {}), [SHORT_GROUP]),
    (lambda s: _in_group(s, {"keepalive_s": 60, "hold_s": 180}), [SHORT_GROUP]),
    (  # the hold time of its group with its own keepalive
        lambda s: _in_group(s, {"keepalive_s": 2}),
        [
            SHORT_GROUP,
            "error leaf01: peer 10.1.1.2: hold time 5 s is less than three keepalives of 2 s",
        ],
    ),
    (  # the switch's own hold time of 180 s
        lambda s: s.peer("leaf01", "10.1.1.2", keepalive_s=61),
        ["error leaf01: peer 10.1.1.2: hold time 180 s is less than three keepalives of 61 s"],
    ),
]


@pytest.mark.parametrize(("change", "says"), BGP006)
def test_bgp006_timers(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("BGP006") == says


def test_the_hint_of_a_short_hold_time_names_both_ways_out(small: Any) -> None:
    report = check(_timers(10, 5)(small).network)
    hints = [finding.hint for finding in report.findings if finding.rule == "BGP006"]
    assert hints == ["set the hold time to 30 s, or the keepalive to 1 s"]


@pytest.mark.parametrize(("change", "says"), BGP002)
def test_bgp002_ecmp_width(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("BGP002") == says
