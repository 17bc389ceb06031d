"""Writer of a server's configuration: a script with a dry run, its units, and a reader.

Every value passes one check: a word of few characters, quoted for the shell, or printable text of a
comment. So no name of a fabric can inject a second command.
"""

from __future__ import annotations

import re
import shlex
from functools import cache

from jinja2 import Environment

from rocefort.base.errors import BadInput
from rocefort.base.repository import TEMPLATES
from rocefort.base.templating import text_templates
from rocefort.models.network.servers import PRIORITIES, HostPlan

SCRIPT = "rocefort-host"
UNITS = ("rocefort-host.service", "rocefort-host-drift.service", "rocefort-host-drift.timer")
WORD = re.compile(r"[A-Za-z0-9_.,:/+-]+( [A-Za-z0-9_.,:/+-]+)*", re.ASCII)
COMMENT = re.compile(r"[ -~]*", re.ASCII)


class _Safe(str):
    """Text that has passed the check already."""

    __slots__ = ()


def host_files(plan: HostPlan) -> dict[str, str]:
    """Return the script and its systemd units, by the names of their files."""
    files = {SCRIPT: _render("host.sh.j2", plan)}
    return files | {unit: _render(f"{unit}.j2", plan) for unit in UNITS}


def reader_of(plan: HostPlan) -> str:
    """Return a POSIX shell text that reads everything of a server that its plan requires."""
    return _render("read.sh.j2", plan)


def _render(template: str, plan: HostPlan) -> str:
    return _environment().get_template(template).render(plan=plan)


@cache
def _environment() -> Environment:
    environment = text_templates(TEMPLATES / "host", _argument)
    environment.filters |= {"comment": _comment, "path": _path, "eight": _eight}
    return environment


def _argument(value: object) -> str:
    """Return one word for a shell."""
    if isinstance(value, _Safe):
        return value
    text = str(value)
    if text and not WORD.fullmatch(text):
        raise BadInput(f"{text[:60]!r} cannot stand in a script", how="use letters, digits, '.-_'")
    return shlex.quote(text) if text else ""


def _comment(text: str) -> _Safe:
    if not COMMENT.fullmatch(text):
        raise BadInput(f"{text[:60]!r} cannot stand in a comment", how="use printable ASCII")
    return _Safe(text)


def _path(name: str) -> str:
    """Return the path of a kernel parameter below /proc/sys."""
    return name.replace(".", "/")


def _eight(priorities: tuple[int, ...]) -> str:
    """Return priorities in the form of mlnx_qos: 4 -> 0,0,0,0,1,0,0,0."""
    return ",".join(str(int(priority in priorities)) for priority in PRIORITIES)
