"""Every rule on servers: its findings on a faulty reading word for word, and none on a good one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Interface
from pathlib import Path
from typing import Any

import pytest

from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.derive.host_plans import host_plans
from rocefort.models.network.servers import (
    BondSeen,
    HostPlan,
    HostSeen,
    HostsSeen,
    NicSeen,
    RingSeen,
)
from rocefort.validators.checks import check_hosts, rules
from rocefort.validators.rules.servers.server_subject import HostSubject

APPLY = "run rocefort-host --apply there (rocefort host render)"


def well(plan: HostPlan) -> HostSeen:
    """Return the reading of a server that satisfies its plan."""
    names = plan.interfaces or ("ens1",)
    nics = tuple(_nic(plan, name) for name in names)
    main, bond = plan.main or "ens1", plan.bond
    return HostSeen(
        name=plan.server,
        addresses=((main, plan.address),),
        interface=main,
        mtu=plan.mtu,
        bond=BondSeen(
            mode=bond.mode,
            hash_policy=bond.hash_policy,
            lacp_rate=bond.lacp_rate,
            minimum_links=bond.minimum_links,
            miimon_ms=bond.miimon_ms,
            members=names,
        )
        if bond
        else None,
        nics=nics,
        rdma_device="mlx5_0",
        roce_mode="RoCE v2",
        roce_tos=plan.traffic_class,
        traffic_class=plan.traffic_class,
        sysctl=plan.sysctl,
        governors=(plan.governor or "",) * 4,
    )


def _nic(plan: HostPlan, name: str) -> NicSeen:
    nic = plan.nic
    assert nic is not None
    return NicSeen(
        name=name,
        mtu=plan.mtu,
        speed_mbps=plan.port_gbps * 1000,
        rings={key: RingSeen(size=min(n, 4096), maximum=4096) for key, n in plan.rings.items()},
        dcbx="OS controlled",
        trust="dscp",
        priorities={dscp: dscp >> 3 for dscp in range(64)} | nic.priorities,
        paused=nic.paused,
        files={file.path: file.value for file in (*nic.switches, *nic.parameters)},
        interrupts={81: "0-1"},
        local_cpus="0-1",
        qdisc=plan.qdisc,
    )


@dataclass
class Case:
    """A changed reading, and the findings of the rules on it."""

    derived: DerivedNetwork
    plan: HostPlan
    seen: HostSeen

    def host(self, **values: Any) -> Case:
        return Case(self.derived, self.plan, self.seen.model_copy(update=values))

    def nic(self, **values: Any) -> Case:
        first = self.seen.nics[0].model_copy(update=values)
        return self.host(nics=(first, *self.seen.nics[1:]))

    def paced(self) -> Case:
        """Require fq, and have it."""
        plan = self.plan.model_copy(update={"qdisc": "fq"})
        return Case(self.derived, plan, self.seen).nic(qdisc="fq")

    def report(self) -> Any:
        seen = HostsSeen(fabric="heps", hosts=(self.seen,))
        plans = {self.plan.server: self.plan}
        return check_hosts(self.derived.network, plans, seen, self.derived.sources)

    def says(self, rule: str) -> list[str]:
        report = self.report()
        found = [
            f"{f.severity} {f.where.interface or '-'}: {f.message}; {f.hint}"
            for f in report.findings
            if f.rule == rule
        ]
        blank = [n for n in report.not_judged if n.rule == rule]
        return found + [f"not judged {n.where.interface or '-'}: {n.reason}" for n in blank]


Change = Callable[[Case], Case]


def _files(case: Case, **values: int) -> Case:
    short = {
        path.partition("/")[2].replace("/", "_"): path for path in case.seen.nics[0].files or {}
    }
    changed = {short[name]: value for name, value in values.items()}
    return case.nic(files={**(case.seen.nics[0].files or {}), **changed})  # fmt: skip


def _on(case: Case, side: str, *priorities: int) -> Case:
    changed = {f"roce_{side}/enable/{n}": int(n in priorities) for n in range(8)}
    return case.nic(files={**(case.seen.nics[0].files or {}), **changed})


HST101: list[tuple[Change, list[str]]] = [
    (
        lambda case: case.host(failed="the reading is cut off"),
        ["error -: it could not be read: the reading is cut off; check its address, SSH server and "
         "connections file, then read it again"],
    )
]  # fmt: skip
HST102: list[tuple[Change, list[str]]] = [
    (
        lambda case: case.host(addresses=(("ens1", IPv4Interface("10.65.0.11/16")),)),
        [
            "error ens1: its address is 10.65.0.11/16, and its gateway Vlanif120 is in "
            "10.65.0.0/24; give it 10.65.0.11/24"
        ],
    ),
    (
        lambda case: case.host(addresses=(), interface=None),
        [
            "error -: no interface has 10.65.0.11, its address behind leaf01 100GE1/0/2; "
            "give 10.65.0.11/24 to the one that is cabled"
        ],
    ),
    (
        lambda case: case.host(
            addresses=(), interface=None, missing={"addresses": "ip is not installed there"}
        ),
        ["not judged -: ip is not installed there"],
    ),
]
HST103: list[tuple[Change, list[str]]] = [
    (
        lambda case: case.host(bond=BondSeen(mode="802.3ad", members=("ens1",))),
        [
            "error ens1: ens1 is a bond of mode 802.3ad, and leaf01 100GE1/0/2 is a lone port; "
            "add a bond in the fabric (servers.bond), or remove it from the server"
        ],
    ),
]
HST104: list[tuple[Change, list[str]]] = [
    (
        lambda case: case.nic(mtu=9001),
        [
            "error ens1: its MTU is 9001 bytes, and Vlanif120 of leaf01 has 9000; set it to 9000: "
            f"{APPLY}"
        ],
    ),
    (
        lambda case: case.nic(mtu=8999),
        [
            "warning ens1: its MTU is 8999 bytes, and Vlanif120 of leaf01 has 9000; set it to "
            f"9000: {APPLY}"
        ],
    ),
    (
        lambda case: case.nic(mtu=None, missing={"mtu": "it is no number: 'x'"}),
        ["not judged ens1: it is no number: 'x'"],
    ),
]
HST105: list[tuple[Change, list[str]]] = [
    (
        lambda case: case.nic(trust="pcp"),
        [f"error ens1: it trusts pcp, and RoCE of leaf01 100GE1/0/2 has a DSCP only; {APPLY}"],
    ),
    (
        lambda case: case.nic(dcbx="Firmware controlled"),
        [
            "warning ens1: its DCBX is firmware controlled: its PFC may follow the DCBX of leaf01 "
            f"100GE1/0/2, which runs PFC by hand; mlnx_qos -i ens1 --dcbx os, or {APPLY}"
        ],
    ),
    (
        lambda case: case.nic(trust=None, missing={"trust": "mlnx_qos is not installed there"}),
        ["not judged ens1: mlnx_qos is not installed there"],
    ),
]
HST106: list[tuple[Change, list[str]]] = [
    (
        lambda case: case.nic(priorities={**dict.fromkeys(range(64), 0), 34: 4}),
        [
            "error ens1: it gives DSCP 48 (CNP) priority 0, and leaf01 100GE1/0/2 has it in queue "
            f"6; mlnx_qos -i ens1 --dscp2prio set,48,6, or {APPLY}"
        ],
    ),
    (
        lambda case: case.nic(priorities=None, trust="pcp"),
        ["not judged ens1: DSCP is not trusted there (HST105), so no priority of one is shown"],
    ),
]
HST107: list[tuple[Change, list[str]]] = [
    (
        lambda case: case.nic(paused=(3, 4)),
        [
            "error ens1: its PFC is on for priorities 3 and 4, and leaf01 100GE1/0/2 pauses "
            f"priority 4; {APPLY}"
        ],
    ),
    (
        lambda case: case.nic(paused=()),
        [
            "error ens1: its PFC is on for no priority, and leaf01 100GE1/0/2 pauses priority 4; "
            f"{APPLY}"
        ],
    ),
]
HST108: list[tuple[Change, list[str]]] = [
    (
        lambda case: case.host(roce_tos=106),
        [
            "error mlx5_0: rdma_cm sends RoCE with DSCP 26, and leaf01 100GE1/0/2 expects DSCP "
            f"34; set traffic class 138: {APPLY}"
        ],
    ),
    (
        lambda case: case.host(traffic_class=136),
        [
            "warning mlx5_0: mlx5 sends RoCE with traffic class 136: its ECN bits are 0, not 2; "
            "set "
            f"traffic class 138: {APPLY}"
        ],
    ),
    (
        lambda case: case.host(
            traffic_class=None, missing={"traffic_class": "the server has no such file"}
        ),
        ["not judged mlx5_0: mlx5 shows no traffic class: the server has no such file"],
    ),
    (lambda case: case.host(rdma_device=None), ["not judged -: it shows no RDMA device"]),
]
HST109: list[tuple[Change, list[str]]] = [
    (
        lambda case: case.host(roce_mode="IB/RoCE v1"),
        [
            "error mlx5_0: its default is IB/RoCE v1, which leaf01 does not route; set RoCE v2: "
            f"{APPLY}"
        ],
    ),
    (
        lambda case: case.host(roce_mode=None, missing={"roce_mode": "the server has no such file"}),
        ["not judged mlx5_0: the server has no such file"],
    ),
]  # fmt: skip
HST110: list[tuple[Change, list[str]]] = [
    (
        lambda case: _on(case, "rp"),
        [
            "error ens1: it slows down at CNPs on no priority, and the fabric has priority 4; "
            f"{APPLY}"
        ],
    ),
    (
        lambda case: _on(case, "np", *range(8)),
        [
            "warning ens1: it answers marks with CNPs on priorities 0, 1, 2, 3, 4, 5, 6 and 7, and "
            f"the fabric has priority 4; {APPLY}"
        ],
    ),
    (
        lambda case: _files(case, cnp_802p_prio=4),
        [f"error ens1: roce_np/cnp_802p_prio is 4, and the fabric has 6 (cnp_priority); {APPLY}"],
    ),
    (
        lambda case: case.nic(files=None),
        [
            "not judged ens1: its driver shows no ecn/roce_np/cnp_dscp and 1 more",
            "not judged ens1: its driver shows no ecn/roce_np/enable/",
            "not judged ens1: its driver shows no ecn/roce_rp/enable/",
        ],
    ),
]
HST111: list[tuple[Change, list[str]]] = [
    (
        lambda case: _files(case, rpg_hai_rate=500),
        [
            "warning ens1: roce_rp/rpg_hai_rate is 500, and the fabric has 50 "
            f"(hyper_increase_mbps); {APPLY}"
        ],
    ),
    (
        lambda case: case.nic(files=None),
        ["not judged ens1: its driver shows no ecn/roce_rp/rpg_time_reset and 16 more"],
    ),
]
HST112: list[tuple[Change, list[str]]] = [
    (
        lambda case: case.nic(speed_mbps=40_000),
        [
            "error ens1: its speed is 40 Gb/s, and leaf01 100GE1/0/2 has 100; check the cable, "
            "the optics and the configured speed of both ends"
        ],
    ),
    (
        lambda case: case.nic(speed_mbps=None, missing={"speed_mbps": "it is no number: '-1'"}),
        ["not judged ens1: it is no number: '-1'"],
    ),
]
HST113: list[tuple[Change, list[str]]] = [
    (
        lambda case: case.host(sysctl={**case.seen.sysctl, "net.core.rmem_max": "212992"}),
        [f"warning -: net.core.rmem_max is 212992, and the host profile has 268435456; {APPLY}"],
    ),
    (
        lambda case: case.host(governors=("performance", "powersave")),
        [
            "warning -: governor powersave on 1 CPU of 2, and the host profile has performance; "
            f"{APPLY}"
        ],
    ),
    (
        lambda case: case.host(governors=None),
        ["not judged -: it does not let Linux set CPU frequencies"],
    ),
]
HST114: list[tuple[Change, list[str]]] = [
    (
        lambda case: case.nic(rings={"rx": RingSeen(size=1024, maximum=8192)}),
        [
            "warning ens1: its rx ring has 1024 descriptors of 8192, and the host profile has "
            f"8192; {APPLY}"
        ],
    ),
    (
        lambda case: case.nic(rings=None, missing={"rings": "ethtool is not installed there"}),
        ["not judged ens1: ethtool is not installed there"],
    ),
]
HST115: list[tuple[Change, list[str]]] = [
    (
        lambda case: case.nic(interrupts={81: "0-1", 82: "2-3"}),
        [
            "warning ens1: 1 interrupt of 2 may go to other CPUs than 0-1, those of its NUMA node; "
            f"{APPLY}"
        ],
    ),
    (lambda case: case.nic(interrupts={81: "1", 82: "0,1", 83: "0-1"}), []),
    (lambda case: case.nic(local_cpus=None), ["not judged ens1: it does not show its NUMA node"]),
]
HST116: list[tuple[Change, list[str]]] = [
    (
        lambda case: case.paced().nic(qdisc="fq_codel"),
        [f"warning ens1: it sends through fq_codel, and the host profile has fq; {APPLY}"],
    ),
    (
        lambda case: case.paced().nic(qdisc=None, missing={"qdisc": "tc is not installed there"}),
        ["not judged ens1: tc is not installed there"],
    ),
    (lambda case: case.paced(), []),
    (lambda case: case.nic(qdisc="pfifo_fast"), []),  # the profile states none
]
TABLE = {
    "HST101": HST101,
    "HST102": HST102,
    "HST103": HST103,
    "HST104": HST104,
    "HST105": HST105,
    "HST106": HST106,
    "HST107": HST107,
    "HST108": HST108,
    "HST109": HST109,
    "HST110": HST110,
    "HST111": HST111,
    "HST112": HST112,
    "HST113": HST113,
    "HST114": HST114,
    "HST115": HST115,
    "HST116": HST116,
}


@pytest.fixture(scope="module")
def lone(heps: DerivedNetwork) -> Case:
    plan = host_plans(heps)["k8sgn08"]
    return Case(heps, plan, well(plan))


@pytest.mark.parametrize(
    ("rule", "change", "said"),
    [(rule, change, said) for rule, rows in TABLE.items() for change, said in rows],
)
def test_every_rule_says_what_is_wrong(
    lone: Case, rule: str, change: Change, said: list[str]
) -> None:
    changed = change(lone)
    assert changed.says(rule) == said
    others = {f.rule for f in changed.report().findings} - {rule}
    assert others == ({"HST105"} if changed.seen.nics[0].trust == "pcp" else set()) - {rule}


def test_a_server_that_has_all_of_it_has_no_finding(lone: Case) -> None:
    report = lone.report()
    assert (report.findings, report.not_judged) == ((), ())
    assert report.rules == tuple(sorted(TABLE))


def test_a_server_that_does_not_answer_passes_no_rule(lone: Case) -> None:
    report = lone.host(failed="no session", interface=None, nics=()).report()
    assert [f.rule for f in report.findings] == ["HST101"]
    assert {n.rule for n in report.not_judged} == set(TABLE) - {"HST101", "HST102"}


def test_every_host_rule_has_a_table() -> None:
    assert [rule.id for rule in rules(judges=HostSubject)] == sorted(TABLE)


# --- bonds --------------------------------------------------------------------------------------

BONDS: list[tuple[dict[str, object], list[str]]] = [
    (
        {"mode": "active-backup"},
        ["error bond0: its bond has mode active-backup, and leaf01 Eth-Trunk{id} needs 802.3ad; {fix}"],
    ),
    (
        {"hash_policy": "layer2"},
        ["error bond0: its bond has hash layer2, and leaf01 Eth-Trunk{id} needs layer3+4; {fix}"],
    ),
    (
        {"lacp_rate": "slow"},
        ["error bond0: its bond has LACP rate slow, and leaf01 Eth-Trunk{id} needs fast; {fix}"],
    ),
    ({"minimum_links": None}, ["not judged bond0: its bond does not show its least number of ports"]),
    ({"miimon_ms": 0}, ["error bond0: its bond has miimon 0, and leaf01 Eth-Trunk{id} needs 100; {fix}"]),
    ({"miimon_ms": None}, ["not judged bond0: its bond does not show its miimon"]),
    (
        {"members": ("ens1f0np0",)},
        [
            "error bond0: its bond has ens1f0np0, and Eth-Trunk{id} has 100GE1/0/2 and 100GE1/0/3; "
            "bond ens1f0np0 and ens1f1np1"
        ],
    ),
    (
        {"members": ("ens1f0np0", "eno1")},
        [
            "error bond0: its bond has ens1f0np0 and eno1, and Eth-Trunk{id} has 100GE1/0/2 and 100GE1/0/3; "
            "bond ens1f0np0 and ens1f1np1"
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("change", "said"), BONDS)
def test_a_bond_is_judged_by_its_eth_trunk(
    bonded: Path, change: dict[str, object], said: list[str]
) -> None:
    derived = derive(bonded)
    plan = host_plans(derived)["k8sgn08"]
    case = Case(derived, plan, well(plan))
    assert case.report().findings == ()
    assert case.seen.bond is not None
    number = plan.carrier.removeprefix("Eth-Trunk")
    fix = "bond its ports with mode 802.3ad, layer3+4 and lacp_rate fast, miimon 100"
    changed = case.host(bond=case.seen.bond.model_copy(update=change))
    assert changed.says("HST103") == [line.format(id=number, fix=fix) for line in said]


def test_an_interface_that_the_server_lacks_is_named(bonded: Path) -> None:
    derived = derive(bonded)
    plan = host_plans(derived)["k8sgn08"]
    gone = Case(derived, plan, well(plan)).host(interface=None, nics=(), bond=None)
    assert gone.says("HST102") == [
        "error -: it has no interface bond0; correct servers.host.interfaces, or the server"
    ]
    moved = gone.host(interface="bond0", addresses=(("eno1", plan.address),))
    assert moved.says("HST102") == [
        f"error eno1: {plan.address.ip} is on eno1, and {plan.leaf_port} leads to bond0; correct "
        "servers.host.interfaces, or the server"
    ]
