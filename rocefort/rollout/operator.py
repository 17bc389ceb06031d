"""User, host and release of this process, from the operating system and the package."""

from __future__ import annotations

import os
import platform
import pwd

from rocefort import __version__


def user() -> str:
    """Name of the user that owns this process; no environment variable can change it."""
    return name_of(os.getuid())


def name_of(number: int) -> str:
    """Name of a user by number."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:  # as in a container without an entry for it
        return f"uid {number}"


def release() -> str:
    """Version of this program."""
    return __version__


def host() -> str:
    """Name of this machine."""
    return platform.node()
