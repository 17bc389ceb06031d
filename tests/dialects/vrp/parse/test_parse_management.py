"""Reading the text of management: NETCONF, logs, ACLs, who may log in, SNMP."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network

import pytest

from rocefort.dialects.vrp.parse.parser import parse
from rocefort.models.device.device import Device
from rocefort.models.device.management import (
    Acl,
    AclRule,
    Netconf,
    Snmp,
    SnmpGroup,
    SnmpUser,
    SnmpView,
    Syslog,
    Vty,
)
from rocefort.models.network.network import TextLine

HEAD = "sysname a\n"


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("snetconf server enable", "netconf", Netconf(server=True)),
        ("snetconf ipv4 server enable", "netconf", Netconf(server=True)),
        ("netconf\n protocol inbound ssh port 830", "netconf", Netconf(port_830=True)),
        ("netconf\n protocol inbound ssh ipv4 port 830", "netconf", Netconf(port_830=True)),
        (
            "info-center loghost 10.255.0.6\ninfo-center loghost source meth 0/0/0",
            "syslog",
            Syslog(hosts=(IPv4Address("10.255.0.6"),), source_interface="MEth0/0/0"),
        ),
        (
            "acl number 2000\n rule 5 permit source 10.255.0.0 0.0.0.255\n"
            " rule 10 permit source 192.0.2.9 0\n rule 15 deny",
            "acls",
            (
                Acl(
                    number=2000,
                    rules=(
                        AclRule(index=5, source=IPv4Network("10.255.0.0/24")),
                        AclRule(index=10, source=IPv4Network("192.0.2.9/32")),
                        AclRule(index=15, action="deny"),
                    ),
                ),
            ),
        ),
        (
            "acl 2001\n rule 5 deny source any",
            "acls",
            (Acl(number=2001, rules=(AclRule(index=5, action="deny"),)),),
        ),
        (
            "user-interface vty 0 4\n acl 2000 inbound\n idle-timeout 15",
            "vty",
            (Vty(first=0, last=4, acl=2000, idle_timeout_s=900),),
        ),
        (
            "user-interface vty 0 4\n idle-timeout 0 30",
            "vty",
            (Vty(first=0, last=4, idle_timeout_s=30),),
        ),
        (
            "snmp-agent\nsnmp-agent sys-info version v2c v3\n"
            "snmp-agent mib-view included all iso\nsnmp-agent mib-view included all system\n"
            "snmp-agent group v3 G privacy read-view all notify-view all\n"
            "snmp-agent usm-user v3 u\nsnmp-agent usm-user v3 u group G\n"
            "snmp-agent protocol source-interface MEth0/0/0",
            "snmp",
            Snmp(
                enabled=True,
                source_interface="MEth0/0/0",
                versions=("v2c", "v3"),
                views=(SnmpView(name="all", subtrees=("iso", "system")),),
                groups=(SnmpGroup(name="G", read_view="all", notify_view="all"),),
                users=(SnmpUser(name="u", group="G"),),
            ),
        ),
    ],
)
def test_management_beside_ssh(line: str, field: str, value: object) -> None:
    parsed = parse(f"{HEAD}{line}\n", "a.cfg")
    assert parsed.unmodelled == ()
    assert parsed.device == Device(name="a").model_copy(update={field: value})


@pytest.mark.parametrize(
    "line",
    [
        "snmp-agent usm-user v3 u authentication-mode sha2-256 cipher <removed>",
        "snmp-agent usm-user v3 u privacy-mode aes256 cipher <removed>",
        "snmp-agent usm-user v3 u",  # a user without a group
        "snmp-agent mib-view excluded all system",
        "snmp-agent group v3 G authentication read-view all",
        "info-center loghost 10.255.0.6 facility local4",
        "acl number 4000",
        "acl name ADMIN basic",
        "acl name 123 advance",
        "acl name FILTER 3001",
    ],
)
def test_a_line_of_management_that_no_device_holds_is_kept(line: str) -> None:
    parsed = parse(f"{HEAD}{line}\n", "a.cfg")
    assert parsed.unmodelled == (TextLine((), line, 2),)
    assert parsed.device == Device(name="a")


@pytest.mark.parametrize(
    "rule", ["rule 5 permit source 10.0.0.0 0.255.0.255", "rule 5 permit time-range night"]
)
def test_a_rule_that_is_no_network_is_kept(rule: str) -> None:
    parsed = parse(f"{HEAD}acl number 2000\n {rule}\n", "a.cfg")
    assert parsed.unmodelled == (TextLine(("acl number 2000",), rule, 3),)
    assert parsed.device.acls == (Acl(number=2000),)
