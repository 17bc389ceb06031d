"""Content of the report page as one frozen value; the caller assembles it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

from rocefort.models.base import Frozen
from rocefort.models.finding import Report
from rocefort.models.network.network import Network
from rocefort.validators.capacity.capacity_results import CapacityReport
from rocefort.validators.routing_results import FailureStudy, RoutingState


class BufferFit(StrEnum):
    """Fit of a switch's lossless demand into its buffer; the values are CSS classes too."""

    FITS = "fits"
    UNCONFIRMED = "unconfirmed"  # would fit a buffer that no vendor source confirms
    OVER = "over"
    UNKNOWN = "unknown"  # the buffer or the demand is not known: never drawn as fitting


class PortBudget(Frozen):
    """One lossless port: what it is promised and what it needs. None: not known."""

    interface: str
    speed_gbps: int | None = None
    cable_m: float | None = None
    xoff_kbytes: int | None = None
    headroom_kbytes: int | None = None  # that the port has, set or by default
    needed_kbytes: int | None = None  # headroom by formula


class DeviceBudget(Frozen):
    """Lossless demand of one switch against its buffer, kbytes of 1024 bytes. None: not known."""

    device: str
    buffer_kbytes: int | None
    xoff_kbytes: int | None  # of all lossless ports
    headroom_kbytes: int | None  # of all lossless ports, or of the pool that they share
    buffer_confirmed: bool = True
    buffer_source: str = ""
    ports: tuple[PortBudget, ...] = ()

    @property
    def demand_kbytes(self) -> int | None:
        """xoff and headroom together."""
        if self.xoff_kbytes is None or self.headroom_kbytes is None:
            return None
        return self.xoff_kbytes + self.headroom_kbytes

    @property
    def fit(self) -> BufferFit:
        """Whether the demand fits; a demand that is too large for a doubtful buffer is over."""
        if self.buffer_kbytes is None or self.demand_kbytes is None:
            return BufferFit.UNKNOWN
        if self.demand_kbytes > self.buffer_kbytes:
            return BufferFit.OVER
        return BufferFit.FITS if self.buffer_confirmed else BufferFit.UNCONFIRMED


@dataclass(frozen=True, slots=True)
class Provenance:
    """Origin of a page: its time, version and files, and the git commit of these.

    engine: who verified the routing, with its version. revision: empty if the files are in no
    commit. uncommitted: whether they differ from it.
    """

    made: datetime
    version: str
    engine: str
    source: str
    revision: str = ""
    uncommitted: bool | None = None

    @property
    def made_text(self) -> str:
        """`2026-11-23 20:29 UTC`."""
        return f"{self.made.astimezone(UTC):%Y-%m-%d %H:%M} UTC"

    @property
    def revision_text(self) -> str:
        """`commit 0d1ee4c0aa11 with uncommitted changes`, or that there is none."""
        if not self.revision:
            return "in no git commit"
        return f"commit {self.revision[:12]}" + " with uncommitted changes" * bool(self.uncommitted)


@dataclass(frozen=True)
class PageContent:
    """Everything on the page; what is None or empty is shown as not known or not done.

    report: verdicts with their places in the intent. text_report: the same network judged with
    places in the configurations (`Sources` of the parsed texts); it gives the line of a
    configuration at which a verdict is shown. Without it that is the line of the interface, or of
    the sysname. Where the network was read from text, `report` already has these lines.
    texts: configuration by device. titles: a rule's title by its id.
    failures_note: why no failures were studied.
    capacity: a demand against the fabric; not shown where there is none.
    provenance: passed in, so that the same content is always the same page.
    """

    network: Network
    report: Report
    texts: Mapping[str, str]
    text_report: Report | None = None
    routing: RoutingState | None = None
    budgets: tuple[DeviceBudget, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    failures: FailureStudy | None = None
    failures_note: str = ""
    capacity: CapacityReport | None = None
    provenance: Provenance | None = None
