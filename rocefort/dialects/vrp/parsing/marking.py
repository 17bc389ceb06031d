"""Commands of drop profiles and of the queues that mark or drop by them.

Source: V300R023C00 command reference, congestion avoidance; the forms of V200 are the same (AI
Fabric best practice, static ECN).
"""

from __future__ import annotations

from rocefort.dialects.vrp.parsing import arguments
from rocefort.dialects.vrp.parsing.commands import Match, View, command, flag
from rocefort.dialects.vrp.parsing.parts import Part
from rocefort.models.drop_profile import Unit

LIMITS = r"(buffer-size (?:cell )?)?low-limit (\d+) high-limit (\d+) discard-percentage (\d+)"
UNITS: dict[str, Unit] = {"": "percent", "buffer-size": "bytes", "buffer-size cell": "cells"}


@command("system", r"drop-profile (\S+)")
def _profile(device: Part, match: Match) -> View:
    return View("drop-profile", device.row("drop_profiles", match[1], name=match[1]))


def _limits(part: Part, words: tuple[str | None, ...]) -> None:
    unit, low, high, percent = (word or "" for word in words)
    part.set("unit", UNITS[unit.strip()])
    for name, text in (("low", low), ("high", high), ("percent", percent)):
        part.set(name, arguments.whole(text))


@command("drop-profile", rf"color (green|yellow|red) {LIMITS}")
def _colour(profile: Part, match: Match) -> None:
    _limits(profile.row("colours", match[1], colour=match[1]), match.groups()[1:])


@command("drop-profile", rf"ecn {LIMITS}")
def _ecn(profile: Part, match: Match) -> None:
    _limits(profile.part("ecn"), match.groups())


flag("system", "qos ecn enable", "ecn_enabled")


@command("interface", r"qos queue (\d) wred (\S+)")
def _wred(port: Part, match: Match) -> None:
    queue = arguments.queue(match[1])
    port.row("markings", queue, queue=queue).set("profile", match[2])


@command("interface", r"qos queue (\d) ecn")
def _queue_ecn(port: Part, match: Match) -> None:
    queue = arguments.queue(match[1])
    port.row("markings", queue, queue=queue).set("ecn", value=True)
