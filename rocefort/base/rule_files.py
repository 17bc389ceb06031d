"""Rules of a site as files, and the permission to load them.

A site's rules are code: `validators/*.py` of its repository. Only the repository that holds the
current directory provides them, in the work tree or at a revision. Its `rocefort.toml` states the
prefix of their ids; without it no rule is loaded.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import Field, ValidationError

from napalm_cloudengine import regular_file
from rocefort.base.errors import BadInput, Problem
from rocefort.base.repository import SETTINGS_FILE, Site, shortest, site_of
from rocefort.models.base import Frozen

FOLDER: Final = "validators"
VARIABLE: Final = "ROCEFORT_SITE_RULES"  # `no`: no rule of a site is loaded
KEY: Final = "rules"
LARGEST_BYTES: Final = 1024 * 1024
_OFF = frozenset({"0", "false", "f", "no", "n", "off"})
_option: list[bool] = []  # of the command line


class RuleSettings(Frozen):
    """Rules of the site in `validators/*.py`; without this table none is loaded."""

    prefix: str = Field(
        pattern="^[A-Z]{4,8}$",
        examples=["PLANT"],
        description="Letters of their ids, such as PLANT in PLANT001: 4 to 8 capitals.",
    )
    limit_s: int = Field(
        default=10, ge=1, le=600, description="Time limit of each rule on a fabric (s)."
    )


@dataclass(frozen=True)
class RuleFiles:
    """Texts of a site's rules by the name that findings have, and their settings."""

    settings: RuleSettings
    texts: Mapping[str, str]


@dataclass(frozen=True)
class RulesRead:
    """Rules of a site, or none; note: a sentence on files that are not loaded."""

    files: RuleFiles | None = None
    note: str = ""


def permit(allowed: bool | None) -> None:
    """Allow or forbid rules of a site in this process; None: as the variable states."""
    _option[:] = [] if allowed is None else [allowed]


def is_permitted() -> bool:
    """Whether rules of a site may be loaded."""
    if _option:
        return _option[0]
    return os.environ.get(VARIABLE, "").strip().lower() not in _OFF


def rules_here() -> RulesRead:
    """Read the rules of the site that holds the current directory; raises BadInput.

    A clone of Rocefort has its own rules in that folder.
    """
    site = site_of(Path.cwd())
    if site is None or site.is_clone:
        return RulesRead()
    folder = rule_folder(site)
    paths = [path for path in sorted(folder.glob("*.py")) if is_rule_file(path.name)]
    if not paths:
        return RulesRead()
    settings = site.root / SETTINGS_FILE
    text = _text(settings) if settings.is_file() else ""
    return rules_of(text, str(shortest(settings)), lambda: _texts(folder, paths))


def rule_folder(site: Site) -> Path:
    """Folder of a site's rules."""
    return site.root / FOLDER


def is_rule_file(name: str) -> bool:
    """Whether a file of the folder can have rules."""
    return name.endswith(".py") and not name.startswith((".", "__"))


def rules_of(settings: str, file: str, texts: Callable[[], Mapping[str, str]]) -> RulesRead:
    """Rules by the text of `rocefort.toml`; texts: reads their files. Raises BadInput."""
    if not is_permitted():
        note = f"the rules of {FOLDER}/ are not loaded: --no-site-rules or {VARIABLE} forbids it"
        return RulesRead(note=note)
    found = settings_in(settings, file)
    if found is None:
        note = f"{FOLDER}/ has Python files that are not loaded: {file} has no [{KEY}] prefix"
        return RulesRead(note=note)
    return RulesRead(RuleFiles(found, texts()))


def settings_in(text: str, file: str) -> RuleSettings | None:
    """Return the settings of the rules in the text of a settings file; raises BadInput."""
    try:
        table = tomllib.loads(text).get(KEY)
        return None if table is None else RuleSettings.model_validate(table)
    except (tomllib.TOMLDecodeError, RecursionError, ValidationError, ValueError):
        what = f"[{KEY}] has no valid prefix or limit_s"
        raise BadInput(what, file=file, how='write prefix = "PLANT": 4 to 8 capitals') from None


def _texts(folder: Path, paths: Sequence[Path]) -> dict[str, str]:
    """Texts of files by the name that findings have; raises BadInput, also for a link."""
    how = "copy it: the rules of a site are files of its repository"
    linked = [path for path in (folder, *paths) if path.is_symlink()]
    if linked:
        raise BadInput(problems=[Problem(str(shortest(each)), "is a link", how) for each in linked])
    return {str(shortest(path)): _text(path) for path in paths}


def _text(path: Path) -> str:
    """Text of a file of a site; raises BadInput."""
    try:
        with regular_file.open_regular(path) as file:
            data = file.read(LARGEST_BYTES + 1)
        if len(data) > LARGEST_BYTES:
            raise BadInput("larger than 1 MB", file=str(path), how="split it")
        return data.decode("utf-8-sig")
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise BadInput(what, file=str(path), how="check the file and its rights") from None
    except UnicodeDecodeError:
        raise BadInput("not UTF-8", file=str(path), how="save it as UTF-8") from None
