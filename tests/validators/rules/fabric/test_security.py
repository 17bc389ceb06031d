"""SEC rules: exact messages on faulty switches, and none on near misses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocefort.models.device.management import LocalUser, Snmp, Ssh, UserGroup, Vty
from rocefort.models.network.network import TextLine

Change = Callable[[Any], Any]


def _vty(small: Any, **update: Any) -> Any:
    fields = {"first": 0, "last": 4, "authentication": "aaa", "protocol": "ssh", **update}
    return small.device("leaf01", vty=(Vty(**fields), Vty(**fields | {"first": 5, "last": 20})))


SEC001: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (_vty, []),
    (
        lambda s: _vty(s, protocol="all"),
        [
            "error leaf01: vty 0 to 4: `protocol inbound` is all; it must be ssh alone",
            "error leaf01: vty 5 to 20: `protocol inbound` is all; it must be ssh alone",
        ],
    ),
    (
        lambda s: _vty(s, authentication="password"),
        [
            "error leaf01: vty 0 to 4: authentication mode is password; it must be aaa",
            "error leaf01: vty 5 to 20: authentication mode is password; it must be aaa",
        ],
    ),
    (
        lambda s: s.device("leaf01", vty=(Vty(first=0, last=4),)),
        [
            "error leaf01: vty 0 to 4: authentication mode is not set; it must be aaa",
            "not judged leaf01: vty 0 to 4: no `protocol inbound`, and the release's default is "
            "not confirmed",
        ],
    ),
    (
        lambda s: s.device("leaf01", vty=()),
        ["not judged leaf01: the text has no vty lines; the release's default is not confirmed"],
    ),
]


def _ssh(small: Any, **update: Any) -> Any:
    fields = {"stelnet": True, "source_interface": "MEth0/0/0", **update}
    return small.device("leaf01", ssh=Ssh(**fields))


def _line(small: Any, text: str) -> Any:
    return small.node("leaf01", unmodelled=(TextLine((), text, 12),))


SEC002: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (lambda s: _ssh(s, stelnet=False), ["error leaf01: the SSH server is off"]),
    (
        lambda s: _ssh(s, source_interface=None),
        ["error leaf01: the SSH server has no source interface, so no interface accepts a session"],
    ),
    (
        lambda s: _ssh(s, source_interface="Vlanif99"),
        ["error leaf01: the SSH server's source interface Vlanif99 is not in the configuration"],
    ),
    (lambda s: _ssh(s, source_interface="LoopBack0"), []),
    (
        lambda s: _line(_ssh(s, source_interface=None), "ssh server-source all-interface"),
        [
            "error leaf01: `ssh server-source all-interface` lets sessions in on more than one "
            "interface"
        ],
    ),
    (
        lambda s: _line(s, "ssh server-source -i Vlanif10"),
        [
            "error leaf01: `ssh server-source -i Vlanif10` lets sessions in on more than one "
            "interface"
        ],
    ),
    (lambda s: _line(s, "ssh server port 2222"), []),
]


def _user(small: Any, level: int | None, *services: str) -> Any:
    user = LocalUser(name="operator", service_types=services, level=level)
    return small.device("leaf01", users=(user,))


def _ranked(small: Any, name: str = "operator", *, made: bool = False, **rank: Any) -> Any:
    user = LocalUser(name=name, service_types=("ssh",), **rank)
    groups = (UserGroup(name="beamline"),) if made else ()
    return small.device("leaf01", users=(user,), user_groups=groups)


SEC003: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (lambda s: _user(s, 0, "ssh", "terminal"), []),
    (
        lambda s: _user(s, None, "ssh"),
        ["warning leaf01: user operator has no privilege level and no group"],
    ),
    (lambda s: _ranked(s, group="monitor-ug"), []),
    (lambda s: _ranked(s, group="beamline", made=True), []),
    (
        lambda s: _ranked(s, group="beamline"),
        [
            "warning leaf01: user operator has group beamline, which the configuration does not "
            "define"
        ],
    ),
    (
        lambda s: _ranked(s, group="visit-ug", level=0),
        ["warning leaf01: user operator has level 0, so its group visit-ug has no effect"],
    ),
    (
        lambda s: _ranked(s, "admin", level=3),
        [
            "warning leaf01: user admin has a name of 5 characters; a switch refuses a new user "
            "with less than 6 unless its name check is off"
        ],
    ),
    (lambda s: _ranked(s, "admin1", level=3), []),
    (
        lambda s: _user(s, 3, "ssh", "telnet", "ftp"),
        ["error leaf01: user operator may use ftp and telnet, which sends the password as text"],
    ),
    (
        lambda s: _user(s, 3),
        ["warning leaf01: user operator has no service, so it cannot log in"],
    ),
    (
        lambda s: _user(s, 3, "http"),
        ["error leaf01: user operator may use http, which sends the password as text"],
    ),
]


def _snmp(small: Any, *versions: str) -> Any:
    return small.device("leaf01", snmp=Snmp(enabled=True, versions=versions))


SEC008: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (lambda s: _snmp(s, "v3"), []),
    (
        lambda s: _snmp(s, "v1", "v2c", "v3"),
        ["error leaf01: SNMP runs v1 and v2c, whose only password is sent as text"],
    ),
    (
        _snmp,
        [
            "not judged leaf01: no `snmp-agent sys-info version`, and the release's default is not "
            "confirmed"
        ],
    ),
    (
        lambda s: _line(s, "snmp-agent community read <removed>"),
        ["error leaf01: an SNMP community is a password that is sent as text"],
    ),
    (lambda s: _line(s, "snmp-agent trap enable"), []),
]


@pytest.mark.parametrize(("change", "says"), SEC001)
def test_sec001_remote_login(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("SEC001") == says


@pytest.mark.parametrize(("change", "says"), SEC002)
def test_sec002_ssh_server(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("SEC002") == says


@pytest.mark.parametrize(("change", "says"), SEC003)
def test_sec003_local_users(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("SEC003") == says


@pytest.mark.parametrize(("change", "says"), SEC008)
def test_sec008_snmp_version(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("SEC008") == says
