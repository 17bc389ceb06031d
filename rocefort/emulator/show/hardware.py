"""`display version`, `device`, `clock`, `startup`, `alarm active`, and `dir`.

Forms of version, boards, serial number, clock and `dir`: `napalm_cloudengine/displays/system.py`;
samples of the others: V300R023C00 command reference, System Management. Fans and power supplies,
sizes of memory and flash, and patches are not modelled and not shown.
"""

from __future__ import annotations

from datetime import timedelta
from textwrap import wrap

from napalm_cloudengine.displays import system as displays
from rocefort.emulator.show.context import state_source_of
from rocefort.emulator.show.flash import FLASH_KBYTES, STARTUP_FILE, files_of, free_kbytes
from rocefort.emulator.switch.switch import EmulatedSwitch


def product(switch: EmulatedSwitch) -> str:
    """Return the series that a model belongs to: CE8851-32CQ8DQ-P -> CE8851."""
    return series(switch.hardware)


def series(hardware: str) -> str:
    """Return the series of a model."""
    return hardware.split("-", maxsplit=1)[0]


def _version(hardware: str, software: str, **uptime: str) -> str:
    """Return lines of `display version`; V200 and V300 print the system name differently."""
    block, number = displays.VERSION_V300, "1.23.0.1"
    if software.startswith("V2"):
        block, number = displays.VERSION_V200, "8.180"
    release = f"{series(hardware)} {software}"
    return block.write({"version": number, "release": release, "model": hardware, **uptime})


def described(hardware: str, software: str) -> str:
    """Return the LLDP system description: `display version` without a copyright."""
    return f"{_version(hardware, software)}\nHUAWEI {hardware}"


def version(switch: EmulatedSwitch) -> str:
    """`display version`, without a copyright."""
    minutes = int(switch.clock() - switch.booted) // 60
    days, hours = divmod(minutes // 60, 24)
    uptime = f"{days} days, {hours} hours, {minutes % 60} minutes"
    return _version(switch.hardware, switch.software, uptime=uptime)


def esn(switch: EmulatedSwitch) -> str:
    """`display device esn`."""
    return displays.SERIAL.write({"slot": 1, "serial": switch.serial})


def device(switch: EmulatedSwitch) -> str:
    """`display device`: the one board, without rows of fans and power supplies."""
    board = {"slot": 1, "card": "-", "model": switch.hardware, "online": "Present", "power": "On"}
    row = board | {"register": "Registered", "alarm": "Normal", "primary": "Master"}
    return displays.BOARDS.write([row], name=product(switch))


def clock(switch: EmulatedSwitch) -> str:
    """`display clock`, in UTC: the name of the default time zone is not confirmed."""
    now = switch.now()
    time = f"{now:%Y-%m-%d %H:%M:%S}+00:00"
    return displays.CLOCK.write(
        {"time": time, "weekday": f"{now:%A}", "zone": "UTC", "offset": "+00:00"}
    )


def startup(switch: EmulatedSwitch) -> str:
    """`display startup`: the lines of software and configuration, without other packages."""
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
    """`display alarm active`; the date is above the time, the description is wrapped."""
    rule = "-" * 80
    rows: list[str] = []
    for alarm in state_source_of(switch).alarms(switch.name):
        at = switch.now() - timedelta(seconds=alarm.seconds_ago)
        lines = wrap(alarm.text, 38, break_long_words=True) or [""]
        first = f"{alarm.number:<10} {alarm.alarm:<10} {alarm.severity:<8} {at:%Y-%m-%d} {lines[0]}"
        second = f"{'':31}{at:%H:%M:%S}   {lines[1] if len(lines) > 1 else ''}"
        rows += [first, second.rstrip(), *(f"{'':42}{line}" for line in lines[2:])]
    head = "Sequence   AlarmId    Severity Date Time  Description"
    return "\n".join([rule, head, rule, *rows])


def directory(switch: EmulatedSwitch) -> str:
    """`dir` of flash:/: the files that SFTP lists, without the switch's own folders."""
    rows = (
        {
            "index": index,
            "attributes": "-rw-",
            "size": f"{size:,}",
            "at": f"{at:%b %d %Y %H:%M:%S}",
            "name": name,
        }
        for index, (name, size, at) in enumerate(files_of(switch))
    )
    free = displays.FREE.write({"total": FLASH_KBYTES, "free": free_kbytes(switch)})
    return f"{displays.FILES.write(rows, folder='flash:/')}\n\n{free}"
