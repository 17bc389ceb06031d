"""Plugin of pytest: fixtures of a site's fabric; with --rocefort each rule and switch is a case.

Each run of pytest loads it where Rocefort is installed. So it imports the rest of Rocefort only
when a test uses a fixture, and it reads a fabric once a session.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import chdir, contextmanager
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rocefort.models.fabric.fabric import Fabric
    from rocefort.models.network.network import Network
    from rocefort.validators.capacity.capacity_results import CapacityReport
    from rocefort.verification.tested_fabric import (
        Case,
        Reach,
        TestedFabric,
        TestedPolicy,
        TestedRoutes,
    )

SESSION = pytest.StashKey["TestedFabric"]()
TRACES = pytest.StashKey["list[Reach]"]()
TITLE = "path of the packets"
GROUP = "rocefort"  # of the cases; -k selects by it, so that it has no name of a fabric


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("rocefort")
    text = "Each rule of Rocefort and of the site is a test case for each switch."
    group.addoption("--rocefort", action="store_true", help=text)
    text = "Fabric of the fixtures; by default the only one of the repository."
    group.addoption("--rocefort-fabric", metavar="FABRIC", help=text)


@contextmanager
def _stated() -> Iterator[None]:
    """Turn an error of Rocefort into its sentences, without a traceback."""
    from rocefort.base.errors import RocefortError  # noqa: PLC0415 - only when it is used

    try:
        yield
    except RocefortError as error:
        text = "\n".join(map(str, error.problems))
        raise pytest.fail.Exception(text, pytrace=False) from None


def _tested(config: pytest.Config) -> TestedFabric:
    """Fabric of the session, read when a test first uses it."""
    if SESSION not in config.stash:
        from rocefort.verification.tested_fabric import tested_fabric  # noqa: PLC0415

        with chdir(config.invocation_params.dir):
            config.stash[SESSION] = tested_fabric(config.getoption("--rocefort-fabric"))
    return config.stash[SESSION]


@pytest.fixture(scope="session")
def rocefort_fabric(pytestconfig: pytest.Config) -> TestedFabric:
    """Return the tested fabric with all that is computed from it."""
    with _stated():
        return _tested(pytestconfig)


@pytest.fixture(scope="session")
def fabric(rocefort_fabric: TestedFabric) -> Fabric:
    """Return the intent: the content of fabric.yaml."""
    return rocefort_fabric.fabric


@pytest.fixture(scope="session")
def network(rocefort_fabric: TestedFabric) -> Network:
    """Return all switches, as their rendered text describes them, with links and servers."""
    return rocefort_fabric.subject.network


@pytest.fixture(scope="session")
def routes(rocefort_fabric: TestedFabric) -> TestedRoutes:
    """Return sessions and routes of the embedded engine."""
    with _stated():
        return rocefort_fabric.routes


@pytest.fixture(scope="session")
def capacity(rocefort_fabric: TestedFabric) -> CapacityReport:
    """Return the comparison of the demand with the fabric, also after each single failure."""
    with _stated():
        return rocefort_fabric.capacity


@pytest.fixture(scope="session")
def policy(rocefort_fabric: TestedFabric) -> TestedPolicy:
    """Return the policy between segments, and what violates it."""
    with _stated():
        return rocefort_fabric.policy


@pytest.fixture(scope="session")
def config(rocefort_fabric: TestedFabric) -> Callable[[str], str]:
    """Return a function: the configuration of a switch, by its name."""
    return rocefort_fabric.config


@pytest.fixture
def reach(request: pytest.FixtureRequest, rocefort_fabric: TestedFabric) -> Callable[..., Reach]:
    """Return a function: whether every path from a to b delivers packets.

    a, b: names of servers, segments or switches, or addresses. protocol: rdma, tcp, udp or icmp.
    down: switches or ports that have failed, as `leaf01` or `leaf01:100GE1/0/1`. A test that fails
    shows the last path, hop by hop, with the line that drops a packet.
    """
    traces = request.node.stash.setdefault(TRACES, [])

    def follow(
        a: str, b: str, protocol: str = "rdma", port: int | None = None, down: tuple[str, ...] = ()
    ) -> Reach:
        reached = rocefort_fabric.reach(a, b, protocol, port, down)
        traces.append(reached)
        return reached

    return follow


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Turn an error of a fixture's function into its sentences, with the line of the test."""
    try:
        return (yield)
    except Exception as error:
        if "rocefort_fabric" not in pyfuncitem.fixturenames:
            raise  # tests of other repositories, among them those of Rocefort
        from rocefort.base.errors import RocefortError  # noqa: PLC0415

        if not isinstance(error, RocefortError):
            raise
        file = pyfuncitem.reportinfo()[0]
        frames = walk_tb(error.__traceback__)
        lines = [line for frame, line in frames if frame.f_code.co_filename == str(file)]
        place = f"{pyfuncitem.location[0]}:{lines[-1]}: " if lines else ""
        text = "\n".join(f"{place}{problem}" for problem in error.problems)
        raise pytest.fail.Exception(text, pytrace=False) from None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the last path to the report of a test that fails."""
    report = yield
    traces = item.stash.get(TRACES, [])
    if call.when == "call" and report.failed and traces:
        add = getattr(report.longrepr, "addsection", None)
        if add is not None:
            add(TITLE, traces[-1].text)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the cases of --rocefort, so that -k selects among them, too."""
    if not config.getoption("--rocefort"):
        return
    from rocefort.base.errors import RocefortError  # noqa: PLC0415

    try:
        cases = _tested(config).cases
    except RocefortError as error:
        raise pytest.UsageError(*map(str, error.problems)) from None
    group = _FabricCases.from_parent(session, name=GROUP, nodeid=GROUP)
    for case in cases:
        nodeid = f"{GROUP}::{case.name}"  # --lf reads it like this, with the place as parameter
        items.append(_RuleCase.from_parent(group, name=case.name, nodeid=nodeid, case=case))


class _FabricCases(pytest.Collector):
    """Group of the cases of a fabric."""

    def collect(self) -> list[pytest.Item]:
        """Return no more items: `pytest_collection_modifyitems` adds them."""
        return []


class _CaseFailedError(Exception):
    """A rule reports an error."""


class _RuleCase(pytest.Item):
    """A rule at a switch, or at no switch."""

    def __init__(self, *, case: Case, **more: Any) -> None:  # noqa: ANN401 - pytest's
        super().__init__(**more)
        self.case = case

    def runtest(self) -> None:
        """Fail for an error; skip what is waived or not judged; warnings are properties."""
        self.user_properties += [("warning", text) for text in self.case.warnings]
        if self.case.errors:
            raise _CaseFailedError("\n".join(self.case.errors))
        if self.case.skipped:
            pytest.skip("; ".join(self.case.skipped))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:  # noqa: ANN401 - pytest's
        """Return the findings, each with its line and its fix."""
        if isinstance(excinfo.value, _CaseFailedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[str, int | None, str]:
        """Return file, line and title of the case."""
        return self.case.file, self.case.line, f"{self.case.name}: {self.case.title}"
