"""The environment of programs that Rocefort runs (git, ssh-keygen, kubectl), without its secrets.

A reference `env:NAME` may name any variable, and most are read only after git has run. So a child
gets the variables that are listed here, and of those none that a reference has named so far. One
that may need any other (kubectl asks a cloud's own program for a token) gets the rest, too.
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
    """Hide a variable that holds a secret, whatever its name."""
    _secret.add(name)


def environment(*, whole: bool = False) -> dict[str, str]:
    """Variables for a child process. whole: also those that are not listed here."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in _secret and (whole or name in NEEDED or name.startswith(FAMILIES))
    }
