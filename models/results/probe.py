"""Result of `facts probe`: what a switch made of unconfirmed forms, and what that settles."""

from __future__ import annotations

from rocefort.models.base import Frozen
from rocefort.models.hardware.site_facts import SwitchFacts


class OpenCounts(Frozen):
    """Verdicts on a fabric that are not judged, and facts of its switches that are unconfirmed."""

    not_judged: int
    facts: int


class ProbeResult(Frozen):
    """Answers of a switch, and the file that keeps them.

    before, after: of the whole fabric, before and after the file was written. notes: sentences on
    the probe.
    """

    file: str
    facts: SwitchFacts
    before: OpenCounts
    after: OpenCounts
    notes: tuple[str, ...] = ()
