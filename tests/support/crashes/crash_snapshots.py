"""Site as a controller that dies at a point leaves it, copied while that controller runs on.

One run shows all of its points: no rollout is repeated up to each of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

from crash_site import Fate, Point, Site, WiredSwitches

from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.rollout.journal.journal import head_content
from rocefort.rollout.journal.run_directory import KeptTexts, RunDirectory
from rocefort.rollout.journal.runs import status

SHARED_MEMORY = "-shm"  # of SQLite: the first process that opens a database creates it again
CALLABLES = ("clock", "now")  # of a switch; the clock's value is that of its site


@dataclass(frozen=True)
class Files:
    """Content of a journal's directory by name, as on the disk, and its digest."""

    content: Mapping[str, bytes]
    digest: str

    def write(self, directory: Path) -> None:
        """Write the files into another directory."""
        for name, content in self.content.items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


@dataclass(frozen=True)
class Snapshot:
    """One point of a controller process.

    site: a copy with all that the switches hold, the clock, and the logs. sessions: switch and
    number of those that end with the controller.
    """

    number: int
    point: Point
    site: Site
    sessions: tuple[tuple[str, int], ...]
    files: Files

    def dead(self, directory: Path) -> Site:
        """Site after the controller's death; its journal files are written to another directory."""
        site = self.site.copy(directory / self.site.journal.name)
        for device, session in self.sessions:
            site.switches[device].close_session(session)
        return site


class Camera:
    """Recorder of a site's snapshots at every point of a controller process."""

    def __init__(
        self, site: Site, switches: WiredSwitches, fate: Fate, snapshots: list[Snapshot]
    ) -> None:
        self.site, self.switches, self.fate, self.snapshots = site, switches, fate, snapshots
        self._files = Files({}, "")

    def take(self) -> None:
        """Take a snapshot; most points are lines on switches, which do not change the files."""
        content = files_of(self.site.journal.parent)
        if content != self._files.content:
            digests = [(name, hashlib.sha256(each).digest()) for name, each in content.items()]
            self._files = Files(content, hashlib.sha256(repr(digests).encode()).hexdigest())
        site, sessions = self.site.copy(self.site.journal), self.switches.open_sessions()
        fate = self.fate
        self.snapshots.append(Snapshot(fate.points, fate.last, site, sessions, self._files))


def files_of(directory: Path) -> dict[str, bytes]:
    """All files of a directory and of its folders."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and not path.name.endswith(SHARED_MEMORY)
    }


def switch_state(switch: EmulatedSwitch) -> dict[str, object]:
    """All values of a switch by field; for a trial's timer the time left.

    A switch has no other use of its clock here: no configuration is locked, no session is idle.
    """
    trial = switch.trial and replace(switch.trial, deadline=switch.trial.deadline - switch.clock())
    own = {each.name: getattr(switch, each.name) for each in fields(switch)} | {"trial": trial}
    return {name: value for name, value in own.items() if name not in CALLABLES}


def site_state(site: Site) -> dict[str, object]:
    """State that a dead controller leaves behind, by name; for its journal the contents.

    Left out: when a row was written, which nothing but a person reads, and so the link, which
    covers it; that the links are sound is judged. The lock's file: the kernel frees the lock.
    """
    values = {f.name: getattr(site, f.name) for f in fields(site) if f.name[0] != "_"}
    reading = status(site.journal)
    texts = KeptTexts(RunDirectory.of_journal(site.journal).texts).directory
    head, _ = head_content(RunDirectory.of_journal(site.journal).head.read_bytes())
    return values | {
        "switches": {name: switch_state(switch) for name, switch in site.switches.items()},
        "clocks": {name: switch.clock() for name, switch in site.switches.items()},
        "journal": [(each.number, each.plan, each.event) for each in reading.entries],
        "damage": reading.damage,
        "head": head,
        "texts": files_of(texts),
    }
