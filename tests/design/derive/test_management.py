"""Derived management and scheduling of RoCE ports; settings outside of intent are not derived."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest

from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.dialects.network_text import render_all
from rocefort.models.device.interface import DrrQueue
from rocefort.models.device.management import Acl, AclRule, Netconf, Snmp, Syslog, Vty

Edit = Callable[..., Path]

ACCESS = "  management_access:      # assumed: the management segment only\n"
RULE = "    - {id: 1, prefix: 10.255.0.0/24}\n"
READER = (
    "  snmp:                   # assumed; the keys are set once on each switch, not by a rollout\n"
    "    - name: monitor\n      authentication: env:SNMP_AUTHENTICATION\n"
    "      privacy: env:SNMP_PRIVACY\n"
)


def test_every_switch_of_heps_is_managed_alike(heps: DerivedNetwork) -> None:
    rule = AclRule(index=5, source=IPv4Network("10.255.0.0/24"))
    for node in heps.network.nodes:
        device = node.device
        assert device.acls == (Acl(number=2000, rules=(rule,)),)
        assert device.vty == (
            Vty(
                first=0,
                last=4,
                authentication="aaa",
                protocol="ssh",
                acl=2000,
                idle_timeout_s=900,
            ),
        )
        assert device.netconf == Netconf(server=True, port_830=True)
        assert device.syslog == Syslog(
            hosts=(IPv4Address("10.255.0.251"),), source_interface="MEth0/0/0"
        )
        assert [(user.name, user.group) for user in device.snmp.users] == [
            ("monitor", "monitoring")
        ]


def test_what_an_older_fabric_does_not_say_is_not_there(edit_heps: Edit) -> None:
    path = edit_heps(
        (ACCESS + RULE, ""),
        ("  idle_timeout_min: 15    # assumed\n", ""),
        ("  syslog: [10.255.0.251]  # assumed\n", ""),
        ("  netconf: true           # assumed\n", ""),
        (READER, ""),
    )
    for node in derive(path).network.nodes:
        device = node.device
        assert (device.acls, device.netconf, device.syslog, device.snmp) == (
            (),
            Netconf(),
            Syslog(),
            Snmp(),
        )
        assert device.vty == (Vty(first=0, last=4, authentication="aaa", protocol="ssh"),)
        assert {user.service_types for user in device.ssh.users} == {("stelnet",)}


def test_a_network_keeps_its_rule_when_others_come_and_go(edit_heps: Edit) -> None:
    path = edit_heps((RULE, "    - {id: 3, prefix: 192.0.2.0/24}\n" + RULE.replace("1,", "7,")))
    (acl,) = derive(path).network.nodes[0].device.acls
    assert {rule.index: str(rule.source) for rule in acl.rules} == {
        15: "192.0.2.0/24",
        35: "10.255.0.0/24",
    }


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("acls[2000].rules[5].source", "{id: 1, prefix: 10.255.0.0/24}"),
        ("vty[0].acl", "management_access:"),
        ("vty[0].idle_timeout_s", "idle_timeout_min:"),
        ("syslog.hosts[10.255.0.251]", "syslog:"),
        ("netconf.port_830", "netconf:"),
        ("snmp.users[monitor].group", "- name: monitor"),
        ("interfaces[100GE1/0/25].drr[4].weight", "- {queue: 4, weight: 65}"),
    ],
)
def test_a_value_leads_to_its_line(heps: DerivedNetwork, field: str, text: str) -> None:
    position = heps.sources.find("leaf03", field)
    assert position is not None
    assert text in Path(position.file).read_text(encoding="utf-8").splitlines()[position.line - 1]


def test_only_ports_of_roce_are_scheduled_and_cnp_is_served_first(heps: DerivedNetwork) -> None:
    weights = {0: 5, 1: 15, 2: 1, 3: 1, 4: 65, 5: 1}
    expected = tuple(DrrQueue(queue=queue, weight=weight) for queue, weight in weights.items())
    for node in heps.network.nodes:
        for port in node.device.interfaces:
            assert port.drr == (expected if port.pfc is not None else ())


def test_no_key_nor_where_it_is_reaches_a_text(heps: DerivedNetwork) -> None:
    for text in render_all(heps.network).values():
        assert "snmp-agent usm-user v3 monitor group monitoring" in text
        assert not any(
            word in text for word in ("SNMP_", "env:", "cipher", "authentication-mode s")
        )


def test_roles_and_telemetry_become_groups_and_subscriptions(edit_heps: Edit) -> None:
    path = edit_heps(
        (
            "    - name: netops\n      level: 3\n",
            "    - name: netops\n      level: 3\n    - name: reader\n      role: beamline\n"
            "  roles:\n    - name: beamline\n      grants:\n"
            "        - {task_group: monitor-tg, rights: [read]}\n",
        ),
        (
            "  netconf: true           # assumed\n",
            "  telemetry:\n    - name: queues\n      interval_ms: 1000\n"
            "      paths: [huawei-ifm:ifm/interfaces/interface/mib-statistics]\n"
            "      collectors: [{address: 10.255.0.252, port: 57400}]\n",
        ),
    )
    derived = derive(path)
    (text, *others) = render_all(derived.network).values()
    for line in (
        " user-group beamline\n  task-group monitor-tg read\n",
        " local-user reader user-group beamline\n",
        " sensor-group queues\n  sensor-path huawei-ifm:ifm/interfaces/interface/mib-statistics\n",
        " destination-group queues\n  ipv4-address 10.255.0.252 port 57400 protocol grpc\n",
        " subscription queues\n  local-source-interface MEth0/0/0\n"
        "  sensor-group queues sample-interval 1000\n  destination-group queues\n",
    ):
        assert line in text
        assert all(line in other for other in others)
    position = derived.sources.find("leaf01", "telemetry.subscriptions[queues].samplings[queues]")
    assert position is not None
    assert "name: queues" in path.read_text(encoding="utf-8").splitlines()[position.line - 1]
