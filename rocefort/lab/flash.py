"""The flash of an emulated switch: the files that `dir` lists and SFTP reads and writes.

`vrpcfg.zip` is the saved configuration, zipped as on a switch (V300R023C00, `save`). Files that a
user puts there are kept in the lab's state directory, if the lab has one.
"""

from __future__ import annotations

import io
import os
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from rocefort.dialects.vrp.tree import tree_text
from rocefort.lab.switch import EmulatedSwitch

STARTUP_FILE = "vrpcfg.zip"  # default name of the saved configuration
INSIDE = "vrpcfg.cfg"  # what the zip holds
FLASH_KBYTES = 2_994_228  # the sample's, `dir`: sizes of flash are not modelled
SYSTEM_KBYTES = 2_192_564  # what the sample has in use
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same bytes for the same configuration


def saved_zip(switch: EmulatedSwitch) -> bytes:
    """The saved configuration as the switch keeps it."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(INSIDE, EPOCH), saved_text(switch))
    return packed.getvalue()


def saved_text(switch: EmulatedSwitch) -> str:
    """The saved configuration as text, with its header."""
    return f"!Software Version {switch.software}\n{tree_text(switch.saved)}"


def files_of(switch: EmulatedSwitch) -> list[tuple[str, int, datetime]]:
    """Name, size in bytes and time of every file, by name."""
    found = {STARTUP_FILE: (len(saved_zip(switch)), switch.changed_at)}
    for path in _kept(switch.flash):
        status = path.stat()
        at = datetime.fromtimestamp(status.st_mtime, UTC)
        found[path.name] = (status.st_size, at)
    return [(name, size, at) for name, (size, at) in sorted(found.items())]


def unpack_flash(switch: EmulatedSwitch) -> Path:
    """Bring the folder of a switch up to date; raises ValueError for one without a folder."""
    if switch.flash is None:
        raise ValueError(f"{switch.name} has no folder")
    switch.flash.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole_bytes(switch.flash / STARTUP_FILE, saved_zip(switch))
    return switch.flash


def write_whole_bytes(path: Path, content: bytes) -> None:
    """Write a file so that it is old or new, whenever the process dies; of mode 0600."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.touch(mode=0o600)
    with fresh.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def _kept(folder: Path | None) -> list[Path]:
    if folder is None or not folder.is_dir():
        return []
    return [
        path
        for path in folder.iterdir()
        if path.is_file() and path.name != STARTUP_FILE and path.name[0] != "."
    ]


def free_kbytes(switch: EmulatedSwitch) -> int:
    """What is free; nothing where a fault has filled the flash."""
    if any(fault.name == "full-flash" for fault in switch.faults):
        return 0
    used = sum(size for _, size, _ in files_of(switch)) // 1024
    return FLASH_KBYTES - SYSTEM_KBYTES - used
