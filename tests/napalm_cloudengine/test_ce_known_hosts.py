"""Recorded host keys: the driver's reader against paramiko's own, and its errors."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asyncssh
import paramiko
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paramiko.hostkeys import InvalidHostKey

from napalm_cloudengine.connect import keys_of, place_of
from napalm_cloudengine.errors import HostKeyError

KINDS = ("ssh-ed25519", "ecdsa-sha2-nistp256", "ssh-rsa")
KEYS = [
    asyncssh.generate_private_key(kind).export_public_key().decode().split()[:2]
    for kind in (*KINDS, *KINDS[:2])
]
PLACES = ("leaf01", "10.0.0.1", "[10.0.0.1]:2200", "[::1]:2200")
names = st.lists(st.sampled_from(PLACES), min_size=1, max_size=3).map(",".join)
hashed = st.sampled_from(PLACES).map(paramiko.HostKeys.hash_host)
odd = st.sampled_from(["", "# leaf01 remark", "leaf01 ssh-ed25519", "leaf01 ssh-odd AAAA"])
lines = st.tuples(names | hashed, st.sampled_from(KEYS)).map(lambda it: " ".join((it[0], *it[1])))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.lists(lines | odd, max_size=8).map("\n".join), place=st.sampled_from(PLACES))
def test_the_keys_of_a_place_are_those_that_paramiko_finds(
    text: str, place: str, tmp_path: Path
) -> None:
    path = tmp_path / "known"
    path.write_text(text)
    os.utime(path, ns=(0, abs(hash(text))))  # examples follow each other faster than the clock
    theirs: Any = paramiko.HostKeys(str(path)).lookup(place) or {}
    assert {key.get_name(): key for key in keys_of(path, place)} == dict(theirs)


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "known"
    path.write_text(" ".join(("leaf01", *KEYS[0])))
    assert [key.get_name() for key in keys_of(path, "leaf01")] == ["ssh-ed25519"]
    path.write_text(" ".join(("leaf02", *KEYS[0])))
    assert keys_of(path, "leaf01") == ()


def test_a_damaged_line_of_another_host_is_nobodys_trouble(tmp_path: Path) -> None:
    path = tmp_path / "known"
    path.write_text(f"leaf02 ssh-ed25519 AAAAA\n{' '.join(('leaf01', *KEYS[0]))}\n")
    assert len(keys_of(path, "leaf01")) == 1
    with pytest.raises(InvalidHostKey):
        keys_of(path, "leaf02")


def test_a_damaged_line_of_this_host_is_one_sentence(
    play: Callable[..., Any], tmp_path: Path
) -> None:
    switch, path = play(), tmp_path / "known"
    path.write_text(f"{place_of('127.0.0.1', switch.port)} ssh-ed25519 AAAAA\n")
    with pytest.raises(HostKeyError) as caught:
        switch.driver(ssh_known_hosts=str(path)).open()
    assert str(caught.value) == (
        f"127.0.0.1:{switch.port}: its line in the known hosts cannot be read: fix or remove it; "
        "not connected"
    )
    assert switch.heard == []
