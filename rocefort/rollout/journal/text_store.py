"""Store of baseline texts beside the journal, named by their digests, for their owner only."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from napalm_cloudengine import regular_file
from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.models.change.plan import digest_of


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
