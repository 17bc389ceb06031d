"""Ciphers of a session: the authenticated ones, where the switch has them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import asyncssh
import pytest
from napalm.base.exceptions import ConnectionException

Play = Callable[..., Any]

GCM = ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com")
CLOCK = ("display clock", "12:00\r\n<HUAWEI>")


def offer(monkeypatch: pytest.MonkeyPatch, ciphers: Sequence[str]) -> None:
    """Make the switches that are started from now on offer only these."""
    real = partial(asyncssh.create_server, encryption_algs=ciphers)
    monkeypatch.setattr(asyncssh, "create_server", real)


@pytest.mark.parametrize(
    ("offered", "taken"),
    [
        (("aes256-ctr", "aes128-ctr", *GCM), GCM[0]),
        (("aes256-ctr", GCM[1]), GCM[1]),
        # the factory configuration of a CloudEngine: `ssh server cipher aes256_ctr aes128_ctr`
        (("aes256-ctr", "aes128-ctr"), "aes128-ctr"),
    ],
)
def test_a_cipher_that_authenticates_is_taken_where_it_is_offered(
    play: Play, monkeypatch: pytest.MonkeyPatch, offered: Sequence[str], taken: str
) -> None:
    offer(monkeypatch, offered)
    switch = play([CLOCK])
    with switch.driver() as driver:
        assert driver.cli(["display clock"]) == {"display clock": "12:00"}
        (guest,) = switch._guests
        assert guest.get_extra_info("send_cipher") == taken
        assert guest.get_extra_info("recv_cipher") == taken


def test_a_cipher_may_be_turned_off(play: Play) -> None:
    switch = play([CLOCK])
    with switch.driver(disabled_algorithms={"ciphers": list(GCM)}) as driver:
        assert driver.cli(["display clock"]) == {"display clock": "12:00"}
        assert switch._guests[0].get_extra_info("send_cipher") == "aes128-ctr"


def test_no_cipher_in_common_is_one_clear_error(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, ["chacha20-poly1305@openssh.com"])
    switch = play()
    with pytest.raises(ConnectionException) as caught:
        switch.driver().open()
    reply = str(caught.value)
    assert reply == (
        f"127.0.0.1:{switch.port}: no connection: Incompatible ssh server (no acceptable ciphers)"
    )
