"""Forms in which people keep the configuration of a switch: archives of tools, and sessions.

Oxidized: `lib/oxidized/model/vrp.rb` (comments `# `, no line with `uptime`, `display device`).
RANCID: a comment with the content type, lines with a secret turned into comments.
"""

from __future__ import annotations

import re
from collections.abc import Callable

VERSION = """\
Huawei Versatile Routing Platform Software
VRP (R) software, Version 8.220 (CE8850EI V200R022C00SPC500)
Copyright (C) 2012-2022 Huawei Technologies Co., Ltd.
HUAWEI CE8850-64CQ-EI uptime is 70 days, 0 hour, 3 minutes
Patch Version: V200R022SPH110
"""
DEVICE = """\
CE8850-64CQ-EI's Device status:
--------------------------------------------------------------------------------
Slot  Card   Type                     Online   Power Register     Alarm     Primary
--------------------------------------------------------------------------------
1     -      CE8850-64CQ-EI           Present  On    Registered   Normal    Master
--------------------------------------------------------------------------------
"""
LLDP = """\
Local Interface         Exptime(s) Neighbor Interface      Neighbor Device
-------------------------------------------------------------------------------
100GE1/0/57                    96  100GE1/1/1              spine01
"""
CIPHER = re.compile(r"^( *)(\S.*) (\S*%\^%#\S*)$", re.MULTILINE)

Form = Callable[[str, str], tuple[str, bytes]]  # (sysname, text) -> file name, content


def comments(text: str, mark: str) -> str:
    """Write lines as comments."""
    return "".join(f"{mark}{line}\n" for line in text.splitlines())


def oxidized(name: str, text: str) -> tuple[str, bytes]:
    """Write a file of Oxidized, which removes the line of the uptime."""
    version = "\n".join(line for line in VERSION.splitlines() if "uptime" not in line)
    return name, (comments(version, "# ") + comments(DEVICE, "# ") + text).encode()


def oxidized_secrets(name: str, text: str) -> tuple[str, bytes]:
    """Write a file of Oxidized with `remove_secret: true`; the name is one of the DNS."""
    file, content = oxidized(name, text)
    return f"{file}.example.net", CIPHER.sub(r"\1\2 <secret hidden>", content.decode()).encode()


def rancid(name: str, text: str) -> tuple[str, bytes]:
    """Write a file of RANCID."""
    head = "!RANCID-CONTENT-TYPE: huawei\n!\n" + comments(VERSION, "!") + comments(DEVICE, "!")
    return name, (head + CIPHER.sub(r"!\1\2 <removed>", text)).encode()


def session(name: str, text: str) -> tuple[str, bytes]:
    """Write a log of a terminal with several outputs; the last ones are of other views."""
    lines = (
        "Warning: The initial password poses security risks.\n"
        f"Info: The max number of VTY users is 5.\n<{name}>screen-length 0 temporary\n"
        f"<{name}>display version\n{VERSION}<{name}>dis dev\n{DEVICE}"
        f"<{name}>display current-configuration\n{text}<{name}>sys\n"
        f"Enter system view, return user view with return command.\n[~{name}]int 100GE1/0/57\n"
        f"[~{name}-100GE1/0/57]dis lldp nei b\n{LLDP}[~{name}-100GE1/0/57]return\n<{name}>quit\n"
    )
    return f"putty-{name}.log", lines.replace("\n", "\r\n").encode()


def twice(name: str, text: str) -> tuple[str, bytes]:
    """Write a log in which the configuration is before and after a change."""
    before = text.replace("lldp enable\n", "")
    lines = (
        f"<{name}>display version\n{VERSION}<{name}>display saved-configuration\n{before}"
        f"<{name}>display current-configuration all\n{before}"
        f"<{name}>dis cu | no-more\n{text}<{name}>display device\n{DEVICE}"
    )
    return f"{name}.txt", lines.encode("utf-16")


def above(name: str, text: str) -> tuple[str, bytes]:
    """Write outputs above and below a configuration, without prompts."""
    return f"{name}.cfg", f"{VERSION}{text}{DEVICE}".encode()


FORMS: dict[str, Form] = {
    "Oxidized": oxidized,
    "Oxidized without secrets": oxidized_secrets,
    "RANCID": rancid,
    "session": session,
    "two configurations": twice,
    "without prompts": above,
}
