"""A bench: two hosts and at most one switch, in place of a fabric."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rocefort.base.errors import BadInput, RocefortError
from rocefort.base.repository import INVENTORY
from rocefort.change.edit import read_fabric
from rocefort.design.derive.derive import derive
from rocefort.design.derive.host_plans import host_plans
from rocefort.design.subject import subject_of_derived
from rocefort.models.network.network import End
from rocefort.validators.checks import check
from rocefort.validators.routing.engine import solve

DIRECT, SWITCHED = (INVENTORY / name / "fabric.yaml" for name in ("redigo-direct", "redigo-switch"))


def test_hosts_back_to_back_are_at_the_ports_of_each_other() -> None:
    derived = derive(DIRECT)
    network = derived.network
    assert (network.nodes, network.links) == ((), ())
    one, other = network.servers or ()
    assert (one.port, other.port) == (
        End(device="host2", interface="eth0"),
        End(device="host1", interface="eth0"),
    )
    assert [str(s.address) for s in (one, other)] == ["192.168.10.10/24", "192.168.10.11/24"]
    plan = host_plans(derived)["host1"]
    assert (plan.far_end, plan.port_gbps, plan.roce_dscp) == ("the port host2 eth0", 10, 34)


def test_a_switch_changes_no_address_of_a_host() -> None:
    direct, switched = (derive(file) for file in (DIRECT, SWITCHED))
    addresses = [[s.address for s in d.network.servers or ()] for d in (direct, switched)]
    assert addresses[0] == addresses[1]
    (node,) = switched.network.nodes
    assert node.device.bgp is None
    assert {i.kind for i in node.device.interfaces} == {"ethernet", "vlanif", "management"}
    # The ports of the switch are faster; the NICs set the speed.
    assert [s.speed_gbps for s in switched.network.servers or ()] == [10, 10]


@pytest.mark.parametrize("file", [DIRECT, SWITCHED])
def test_rules_on_routing_roles_and_growth_are_not_selected(file: Path) -> None:
    subject = subject_of_derived(derive(file))
    report = check(subject.network, subject.sources)
    assert not any(finding.severity == "error" for finding in report.findings)
    assert {"BGP001", "TOP005", "TOP006", "DLK001"}.isdisjoint(report.rules)
    assert {"HST001", "QOS001"} <= {*report.rules}
    assert ("PFC001" in report.rules) is (file == SWITCHED)


def test_what_does_not_apply_is_refused_with_one_sentence() -> None:
    with pytest.raises(RocefortError) as grown:
        read_fabric(DIRECT, "it cannot grow so")
    assert "a bench has two hosts and at most one switch, and does not grow" in str(grown.value)
    with pytest.raises(RocefortError) as solved:
        solve(derive(DIRECT).network)
    assert "redigo-direct: its hosts are back to back, without a switch" in str(solved.value)


@pytest.mark.parametrize(
    ("file", "change", "sentence"),
    [
        (DIRECT, {"leaves": []}, "leaves: a bench has no leaves, and bench is on line"),
        (DIRECT, {"bench.hosts": [{"name": "host1"}]}, "bench.hosts"),
        (DIRECT, {"bench.hosts": [{"name": "h"}, {"name": "h"}]}, "name 'h' is given twice"),
        (DIRECT, {"bench.prefix": "192.168.10.0/29"}, "has no addresses 10 and 11"),
        (
            SWITCHED,
            {"bench.speed_gbps": 40},
            "the NICs have 40 Gb/s, ports of switch01 have 25 Gb/s",
        ),
        (SWITCHED, {"bench.hosts": [{"name": "a"}, {"name": "b"}]}, "a has no port of switch01"),
        (DIRECT, {"bench.hosts": [{"name": "a", "port": "25GE1/0/1"}, {"name": "b"}]}, "remove it"),
        (SWITCHED, {"bench.switch.hardware": "CE1"}, "bench.switch.hardware: no hardware 'CE1'"),
    ],
)
def test_errors_name_the_line_of_the_bench(
    tmp_path: Path, file: Path, change: dict[str, object], sentence: str
) -> None:
    data = yaml.safe_load(file.read_text("utf-8"))
    for key, value in change.items():
        *owners, last = key.split(".")
        owner = data
        for name in owners:
            owner = owner[name]
        owner[last] = value
    copy = tmp_path / "fabric.yaml"
    copy.write_text(yaml.safe_dump(data, sort_keys=False), "utf-8")
    with pytest.raises(BadInput) as refused:
        derive(copy)
    assert sentence in str(refused.value)
    assert len(refused.value.problems) == 1
