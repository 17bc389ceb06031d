"""Git repositories of tests."""

from __future__ import annotations

import subprocess
from pathlib import Path


def git(where: Path, *words: str) -> str:
    """Run git in a directory, as an author without settings; returns its output."""
    settings = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(where), *settings, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
