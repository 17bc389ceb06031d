"""Commands `plan`, `plan-console` and `apply`: signatures, rollbacks, procedures, exit codes."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.network_text import render_all
from rocefort.tasks import cli

EditHeps = Callable[..., Path]
Type = Callable[..., tuple[int, str]]
DESCRIBED = ("  - name: readout04\n", "  - name: readout04\n    description: detector 4\n")


@pytest.fixture
def site(heps: DerivedNetwork, tmp_path: Path) -> Path:
    """A connections file, and what the switches run as files."""
    login = {"host": "192.0.2.1", "user": "netops", "credential": "env:X"}
    server = {**login, "rdma_device": "mlx5_0", "gid_index": 3}
    connections = {
        "known_hosts": "known_hosts",
        "devices": [{"name": node.name, **login} for node in heps.network.nodes],
        "servers": [{"name": s.name, **server} for s in heps.network.servers or ()],
    }
    (tmp_path / "connections.yaml").write_text(yaml.safe_dump(connections))
    (tmp_path / "running").mkdir()
    for name, text in render_all(heps.network).items():
        (tmp_path / "running" / f"{name}.cfg").write_text(text)
    return tmp_path


@pytest.fixture
def type_(site: Path) -> Type:
    def run(*words: str | Path) -> tuple[int, str]:
        result = CliRunner().invoke(cli, [str(word) for word in words])
        if result.exception and not isinstance(result.exception, SystemExit):
            return getattr(result.exception, "exit_code", 1), f"{result.output}{result.exception}"
        return result.exit_code, result.output

    return run


def words(site: Path, fabric: Path) -> tuple[str | Path, ...]:
    where = ("--connections", site / "connections.yaml", "--running", site / "running")
    return ("plan", fabric, *where, "--out", site / "x.plan.json")


@pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="no ssh-keygen: apt-get install openssh-client"
)
def test_a_plan_is_signed_and_an_unsigned_or_changed_one_is_not_applied(
    type_: Type, site: Path, edit_heps: EditHeps
) -> None:
    key, plan = site / "ada", site / "x.plan.json"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    (site / "signers").write_text(f"ada {key.with_suffix('.pub').read_text()}")
    code, output = type_(*words(site, edit_heps(DESCRIBED)), "--sign", key)
    assert (code, " ".join(output.split()).endswith(f"sealed in {plan}, signed in {plan}.sig")) == (
        0,
        True,
    )
    apply = ("apply", plan, "--connections", site / "connections.yaml")
    plan.write_text(plan.read_text() + "\n")  # means the same, and is not what was signed
    code, output = type_(*apply, "--allowed-signers", site / "signers")
    assert code == 4
    assert "the signature of ada is invalid" in output
    (site / "x.plan.json.sig").unlink()
    code, output = type_(*apply, "--allowed-signers", site / "signers")
    assert code == 4
    assert "is not signed, and needs a signature" in output


def test_the_way_back_is_printed_for_what_changes_or_for_one_that_is_named(
    type_: Type, site: Path, edit_heps: EditHeps
) -> None:
    assert type_(*words(site, edit_heps(DESCRIBED)))[0] == 0
    code, output = type_("plan-console", site / "x.plan.json")
    assert code == 0
    assert output.startswith("rollback of leaf08, plan ")
    assert output.count("rollback of") == 1
    assert "abort trial persist rocefort-" in output
    code, output = type_("plan-console", site / "x.plan.json", "--device", "leaf80")
    assert (code, "leaf80: is not in the plan; did you mean 'leaf08'?" in output) == (2, True)


def test_a_procedure_is_printed_before_the_refusal(
    type_: Type, site: Path, edit_heps: EditHeps
) -> None:
    leaf = site / "running" / "leaf01.cfg"
    split = "port split dimension interface 100GE1/0/40 split-type 4*25GE\n#\nlldp enable"
    leaf.write_text(leaf.read_text().replace("lldp enable", split))
    code, output = type_(*words(site, edit_heps(DESCRIBED)))
    assert code == 4
    assert output.startswith("maintenance of leaf01: ")
    assert output.index("1. Store the configuration of leaf01") < output.index(
        "no trial can make its change"
    )
    assert not (site / "x.plan.json").exists()
