"""The page and the text of an RDMA run: what they show, in 80 columns, with nothing fetched."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from page_contents import LOOKS

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.rdma.judge.measurement import expectation, judged_measurement, not_measured
from rocefort.rdma.judge.verdicts import verdicts
from rocefort.rdma.parse.outcome import Outcome
from rocefort.rdma.plan.site import RdmaPlanOptions
from rocefort.rdma.plan.suites import plan_suite
from rocefort.rdma.rdma_plan import Program, RdmaHost, RdmaRun, Suite
from rocefort.rdma.rdma_report import plan_report, result_report
from rocefort.rdma.results import Figures, Measurement, Point, RdmaResult
from rocefort.rdma.run_page import RdmaPageContent, Series, rdma_page
from rocefort.reports.writers.terminal import text_of

BEGAN = datetime(2026, 11, 20, 22, 5, tzinfo=UTC)
SLOW = "k8sgn12"
LOST = ("k8sgn09 -> storage01", "storage01 -> k8sgn09")

Make = Callable[..., RdmaResult]


def figures(run: RdmaRun) -> Figures:
    size = run.size_bytes or 65536
    half = 0.5 if SLOW in run.servers else 1.0
    if not run.program.measures_latency:
        gbps = (run.reach_gbps or 100) * 0.945 * half * min(1.0, (size + 50) / 4096)
        return Figures(gbps=gbps, mpps=gbps / size, iterations=100)
    us = (1.1 + 0.86 * (run.switches or 3) + size / 11000) / half
    return Figures(
        latency_us=us * 1.01,
        least_us=us * 0.96,
        typical_us=us,
        most_us=us * 4,
        p99_us=us * 1.2,
        p999_us=us * (1.5 + 0.1 * len(run.pair)),
        iterations=10_000,
    )


@pytest.fixture
def make(heps: DerivedNetwork) -> Make:
    """A run of a suite on all RoCE servers, one of them slow, one pair not measured."""

    def run(suite: Suite, *programs: Program) -> RdmaResult:
        network, rdma = heps.network, heps.fabric.rdma
        names = [s.name for s in network.servers or () if s.roce]
        hosts = [RdmaHost(name=n, device="mlx5_0", gid_index=3, perftest="6.06") for n in names]
        plan = plan_suite(network, rdma, suite, hosts, RdmaPlanOptions(programs=programs))
        found = tuple(map(measured, plan.runs))
        result = RdmaResult(
            id="20261120-220500-c0de",
            plan=plan,
            began=BEGAN,
            measurements=found,
            conditions={"nic": "ConnectX-5", "system": "<AlmaLinux> 9.3"},
        )
        return result.model_copy(update={"judged": verdicts(network, rdma, result, {})})

    def measured(run: RdmaRun) -> Measurement:
        if run.pair in LOST:
            return not_measured(run, Outcome.ZERO_ITERATIONS)
        found = judged_measurement(run, figures(run), expectation(run, heps.fabric.rdma))
        if run.every_s is None:
            return found
        points = tuple(Point(at_s=s, gbps=30.0 if s == 9 else 94.0) for s in range(1, 31))
        return found.model_copy(update={"series": points})

    return run


def history(result: RdmaResult) -> tuple[Series, ...]:
    return tuple(
        Series(
            program=m.run.program,
            pair=m.run.pair,
            size_bytes=m.run.size_bytes,
            points=tuple(
                (f"r{n}", BEGAN - timedelta(days=9 - n), (m.value or 0) * (1 + n % 3 / 100), n != 4)
                for n in range(9)
            ),
        )
        for m in result.measurements[:12]
        if m.value is not None
    )


def test_the_page_of_a_mesh(make: Make) -> None:
    result = make(Suite.MESH, Program.WRITE_BW, Program.WRITE_LAT)
    made = "2026-11-21 09:30 UTC by Rocefort 9.9"
    content = RdmaPageContent(result=result, history=history(result), made=made)
    page = rdma_page(content)
    assert page.count('class="heat"') == 1
    links = set(re.findall(r'<a href="#(run-[^"]+)">', page))
    assert links == set(re.findall(r'<tr id="(run-[^"]+)">', page)) & links
    assert len(links) == 62
    assert len(re.findall(r'<td class="lost"', page)) == 1
    pairs = {m.run.pair for m in result.measurements if SLOW in m.run.servers}
    assert len(re.findall(r'<td class="slow" style="--share', page)) == len(pairs)
    assert "slow pairs pass through" in page
    assert "server k8sgn12 or its cables" in page
    assert page.count('<svg class="strip" viewBox="0 0 100 20"') == 60  # of 65 pairs, the worst
    assert "pairs with shorter tails are not drawn" in page
    assert page.count('<polyline class="line"') == len(history(result))
    assert "&lt;AlmaLinux&gt; 9.3" in page
    assert "<dd>2026-11-21 09:30 UTC by Rocefort 9.9</dd>" in page
    assert "<script" not in page
    assert not re.search(r'(src|href)="(?!#|data:)', page)
    assert rdma_page(content) == page


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_axe_finds_nothing_on_the_page_of_a_mesh(
    violations: Callable[..., list[list[str]]], make: Make, dark: bool, width: int
) -> None:
    result = make(Suite.MESH, Program.WRITE_BW, Program.WRITE_LAT)
    text = rdma_page(RdmaPageContent(result=result, history=history(result)))
    assert violations(text, width, dark=dark) == []


def test_the_page_of_a_sweep_has_a_curve_for_each_way(make: Make) -> None:
    page = rdma_page(RdmaPageContent(result=make(Suite.SWEEP)))
    assert page.count('<div class="plot">') == 2
    assert page.count('<polyline class="c1"') == page.count('<polyline class="c2"') == 2
    assert page.count('<path class="dot c') == 4 * 23
    assert "rate, Gb/s" in page
    assert "latency, us" in page
    assert "size of a message" in page
    assert "within a leaf" in page
    assert "one switch takes" in page
    plotted = re.findall(r'<polyline class="c\d" points="([^"]+)"', page)
    for x, y in (map(float, p.split(",")) for line in plotted for p in line.split()):
        assert 0 <= x <= 100
        assert 0 <= y <= 100
    assert {float(line.split(",")[0]) for line in plotted} == {0}
    assert {float(line.split()[-1].split(",")[0]) for line in plotted} == {100}


def test_the_page_of_a_failure_has_it_over_time(make: Make) -> None:
    page = rdma_page(RdmaPageContent(result=make(Suite.FAILOVER)))
    assert page.count('<polyline class="c1"') == 2
    assert "94.00 Gb/s before, at worst 30.00" in page


@pytest.mark.parametrize("suite", [Suite.MESH, Suite.SWEEP, Suite.INCAST, Suite.FAILOVER])
def test_the_text_fits_a_terminal(make: Make, suite: Suite) -> None:
    result = make(suite)
    for text in (
        text_of(*result_report(result), width=80),
        text_of(*plan_report(result.plan), width=80),
    ):
        assert [line for line in text.splitlines() if len(line) > 80] == []


def test_the_text_says_what_is_bad_first(make: Make) -> None:
    text = text_of(*result_report(make(Suite.MESH)), width=80)
    assert text.splitlines()[0] == (
        "heps, mesh, run 20261120-220500-c0de: 1 of 62 runs not measured, 11 too slow"
    )
    assert (
        text.index("too slow:") < text.index("not measured:") < text.index("reported, not judged:")
    )
