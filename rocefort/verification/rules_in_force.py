"""Rules of a site that a command judges by: those of the work tree, or of the base of a review.

Every other command, such as `apply`, `health` and `comment`, judges without them.
"""

from __future__ import annotations

from pathlib import Path

from napalm_cloudengine import regular_file
from rocefort.base import output
from rocefort.base.errors import BadInput
from rocefort.base.repository import CODE, SETTINGS_FILE, Site, site_of
from rocefort.base.rule_files import (
    FOLDER,
    RulesRead,
    is_rule_file,
    rule_folder,
    rules_here,
    rules_of,
)
from rocefort.change.sides import WORKTREE
from rocefort.design.git_revisions import Revision, commit_of, contents_at, is_own
from rocefort.validators.site_rules import read_site_rules, use_site_rules


def judge_by_site_rules() -> None:
    """Judge by the rules of the current site, too, until the command ends; raises BadInput.

    A note names files that are not loaded.
    """
    read = rules_here()
    _use(read)
    if read.note:
        output.write_note(f"note: {read.note}")


def judge_by_base(top: Path, base: str, head: str) -> tuple[str, ...]:
    """Judge a review by the site's rules at its base, until the command ends; raises BadInput.

    The rules of the head are never loaded: a stranger may have written them. Nor are those of a
    base that only another remote has. Returns notes for the reader.
    """
    _use(RulesRead())
    site = site_of(Path.cwd())
    if site is None or not _is_below(site.root, top):
        return ()
    commit = commit_of(top, base)
    settings = _at(top, site, commit, SETTINGS_FILE)
    if settings is None and _at(top, site, commit, str(CODE)) is not None:
        return ()  # a clone of Rocefort, whatever the head looks like
    old, new = _texts_at(top, site, commit), _texts_of_head(top, site, head)
    changed = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    notes = []
    if changed:
        names = ", ".join(changed)
        what = f"the rules of the site change ({names}); this review judges by those of the base"
        notes.append(f"{what}, and runs nothing of the change")
    if not old:
        return tuple(notes)
    if not is_own(top, commit):
        what = (
            f"the rules of {FOLDER}/ at {base} are not loaded: no branch here or of origin has it"
        )
        return (*notes, what)
    file = (_folder(top, site) / SETTINGS_FILE).as_posix()
    text = (settings or b"").decode("utf-8", "replace")
    read = rules_of(text, f"{base}:{file}", lambda: {n: _decoded(n, t) for n, t in old.items()})
    _use(read)
    return (*notes, *([read.note] if read.note else []))


def _use(read: RulesRead) -> None:
    use_site_rules(read_site_rules(read.files) if read.files else None)


def _is_below(root: Path, top: Path) -> bool:
    return root.resolve().is_relative_to(top.resolve())


def _folder(top: Path, site: Site) -> Path:
    """Folder of a site, from the top of its repository."""
    return site.root.resolve().relative_to(top.resolve())


def _at(top: Path, site: Site, commit: str, name: str) -> bytes | None:
    """Content of a file of a site at a commit; None: it has no such file."""
    path = (_folder(top, site) / name).as_posix()
    return contents_at(Revision(top, commit, commit, path)).get(path)


def _texts_at(top: Path, site: Site, commit: str) -> dict[str, bytes]:
    """Files of the site's rules at a commit, by path from the top."""
    folder = (_folder(top, site) / FOLDER).as_posix()
    files = contents_at(Revision(top, commit, commit, folder))
    return {path: content for path, content in files.items() if _is_rule_path(folder, path)}


def _is_rule_path(folder: str, path: str) -> bool:
    name = path.removeprefix(f"{folder}/")
    return path.startswith(f"{folder}/") and "/" not in name and is_rule_file(name)


def _texts_of_head(top: Path, site: Site, head: str) -> dict[str, bytes]:
    if head != WORKTREE:
        return _texts_at(top, site, commit_of(top, head))
    folder = _folder(top, site) / FOLDER
    paths = [path for path in rule_folder(site).glob("*.py") if is_rule_file(path.name)]
    return {(folder / path.name).as_posix(): _content(path) for path in paths}


def _content(path: Path) -> bytes:
    """Content of a file of the work tree, to compare it; empty: it cannot be read."""
    try:
        return regular_file.read_bytes(path)
    except OSError:
        return b""


def _decoded(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput("not UTF-8", file=name, how="save it as UTF-8") from None
