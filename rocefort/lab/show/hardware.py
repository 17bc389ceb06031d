"""`display version`, `device`, `clock`, `startup`, `alarm active`, and `dir`.

Samples: V300R023C00 command reference, System Management and File System Management. Fans and
power supplies, sizes of memory and flash, and patches are not modelled and not shown.
"""

from __future__ import annotations

from datetime import timedelta
from textwrap import wrap

from rocefort.lab.flash import FLASH_KBYTES, STARTUP_FILE, files_of, free_kbytes
from rocefort.lab.show.asked import behind_of
from rocefort.lab.switch import EmulatedSwitch


def product(switch: EmulatedSwitch) -> str:
    """The series that a model belongs to: CE8851-32CQ8DQ-P -> CE8851."""
    return series(switch.hardware)


def series(hardware: str) -> str:
    """The series of a model."""
    return hardware.split("-", maxsplit=1)[0]


def system(hardware: str, software: str) -> str:
    """The system and its release; a V200 names itself in another way than a V300."""
    if software.startswith("V2"):
        return f"VRP (R) software, Version 8.180 ({series(hardware)} {software})"
    return f"YunShan OS, Version 1.23.0.1 ({series(hardware)} {software})"


def described(hardware: str, software: str) -> str:
    """What LLDP says of the system: the first lines of `display version`, without a copyright."""
    first = "Huawei Versatile Routing Platform Software"
    return f"{first}\n{system(hardware, software)}\nHUAWEI {hardware}"


def version(switch: EmulatedSwitch) -> str:
    """`display version`."""
    minutes = int(switch.clock() - switch.booted) // 60
    days, hours = divmod(minutes // 60, 24)
    return (
        "Huawei Versatile Routing Platform Software\n"
        f"{system(switch.hardware, switch.software)}\n"
        f"HUAWEI {switch.hardware} uptime is {days} days, {hours} hours, {minutes % 60} minutes"
    )


def esn(switch: EmulatedSwitch) -> str:
    """`display device esn`."""
    return f" ESN of slot 1: {switch.serial}"


def device(switch: EmulatedSwitch) -> str:
    """`display device`: the one board; rows of fans and power supplies are left out."""
    rule = "-" * 80
    head = "Slot  Card   Type                     Online   Power Register     Alarm     Primary"
    row = f"1     -      {switch.hardware:<24} Present  On    Registered   Normal    Master"
    return "\n".join([f"{product(switch)}'s Device status:", rule, head, rule, row, rule])


def clock(switch: EmulatedSwitch) -> str:
    """`display clock`, in UTC: what a time zone is called without one is not confirmed."""
    now = switch.now()
    return f"{now:%Y-%m-%d %H:%M:%S}+00:00\n{now:%A}\nTime Zone(UTC) : UTC+00:00"


def startup(switch: EmulatedSwitch) -> str:
    """`display startup`: the lines of software and configuration; other packages are left out."""
    package = f"flash:/{product(switch)}-{switch.software}.cc"
    rows = (
        ("Configured startup system software", package),
        ("Startup system software", package),
        ("Next startup system software", package),
        ("Startup saved-configuration file", f"flash:/{STARTUP_FILE}"),
        ("Next startup saved-configuration file", f"flash:/{STARTUP_FILE}"),
    )
    return "\n".join(["MainBoard:", *(f"  {name + ':':<43}{value}" for name, value in rows)])


def alarms(switch: EmulatedSwitch) -> str:
    """`display alarm active`; the date stands above the time, the description is wrapped."""
    rule = "-" * 80
    rows: list[str] = []
    for alarm in behind_of(switch).alarms(switch.name):
        at = switch.now() - timedelta(seconds=alarm.seconds_ago)
        lines = wrap(alarm.text, 38, break_long_words=True) or [""]
        first = f"{alarm.number:<10} {alarm.alarm:<10} {alarm.severity:<8} {at:%Y-%m-%d} {lines[0]}"
        second = f"{'':31}{at:%H:%M:%S}   {lines[1] if len(lines) > 1 else ''}"
        rows += [first, second.rstrip(), *(f"{'':42}{line}" for line in lines[2:])]
    head = "Sequence   AlarmId    Severity Date Time  Description"
    return "\n".join([rule, head, rule, *rows])


def directory(switch: EmulatedSwitch) -> str:
    """`dir` of flash:/: the files that SFTP sees; the switch's own folders are left out."""
    rows = [
        f"{index:>5}  -rw-  {size:>13,}  {at:%b %d %Y %H:%M:%S}   {name}"
        for index, (name, size, at) in enumerate(files_of(switch))
    ]
    head = "  Idx  Attr     Size(Byte)  Date        Time       FileName"
    total = f"{FLASH_KBYTES:,} KB total ({free_kbytes(switch):,} KB free)"
    return "\n".join(["Directory of flash:/", "", head, *rows, "", total])
