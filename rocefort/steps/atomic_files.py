"""Write a set of files atomically: all of them, or none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from errno import EISDIR, ENOTDIR
from pathlib import Path
from tempfile import TemporaryDirectory

from rocefort.errors import BadInput


def put_together(files: Mapping[str, str], directory: Path) -> list[Path]:
    """Write text files by name into a directory; if one fails, the earlier set stays.

    A new directory appears with all files at once. Raises BadInput.
    """
    try:
        if directory.exists():
            _replace(files, directory)
        else:
            if directory.parent.is_file():
                raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR))
            directory.parent.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(prefix=f".{directory.name}.", dir=directory.parent) as name:
                _written(files, Path(name) / "new").rename(directory)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", where=str(directory)) from None
    return [directory / name for name in files]


def _replace(files: Mapping[str, str], directory: Path) -> None:
    """Replace an earlier set of files; restore it if that fails."""
    for name in files:
        if (directory / name).is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    with TemporaryDirectory(prefix=".new.", dir=directory) as temporary:
        new, old = _written(files, Path(temporary) / "new"), Path(temporary) / "old"
        old.mkdir()
        placed: list[str] = []
        try:
            for name in files:
                if (directory / name).exists():
                    (directory / name).rename(old / name)
            for name in files:
                (new / name).rename(directory / name)
                placed.append(name)
        except OSError:
            for name in placed:
                (directory / name).unlink()
            for path in old.iterdir():
                path.rename(directory / path.name)
            raise


def _written(files: Mapping[str, str], directory: Path) -> Path:
    directory.mkdir()
    for name, text in files.items():
        (directory / name).write_text(text, encoding="utf-8")
    return directory
