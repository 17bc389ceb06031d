"""Factory lines of switches, from published texts: read, kept, and never removed by a plan."""

from __future__ import annotations

import pytest
from planned import make_changes

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.network_text import render_all
from rocefort.dialects.vrp.interpreter.saved_lines import written_by_itself
from rocefort.dialects.vrp.parse.parser import parse

# An S5735 with V600R023C00, of V300R023's generation (its hashes, names and ports left out).
NEWEST = """\
!Last configuration was saved at 2024-07-14 04:54:24+00:00 by admin
!grpc VRPV800R006C00B016D0127-0.0.1
!kms_feature --
!md_tlm VRPV800R006C00B016D0127-0.0.1
!telem VRPV800R006C00B016D0127-0.0.1
#
pki realm default
#
undo ftp server source all-interface
undo ftp ipv6 server source all-interface
#
ssl policy default
 pki-domain default
 ssl minimum version tls1.2
 cipher-suite exclude key-exchange rsa
 cipher-suite exclude cipher mode cbc
#
info-center logfile compression lzma
#
drop-profile default
#
ntp server source-interface all disable
ntp ipv6 server source-interface all disable
#
telnet server disable
telnet ipv6 server disable
undo telnet server-source all-interface
undo telnet ipv6 server-source all-interface
#
diffserv domain default
#
ip vpn-instance _management_vpn_
 ipv4-family
#
aaa
 authentication-scheme default
  authentication-mode local
 authorization-scheme default
  authorization-mode local
 accounting-scheme default
  accounting-mode none
 domain default
  authentication-scheme default
  accounting-scheme default
#
stack
#
license
#
interface NULL0
#
snmp-agent protocol source-interface 10GE1/0/4
undo snmp-agent protocol source-status all-interface
undo snmp-agent protocol source-status ipv6 all-interface
#
undo snmp-agent proxy protocol source-status all-interface
undo snmp-agent proxy protocol source-status ipv6 all-interface
#
ssh server rsa-key min-length 3072
undo ssh server-source all-interface
undo ssh ipv6 server-source all-interface
ssh authorization-type default aaa
#
ssh server cipher aes256_gcm aes128_gcm aes256_ctr aes192_ctr aes128_ctr
ssh server hmac sha2_512 sha2_256
ssh server key-exchange dh_group_exchange_sha256 dh_group16_sha512 curve25519_sha256
#
ssh server publickey rsa_sha2_256 rsa_sha2_512
#
ssh server dh-exchange min-len 3072
#
ssh client cipher aes256_gcm aes128_gcm aes256_ctr aes192_ctr aes128_ctr
#
user-interface maximum-vty 5
"""
# A CE8850 with V200R002C50 and CE6880s with V200R005C10.
OLDER = """\
drop-profile default
#
dcb pfc
#
dcb ets-profile default
#
ntp server disable
ntp ipv6 server disable
#
telnet server disable
telnet ipv6 server disable
#
diffserv domain default
#
aaa
 #
 authentication-scheme default
 #
 authorization-scheme default
 #
 accounting-scheme default
 #
 domain default
 #
 domain default_admin
#
stack
#
license
#
interface NULL0
#
stelnet ipv4 server enable
stelnet ipv6 server enable
ssh authorization-type default aaa
#
user-interface con 0
"""
OWNED = {  # remaining unowned lines: no source calls them a default
    "leaf03": {
        "ssl policy default",
        "pki-domain default",
        "ssl minimum version tls1.2",
        "cipher-suite exclude key-exchange rsa",
        "cipher-suite exclude cipher mode cbc",
        "info-center logfile compression lzma",
        "authentication-mode local",
        "authorization-mode local",
        "accounting-mode none",
        "authentication-scheme default",
        "accounting-scheme default",
        "snmp-agent protocol source-interface 10GE1/0/4",
        "ssh server rsa-key min-length 3072",
        "ssh server cipher aes256_gcm aes128_gcm aes256_ctr aes192_ctr aes128_ctr",
        "ssh server hmac sha2_512 sha2_256",
        "ssh server key-exchange dh_group_exchange_sha256 dh_group16_sha512 curve25519_sha256",
        "ssh server publickey rsa_sha2_256 rsa_sha2_512",
        "ssh client cipher aes256_gcm aes128_gcm aes256_ctr aes192_ctr aes128_ctr",
    },
    "leaf01": set(),
}


@pytest.mark.parametrize(("name", "factory"), [("leaf03", NEWEST), ("leaf01", OLDER)])
def test_a_switch_with_the_lines_of_its_factory_is_left_as_it_is(
    heps: DerivedNetwork, name: str, factory: str
) -> None:
    texts = render_all(heps.network)
    running = texts | {name: texts[name].removesuffix("return\n") + f"{factory}#\nreturn\n"}
    changes = {change.device: change for change in make_changes(heps.network, running)}
    assert (changes[name].patch, changes[name].reverse) == ((), ())
    lines = parse(running[name], f"{name}.cfg").unmodelled
    assert changes[name].kept == tuple(" / ".join((*line.path, line.text)) for line in lines)
    assert {line.text for line in lines if not written_by_itself(line)} == OWNED[name]


def test_a_factory_without_telnet_off_is_told_to_switch_it_off(heps: DerivedNetwork) -> None:
    """V200 accepts Telnet by default; V300 only from a source interface, and none is set."""
    texts = render_all(heps.network)
    off = "telnet server disable\ntelnet ipv6 server disable\n"
    assert off in texts["leaf01"]
    assert "\ntelnet" not in texts["leaf03"]
    running = texts | {"leaf01": texts["leaf01"].replace(f"#\n{off}", "")}
    changes = {change.device: change for change in make_changes(heps.network, running)}
    assert changes["leaf01"].patch == tuple(off.splitlines())


@pytest.mark.parametrize("source", ["100GE1/0/25", "LoopBack0 10.0.0.11"])
def test_the_source_of_a_session_stays_for_no_intent_names_it(
    heps: DerivedNetwork, source: str
) -> None:
    texts = render_all(heps.network)
    peer = " peer 10.1.0.0 group SPINE\n"
    assert peer in texts["leaf01"]
    with_source = texts["leaf01"].replace(
        peer, f"{peer} peer 10.1.0.0 connect-interface {source}\n", 1
    )
    changes = make_changes(heps.network, texts | {"leaf01": with_source})
    assert [change.patch for change in changes] == [()] * 10


def test_the_vpn_instance_of_the_factory_stays_and_the_port_leaves_it(heps: DerivedNetwork) -> None:
    texts = render_all(heps.network)
    port = "interface MEth0/0/0\n"
    assert port in texts["leaf03"]
    bound = texts["leaf03"].replace(port, f"{port} ip binding vpn-instance _management_vpn_\n")
    instance = "ip vpn-instance _management_vpn_\n ipv4-family\n#\n"
    running = texts | {"leaf03": bound.replace("interface MEth", f"{instance}interface MEth", 1)}
    changes = {change.device: change for change in make_changes(heps.network, running)}
    patch = [line.strip() for line in changes["leaf03"].patch]
    assert "undo ip binding vpn-instance _management_vpn_" in patch
    assert "undo ip vpn-instance _management_vpn_" not in patch
