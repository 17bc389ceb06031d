"""`comment`: one comment on a pull or merge request, on a server with the platforms' APIs."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from comment_platform import GITHUB_TOKEN, GITLAB_TOKEN, Fault, Platform, serving

from rocefort.verification.pull_request_comment import Thread, keep_comment, thread_of
from rocefort.verification.rest_api import ApiFailed, RetryTimes
from rocefort.verification.review.review_files import MARK

Command = Callable[..., Any]
Job = Callable[..., None]
TEXT = f"{MARK}\n\n## Rocefort: heps: no new errors\n"
ANSWER = ": the answer is not of this API\n"
FAST = RetryTimes(call_s=5.0, wait_s=0.01, longest_wait_s=0.02)
HEAD = {"head_branch": "wider", "head_sha": "c0ffee", "html_url": "https://github.com/a/b/runs/5"}
VARIABLES = ("GITHUB_", "GITLAB_", "CI_", "ROCEFORT_", "http_proxy", "https_proxy", "HTTPS_PROXY")


@pytest.fixture(params=["github", "gitlab"])
def platform(request: pytest.FixtureRequest, job: Job) -> Iterator[Platform]:
    """A platform, and the variables of its job."""
    with serving(request.param) as served:
        job(served)
        yield served


@pytest.fixture
def github(job: Job) -> Iterator[Platform]:
    with serving("github") as served:
        job(served)
        yield served


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    """Set the variables of a job, and no others; run in a directory with a review."""
    for name in list(os.environ):
        if name.startswith(VARIABLES):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "review").mkdir()
    (tmp_path / "review" / "review.md").write_text(TEXT)

    def start(served: Platform, event: object = None) -> None:
        for name, value in served.environment.items():
            monkeypatch.setenv(name, value)
        (tmp_path / "event.json").write_text(json.dumps(event or {"pull_request": {"number": 7}}))
        monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))

    return start


def thread(limits: RetryTimes = FAST) -> Thread:
    found = thread_of(limits)
    assert found
    return found


def run_event(**fields: object) -> dict[str, Any]:
    repository = {"full_name": "eve/b", "owner": {"login": "eve"}}
    run = {**HEAD, "head_repository": repository, "pull_requests": [], **fields}
    return {"action": "completed", "workflow_run": run}


def test_one_comment_is_created_then_updated(
    platform: Platform, rocefort: Command, tmp_path: Path
) -> None:
    platform.add("hello", "ann")
    title = "pull request 7" if platform.kind == "github" else "merge request 7"
    assert rocefort("comment").out == f"comment on {title}: created\n"
    assert platform.bodies() == {1: "hello", 2: TEXT}
    assert rocefort("comment").out == f"comment on {title}: unchanged\n"
    (tmp_path / "other.md").write_text(f"{TEXT}more\n")
    done = rocefort("comment", "other.md")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"comment on {title}: updated\n"
    assert platform.bodies() == {1: "hello", 2: f"{TEXT}more\n"}
    writes = [call.split()[0] for call in platform.calls if not call.startswith("GET")]
    update = "PATCH" if platform.kind == "github" else "PUT"
    assert [word for word in writes if word != "POST"] == [update]
    assert platform.calls.count("POST /graphql") == (3 if platform.kind == "github" else 0)


def test_the_comment_of_a_stranger_with_the_mark_is_left(platform: Platform) -> None:
    platform.add(TEXT, "eve")
    assert keep_comment(thread(), f"{TEXT}2") == "created"
    assert platform.bodies() == {1: TEXT, 2: f"{TEXT}2"}


def test_the_comment_is_found_on_any_page(platform: Platform) -> None:
    for number in range(120):
        platform.add(f"{number}", "ann")
    own = platform.add(TEXT)
    for number in range(120):
        platform.add(f"{number}", "ann")
    assert keep_comment(thread(), f"{TEXT}2") == "updated"
    assert platform.bodies()[own] == f"{TEXT}2"
    lists = [call for call in platform.calls if call.startswith("GET") and "7/" in call]
    assert len(lists) == 3


def test_two_own_comments_become_one(platform: Platform) -> None:
    for body in ("hello", TEXT, "world", f"{TEXT}later"):
        platform.add(body)
    assert keep_comment(thread(), f"{TEXT}2") == "updated"
    assert platform.bodies() == {1: "hello", 2: f"{TEXT}2", 3: "world"}


def test_two_runs_at_once_leave_one_comment(platform: Platform) -> None:
    """Both list before either creates."""
    both = threading.Barrier(2, timeout=20)
    waiting = threading.Semaphore(2)

    def meet(call: str) -> None:
        if call.startswith("GET") and "7/" in call and waiting.acquire(blocking=False):
            both.wait()

    platform.before_answer = meet
    runs = [thread(), thread()]
    done: list[str] = []
    workers = [
        threading.Thread(target=lambda r=run, n=n: done.append(keep_comment(r, f"{TEXT}{n}")))
        for n, run in enumerate(runs)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert done == ["created", "created"]
    assert len(platform.bodies()) == 1
    assert keep_comment(thread(), TEXT) == "updated"
    assert list(platform.bodies().values()) == [TEXT]


def test_a_comment_that_was_deleted_meanwhile_is_created_again(platform: Platform) -> None:
    platform.add(TEXT)
    method = "PATCH" if platform.kind == "github" else "PUT"

    def remove(call: str) -> None:
        if call.startswith("GET") and "7/" in call:
            platform.comments.clear()
            platform.before_answer = str

    platform.before_answer = remove
    assert keep_comment(thread(), f"{TEXT}2") == "created"
    assert list(platform.bodies().values()) == [f"{TEXT}2"]
    assert any(call.startswith(method) for call in platform.calls)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 0])
def test_a_failure_that_passes_is_tried_again(platform: Platform, status: int) -> None:
    platform.faults = [
        Fault(status, "GET", times=2, headers={"Retry-After": "1"}),
        Fault(status, "POST", "7/", times=1),
    ]
    assert keep_comment(thread(), TEXT) == "created"
    assert list(platform.bodies().values()) == [TEXT]


def test_a_comment_created_behind_an_error_is_not_created_twice(platform: Platform) -> None:
    platform.faults = [Fault(502, "POST", "7/", times=1, after=True)]
    assert keep_comment(thread(), TEXT) == "unchanged"
    assert list(platform.bodies().values()) == [TEXT]


def test_a_limit_of_calls_is_waited_for(github: Platform) -> None:
    """GitHub's second limit is a 403 with `Retry-After`."""
    github.faults = [Fault(403, "GET", times=1, headers={"Retry-After": "1"})]
    assert keep_comment(thread(), TEXT) == "created"


@pytest.mark.parametrize("status", [429, 502])
def test_a_failure_that_lasts_ends_after_some_tries(platform: Platform, status: int) -> None:
    platform.faults = [Fault(status, "GET")]
    with pytest.raises(ApiFailed, match=f"HTTP {status}: Something failed"):
        keep_comment(thread(), TEXT)
    assert len([call for call in platform.calls if call.startswith("GET")]) == 4


@pytest.mark.parametrize(
    ("status", "hints"),
    [
        (401, ("GITHUB_TOKEN is wrong or has expired", "ROCEFORT_GITLAB_TOKEN is wrong")),
        (403, ("the job needs the permission `pull-requests: write`", "needs the scope `api`")),
        (404, ("the token cannot see this", "ROCEFORT_GITLAB_TOKEN cannot see this project")),
        (422, ("", "")),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_refusal_is_one_line_with_its_fix(
    platform: Platform, rocefort: Command, status: int, hints: tuple[str, str], method: str
) -> None:
    if status == 404 and method == "POST":
        status = 410  # a 404 to POST is tried again, as the request may be moving
        hints = ("", "")
    token = platform.environment.get("GITHUB_TOKEN") or GITLAB_TOKEN
    body = json.dumps({"message": f"No\x1b[2J {token}\n{'x' * 900}"}).encode()
    platform.faults = [Fault(status, method, "7/", body=body)]
    done = rocefort("comment")
    assert (done.code, done.out) == (3, "")
    where = f"rocefort: {method} {platform.url}"
    assert done.err.startswith(where)
    assert f"HTTP {status}: No [2J <removed>" in done.err
    assert hints[platform.kind == "gitlab"] in done.err
    assert len(done.err.splitlines()) == 1
    assert len(done.err) < 500
    assert token not in done.err
    assert platform.bodies() == {}


def test_a_redirect_takes_the_token_nowhere(platform: Platform, rocefort: Command) -> None:
    with serving(platform.kind) as elsewhere:
        place = {"Location": f"{elsewhere.url}/stolen"}
        for status in (301, 302, 307, 308):
            for method in ("GET", "POST"):
                platform.faults = [Fault(status, method, "7/", headers=place)]
                done = rocefort("comment")
                assert done.code == 3
                host = elsewhere.url.removeprefix("http://")
                assert f"HTTP {status}: a redirect to {host} is not followed" in done.err
        assert elsewhere.calls == []


def test_no_proxy_gets_a_token_in_the_clear(
    platform: Platform, rocefort: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(platform.kind) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        assert rocefort("comment").code == 0
        assert proxy.calls == []


@pytest.mark.parametrize(
    ("address", "what"),
    [
        ("http://github.example/api", "a token is not sent in the clear; use https://"),
        ("http://127.0.0.1.example", "a token is not sent in the clear; use https://"),
        ("https://[", "is no address of an API; use https://HOST/PATH"),
        ("ftp://github.example", "is no address of an API; use https://HOST/PATH"),
        ("file:///etc/passwd", "is no address of an API; use https://HOST/PATH"),
    ],
)
def test_an_address_in_the_clear_is_refused(
    platform: Platform, rocefort: Command, monkeypatch: pytest.MonkeyPatch, address: str, what: str
) -> None:
    monkeypatch.setenv("GITHUB_API_URL", address)
    monkeypatch.setenv("CI_API_V4_URL", address)
    done = rocefort("comment")
    assert (done.code, done.err) == (2, f"rocefort: {address}: {what}\n")


def test_a_slow_platform_is_left(platform: Platform) -> None:
    platform.faults = [Fault(200, "GET", body=b"[]", wait_s=1.0, times=4)]
    with pytest.raises(ApiFailed, match=r"no answer: (no answer in 0.2 s|timed out)"):
        keep_comment(thread(RetryTimes(call_s=0.2, wait_s=0.0)), TEXT)


USERS = b'"user": {"login": "ann", "type": "User"}, "author": {"username": "ann"}'


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b'{"a": 1}',
        b"[1]",
        b'[{"id": "x"}]',
        b"\xff",
        b"",
        b"[" * 100_000,
        b'[{"id": 1, "body": 5, %b}]' % USERS,
        b'[{"id": 1, "body": ["a"], %b}]' % USERS,
        b'[{"id": Infinity, "body": "a", %b}]' % USERS,
        b'[{"id": true, "body": "a", %b}]' % USERS,
        b'[{"id": 1, "body": "a", "user": 5, "author": 5}]',
    ],
)
def test_an_answer_of_something_else_is_one_line(
    platform: Platform, rocefort: Command, body: bytes
) -> None:
    platform.faults = [Fault(200, "GET", "7/", body=body)]
    done = rocefort("comment")
    assert done.code == 3
    github = platform.kind == "github"
    path = "repos/a/b/issues/7/comments" if github else "projects/3/merge_requests/7/notes"
    assert done.err == f"rocefort: GET {platform.url}/{path}{ANSWER}"


@pytest.mark.parametrize("body", [b'{"data": null}', b'{"username": ""}', b"5", b"[" * 100_000])
def test_an_answer_without_the_tokens_user_is_one_line(
    platform: Platform, rocefort: Command, body: bytes
) -> None:
    path, method = ("/graphql", "POST") if platform.kind == "github" else ("/user", "GET")
    platform.faults = [Fault(200, method, path, body=body)]
    done = rocefort("comment")
    assert (done.code, done.err) == (3, f"rocefort: {method} {platform.url}{path}{ANSWER}")
    assert platform.bodies() == {}


def test_pull_requests_of_something_else_are_one_line(
    github: Platform, rocefort: Command, job: Job
) -> None:
    job(github, run_event())
    github.faults = [Fault(200, "GET", "/pulls", body=b'[{"number": 7, "head": null}]')]
    done = rocefort("comment")
    assert done.code == 3
    assert done.err == f"rocefort: GET {github.url}/repos/a/b/pulls{ANSWER}"


@pytest.mark.parametrize("body", [b"[" * 100_000, b"5", b'{"message": [[1], {"a": 2}]}'])
def test_a_refusal_with_any_message_is_one_line(
    platform: Platform, rocefort: Command, body: bytes
) -> None:
    platform.faults = [Fault(422, "GET", "7/", body=body)]
    done = rocefort("comment")
    assert done.code == 3
    assert "HTTP 422" in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("after", ["\u00b2", "-1", "soon", "1e9", "nan", "9" * 400])
def test_a_time_to_wait_of_any_text_is_no_error(platform: Platform, after: str) -> None:
    platform.faults = [Fault(429, "GET", times=1, headers={"Retry-After": after})]
    assert keep_comment(thread(), TEXT) == "created"


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_a_redirect_to_no_address_is_one_line(
    platform: Platform, rocefort: Command, status: int
) -> None:
    platform.faults = [Fault(status, "GET", "7/", headers={"Location": "https://["})]
    done = rocefort("comment")
    assert done.code == 3
    assert f"HTTP {status}: a redirect to another address is not followed" in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("own", ["github-actions[bot]", "github-actions"])
def test_a_user_with_the_name_of_the_app_is_a_stranger(github: Platform, own: str) -> None:
    """GraphQL may name an app without the ending of REST."""
    answer = json.dumps({"data": {"viewer": {"login": own}}}).encode()
    github.faults = [Fault(200, "POST", "/graphql", body=answer)]
    github.add(TEXT, "github-actions")
    github.add(TEXT)
    assert keep_comment(thread(), f"{TEXT}2") == "updated"
    assert github.bodies() == {1: TEXT, 2: f"{TEXT}2"}


def test_an_app_with_the_name_of_the_user_is_a_stranger(
    github: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = b'{"data": {"viewer": {"login": "ann"}}}'
    github.faults = [Fault(200, "POST", "/graphql", body=answer)]
    github.token = "ghp_zk3Ba9dL1"
    monkeypatch.setenv("GITHUB_TOKEN", github.token)
    github.add(TEXT, "ann[bot]")
    github.add(TEXT, "ann")
    assert keep_comment(thread(), f"{TEXT}2") == "updated"
    assert github.bodies() == {1: TEXT, 2: f"{TEXT}2"}


def test_nobody_listens(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_API_URL", "GITHUB_GRAPHQL_URL", "CI_API_V4_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with pytest.raises(ApiFailed, match=r"no answer: .*Connection refused"):
        keep_comment(thread(), TEXT)


def test_every_variable_is_needed(
    platform: Platform, rocefort: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {"GITHUB_SERVER_URL", "GITHUB_RUN_ID", "CI_PIPELINE_URL", "GITHUB_ACTIONS", "GITLAB_CI"}
    for name in platform.environment.keys() - kept:
        with monkeypatch.context() as context:
            context.delenv(name)
            done = rocefort("comment")
        assert done.code == 2
        assert done.err.startswith(f"rocefort: {name}: is not set; ")
        assert platform.bodies() == {}


def test_outside_of_a_job(rocefort: Command, job: Job) -> None:
    done = rocefort("comment")
    assert done.code == 2
    assert done.err == (
        "rocefort: this is no job of GitHub or GitLab; run `rocefort comment` in CI\n"
    )


def test_without_a_review_the_comment_says_so(
    platform: Platform, rocefort: Command, tmp_path: Path
) -> None:
    (tmp_path / "review/review.md").unlink()
    assert rocefort("comment").code == 0
    (body,) = platform.bodies().values()
    log = (
        "https://github.com/a/b/actions/runs/30433642"
        if platform.kind == "github"
        else "https://gitlab.example/a/b/-/pipelines/9"
    )
    assert body == (
        f"{MARK}\n\n## Rocefort: no review\n\n"
        f'The log of the run has the reason: <a href="{log}">log</a>.\n'
    )


@pytest.mark.parametrize("color", [(), ("--color", "never")])
def test_a_broken_settings_file_of_the_change_is_not_read(
    platform: Platform, rocefort: Command, tmp_path: Path, color: tuple[str, ...]
) -> None:
    """The comment of an earlier run must not stay: it may say that the change passes."""
    platform.add(TEXT)
    (tmp_path / "rocefort.toml").write_text("engine = ")
    assert rocefort("rules").code == 2
    (tmp_path / "review/review.md").unlink()
    done = rocefort(*color, "comment")
    assert (done.code, done.err) == (0, "")
    assert "## Rocefort: no review" in platform.bodies()[1]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"hello", "is no comment of `rocefort review`; give the file review.md"),
        (TEXT.encode() + b"\xff", "is no text in UTF-8"),
        (TEXT.encode() + b"\x00", "has control characters"),
        (TEXT.encode() + b"\x1b[2J", "has control characters"),
        (TEXT.encode() + b"x" * 70_000, "has more than 65536 characters"),
        (TEXT.encode() + "ü".encode() * 300_000, "has more than 65536 characters"),
    ],
)
def test_a_file_that_no_review_wrote_is_refused(
    platform: Platform, rocefort: Command, tmp_path: Path, content: bytes, what: str
) -> None:
    (tmp_path / "review/review.md").write_bytes(content)
    done = rocefort("comment")
    assert (done.code, done.err) == (2, f"rocefort: review/review.md: {what}\n")
    assert platform.calls == []


@pytest.mark.parametrize(
    "lines",
    [
        "/close",
        "   /Assign @root",
        "\t/label ~a",
        "/\u212aeep",  # Ruby finds the sign of kelvin for a k
        "```\n/close",  # a fence without an end: older versions of GitLab read no code there
        "~~~\n/close\n~~~",  # no fence to older versions
        "````\n```\n/close\n````",  # ends early in older versions
        "<details>\n```\n\n/close\n```",  # no fence in an HTML block
        "```\n/close\n```",
    ],
)
def test_a_command_of_gitlab_is_not_posted(
    platform: Platform, rocefort: Command, tmp_path: Path, lines: str
) -> None:
    (tmp_path / "review/review.md").write_text(f"{MARK}\n\n{lines}\n")
    done = rocefort("comment")
    number = 3 + next(n for n, line in enumerate(lines.split("\n")) if line.lstrip()[:1] == "/")
    assert (done.code, done.err) == (
        2,
        f"rocefort: review/review.md:{number}: begins with `/`: GitLab would execute it with the "
        "rights of the token; give the file review.md\n",
    )
    assert platform.calls == []


def test_a_path_inside_of_a_line_is_posted(
    platform: Platform, rocefort: Command, tmp_path: Path
) -> None:
    text = f"{TEXT}\n- /etc\n\\/etc\n`/etc`\n    /etc\n// a\n"
    (tmp_path / "review/review.md").write_text(text)
    assert rocefort("comment").code == 0
    assert list(platform.bodies().values()) == [text]


def test_a_link_or_a_pipe_is_not_read(
    platform: Platform, rocefort: Command, tmp_path: Path
) -> None:
    """An artifact of a change could point to a file of the job that has the token."""
    path = tmp_path / "review/review.md"
    path.unlink()
    (tmp_path / "secret").write_text(TEXT)
    path.symlink_to(tmp_path / "secret")
    done = rocefort("comment")
    assert done.code == 2
    assert done.err == (
        "rocefort: review/review.md: cannot be read: Too many levels of symbolic links\n"
    )
    path.unlink()
    os.mkfifo(path)
    assert rocefort("comment").err == (
        "rocefort: review/review.md: is no comment of `rocefort review`; give the file review.md\n"
    )
    path.unlink()
    path.mkdir()
    assert rocefort("comment").err == (
        "rocefort: review/review.md: cannot be read: Is a directory\n"
    )
    assert platform.calls == []


def test_a_run_for_a_fork_finds_its_pull_request(
    github: Platform, rocefort: Command, job: Job
) -> None:
    job(github, run_event())
    github.pulls = [
        {"number": 6, "head": {"label": "eve:wider", "sha": "0ld"}},
        {"number": 7, "head": {"label": "eve:wider", "sha": "c0ffee"}},
        {"number": 8, "head": {"label": "bob:wider", "sha": "c0ffee"}},
    ]
    assert rocefort("comment").out == "comment on pull request 7: created\n"
    github.pulls.append({"number": 9, "head": {"label": "eve:wider", "sha": "c0ffee"}})
    done = rocefort("comment")
    assert (done.code, done.err) == (
        3,
        "rocefort: eve:wider: pull requests 7, 9 have the same commit; close all but one\n",
    )


@pytest.mark.parametrize("event", [run_event(head_sha="0ld"), run_event(head_repository=None)])
def test_an_older_commit_and_a_deleted_fork_have_no_comment(
    github: Platform, rocefort: Command, job: Job, event: object
) -> None:
    job(github, event)
    github.pulls = [{"number": 7, "head": {"label": "eve:wider", "sha": "c0ffee"}}]
    done = rocefort("comment")
    assert (done.code, done.err) == (0, "")
    assert done.out == "no comment: no open pull request has this commit any more\n"
    assert github.bodies() == {}


@pytest.mark.parametrize(
    "text",
    [
        '{"push": 1}',
        "[",
        "[]",
        "[" * 100_000,
        '{"pull_request": null}',
        '{"pull_request": {"number": "7"}}',
        '{"workflow_run": 5}',
        '{"workflow_run": {"x": 1}}',
    ],
)
def test_another_event_is_one_line(
    github: Platform, rocefort: Command, tmp_path: Path, text: str
) -> None:
    (tmp_path / "event.json").write_text(text)
    done = rocefort("comment")
    assert done.code == 2
    assert done.err.startswith("rocefort: GITHUB_EVENT_PATH")
    assert len(done.err.splitlines()) == 1
    assert github.calls == []


def test_a_token_with_a_line_end_is_refused(
    platform: Platform, rocefort: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GITHUB_TOKEN", "ROCEFORT_GITLAB_TOKEN"):
        monkeypatch.setenv(name, "a\r\nX-Evil: 1")
    done = rocefort("comment")
    assert done.code == 2
    assert "is no token: it has spaces or control characters" in done.err
    assert "X-Evil" not in done.err


def test_no_text_of_an_object_has_the_token(platform: Platform) -> None:
    text = repr(thread())
    assert platform.url in text
    assert GITHUB_TOKEN not in text
    assert GITLAB_TOKEN not in text
