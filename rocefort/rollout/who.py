"""Who works here, as the operating system knows it."""

from __future__ import annotations

import os
import platform
import pwd


def user() -> str:
    """Name of the user whose process this is; an environment variable cannot change it."""
    return name_of(os.getuid())


def name_of(number: int) -> str:
    """Name of a user."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:  # as in a container that has no entry of it
        return f"uid {number}"


def host() -> str:
    """Name of this machine."""
    return platform.node()
