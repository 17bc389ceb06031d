"""Change and Plan: what a rollout will do, device by device, sealed by a digest.

A Plan is a file that people approve; what is applied is what was reviewed, so everything that
decides what a switch will be told stands in it, and its digest covers all of it.
"""

from __future__ import annotations

import hashlib
import json
from enum import StrEnum
from typing import Final, Literal

from rocefort.models.base import Frozen
from rocefort.models.conditions import ConditionedLine

PLAN_FORMAT: Final = 2


class Kind(StrEnum):
    """What a change does to what is there."""

    ADDITIVE = "additive"
    MODIFYING = "modifying"
    REMOVING = "removing"


class Edit(Frozen):
    """One semantic difference: a path of the Device and its value before and after."""

    path: str
    before: str | None = None
    after: str | None = None


class Change(Frozen):
    """What takes one device from running to intended."""

    device: str
    kind: Kind
    service_affecting: tuple[str, ...] = ()  # one reason each; empty: not affecting
    edits: tuple[Edit, ...]
    patch: tuple[str, ...]  # commands in apply order, views entered and left
    reverse: tuple[str, ...]  # the way back
    running_digest: str  # of the running configuration that the patch was made against
    intended_digest: str
    kept: tuple[str, ...] = ()  # running lines that nobody owns; they stay
    conditions: tuple[ConditionedLine, ...] = ()  # lines of the patch that take more than a commit

    @property
    def only_secrets(self) -> bool:
        """Whether the switch will run what it runs, but for secrets, which it does not show."""
        return bool(self.patch) and self.running_digest == self.intended_digest

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.patch


class GatePair(Frozen):
    """One RDMA measurement of a gate: both tools run from client to server."""

    client: str
    server: str
    server_address: str
    client_rate_gbps: int
    server_rate_gbps: int


class Gate(Frozen):
    """What an RDMA gate runs and expects; rates in Gb/s, latency in microseconds."""

    pairs: tuple[GatePair, ...]
    unmeasured: tuple[str, ...] = ()  # leaves of the wave that no pair covers, each with the reason
    traffic_class: int
    bandwidth_s: int = 5
    latency_iterations: int = 10_000  # as many as the HEPS paper's Table 2
    line_rate_fraction: float
    latency_us: float
    latency_tolerance: float
    speed_judged: bool
    speed_note: str = ""  # why speed is not judged


class Wave(Frozen):
    """Devices that change together; the next wave waits for all of them."""

    name: str
    devices: tuple[str, ...]
    gate: Gate


class Plan(Frozen):
    """A sealed plan. `digest` is SHA-256 over everything else in canonical JSON."""

    format: Literal[2] = PLAN_FORMAT
    fabric: str
    source: str  # the fabric's file, absolute: a plan is applied from any directory
    tool: str
    intent_digest: str
    trial_s: int
    changes: tuple[Change, ...]
    waves: tuple[Wave, ...]
    digest: str = ""

    def seal(self) -> Plan:
        """Return the plan with its digest."""
        return self.model_copy(update={"digest": self.computed_digest()})

    def computed_digest(self) -> str:
        """Digest of the plan's content."""
        return digest_of(self.model_dump(mode="json", exclude={"digest"}))

    def change(self, device: str) -> Change:
        """The change of one device."""
        return next(change for change in self.changes if change.device == device)


def digest_of(content: object) -> str:
    """SHA-256 of a string, or of a value in canonical JSON."""
    if not isinstance(content, str):
        content = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()
