"""Fabrics that a change in git touches: changed, new and removed ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocefort.base.documents.read import read_text
from rocefort.base.errors import BadInput
from rocefort.base.repository import FABRIC_FILE
from rocefort.change.sides import WORKTREE, fabrics_at, path_at_base, top_of_review
from rocefort.design.git_revisions import Revision, checked_out, commit_of, git
from rocefort.design.load.hardware_catalogue import MODEL
from rocefort.design.load.load import load_fabric
from rocefort.verification.review.results import RemovedFabric

# Files that several fabrics may share: those of a site, below the folder that holds it.
SHARED = re.compile(r"((?:.*/)?)(?:inventory/(?:hardware|profiles|catalogue)|templates)/.+")
HARDWARE = re.compile(r"(?:.*/)?inventory/hardware/[^/]+\.yaml")


@dataclass(frozen=True)
class ChangedFabrics:
    """Fabrics to review by their names, and those of the base that the head no longer has."""

    present: Mapping[str, Path]
    removed: tuple[RemovedFabric, ...] = ()


@dataclass(frozen=True)
class _Change:
    """Commits of a change in a repository; head None: the worktree."""

    top: Path
    base: str
    head: str | None


def changed_fabrics(base: str, head: str) -> ChangedFabrics:
    """Return all fabrics that a change touches; an only fabric is reviewed without a change, too.

    Raises BadInput for an unknown repository or revision.
    """
    top = top_of_review(None)
    change = _Change(top, commit_of(top, base), None if head == WORKTREE else commit_of(top, head))
    before, after = fabrics_at(top, change.base), fabrics_at(top, change.head)
    if not before and not after:
        raise BadInput("no fabric", where=str(top), how=f"commit a {FABRIC_FILE} first")
    present = after if len(after) == 1 else list(_touched(change, before, after))
    earlier = {path_at_base(top, change.base, path, change.head)[0] for path in present}
    gone = [path for path in before if path not in after and path not in earlier]
    removed = (_removed(Revision(top, base, change.base, path)) for path in gone)
    return ChangedFabrics({path: top / path for path in present}, tuple(removed))


def _removed(revision: Revision) -> RemovedFabric:
    try:
        with checked_out(revision) as files:
            fabric = load_fabric(files.source).fabric
    except BadInput:  # the base does not parse: nothing more is known of it
        return RemovedFabric(file=revision.path)
    switches = len(fabric.spines) + len(fabric.leaves)
    return RemovedFabric(
        file=revision.path, fabric=fabric.fabric, switches=switches, servers=len(fabric.servers)
    )


def _touched(change: _Change, before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Fabrics of the head that are new, that changed, or whose shared files changed."""
    changed = _changed_files(change)
    shared = [path for path in changed if SHARED.fullmatch(path)]
    for path in after:
        if path not in before or path in changed or any(_uses(change, path, f) for f in shared):
            yield path


def _changed_files(change: _Change) -> set[str]:
    """Paths of all files that differ between both sides."""
    head = [change.head] if change.head else []
    listed = git(change.top, "diff", "--name-only", "--no-renames", "-z", change.base, *head)
    words = ("ls-files", "-z", "--others", "--exclude-standard", "--full-name")
    untracked = "" if head else git(change.top, *words)
    return {*listed.split("\0"), *untracked.split("\0")}


def _uses(change: _Change, path: str, shared: str) -> bool:
    """Whether a shared file can matter to a fabric: it is of its site, and no unused model."""
    site = SHARED.fullmatch(shared)
    if site is None or not path.startswith(site[1]):
        return False
    if not HARDWARE.fullmatch(shared):
        return True
    models = {found["model"] for text in _texts(change, shared) if (found := MODEL.search(text))}
    return not models or any(model in text for text in _texts(change, path) for model in models)


def _texts(change: _Change, path: str) -> Iterator[str]:
    """Text of a file on both sides, where it is there."""
    for commit in (change.base, change.head):
        if commit and git(change.top, "ls-tree", "--full-tree", commit, "--", path):
            yield git(change.top, "show", f"{commit}:{path}")
    if not change.head and (change.top / path).is_file():
        yield read_text(change.top / path)
