"""Intent for RDMA tests: expected results, and limits of the load on the fabric."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta
from typing import Annotated

from pydantic import AfterValidator, Field, WithJsonSchema

from rocefort.models.base import Frozen, Name
from rocefort.models.wording import named

CLOCK = r"([01]\d|2[0-3]):[0-5]\d"
WINDOW = re.compile(f"(?P<begin>{CLOCK})-(?P<end>{CLOCK})")


def check_window(value: str) -> str:
    """Accept a window of a day, also one across midnight."""
    match = WINDOW.fullmatch(value)
    if match is None:
        raise ValueError(f"{value!r} is not a time window; write two times of day, as 22:00-05:30")
    if match["begin"] == match["end"]:
        raise ValueError(f"{value!r} begins when it ends; leave it out where any time will do")
    return value


Window = Annotated[
    str,
    AfterValidator(check_window),
    WithJsonSchema({"type": "string", "pattern": f"^{CLOCK}-{CLOCK}$"}),
]


def check_servers(value: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse an empty list: it reads as "no server", and the default leaves gates any."""
    if not value:
        raise ValueError("lists no server; list some, or leave the key out: gates then choose")
    return value


def is_within(window: str, at: time) -> bool:
    """Whether a time of day is in a window; its end is not."""
    match = WINDOW.fullmatch(window)
    if match is None:
        raise ValueError(window)
    begin, end = time.fromisoformat(match["begin"]), time.fromisoformat(match["end"])
    return begin <= at < end if begin < end else at >= begin or at < end


def left_s(window: str, at: datetime) -> float:
    """Seconds until a window closes, by the clock of this machine; 0 outside it.

    at: aware. A change to or from summer time before the end counts.
    """
    here = at.astimezone()
    if not is_within(window, here.time()):
        return 0.0
    end = time.fromisoformat(window.partition("-")[2])
    day = here.date() + timedelta(days=int(here.time() >= end))
    return (datetime.combine(day, end).astimezone() - here).total_seconds()


class Rdma(Frozen):
    """Expected results of an RDMA test, and the times and servers that it may use."""

    line_rate_fraction: float = Field(
        gt=0,
        le=1,
        json_schema_extra=named("a fraction", "1 is line rate"),
        description="Bandwidth that must come through, as a fraction of line rate.",
    )
    latency_us: float = Field(
        gt=0,
        json_schema_extra=named("a latency"),
        description="Latency of small messages across spines, us.",
    )
    latency_tolerance: float = Field(
        ge=0,
        le=10,
        json_schema_extra=named("a fraction", "0.1 is 10 %"),
        description="How far above latency_us it may be, as a fraction of it.",
    )
    same_leaf_latency_us: float | None = Field(
        default=None,
        gt=0,
        json_schema_extra=named("a latency"),
        examples=[2.5],
        description="Latency of small messages within a leaf, us, with the same tolerance; "
        "otherwise it is measured and not judged.",
    )
    spread: float | None = Field(
        default=None,
        gt=0,
        le=10,
        json_schema_extra=named("a fraction", "0.1 is 10 %"),
        description="Most that pairs of one kind may differ, fastest less slowest, as a fraction "
        "of their median; otherwise not judged.",
        examples=[0.1],
    )
    pause_rate_pps: float | None = Field(
        default=None,
        ge=0,
        json_schema_extra=named("a rate in frames a second"),
        description="Most PFC frames a second on the RoCE queue of a port during a test; "
        "otherwise they are counted and not judged.",
        examples=[1000],
    )
    servers: Annotated[tuple[Name, ...], AfterValidator(check_servers)] = Field(
        default=(),
        json_schema_extra={"minItems": 1},
        description="Servers that are kept for tests: only these are loaded without being named "
        "on the command line, also by the gates of a rollout. Without a list, suites load none, "
        "and gates choose among the servers of the connections file.",
        examples=[["transfer01", "k8sgn08"]],
    )
    rate_limit_gbps: float | None = Field(
        default=None,
        gt=0,
        json_schema_extra=named("a rate"),
        description="Most that one sender of a test or gate may send, Gb/s; otherwise its line "
        "rate.",
        examples=[40],
    )
    window: Window | None = Field(
        default=None,
        description="Time of day, on the clock of the machine that runs the tests, when servers "
        "may be loaded; otherwise any. A wave of a rollout begins only if its gate fits.",
        examples=["22:00-05:30"],
    )
