"""Keep one comment on a request: find the own one, update it, or create it.

Every run makes the same of what it finds: the oldest own comment gets the text, and other own ones
are removed. So if two runs at once leave two comments, the next run removes one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from rocefort.base.errors import BadInput
from rocefort.reports.writers.markdown import QUICK_ACTION
from rocefort.verification.comment.api import PASSING, ApiFailed
from rocefort.verification.comment.platforms import Comment, Thread
from rocefort.verification.review.review_files import MARK

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
