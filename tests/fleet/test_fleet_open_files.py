"""A fleet that needs more open files than this user may have is refused before any session."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

CODE = """
import resource
from rocefort.base.errors import Refused
from rocefort.fleet.nornir_session import require_open_files
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 256))
try:
    require_open_files({sessions})
except Refused as error:
    print(error)
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


@pytest.mark.parametrize(
    ("sessions", "said"),
    [
        (100, r"196\n"),  # the soft limit is raised by what is needed
        (
            300,
            r"limit of open files: 300 sessions need (\d+) open files, and this user may open 256; "
            r"raise it \(ulimit -n \1\), or name fewer devices\n256\n",
        ),
    ],
)
def test_the_limit_is_raised_or_the_fleet_is_refused_in_one_sentence(
    sessions: int, said: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(sessions=sessions)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.fullmatch(said, done.stdout), done.stdout
