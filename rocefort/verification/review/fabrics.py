"""Fabrics that a change in git touches, and their reviews as one comment."""

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
from rocefort.design.load.documents import load_fabric
from rocefort.design.load.hardware_catalogue import MODEL
from rocefort.models.finding import Severity
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Items, Note, Section, Tone
from rocefort.verification.review.results import RemovedFabric, Reviews
from rocefort.verification.review.sections import details_of
from rocefort.verification.review.verdict import verdict_of, verdict_section

MOST_UNCUT = 10  # verdicts that a short comment has whole; the longest has about 3,000 characters


def headline_of(found: Reviews) -> str:
    """The verdict on all fabrics in a few words."""
    if not found.reviews and not found.removed:
        return "no fabric changes"
    new = [finding for review in found.reviews for finding in review.findings.new]
    errors = sum(finding.severity is Severity.ERROR for finding in new)
    parts = [count_of(errors, "new error") if errors else "no new errors"]
    parts += [f"{count_of(len(found.unreviewed), 'fabric')} not reviewed"] * bool(found.unreviewed)
    parts += [f"{count_of(len(found.removed), 'fabric')} removed"] * bool(found.removed)
    changed = len(found.reviews) + len(found.unreviewed)
    return f"{count_of(changed, 'fabric')} changed: {', '.join(parts)}"


def others_of(found: Reviews) -> tuple[str, ...]:
    """Sentences on the fabrics without a review."""
    failed = (
        f"{fabric.file}: no review: {problem}"
        for fabric in found.unreviewed
        for problem in fabric.problems
    )
    return (*failed, *map(_removal, found.removed))


def reviews_summary(found: Reviews) -> Section:
    """The verdict of each fabric."""
    verdicts = (f"{review.file}: {verdict_of(review)}" for review in found.reviews)
    tone = Tone.ERROR if found.exit_code else Tone.GOOD
    title = f"{found.base} -> {found.head}: {headline_of(found)}"
    return Section(title, (Items((*verdicts, *others_of(found))),), tone=tone)


def reviews_comment(found: Reviews, titles: Mapping[str, str]) -> Section:
    """All reviews as a comment on a pull request: each verdict, then the details of each fabric."""
    ordered = sorted(found.reviews, key=lambda review: not review.failed)
    verdicts = [
        Section(
            f"{review.fabric}: {verdict_of(review)}",
            (verdict_section(review),),
            uncut=number < MOST_UNCUT,
        )
        for number, review in enumerate(ordered)
    ]
    details = [
        Section(f"Details of {review.fabric}", tuple(details_of(review, titles)))
        for review in ordered
    ]
    sides = Note(f"From {found.base} to {found.head}.")
    blocks = (sides, *reviews_summary(found).blocks, *verdicts, *details)
    return Section(f"Rocefort: {headline_of(found)}", blocks)


def _removal(fabric: RemovedFabric) -> str:
    if not fabric.fabric:
        return f"{fabric.file}: the fabric is removed; its file at the base does not parse"
    switches, servers = count_of(fabric.switches, "switch"), count_of(fabric.servers, "server")
    return (
        f"{fabric.file}: the fabric {fabric.fabric} is removed: {switches} and {servers} are no "
        "longer described; the switches keep their configuration"
    )


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
