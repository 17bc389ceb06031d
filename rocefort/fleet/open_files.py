"""Limit of open files: raised as far as allowed, and checked before sessions open."""

from __future__ import annotations

import resource
from pathlib import Path

from rocefort.base.errors import Refused

OTHERS = 32  # besides sessions: journal, locks, modules that are imported late


def make_room(files: int) -> int:
    """Raise the limit by a number of open files, as far as allowed; return the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return soft
    most = soft + files
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return most


def require_open_files(sessions: int) -> None:
    """Raise Refused if a number of sessions, each a socket, cannot be open at the same time."""
    limit = make_room(sessions + OTHERS)
    needed = len(list(Path("/dev/fd").iterdir())) + sessions + OTHERS
    if limit != resource.RLIM_INFINITY and limit < needed:
        raise Refused(
            f"{sessions} sessions need {needed} open files, and this user may open {limit}",
            where="limit of open files",
            how=f"raise it (ulimit -n {needed}), or name fewer devices",
        )
