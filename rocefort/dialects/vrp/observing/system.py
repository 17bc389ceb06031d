"""`display clock` and `dir`: the time of a switch, and what is free of its flash.

Forms: V300R023C00 command reference, `display clock` and `dir`.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

from rocefort.dialects.vrp.observing.shown import Shown

CLOCK = "display clock"
DISK = "dir"

TIME = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.\d+)?(?: ?([+-]\d\d:\d\d))?", re.ASCII)
ZONE = re.compile(r"Time Zone ?\(.*\) ?: ?UTC(?:([+-])(\d\d):(\d\d)(?::\d\d)?)?", re.ASCII)
FREE = re.compile(r"[\d,]+ KB total(?: available)? \(([\d,]+) KB free\)", re.ASCII)


def clock(shown: Shown) -> datetime:
    """The time with its offset; older releases give the offset in the line of the zone alone."""
    rows = shown.rows
    found = TIME.fullmatch(rows[0].text.strip()) if rows else None
    if found is None:
        raise shown.wrong(1, "no date and time")
    zones = [zone for row in rows if (zone := ZONE.fullmatch(row.text.strip()))]
    try:
        if found[2]:
            return datetime.fromisoformat(f"{found[1]}{found[2]}")
        if len(zones) == 1:
            sign, hours, minutes = zones[0].groups(default="0")
            ahead = timedelta(hours=int(hours), minutes=int(minutes))
            offset = timezone(-ahead if sign == "-" else ahead)
            return datetime.fromisoformat(found[1]).replace(tzinfo=offset)
    except ValueError:
        raise shown.wrong(1, f"{found[0]!r} is no date and time") from None
    raise shown.wrong(1, "a time without its offset from UTC")


def free_kbytes(shown: Shown) -> int:
    """What is free of the file system that `dir` lists."""
    found = [match for row in shown.rows if (match := FREE.fullmatch(row.text.strip()))]
    if len(found) != 1:
        raise shown.wrong(len(shown.text.splitlines()), "no line of what is free")
    return int(found[0][1].replace(",", ""))
