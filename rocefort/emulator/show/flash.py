"""Flash of an emulated switch: the files that `dir` lists and SFTP reads and writes.

`vrpcfg.zip` is the saved configuration, zipped as on a switch (V300R023C00, `save`). Uploaded files
are stored in the lab's state directory, if the lab has one.
"""

from __future__ import annotations

import io
import os
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from rocefort.dialects.vrp.interpreter.interpreter import Lines
from rocefort.emulator.show.configuration import whole
from rocefort.emulator.switch.switch import EmulatedSwitch

STARTUP_FILE = "vrpcfg.zip"  # default name of the saved configuration
INSIDE = "vrpcfg.cfg"  # content of the zip
FLASH_KBYTES = 2_994_228  # the sample's, `dir`: sizes of flash are not modelled
SYSTEM_KBYTES = 2_192_564  # used space in the sample
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
