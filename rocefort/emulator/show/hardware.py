"""`display version`, `device`, `clock`, `startup`, `alarm active`, CPU, memory, and the flash.

`vrpcfg.zip` is the saved configuration, zipped as on a switch (V300R023C00, `save`). Uploaded files
are stored in the lab's state directory, if the lab has one.

Forms of version, boards, serial number, clock, CPU, memory and `dir`:
`napalm_cloudengine/displays/system.py`, of fans, power supplies, temperatures and optical modules
`hardware.py` next to it; samples of the others: V300R023C00 command reference, System Management.
Load of the CPU, memory, size of the flash, fans, power supplies and temperatures are constants of
samples, and so is the power of a module; a port that is down receives no light. Patches are not
modelled and not shown.
"""

from __future__ import annotations

import io
import os
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from textwrap import wrap

from napalm_cloudengine.displays import hardware as parts
from napalm_cloudengine.displays import system as displays
from rocefort.dialects.vrp.commands.catalogue import family_of
from rocefort.dialects.vrp.interpreter.interpreter import Lines
from rocefort.emulator.show.configuration import whole
from rocefort.emulator.show.context import state_source_of
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.device.interface import kind_of
from rocefort.models.hardware.hardware import SyntaxFamily

STARTUP_FILE = "vrpcfg.zip"  # default name of the saved configuration
INSIDE = "vrpcfg.cfg"  # content of the zip
FLASH_KBYTES = 2_994_228  # the sample's, `dir`: sizes of flash are not modelled
SYSTEM_KBYTES = 2_192_564  # used space in the sample
# Of the sample of `display health`, a CE6866: an idle switch.
IDLE = {"five_seconds": 3, "one_minute": 2, "five_minutes": 2, "percent": 3, "most": 17}
MEMORY_KBYTES = {"total": 27_700_820, "used": 7_148_360, "percent": 25}
LIMITS = {"overload": 90, "clear": 75, "duration": "60s"}
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same bytes for the same configuration


def saved_zip(switch: EmulatedSwitch) -> bytes:
    """Return the saved configuration as a zip, as the switch stores it."""
    return _zipped(INSIDE, saved_text(switch))


def _zipped(inside: str, text: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(inside, EPOCH), text)
    return packed.getvalue()


def saved_text(switch: EmulatedSwitch) -> str:
    """Return the saved configuration as text, with its header."""
    return _with_header(switch, switch.saved)


def _with_header(switch: EmulatedSwitch, config: Lines) -> str:
    return f"!Software Version {switch.software}\n{whole(switch, config)}"


def back_up(switch: EmulatedSwitch, name: str) -> None:
    """Write the running configuration to a file of the flash, `.cfg` as text, `.zip` compressed.

    Raises ValueError for a switch without a folder.
    """
    text = _with_header(switch, switch.running)
    zipped = name.casefold().endswith(".zip")
    content = _zipped(f"{name[:-4]}.cfg", text) if zipped else text.encode()
    write_whole_bytes(_folder(switch) / name, content)


def files_of(switch: EmulatedSwitch) -> list[tuple[str, int, datetime]]:
    """Return name, size in bytes and time of every file, by name."""
    files = {STARTUP_FILE: (len(saved_zip(switch)), switch.changed_at)}
    for path in _kept_files(switch.flash):
        status = path.stat()
        at = datetime.fromtimestamp(status.st_mtime, UTC)
        files[path.name] = (status.st_size, at)
    return [(name, size, at) for name, (size, at) in sorted(files.items())]


def unpack_flash(switch: EmulatedSwitch) -> Path:
    """Update the folder of a switch; raises ValueError for one without a folder."""
    folder = _folder(switch)
    write_whole_bytes(folder / STARTUP_FILE, saved_zip(switch))
    return folder


def _folder(switch: EmulatedSwitch) -> Path:
    if switch.flash is None:
        raise ValueError(f"{switch.name} has no folder")
    switch.flash.mkdir(mode=0o700, parents=True, exist_ok=True)
    return switch.flash


def write_whole_bytes(path: Path, content: bytes) -> None:
    """Write a file atomically, with mode 0600: a crash leaves the old or the new content."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.touch(mode=0o600)
    with fresh.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def _kept_files(folder: Path | None) -> list[Path]:
    if folder is None or not folder.is_dir():
        return []
    return [
        path
        for path in folder.iterdir()
        if path.is_file() and path.name != STARTUP_FILE and path.name[0] != "."
    ]


def free_kbytes(switch: EmulatedSwitch) -> int:
    """Return free kbytes; 0 if a fault has filled the flash."""
    if any(fault.name == "full-flash" for fault in switch.faults):
        return 0
    used = sum(size for _, size, _ in files_of(switch)) // 1024
    return FLASH_KBYTES - SYSTEM_KBYTES - used


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


FANS = 2
NO_LIGHT = -40.0  # dBm, of a sample
LIGHT = {"temperature": [33.25], "voltage": [3.30]}  # of a sample, as the lanes below
LANES = {"bias": [45.39, 60.52], "rx_power": [1.17, -0.91], "tx_power": [1.69, 1.23]}
# Of the samples: name, status, thresholds and value of a sensor.
V200_SENSORS = (("Outlet-1(LSW)", "NORMAL", "58", "--", "36"), ("CPU", "NORMAL", "95", "100", "45"))
V300_SENSORS = (("TEMP_A", "Normal", "75", "85", "38"), ("CPU", "Normal", "108", "115", "39"))
SENSOR = ("name", "status", "major", "fatal", "celsius")


def _form(switch: EmulatedSwitch) -> str:
    return "v200" if _is_v200(switch) else ""


def fans(switch: EmulatedSwitch) -> str:
    """`display device fan`: constants, without rows of single rotors."""
    common = {"present": "YES", "register": "YES", "status": "Normal", "mode": "Auto"}
    common |= {"number": "[1-4]" if _is_v200(switch) else "[ 1 ]", "speed": "43%(10700)"}
    rows = [
        {"slot": "1" if number == 1 else "", "fan": f"FAN{number}", **common}
        | {"airflow": "Front-to-Back"}
        for number in range(1, FANS + 1)
    ]
    return parts.FANS.write(rows, _form(switch))


def power(switch: EmulatedSwitch) -> str:
    """`display device power`: constants, without the fans of the power supplies."""
    common = {"present": "YES", "mode": "AC", "state": "Supply", "volt": "12.0", "rated": "600"}
    rows = [
        {"slot": "1", "name": "PWR1", **common, "ampere": "9.8", "actual": "118"},
        {"slot": "", "name": "PWR2", **common, "ampere": "13.4", "actual": "159"},
    ]
    return parts.POWER.write(rows, _form(switch))


def temperatures(switch: EmulatedSwitch) -> str | None:
    """`display device temperature` of V300: constants; None: V200 lacks it."""
    return None if _is_v200(switch) else _temperatures(switch)


def all_temperatures(switch: EmulatedSwitch) -> str | None:
    """`display device temperature all` of V200: constants; None: V300 lacks it."""
    return _temperatures(switch) if _is_v200(switch) else None


def _temperatures(switch: EmulatedSwitch) -> str:
    own = {"board": switch.hardware, "card": "--", "minor": 70, "fan_low": 57, "fan_high": 60}
    rows = [
        {"slot": "1" if number == 1 else "", "sensor": number, **own}
        | dict(zip(SENSOR, values, strict=True))
        for number, values in enumerate(V200_SENSORS if _is_v200(switch) else V300_SENSORS, 1)
    ]
    return parts.TEMPERATURES.write(rows, _form(switch), slot=1, fru=0)


def optics(switch: EmulatedSwitch) -> str:
    """`display interface transceiver brief`: ports that are up, and others with a description."""
    modules = []
    for state in state_source_of(switch).interfaces(switch.name):
        if kind_of(state.name) != "ethernet" or (state.physical != "up" and not state.description):
            continue
        wide = (state.speed_mbps or 0) >= 100_000
        lanes = {name: values * 2 if wide else values[:1] for name, values in LANES.items()}
        if state.physical != "up":
            lanes["rx_power"] = [NO_LIGHT] * len(lanes["rx_power"])
        modules.append({"interface": state.name, **LIGHT, **lanes})
    return parts.write_optics(modules)


def clock(switch: EmulatedSwitch) -> str:
    """`display clock`, in UTC: the name of the default time zone is not confirmed."""
    now = switch.now()
    time = f"{now:%Y-%m-%d %H:%M:%S}+00:00"
    return displays.CLOCK.write(
        {"time": time, "weekday": f"{now:%A}", "zone": "UTC", "offset": "+00:00"}
    )


def cpu_usage(switch: EmulatedSwitch) -> str | None:
    """`display cpu-usage` of V300: constants, without single cores; None: V200 lacks it."""
    if _is_v200(switch):
        return None
    own = {"slot": 1, "cpu": 0, "dataplane": 0, "state": "Unoverload"}
    return displays.CPU_V300.write({**_cpu(switch), **own})


def cpu(switch: EmulatedSwitch) -> str | None:
    """`display cpu` of V200, as `cpu_usage`; None: V300 lacks it."""
    if not _is_v200(switch):
        return None
    return displays.CPU_V200.write({**_cpu(switch), "state": "Non-overload"})


def _cpu(switch: EmulatedSwitch) -> dict[str, object]:
    booted = switch.now() - timedelta(seconds=max(0, int(switch.clock() - switch.booted)))
    at = {"at": _moment(switch.now()), "most_at": _moment(booted)}
    return {**IDLE, **LIMITS, **at}


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} {at.microsecond // 1000} ms"


def memory(switch: EmulatedSwitch) -> str:
    """`display memory`: constants."""
    values = {**MEMORY_KBYTES, **LIMITS, "overload": 95}
    if _is_v200(switch):
        own = {"at": _moment(switch.now()), "state": "Non-overload"}
        return displays.MEMORY_V200.write({**values, **own})
    return displays.MEMORY_V300.write({**values, "slot": 1, "cpu": 0, "state": "Unoverload"})


def _is_v200(switch: EmulatedSwitch) -> bool:
    return family_of(switch.family) is SyntaxFamily.V200


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
