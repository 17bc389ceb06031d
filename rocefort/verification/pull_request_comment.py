"""`comment`: one comment on a pull request (GitHub) or merge request (GitLab), kept up to date.

Sources: https://docs.github.com/en/rest/issues/comments, https://docs.github.com/en/rest/pulls/pulls,
https://docs.gitlab.com/api/notes, https://docs.gitlab.com/ci/variables/predefined_variables.

Every run makes the same of what it finds: the oldest own comment gets the text, and other own ones
are removed. So if two runs at once leave two comments, the next run removes one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from napalm_cloudengine import regular_file
from rocefort.base.errors import BadInput
from rocefort.base.secret_masking import remember
from rocefort.reports.writers.markdown import QUICK_ACTION
from rocefort.verification.rest_api import (
    APP,
    GITHUB_COMMENTS,
    GITLAB_COMMENTS,
    PASSING,
    PULL_REQUESTS,
    Api,
    ApiFailed,
    Created,
    Event,
    GitHubComment,
    GitLabComment,
    GitLabUser,
    RetryTimes,
    ViewerAnswer,
    app_name,
)
from rocefort.verification.review.review_files import MARK

# https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github
APP_TOKEN = "ghs_"  # noqa: S105 - how the token of an app begins


@dataclass(frozen=True)
class Comment:
    """One comment; the platform numbers them by age."""

    number: int
    body: str
    author: str


@dataclass(frozen=True)
class Thread:
    """Comments of one request. title: its name for a user; log: address of the run's log."""

    title: str
    api: Api
    path: str
    path_of_one: str
    update_method: str
    read: Callable[[bytes], list[GitHubComment] | list[GitLabComment]]
    own_name: str  # of the token's user
    log: str

    def comments(self) -> list[Comment]:
        """All comments."""
        return self.api.pages(self._comments, self.path)

    def _comments(self, text: bytes) -> list[Comment]:
        return [Comment(each.id, each.body or "", each.author) for each in self.read(text)]

    def create(self, body: str) -> None:
        """Add a comment."""
        self.api.read(Created.model_validate_json, "POST", self.path, {"body": body})

    def update(self, comment: Comment, body: str) -> None:
        """Replace the text of a comment."""
        path = f"{self.path_of_one}/{comment.number}"
        self.api.read(Created.model_validate_json, self.update_method, path, {"body": body})

    def delete(self, comment: Comment) -> None:
        """Remove a comment."""
        self.api.call("DELETE", f"{self.path_of_one}/{comment.number}")


def thread_of(limits: RetryTimes) -> Thread | None:
    """Comments of the request that this CI job belongs to; None: it has another commit by now.

    Raises BadInput outside of a job and for a missing variable, and ApiFailed.
    """
    if os.environ.get("GITHUB_ACTIONS"):
        return _github(limits)
    if os.environ.get("GITLAB_CI"):
        return _gitlab(limits)
    raise BadInput("this is no job of GitHub or GitLab", how="run `rocefort comment` in CI")


def _github(limits: RetryTimes) -> Thread | None:
    hints = {
        401: "GITHUB_TOKEN is wrong or has expired",
        403: "the job needs the permission `pull-requests: write`",
        404: "the token cannot see this repository or pull request",
    }
    token = _token("GITHUB_TOKEN", "the job's own token: ${{ github.token }}")
    repository = _variable("GITHUB_REPOSITORY")
    api = Api(_variable("GITHUB_API_URL"), "Authorization", f"Bearer {token}", hints, limits)
    event = _event(Path(_variable("GITHUB_EVENT_PATH")))
    number = _pull_request(event, api, repository)
    if number is None:
        return None
    server, run_id = os.environ.get("GITHUB_SERVER_URL", ""), os.environ.get("GITHUB_RUN_ID", "")
    run_url = event.workflow_run.html_url if event.workflow_run else ""
    return Thread(
        title=f"pull request {number}",
        api=api,
        path=f"/repos/{repository}/issues/{number}/comments",
        path_of_one=f"/repos/{repository}/issues/comments",
        update_method="PATCH",
        read=GITHUB_COMMENTS.validate_json,
        own_name=_own_name(api, token),
        log=run_url or f"{server}/{repository}/actions/runs/{run_id}",
    )


def _own_name(api: Api, token: str) -> str:
    """Name of the token's user: a job's token may not read /user, but GraphQL names its app."""
    graphql = replace(api, base=_variable("GITHUB_GRAPHQL_URL"))
    query = {"query": "query { viewer { login } }"}
    login = graphql.read(ViewerAnswer.model_validate_json, "POST", "", query).data.viewer.login
    return app_name(login) if login.endswith(APP) or token.startswith(APP_TOKEN) else login


def _pull_request(event: Event, api: Api, repository: str) -> int | None:
    """Number of the pull request, from the event alone: a job's artifact could name any other."""
    if event.pull_request:
        return event.pull_request.number
    run = event.workflow_run
    if not run:
        how = "run it on `workflow_run` or `pull_request`"
        raise BadInput(
            "this event is no run for a pull request", where="GITHUB_EVENT_PATH", how=how
        )
    # `pull_requests` of the event is empty for a fork, so its branch is looked for.
    if not run.head_repository:  # the fork is deleted
        return None
    head = f"{run.head_repository.owner.login}:{run.head_branch}"
    path = f"/repos/{repository}/pulls?state=open&head={quote(head, safe='')}"
    pulls = api.pages(PULL_REQUESTS.validate_json, path)
    numbers = [pull.number for pull in pulls if pull.head.sha == run.head_sha]
    if numbers[1:]:
        what = f"pull requests {', '.join(map(str, numbers))} have the same commit"
        raise ApiFailed(0, what, where=head, how="close all but one")
    return numbers[0] if numbers else None


def _gitlab(limits: RetryTimes) -> Thread:
    hints = {
        401: "ROCEFORT_GITLAB_TOKEN is wrong or has expired",
        403: "ROCEFORT_GITLAB_TOKEN needs the scope `api` and the role Reporter",
        404: "ROCEFORT_GITLAB_TOKEN cannot see this project or merge request",
    }
    token = _token("ROCEFORT_GITLAB_TOKEN", "an access token of the project with the scope `api`")
    api = Api(_variable("CI_API_V4_URL"), "PRIVATE-TOKEN", token, hints, limits)
    number = _variable("CI_MERGE_REQUEST_IID")
    path = f"/projects/{_variable('CI_PROJECT_ID')}/merge_requests/{number}/notes"
    return Thread(
        title=f"merge request {number}",
        api=api,
        path=path,
        path_of_one=path,
        update_method="PUT",
        read=GITLAB_COMMENTS.validate_json,
        own_name=api.read(GitLabUser.model_validate_json, "GET", "/user").username,
        log=os.environ.get("CI_PIPELINE_URL", ""),
    )


def _event(path: Path) -> Event:
    try:
        return Event.model_validate_json(regular_file.read_bytes(path))
    except (OSError, ValueError):
        what = "the event of the job cannot be read"
        raise BadInput(what, where=f"GITHUB_EVENT_PATH {path}") from None


def _token(name: str, what: str) -> str:
    """Value of a variable that holds a token; no output shows it from now on."""
    value = _variable(name, what)
    if not value.isascii() or not value.isprintable() or " " in value:
        raise BadInput("is no token: it has spaces or control characters", where=name)
    remember(value)
    return value


def _variable(name: str, what: str = "a job of the platform has it") -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise BadInput("is not set", where=name, how=what)
    return value


ROUNDS = 3
LONGEST = 65_536  # characters of a comment on GitHub; GitLab takes more
GONE = 404


def review_text(path: Path) -> str | None:
    """The comment that `review` has written, checked as a file of a stranger; None: there is none.

    Raises BadInput for anything that `review` does not write: a link, other text, a command
    of GitLab, or too long.
    """
    try:
        with open(path, "rb", opener=_open_here) as file:
            regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            content = file.read(4 * LONGEST + 1) if regular else b""
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", file=str(path)) from None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput("is no text in UTF-8", file=str(path)) from None
    if not text.startswith(MARK):
        raise BadInput(
            "is no comment of `rocefort review`", file=str(path), how="give the file review.md"
        )
    if len(text) > LONGEST:
        raise BadInput(f"has more than {LONGEST} characters", file=str(path))
    if any(not (c.isprintable() or c in "\n\t") for c in text):
        raise BadInput("has control characters", file=str(path))
    if action := QUICK_ACTION.search(text):
        line = 1 + text.count("\n", 0, action.start())
        what = "begins with `/`: GitLab would execute it with the rights of the token"
        raise BadInput(what, how="give the file review.md", file=str(path), line=line)
    return text


def _open_here(path: str, flags: int) -> int:
    """Open a file, not what a link names; do not wait for the writer of a pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def keep_comment(thread: Thread, body: str) -> str:
    """Make the text the only own comment on a request; returns what was done. Raises ApiFailed."""
    done = ""
    for number in range(1, ROUNDS + 1):
        own = sorted(_own_comments(thread), key=lambda comment: comment.number)
        try:
            if own:
                settled = _settle(thread, own, body)
                return done or settled
            if done:  # created, and not listed yet
                return done
            thread.create(body)
            done = "created"
        except ApiFailed as error:
            if number == ROUNDS or error.status not in {0, GONE, *PASSING}:
                raise
    return done


def _own_comments(thread: Thread) -> Iterator[Comment]:
    """Comments with the mark by the token's user: anybody can copy the mark."""
    for comment in thread.comments():
        if comment.author == thread.own_name and comment.body.startswith(MARK):
            yield comment


def _settle(thread: Thread, own: Sequence[Comment], body: str) -> str:
    """Give the oldest own comment the text, and remove the others."""
    first, *others = own
    if first.body != body:
        thread.update(first, body)
    for comment in others:
        thread.delete(comment)
    return "unchanged" if first.body == body and not others else "updated"
