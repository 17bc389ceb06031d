"""Who works here, and with which release: as the operating system and its packages know it."""

from __future__ import annotations

import os
import platform
import pwd
from functools import cache
from importlib.metadata import version


def user() -> str:
    """Name of the user whose process this is; an environment variable cannot change it."""
    return name_of(os.getuid())


def name_of(number: int) -> str:
    """Name of a user."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:  # as in a container that has no entry of it
        return f"uid {number}"


@cache  # the file with it is read once: that takes milliseconds
def release() -> str:
    """Version of this program."""
    return version("rocefort")


def host() -> str:
    """Name of this machine."""
    return platform.node()
