"""Settings of the seven servers of the published test bed (`make golden`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.derive.host_plans import host_plans
from rocefort.dialects.server_configuration import SCRIPT, UNITS, host_files, reader_of

HERE = Path(__file__).parent / "hosts"
SEVEN = ("transfer01", "k8sgn08", "k8sgn09", "daisycn01", "k8sgn12", "daisygn02", "daisygn01")


@pytest.mark.parametrize("name", SEVEN)
def test_the_files_of_a_server_are_the_reviewed_ones(
    heps: DerivedNetwork, name: str, golden_update: bool
) -> None:
    plan = host_plans(heps)[name]
    files = {f"{name}.{SCRIPT}": host_files(plan)[SCRIPT]}
    if name == SEVEN[0]:  # the others have the same, with their own names
        files |= {unit: host_files(plan)[unit] for unit in UNITS}
        files |= {f"{name}.read": reader_of(plan)}
    _compare(files, golden_update=golden_update)


def test_the_files_of_a_transfer_node_are_the_reviewed_ones(
    transfer_node: Path, golden_update: bool
) -> None:
    """LANL's host profile on a server with a bond: its script, and the reader of its state."""
    plan = host_plans(derive(transfer_node))["readout03"]
    files = {"lanl-400g.read": reader_of(plan), f"lanl-400g.{SCRIPT}": host_files(plan)[SCRIPT]}
    _compare(files, golden_update=golden_update)


def _compare(files: dict[str, str], *, golden_update: bool) -> None:
    for file, text in files.items():
        if golden_update:
            HERE.mkdir(exist_ok=True)
            (HERE / file).write_text(text, encoding="utf-8")
        assert (HERE / file).read_text(encoding="utf-8") == text
