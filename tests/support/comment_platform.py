"""HTTP server with the comments of GitHub's and GitLab's REST APIs, for tests of `rocefort comment`.

Paths, statuses, headers and fields are those of https://docs.github.com/en/rest/issues/comments,
https://docs.github.com/en/rest/pulls/pulls and https://docs.gitlab.com/api/notes.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

GITHUB_TOKEN, GITLAB_TOKEN = "ghs_16C7e42F292c6912E7", "glpat-zk3Ba_9dL1"
BOT = {"github": "github-actions[bot]", "gitlab": "project_3_bot"}
LISTS = re.compile(r"/repos/a/b/issues/7/comments|/projects/3/merge_requests/7/notes")
ONE = re.compile(r"(?:/repos/a/b/issues/comments|/projects/3/merge_requests/7/notes)/(\d+)")


@dataclass
class Fault:
    """Answer instead of the usual one to the next calls of a method and path."""

    status: int
    method: str = "GET"
    path: str = ""  # part of it
    times: int = 1000
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b'{"message": "Something failed", "documentation_url": "https://docs.github.com"}'
    after: bool = False  # the call has its effect all the same
    wait_s: float = 0.0


class Platform:
    """State of a platform: comments, pull requests, calls."""

    def __init__(self, kind: str) -> None:
        self.kind, self.url = kind, ""
        self.token = GITHUB_TOKEN if kind == "github" else GITLAB_TOKEN
        self.comments: list[dict[str, Any]] = []
        self.pulls: list[dict[str, Any]] = []
        self.calls: list[str] = []
        self.faults: list[Fault] = []
        self.before_answer: Callable[[str], object] = str  # a test may wait here
        self.lock = threading.Lock()

    def add(self, body: str, author: str = "") -> int:
        name = author or BOT[self.kind]
        with self.lock:
            number = max((c["id"] for c in self.comments), default=0) + 1
            entry: dict[str, Any] = {
                "id": number,
                "body": body,
                "created_at": "2026-01-01T00:00:00Z",
            }
            if self.kind == "github":
                entry["user"] = {"login": name, "type": "Bot" if name.endswith("]") else "User"}
                entry["performed_via_github_app"] = None
            else:
                entry["author"] = {"id": 5, "username": name, "state": "active"}
                entry |= {"system": False, "noteable_iid": 7, "noteable_type": "MergeRequest"}
            self.comments.append(entry)
        return number

    def bodies(self) -> dict[int, str]:
        return {c["id"]: c["body"] for c in self.comments}

    @property
    def environment(self) -> dict[str, str]:
        """Variables of a job, but the event of GitHub."""
        if self.kind == "github":
            return {
                "GITHUB_ACTIONS": "true",
                "GITHUB_TOKEN": GITHUB_TOKEN,
                "GITHUB_API_URL": self.url,
                "GITHUB_GRAPHQL_URL": f"{self.url}/graphql",
                "GITHUB_REPOSITORY": "a/b",
                "GITHUB_SERVER_URL": "https://github.com",
                "GITHUB_RUN_ID": "30433642",
            }
        return {
            "GITLAB_CI": "true",
            "ROCEFORT_GITLAB_TOKEN": GITLAB_TOKEN,
            "CI_API_V4_URL": self.url,
            "CI_PROJECT_ID": "3",
            "CI_MERGE_REQUEST_IID": "7",
            "CI_PIPELINE_URL": "https://gitlab.example/a/b/-/pipelines/9",
        }


class Handler(BaseHTTPRequestHandler):
    """Requests of one platform."""

    platform: Platform

    def _handle(self) -> None:
        url = urlsplit(self.path)
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        call = f"{self.command} {url.path}"
        with self.platform.lock:
            self.platform.calls.append(call)
        fault = self._fault(url.path)
        if fault and fault.wait_s:
            time.sleep(fault.wait_s)
        if fault is None or fault.after:
            status, body, headers = self._usual(url.path, parse_qs(url.query), content)
        if fault:
            status, body, headers = fault.status, fault.body, fault.headers
        self.platform.before_answer(call)
        if status == 0:  # the connection ends without an answer
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _handle  # noqa: N815

    def _fault(self, path: str) -> Fault | None:
        for fault in self.platform.faults:
            if fault.method == self.command and fault.path in path and fault.times:
                fault.times -= 1
                return fault
        return None

    def _usual(
        self, path: str, query: dict[str, list[str]], content: bytes
    ) -> tuple[int, bytes, dict[str, str]]:
        platform = self.platform
        github = platform.kind == "github"
        token = self.headers.get("Authorization" if github else "PRIVATE-TOKEN")
        if token != (f"Bearer {platform.token}" if github else platform.token):
            return 401, b'{"message": "Bad credentials"}', {}
        given = json.loads(content) if content else {}
        one = ONE.fullmatch(path)
        if one and self.command in ("DELETE", "PATCH" if github else "PUT"):
            return self._one(int(one[1]), given)
        if LISTS.fullmatch(path):
            return self._create(given) if self.command == "POST" else self._page(query, path)
        if path == "/repos/a/b/pulls":
            return self._page(query, path)
        users: dict[str, object] = {
            "/graphql": {"data": {"viewer": {"login": BOT["github"]}}},
            "/user": {"id": 5, "username": BOT["gitlab"]},
        }
        if path == ("/graphql" if github else "/user"):  # a job's token may not read GitHub's /user
            return 200, json.dumps(users[path]).encode(), {}
        return 404, b'{"message": "404 Not Found"}', {}

    def _create(self, given: dict[str, Any]) -> tuple[int, bytes, dict[str, str]]:
        number = self.platform.add(given["body"])
        return 201, json.dumps({"id": number, "body": given["body"]}).encode(), {}

    def _one(self, number: int, given: dict[str, Any]) -> tuple[int, bytes, dict[str, str]]:
        with self.platform.lock:
            entry = next((c for c in self.platform.comments if c["id"] == number), None)
            if entry is None:
                return 404, b'{"message": "Not Found"}', {}
            if self.command == "DELETE":
                self.platform.comments.remove(entry)
                return 204, b"", {}
            entry["body"] = given["body"]
            return 200, json.dumps(entry).encode(), {}

    def _page(self, query: dict[str, list[str]], path: str) -> tuple[int, bytes, dict[str, str]]:
        entries = self.platform.comments[:: 1 if self.platform.kind == "github" else -1]
        if "head" in query:
            pulls = self.platform.pulls
            entries = [pull for pull in pulls if pull["head"]["label"] == query["head"][0]]
        size, page = int(query["per_page"][0]), int(query["page"][0])
        assert size <= 100
        more = len(entries) > size * page
        # The address in `Link` is on another host, as behind some proxies: no client may go there.
        link = f'<https://elsewhere.example{path}?page={page + 1}>; rel="next", <https://x>; rel="last"'
        own = entries[size * (page - 1) : size * page]
        return 200, json.dumps(own).encode(), {"Link": link} if more else {}

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class Server(ThreadingHTTPServer):
    """Server without messages on clients that disconnect."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing."""


@contextmanager
def serving(kind: str) -> Iterator[Platform]:
    """Serve a platform, `github` or `gitlab`, on a free port of the loopback."""
    platform = Platform(kind)
    with Server(("127.0.0.1", 0), type("Own", (Handler,), {"platform": platform})) as server:
        platform.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield platform
        finally:
            server.shutdown()
            thread.join()
