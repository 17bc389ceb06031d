"""A sealed plan in its file, and the digests of the files that determine it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from napalm_cloudengine import regular_file
from rocefort.base.errors import BadInput, Problem, Refused
from rocefort.base.repository import INVENTORY, PACKAGE, SHIPPED, TEMPLATES, files_in, site_of
from rocefort.dialects.choose import dialects, load_dialect
from rocefort.models.change.plan import Plan, SealedFile
from rocefort.rollout import operator
from rocefort.rollout.journal.text_store import write_whole


def write_plan(plan: Plan, path: Path) -> None:
    """Write a sealed plan atomically, readable by its owner only."""
    try:
        write_whole(path, plan.model_dump_json(indent=1) + "\n")
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", file=str(path)) from None


def read_plan(path: Path) -> Plan:
    """Read a plan and check its seal; raises Refused if it was changed after sealing."""
    try:
        plan = Plan.model_validate_json(regular_file.read_text(path))
    except FileNotFoundError:
        raise BadInput("no such file", file=str(path), how="make it by `rocefort plan`") from None
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", file=str(path)) from None
    except ValidationError as error:
        what = _broken(error) or "is not a plan of this version"
        raise Refused(what, file=str(path), how="plan again") from None
    except UnicodeDecodeError:
        raise Refused("is not a plan of this version", file=str(path), how="plan again") from None
    if plan.digest != plan.computed_digest():
        raise Refused("was changed after it was sealed", file=str(path), how="plan again")
    return plan


def _broken(error: ValidationError) -> str:
    """First sentence on names of a plan that do not agree; "" if the file has another form."""
    texts = (each["msg"] for each in error.errors() if each["type"] == "value_error")
    return "".join([*texts][:1]).removeprefix("Value error, ")


# Files that determine lines, besides the files of each dialect.
DATA_OWNER = "data"


def shipped() -> tuple[tuple[str, Path, str], ...]:
    """Owners, directories and patterns of all files besides the fabric's that determine lines."""
    own = ((name, *files) for name in dialects() for files in load_dialect(name).files)
    return (*((DATA_OWNER, *files) for files in SHIPPED.data), *own)


def tool() -> str:
    """Name and version of Rocefort, as a plan has them."""
    return f"rocefort {operator.release()}"


def sealed_files(own: Iterable[Path]) -> tuple[SealedFile, ...]:
    """Every file with its digest. own: files of the fabric and of its site."""
    return tuple(SealedFile(name=name, sha256=_digest(path)) for name, path in _named_files(own))


def site_files(fabric: Path) -> list[Path]:
    """Return the hardware and profiles of a fabric's own site."""
    site = site_of(fabric)
    return site.own_files if site else []


def check_tool(plan: Plan) -> None:
    """Raise Refused if the plan was made by another version of Rocefort."""
    if plan.tool != tool():
        raise Refused(
            f"was made by {plan.tool}, and this is {tool()}",
            where=f"plan {plan.digest[:12]}",
            how="apply it with that version, or plan again",
        )


def changed_files(plan: Plan) -> list[Problem]:
    """Return the files that have changed since the plan was made, by name.

    Files of its site count too, and each that is new there.
    """
    shipped_names = {name for name, _ in _named_files(())}
    own = (
        Path(file.name) for file in plan.files if file.name not in shipped_names and _is_own(file)
    )
    files = (*own, *site_files(Path(plan.source)))
    now = {file.name: file.sha256 for file in sealed_files(files)}
    sealed = {file.name: file.sha256 for file in plan.files}
    problems = []
    for name in sorted({*now, *sealed}):
        if now.get(name) != sealed.get(name):
            what = "is new" if name not in sealed else "has changed" if name in now else "is gone"
            problems.append(Problem("", f"{what} since the plan was made", "plan again", name))
    return problems


def _is_own(file: SealedFile) -> bool:
    return Path(file.name).is_absolute() and Path(file.name).is_file()


def _named_files(own: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    for path in own:
        yield str(path.resolve()), path
    for owner, directory, pattern in shipped():
        for path in files_in(directory, pattern):
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
        return hashlib.sha256(regular_file.read_bytes(path)).hexdigest()
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", file=str(path)) from None
