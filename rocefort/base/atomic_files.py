"""Write a set of files atomically: all of them, or none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from errno import EISDIR, ENOTDIR
from pathlib import Path
from tempfile import TemporaryDirectory

from rocefort.base.errors import BadInput, Problem, Refused


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
        raise BadInput(f"cannot be written: {error.strerror}", file=str(directory)) from None
    return [directory / name for name in files]


def create_together(files: Mapping[str, str], directory: Path) -> list[Path]:
    """Write new text files by relative path below a directory; if one fails, none is left.

    Raises Refused with every file that exists, BadInput if they cannot be written.
    """
    if problems := [problem for name in files if (problem := _taken(directory, name))]:
        raise Refused(problems=problems)
    if not directory.exists() and not directory.is_symlink():
        return put_together(files, directory)
    created: list[Path] = []
    try:
        with TemporaryDirectory(prefix=".new.", dir=directory) as temporary:
            new = _written(files, Path(temporary) / "new")
            for name in files:
                _create(new / name, directory / name, created)
    except BaseException as error:
        for path in reversed(created):
            path.rmdir() if path.is_dir() else path.unlink()
        if not isinstance(error, OSError):
            raise
        raise BadInput(f"cannot be written: {error.strerror}", file=str(directory)) from None
    return [directory / name for name in files]


def _taken(directory: Path, name: str) -> Problem | None:
    """Return the problem of a path that exists, or whose folder is a file or a link."""
    path = directory / name
    if path.exists() or path.is_symlink():
        return Problem("", "is there already", "move it away first", str(path))
    inside = [directory / part for part in Path(name).parents][:-1]
    for folder in inside:
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            return Problem(
                "", "is a file or a link, not a folder", "move it away first", str(folder)
            )
    return None


def _create(new: Path, path: Path, created: list[Path]) -> None:
    """Give a written file its path; add it and its new folders to `created`."""
    missing = [folder for folder in path.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir()
        created.append(folder)
    path.hardlink_to(new)  # unlike a rename, it fails where the name is taken
    created.append(path)


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
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return directory
