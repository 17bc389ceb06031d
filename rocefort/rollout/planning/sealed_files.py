"""Files that determine a plan: the plan has their digests, and they must not change later."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from rocefort.dialects.choose import dialects, load_dialect
from rocefort.errors import BadInput, Refused
from rocefort.models.rollout.plan import Plan, SealedFile
from rocefort.paths import HARDWARE, INVENTORY, PACKAGE, PROFILES, TEMPLATES
from rocefort.rollout import operator

# Files that determine lines, besides the files of each dialect.
DATA_OWNER = "data"
DATA = ((HARDWARE, "*.yaml"), (PROFILES, "*.yaml"))


def shipped() -> tuple[tuple[str, Path, str], ...]:
    """Owners, directories and patterns of all files besides the fabric's that determine lines."""
    own = ((name, *files) for name in dialects() for files in load_dialect(name).files)
    return (*((DATA_OWNER, *files) for files in DATA), *own)


def tool() -> str:
    """Name and version of Rocefort, as a plan has them."""
    return f"rocefort {operator.release()}"


def sealed_files(own: Iterable[Path]) -> tuple[SealedFile, ...]:
    """Every file with its digest. own: the fabric's files, besides those of each fabric."""
    return tuple(SealedFile(name=name, sha256=_digest(path)) for name, path in _named_files(own))


def check_tool(plan: Plan) -> None:
    """Raise Refused if the plan was made by another version of Rocefort."""
    if plan.tool != tool():
        raise Refused(
            f"was made by {plan.tool}, and this is {tool()}",
            where=f"plan {plan.digest[:12]}",
            how="apply it with that version, or plan again",
        )


def check_files(plan: Plan) -> None:
    """Raise Refused if Rocefort or a file has changed since the plan was made."""
    check_tool(plan)
    shipped_names = {name for name, _ in _named_files(())}
    own = (
        Path(file.name) for file in plan.files if file.name not in shipped_names and _is_own(file)
    )
    now = {file.name: file.sha256 for file in sealed_files(own)}
    sealed = {file.name: file.sha256 for file in plan.files}
    for name in sorted({*now, *sealed}):
        if now.get(name) != sealed.get(name):
            what = "is new" if name not in sealed else "has changed" if name in now else "is gone"
            raise Refused(f"{what} since the plan was made", where=name, how="plan again")


def _is_own(file: SealedFile) -> bool:
    return Path(file.name).is_absolute() and Path(file.name).is_file()


def _named_files(own: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    for path in own:
        yield str(path.resolve()), path
    for owner, directory, pattern in shipped():
        for path in sorted(directory.rglob(pattern)):
            if path.is_file() and not path.name.startswith("."):
                yield _name(path, owner, directory), path


def _name(path: Path, owner: str, directory: Path) -> str:
    """File name that does not depend on where Rocefort or an external dialect is installed."""
    if owner == DATA_OWNER:
        return f"{INVENTORY.name}/{directory.name}/{path.relative_to(directory).as_posix()}"
    if path.is_relative_to(TEMPLATES):
        return path.relative_to(TEMPLATES.parent).as_posix()
    if path.is_relative_to(PACKAGE):
        return path.relative_to(PACKAGE.parent).as_posix()
    return f"{owner}:{directory.name}/{path.relative_to(directory).as_posix()}"


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", where=str(path)) from None
