"""Files of a plan and its runs beside the journal: their paths, and the store of texts."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from napalm_cloudengine import regular_file
from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.models.change.plan import digest_of

JOURNAL, FABRICS = ".journal", ".fabric"


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """Paths of all files of a plan's runs in one journal."""

    plan: Path
    journal: Path

    @classmethod
    def of(cls, plan: Path, journal: Path | None = None) -> RunDirectory:
        """Paths of a plan. journal: only if it has another name than the plan's default."""
        return cls(plan, journal or _sibling_path(plan, JOURNAL))

    @classmethod
    def of_journal(cls, journal: Path) -> RunDirectory:
        """Paths of a journal without its plan."""
        return cls(journal.with_name(journal.name.removesuffix(JOURNAL)), journal)

    @classmethod
    def of_kept_fabric(cls, fabric: Path) -> RunDirectory:
        """Paths of the journal of a stored fabric."""
        folder = fabric.parent
        return cls.of_journal(folder.with_name(folder.name.removesuffix(FABRICS)))

    @property
    def signature(self) -> Path:
        """Signature of the plan, with the name that `ssh-keygen -Y sign` gives it."""
        return _sibling_path(self.plan, ".sig")

    @property
    def rehearsal(self) -> Path:
        """Report of the plan's rehearsal."""
        return _sibling_path(self.plan, ".rehearsal")

    @property
    def back(self) -> Path:
        """Rollback plan."""
        return self.plan.with_name(f"{self.plan.stem}.back.json")

    @property
    def records(self) -> Path:
        """Records of the plan's gates: a database of RDMA runs."""
        return _sibling_path(self.plan, ".rdma.db")

    @property
    def lock(self) -> Path:
        """Lock file of the controller that writes to the journal."""
        return _sibling_path(self.journal, ".lock")

    @property
    def head(self) -> Path:
        """Newest link of the journal's chain."""
        return _sibling_path(self.journal, ".head")

    @property
    def log(self) -> Path:
        """Output of a detached controller."""
        return _sibling_path(self.journal, ".log")

    @property
    def texts(self) -> Path:
        """Folder of the baseline texts, each named by its digest."""
        return _sibling_path(self.journal, ".texts")

    @property
    def fabrics(self) -> Path:
        """Folder of the fabrics of runs at their beginning, each named by its digest."""
        return _sibling_path(self.journal, FABRICS)

    def arguments(self) -> list[str]:
        """Arguments of a command that identify plan and journal."""
        other = self.journal != _sibling_path(self.plan, JOURNAL)
        return [str(self.plan), *(["--journal", str(self.journal)] if other else [])]

    @property
    def approve(self) -> str:
        """Command that approves a wave, without the wave."""
        return shlex.join(["rocefort", "approve", *self.arguments()])


def _sibling_path(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


@dataclass(frozen=True)
class KeptTexts:
    """Texts in a directory, each in a file named by its SHA-256; a damaged file is rewritten.

    A text is stored as the switch shows it, with encrypted passwords only. what: name of the texts
    in errors.
    """

    directory: Path
    what: str = "what runs"

    def keep(self, text: str) -> str:
        """Make a text durable; returns its digest. Raises ServiceFailed."""
        digest = digest_of(text)
        path = self.directory / digest
        try:
            self.directory.mkdir(mode=0o700, exist_ok=True)
            if path.is_file() and path.read_bytes() == text.encode():
                return digest
            write_whole(path, text)
            handle = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise ServiceFailed(
                f"{self.what} cannot be stored: {error.strerror}",
                where=str(self.directory),
                how="check its disk and its permissions; nothing is changed without it",
            ) from None
        return digest

    def read(self, digest: str) -> str:
        """Return a stored text; raises BadInput if it is missing or does not match its name."""
        path = self.directory / digest
        try:
            text = regular_file.read_bytes(path).decode()
        except (OSError, UnicodeDecodeError):
            raise BadInput("is not stored, or cannot be read", file=str(path)) from None
        if digest_of(text) != digest:
            raise BadInput("was changed after it was stored", file=str(path))
        return text


def write_whole(path: Path, text: str) -> None:
    """Write a file atomically and durably, readable by its owner only.

    Raises OSError.
    """
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)  # of a process that died here
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(part, flags, 0o600), "wb") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
