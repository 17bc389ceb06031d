"""A small HTTP server with Batfish's REST interface, for tests of failures."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

HOST = "127.0.0.1"


class Handler(BaseHTTPRequestHandler):
    """Handler of the requests that pybatfish sends before its first answer."""

    protocol_version = "HTTP/1.1"
    said: ClassVar[dict[str, Any]] = {}  # answer by the last word of the path
    token: ClassVar[str] = ""
    deleted: ClassVar[list[str]] = []
    dies_at: ClassVar[str] = "nowhere"  # words of a path whose request gets no answer
    hangs_at: ClassVar[str] = "nowhere"  # the same, and the connection stays open
    ended: ClassVar[threading.Event]

    def do_GET(self) -> None:
        if self.token and self.headers.get("X-Batfish-Apikey") != self.token:
            self.answer(b"", 401)
            return
        if self.hangs():
            return
        words = self.path.partition("?")[0].strip("/").split("/")
        kind = "log" if "worklog" in words else "work" if "work" in words else words[-1]
        defaults = {"version": {"Batfish": "0.36.0"}, "snapshots": [], "name": {"name": words[-1]}}
        body = self.said.get(kind, defaults.get(kind, {"name": words[-1]}))
        self.answer(body.encode() if isinstance(body, str) else json.dumps(body).encode())

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.dies_at in self.path:
            self.close_connection = True
        elif not self.hangs():
            self.answer(b"")

    do_PUT = do_POST  # noqa: N815

    def do_DELETE(self) -> None:
        self.deleted.append(self.path)
        if not self.hangs():
            self.answer(b"")

    def hangs(self) -> bool:
        """Keep the client waiting for paths with `hangs_at`; return whether it waited."""
        if self.hangs_at in self.path:
            self.close_connection = True
            return self.ended.wait()
        return False

    def answer(self, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Log nothing."""


class Server(ThreadingHTTPServer):
    """Server without messages on clients that disconnect, which the tests do on purpose."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing."""


@contextmanager
def serving(
    said: dict[str, Any], *, tls: ssl.SSLContext | None = None, **fields: Any
) -> Iterator[int]:
    """Serve on a free port; fields: class attributes of the handler."""
    ended = threading.Event()
    own = {"deleted": [], "said": said, "ended": ended, **fields}
    with Server((HOST, 0), type("Recorded", (Handler,), own)) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            ended.set()
            server.shutdown()
            thread.join()


@contextmanager
def answering(answer: Callable[[socket.socket], object]) -> Iterator[int]:
    """Run a TCP server that handles every connection in the same way; yield its port."""
    with socket.create_server((HOST, 0)) as listener:

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=served, args=(connection,), daemon=True).start()

        def served(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                answer(connection)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def without_end(piece: bytes, pause_s: float) -> Callable[[socket.socket], None]:
    """Send an HTTP answer whose body repeats a piece without end."""

    def answer(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(piece)
            time.sleep(pause_s)

    return answer
