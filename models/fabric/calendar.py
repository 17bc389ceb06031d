"""Intent for the calendar of changes: the file, its time zone, and the kinds of its events."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema

from rocefort.models.base import Description, Frozen
from rocefort.models.wording import named


def check_zone(value: str) -> str:
    """Accept the name of a time zone of the IANA database."""
    try:
        ZoneInfo(value)
    except (ValueError, OSError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        what = f"{value[:60]!r} is not a time zone of the IANA database"
        raise ValueError(f"{what}; write one as Asia/Shanghai or Europe/Berlin") from None
    return value


def category_key(value: str) -> str:
    """Form of a category for comparisons: `USER-RUN` and `User run` are equal."""
    return " ".join(re.split(r"[\s_-]+", value.strip())).casefold()


TimeZone = Annotated[
    str,
    AfterValidator(check_zone),
    WithJsonSchema({"type": "string", "pattern": r"^[A-Za-z0-9_+\-]+(/[A-Za-z0-9_+\-]+)*$"}),
]
FilePath = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f]+$")]


class Calendar(Frozen):
    """iCalendar file (RFC 5545) of machine studies, user runs and freezes; it can hold waves.

    It is read when a wave begins, and is no part of the sealed plan. An event whose categories are
    all in `windows` is a window. One whose categories are all in `ignored` does not count. Any
    other event closes what it names: no wave that touches it begins.
    """

    file: FilePath = Field(
        description="The file, beside fabric.yaml or absolute. A wave waits while it cannot be "
        "read.",
        examples=["operation.ics"],
    )
    time_zone: TimeZone = Field(
        description="Time zone of messages, of all-day events, and of events without a zone.",
        examples=["Asia/Shanghai"],
    )
    windows: tuple[Description, ...] = Field(
        default=(),
        description="Categories of events in which waves may begin, only then. Without one, every "
        "time that no event closes is a window.",
        examples=[["machine studies", "maintenance"]],
    )
    ignored: tuple[Description, ...] = Field(
        default=(),
        description="Categories of events that do not matter for changes.",
        examples=[["seminar"]],
    )
    max_age_h: float | None = Field(
        default=None,
        gt=0,
        le=8760,
        json_schema_extra=named("an age in hours"),
        description="Age of the file from which a wave waits, h: a copy that is no longer renewed. "
        "Otherwise any age.",
        examples=[24],
    )

    def beside(self, folder: str) -> Calendar:
        """Calendar with the path of its file; folder: of the fabric's file."""
        return self.model_copy(update={"file": str(PurePath(folder) / self.file)})

    def is_window(self, categories: tuple[str, ...]) -> bool | None:
        """Whether an event of these categories is a window; None: it does not count."""
        keys, ignored = set(map(category_key, categories)), set(map(category_key, self.ignored))
        if keys and keys <= ignored:
            return None
        return bool(keys) and keys - ignored <= set(map(category_key, self.windows))
