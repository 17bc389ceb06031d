"""Credentials that are missing are named once, with the hosts that use them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocefort.base.errors import BadInput, Refused
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.fleet.connections import Connections, ServerAccess, SshAccess
from rocefort.fleet.nornir_session import open_fleet, require_credentials

LEAVES = tuple(f"leaf0{number}" for number in range(1, 9))
NOPE = "env:NOPE: the environment has no variable NOPE, and {}; export NOPE with the password, "
CHANGE = "or change the credential"


def missing(heps: DerivedNetwork, directory: Path, credentials: dict[str, str]) -> list[str]:
    """Lines of the refusal. credentials: by host; the others have a password."""
    (directory / "known_hosts").touch()
    password = directory / "password"
    password.touch(mode=0o600)
    password.write_text("hunter2")
    network, usual = heps.network, f"file:{password}"
    server = {"host": "192.0.2.2", "user": "root", "rdma_device": "mlx5_0", "gid_index": 3}
    access = Connections(
        known_hosts=directory / "known_hosts",
        devices=tuple(
            SshAccess(
                name=node.name,
                host="192.0.2.1",
                user="netops",
                credential=credentials.get(node.name, usual),
            )
            for node in network.nodes
        ),
        servers=tuple(
            ServerAccess(name=s.name, credential=credentials.get(s.name, usual), **server)
            for s in network.servers or ()
        ),
    )
    with open_fleet(network, access) as nornir:
        require_credentials(nornir, set(access_names(access)) - set(credentials))
        with pytest.raises((BadInput, Refused)) as refusal:
            require_credentials(nornir, access_names(access))
    assert "hunter2" not in str(refusal.value)
    return str(refusal.value).splitlines()


def access_names(access: Connections) -> list[str]:
    return [each.name for each in (*access.devices, *access.servers)]


@pytest.mark.parametrize(
    ("credentials", "sentences"),
    [
        ({"leaf02": "env:NOPE"}, [NOPE.format("leaf02 uses it") + CHANGE]),
        (
            dict.fromkeys(LEAVES, "env:NOPE"),
            [NOPE.format(f"8 switches use it: {', '.join(LEAVES[:7])} and leaf08") + CHANGE],
        ),
        (
            dict.fromkeys((*LEAVES, "spine01"), "env:NOPE"),
            [
                NOPE.format(f"9 switches use it: spine01, {', '.join(LEAVES[:7])} and 1 more")
                + CHANGE
            ],
        ),
        (
            {"leaf01": "file:/none", "k8sgn08": "file:/none", "leaf02": "env:NOPE"},
            [
                "file:/none: cannot be read: No such file or directory, and 1 switch and 1 server "
                "use it: leaf01 and k8sgn08; check the path",
                NOPE.format("leaf02 uses it") + CHANGE,
            ],
        ),
        (
            {"k8sgn08": "key:/none", "k8sgn09": "key:/none"},
            [
                "key:/none: cannot be read: No such file or directory, and 2 servers use it: "
                "k8sgn08 and k8sgn09; check the path"
            ],
        ),
        (
            {"spine01": "keyring:rocefort-test/netops", "spine02": "keyring:rocefort-test/netops"},
            ["keyring:rocefort-test/netops: "],
        ),
    ],
)
def test_each_missing_credential_is_one_line_with_its_users(
    credentials: dict[str, str], sentences: list[str], heps: DerivedNetwork, tmp_path: Path
) -> None:
    found = missing(heps, tmp_path, credentials)
    assert len(found) == len(sentences)
    for sentence, line in zip(sentences, found, strict=True):
        assert line.startswith(sentence)
        assert " it" in line


def test_a_file_that_others_can_read_is_a_refusal(heps: DerivedNetwork, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.write_text("hunter2")
    shared.chmod(0o644)
    assert missing(heps, tmp_path, dict.fromkeys(LEAVES[:2], f"file:{shared}")) == [
        f"file:{shared}: the file has mode 0644, not 0600, and 2 switches use it: leaf01 and leaf02; "
        f"chmod 600 {shared}"
    ]
