"""Fields of answers and events that are read, with their types; all others are left."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

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
