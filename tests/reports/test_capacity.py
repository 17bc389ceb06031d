"""A demand against a fabric in words and in the picture of the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.models.network.demand import Demand
from rocefort.reports.writers.terminal import text_of
from rocefort.validators.capacity.capacity import capacity
from rocefort.validators.capacity.capacity_results import (
    AfterFailure,
    CapacityReport,
    DemandTotals,
    Use,
)
from rocefort.verification.capacity import (
    MOST_ROWS,
    NO_DEMAND,
    capacity_report,
    number,
    percent,
    verdicts,
)
from rocefort.verification.page.fabric_page import PageContent, page
from rocefort.verification.page.pictures import picture

Browse = Callable[..., dict[str, Any]]


def _use(name: str, kind: str = "leaf", **changes: Any) -> Use:
    fields = {"out_gbps": 160, "in_gbps": 40, "capacity_gbps": 200, "utilisation": 0.8}
    fields |= {"headroom_gbps": 40, "factor": 1.25, "left_gbps": 100, "after": 0.9}
    given = {"kind": kind, "name": name, "failure": "spine1"} | fields | changes
    return Use.model_validate(given)


def _after(*failures: str, **changes: Any) -> AfterFailure:
    fields = {"kind": "spine", "at": failures, "utilisation": 0.9, "fullest": "leaf1 p to spine2"}
    fields |= {"factor": 1.111111, "headroom_gbps": 33.3, "bisection": 0.5}
    return AfterFailure.model_validate({"failures": failures} | fields | changes)


def _capacity(**changes: Any) -> CapacityReport:
    asked = DemandTotals(name="t", file="d.yaml", peak_gbps=300, flows=(("all servers", 300),))
    fields: dict[str, Any] = {"fabric": "t", "spines": 2, "leaves": 2, "asked": asked}
    fields |= {"uses": (_use("leaf1"), _use("leaf2")), "utilisation": 0.8}
    fields |= {"fullest": "leaf1 p to spine1", "factor": 1.25, "headroom_gbps": 75}
    fields |= {"failures": (_after("spine1", "spine2"),)}
    return CapacityReport.model_validate(fields | changes)


OVER = _use("leaf1", "servers", utilisation=2, fullest="srv1", capacity_gbps=25)
NOWHERE = DemandTotals(
    name="t", file="", peak_gbps=300, flows=(("x", 300),), no_path_gbps=40, no_path="leaf1 to leaf3"
)
PART = DemandTotals(name="t", file="d.yaml", peak_gbps=3200, flows=(("bl01 to compute", 220),))
TABLE: list[tuple[dict[str, Any], list[str]]] = [
    (
        {},
        [
            "fits: the fullest cable, leaf1 p to spine1, is used to 80.0 %; headroom 1.25 times "
            "the demand, 75 Gb/s",
            "fits after each of 2 single failures: after the worst, the loss of spine1 or spine2, "
            "the fullest cable is used to 90.0 %; headroom 1.11 times the demand, 33.3 Gb/s",
        ],
    ),
    (
        {"failures": (_after("spine1", utilisation=1.6, headroom_gbps=-112.5),)}
        | {"spines_needed_after": 3, "reserved_spines": 8},
        [
            "fits: the fullest cable, leaf1 p to spine1, is used to 80.0 %; headroom 1.25 times "
            "the demand, 75 Gb/s",
            "warning: it does not fit after 1 of 1 single failure; the worst, the loss of spine1, "
            "loads leaf1 p to spine2 to 160 %: 187.5 of 300 Gb/s fit",
            "3 spines with the same links would carry it after one failure, too (now 2); the "
            "fabric reserves room for 8",
        ],
    ),
    (
        {"failures": (_after("leaf1", "leaf2", kind="leaf", lost_gbps=150, utilisation=0.4),)},
        [
            "fits: the fullest cable, leaf1 p to spine1, is used to 80.0 %; headroom 1.25 times "
            "the demand, 75 Gb/s",
            "fits after each of 2 single failures: after the worst, the loss of leaf1 or leaf2, "
            "the fullest cable is used to 40.0 %; headroom 1.11 times the demand, 33.3 Gb/s",
            "single-homed: the loss of leaf1 or leaf2 takes 150 Gb/s of demand with its own "
            "servers, besides overloaded links",
        ],
    ),
    (
        {"failures": (_after("spine1", cut_gbps=300, utilisation=0),)},
        [
            "fits: the fullest cable, leaf1 p to spine1, is used to 80.0 %; headroom 1.25 times "
            "the demand, 75 Gb/s",
            "warning: it does not fit after 1 of 1 single failure; the worst, the loss of spine1, "
            "leaves 300 Gb/s without a path",
        ],
    ),
    (
        {"utilisation": 1.5, "factor": 0.666667, "headroom_gbps": -100, "failures": ()}
        | {"spines_needed": 3, "spines_needed_after": 4},
        [
            "does not fit: leaf1 p to spine1 is loaded to 150 % of its speed; 200 of 300 Gb/s fit "
            "between leaves, 100 are too many",
            "3 spines with the same links would carry it between leaves, 4 also after one failure "
            "(now 2)",
        ],
    ),
    (
        {"uses": (_use("leaf1"), OVER), "failures": ()},
        [
            "does not fit: srv1 on leaf1 is loaded to 200 % of its port; the ports of all servers "
            "in the fabric are 25 Gb/s"
        ],
    ),
    (
        {"asked": PART, "utilisation": 0, "factor": None, "headroom_gbps": None, "failures": ()},
        [
            "fits: nothing crosses the spines",
            "not judged: the flows are 220 of 3,200 Gb/s at peak; no flow carries the rest",
        ],
    ),
    (
        {"asked": NOWHERE, "failures": ()},
        [
            "does not fit: 40 Gb/s have no path, first leaf1 to leaf3; `rocefort verify` shows the reason",
        ],
    ),
    (
        {"utilisation": 0, "factor": None, "headroom_gbps": None, "failures": ()},
        ["fits: nothing crosses the spines"],
    ),
    ({"asked": None}, []),
]


@pytest.mark.parametrize(("changes", "wanted"), TABLE)
def test_each_verdict_has_its_sentence(changes: dict[str, Any], wanted: list[str]) -> None:
    found = _capacity(**changes)
    assert list(verdicts(found)) == wanted
    assert CapacityReport.model_validate_json(found.model_dump_json()) == found
    assert max(map(len, text_of(*capacity_report(found), width=80).splitlines())) <= 80


def test_without_a_demand_the_supply_is_printed() -> None:
    text = text_of(*capacity_report(_capacity(asked=None)), width=80)
    assert NO_DEMAND in text
    assert "Gb/s                     all  left\n" in text
    assert "uplinks of leaf1, leaf2  200   100\n" in text
    assert "used" not in text


def test_many_unlike_leaves_are_summed_up() -> None:
    uses = tuple(_use(f"leaf{n}x", utilisation=n / 1000, out_gbps=n) for n in range(1, 101))
    text = text_of(*capacity_report(_capacity(uses=uses)), width=80)
    assert " leaf100x" in text
    assert f"uplinks of: {100 - MOST_ROWS} more, none above 7.6 %" in text


@pytest.mark.parametrize(
    ("share", "wanted"),
    [(0, "0.0 %"), (0.9999, "99.9 %"), (1, "100 %"), (1.0001, "100.01 %"), (32, "3,200 %")],
)
def test_what_is_too_much_never_reads_as_100(share: float, wanted: str) -> None:
    assert percent(share) == wanted


def test_numbers() -> None:
    assert [number(n) for n in (0, 74.074, 3200, -2500, 1e6)] == [
        "0", "74.1", "3,200", "-2,500", "1,000,000",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def shown(heps: DerivedNetwork, heps_content: PageContent) -> PageContent:
    """HEPS's page with a demand that fits whole, and not after the loss of a spine."""
    demand = Demand.model_validate(
        {
            "demand": "t",
            "peak": "600 Gb/s",
            "flows": [
                {
                    "senders": {"segments": ["beamline"]},
                    "receivers": {"segments": ["compute"]},
                    "share": 1,
                }
            ],
        }
    )
    return replace(heps_content, capacity=capacity(heps.network, demand, heps.sources))


def test_the_picture_is_on_one_scale(shown: PageContent) -> None:
    drawn = picture(shown.capacity)
    assert drawn is not None
    bars = {bar.name: bar for bar in drawn.bars}
    assert list(bars) == [
        "leaf01, leaf04", "leaf02, leaf03", "leaf05 to leaf08", "spine01, spine02", "bisection",
    ]  # fmt: skip
    beamlines = bars["leaf05 to leaf08"]  # 150 of 200 Gb/s, then of 100; leaf02: 200, then of 100
    assert (beamlines.whole_level, beamlines.after_level) == ("u3", "over")
    assert beamlines.whole == pytest.approx(0.75 * drawn.end)
    assert beamlines.after == pytest.approx(1.5 * drawn.end)
    assert drawn.end == pytest.approx(50)
    assert beamlines.words == "150 of 200 Gb/s, 75.0 %"
    assert beamlines.after_words == (
        "150 % after the loss of leaf05 100GE1/0/1 - spine01 100GE1/1/5; at least 100 Gb/s left"
    )


def test_the_page_has_the_picture_only_with_a_demand(shown: PageContent) -> None:
    text = page(shown)
    section = re.search(r'<section id="capacity">(.*?)</section>', text, re.DOTALL)
    assert section is not None
    assert section[1].count("<svg") == 5
    # The loss of a spine, and of links of leaf02, leaf03 (4) and leaf05 to leaf08 (8).
    assert "it does not fit after 14 of 26 single failures" in section[1]
    assert 'href="#capacity"' in text
    for other in (None, capacity(shown.network)):
        assert 'id="capacity"' not in page(replace(shown, capacity=other))


PROBE = """
addEventListener('load', () => {
  const box = (e) => e.getBoundingClientRect();
  const bars = [...document.querySelectorAll('svg.capacity')];
  parent.postMessage(JSON.stringify({
    bars: bars.length,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    inside: bars.every((b) => box(b).left >= 0 && box(b).right <= innerWidth && box(b).width > 100),
    share: bars.map((b) => box(b.querySelector('.after')).width / box(b).width),
    over: getComputedStyle(document.querySelector('.capacity .after.over')).fill,
    fits: getComputedStyle(document.querySelector('.capacity .whole.u3')).fill,
    line: getComputedStyle(document.querySelector('.capacity .end')).stroke,
  }), '*');
});
"""


@pytest.mark.parametrize(
    ("width", "dark"),
    [
        (1280, False),
        (400, True),
        pytest.param(1280, True, marks=pytest.mark.thorough),
        pytest.param(400, False, marks=pytest.mark.thorough),
    ],
)
def test_the_picture_in_a_browser(
    browse: Browse, shown: PageContent, width: int, dark: bool
) -> None:
    seen = browse(page(shown), PROBE, width, dark=dark)
    assert (seen["bars"], seen["overflow"], seen["inside"]) == (5, 0, True)
    assert seen["share"] == pytest.approx([0.5, 1, 0.75, 1, 0.75], abs=0.02)
    light = ("rgb(179, 38, 30)", "rgb(47, 111, 179)", "rgb(31, 35, 40)")
    night = ("rgb(242, 133, 124)", "rgb(120, 176, 234)", "rgb(223, 227, 232)")
    assert (seen["over"], seen["fits"], seen["line"]) == (night if dark else light)
