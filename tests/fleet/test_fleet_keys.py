"""Logins to servers by a private key: `key:PATH` in a connections file."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocefort.base.errors import BadInput, Refused
from rocefort.base.secret_references import key_of
from rocefort.fleet.connections import load_connections
from rocefort.fleet.ssh_exec import SshExec

FILE = """
known_hosts: hosts
devices:
  - {{name: leaf01, host: 192.0.2.1, user: admin, credential: '{device}'}}
servers:
  - {{name: k8sgn08, host: 192.0.2.2, user: root, credential: '{server}',
     rdma_device: mlx5_0, gid_index: 3{more}}}
"""


def _file(tmp_path: Path, device: str = "env:A", server: str = "env:B", more: str = "") -> Path:
    path = tmp_path / "connections.yaml"
    path.write_text(FILE.format(device=device, server=server, more=more))
    return path


def _key(tmp_path: Path, passphrase: str = "") -> Path:
    path = tmp_path / "id"
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", str(path)]
    subprocess.run(words, check=True)
    return path


def test_a_key_starts_at_the_files_own_directory(tmp_path: Path) -> None:
    connections = load_connections(_file(tmp_path, server="key:keys/id", more=", qp_timeout: 18"))
    assert connections.servers[0].credential == f"key:{tmp_path}/keys/id"
    assert connections.servers[0].qp_timeout == 18
    assert load_connections(_file(tmp_path)).servers[0].qp_timeout is None


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"device": "key:id"}, "devices[0].credential"),
        ({"server": "key:"}, "servers[0].credential"),
        ({"server": "id_ed25519"}, "servers[0].credential"),
    ],
)
def test_a_switch_has_a_password(tmp_path: Path, values: dict[str, str], place: str) -> None:
    with pytest.raises(BadInput, match="a credential that is not a reference") as bad:
        load_connections(_file(tmp_path, **values))
    assert place in str(bad.value)


def test_a_time_beyond_infiniband(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"servers\[0\].qp_timeout"):
        load_connections(_file(tmp_path, more=", qp_timeout: 32"))


def test_a_key_is_its_owners_alone(tmp_path: Path) -> None:
    path = _key(tmp_path)
    assert key_of(f"key:{path}") == path
    assert key_of("env:PASSWORD") is None
    path.chmod(0o640)
    with pytest.raises(Refused) as refused:
        key_of(f"key:{path}")
    assert str(refused.value) == (f"key:{path}: the file has mode 0640, not 0600; chmod 600 {path}")
    with pytest.raises(BadInput) as bad:
        key_of(f"key:{tmp_path}/none")
    assert str(bad.value) == (
        f"key:{tmp_path}/none: cannot be read: No such file or directory; check the path"
    )


@pytest.mark.parametrize("content", ["passphrase", "public", "text"])
def test_what_is_no_key(tmp_path: Path, content: str) -> None:
    path = _key(tmp_path, "a secret" if content == "passphrase" else "")
    if content == "public":
        path = path.with_suffix(".pub")
    if content == "text":
        path.write_text("not a key\n")
    extras = {"name": "k8sgn08", "known_hosts": "/none", "connect_timeout_s": 1, "key": str(path)}
    with pytest.raises(BadInput) as bad:
        SshExec().open("127.0.0.1", "root", None, 9, None, extras)
    assert str(bad.value) == (
        f"key:{path}: is not a private key without a passphrase; "
        "make another: ssh-keygen -t ed25519 -N ''"
    )
