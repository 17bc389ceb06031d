"""System data: release and model, serial number, clock, free flash space, CPU and memory."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from napalm_cloudengine.displays.block import LabelledDisplay
from napalm_cloudengine.displays.lines import DisplayAnswer, DisplayLine, PrintedLine
from napalm_cloudengine.displays.table import REFERENCE, DisplayTable, Form

VERSION_COMMAND = "display version"
# Lines of the system only: LLDP shows the first two of them for a neighbour, too.
VERSION_V300 = LabelledDisplay(
    """\
Huawei Versatile Routing Platform Software
YunShan OS, Version {version} ({release:*})
Copyright (C) {years} Huawei Technologies Co., Ltd.
HUAWEI {model:*} uptime is {uptime:*}""",
    also="YunShan OS, Version {version} ({release:*}){rest:*}",
    source=REFERENCE.format("display version"),
)
VERSION_V200 = LabelledDisplay(
    VERSION_V300.text.replace("YunShan OS,", "VRP (R) software,"),
    also=VERSION_V300.also.replace("YunShan OS,", "VRP (R) software,"),
    source="outputs of V200 switches that public parsers are tested with",
    confirmed=False,  # by the vendor
)
_UPTIME = re.compile(
    r"(?:(?P<d>\d+) days?)?(?:, )?(?:(?P<h>\d+) hours?)?(?:, )?(?:(?P<m>\d+) minutes?)?", re.ASCII
)

SERIAL_COMMAND = "display device esn"
SERIAL = LabelledDisplay(
    " ESN of slot {slot}: {serial}",
    also=" ESN of {slot:*}: {serial:*}\n ESN : {serial:*}",
    source="clients of CloudEngine switches",
    confirmed=False,  # by the reference, which shows the command alone
)

_RULE = "-" * 80
_STATUS = "{name}'s Device status:"
BOARDS = DisplayTable(
    "display device",
    {
        "": Form(
            source=REFERENCE.format("display device") + ", first example",
            head=f"""\
{_STATUS}
{_RULE}
Slot  Card   Type                     Online   Power Register     Alarm     Primary
{_RULE}""",
            row="{slot:<5d} {card:<6} {model:<24} {online:<8} {power:<5} {register:<12} "
            "{alarm:<9} {primary}",
            foot=_RULE,
        )
    },
    cells={"online": re.compile("Present|Offline")},
)

CLOCK_COMMAND = "display clock"
CLOCK = LabelledDisplay(
    """\
{time:*}
{weekday}
Time Zone({zone:*}) : UTC{offset:*}""",
    source=REFERENCE.format("display clock"),
)
_TIME = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.\d+)?(?: ?([+-]\d\d:\d\d))?", re.ASCII)
_OFFSET = re.compile(r"(?:([+-])(\d\d):(\d\d)(?::\d\d)?)?", re.ASCII)

FILES = DisplayTable(
    "dir",
    {
        "": Form(
            source=REFERENCE.format("dir"),
            head="Directory of {folder}\n\n"
            "  Idx  Attr     Size(Byte)  Date        Time       FileName",
            row="{index:>5d}  {attributes}  {size:>13}  {at:*}   {name}",
        )
    },
    cells={"at": re.compile(r"[A-Z][a-z]{2} \d\d \d{4} \d\d:\d\d:\d\d", re.ASCII)},
)
FREE = LabelledDisplay(
    "{total:,d} KB total ({free:,d} KB free)",
    also="{total:,d} KB total available ({free:,d} KB free)",  # older VRP8
    source=REFERENCE.format("dir"),
)

_THRESHOLDS = (
    "Overload threshold:  {overload:d}%, Overload clear threshold:  {clear:d}%, Duration: "
)
_V200_SOURCE = "outputs of V200 switches in public notes and parsers"
# V300 has no `display cpu` beside `display cpu-usage`; V200 has the former.
CPU_COMMANDS = ("display cpu-usage", "display cpu")
_USAGE = """\
CPU utilization for five seconds: {five_seconds:d}%, one minute: {one_minute:d}%, \
five minutes: {five_minutes:d}%.
Max CPU Usage :                {most:d}%
Max CPU Usage Stat. Time : {most_at:*}
"""
CPU_V300 = LabelledDisplay(  # without the usage of each core
    f"""\
Slot: {{slot}}    CPU:{{cpu}}
CPU utilization statistics at {{at:*}}
System CPU Using Percentage :  {{percent:d}}%
Dataplane CPU Using Percentage :   {{dataplane:d}}%
{_USAGE}\
State: {{state}}
{_THRESHOLDS} {{duration}}""",
    source=REFERENCE.format("display cpu-usage"),
)
CPU_V200 = LabelledDisplay(  # without the usage of each service and core
    f"""\
CPU utilization statistics at {{at:*}}
System CPU Using Percentage :  {{percent:d}}%
{_USAGE}\
State: {{state}}
{_THRESHOLDS} {{duration}}""",
    source=_V200_SOURCE,
    confirmed=False,  # by the vendor
)

MEMORY_COMMAND = "display memory"
MEMORY_V300 = LabelledDisplay(
    f"""\
Slot: {{slot}}   CPU: {{cpu}}
Total Physical Available Memory: {{total:d}} Kbytes
Total Physical Memory Used: {{used:d}} Kbytes
Physical Memory Using Percentage: {{percent:d}}%
State: {{state}}
{_THRESHOLDS}{{duration}}
{"-" * 89}""",
    also="Total Physical Memory: {total:d} Kbytes",  # in `display health` of the same reference
    source=REFERENCE.format("display memory"),
)
MEMORY_V200 = LabelledDisplay(  # without the memory of each service
    f"""\
Memory utilization statistics at {{at:*}}
System Total Memory: {{total:d}} Kbytes
Total Memory Used: {{used:d}} Kbytes
Memory Using Percentage: {{percent:d}}%
State: {{state}}
{_THRESHOLDS}{{duration}}""",
    source=_V200_SOURCE,
    confirmed=False,  # by the vendor
)


@dataclass(frozen=True)
class CpuUsage:
    """Load of the CPU on average of 5 s, 1 min and 5 min, percent."""

    five_seconds: int
    one_minute: int
    five_minutes: int


@dataclass(frozen=True)
class MemoryUsage:
    """Memory of a switch, kbytes as it prints them."""

    total_kbytes: int
    used_kbytes: int


@dataclass(frozen=True)
class SoftwareVersion:
    """Content of `display version`; release: `CE8851 V300R023C00`, uptime_s: -1.0 if not shown."""

    os_version: str
    model: str
    uptime_s: float


def read_version(shown: DisplayAnswer) -> SoftwareVersion:
    """Read YunShan OS (V300) or VRP (V200); raises UnreadableError for anything else."""
    values = VERSION_V300.read(shown) | VERSION_V200.read(shown)
    if "release" not in values:
        raise shown.wrong(1, "no software version")
    release, _, _ = values["release"].partition(")")  # a bracket may follow that of the release
    if "model" not in values:
        return SoftwareVersion(release, "", -1.0)
    match = _UPTIME.match(values["uptime"])
    days, hours, minutes = (int(match[unit] or 0) if match else 0 for unit in "dhm")
    seconds = ((days * 24 + hours) * 60 + minutes) * 60
    return SoftwareVersion(release, values["model"], float(seconds))


def device_named(line: DisplayLine) -> str | None:
    """Return the model or series in the first line of `display device`; None for another line."""
    match = PrintedLine.of(_STATUS).expression.fullmatch(line.text.strip())
    return match[1] if match else None


def read_serial(shown: DisplayAnswer) -> str:
    """Return the first serial number; "" without one."""
    serials = (SERIAL.match(line).get("serial", "").split() for line in shown.lines)
    return next((words[0] for words in serials if words), "")


def read_clock(shown: DisplayAnswer) -> datetime:
    """Read the time with its offset; older releases print the offset only in the time zone's line.

    Raises UnreadableError.
    """
    values = CLOCK.read(shown)
    match = _TIME.fullmatch(shown.lines[0].text.strip()) if shown.lines else None
    if match is None:
        raise shown.wrong(1, "no date and time")
    try:
        if match[2]:
            return datetime.fromisoformat(f"{match[1]}{match[2]}")
        if offset := _OFFSET.fullmatch(values.get("offset", "none")):
            sign, hours, minutes = offset.groups(default="0")
            ahead = timedelta(hours=int(hours), minutes=int(minutes))
            zone = timezone(-ahead if sign == "-" else ahead)
            return datetime.fromisoformat(match[1]).replace(tzinfo=zone)
    except ValueError:
        raise shown.wrong(1, f"{match[0]!r} is no date and time") from None
    raise shown.wrong(1, "a time without its offset from UTC")


def read_free_kbytes(shown: DisplayAnswer) -> int:
    """Return the free space of the file system that `dir` lists; raises UnreadableError."""
    values = FREE.read(shown)
    if "free" not in values:
        raise shown.wrong(max(1, len(shown.rows)), "no line with the free space")
    return int(values["free"])


def read_cpu(shown: DisplayAnswer) -> CpuUsage:
    """Read the load of the CPU, in the form of V300 or V200; raises UnreadableError."""
    values = CPU_V300.read(shown)
    names = ("five_seconds", "one_minute", "five_minutes")
    if not values.keys() >= set(names):
        raise shown.wrong(1, "no CPU utilization for five seconds, one minute and five minutes")
    if wrong := next((name for name in names if values[name] > 100), None):
        raise shown.wrong(1, f"{values[wrong]} % of the CPU")
    return CpuUsage(*(values[name] for name in names))


def read_memory(shown: DisplayAnswer) -> MemoryUsage:
    """Read the memory, in the form of V300 or V200; raises UnreadableError."""
    values = MEMORY_V300.read(shown) | MEMORY_V200.read(shown)
    if not values.keys() >= {"total", "used"}:
        raise shown.wrong(1, "no total and used memory in Kbytes")
    if not 0 < values["used"] <= values["total"]:
        raise shown.wrong(1, f"{values['used']} of {values['total']} Kbytes used")
    return MemoryUsage(values["total"], values["used"])
