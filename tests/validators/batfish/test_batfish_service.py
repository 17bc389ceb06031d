"""Access to a service: address, TLS, token, version, limit; and the effects of a dead one."""

from __future__ import annotations

import datetime as dt
import ipaddress
import json
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from batfish_server import HOST, answering, serving
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.models.network.network import Network
from rocefort.validators.batfish.access import (
    ServiceAccess,
    check_version,
    server_version,
    service_at,
)
from rocefort.validators.batfish.batfish_engine import ask

RECORDED = Path(__file__).parents[2] / "recorded" / "batfish-failures"
Clos = Callable[..., Network]


@pytest.mark.parametrize(
    ("address", "host", "port", "tls"),
    [
        ("127.0.0.1:9996", "127.0.0.1", 9996, False),
        ("http://batfish:9996/", "batfish", 9996, False),
        ("https://batfish.example.org:443", "batfish.example.org", 443, True),
        ("https://[::1]:9996", "::1", 9996, True),
    ],
)
def test_an_address_is_a_host_and_a_port(address: str, host: str, port: int, tls: bool) -> None:
    service = service_at(address)
    assert (service.host, service.port, service.access.tls) == (host, port, tls)


@pytest.mark.parametrize("port", [0, 65536, 99999])
def test_a_port_that_does_not_exist_is_refused(port: int) -> None:
    with pytest.raises(BadInput) as caught:
        service_at(f"h:{port}")
    assert str(caught.value) == f"h:{port}: there is no port {port}; use 1 to 65535"


@pytest.mark.parametrize("address", ["", "batfish", "9996", "ftp://a:1", "a:1/x", "u@h:1", "h:x"])
def test_anything_else_is_not_an_address(address: str) -> None:
    with pytest.raises(BadInput) as caught:
        service_at(address)
    assert str(caught.value) == (
        f"{address!r} is not HOST:PORT; "
        "for example: 127.0.0.1:9996, https://batfish.example.org:443"
    )


def test_a_token_is_never_sent_in_the_clear_or_shown() -> None:
    with pytest.raises(BadInput, match="h:1: a token is not sent in the clear; use https://"):
        service_at("h:1", "s3cret")
    assert "s3cret" not in repr(service_at("https://h:1", "s3cret"))


def test_a_limit_without_time_is_none() -> None:
    with pytest.raises(BadInput, match="a limit of 0 s leaves no time; give some seconds"):
        service_at("h:1", limit_s=0)


@pytest.mark.parametrize(
    ("version", "note"),
    [
        ("0.36.0", ""),
        ("0.36.9-SNAPSHOT", ""),
        (
            "0.37.0",
            "the Batfish service is 0.37.0, which is newer than the tested version: "
            "Rocefort is tested with 0.36",
        ),
        ("main", "the Batfish service reports version 'main', and Rocefort is tested with 0.36"),
    ],
)
def test_a_version_that_nobody_tried_is_told(version: str, note: str) -> None:
    assert check_version(version, "h:1") == note


def test_a_version_that_is_too_old_is_refused(clos: Clos) -> None:
    with (
        serving({"version": {"Batfish": "0.35.1"}}) as port,
        pytest.raises(ServiceFailed) as caught,
    ):
        ask(clos(), HOST, port)
    assert caught.value.exit_code == 3
    assert str(caught.value) == (
        f"{HOST}:{port}: the Batfish service is 0.35.1, which is too old: Rocefort is tested with "
        "0.36; update the service, then try again"
    )


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """A server's context; its certificate is trusted by REQUESTS_CA_BUNDLE."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "batfish")])
    start = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1)
        .not_valid_before(start)
        .not_valid_after(start + dt.timedelta(days=36500))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(HOST))]), False
        )
        .add_extension(x509.BasicConstraints(True, None), True)
        .sign(key, hashes.SHA256())
    )
    pem, keys = tmp_path / "server.pem", tmp_path / "server.key"
    pem.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    keys.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, keys)
    return context


def test_a_service_behind_tls_is_asked_with_its_token(authority: ssl.SSLContext) -> None:
    with serving({}, tls=authority, token="s3cret") as port:
        assert server_version(HOST, port, 5.0, ServiceAccess(tls=True, token="s3cret")) == "0.36.0"
        with pytest.raises(ServiceFailed) as caught:
            server_version(HOST, port, 5.0, ServiceAccess(tls=True, token="other"))
    assert str(caught.value) == (
        f"{HOST}:{port}: the service denies access (HTTP 401); set ROCEFORT_BATFISH_TOKEN"
    )


def test_a_certificate_that_nobody_vouches_for_is_refused(
    authority: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    with serving({}, tls=authority) as port, pytest.raises(ServiceFailed) as caught:
        server_version(HOST, port, 5.0, ServiceAccess(tls=True))
    assert str(caught.value) == (
        f"{HOST}:{port}: the service's certificate is not trusted: self-signed certificate; "
        "name the authority's file in REQUESTS_CA_BUNDLE"
    )


def test_a_service_that_answers_tls_in_the_clear_is_hinted_at() -> None:
    with serving({}) as port, pytest.raises(ServiceFailed) as caught:
        server_version(HOST, port, 5.0, ServiceAccess(tls=True))
    assert str(caught.value) == (
        f"{HOST}:{port}: the service does not use TLS; "
        f"where no TLS proxy is before it, use http://{HOST}:{port}"
    )


def silent(connection: socket.socket) -> None:
    connection.recv(65536)
    time.sleep(1.0)


def test_a_service_that_waits_for_more_than_tls_is_hinted_at() -> None:
    """Batfish itself takes the first bytes of TLS for the beginning of a request."""
    with (
        answering(silent) as port,
        pytest.raises(ServiceFailed) as caught,
    ):
        server_version(HOST, port, 0.3, ServiceAccess(tls=True))
    assert str(caught.value) == (
        f"{HOST}:{port}: no Batfish service answers: no answer in 0.3 s; "
        f"where no TLS proxy is before it, use http://{HOST}:{port}"
    )


def test_pybatfish_speaks_tls_with_the_token_too(
    clos: Clos, authority: ssl.SSLContext, kept: Path
) -> None:
    pytest.importorskip("pybatfish")
    access = ServiceAccess(tls=True, token="s3cret")
    work = {"workstatuscode": "REQUEUEFAILURE", "task": {}}
    with (
        serving({"work": work}, tls=authority, token="s3cret") as port,
        pytest.raises(ServiceFailed) as caught,
    ):
        ask(clos(), HOST, port, access)
    assert said(caught.value, kept).startswith(f"{HOST}:{port}: Batfish gave up: ")


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder for snapshots of failures during the test."""
    folder = tmp_path / "kept"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def said(error: ServiceFailed, kept: Path) -> str:
    """The sentence without the folder's random name, after a look into the folder."""
    assert error.exit_code == 3
    folder = re.search(r"; the snapshot is kept in (\S+)$", str(error))
    assert folder is not None
    assert Path(folder[1]).parent == kept
    assert (Path(folder[1]) / "configs/leaf1.cfg").is_file()
    return str(error).removesuffix(folder[0])


def test_a_question_without_an_answer_ends_at_the_limit(clos: Clos, kept: Path) -> None:
    pytest.importorskip("pybatfish")
    deleted: list[str] = []
    work = {"workstatuscode": "ASSIGNED", "task": {}}
    with serving({"work": work}, deleted=deleted) as port, pytest.raises(ServiceFailed) as caught:
        ask(clos(), HOST, port, ServiceAccess(limit_s=3.0))
    what = "Batfish takes too long: snapshot intended was not answered in 3 s"
    assert said(caught.value, kept) == f"{HOST}:{port}: {what}"
    assert len(deleted) == 1  # its network


@pytest.mark.parametrize(
    ("given_up", "sentence"),
    [
        (
            "no-stable-routes",
            "Batfish gave up: Work finished with status REQUEUEFAILURE: the service could not "
            "compute the data plane: routes that never converge, or too little memory",
        ),
        (
            "terminated-abnormally",
            "Batfish gave up: Work terminated abnormally: Found no active locations matching "
            "nosuch",
        ),
    ],
)
def test_what_a_real_service_said_as_it_gave_up_is_one_sentence(
    given_up: str, sentence: str, clos: Clos, kept: Path
) -> None:
    pytest.importorskip("pybatfish")
    recorded = json.loads((RECORDED / f"{given_up}.json").read_text(encoding="utf-8"))
    with serving(recorded["said"]) as port, pytest.raises(ServiceFailed) as caught:
        ask(clos(), HOST, port)
    assert said(caught.value, kept) == f"{HOST}:{port}: {sentence}"


def test_only_the_newest_snapshots_are_kept(clos: Clos, kept: Path) -> None:
    pytest.importorskip("pybatfish")
    foreign = kept / "rocefort-batfish-a-file"
    foreign.touch()
    named = []
    with serving({"work": {"workstatuscode": "REQUEUEFAILURE", "task": {}}}) as port:
        for _ in range(5):
            with pytest.raises(ServiceFailed) as caught:
                ask(clos(), HOST, port)
            named.append(Path(str(caught.value).rpartition(" ")[2]))
    assert sorted(kept.iterdir()) == sorted([foreign, *named[-3:]])
    assert all((folder / "configs/leaf1.cfg").is_file() for folder in named[-3:])


def test_a_snapshot_that_cannot_be_kept_is_told(
    clos: Clos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pybatfish")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    work = {"workstatuscode": "REQUEUEFAILURE", "task": {}}
    with serving({"work": work}) as port, pytest.raises(ServiceFailed) as caught:
        ask(clos(), HOST, port)
    assert str(caught.value) == (
        f"{HOST}:{port}: Batfish gave up: Work finished with status REQUEUEFAILURE; "
        "the snapshot could not be kept: No such file or directory"
    )


class Proxy:
    """A TCP proxy that can be killed: its listener and every connection are closed at once."""

    def __init__(self, target: tuple[str, int], lives: int) -> None:
        self.target, self.lives = target, lives  # chunks that pass before it dies
        self.listener = socket.create_server((HOST, 0))
        self.port: int = self.listener.getsockname()[1]
        self.open: list[socket.socket] = [self.listener]
        self.lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
                far = socket.create_connection(self.target)
            except OSError:
                return
            self.open += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        try:
            while chunk := one.recv(65536):
                with self.lock:
                    self.lives -= 1
                    if self.lives < 0:
                        self.kill()
                        return
                other.sendall(chunk)
            other.shutdown(socket.SHUT_WR)
        except OSError:
            return

    def kill(self) -> None:
        """Close everything."""
        for one in self.open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


@pytest.mark.parametrize("lives", [5, 9, 12])
def test_a_service_that_dies_midway_is_one_sentence(lives: int, clos: Clos, kept: Path) -> None:
    pytest.importorskip("pybatfish")
    work = {"workstatuscode": "ASSIGNED", "task": {}}
    with serving({"work": work}) as port:
        proxy = Proxy((HOST, port), lives)
        with pytest.raises(ServiceFailed) as caught:
            ask(clos(), HOST, proxy.port)
    sentence = said(caught.value, kept)
    assert sentence == f"{HOST}:{proxy.port}: the Batfish service stopped answering"
