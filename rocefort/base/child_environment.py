"""Environment of programs that Rocefort runs (git, ssh-keygen, kubectl), without its secrets.

A reference `env:NAME` may name any variable, and most are read only after git has run. So a child
gets only the variables of the list below, without those that a reference has named so far. A
program that may need others gets the rest, too: kubectl starts a cloud's own program for a token.
"""

from __future__ import annotations

import os

NEEDED = frozenset(
    (
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TERM", "TMPDIR", "TZ", "LANG"),
        *("LANGUAGE", "DISPLAY", "WAYLAND_DISPLAY", "LD_LIBRARY_PATH"),
    )
)
FAMILIES = ("LC_", "XDG_", "GIT_", "SSH_")  # locale, configuration, git's own, agent and askpass

_secret: set[str] = set()


def keep_from_children(name: str) -> None:
    """Hide a variable that holds a secret from child processes."""
    _secret.add(name)


def environment(*, whole: bool = False) -> dict[str, str]:
    """Return the variables for a child process. whole: also those outside the list."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in _secret and (whole or name in NEEDED or name.startswith(FAMILIES))
    }
