"""Result of `facts probe`: what a switch made of unconfirmed forms, and what that settles."""

from __future__ import annotations

from rocefort.models.base import Frozen
from rocefort.models.hardware.site_facts import SwitchFacts


class ProbeResult(Frozen):
    """Answers of a switch, and the file that keeps them.

    not_judged, open_facts: numbers on the fabric before and after; notes: sentences on the probe.
    """

    file: str
    facts: SwitchFacts
    not_judged: tuple[int, int]
    open_facts: tuple[int, int]
    notes: tuple[str, ...] = ()
