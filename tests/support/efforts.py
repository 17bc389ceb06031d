"""How much a run of the tests tries: `--effort quick` (make test), `thorough`, or `soak`.

A test marked `thorough` runs with the last two only. Hypothesis draws more examples with each: a
test states its own number as a multiple of `settings.default.max_examples`. `quick` and `thorough`
draw the same examples in every run, so that a change is judged by what it changes; `soak` draws new
ones.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

EXAMPLES = {"quick": 20, "thorough": 100, "soak": 1000}


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option."""
    parser.addoption("--effort", choices=EXAMPLES, default="quick", help="how much is tried")


def pytest_configure(config: pytest.Config) -> None:
    """Load hypothesis's profile before any test module reads its number of examples."""
    for effort, examples in EXAMPLES.items():
        slow = [HealthCheck.too_slow]  # the machine may be busy; examples are counted, not timed
        settings.register_profile(
            effort,
            max_examples=examples,
            derandomize=effort != "soak",
            deadline=None,
            suppress_health_check=slow,
        )
    settings.load_profile(config.getoption("--effort"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what a quick run does not try."""
    if config.getoption("--effort") != "quick":
        return
    left_out = [item for item in items if item.get_closest_marker("thorough")]
    items[:] = [item for item in items if not item.get_closest_marker("thorough")]
    config.hook.pytest_deselected(items=left_out)
