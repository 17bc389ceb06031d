"""Strict reading of server outputs: published forms, and contradictory texts."""

from __future__ import annotations

from pathlib import Path

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.derive.host_plans import host_plans
from rocefort.dialects.server_configuration import HostOutputError, read_host, read_outputs, split
from rocefort.models.network.servers import HostPlan, HostSeen, RingSeen
from rocefort.rdma.host_settings import HostCheck, check_outputs

# MLNX_OFED 4.2 (without buffers) and 5.x (with them), as published; blanks and tabs kept.
MAP = [
    f"\tprio:{p} dscp:" + "".join(f"{d:02}," for d in range(8 * p + 7, 8 * p - 1, -1))
    for p in range(8)
]
OFED4 = [
    "DCBX mode: OS controlled",
    "Priority trust state: dscp",
    "dscp2prio mapping:",
    *MAP,
    "Cable len: 10",
    "PFC configuration:",
    "\tpriority    0   1   2   3   4   5   6   7",
    "\tenabled     0   0   0   0   1   0   0   0   ",
    "tc: 0 ratelimit: unlimited, tsa: ets, bw: 10%",
    "\t priority:  1",
]
OFED5 = [
    *OFED4[: 3 + len(MAP)],
    "Receive buffer size (bytes): 130944,130944,0,0,0,0,0,0,max_buffer_size=262016",
    *OFED4[3 + len(MAP) : -2],
    "\tbuffer      0   0   0   1   0   0   0   0   ",
    *OFED4[-2:],
]
RINGS = [
    "Ring parameters for ens1:",
    "Pre-set maximums:",
    "RX:\t\t8192",
    "RX Mini:\tn/a",
    "TX:\t\t8192",
    "Current hardware settings:",
    "RX:\t\t1024",
    "RX Mini:\tn/a",
    "TX:\t\t2048",
]
ADDRESS = (
    r"2: ens1    inet 10.65.0.11/24 brd 10.65.0.255 scope global ens1\       valid_lft forever"
)


@pytest.fixture(scope="module")
def plan(heps: DerivedNetwork) -> HostPlan:
    return host_plans(heps)["k8sgn08"]


def text_of(**changed: tuple[int, list[str]] | None) -> str:
    """Return a reading with sections changed or left out."""
    sections: dict[str, tuple[int, list[str]] | None] = {
        "clock": (0, ["1764345600.000000000"]),
        "kernel": (0, ["6.1.0-18-amd64"]),
        "addresses": (0, [ADDRESS]),
        "interface": (0, ["ens1"]),
        "mtu": (0, ["9000"]),
        "nic/ens1": (0, ["ens1"]),
        "nic/ens1/mtu": (0, ["9000"]),
        "nic/ens1/speed": (0, ["100000"]),
        "nic/ens1/driver": (
            0,
            ["driver: mlx5_core", "version: 6.1.0", "firmware-version: 22.31.1014"],
        ),
        "nic/ens1/rings": (0, RINGS),
        "nic/ens1/qos": (0, OFED5),
        "rdma": (0, ["mlx5_0"]),
        "mode": (0, ["RoCE v2"]),
        "tos": (0, ["138"]),
        "tclass": (0, ["Global tclass=138", "src_ip=10.65.0.11/32,tclass=106"]),
        "clock/end": (0, ["1764345600.100000000"]),
    }
    sections |= {name.replace("__", "/"): value for name, value in changed.items()}
    lines = []
    for name, section in sections.items():
        if section is not None:
            lines += [f"@{name} {section[0]}", *(f"|{line}" for line in section[1])]
    return "\n".join([*lines, "@end 0"]) + "\n"


def test_a_whole_reading(plan: HostPlan) -> None:
    seen = read_host(plan, text_of())
    nic = seen.nics[0]
    assert (seen.failed, seen.missing, nic.missing) == ("", {}, {})
    assert (seen.interface, seen.mtu, str(seen.addresses[0][1])) == ("ens1", 9000, "10.65.0.11/24")
    assert (seen.roce_mode, seen.roce_tos, seen.traffic_class) == ("RoCE v2", 138, 138)
    assert (nic.dcbx, nic.trust, nic.paused) == ("OS controlled", "dscp", (4,))
    assert nic.priorities == {dscp: dscp >> 3 for dscp in range(64)}
    assert nic.rings == {
        "rx": RingSeen(size=1024, maximum=8192),
        "tx": RingSeen(size=2048, maximum=8192),
    }


def test_mlnx_qos_of_ofed_4_says_the_same(plan: HostPlan) -> None:
    old = read_host(plan, text_of(nic__ens1__qos=(0, OFED4)))
    assert old == read_host(plan, text_of())


def without(lines: list[str], part: str) -> list[str]:
    return [line for line in lines if part not in line]


def swapped(lines: list[str], old: str, new: str) -> list[str]:
    return [line.replace(old, new) for line in lines]


FLAWS: list[tuple[str, tuple[int, list[str]] | None, str, str]] = [
    ("nic__ens1__qos", (127, ["sh: mlnx_qos: not found"]), "trust", "mlnx_qos is not installed there"),
    ("nic__ens1__qos", (1, ["No such device"]), "paused", "it cannot be read there: No such device"),
    ("nic__ens1__qos", (0, []), "trust", "mlnx_qos does not show the Priority trust state"),
    (
        "nic__ens1__qos",
        (0, swapped(OFED5, "state: dscp", "state: ip")),
        "trust",
        "mlnx_qos shows a trust state that is not known: 'ip'",
    ),
    (
        "nic__ens1__qos",
        (0, swapped(OFED5, "39,", "31,")),
        "priorities",
        "mlnx_qos shows DSCP 31 twice",
    ),
    (
        "nic__ens1__qos",
        (0, without(OFED5, "prio:4 ")),
        "priorities",
        "mlnx_qos does not show a priority of every DSCP",
    ),
    (
        "nic__ens1__qos",
        (0, swapped(OFED5, "enabled     0   0", "enabled     0")),
        "paused",
        "mlnx_qos does not show one row of PFC",
    ),
    (
        "nic__ens1__qos",
        (0, [*OFED5, "\tenabled     0   0   0   0   1   0   0   0   "]),
        "paused",
        "mlnx_qos does not show one row of PFC",
    ),
    (
        "nic__ens1__qos",
        (0, without(OFED5, "\tpriority    0   1")),
        "paused",
        "mlnx_qos does not show the priorities above its row of PFC",
    ),
    (
        "nic__ens1__qos",
        (0, swapped(OFED5, "priority    0   1", "priority    0   0")),
        "paused",
        "mlnx_qos does not show the priorities above its row of PFC",
    ),
    (
        "nic__ens1__rings",
        (0, [*RINGS, "RX:\t\t512"]),
        "rings",
        "ethtool shows RX twice",
    ),
    (
        "nic__ens1__rings",
        (0, RINGS[:5]),
        "rings",
        "ethtool does not show its rings, now and at most",
    ),
    (
        "nic__ens1__rings",
        (0, swapped(RINGS, "TX:\t\t2048", "TX:\t\tn/a")),
        "rings",
        "ethtool does not show its rings, now and at most",
    ),
    ("nic__ens1__speed", (0, ["-1"]), "speed_mbps", "it is no number: '-1'"),
    (
        "nic__ens1__speed",
        (1, ["cat: speed: Invalid argument"]),
        "speed_mbps",
        "it cannot be read there: cat: speed: Invalid argument",
    ),
    ("nic__ens1__mtu", (0, ["9000", "9000"]), "mtu", "its file does not have one line"),
    ("nic__ens1__mtu", None, "mtu", "the server has no such file"),
]  # fmt: skip


@pytest.mark.parametrize(("section", "shown", "field", "why"), FLAWS)
def test_what_does_not_add_up_is_no_value_but_a_reason(
    plan: HostPlan, section: str, shown: tuple[int, list[str]] | None, field: str, why: str
) -> None:
    nic = read_host(plan, text_of(**{section: shown})).nics[0]
    assert getattr(nic, field) is None
    assert nic.missing[field] == why


@settings(max_examples=tries(40))
@given(order=st.permutations(range(8)), paused=st.sets(st.integers(0, 7)))
def test_pfc_is_read_by_the_priorities_above_it(
    plan: HostPlan, order: list[int], paused: set[int]
) -> None:
    columns = "   ".join(str(priority) for priority in order)
    enabled = "   ".join(str(int(priority in paused)) for priority in order)
    lines = swapped(OFED5, "0   1   2   3   4   5   6   7", columns)
    lines = swapped(lines, "enabled     0   0   0   0   1   0   0   0", f"enabled     {enabled}")
    (nic,) = read_host(plan, text_of(nic__ens1__qos=(0, lines))).nics
    assert nic.paused == tuple(sorted(paused))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("2: ens1    inet6 fe80::1/64", "ip printed a row that is damaged: '2: ens1    inet6 fe80::1/64'"),
        ("ens1    inet 10.65.0.11/24 x", "ip printed a row that is damaged: 'ens1    inet 10.65.0.11/24 x'"),
        (r"2: ens1    inet 10.65.0.300/24 scope global ens1\ x", "ip printed no address: '10.65.0.300/24'"),
    ],
)  # fmt: skip
def test_an_address_that_is_none(plan: HostPlan, line: str, why: str) -> None:
    seen = read_host(plan, text_of(addresses=(0, [line])))
    assert (seen.addresses, seen.missing) == ((), {"addresses": why})


def test_no_traffic_class_is_zero(plan: HostPlan) -> None:
    assert read_host(plan, text_of(tclass=(0, []))).traffic_class == 0


def test_every_cut_of_a_reading_is_told_and_gives_no_value(plan: HostPlan) -> None:
    lines = text_of().splitlines(keepends=True)
    for count in range(len(lines)):
        seen = read_host(plan, "".join(lines[:count]))
        assert seen == HostSeen(name="k8sgn08", failed="the reading is cut off")


@pytest.mark.parametrize("line", ["@mtu", "@mtu x", "@m tu 0"])
def test_a_damaged_head_voids_the_reading(line: str) -> None:
    with pytest.raises(HostOutputError, match="the head of a section is damaged"):
        split(f"@mtu 0\n{line}\n@end 0\n")


PROSE = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=30).map(
    lambda words: f"warning: {words}"
)


@settings(max_examples=tries(60))
@given(line=PROSE, at=st.integers(0, 200))
def test_a_line_outside_the_sections_is_a_note_and_changes_no_value(
    plan: HostPlan, line: str, at: int
) -> None:
    lines = text_of().splitlines()
    at %= len(lines) + 1
    seen = read_host(plan, "\n".join([*lines[:at], line, *lines[at:]]))
    assert seen.notes == (" ".join(line.split()),)
    assert seen.model_copy(update={"notes": ()}) == read_host(plan, text_of())


@settings(max_examples=tries(60))
@given(line=PROSE, at=st.integers(0, 200))
@pytest.mark.parametrize("name", ["nic/ens1/qos", "nic/ens1/rings", "addresses", "tclass"])
def test_a_line_of_a_tool_beside_its_table_changes_no_value(
    plan: HostPlan, name: str, line: str, at: int
) -> None:
    """The reader's script keeps errors of a tool among its lines."""
    lines = text_of().splitlines()
    start = lines.index(f"@{name} 0") + 1
    end = next(n for n in range(start, len(lines)) if lines[n].startswith("@"))
    at = start + at % (end - start + 1)
    seen = read_host(plan, "\n".join([*lines[:at], f"|{line}", *lines[at:]]))
    assert seen == read_host(plan, text_of())


def test_what_a_tool_prints_cannot_be_a_section(plan: HostPlan) -> None:
    """A line that looks like the end is a line of its section."""
    seen = read_host(plan, text_of(mode=(0, ["@end 0"])))
    assert (seen.failed, seen.roce_mode, seen.roce_tos) == ("", "@end 0", 138)


# --- outputs that a person kept -------------------------------------------------------------------

IP_ADDR = """1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN qlen 1000
    inet 127.0.0.1/8 scope host lo
2: ens1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000
    link/ether 0c:42:a1:00:00:01 brd ff:ff:ff:ff:ff:ff
    inet 10.65.0.11/24 brd 10.65.0.255 scope global ens1
       valid_lft forever preferred_lft forever
"""


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    (tmp_path / "k8sgn08.mlnx_qos.txt").write_text("\n".join(OFED5))
    (tmp_path / "k8sgn08.ethtool-g.txt").write_text("\n".join(RINGS))
    (tmp_path / "k8sgn08.ip-addr.txt").write_text(IP_ADDR)
    return tmp_path


def test_single_outputs_give_the_values_of_a_reading(heps: DerivedNetwork) -> None:
    plan = host_plans(heps)["k8sgn08"]
    texts = {("mlnx_qos", ""): "\n".join(OFED5), ("ethtool-g", ""): "\n".join(RINGS)}
    kept = read_outputs(plan, texts | {("ip-addr", ""): IP_ADDR})
    whole = read_host(plan, text_of())
    assert (kept.interface, kept.mtu, str(kept.addresses[1][1])) == ("ens1", 1500, "10.65.0.11/24")
    for field in ("dcbx", "trust", "priorities", "paused", "rings"):
        assert getattr(kept.nics[0], field) == getattr(whole.nics[0], field)


def _messages(checked: HostCheck) -> list[str]:
    return [finding.message for finding in checked.report.findings]


def test_what_is_not_given_is_not_judged(heps_file: Path, outputs: Path) -> None:
    checked = check_outputs(heps_file, outputs, ())
    assert _messages(checked) == [
        "its MTU is 1500 bytes, and Vlanif120 of leaf01 has 9000",
        "its rx ring has 1024 descriptors of 8192, and the host profile has 8192",
        "its tx ring has 2048 descriptors of 8192, and the host profile has 8192",
    ]
    reasons = {(each.rule, each.reason) for each in checked.report.not_judged}
    lacking = ("HST103", "HST108", "HST109", "HST110", "HST111", "HST112", "HST113", "HST115")
    assert reasons == {(rule, "no output of it is given") for rule in lacking}
    assert checked.notes[0].startswith("11 servers not checked, without an output: transfer01")


def test_a_kept_fault_is_a_finding(heps_file: Path, outputs: Path) -> None:
    file = outputs / "k8sgn08.mlnx_qos.txt"
    file.write_text(file.read_text().replace("trust state: dscp", "trust state: pcp"))
    (outputs / "k8sgn09.txt").write_text(text_of())
    (outputs / "notes.md").write_text("")
    checked = check_outputs(heps_file, outputs, ())
    assert "it trusts pcp, and RoCE of leaf01 100GE1/0/2 has a DSCP only" in _messages(checked)
    absent = "no interface has 10.65.1.10, its address behind leaf02 100GE1/0/1"
    assert absent in _messages(checked)
    assert checked.notes[1:] == ("not read, of no known output: notes.md",)


def test_an_output_of_an_unknown_server_is_a_note(heps_file: Path, outputs: Path) -> None:
    (outputs / "k8sgn8.txt").write_text("")
    note = check_outputs(heps_file, outputs, ()).notes[-1]
    assert note.endswith("no server 'k8sgn8'; did you mean 'k8sgn08'?")


def test_a_required_server_without_an_output_is_an_error(heps_file: Path, outputs: Path) -> None:
    (outputs / "k8sgn09.txt").write_text("")
    with pytest.raises(BadInput, match=r"no output of storage01; name the files SERVER\.txt, "):
        check_outputs(heps_file, outputs, ("storage01",))
