"""The table of failures: what a person reads, in 80 columns, equal failures on one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from rocefort.design.derive.derive import derive
from rocefort.models.network.network import End
from rocefort.reports.writers.terminal import text_of
from rocefort.tasks import cli
from rocefort.validators.failures.study import study
from rocefort.validators.routing_results import Failure, FailureEffect, FailureStudy, PairLoss
from rocefort.verification.failures import costs, failures_report

SINGLE = """\
every single failure: 26
failure                     costs
any of 16 leaf-spine links  width 2 -> 1 for 1 leaf, no pair lost, 87.5% of the
                            bisection left
any of 8 leaves             no pair lost, 1 to 2 servers of its own
any of 2 spines             width 2 -> 1 for 8 leaves, no pair lost, 50.0% of
                            the bisection left
cyclic buffer dependency after a failure: excluded: no path passes the AS of the
  spines twice
"""


def test_every_single_failure_of_heps() -> None:
    assert text_of(failures_report(study(derive(Path("heps")).network)), width=80) == SINGLE


@pytest.mark.parametrize("scope", ["single", "2", "sample:40"])
def test_no_line_is_longer_than_a_terminal(scope: str) -> None:
    text = text_of(failures_report(study(derive(Path("heps")).network, scope)), width=80)
    assert max(map(len, text.splitlines())) <= 80
    lines = text.splitlines()
    said = {
        "single": "every single failure: 26",
        "2": "every pair of failures: 325",
        "sample:40": "40 of 325 pairs of failures, a sample with seed 1",
    }
    assert lines[0] == said[scope]


def test_costs_in_words() -> None:
    ends = End(device="leaf1", interface="p"), End(device="spine1", interface="q")
    failure = Failure(links=(ends,))
    loss = PairLoss(
        source="leaf1", destination="leaf2", segment="s", pairs=3, reason="r", expected=False
    )
    assert costs(FailureEffect(failure=failure, lost=(loss,), circle="a > b > a")) == (
        "3 pairs lost although still cabled, from leaf1, cyclic buffer dependency: a > b > a"
    )
    lone, both = Failure(nodes=("leaf1",)), Failure(nodes=("leaf1", "leaf2"))
    told = FailureStudy(
        scope="2",
        population=2,
        effects=(
            FailureEffect(failure=lone, own_servers=1),
            FailureEffect(failure=both, own_servers=2),
        ),
    )
    assert text_of(failures_report(told), width=80).splitlines()[2:] == [
        "leaf1            no pair lost, 1 server of its own",
        "leaf1 and leaf2  no pair lost, 2 servers of their own",
        "failures that close a cyclic buffer dependency: none",
    ]


def test_verify_studies_single_failures_unasked_and_nothing_on_request() -> None:
    base = ["verify", "heps", "--engine", "embedded"]
    assert SINGLE in CliRunner().invoke(cli, base).output
    without = CliRunner().invoke(cli, [*base, "--failures", "none"]).output
    assert "failure" not in without
    assert "heps: 6 rules, 0 errors" in without
    assert '"BGP108"' in CliRunner().invoke(cli, [*base, "--format", "json"]).output
