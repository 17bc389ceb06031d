"""Calls of a platform's REST API: JSON over HTTPS, with a token that leaves for one host only.

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
from typing import Any, Final, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPRedirectHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
    getproxies,
)

from rocefort.errors import BadInput, ServiceFailed
from rocefort.fleet.secret_masking import masked
from rocefort.validators.batfish.time_limits import ended_after

PASSING: Final = frozenset({429, 500, 502, 503, 504})  # answers of a service under load
TRIES = 4
PAGE_SIZE = 100  # the most that both platforms give
MOST_PAGES = 100
MOST_BYTES = 64_000_000  # of one answer: a page of the longest comments, escaped
NEXT_PAGE = re.compile(r';\s*rel="?next"?')
LONGEST_MESSAGE = 200
NOT_OF_API = "the answer is not of this API"

Entry = TypeVar("Entry")


class ApiFailed(ServiceFailed):
    """A call without success; status 0: no HTTP answer."""

    def __init__(self, status: int, what: str, *, where: str, how: str = "") -> None:
        self.status = status
        super().__init__(what, where=where, how=how)


@dataclass(frozen=True)
class Limits:
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
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        """Refuse an address that would carry the token in the clear."""
        parts = urlsplit(self.base)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadInput("is no address of an API", where=self.base, how="use https://HOST/PATH")
        if parts.scheme == "http" and not _is_loopback(parts.hostname):
            raise BadInput("a token is not sent in the clear", where=self.base, how="use https://")

    def call(self, method: str, path: str, content: object = None) -> Any:  # noqa: ANN401 - JSON
        """Answer of one call; raises ApiFailed."""
        return self._call(method, path, content)[0]

    def pages(self, path: str, read: Callable[[Any], Entry]) -> list[Entry]:
        """All entries of a list, page by page, as `read` reads them; raises ApiFailed."""
        found: list[Entry] = []
        sign = "&" if "?" in path else "?"
        for number in range(1, MOST_PAGES + 1):
            entries, link = self._call("GET", f"{path}{sign}per_page={PAGE_SIZE}&page={number}")
            try:
                found += map(read, list(entries))
            except (AttributeError, KeyError, TypeError, ValueError):
                raise ApiFailed(0, NOT_OF_API, where=f"GET {self.base}{path}") from None
            if not NEXT_PAGE.search(link):
                break
        return found

    @cached_property
    def _opener(self) -> OpenerDirector:
        """Uses the proxies of the environment, but none for an unencrypted address."""
        proxies = {scheme: url for scheme, url in getproxies().items() if scheme != "http"}
        return build_opener(ProxyHandler(proxies), _NoRedirects())

    def _call(self, method: str, path: str, content: object = None) -> tuple[Any, str]:
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

    def _once(self, method: str, path: str, content: object) -> tuple[Any, str]:
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
                text = answer.read(MOST_BYTES)  # a longer answer is no JSON then
                link = answer.headers.get("Link", "")
            return (json.loads(text) if text else None), link
        except HTTPError as error:
            raise self._refused(error, where) from None
        except (URLError, OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or str(error) or type(error).__name__
            raise _TryAgain(ApiFailed(0, f"no answer: {reason}", where=where)) from None
        except ValueError:
            raise ApiFailed(0, NOT_OF_API, where=where) from None

    def _refused(self, error: HTTPError, where: str) -> Exception:
        """Error for a status that is no success; the caller may try some of them again."""
        with error:
            message = _message(error)
        if 300 <= error.code < 400:
            host = urlsplit(error.headers.get("Location", "")).netloc or "another address"
            what = f"HTTP {error.code}: a redirect to {host} is not followed"
            return ApiFailed(error.code, what, where=where, how="name that address, if it is yours")
        what = f"HTTP {error.code}{masked(message)}"
        failed = ApiFailed(error.code, what, where=where, how=self.hints.get(error.code, ""))
        after = error.headers.get("Retry-After", "")
        if error.code in PASSING or (error.code == 403 and after):  # a limit of calls
            return _TryAgain(failed, float(after) if after.isdigit() else 0.0)
        return failed


class _TryAgain(Exception):  # noqa: N818 - caught in this module
    """A failure that may pass."""

    def __init__(self, error: ApiFailed, after_s: float = 0.0) -> None:
        super().__init__()
        self.error, self.after_s = error, after_s


class _NoRedirects(HTTPRedirectHandler):
    """Every redirect is an error."""

    def redirect_request(self, *_: object) -> None:
        """Refuse."""


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _message(error: HTTPError) -> str:
    """Message of an error: `message` of GitHub and GitLab, or `error` of GitLab."""
    try:
        content = json.loads(error.read(100_000))
    except (OSError, ValueError, http.client.HTTPException):
        return ""
    said = (content.get("message") or content.get("error")) if isinstance(content, dict) else ""
    text = " ".join("".join(c if c.isprintable() else " " for c in str(said or "")).split())
    return f": {text[:LONGEST_MESSAGE]}" if text else ""
