"""Calls of a platform's REST API: JSON over HTTPS, a token for one host, fields of answers.

Redirects are not followed, and the addresses of further pages are not used: both could name another
host. Answers that a platform gives under load (429, 502) are tried again, except those to POST: a
comment could then be there twice.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Final, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, urlsplit
from urllib.request import (
    HTTPRedirectHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
    getproxies,
)

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.base.secret_masking import masked
from rocefort.validators.batfish.access import ended_after

APP = "[bot]"  # the ending of an app's name in REST

Name = Annotated[str, Field(min_length=1)]


class Answer(BaseModel):
    """Part of an answer or event: JSON that others wrote, so no type is guessed."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class GitHubUser(Answer):
    """User of GitHub; type: `Bot` or `User`."""

    login: Name
    type: str

    @property
    def name(self) -> str:
        """The login, which ends in `[bot]` for an app and for no user."""
        return app_name(self.login) if self.type == "Bot" else self.login


def app_name(login: str) -> str:
    """Name of an app; GraphQL may name it without the ending of REST."""
    return login.removesuffix(APP) + APP


class Created(Answer):
    """Comment that a call has written."""

    id: int


class GitHubComment(Created):
    """Comment on a pull request; user: none, if it is deleted."""

    body: str | None = None
    user: GitHubUser | None = None

    @property
    def author(self) -> str:
        """Name of the user that wrote it."""
        return self.user.name if self.user else ""


class GitLabUser(Answer):
    """User of GitLab."""

    username: Name


class GitLabComment(Created):
    """Note on a merge request."""

    body: str | None = None
    user: GitLabUser = Field(alias="author")

    @property
    def author(self) -> str:
        """Name of the user that wrote it."""
        return self.user.username


class Owner(Answer):
    """The token's user, or the owner of a repository."""

    login: Name


class Viewer(Answer):
    """Data of the GraphQL query for the token's user."""

    viewer: Owner


class ViewerAnswer(Answer):
    """Answer to the GraphQL query for the token's user."""

    data: Viewer


class HeadCommit(Answer):
    """Head of a pull request."""

    sha: str


class PullRequest(Answer):
    """Pull request of a list."""

    number: int
    head: HeadCommit


class Repository(Answer):
    """Repository that a run's commit is from."""

    owner: Owner


class WorkflowRun(Answer):
    """Run of a workflow; head_repository: none, if the fork is deleted."""

    head_repository: Repository | None
    head_branch: str
    head_sha: str
    html_url: str = ""


class Numbered(Answer):
    """Pull request of an event."""

    number: int


class Event(Answer):
    """Event that a job of GitHub is for."""

    pull_request: Numbered | None = None
    workflow_run: WorkflowRun | None = None


class Refusal(Answer):
    """Message of an error: `message` of GitHub and GitLab, or `error` of GitLab."""

    message: object = None
    error: object = None


GITHUB_COMMENTS = TypeAdapter(list[GitHubComment])
GITLAB_COMMENTS = TypeAdapter(list[GitLabComment])
PULL_REQUESTS = TypeAdapter(list[PullRequest])


PASSING: Final = frozenset({429, 500, 502, 503, 504})  # answers of a service under load
TRIES = 4
PAGE_SIZE = 100  # the most that both platforms give
MOST_PAGES = 100
MOST_BYTES = 64_000_000  # of one answer: a page of the longest comments, escaped
NEXT_PAGE = re.compile(r';\s*rel="?next"?')
LONGEST_MESSAGE = 200

Read = TypeVar("Read")


class ApiFailed(ServiceFailed):
    """A call without success; status 0: no HTTP answer."""

    def __init__(self, status: int, what: str, *, where: str, how: str = "") -> None:
        self.status = status
        super().__init__(what, where=where, how=how)


@dataclass(frozen=True)
class RetryTimes:
    """Seconds of one call, and of the first wait between two tries; each wait doubles."""

    call_s: float = 30.0
    wait_s: float = 2.0
    longest_wait_s: float = 30.0


@dataclass(frozen=True)
class Api:
    """A platform's API at an address; token: the value of the header that `header` names."""

    base: str
    header: str
    token: str = field(repr=False)
    hints: Mapping[int, str] = field(default_factory=dict)  # fix by HTTP status
    limits: RetryTimes = RetryTimes()

    def __post_init__(self) -> None:
        """Refuse an address that would carry the token in the clear."""
        parts = _address(self.base)
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadInput("is no address of an API", where=self.base, how="use https://HOST/PATH")
        if parts.scheme == "http" and not _is_loopback(parts.hostname):
            raise BadInput("a token is not sent in the clear", where=self.base, how="use https://")

    def call(self, method: str, path: str) -> None:
        """Make a call without an answer; raises ApiFailed."""
        self._call(method, path)

    def read(
        self, read: Callable[[bytes], Read], method: str, path: str, content: object = None
    ) -> Read:
        """Answer of one call as `read` reads it; raises ApiFailed."""
        text, _ = self._call(method, path, content)
        return _read(read, text, f"{method} {self.base}{path}")

    def pages(self, read: Callable[[bytes], list[Read]], path: str) -> list[Read]:
        """All entries of a list, page by page, as `read` reads them; raises ApiFailed."""
        found: list[Read] = []
        sign = "&" if "?" in path else "?"
        for number in range(1, MOST_PAGES + 1):
            text, link = self._call("GET", f"{path}{sign}per_page={PAGE_SIZE}&page={number}")
            found += _read(read, text, f"GET {self.base}{path.partition('?')[0]}")
            if not NEXT_PAGE.search(link):
                break
        return found

    @cached_property
    def _opener(self) -> OpenerDirector:
        """Uses the proxies of the environment, but none for an unencrypted address."""
        proxies = {scheme: url for scheme, url in getproxies().items() if scheme != "http"}
        return build_opener(ProxyHandler(proxies), _NoRedirects())

    def _call(self, method: str, path: str, content: object = None) -> tuple[bytes, str]:
        """Answer, and its `Link` header."""
        tries = 1 if method == "POST" else TRIES
        for number in range(1, tries + 1):
            try:
                return self._once(method, path, content)
            except _TryAgain as again:
                if number == tries:
                    raise again.error from None
                wait = max(again.after_s, self.limits.wait_s * 2 ** (number - 1))
                time.sleep(min(wait, self.limits.longest_wait_s))
        raise AssertionError(tries)

    def _once(self, method: str, path: str, content: object) -> tuple[bytes, str]:
        url = f"{self.base}{path}"
        where = f"{method} {url.partition('?')[0]}"
        headers = {"Accept": "application/json", "User-Agent": "rocefort", self.header: self.token}
        data = None if content is None else json.dumps(content).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        request = Request(url, data, headers, method=method)  # noqa: S310 - http or https, see above
        late = TimeoutError(f"no answer in {self.limits.call_s:g} s")
        try:
            with (
                ended_after(self.limits.call_s, late),
                self._opener.open(request, timeout=self.limits.call_s) as answer,
            ):
                # A longer answer is no JSON then.
                return answer.read(MOST_BYTES), answer.headers.get("Link", "")
        except HTTPError as error:
            raise self._refused(error, where) from None
        except (URLError, OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or str(error) or type(error).__name__
            raise _TryAgain(ApiFailed(0, f"no answer: {reason}", where=where)) from None
        except ValueError as error:  # an address or a proxy that cannot be used
            raise ApiFailed(0, f"no answer: {error}", where=where) from None

    def _refused(self, error: HTTPError, where: str) -> Exception:
        """Error for a status that is no success; the caller may try some of them again."""
        with error:
            message = _message(error)
        if 300 <= error.code < 400:
            address = _address(error.headers.get("Location", ""))
            host = address.netloc if address else ""
            what = f"HTTP {error.code}: a redirect to {host or 'another address'} is not followed"
            return ApiFailed(error.code, what, where=where, how="name that address, if it is yours")
        what = f"HTTP {error.code}{masked(message)}"
        failed = ApiFailed(error.code, what, where=where, how=self.hints.get(error.code, ""))
        after = error.headers.get("Retry-After", "")
        if error.code in PASSING or (error.code == 403 and after):  # a limit of calls
            is_number = after.isascii() and after.isdecimal()
            return _TryAgain(failed, float(after) if is_number else 0.0)
        return failed


class _TryAgain(Exception):  # noqa: N818 - caught in this module
    """A failure that may pass."""

    def __init__(self, error: ApiFailed, after_s: float = 0.0) -> None:
        super().__init__()
        self.error, self.after_s = error, after_s


class _NoRedirects(HTTPRedirectHandler):
    """Every redirect is an error, whatever its address."""

    def http_error_302(self, *_: Any, **__: Any) -> None:  # noqa: ANN401 - of five signatures
        """Refuse."""

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def _read(read: Callable[[bytes], Read], text: bytes, where: str) -> Read:
    try:
        return read(text)
    except ValueError:
        raise ApiFailed(0, "the answer is not of this API", where=where) from None


def _address(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:
        return None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _message(error: HTTPError) -> str:
    try:
        refusal = Refusal.model_validate_json(error.read(100_000))
    except (OSError, ValueError, http.client.HTTPException):
        return ""
    said = str(refusal.message or refusal.error or "")
    text = " ".join("".join(c if c.isprintable() else " " for c in said).split())
    return f": {text[:LONGEST_MESSAGE]}" if text else ""
