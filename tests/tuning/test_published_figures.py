"""The simulator agrees with published figures; docs/how-to/tuning.md has the differences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import pytest
from published_congestion import (
    CASES,
    FLUID,
    REFERENCE_FIGURES,
    SEEDS,
    Case,
    Figure,
    long_flows,
    reference_cases,
)
from simulators import run_scenario

from rocefort.base.repository import ROOT

PAGE = ROOT / "docs/how-to/tuning.md"
REFERENCES = tuple(reference_cases())
FIGURES = [
    pytest.param(
        case,
        figure,
        id=f"{case.title}: {figure.name}",
        marks=[pytest.mark.thorough] if case.source == FLUID else [],
    )
    for case in CASES
    for figure in case.figures
    if figure.percent is not None
]


@pytest.mark.parametrize(("case", "figure"), FIGURES)
def test_a_published_figure_is_met(case: Case, figure: Figure) -> None:
    assert figure.percent is not None
    ours = figure.read(case.result())
    allowed = max(figure.value * figure.percent / 100, figure.absolute)
    assert ours == pytest.approx(figure.value, abs=allowed)


def differences(cases: Iterable[Case]) -> dict[str, list[float]]:
    """Absolute differences in percent, by figure, and of all figures."""
    out: dict[str, list[float]] = {name: [] for name in (*REFERENCE_FIGURES, "all")}
    for case in cases:
        result = case.result()
        for figure in case.figures:
            differs = abs(figure.read(result) / figure.value - 1) * 100
            out[figure.name].append(differs)
            out["all"].append(differs)
    return out


def summary(values: Sequence[float]) -> tuple[float, float, float]:
    """Median, 95th percentile, and the share within 15 %, all in percent."""
    p50, p95 = np.percentile(values, [50, 95])
    return float(p50), float(p95), 100 * sum(value <= 15 for value in values) / len(values)


def test_incasts_agree_with_the_hpcc_simulator() -> None:
    """A part of the cases; all of them are in the thorough test below."""
    some = [case for case in REFERENCES if "dcqcn, 24 to 1 at 25" in case.title]
    assert len(some) == 5
    p50, p95, within = summary(differences(some)["all"])
    assert (p50 < 2, p95 < 5, within) == (True, True, 100)


@pytest.mark.thorough
def test_all_cases_agree_with_the_hpcc_simulator() -> None:
    p50, _, within = summary(differences(REFERENCES)["all"])
    assert (p50 < 3, within > 92) == (True, True)
    own_speed = [case for case in REFERENCES if "dcqcn" in case.title and "25 Gb/s" in case.title]
    p50, p95, within = summary(differences(own_speed)["all"])
    assert (p50 < 3, p95 < 10, within > 95) == (True, True, True)


@pytest.mark.thorough
@pytest.mark.parametrize("senders", [2, 4, 8, 16])
def test_long_flows_use_their_link_and_share_it(senders: int) -> None:
    result = run_scenario(seeds=SEEDS[:3], **long_flows(senders))
    assert result.goodput_gbps > 0.99 * 40 * 1000 / 1048
    assert min(run.fairness for run in result.runs) > 0.98
    assert result.drops == result.pauses == 0


@pytest.mark.thorough
def test_sixteen_flows_stay_just_below_kmax() -> None:
    """The fluid model has no fixed point there; the prototype has 184 kbytes of 200."""
    result = run_scenario(seeds=SEEDS[:3], **long_flows(16))
    assert result.queue_kbytes.mean == pytest.approx(184, rel=0.15)


def agreement() -> Iterator[str]:
    """The table of the page with the HPCC simulator's cases."""
    yield "| cases | figure | number | median | 95th percentile | within 15 % |"
    yield "|---|---|---|---|---|---|"
    groups = {
        "DCQCN, 25 Gb/s": ("dcqcn", "at 25 "),
        "DCQCN, 100 Gb/s": ("dcqcn", "at 100 "),
        "DCTCP": ("dctcp", ""),
        "HPCC": ("hpcc", ""),
        "TIMELY": ("timely", ""),
        "all": ("", ""),
    }
    for group, words in groups.items():
        own = [case for case in REFERENCES if all(word in case.title for word in words)]
        by_figure = differences(own)
        for name in by_figure if group in ("all", "DCQCN, 25 Gb/s") else ["all"]:
            p50, p95, within = summary(by_figure[name])
            cells = (group, name.replace("_", " "), len(by_figure[name]))
            yield (
                "| "
                + " | ".join(map(str, cells))
                + f" | {p50:.1f} % | {p95:.1f} % | {within:.0f} % |"
            )


def card() -> Iterator[str]:
    """The table of the page, from runs."""
    yield "| case | source | measure | published | ours | runs | differs | tolerance |"
    yield "|---|---|---|---|---|---|---|---|"
    for case in CASES:
        result = case.result()
        for figure in case.figures:
            ours, runs = figure.read(result), [figure.read(run) for run in result.runs]
            spread = f"{min(runs):.4g} to {max(runs):.4g}"
            differs = f"{(ours / figure.value - 1) * 100:+.0f} %"
            limit = "not judged" if figure.percent is None else f"{figure.percent:g} %"
            limit += f" or {figure.absolute:g}" * bool(figure.absolute)
            cells = (case.title, case.source, figure.name, f"{figure.value:.4g}", f"{ours:.4g}")
            yield "| " + " | ".join((*cells, spread, differs, limit)) + " |"


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "lines"), [("model card", card), ("agreement", agreement)])
def test_the_page_has_the_differences(
    name: str, lines: Callable[[], Iterator[str]], golden_update: bool
) -> None:
    table = "".join(f"{line}\n" for line in lines())
    text = PAGE.read_text(encoding="utf-8")
    place = re.compile(rf"(?<=<!-- {name} -->\n).*(?=<!-- end of {name} -->)", re.DOTALL)
    if golden_update:
        PAGE.write_text(place.sub(lambda _: table, text), encoding="utf-8")
        return
    found = place.search(text)
    assert found is not None
    assert found[0] == table, "run this test with --golden-update"
