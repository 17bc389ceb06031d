"""The simulator agrees with published figures; docs/how-to/tuning.md has the differences."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from published_congestion import CASES, FLUID, SEEDS, Case, Figure, long_flows
from simulators import run_scenario

from rocefort.base.repository import ROOT

PAGE = ROOT / "docs/how-to/tuning.md"
CARD = re.compile(r"(?<=<!-- model card -->\n).*(?=<!-- end of model card -->)", re.DOTALL)
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
def test_the_page_has_the_differences(golden_update: bool) -> None:
    table = "".join(f"{line}\n" for line in card())
    text = PAGE.read_text(encoding="utf-8")
    if golden_update:
        PAGE.write_text(CARD.sub(lambda _: table, text), encoding="utf-8")
        return
    found = CARD.search(text)
    assert found is not None
    assert found[0] == table, "run this test with --golden-update"
