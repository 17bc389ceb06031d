"""Effort of a test run: `--effort quick` (make test), `thorough`, or `soak`.

Tests marked `thorough` do not run with `quick`. With `soak`, only tests marked `soak` run. Hypothesis
draws more examples with each effort. A test that needs another number than the profile has
`@settings(max_examples=tries(60))`. `quick` and `thorough` draw the same examples in every run, so
that two runs differ only by the change; `soak` draws new ones.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

EXAMPLES = {"quick": 20, "thorough": 100, "soak": 1000}


def tries(thorough: int) -> int:
    """Return the number of examples or seeds: all in a thorough run, a fifth in a quick one."""
    profile = settings.get_profile(settings.get_current_profile_name())
    return max(1, thorough * profile.max_examples // EXAMPLES["thorough"])


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
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
    """Deselect tests that this effort leaves out."""
    effort = config.getoption("--effort")

    def tried(item: pytest.Item) -> bool:
        if effort == "soak":
            return item.get_closest_marker("soak") is not None
        return effort == "thorough" or item.get_closest_marker("thorough") is None

    left_out = [item for item in items if not tried(item)]
    items[:] = [item for item in items if tried(item)]
    config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session")
def effort(pytestconfig: pytest.Config) -> str:
    """Return the effort of this run: quick, thorough or soak."""
    return str(pytestconfig.getoption("--effort"))
