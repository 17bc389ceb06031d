"""Plans of servers: the source of each setting, and sentences on parts left out."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.derive.host_plans import host_plans
from rocefort.dialects.server_configuration import UNITS, host_files, reader_of
from rocefort.models.network.servers import HostPlan

EditHeps = Callable[..., Path]
OWN = "profiles:\n"
FIRST = "    segment: transfer\n    nic: connectx-dscp34\n"
GENERIC = "RoCE v2 as default and its traffic class are set"


def own_nic(profile: str) -> tuple[tuple[str, str], ...]:
    """Give transfer01 a separate NIC profile and adapter."""
    nic = (
        f"{OWN}  nic:\n    ours: {{adapter: ours, trust: dscp}}\n  adapter:\n    ours: {profile}\n"
    )
    return (OWN, nic), (FIRST, "    segment: transfer\n    nic: ours\n")


def named(**names: str) -> str:
    """Return an adapter, by default with the names of mlx5."""
    mlx5 = {
        "trust": "mlnx_qos/trust",
        "dscp2prio": "mlnx_qos/dscp2prio",
        "paused_priorities": "mlnx_qos/pfc",
        "roce_dscp": "cma_roce_tos",
        "controlled_priorities": "roce_rp/enable",
        "cnp_dscp": "roce_np/cnp_dscp",
        "cnp_priority": "roce_np/cnp_802p_prio",
    }
    keys = ", ".join(f"{key}: {{name: {name}}}" for key, name in (mlx5 | names).items())
    return f"{{model: Ours, parameters: {{{keys}}}}}"


CASES: list[tuple[tuple[tuple[str, str], ...], tuple[str, ...]]] = [
    ((), ()),
    (
        ((FIRST, "    segment: transfer\n"),),
        (
            "trust, dscp2prio, PFC and DCQCN are left as they are: the make of its NIC is not "
            f"known (servers.nic); {GENERIC}",
        ),
    ),
    (
        ((FIRST, FIRST + "    roce: false\n"),),
        ("its port is not lossless: nothing of RoCE is set (servers.roce)",),
    ),
    (
        own_nic(named(trust="dcb/trust", paused_priorities="dcb/pfc")),
        (
            "trust, dscp2prio, PFC and DCQCN are left as they are: how ours sets trust and "
            f"paused_priorities is not known here; {GENERIC}",
        ),
    ),
    (
        (
            *own_nic(named(cnp_dscp="roce_np/../../x")),
            ("control: connectx-dcqcn", "control: pfc-only"),
        ),
        ("cnp_dscp is left as it is: roce_np/../../x is no file of mlx5's driver",),
    ),
    (
        (("\nhost: roce-server  # assumed\n", ""),),
        (
            "kernel parameters, rings, interrupts and CPU governor are left as they are: the "
            "fabric names no host profile (host)",
        ),
    ),
    (
        (("control: connectx-dcqcn", "control: paper-dcqcn"),),
        (
            "byte_counter_bytes is left as it is: it is 10000000, and roce_rp/rpg_byte_reset takes "
            "0 to 32767",
        ),
    ),
]


@pytest.mark.parametrize(("changes", "left_out"), CASES)
def test_what_is_left_out_is_told(
    edit_heps: EditHeps, changes: tuple[tuple[str, str], ...], left_out: tuple[str, ...]
) -> None:
    plan = host_plans(derive(edit_heps(*changes)))["transfer01"]
    assert plan.left_out == left_out
    script = host_files(plan)["rocefort-host"]
    for sentence in left_out:
        assert f"# - {sentence}\n" in script
    code = [line for line in script.splitlines() if not line.startswith("#")]
    assert not [line for line in code if "/.." in line]


def test_the_leafs_words_count_whatever_the_nic_profile_says(edit_heps: EditHeps) -> None:
    plan = host_plans(
        derive(edit_heps((FIRST, "    segment: transfer\n    nic: connectx-factory\n")))
    )
    nic = plan["transfer01"].nic
    assert nic is not None
    assert (nic.priorities, nic.paused) == ({34: 4, 48: 6}, (4,))
    assert (plan["transfer01"].traffic_class, plan["transfer01"].mtu) == (138, 9000)
    on = {file.path: file.value for file in nic.switches if "rp/enable" in file.path}
    assert on == {f"roce_rp/enable/{n}": 1 for n in range(8)}  # as in its profile


def test_with_pauses_alone_congestion_control_is_off(edit_heps: EditHeps) -> None:
    fabric = edit_heps(("congestion_control: connectx-dcqcn", "congestion_control: pfc-only"))
    nic = host_plans(derive(fabric))["transfer01"].nic
    assert nic is not None
    assert {f.value for f in nic.switches if "/enable/" in f.path} == {0}
    assert nic.parameters == ()


def test_a_value_that_is_no_word_is_refused_also_behind_the_models(heps: DerivedNetwork) -> None:
    """A plan built without validation is refused when it is rendered."""
    plan = host_plans(heps)["transfer01"]
    for values in ({"sysctl": {"net.core.rmem_max": "1; reboot"}}, {"rdma_device": "$(reboot)"}):
        broken = HostPlan.model_construct(**(dict(plan) | values))
        for render in (host_files, reader_of):
            if render is reader_of and "sysctl" in values:
                continue  # a reader gets names of parameters, no values
            with pytest.raises(BadInput, match="cannot stand in a script"):
                render(broken)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_the_units_are_what_systemd_reads(heps: DerivedNetwork, tmp_path: Path) -> None:
    files = host_files(host_plans(heps)["transfer01"])
    paths = [tmp_path / unit for unit in UNITS]
    for path in paths:
        text = files[path.name].replace("/usr/local/sbin/rocefort-host", "/bin/true")
        path.write_text(text, encoding="utf-8")
    command = ["systemd-analyze", "verify", "--man=no", *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    ours = [line for line in done.stderr.splitlines() if "rocefort" in line]
    assert (done.returncode, ours) == (0, [])
