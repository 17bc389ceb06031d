"""Windows of waves: whether a calendar lets a wave begin now, and when it may next.

A wave touches the switches that change, their servers, and the servers that its gate loads. It may
begin if no event that closes one of them overlaps its longest time, with its rollback. Where the
calendar has categories of windows, every switch that changes is also in a window for all that time.
A change of a spine touches everything, because any traffic may pass it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice
from typing import NamedTuple, Self
from zoneinfo import ZoneInfo

from pydantic import Field

from rocefort.base.clock import utc_now
from rocefort.base.errors import BadInput
from rocefort.models.base import Frozen
from rocefort.models.change.plan import Gate, Plan, Wave
from rocefort.models.fabric.calendar import Calendar
from rocefort.models.network.beamlines import switches_of
from rocefort.models.network.network import Network, SwitchRole
from rocefort.models.wording import duration, names_text
from rocefort.rollout.planning.calendar_file import CalendarEvent, EventFile, read_calendar
from rocefort.rollout.planning.waves import worst_s

AHEAD = timedelta(days=366)  # the next time of a wave is searched so far


class WaveWindow(Frozen):
    """Result of the calendars for one wave."""

    wave: str = Field(description="Name of the wave.", examples=["canary"])
    longest_s: float = Field(
        description="Most time of the wave with its rollback, s.", examples=[705.0]
    )
    reason: str = Field(
        description="Why it may not begin now; empty: it may.",
        examples=["'Beam time' (user run) is Mon 2026-11-30 10:00 to 12:00 CET"],
    )
    next_begin: str = Field(
        description="Next time at which it may begin, ISO 8601; empty: none is known.",
        examples=["2026-11-30T12:00:00+01:00"],
    )
    hint: str = Field(description="The same as a sentence; empty: it may begin now.")

    @property
    def sentence(self) -> str:
        """Reason and next time; empty: it may begin now."""
        return f"{self.reason}; {self.hint}" if self.reason else ""


@dataclass(frozen=True, slots=True)
class Location:
    """Location that an event can name.

    switches: whose change touches it. members: switches that belong to it alone, as those of a
    rack. servers: its servers.
    """

    switches: frozenset[str] = frozenset()
    members: frozenset[str] = frozenset()
    servers: frozenset[str] = frozenset()

    def joined(self, other: Location) -> Location:
        """Return both as one location."""
        return Location(
            self.switches | other.switches,
            self.members | other.members,
            self.servers | other.servers,
        )


@dataclass(frozen=True)
class Locations:
    """Locations of a fabric by name, in small letters; a name of several things is all of them."""

    network: Network

    @cached_property
    def servers_of(self) -> Mapping[str, frozenset[str]]:
        """Servers by the leaf that they have a cable to."""
        table: dict[str, set[str]] = {}
        for server in self.network.servers or ():
            for port in server.ports:
                table.setdefault(port.device, set()).add(server.name)
        return {leaf: frozenset(names) for leaf, names in table.items()}

    @cached_property
    def spines(self) -> frozenset[str]:
        """Names of the spines."""
        return frozenset(node.name for node in self.network.role(SwitchRole.SPINE))

    @cached_property
    def everything(self) -> Location:
        """The whole fabric."""
        names = frozenset(node.name for node in self.network.nodes)
        return Location(names, names, frozenset(each.name for each in self.network.servers or ()))

    @cached_property
    def by_name(self) -> Mapping[str, Location]:
        """Every location by its name."""
        table: dict[str, Location] = {}
        for name, location in self._all():
            key = name.casefold()
            table[key] = table[key].joined(location) if key in table else location
        return table

    def _all(self) -> Iterator[tuple[str, Location]]:
        """Yield the fabric, switches, racks, servers, segments and beamlines."""
        network = self.network
        yield network.name, self.everything
        for node in network.nodes:
            location = self._of_switch(node.name)
            yield node.name, location
            if node.rack:
                yield node.rack, location
        for server in network.servers or ():
            yield server.name, self._of_servers([server.name])
        for segment in network.segments or ():
            inside = [each.name for each in network.servers or () if each.segment == segment.name]
            yield segment.name, self._of_servers(inside).joined(Location(frozenset([segment.leaf])))
        for beamline in network.beamlines:
            touching = Location(frozenset(switches_of(network, beamline)))
            yield beamline.name, self._of_servers(beamline.servers).joined(touching)

    def _of_switch(self, name: str) -> Location:
        own = frozenset([name])
        return Location(own, own, self.servers_of.get(name, frozenset()))

    def _of_servers(self, names: Iterable[str]) -> Location:
        chosen = frozenset(names)
        leaves = (leaf for leaf, servers in self.servers_of.items() if servers & chosen)
        return Location(switches=frozenset(leaves), servers=chosen)

    def named(self, locations: Sequence[str]) -> tuple[Location, tuple[str, ...]]:
        """Location of an event, and those that this fabric does not have.

        No location is the whole fabric.
        """
        if not locations:
            return self.everything, ()
        known = [self.by_name[each.casefold()] for each in locations if self._is_known(each)]
        location = Location()
        for each in known:
            location = location.joined(each)
        return location, tuple(each for each in locations if not self._is_known(each))

    def _is_known(self, location: str) -> bool:
        return location.casefold() in self.by_name


class Period(NamedTuple):
    """Time from begin to end; an event of no length has both equal."""

    begin: datetime
    end: datetime


@dataclass(frozen=True)
class WaveOccurrences:
    """Events of one calendar that concern one wave, between two times.

    windows: by switch that changes; None: the calendar has no categories of windows.
    """

    file: EventFile
    closed: tuple[CalendarEvent, ...]
    windows: Mapping[str, tuple[CalendarEvent, ...]] | None

    def free(self, whole: Sequence[Period]) -> list[Period]:
        """Parts of some periods in which the wave may be under way."""
        free = _without(whole, [Period(each.begin, each.end) for each in self.closed])
        for events in (self.windows or {}).values():
            free = _common(free, _merged(Period(each.begin, each.end) for each in events))
        return free


@dataclass(frozen=True)
class WaveWindows:
    """Calendars of a rollout, by the clock of this machine.

    longest_s: most time of a wave with its rollback, on this machine. now: aware. noun, test: what
    may begin, and what loads its servers, in sentences.
    """

    network: Network
    calendars: Sequence[Calendar]
    longest_s: Callable[[Wave], float]
    now: Callable[[], datetime] = utc_now
    noun: str = "wave"
    test: str = "gate"

    @classmethod
    def of(
        cls,
        plan: Plan,
        network: Network,
        calendars: Sequence[Calendar],
        gate_s: Callable[[Gate], float],
        scale: float,
    ) -> Self:
        """Calendars for the waves of a plan.

        gate_s: duration of a gate on this machine. scale: seconds of the switches in one of it.
        """

        def longest_s(wave: Wave) -> float:
            return worst_s(plan, wave, gate_s(wave.gate) * scale) / scale

        return cls(network, calendars, longest_s)

    @cached_property
    def locations(self) -> Locations:
        """Locations of the fabric."""
        return Locations(self.network)

    def __call__(self, wave: Wave) -> str:
        """Reason why a wave may not begin now, with the next time; empty: it may."""
        return self.window(wave).sentence if self.calendars else ""

    def record(self, wave: Wave) -> str:
        """Calendars that a wave is judged by now, as text; empty: none."""
        if not self.calendars:
            return ""
        texts = []
        for calendar in self.calendars:
            try:
                digest = read_calendar(calendar, self.now()).sha256[:12]
            except BadInput as error:
                digest = str(error.problem.what)
            texts.append(f"{calendar.file} ({digest})")
        window = self.window(wave)
        result = window.reason or f"may take {duration(window.longest_s)} and may begin"
        return f"{result}; by calendar {', '.join(texts)}"

    def window(self, wave: Wave) -> WaveWindow:
        """Result for a wave that would begin now."""
        at, seconds = self.now(), self.longest_s(wave)
        end = at + timedelta(seconds=seconds)

        def held(reason: str, begin: datetime | None, hint: str) -> WaveWindow:
            begins = begin.isoformat(timespec="seconds") if begin else ""
            return WaveWindow(
                wave=wave.name, longest_s=seconds, reason=reason, next_begin=begins, hint=hint
            )

        try:
            files = [read_calendar(calendar, at) for calendar in self.calendars]
            near = [self._of_wave(file, wave, at, end) for file in files]
            if _first(near, at, end, seconds) == at:
                return held("", at, "")
            far = [self._of_wave(file, wave, at, at + AHEAD) for file in files]
        except BadInput as error:
            problem = error.problem
            return held(f"calendar {problem.where} {problem.what}", None, problem.how)
        reason = next(filter(None, (self._reason(each, wave, at, end) for each in near)), "")
        begin = _first(far, at, at + AHEAD, seconds)
        zone = files[0].zone
        if begin is None:
            return held(reason, None, f"no time of the next {AHEAD.days} days has room for it")
        local = begin.astimezone(zone)
        return held(reason, local, f"it may begin {moment_text(local)} ({zone.key})")

    def _of_wave(
        self, file: EventFile, wave: Wave, begin: datetime, end: datetime
    ) -> WaveOccurrences:
        """Events of a calendar that concern a wave."""
        closed: list[CalendarEvent] = []
        windows: dict[str, list[CalendarEvent]] = {name: [] for name in wave.devices}
        for event in file.events(begin, end):
            location, unknown = self.locations.named(event.locations)
            if not event.is_window:
                if unknown or self._touches(wave, location):
                    closed.append(event)
                continue
            for name in wave.devices:
                servers = self.locations.servers_of.get(name, frozenset())
                if name in location.members or (servers and servers <= location.servers):
                    windows[name].append(event)
        by_switch = {name: tuple(events) for name, events in windows.items()}
        return WaveOccurrences(file, tuple(closed), by_switch if file.calendar.windows else None)

    def _touches(self, wave: Wave, location: Location) -> bool:
        """Whether a wave touches a location."""
        return self._changes(wave, location) or not location.servers.isdisjoint(wave.gate.servers)

    def _changes(self, wave: Wave, location: Location) -> bool:
        """Whether a switch of a wave is one of a location, or carries its traffic."""
        names = set(wave.devices)
        servers = {server for name in names for server in self.locations.servers_of.get(name, ())}
        return bool(
            names & (self.locations.spines | location.switches) or servers & location.servers
        )

    def _reason(self, events: WaveOccurrences, wave: Wave, begin: datetime, end: datetime) -> str:
        """Why a calendar holds a wave; empty: it does not."""
        zone, longest = events.file.zone, duration((end - begin).total_seconds())
        if events.closed:
            first, *more = events.closed
            rest = f" and {len(more)} more" if more else ""
            later = first.begin > begin
            takes = f", and the {self.noun} may take {longest}" if later else ""
            return f"{self._named(first, wave)} is {span_text(first, zone)}{takes}{rest}"
        for windows in (events.windows or {}).values():
            periods = _merged(Period(each.begin, each.end) for each in windows)
            now = next((each for each in periods if each.begin <= begin < each.end), None)
            if now is None:
                return self._closed(events, begin)
            if now.end < end:
                last = next(each for each in windows if each.end == now.end)
                ends = f"ends {moment_text(now.end.astimezone(zone))}"
                takes = f"the {self.noun} may take {longest}"
                return f"its window {self._named(last, wave)} {ends}, and {takes}"
        return ""

    def _closed(self, events: WaveOccurrences, at: datetime) -> str:
        """Sentence on the switches of a wave that are in no window."""
        table = events.windows or {}
        shut = [n for n, rows in table.items() if not any(e.begin <= at < e.end for e in rows)]
        some = f" for {names_text(shut)}" if len(shut) < len(table) else ""
        return f"no window ({', '.join(events.file.calendar.windows)}) is open{some}"

    def _named(self, event: CalendarEvent, wave: Wave) -> str:
        """Event with its location, and why it concerns a wave that does not change it."""
        location, unknown = self.locations.named(event.locations)
        at, why = f" of {', '.join(event.locations)}" if event.locations else "", ""
        if unknown and not event.is_window:
            why = (
                f" ({', '.join(unknown)} is no place of {self.network.name}, so it counts for all)"
            )
        elif not self._changes(wave, location):
            loaded = (name for name in wave.gate.servers if name in location.servers)
            why = f" (the {self.test} loads {names_text(loaded)})"
        return f"{event.name}{at}{why}"


def moment_text(at: datetime) -> str:
    """Local time with its zone: `Mon 2026-11-30 10:00 CET`."""
    return f"{at:%a %Y-%m-%d %H:%M %Z}"


def span_text(event: CalendarEvent, zone: ZoneInfo) -> str:
    """Local time of an event with its zone; both zones where the clock changes meanwhile."""
    begin, end = event.begin.astimezone(zone), event.end.astimezone(zone)
    zones = f" {begin:%Z}" if begin.tzname() != end.tzname() else ""
    day = f"{end:%H:%M}" if begin.date() == end.date() else f"{end:%a %Y-%m-%d %H:%M}"
    return f"{begin:%a %Y-%m-%d %H:%M}{zones} to {day} {end:%Z}"


def _first(
    calendars: Sequence[WaveOccurrences], begin: datetime, end: datetime, seconds: float
) -> datetime | None:
    """First time from which all calendars are free for so long; None: there is none."""
    free = [Period(begin, end)]
    for each in calendars:
        free = each.free(free)
    longest = timedelta(seconds=seconds)
    return next((each.begin for each in free if each.end - each.begin >= longest), None)


def _merged(periods: Iterable[Period]) -> list[Period]:
    """Periods in order of time; those that overlap or touch are one."""
    merged: list[Period] = []
    for each in sorted(periods):
        if merged and each.begin <= merged[-1].end:
            merged[-1] = Period(merged[-1].begin, max(merged[-1].end, each.end))
        else:
            merged.append(each)
    return merged


def _without(whole: Sequence[Period], closed: Iterable[Period]) -> list[Period]:
    """Parts of periods outside of others; one of no length divides what it is in."""
    cuts, free, first = _merged(closed), [], 0
    for each in whole:
        begin = each.begin
        while first < len(cuts) and cuts[first].end <= begin:
            first += 1
        for cut in islice(cuts, first, None):
            if cut.begin >= each.end:
                break
            if begin < cut.begin:
                free.append(Period(begin, cut.begin))
            begin = max(begin, cut.end)
        if begin < each.end:
            free.append(Period(begin, each.end))
    return free


def _common(some: Sequence[Period], others: Sequence[Period]) -> list[Period]:
    """Times that are in a period of both; each is in order of time."""
    both, left, right = [], 0, 0
    while left < len(some) and right < len(others):
        one, other = some[left], others[right]
        if (begin := max(one.begin, other.begin)) < (end := min(one.end, other.end)):
            both.append(Period(begin, end))
        if one.end <= other.end:
            left += 1
        else:
            right += 1
    return both
