"""What ran before a rollout, kept by its content beside the journal, for its owner alone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from rocefort.errors import BadInput, ServiceFailed
from rocefort.models.rollout.plan import digest_of


@dataclass(frozen=True)
class KeptTexts:
    """Texts in a directory, each in a file that its SHA-256 names; one that is not so is mended.

    A text is kept as the switch shows it: it shows no password, only what it made of one.
    what: they are, for who hears that one cannot be kept.
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
                f"{self.what} cannot be kept: {error.strerror}",
                where=str(self.directory),
                how="nothing is changed without it",
            ) from None
        return digest

    def read(self, digest: str) -> str:
        """A kept text; raises BadInput where it is not there, or not what its name says."""
        path = self.directory / digest
        try:
            text = path.read_bytes().decode()
        except (OSError, UnicodeDecodeError):
            raise BadInput("is not kept, or cannot be read", where=str(path)) from None
        if digest_of(text) != digest:
            raise BadInput("was changed after it was kept", where=str(path))
        return text


def write_whole(path: Path, text: str) -> None:
    """Write a file for its owner alone, so that it is whole and durable, or not there.

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
