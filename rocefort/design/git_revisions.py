"""Read a fabric or a directory of configurations at a git revision, given as `REV:path`.

A revision provides files, never code. The installed Rocefort derives and renders both sides, so
each difference comes from the described fabric. A fabric comes with the hardware facts, the
profiles and the templates of its site at that revision; the site is found as in a worktree, but not
outside of the revision. Templates are safe to run: their sandbox has limits, and they only read
values of the fabric (`rocefort/dialects/vrp/site_templates.py`). Blobs are read directly, because
`git archive` omits the files of `export-ignore`. Symbolic links are not followed.
"""

from __future__ import annotations

import logging
import re
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from rocefort.base.documents.suggest import nearest
from rocefort.base.documents.syntax_errors import remember_name
from rocefort.base.errors import BadInput, RocefortError, ServiceFailed
from rocefort.base.processes import environment
from rocefort.base.repository import (
    FABRIC_FILE,
    INVENTORY,
    SETTINGS_FILE,
    SHIPPED,
    Site,
    places_of,
    site_of,
)
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.subject import is_hidden

LOG = logging.getLogger(__name__)

LONGEST_S = 60.0  # git reads a few files of the local repository; a hang is a lock or a dead disk
BLOB = re.compile(rb"[0-9a-f]+ blob (\d+)\n")  # header in `git cat-file --batch`
# Set while git runs a hook; with them git does not search the repository from the directory.
OF_A_HOOK = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
NO_WORK_TREE = "must be run in a work tree"  # git's error in a bare repository and inside .git
SYMLINK, SUBMODULE = "120000", "160000"


class NotInGit(BadInput):
    """A path outside of every git repository."""


@dataclass(frozen=True)
class Revision:
    """A path at a revision: `HEAD~1:inventory/heps`, from the top of the work tree."""

    repository: Path
    name: str
    commit: str
    path: str

    def __str__(self) -> str:
        return f"{self.name}:{self.path}"


@dataclass(frozen=True)
class Checkout:
    """Files of a revision in a directory that is removed afterwards."""

    source: Path  # a fabric's file, or a directory of configurations
    is_fabric: bool
    site: Site
    shown: Callable[[str], str]  # replaces a temporary file in a text by `REV:path`

    def derive(self) -> DerivedNetwork:
        """Derive the fabric with the hardware facts and profiles of its site."""
        return derive(self.source, self.site)


def looks_like_revision(text: str) -> bool:
    """Whether an argument names a revision; an existing file of that name has precedence."""
    return ":" in text and not Path(text).exists()


def revision_of(text: str, other: str) -> Revision:
    """Parse the revision of an argument; `REV:` means the path of the other side.

    Raises BadInput without a repository, such a revision, or a path.
    """
    name, _, path = text.partition(":")
    top = top_of(Path(other) if not path and not looks_like_revision(other) else None)
    if not name:
        raise BadInput("no revision before the colon", where=text, how="for example: HEAD~1:")
    commit = commit_of(top, name)
    if not path:
        path = _path_of_other(top, text, other)
    elif path.startswith(("./", "../", "/")):  # as in git: from the current directory, not the top
        path = _below(top, Path(path))
    return Revision(top, name, commit, str(PurePosixPath(path)))


def top_of(fabric: Path | None) -> Path:
    """Top of the repository of a fabric or of another path; without one, of this directory."""
    place = (existing(fabric) if fabric else None) or Path()
    return Path(git(place if place.is_dir() else place.parent, "rev-parse", "--show-toplevel"))


def existing(name: Path) -> Path | None:
    """File or directory of an argument: a path, or a name in the inventory of this site."""
    return next((path for path in places_of(name) if path.exists()), None)


def site_beside(other: str) -> Site | None:
    """Site of the other side, for a directory of configurations that is in none."""
    path = None if looks_like_revision(other) else existing(Path(other))
    return site_of(path) if path else None


def inventories(top: Path) -> list[str]:
    """Inventories of a repository in which a fabric is found by name, from its top.

    First that of the site around the current directory, then that at the top.
    """
    site = site_of(Path.cwd())
    near = site.inventory.resolve() if site else top
    found = [near.relative_to(top).as_posix()] if near.is_relative_to(top) else []
    return [*dict.fromkeys((*found, INVENTORY.name))]


def _path_of_other(top: Path, text: str, other: str) -> str:
    if looks_like_revision(other):
        path = other.partition(":")[2]
        if not path:
            raise BadInput("no path on either side", where=f"{text} {other}", how="give one a path")
        return path
    return _below(top, existing(Path(other)) or Path(other))


def _below(top: Path, path: Path) -> str:
    absolute = path.absolute().parent.resolve() / path.name if path.name else path.resolve()
    if not absolute.is_relative_to(top.resolve()):
        raise BadInput("is not in that repository", file=str(path), how=f"it begins at {top}")
    return str(absolute.relative_to(top.resolve()))


def commit_of(top: Path, name: str) -> str:
    """Id of the commit of a name; raises BadInput for an unknown name."""
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    done = _run(top, *words)
    if done.returncode == 0:
        return done.stdout.decode("ascii").strip()
    if git(top, "rev-parse", "--is-shallow-repository") == "true":
        how = "this clone is shallow and may lack it: git fetch --unshallow"
    else:
        refs = git(top, "for-each-ref", "--format=%(refname:short)").splitlines()
        how = nearest(name, ["HEAD", *refs], "`git log --oneline` lists commits")
        if not refs and _run(top, "rev-parse", "--verify", "--quiet", "HEAD").returncode:
            how = "nothing is committed in this repository yet: git commit"
    raise BadInput("no such revision", where=name, how=how)


@contextmanager
def checked_out(revision: Revision) -> Iterator[Checkout]:
    """Extract the files of a revision; errors name `REV:path` instead of the temporary files."""
    with tempfile.TemporaryDirectory(prefix="rocefort-") as name:
        temporary = re.compile(rf"[^\s:'\"]*{re.escape(Path(name).name)}/")

        def shown(text: str) -> str:
            return temporary.sub(f"{revision.name}:", text)

        try:
            yield _take(revision, Path(name), shown)
        except RocefortError as error:
            for problem in error.problems:
                remember_name(problem.file, shown(problem.file))
            problems = [
                replace(
                    p,
                    subject=shown(p.subject),
                    what=shown(p.what),
                    how=shown(p.how),
                    file=shown(p.file),
                )
                for p in error.problems
            ]
            raise type(error)(problems=problems) from None


def _take(revision: Revision, directory: Path, shown: Callable[[str], str]) -> Checkout:
    named = (
        revision.path,
        *(f"{folder}/{revision.path}" for folder in inventories(revision.repository)),
    )
    sites = [site for path in named for site in _possible_sites(path)]
    parts = {path.as_posix() for site in sites for path in (*_marks(site), *_data(site))}
    blobs = _files(revision, (*named, *parts))
    path, required, is_fabric = _required_paths(revision, named, blobs)
    site = next((each for each in _possible_sites(path) if _is_site(each, blobs)), None)
    data = tuple(folder.as_posix() for folder in _data(site)) if site else ()
    beside = [blob for blob in blobs if any(blob == p or blob.startswith(f"{p}/") for p in data)]
    _write(revision.repository, {p: blobs[p] for p in (*required, *beside)}, directory)
    return Checkout(
        source=directory / path,
        is_fabric=is_fabric,
        site=Site((directory / site.root).resolve()) if site else SHIPPED,
        shown=shown,
    )


def _possible_sites(path: str) -> list[Site]:
    """Folders of a revision that can be the site of a path in it, the nearest first."""
    return [Site(folder) for folder in (Path(path), *Path(path).parents)]


def _marks(site: Site) -> tuple[Path, Path]:
    """Paths that make a folder a site, as in `site_of`."""
    return site.root / SETTINGS_FILE, site.inventory


def _data(site: Site) -> list[Path]:
    return [*(folder for folder, _ in site.data), site.templates, site.code]


def _is_site(site: Site, paths: Iterable[str]) -> bool:
    settings, inventory = (path.as_posix() for path in _marks(site))
    return any(path == settings or path.startswith(f"{inventory}/") for path in paths)


def _files(revision: Revision, paths: Iterable[str]) -> dict[str, str]:
    """Object ids by path of all files at or below some paths of a revision."""
    top = [path for path in paths if path != "."]
    words = ("ls-tree", "-r", "-z", "--full-tree", revision.commit)
    listed = git(revision.repository, *words, *(["--", *top] if revision.path != "." else []))
    blobs = {}
    for entry in filter(None, listed.split("\0")):
        kind, _, path = entry.partition("\t")
        mode, _, blob = kind.split()
        if mode not in (SYMLINK, SUBMODULE) and ".." not in path.split("/"):
            blobs[path] = blob
    return blobs


def _required_paths(
    revision: Revision, named: Iterable[str], paths: Iterable[str]
) -> tuple[str, list[str], bool]:
    """Path of a fabric's file or a directory, the files to extract, and whether it is a fabric."""
    files = set(paths)
    for path in named:
        prefix = "" if path == "." else f"{path}/"
        if path in files:
            return path, [path], True
        if f"{prefix}{FABRIC_FILE}" in files:
            return f"{prefix}{FABRIC_FILE}", [f"{prefix}{FABRIC_FILE}"], True
        configs = [p for p in files if _is_config(p, prefix)]
        if configs:
            return path, sorted(configs), False
    there = any(p.startswith(f"{revision.path}/") for p in files)
    what = "holds no fabric.yaml and no configurations" if there else "no such path"
    how = f"git ls-tree {revision.name} lists what is there; symbolic links are not followed"
    raise BadInput(f"{what} at that revision", where=str(revision), how=how)


def _is_config(path: str, prefix: str) -> bool:
    """Whether a file may be one of a directory of configurations: its content shows it."""
    name = path.removeprefix(prefix)
    return path.startswith(prefix) and "/" not in name and not is_hidden(name)


def _write(repository: Path, blobs: Mapping[str, str], directory: Path) -> None:
    """Write blobs by path."""
    for path, content in _contents(repository, blobs):
        file = directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def contents_at(revision: Revision) -> dict[str, bytes]:
    """Return the content of each file at or below the path of a revision, by path from the top."""
    return dict(_contents(revision.repository, _files(revision, (revision.path,))))


def is_own(top: Path, commit: str) -> bool:
    """Whether a commit is in the history of HEAD, or of a branch of this repository or of origin.

    A commit that only another remote has, such as a fork, is foreign.
    """
    if _run(top, "merge-base", "--is-ancestor", commit, "HEAD").returncode == 0:
        return True
    branches = ("refs/heads", "refs/remotes/origin")
    return bool(git(top, "for-each-ref", "--count=1", f"--contains={commit}", *branches))


def _contents(repository: Path, blobs: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    """Yield blobs by path with their content, all read by one process."""
    if not blobs:
        return
    request = "".join(f"{blob}\n" for blob in blobs.values()).encode()
    answer = _run(repository, "cat-file", "--batch", given=request).stdout
    start = 0
    for path, blob in blobs.items():
        match = BLOB.match(answer, start)
        if not match:  # a partial clone whose remote does not answer
            raise ServiceFailed(
                f"git does not have object {blob[:12]}", where=path, how="git fetch"
            )
        start = match.end() + int(match[1])
        yield path, answer[match.end() : start]
        start += 1  # the line end after each blob


def files_with(top: Path, commit: str, patterns: Iterable[str], names: Iterable[str]) -> list[str]:
    """Files of a commit that match each of some patterns, from the top of the repository.

    names: patterns of their names.
    """
    every = (word for pattern in patterns for word in ("-e", pattern))
    words = ("grep", "-l", "-z", "-E", "--all-match", "--no-color", *every, commit, "--", *names)
    listed = _output(top, _run(top, *words), (0, 1))  # 1: none matches
    return [entry.removeprefix(f"{commit}:") for entry in listed.split("\0") if entry]


@dataclass(frozen=True)
class CommitState:
    """Commit that a file or directory is at, and its path from the top of the work tree.

    uncommitted: whether a tracked file of the work tree, or the path itself, differs from the
    commit; a site's hardware and profiles count too. why: reason why there is no commit.
    """

    path: str
    commit: str = ""
    uncommitted: bool | None = None
    why: str = ""


def commit_state(source: Path) -> CommitState:
    """Return the commit of a fabric or a directory of configurations.

    Outside of git, without git, and before the first commit there is none.
    """
    path = (existing(source) or source).resolve()
    shown = path
    try:
        top = top_of(path).resolve()
        shown = path.relative_to(top)
        commit = commit_of(top, "HEAD")
        status = ("status", "--porcelain")
        changed = git(top, *status, "--untracked-files=no")
        changed = changed or git(top, *status, "--ignored", "--", str(path))
    except (BadInput, ServiceFailed) as error:
        return CommitState(str(shown), why=f"{error.problem.where}: {error.problem.what}")
    return CommitState(str(shown), commit, bool(changed))


def git(where: Path, *words: str) -> str:
    """Run git with some arguments in a directory; raises BadInput or ServiceFailed."""
    return _output(where, _run(where, *words))


def _output(
    where: Path, done: subprocess.CompletedProcess[bytes], good: Collection[int] = (0,)
) -> str:
    """Output of git; raises BadInput or ServiceFailed for an exit code that is not good."""
    if done.returncode in good:
        return done.stdout.decode("utf-8", "surrogateescape").strip("\n")
    errors = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["git failed"]
    place = str(where.absolute())
    if "not a git repository" in errors[0]:
        raise NotInGit("is not in a git repository", where=place, how="name a path instead")
    if NO_WORK_TREE in errors[0]:
        bare = _run(where, "rev-parse", "--is-bare-repository").stdout.strip() == b"true"
        what = "this is a bare repository" if bare else "this is inside a .git directory"
        raise BadInput(what, where=place, how="run it in a work tree")
    raise ServiceFailed(errors[0].removeprefix("fatal: "), where="git", how="fix the repository")


def _run(where: Path, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = ["git", "-C", str(where), *words]
    inherited = {name: value for name, value in environment().items() if name not in OF_A_HOOK}
    quiet = {**inherited, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
    LOG.info("git %s", " ".join(words))
    try:
        return subprocess.run(  # noqa: S603 - fixed words; a name from the user is one argument
            command, input=given, capture_output=True, env=quiet, check=False, timeout=LONGEST_S
        )
    except FileNotFoundError:
        raise ServiceFailed("git is not installed", how="install it, or name a path") from None
    except subprocess.TimeoutExpired:
        raise ServiceFailed(f"git did not end in {LONGEST_S:.0f} s", how="try again") from None
