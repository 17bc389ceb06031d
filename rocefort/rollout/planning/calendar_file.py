"""Read an iCalendar file (RFC 5545): its events as periods in the time zone of the fabric.

The libraries expand recurrences, in the zone of each event, so that a weekly event keeps its local
time over a change of the clock. What they skip silently is an error here: a property that cannot be
read, an unknown time zone, a file that ends early. A calendar that is not understood holds waves.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from napalm_cloudengine import regular_file
from rocefort.base.errors import BadInput
from rocefort.models.fabric.calendar import Calendar
from rocefort.models.wording import duration

Component = Any  # an event of the library, whose values have no common type
MOST_BYTES = 20_000_000
SUMMARY_LETTERS = 60
MOST_BROKEN = 3  # in one message
# An event in another zone, or without one, may be in UTC a day earlier or later.
BESIDE = timedelta(days=2)
# Without these an event is not understood. Others, such as ATTENDEE, are not read.
NEEDED = frozenset({
    "DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "RECURRENCE-ID", "STATUS",
    "CATEGORIES", "LOCATION", "UID",
})  # fmt: skip
TIMES = ("DTSTART", "DTEND", "RECURRENCE-ID", "EXDATE", "RDATE")
TOO_OFTEN = frozenset({"SECONDLY", "MINUTELY"})
MOST_AN_HOUR = 4  # occurrences of one rule; a search looks at those of a year
# A journal entry takes no time. Any other component may be busy time, which must not be skipped.
READ = frozenset({"VEVENT", "VTIMEZONE", "VJOURNAL"})


@dataclass(frozen=True, slots=True)
class CalendarEvent:
    """One occurrence of an event, in UTC. is_window: otherwise it closes what it names.

    locations: names of the places; empty: the whole fabric.
    """

    summary: str
    categories: tuple[str, ...]
    locations: tuple[str, ...]
    begin: datetime
    end: datetime
    is_window: bool

    @property
    def name(self) -> str:
        """Event in a sentence: `'Beam time' (user run)`, without the place."""
        kinds = f" ({', '.join(self.categories)})" if self.categories else ""
        return f"'{self.summary}'{kinds}" if self.summary else f"an event without a title{kinds}"


@dataclass(frozen=True)
class EventFile:
    """Content of a calendar's file, and its settings. sha256: of its bytes."""

    calendar: Calendar
    sha256: str
    content: tuple[Component, ...]

    @property
    def zone(self) -> ZoneInfo:
        """Time zone of messages."""
        return ZoneInfo(self.calendar.time_zone)

    def events(self, begin: datetime, end: datetime) -> list[CalendarEvent]:
        """Occurrences that overlap a period, in order of time; raises BadInput."""
        import recurring_ical_events  # noqa: PLC0415 - only for a fabric with a calendar

        begin, end = begin.astimezone(UTC), end.astimezone(UTC)
        events = []
        for content in self.content:
            try:
                query = recurring_ical_events.of(content, keep_recurrence_attributes=False)
                found = query.between(begin - BESIDE, end + BESIDE)
            except Exception as error:  # noqa: BLE001 - of any kind: the file is a stranger's
                raise _unreadable(self.calendar, f"its recurrences: {_text(str(error))}") from None
            events += [one for part in found if (one := self._event(part))]
        inside = (one for one in events if one.begin < end and one.end > begin)
        return sorted(inside, key=lambda one: (one.begin, one.end, one.summary))

    def _event(self, part: Component) -> CalendarEvent | None:
        """One occurrence; None: it was cancelled, or its categories are ignored."""
        status = str(part.get("STATUS", "")).upper()
        categories = tuple(_categories(part))
        is_window = self.calendar.is_window(categories)
        if status == "CANCELLED" or is_window is None or (is_window and status == "TENTATIVE"):
            return None
        begin = part["DTSTART"].dt
        end = part["DTEND"].dt if "DTEND" in part else begin
        return CalendarEvent(
            summary=_text(str(part.get("SUMMARY", "")))[:SUMMARY_LETTERS],
            categories=categories,
            locations=tuple(_locations(str(part.get("LOCATION", "")))),
            begin=self._moment(begin),
            end=self._moment(end),
            is_window=is_window,
        )

    def _moment(self, value: date) -> datetime:
        """A date, or a time without a zone, in the time zone of the calendar; in UTC."""
        if not isinstance(value, datetime):
            value = datetime.combine(value, time.min)
        aware = value if value.tzinfo else value.replace(tzinfo=self.zone)
        return aware.astimezone(UTC)


def read_calendar(calendar: Calendar, now: datetime) -> EventFile:
    """Read a calendar with the path of its file; raises BadInput for one that is not understood."""
    import icalendar  # noqa: PLC0415 - only for a fabric with a calendar

    path = Path(calendar.file)
    try:
        age_s = now.timestamp() - path.stat().st_mtime
        content = regular_file.read_bytes(path)
    except FileNotFoundError:
        how = "put the calendar there, or correct rollout.calendar.file"
        raise BadInput("is not there", file=calendar.file, how=how) from None
    except OSError as error:
        raise _unreadable(calendar, str(error.strerror)) from None
    if calendar.max_age_h is not None and age_s > calendar.max_age_h * 3600:
        what = f"was written {duration(age_s)} ago, rollout.calendar.max_age_h is"
        how = "renew the copy of the calendar"
        raise BadInput(f"{what} {calendar.max_age_h:g}", file=calendar.file, how=how)
    if len(content) > MOST_BYTES:
        raise _unreadable(calendar, f"it has more than {MOST_BYTES / 1e6:g} MB")
    try:
        parts = icalendar.Calendar.from_ical(content.decode("utf-8-sig"), multiple=True)
    except UnicodeDecodeError:
        raise _unreadable(calendar, "it is no text in UTF-8") from None
    except Exception as error:  # noqa: BLE001 - of any kind: the file is a stranger's
        raise _unreadable(calendar, _text(str(error))) from None
    whole = [part for part in parts if part.name == "VCALENDAR"]
    lines = [line.strip() for line in content.upper().splitlines()]
    ends = {lines.count(b"BEGIN:VCALENDAR"), lines.count(b"END:VCALENDAR")}
    if ends != {len(whole)} or not whole:
        raise _unreadable(calendar, "it has no whole VCALENDAR, from its BEGIN to its END")
    if others := {str(each.name) for part in whole for each in part.subcomponents} - READ:
        what = f"it has components of another kind than VEVENT: {_text(', '.join(sorted(others)))}"
        raise _unreadable(calendar, what)
    events = [event for part in whole for event in part.walk("VEVENT")]
    if broken := [text for event in events for text in _faults(event)]:
        more = f"; and {len(broken) - MOST_BROKEN} more" if broken[MOST_BROKEN:] else ""
        raise _unreadable(calendar, "; ".join(broken[:MOST_BROKEN]) + more)
    return EventFile(calendar, hashlib.sha256(content).hexdigest(), tuple(whole))


def _unreadable(calendar: Calendar, why: str) -> BadInput:
    how = "correct the calendar, or export it again"
    return BadInput(f"cannot be read: {why}", file=calendar.file, how=how)


def _faults(event: Component) -> Iterator[str]:
    """Sentences on what makes an event unclear."""
    name = f"event '{_text(str(event.get('SUMMARY', '')))[:SUMMARY_LETTERS]}'"
    faults = [(key, text) for key, text in event.errors if str(key).upper() in NEEDED]
    yield from (f"{name}: {key}: {_text(str(text))}" for key, text in faults)
    broken = {str(key).upper() for key, _ in faults}
    if "DTSTART" not in event and "DTSTART" not in broken:
        yield f"{name} has no DTSTART"
    for key in TIMES:
        for value in _several(event.get(key)) if key not in broken else ():
            zone = value.params.get("TZID")
            if zone and any(isinstance(t, datetime) and t.tzinfo is None for t in _times(value)):
                yield f"{name}: {key}: the time zone '{_text(str(zone))}' is not known"
    if not broken:
        yield from _impossible(event, name)


def _impossible(event: Component, name: str) -> Iterator[str]:
    """Sentences on an event that ends before it begins, or recurs too often."""
    begin, end = (event.get(key) for key in ("DTSTART", "DTEND"))
    if begin is not None and end is not None:
        kinds = {isinstance(each.dt, datetime) for each in (begin, end)}
        aware = {getattr(each.dt, "tzinfo", None) is not None for each in (begin, end)}
        if len(kinds) == len(aware) == 1 and end.dt < begin.dt:
            yield f"{name} ends before it begins"
    for rule in _several(event.get("RRULE")):
        if often := TOO_OFTEN.intersection(map(str, rule.get("FREQ", ()))):
            yield f"{name} recurs {min(often)}, which no window does"
        an_hour = math.prod(len(rule.get(key) or (0,)) for key in ("BYMINUTE", "BYSECOND"))
        if an_hour > MOST_AN_HOUR:
            yield f"{name} recurs {an_hour} times an hour, and at most {MOST_AN_HOUR} are read"


def _several(value: Component) -> list[Component]:
    """Values of a property that an event may have once, several times or not at all."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _times(value: Component) -> list[Component]:
    """Times of a property: one, or those of a list such as EXDATE."""
    return [each.dt for each in value.dts] if hasattr(value, "dts") else [value.dt]


def _categories(part: Component) -> Iterator[str]:
    for each in _several(part.get("CATEGORIES")):
        names = each.cats if hasattr(each, "cats") else str(each).split(",")
        yield from (text for name in names if (text := _text(str(name)).lower()))


def _locations(text: str) -> Iterator[str]:
    """Names of a LOCATION, between commas, semicolons or line breaks."""
    for line in text.splitlines():
        for name in line.replace(";", ",").split(","):
            if shown := _text(name):
                yield shown


def _text(value: str) -> str:
    """Text of a calendar in one line; a control character would forge a row of the history."""
    return "".join(letter for letter in " ".join(value.split()) if letter.isprintable())
