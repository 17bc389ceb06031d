"""Read both sides of a review from git: the fabric at the base and at the head."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path

from rocefort.base.documents.read import Document, read_document, read_text
from rocefort.base.errors import BadInput
from rocefort.base.progress import Step
from rocefort.base.repository import FABRIC_FILE, SHIPPED, Site, shortest, site_of
from rocefort.design.derive.derive import DerivedNetwork, derive_document
from rocefort.design.git_revisions import (
    NotInGit,
    Revision,
    checked_out,
    commit_of,
    git,
    inventories,
    top_of,
)
from rocefort.design.load.hardware_catalogue import load_catalogue
from rocefort.design.subject import with_template_lines
from rocefort.models.hardware.hardware import Family
from rocefort.models.network.network import Position, Sources

WORKTREE = "worktree"
ALIKE = 0.5  # smallest share of common lines of a renamed file


@dataclass(eq=False)
class RepositoryNames:
    """Display names of files: the path below a directory, after a prefix such as `main:`."""

    directory: str
    prefix: str
    known: dict[str, str]

    def file(self, name: str) -> str:
        """Display name of a file; files outside of the directory keep their path."""
        if name not in self.known:
            path, top = Path(name).absolute().resolve(), Path(self.directory)
            inside = path.is_relative_to(top)
            self.known[name] = f"{self.prefix}{path.relative_to(top)}" if inside else name
        return self.known[name]

    def position(self, position: Position) -> Position:
        """A position with the display name of its file."""
        return Position(self.file(position.file), position.line, position.column)

    def file_and_line(self, text: str) -> str:
        """`file:line` with the display name of the file."""
        name, _, line = text.rpartition(":")
        return f"{self.file(name)}:{line}" if name else text


@dataclass(frozen=True)
class PlacedSources(Sources):
    """Sources whose files have their names in the repository."""

    names: RepositoryNames = field(default_factory=lambda: RepositoryNames("", "", {}))

    def find(self, device: str, path: str = "") -> Position | None:
        """As `Sources.find`, with the file's name in the repository."""
        entry = super().find(device, path)
        return self.names.position(entry) if entry else None


@dataclass(frozen=True)
class ReviewSide:
    """One side of a review. `derived` is None if it does not parse: `problems` has the reasons."""

    title: str
    names: RepositoryNames
    path: str  # of the fabric, from the top
    document: Document | None
    others: Mapping[str, Document | None]  # hardware and profile files of the repository, by path
    derived: DerivedNetwork | None
    families: Mapping[str, Family]
    problems: tuple[str, ...] = ()

    @cached_property
    def sources(self) -> Sources:
        """Sources with the files' names in the repository."""
        table = self.derived.sources.table if self.derived else {}
        return PlacedSources(table, names=self.names)


@dataclass(frozen=True)
class ReviewSides:
    """Both sides; `base` is None if the fabric is new. `notes`: remarks for the reader."""

    top: Path
    base: ReviewSide | None
    base_title: str
    head: ReviewSide
    notes: tuple[str, ...]

    @property
    def hardware_files(self) -> Mapping[str, str]:
        """Files of the site's models and cards, by model; of both sides."""
        documents = {**(self.base.others if self.base else {}), **self.head.others}
        data = {name: document.data for name, document in documents.items() if document}
        return {
            str(d["model"]): name
            for name, d in data.items()
            if isinstance(d, dict) and "model" in d
        }


def read_sides(fabric: Path, base: str, head: str) -> ReviewSides:
    """Read both sides; raises BadInput for an unknown repository, revision, or path.

    The side of a base that does not parse holds its problems. Such a head raises BadInput.
    """
    top = top_of_review(fabric)
    commit = commit_of(top, base)
    head_commit = None if head == WORKTREE else commit_of(top, head)
    path = _path(top, fabric, head_commit)
    notes = list(_state(top, head, head_commit))
    was, note = path_at_base(top, commit, path, head_commit)
    notes += [note] if note else []
    title = f"{base} ({commit[:7]})"
    side = None
    if was is not None:
        with checked_out(Revision(top, base, commit, was)) as files:
            root = _root_of(files.source, was)
            side = _review_side(root, files.site, was, title, f"{base}:", may_fail=True)
    if head_commit is None:
        name = f"{WORKTREE} of {top.name}"
        site = site_of(top / path) or SHIPPED
        newer = _review_side(top, site, path, name, "", may_fail=False)
    else:
        with checked_out(Revision(top, head, head_commit, path)) as files:
            root = _root_of(files.source, path)
            name = f"{head} ({head_commit[:7]})"
            newer = _review_side(root, files.site, path, name, "", may_fail=False)
    return ReviewSides(top, side, title, newer, tuple(notes))


def _root_of(source: Path, path: str) -> Path:
    """Top directory of a checkout."""
    return source.parents[len(Path(path).parts) - 1].resolve()


def top_of_review(fabric: Path | None) -> Path:
    """Top of the repository: the fabric's, or the one around the current directory."""
    try:
        return top_of(fabric)
    except NotInGit as error:
        how = "a review compares two revisions: run it where the fabric is in git"
        raise BadInput(error.problem.what, where=error.problem.where, how=how) from None


def fabrics_at(top: Path, commit: str | None) -> list[str]:
    """Paths of all fabrics of a revision, or of the worktree."""
    words = ("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit) if commit else (
        "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name"
    )  # fmt: skip
    listed = dict.fromkeys(git(top, *words).split("\0"))  # a file in a merge is there thrice
    return [p for p in listed if Path(p).name == FABRIC_FILE and (commit or (top / p).is_file())]


def _path(top: Path, fabric: Path, head: str | None) -> str:
    """Path of the fabric at the head, from the top of the repository."""
    fabrics = fabrics_at(top, head)
    absolute = fabric.absolute()
    candidates = [fabric.as_posix(), *(f"{each}/{fabric.as_posix()}" for each in inventories(top))]
    if absolute.resolve().is_relative_to(top.resolve()):
        candidates.insert(0, absolute.resolve().relative_to(top.resolve()).as_posix())
    for path in candidates:
        for candidate in (path, f"{path}/{FABRIC_FILE}".removeprefix("./")):
            if candidate in fabrics or (head is None and (top / candidate).is_file()):
                return candidate
    where = "worktree" if head is None else "head"
    how = f"there is {', '.join(fabrics)}" if fabrics else f"commit a {FABRIC_FILE} first"
    raise BadInput(f"no such fabric at the {where}", where=str(fabric), how=how)


def _state(top: Path, head: str, commit: str | None) -> Iterator[str]:
    """Notes on uncommitted files of the worktree."""
    dirty = git(top, "status", "--porcelain").splitlines()
    files = f"{len(dirty)} file{'s' if len(dirty) > 1 else ''}"
    if commit is None:
        state = f"{files} not committed" if dirty else "all of it committed"
        yield f"the head is the worktree, {state}"
    elif dirty and commit == commit_of(top, "HEAD"):
        yield (
            f"the worktree has {files} not committed, which this review of {head} does not see; "
            f"review them with --head {WORKTREE}"
        )


def path_at_base(top: Path, base: str, path: str, head: str | None) -> tuple[str | None, str]:
    """Path of the fabric at the base, and a note if that path is another or missing."""
    before = fabrics_at(top, base)
    if path in before:
        return path, ""
    try:
        text = git(top, "show", f"{head}:{path}") if head else read_text(top / path)
    except BadInput:  # as it cannot be read, it is like none; its review names the reason
        text = ""
    now = set(fabrics_at(top, head))
    gone = [candidate for candidate in before if candidate not in now]
    alike = {
        candidate: SequenceMatcher(
            None, git(top, "show", f"{base}:{candidate}").splitlines(), text.splitlines()
        ).ratio()
        for candidate in gone
    }
    nearest = max(alike, key=lambda candidate: alike[candidate], default=None)
    if nearest is None or alike[nearest] < ALIKE:
        return None, f"{path} is not at the base: all of it is new"
    return nearest, f"{path} was {nearest} at the base ({alike[nearest]:.0%} of its lines)"


def _review_side(  # noqa: PLR0913 - one side
    root: Path, site: Site, path: str, title: str, prefix: str, *, may_fail: bool
) -> ReviewSide:
    """Read one side from a directory."""
    names = RepositoryNames(str(root.resolve()), prefix, {})
    problems: tuple[str, ...] = ()
    document: Document | None = None
    derived: DerivedNetwork | None = None
    families = dict(load_catalogue().families)
    try:
        document = read_document(shortest(root / path))
        families = dict(load_catalogue(site).families)
        with Step(title):
            derived = with_template_lines(derive_document(document, site))
    except BadInput as error:
        if not may_fail:
            raise
        temporary = re.compile(rf"[^\s:'\"]*{re.escape(root.name)}/")
        problems = tuple(temporary.sub(prefix, str(problem)) for problem in error.problems)
    return ReviewSide(
        title, names, path, document, _side_documents(root, site), derived, families, problems
    )


def _side_documents(root: Path, site: Site) -> dict[str, Document | None]:
    """Hardware and profiles of the site; None for a file that is not a YAML mapping."""
    documents: dict[str, Document | None] = {}
    for path in site.files if site.root.is_relative_to(root) else ():
        name = path.relative_to(root).as_posix()
        try:
            documents[name] = read_document(path)
        except BadInput:
            documents[name] = None
    return documents
