"""Access to a Batfish service: address, TLS, token, version, and the end of a request.

The address is HOST:PORT or https://HOST:PORT. A certificate is always checked; authorities in the
environment variable REQUESTS_CA_BUNDLE take precedence over those of the system. A token, which a
proxy before the service may require, is sent as pybatfish sends its API key.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.base.processes import in_main_thread, signals_handled_by

Handler = Callable[[int, FrameType | None], Any] | signal.Handlers

# Signals that end a program, and the handlers that a program without its own has.
ENDING: dict[signal.Signals, Handler] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
}


@contextmanager
def ended_after(seconds: float, error: Exception) -> Iterator[None]:
    """Raise an error in the block after this number of seconds, for any wait.

    The timeout of a socket starts again with each byte. Works only in the main thread.
    """
    if not in_main_thread():
        yield
        return

    def late(_number: int, _frame: object) -> None:
        raise error

    with signals_handled_by([signal.SIGALRM], late):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt in the block for TERM and HUP as for Ctrl-C, so that it cleans up.

    Later signals do not interrupt the cleanup. An ignored or already handled signal stays so.
    """
    taken = [n for n, usual in ENDING.items() if signal.getsignal(n) is usual]

    def first(_number: int, _frame: object) -> None:
        for number in taken:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    with signals_handled_by(taken, first):
        yield


HOST, PORT = "127.0.0.1", 9996
LIMIT_S = 600.0  # of one question; the data plane of 8 spines and 120 leaves takes 107 s
TOKEN_HEADER = "X-Batfish-Apikey"  # noqa: S105 - a name, not a token
OLDEST, NEWEST = (0, 36), (0, 36)  # releases whose answers were compared with the embedded engine
START = "start one with `docker run -d -p 127.0.0.1:9996:9996 batfish/allinone`"
NOT_BATFISH = "what answers is not Batfish"
HIGHEST_PORT = 65535
LONGEST_VERSION = 65536  # bytes; a service's is some fifty


@dataclass(frozen=True)
class ServiceAccess:
    """Options of the access: TLS, a token, and the time limit of one question in seconds."""

    tls: bool = False
    token: str = field(default="", repr=False)
    limit_s: float = LIMIT_S


PLAIN = ServiceAccess()


@dataclass(frozen=True)
class Service:
    """Service as on the command line."""

    host: str = HOST
    port: int = PORT
    access: ServiceAccess = PLAIN

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def service_at(address: str, token: str = "", limit_s: float = LIMIT_S) -> Service:
    """`HOST:PORT`, `http://HOST:PORT` or `https://HOST:PORT`. Raises BadInput for anything else."""
    match = re.fullmatch(r"(?:(https?)://)?([^/@\s]+):(\d{1,5})/?", address, re.ASCII)
    if not match:
        how = "for example: 127.0.0.1:9996, https://batfish.example.org:443"
        raise BadInput(f"{address!r} is not HOST:PORT", how=how)
    if not 1 <= int(match[3]) <= HIGHEST_PORT:
        raise BadInput(
            f"there is no port {match[3]}", where=address, how=f"use 1 to {HIGHEST_PORT}"
        )
    if token and match[1] != "https":
        raise BadInput("a token is not sent in the clear", where=address, how="use https://")
    if limit_s <= 0:
        raise BadInput(f"a limit of {limit_s:g} s leaves no time", how="give some seconds")
    access = ServiceAccess(tls=match[1] == "https", token=token, limit_s=limit_s)
    return Service(match[2].strip("[]"), int(match[3]), access)


def server_version(host: str, port: int, timeout_s: float, access: ServiceAccess = PLAIN) -> str:
    """Version of the service. Raises ServiceFailed if none answers, or something else does."""
    where = f"{host}:{port}"
    how = f"where no TLS proxy is before it, use http://{where}" if access.tls else START
    try:
        with ended_after(timeout_s, TimeoutError(f"no answer in {timeout_s:g} s")):
            status, body = _version(host, port, timeout_s, access)
        reply = json.loads(body) if status not in (401, 403) else None
    except ssl.SSLCertVerificationError as error:
        what = f"the service's certificate is not trusted: {error.verify_message}"
        trust = "name the authority's file in REQUESTS_CA_BUNDLE"
        raise ServiceFailed(what, where=where, how=trust) from error
    except ssl.SSLError as error:
        raise ServiceFailed("the service does not use TLS", where=where, how=how) from error
    except OSError as error:
        what = f"no Batfish service answers: {error}"
        raise ServiceFailed(what, where=where, how=how) from error
    except (http.client.HTTPException, ValueError) as error:
        raise ServiceFailed(NOT_BATFISH, where=where, how=START) from error
    if status in (401, 403):
        how = "set ROCEFORT_BATFISH_TOKEN"
        raise ServiceFailed(f"the service denies access (HTTP {status})", where=where, how=how)
    if not isinstance(reply, dict) or "Batfish" not in reply:
        raise ServiceFailed(NOT_BATFISH, where=where, how=START)
    return str(reply["Batfish"])


def _version(host: str, port: int, timeout_s: float, access: ServiceAccess) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(host, port, timeout=timeout_s)
    if access.tls:
        trusted = ssl.create_default_context(cafile=os.environ.get("REQUESTS_CA_BUNDLE"))
        connection = http.client.HTTPSConnection(host, port, timeout=timeout_s, context=trusted)
    try:
        headers = {TOKEN_HEADER: access.token} if access.token else {}
        connection.request("GET", "/v2/version", headers=headers)
        with connection.getresponse() as answer:
            return answer.status, answer.read(LONGEST_VERSION)
    finally:
        connection.close()


def check_version(version: str, where: str) -> str:
    """Warning for a version that is newer than the tested ones; empty for a tested version.

    Raises ServiceFailed for an older version.
    """
    oldest, newest = (".".join(map(str, release)) for release in (OLDEST, NEWEST))
    tested = f"Rocefort is tested with {oldest}" + (f" to {newest}" if newest != oldest else "")
    match = re.match(r"(\d+)\.(\d+)", version)
    release = (int(match[1]), int(match[2])) if match else None
    if release is None:
        return f"the Batfish service reports version {version!r}, and {tested}"
    if release < OLDEST:
        what = f"the Batfish service is {version}, which is too old: {tested}"
        raise ServiceFailed(what, where=where, how="update the service, then try again")
    if release > NEWEST:
        return f"the Batfish service is {version}, which is newer than the tested version: {tested}"
    return ""
