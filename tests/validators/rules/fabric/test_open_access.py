"""SEC014 to SEC017: exact messages on lines that weaken the access, and none on near misses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocefort.models.network.network import TextLine

Change = Callable[[Any], Any]


def _line(small: Any, text: str, *path: str) -> Any:
    return small.node("leaf01", unmodelled=(TextLine(path, text, 12),))


SEC014: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: _line(s, "telnet server enable"),
        ["error leaf01: the Telnet server runs: passwords and files cross the network as text"],
    ),
    (
        lambda s: _line(s, "ftp ipv6 server enable"),
        ["error leaf01: the FTP server runs: passwords and files cross the network as text"],
    ),
    (
        lambda s: _line(s, "tftp server enable"),
        ["error leaf01: the TFTP server runs: passwords and files cross the network as text"],
    ),
    (
        lambda s: _line(s, "web-manager http forward enable"),
        ["error leaf01: the HTTP server runs: passwords and files cross the network as text"],
    ),
    (lambda s: _line(s, "sftp server enable"), []),
    (lambda s: _line(s, "ftp server enable", "header login"), []),
    (
        lambda s: s.family("leaf01", "V200"),
        ["warning leaf01: the Telnet server runs by default for ipv4 and ipv6"],
    ),
    (
        lambda s: s.family("leaf01", "V200").device("leaf01", telnet_off=("ipv4",)),
        ["warning leaf01: the Telnet server runs by default for ipv6"],
    ),
    (lambda s: s.family("leaf01", "V200").device("leaf01", telnet_off=("ipv4", "ipv6")), []),
]

SEC015: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: _line(s, "ssh server cipher aes256_ctr 3des_cbc aes128_cbc"),
        ["warning leaf01: SSH offers weak algorithms (cipher): 3des_cbc and aes128_cbc"],
    ),
    (
        lambda s: _line(s, "ssh client key-exchange dh_group_exchange_sha1 curve25519_sha256"),
        ["warning leaf01: SSH offers weak algorithms (key-exchange): dh_group_exchange_sha1"],
    ),
    (lambda s: _line(s, "ssh server cipher aes256_gcm aes128_ctr"), []),
    (lambda s: _line(s, "ssh server hmac sha2_512 sha2_256"), []),
    (
        lambda s: _line(s, "ssh server compatible-ssh1x enable"),
        [
            "warning leaf01: the SSH server accepts version 1, which can be read and changed on "
            "its way"
        ],
    ),
    (
        lambda s: _line(s, "ssh server dh-exchange min-len 1024"),
        ["warning leaf01: the SSH server accepts DH keys of 1024 bits"],
    ),
    (
        lambda s: _line(s, "ssh server rsa-key min-length 1024"),
        ["warning leaf01: the SSH server accepts RSA keys of 1024 bits"],
    ),
    (lambda s: _line(s, "ssh server dh-exchange min-len 2048"), []),
    (
        lambda s: _line(s, "snmp-agent usm-user v3 nms authentication-mode md5 <removed>"),
        ["warning leaf01: SNMP user nms uses MD5 for authentication"],
    ),
    (lambda s: _line(s, "snmp-agent usm-user v3 nms privacy-mode aes256 <removed>"), []),
]

SEC016: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: _line(s, "snmp-agent group v3 readers"),
        ["error leaf01: SNMP group readers reads and writes without authentication and encryption"],
    ),
    (
        lambda s: _line(s, "snmp-agent group v3 readers noauthentication read-view all"),
        ["error leaf01: SNMP group readers reads and writes without authentication and encryption"],
    ),
    (
        lambda s: _line(s, "snmp-agent group v3 readers authentication"),
        ["error leaf01: SNMP group readers reads and writes without encryption"],
    ),
    (lambda s: _line(s, "snmp-agent group v3 readers privacy acl 2000"), []),
]


def _idle(small: Any, seconds: int | None) -> Any:
    device = small.network.by_name["leaf01"].device
    return small.device(
        "leaf01", vty=(device.vty[0].model_copy(update={"idle_timeout_s": seconds}),)
    )


SEC017: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (lambda s: _idle(s, 0), ["warning leaf01: vty 0 to 4: an idle session never ends"]),
    (lambda s: _idle(s, 1), []),
]
TABLES = {
    "SEC014": SEC014,
    "SEC015": SEC015,
    "SEC016": SEC016,
    "SEC017": SEC017,
}


@pytest.mark.parametrize(
    ("rule", "change", "says"),
    [(rule, *case) for rule, cases in TABLES.items() for case in cases],
)
def test_weak_access(small: Any, rule: str, change: Change, says: list[str]) -> None:
    assert change(small).says(rule) == says
