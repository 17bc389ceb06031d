"""Optional dependencies of Rocefort: the `extra` that brings each, and its installation."""

from __future__ import annotations


def install_command(extra: str) -> str:
    """Return the command that installs an extra; the name is not on a package index, so by URL."""
    return f"pip install 'rocefort[{extra}] @ URL' with the URL of Rocefort's wheel"
