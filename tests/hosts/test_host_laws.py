"""Laws: any valid profile, rendered and applied, passes the check; no name becomes a command."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from efforts import tries
from host_root import HostRoot
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.derive.host_plans import host_plans
from rocefort.dialects.server_configuration import SCRIPT, host_files, read_host, reader_of
from rocefort.models.fabric.congestion_control import Dcqcn, PfcOnly
from rocefort.models.fabric.hosts import HostProfile, NicProfile, ServerHost
from rocefort.models.network.servers import HostsSeen, NicFile
from rocefort.validators.checks import check_hosts

SHELL = ["$(reboot)", "a;b", "a b", "`id`", "../x", "a\nb", "a'b", "-rf", "", "x" * 64]


def optional(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


DCQCN = st.builds(
    Dcqcn,
    kind=st.just("dcqcn"),
    increase_timer_us=optional(st.integers(0, 1_000_000)),
    byte_counter_bytes=optional(st.integers(0, 1_000_000_000)),  # the NIC accepts 32767 at most
    recovery_stages=optional(st.integers(1, 31)),
    alpha_divisor_log2=optional(st.integers(0, 31)),  # the NIC accepts 10 and 11
    clamp_target_rate=optional(st.booleans()),
    alpha_kept_of_1024=optional(st.integers(0, 1024)),
    cnp_interval_us=optional(st.integers(0, 1_000_000)),
)
REACTIONS = st.none() | st.just(PfcOnly(kind="pfc_only")) | DCQCN
PRIORITIES = st.none() | st.sets(st.integers(0, 7)).map(lambda s: tuple(sorted(s)))
MAPS = st.dictionaries(st.integers(0, 63), st.integers(0, 7), max_size=4)
NAMES = st.sampled_from(["net.core.rmem_max", "vm.swappiness", "net.ipv4.tcp_rmem"])
VALUES = st.integers(0, 2**31) | st.sampled_from(["4096 131072 134217728", "bbr"])
TUNING = st.none() | st.builds(
    HostProfile,
    sysctl=st.dictionaries(NAMES, VALUES, max_size=3),
    ring_rx=optional(st.integers(64, 65536)),
    ring_tx=optional(st.integers(64, 65536)),
    governor=optional(st.sampled_from(["performance", "schedutil"])),
    interrupts=optional(st.just("numa")),
)


@settings(max_examples=tries(12))
@given(
    reaction=REACTIONS,
    controlled=PRIORITIES,
    mapped=MAPS,
    tuning=TUNING,
    dscps=st.lists(st.integers(0, 63), min_size=2, max_size=2, unique=True),
    cnp_queue=st.sampled_from([0, 5, 6]),
)
def test_applied_it_checks_clean_and_is_not_touched_again(
    heps: DerivedNetwork,
    reaction: Any,
    controlled: Any,
    mapped: Any,
    tuning: Any,
    dscps: Any,
    cnp_queue: int,
) -> None:
    derived = _with(heps, reaction, controlled, mapped, tuning, dscps, cnp_queue)
    plan = host_plans(derived)["k8sgn08"]
    nic = plan.nic
    assert nic is not None
    with tempfile.TemporaryDirectory() as directory:
        root = HostRoot(
            Path(directory, "root"),
            address=str(plan.address),
            sysctl=dict.fromkeys(plan.sysctl, "1"),
            parameters={file.path: 7 for file in (*nic.switches, *nic.parameters)},
        ).make()
        script = Path(directory, SCRIPT)
        script.write_text(host_files(plan)[SCRIPT], encoding="utf-8")
        done = root.run(["/bin/bash", str(script), "--apply"])
        assert (done.returncode, done.stderr) == (0, "")
        text = root.run(["/bin/sh", "-c", reader_of(plan)]).stdout
        seen = HostsSeen(fabric="heps", hosts=(read_host(plan, text),))
        report = check_hosts(derived.network, {"k8sgn08": plan}, seen)
        assert (report.findings, report.not_judged) == ((), ())
        after = root.state()
        again = root.run(["/bin/bash", str(script), "--apply"])
        assert (again.returncode, again.stdout) == (0, "nothing differs\n")
        assert root.state() == after


def _with(
    heps: DerivedNetwork,
    reaction: Any,
    controlled: Any,
    mapped: Any,
    tuning: Any,
    dscps: Any,
    queue: int,
) -> DerivedNetwork:
    """Return HEPS with other profiles."""
    assert heps.network.hosts is not None
    assert heps.network.lossless is not None
    profile = NicProfile(adapter="connectx", dscp2prio=mapped, controlled_priorities=controlled)
    hosts = heps.network.hosts.model_copy(
        update={
            "nics": {"connectx-dscp34": profile},
            "congestion": reaction,
            "tuning": tuning,
        }
    )
    intent = heps.network.lossless.model_copy(
        update={"roce_dscp": dscps[0], "cnp_dscp": dscps[1], "cnp_queue": queue}
    )
    network = heps.network.model_copy(update={"hosts": hosts, "lossless": intent})
    return DerivedNetwork(network, heps.sources, heps.fabric, heps.document, heps.lossless)


@pytest.mark.parametrize("name", SHELL)
def test_no_name_that_is_another_command_passes_the_door(name: str) -> None:
    for bad in (
        lambda: ServerHost(interfaces=(name,)),
        lambda: ServerHost(bond=name),
        lambda: ServerHost(rdma_device=name),
        lambda: HostProfile(sysctl={f"net.{name}": "1"}),
        lambda: HostProfile(sysctl={"net.core.rmem_max": f"{name}|"}),
        lambda: NicFile(path=f"roce_rp/{name}/", value=1, key="x"),
    ):
        with pytest.raises(ValidationError):
            bad()


@given(name=st.text(min_size=1, max_size=20))
def test_a_name_that_passes_is_one_word_of_a_shell_and_one_part_of_a_path(
    heps: DerivedNetwork, name: str
) -> None:
    try:
        host = ServerHost(interfaces=(name,), rdma_device=name)
    except ValidationError:
        return
    assert not set(name) - set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
    assert not name.startswith("-")
    assert host.interfaces == (name,)


def test_kernel_parameters_outside_net_and_vm_are_refused() -> None:
    with pytest.raises(ValidationError):
        HostProfile(sysctl={"kernel.core_pattern": "x"})
    with pytest.raises(ValidationError):
        HostProfile(sysctl={"net.core.rmem_max": True})


# --- intent -------------------------------------------------------------------------------------

FIRST = "    port: 100GE1/0/2\n    segment: compute\n"
BAD: list[tuple[tuple[str, str], str]] = [
    (
        ("\nhost: roce-server  # assumed\n", "\nhost: roce-servr\n"),
        ": host: there is no host profile 'roce-servr'; did you mean 'roce-server'?",
    ),
    (
        ("\nhost: roce-server  # assumed\n", "\nhost: connectx-dscp34\n"),
        ": host: 'connectx-dscp34' is no host profile, but one of kind nic; known here: "
        "lanl-400g, roce-server",
    ),
    (
        ("  - name: k8sgn08\n", "  - name: k8sgn08\n    host: {interfaces: [ens1, ens2]}\n"),
        ": servers[1]: host.interfaces names 2, and the server has 1 port; name one for each port, "
        "in the same order",
    ),
    (
        ("  - name: k8sgn08\n", "  - name: k8sgn08\n    host: {interfaces: [bond0]}\n"),
        ": servers[1].host: an interface is named twice; give each of them its own name",
    ),
]


@pytest.mark.parametrize(("change", "said"), BAD)
def test_bad_intent_is_one_line(
    edit_heps: Callable[..., Path], change: tuple[str, str], said: str
) -> None:
    with pytest.raises(BadInput) as caught:
        derive(edit_heps(change))
    (line,) = str(caught.value).splitlines()
    assert line.endswith(said), line
