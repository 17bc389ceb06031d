"""Runs of the rendered script on real files: it shows changes, sets them, and is idempotent."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.derive.host_plans import host_plans
from rocefort.dialects.server_configuration import host_files, reader_of

CHANGING = re.compile(r"(ip (link|address)|ethtool -G|mlnx_qos -i \S+ --).*")
EVERY_HEPS = (
    *("transfer01", "k8sgn08", "k8sgn09", "daisycn01", "k8sgn12", "daisygn02", "daisygn01"),
    *("storage01", "readout01", "readout02", "readout03", "readout04"),
)


def changes(calls: list[str]) -> list[str]:
    """Return the calls that change a setting."""
    return [call for call in calls if CHANGING.fullmatch(call)]


def test_a_dry_run_shows_what_differs_and_changes_nothing(site: Any) -> None:
    before = site.root.state()
    code, out, err = site.run()
    assert (code, err) == (1, [])
    assert site.root.state() == before
    assert changes(site.calls) == []
    assert out[-1] == "55 would be set with --apply"
    for line in (
        "net.ipv4.tcp_rmem: 1 -> 4096 131072 134217728",
        "governor of cpu3: powersave -> performance",
        "MTU of ens1f0np0: 1500 -> 9000",
        "rx ring of ens1f0np0: 1024 -> 8192",
        "CPUs of interrupt 82 of ens1f0np0: 0-3 -> 0-1",
        "DCBX of ens1f0np0: Firmware controlled -> OS controlled",
        "trust of ens1f0np0: pcp -> dscp",
        "priority of DSCP 34 on ens1f0np0: not set -> 4",
        "PFC of ens1f0np0: 0,0,0,0,0,0,0,0 -> 0,0,0,0,1,0,0,0",
        "roce_rp/enable/0 of ens1f0np0: 1 -> 0",
        "roce_rp/rpg_time_reset of ens1f0np0: 7 -> 300",
        "RoCE mode of mlx5_0: IB/RoCE v1 -> RoCE v2",
        "connection class of mlx5_0 (cma_roce_tos): 0 -> 138",
        "traffic class of mlx5_0: not set -> 138",
    ):
        assert line in out


def test_applied_it_is_clean_and_a_second_time_nothing_is_touched(site: Any) -> None:
    code, out, err = site.run("--apply")
    assert (code, err, out[-1]) == (0, [], "53 set")  # two follow from trust: DSCP >> 3
    report = site.check()
    assert (report.findings, report.not_judged) == ((), ())
    after, calls = site.root.state(), len(site.calls)
    assert site.run("--apply") == (0, ["nothing differs"], [])
    assert site.root.state() == after
    assert changes(site.calls[calls:]) == []
    assert site.run() == (0, ["nothing differs"], [])


def test_the_profile_of_transfer_nodes_is_set_and_read_back(
    edit_hall: Callable[..., Path], make_site: Any
) -> None:
    """LANL's profile: bbr, and fq below mq."""
    fabric = edit_hall(("\nhost: roce-server  # assumed\n", "\nhost: lanl-400g\n"))
    site = make_site(fabric, "readout03")
    code, out, err = site.run()
    assert (code, err) == (1, [])
    assert "net.ipv4.tcp_congestion_control: 1 -> bbr" in out
    before = {"HST113", "HST116"} & {each.rule for each in site.check().findings}
    assert site.run("--apply")[0::2] == (0, [])
    after = site.check()
    assert (before, after.findings, after.not_judged) == ({"HST113", "HST116"}, (), ())
    assert site.run() == (0, ["nothing differs"], [])


def test_one_value_that_changed_is_the_only_one_that_is_set_again(site: Any) -> None:
    site.run("--apply")
    site.root.write("sys/class/net/ens1f0np0/ecn/roce_rp/rpg_ai_rate", "40")
    wanted = ["roce_rp/rpg_ai_rate of ens1f0np0: 40 -> 5"]
    assert site.run() == (1, [*wanted, "1 would be set with --apply"], [])
    assert site.run("--apply") == (0, [*wanted, "1 set"], [])


def test_interrupts_that_stay_within_the_node_are_left_where_they_are(site: Any) -> None:
    site.run("--apply")
    site.root.write("proc/irq/81/smp_affinity_list", "1")
    assert site.run() == (0, ["nothing differs"], [])
    site.root.write("proc/irq/81/smp_affinity_list", "1,3")
    assert site.run()[1][0] == "CPUs of interrupt 81 of ens1f0np0: 1,3 -> 0-1"


def test_a_value_that_the_driver_keeps_otherwise_is_told(site: Any) -> None:
    """mlnx_qos accepts --pfc, and then shows the earlier value."""
    tool = site.root.root / "bin/mlnx_qos"
    text = tool.read_text(encoding="utf-8")
    tool.write_text(text.replace("""tr ',' ' ' >"$at/pfc" ;;""", "cat >/dev/null ;;"))
    code, out, err = site.run("--apply")
    assert (code, out[-1]) == (3, "1 could not be read or set")
    assert err == [
        "rocefort-host: PFC of ens1f0np0: was set to 0,0,0,0,1,0,0,0, and shows 0,0,0,0,0,0,0,0"
    ]


def test_a_value_that_is_set_and_can_no_longer_be_read_is_told(site: Any) -> None:
    """ethtool accepts -G, and then shows no ring."""
    tool = site.root.root / "bin/ethtool"
    text = tool.read_text(encoding="utf-8")
    after = 'echo "$4" >"$state/ring_$3.$2" && echo exit 1 >"$0" ;;'
    tool.write_text(text.replace('echo "$4" >"$state/ring_$3.$2" ;;', after))
    code, _, err = site.run("--apply")
    assert code == 3
    assert err[0] == "rocefort-host: rx ring of ens1f0np0: was set to 8192, and shows nothing"


def test_a_file_that_cannot_be_written_is_one_line_and_the_rest_goes_on(site: Any) -> None:
    path = site.root.root / "sys/class/net/ens1f0np0/mtu"
    path.unlink()
    path.mkdir()  # also for root no file
    code, out, err = site.run("--apply")
    assert (code, err) == (3, ["rocefort-host: MTU of ens1f0np0: cannot be read"])
    assert "PFC of ens1f0np0: 0,0,0,0,0,0,0,0 -> 0,0,0,0,1,0,0,0" in out


MISSING: list[tuple[str, list[str]]] = [
    ("mlnx_qos", ["mlnx_qos is not there: trust, dscp2prio and PFC of ens1f0np0 are left as they are"]),
    (
        "ethtool",
        [
            "ethtool is not there: the rx ring of ens1f0np0 is left as it is",
            "ethtool is not there: the tx ring of ens1f0np0 is left as it is",
        ],
    ),
    ("ip", ["ip is not there: no interface can be found; install iproute2"]),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "said"), MISSING)
def test_without_a_tool_the_rest_is_set(
    heps: DerivedNetwork, make_site: Any, tool: str, said: list[str]
) -> None:
    tools = [name for name in ("ip", "ethtool", "mlnx_qos") if name != tool]
    site = make_site(heps, tools=tools)
    code, out, err = site.run("--apply")
    assert (code, err) == (3, [f"rocefort-host: {line}" for line in said])
    assert site.root.read("proc/sys/net/core/rmem_max") == "268435456"
    assert out[-1] == f"{len(said)} could not be read or set"


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        (
            "sys/class/net/ens1f0np0/ecn",
            "ens1f0np0 has no {root}/sys/class/net/ens1f0np0/ecn (the maker's mlx5 driver has): "
            "DCQCN and CNPs are left as they are",
        ),
        (
            "sys/class/infiniband/mlx5_0/tc",
            "mlx5_0 has no tc/1/traffic_class (the maker's mlx5 driver has): applications must "
            "name 138",
        ),
        (
            "sys/class/infiniband/mlx5_0",
            "there is no RDMA device mlx5_0: load the NIC's RDMA driver",
        ),
        (
            "sys/kernel/config/rdma_cm",
            "no {root}/sys/kernel/config/rdma_cm: load rdma_cm, and mount configfs; the RoCE mode "
            "is left as it is",
        ),
    ],
)  # fmt: skip
def test_what_a_kernel_does_not_have_is_one_line(site: Any, gone: str, said: str) -> None:
    shutil.rmtree(site.root.root / gone)
    code, _, err = site.run("--apply")
    assert (code, err) == (3, [f"rocefort-host: {said.format(root=site.root.root)}"])
    assert site.root.read("sys/class/net/ens1f0np0/mtu") == "9000"


def test_a_dry_run_makes_no_directory_in_configfs(site: Any) -> None:
    shutil.rmtree(site.root.root / "sys/kernel/config/rdma_cm/mlx5_0")
    code, out, err = site.run()
    assert (code, err) == (1, [])
    assert "RoCE mode and class of mlx5_0: not shown -> RoCE v2, 138" in out
    assert not (site.root.root / "sys/kernel/config/rdma_cm/mlx5_0").exists()


def test_no_interface_with_the_address_leaves_what_needs_none(site: Any) -> None:
    site.root.write("state/addresses", "ens1f0np0 192.0.2.9/24")
    code, _, err = site.run("--apply")
    address = site.plan.address.ip
    assert (code, err) == (
        3,
        [
            f"rocefort-host: no interface has {address}: give it to one, or name it "
            "(servers.host.interfaces)"
        ],
    )
    assert site.root.read("proc/sys/net/core/rmem_max") == "268435456"
    assert site.root.read("sys/class/net/ens1f0np0/mtu") == "1500"


def test_a_wrong_option_does_nothing(site: Any) -> None:
    before = site.root.state()
    assert site.run("--aply") == (2, [], ["usage: rocefort-host [--apply]"])
    assert site.root.state() == before


# --- bonds --------------------------------------------------------------------------------------

PORTS = ("ens1f0np0", "ens1f1np1")


def test_a_bond_is_made_with_what_its_eth_trunk_needs(make_site: Any, bonded: Path) -> None:
    site = make_site(bonded, interfaces=PORTS)
    site.root.write("state/addresses", "eno1 192.0.2.1/24")
    before = site.root.state()
    code, out, err = site.run()
    assert (code, err) == (1, [])
    assert site.root.state() == before
    assert "bond bond0: not set -> 802.3ad" in out
    assert out[-2] == "what belongs to its ports is shown when the bond is there"
    code, out, err = site.run("--apply")
    assert (code, err) == (0, [])
    at = "sys/class/net/bond0/bonding"
    assert site.root.read(f"{at}/mode") == "802.3ad 4"
    assert site.root.read(f"{at}/xmit_hash_policy") == "layer3+4"
    assert site.root.read(f"{at}/lacp_rate") == "fast 0"
    # Linux refuses another LACP rate once the bond is up
    assert site.calls.index("ip link add bond0 type bond mode 802.3ad lacp_rate fast") < (
        site.calls.index("ip link set dev bond0 up")
    )
    assert site.root.read(f"{at}/slaves").split() == list(PORTS)
    assert [site.root.read(f"sys/class/net/{n}/mtu") for n in ("bond0", *PORTS)] == ["9000"] * 3
    assert f"bond0 {site.plan.address}" in site.root.read("state/addresses")
    assert site.run("--apply") == (0, ["nothing differs"], [])
    assert site.check().findings == ()


def test_a_bond_of_another_mode_is_left_alone(make_site: Any, bonded: Path) -> None:
    site = make_site(bonded, interfaces=PORTS)
    site.root.write("state/addresses", "eno1 192.0.2.1/24")
    site.run("--apply")
    site.root.write("sys/class/net/bond0/bonding/mode", "active-backup 1")
    code, _, err = site.run("--apply")
    assert (code, err) == (
        3,
        [
            "rocefort-host: bond0 is a bond of mode active-backup, not 802.3ad: a bond keeps its "
            "mode while it has ports"
        ],
    )


def test_an_interface_that_is_not_there_is_one_line(make_site: Any, bonded: Path) -> None:
    site = make_site(bonded, interfaces=PORTS[:1])
    site.root.write("state/addresses", "eno1 192.0.2.1/24")
    code, _, err = site.run("--apply")
    assert (code, err) == (
        3,
        ["rocefort-host: there is no interface ens1f1np1: correct servers.host.interfaces"],
    )


@pytest.mark.parametrize("address", ["its own", "192.0.2.7/24"])
@pytest.mark.parametrize("port", PORTS)
def test_a_port_that_has_an_address_is_not_cut_off_in_a_bond(
    make_site: Any, bonded: Path, port: str, address: str
) -> None:
    """Otherwise a user who is logged in over it would lose the server."""
    site = make_site(bonded, interfaces=PORTS)
    has = address.replace("its own", str(site.plan.address))
    site.root.write("state/addresses", f"eno1 192.0.2.1/24\n{port} {has}")
    for words in ((), ("--apply",)):
        code, _, err = site.run(*words)
        said = f"{port} has {has}, which would be cut off in bond0: take it off the port first"
        assert (code, err) == (3, [f"rocefort-host: {said}"])
    assert changes(site.calls) == []
    assert not (site.root.root / "sys/class/net/bond0").exists()


@pytest.mark.parametrize(("link", "user"), [("master", "br0"), ("upper_vlan7", "vlan7")])
def test_a_port_that_serves_something_else_is_not_taken_from_it(
    make_site: Any, bonded: Path, link: str, user: str
) -> None:
    site = make_site(bonded, interfaces=PORTS)
    site.root.write("state/addresses", "eno1 192.0.2.1/24")
    (site.root.root / "sys/class/net" / PORTS[1] / link).symlink_to(f"../{user}")
    code, _, err = site.run("--apply")
    said = f"ens1f1np1 belongs to {user}, and cannot join bond0: take it out of {user} first"
    assert (code, err) == (3, [f"rocefort-host: {said}"])
    assert changes(site.calls) == []


def test_no_port_joins_what_has_the_name_of_a_bond_and_is_none(
    make_site: Any, bonded: Path
) -> None:
    site = make_site(bonded, interfaces=PORTS)
    site.root.write("state/addresses", "eno1 192.0.2.1/24")
    site.root.write("sys/class/net/bond0/mtu", "1500")  # a bridge
    code, _, err = site.run("--apply")
    said = "bond0 is no bond: name the ports of one (servers.host.interfaces)"
    assert (code, err) == (3, [f"rocefort-host: {said}"])
    assert changes(site.calls) == []


def test_no_port_joins_a_bond_of_another_mode(make_site: Any, bonded: Path) -> None:
    site = make_site(bonded, interfaces=PORTS)
    site.root.write("state/addresses", "eno1 192.0.2.1/24")
    site.root.write("sys/class/net/bond0/bonding/mode", "active-backup 1")
    code, _, err = site.run("--apply")
    assert (code, len(err)) == (3, 1)
    assert err[0].startswith("rocefort-host: bond0 is a bond of mode active-backup, not 802.3ad")
    assert changes(site.calls) == []


def test_an_interface_with_another_address_keeps_it(make_site: Any, bonded: Path) -> None:
    site = make_site(bonded, interfaces=PORTS)
    site.root.write("state/addresses", "eno1 192.0.2.1/24")
    site.run("--apply")
    site.root.write("state/addresses", "bond0 192.0.2.7/24")
    calls = len(site.calls)
    code, _, err = site.run("--apply")
    said = (
        f"bond0 has 192.0.2.7/24, and not {site.plan.address}: give it that, or correct "
        "servers.host.interfaces"
    )
    assert (code, err) == (3, [f"rocefort-host: {said}"])
    assert changes(site.calls[calls:]) == []


def test_an_address_on_another_interface_is_not_moved(make_site: Any, bonded: Path) -> None:
    site = make_site(bonded, interfaces=PORTS)
    site.root.write("state/addresses", f"eno1 {site.plan.address}")
    code, _, err = site.run("--apply")
    said = f"eno1 has {site.plan.address}, which belongs to bond0: move it"
    assert (code, err) == (3, [f"rocefort-host: {said}"])
    assert site.root.read("sys/class/net/bond0/mtu") == "1500"


def test_without_names_a_bond_is_not_made_and_that_is_told(make_site: Any, bonded: Path) -> None:
    text = bonded.read_text(encoding="utf-8")
    bonded.write_text(re.sub(r"    host: .*\n", "", text), encoding="utf-8")
    site = make_site(bonded, interfaces=PORTS)
    assert site.plan.left_out == (
        "its bond is not made, only its options are set: its interfaces are not named "
        "(servers.host.interfaces)",
    )
    code, _, err = site.run("--apply")
    said = "ens1f0np0 is no bond: name the ports of one (servers.host.interfaces)"
    assert (code, err) == (3, [f"rocefort-host: {said}"])


# --- every server -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def criticised() -> dict[str, str]:
    """Collect shellcheck's output by text; texts that differ only in names and numbers are one."""
    return {}


NUMBERED = re.compile(r"[a-z]*\d[\w.:/-]*")  # leaf01, 100GE1/0/2, 10.65.0.11/24, 9000


@pytest.mark.parametrize("name", EVERY_HEPS)
def test_every_script_passes_the_shell_and_its_critic(
    heps: DerivedNetwork, tmp_path: Path, name: str, criticised: dict[str, str]
) -> None:
    plan = host_plans(heps)[name]
    script, reader = tmp_path / "script", tmp_path / "reader"
    script.write_text(host_files(plan)["rocefort-host"], encoding="utf-8")
    reader.write_text(reader_of(plan), encoding="utf-8")
    for shell, path in (("bash", script), ("sh", reader)):
        assert said([shell, "-n", str(path)]) == ""
        shape = NUMBERED.sub("0", path.read_text(encoding="utf-8"))
        if shutil.which("shellcheck") and shape not in criticised:
            criticised[shape] = said(["shellcheck", "--shell", shell, str(path)])
        assert criticised.get(shape, "") == ""


def said(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_the_bonds_script_passes_them_too(make_site: Any, bonded: Path) -> None:
    site = make_site(bonded, interfaces=PORTS)
    assert said(["bash", "-n", str(site.script)]) == ""
    if shutil.which("shellcheck"):
        assert said(["shellcheck", str(site.script)]) == ""


def test_a_server_without_a_nic_profile_gets_what_is_generic(
    make_site: Any, edit_heps_without_nics: Callable[..., Path]
) -> None:
    site = make_site(edit_heps_without_nics())
    assert site.plan.left_out == (
        "trust, dscp2prio, PFC and DCQCN are left as they are: the make of its NIC is not known "
        "(servers.nic); RoCE v2 as default and its traffic class are set",
    )
    code, out, err = site.run("--apply")
    assert (code, err) == (0, [])
    assert "RoCE mode of mlx5_0: IB/RoCE v1 -> RoCE v2" in out
    assert not any(call.startswith("mlnx_qos") for call in site.calls)
    assert site.root.read("state/qos.ens1f0np0/trust") == "pcp"
    report = site.check()
    assert report.findings == ()
    reasons = {n.rule: n.reason for n in report.not_judged}
    nic = "the make of its NIC is not known (servers.nic)"
    assert reasons == dict.fromkeys(("HST105", "HST106", "HST107", "HST110", "HST111"), nic)
