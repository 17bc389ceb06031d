"""Read a fabric or a directory of configurations at a git revision, given as `REV:path`.

A revision provides files only, never code or templates. The installed Rocefort derives and renders
both sides, so each difference comes from the described fabric. A fabric comes with the hardware
facts and the profiles of its repository at that revision, in `inventory/hardware` and
`inventory/profiles`. A repository without them gets those that ship with Rocefort. Blobs are read
directly, because `git archive` omits the files of `export-ignore`. Symbolic links are not followed.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from rocefort.child_environment import environment
from rocefort.design.derive.derive import DerivedNetwork, derive_loaded
from rocefort.design.load.hardware_catalogue import load_catalogue
from rocefort.design.load.load import FABRIC_FILE, load_fabric
from rocefort.design.load.profiles import shipped_profiles
from rocefort.errors import BadInput, Problem, RocefortError, ServiceFailed
from rocefort.paths import HARDWARE as SHIPPED_HARDWARE
from rocefort.paths import PROFILES as SHIPPED_PROFILES
from rocefort.steps.fabric.config_directory import CONFIG_ENDINGS, DISPLAY_ENDINGS
from rocefort.syntax_families import FAMILY_FILE

DATA = "inventory"
HARDWARE, PROFILES = f"{DATA}/hardware", f"{DATA}/profiles"
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
    hardware: Path | None  # None: the repository has none; use the shipped ones
    profiles: Path | None
    shown: Callable[[str], str]  # replaces a temporary file in a text by `REV:path`

    def derive(self) -> DerivedNetwork:
        """Derive the fabric with the hardware facts and profiles of its repository."""
        catalogue = load_catalogue(self.hardware or SHIPPED_HARDWARE)
        profiles = shipped_profiles(self.profiles or SHIPPED_PROFILES)
        return derive_loaded(load_fabric(self.source), catalogue, profiles)


def looks_like_revision(text: str) -> bool:
    """Whether an argument names a revision; an existing file of that name has precedence."""
    return ":" in text and not Path(text).exists()


def revision_of(text: str, other: str) -> Revision:
    """Parse the revision of an argument; `REV:` means the path of the other side.

    Raises BadInput without a repository, such a revision, or a path.
    """
    name, _, path = text.partition(":")
    beside = _repository_path(other) if not path else Path()
    top = Path(git(beside if beside.is_dir() else beside.parent, "rev-parse", "--show-toplevel"))
    if not name:
        raise BadInput("no revision before the colon", where=text, how="for example: HEAD~1:")
    commit = commit_of(top, name)
    if not path:
        path = _path_of_other(top, text, other)
    elif path.startswith(("./", "../", "/")):  # as in git: from the current directory, not the top
        path = _below(top, Path(path))
    return Revision(top, name, commit, str(PurePosixPath(path)))


def _repository_path(other: str) -> Path:
    """Path of the other side, to find the repository of `REV:`."""
    if looks_like_revision(other):
        return Path()
    return next((p for p in (Path(other), Path(DATA) / other) if p.exists()), Path())


def _path_of_other(top: Path, text: str, other: str) -> str:
    if looks_like_revision(other):
        path = other.partition(":")[2]
        if not path:
            raise BadInput("no path on either side", where=f"{text} {other}", how="give one a path")
        return path
    return _below(
        top, _repository_path(other) if _repository_path(other) != Path() else Path(other)
    )


def _below(top: Path, path: Path) -> str:
    absolute = path.absolute().parent.resolve() / path.name if path.name else path.resolve()
    if not absolute.is_relative_to(top.resolve()):
        raise BadInput("is not in that repository", where=str(path), how=f"it begins at {top}")
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
        near = get_close_matches(name, ["HEAD", *refs], n=1)
        how = f"did you mean {near[0]!r}?" if near else "`git log --oneline` lists commits"
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
            problems = [
                Problem(shown(p.where), shown(p.what), shown(p.how), p.line) for p in error.problems
            ]
            raise type(error)(problems=problems) from None


def _take(revision: Revision, directory: Path, shown: Callable[[str], str]) -> Checkout:
    blobs = _files(revision, (revision.path, f"{DATA}/{revision.path}", HARDWARE, PROFILES))
    path, required, is_fabric = _required_paths(revision, blobs)
    beside = [p for p in blobs if p.startswith((f"{HARDWARE}/", f"{PROFILES}/"))]
    _write(revision.repository, {p: blobs[p] for p in (*required, *beside)}, directory)
    has_hardware = f"{HARDWARE}/{FAMILY_FILE}" in blobs
    has_profiles = any(p.startswith(f"{PROFILES}/") for p in beside)
    return Checkout(
        source=directory / path,
        is_fabric=is_fabric,
        hardware=directory / HARDWARE if has_hardware else None,
        profiles=directory / PROFILES if has_profiles else None,
        shown=shown,
    )


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


def _required_paths(revision: Revision, paths: Iterable[str]) -> tuple[str, list[str], bool]:
    """Path of a fabric's file or a directory, the files to extract, and whether it is a fabric."""
    files = set(paths)
    for path in (revision.path, f"{DATA}/{revision.path}"):
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
    name = path.removeprefix(prefix)
    return (
        path.startswith(prefix)
        and "/" not in name
        and name.endswith(CONFIG_ENDINGS + DISPLAY_ENDINGS)
    )


def _write(repository: Path, blobs: Mapping[str, str], directory: Path) -> None:
    """Write blobs by path, all read by one process."""
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
        file = directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(answer[match.end() : start])
        start += 1  # the line end after each blob


def git(where: Path, *words: str) -> str:
    """Run git with some arguments in a directory; raises BadInput or ServiceFailed."""
    done = _run(where, *words)
    if done.returncode == 0:
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
    try:
        return subprocess.run(  # noqa: S603 - fixed words; a name from the user is one argument
            command, input=given, capture_output=True, env=quiet, check=False, timeout=LONGEST_S
        )
    except FileNotFoundError:
        raise ServiceFailed("git is not installed", how="install it, or name a path") from None
    except subprocess.TimeoutExpired:
        raise ServiceFailed(f"git did not end in {LONGEST_S:.0f} s", how="try again") from None
