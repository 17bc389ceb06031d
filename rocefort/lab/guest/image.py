"""Images of guests: Debian packages, selected and unpacked, and kept as an image in a cache."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from rocefort.base.errors import ServiceFailed
from rocefort.lab.guest.rootfs import (
    INIT,
    MODULES,
    PROGRAMS,
    TEXTS,
    TRANSFER_PROGRAMS,
    Packages,
    guest_tree,
    new_key,
    unpack_kernel,
)
from rocefort.models.base import Frozen

# linux-image-cloud-amd64 would be smaller; it has no rdma_rxe.
KERNEL = "linux-image-amd64"
# Programs of a guest. Debian's shell and tools are beside busybox: busybox's shell runs its own
# `ip` ahead of the real one, its `timeout` has no group of its own, and its `flock` has no `-E`.
PROGRAMS_OF = (
    "bash",
    "busybox-static",
    "coreutils",
    "dash",
    "dropbear-bin",
    "ethtool",
    "grep",
    "ibverbs-providers",
    "ibverbs-utils",
    "iperf3",
    "iproute2",
    "openssh-sftp-server",
    "perftest",
    "rdma-core",
    "util-linux",
)
TRANSFERS_OF = ("iperf", "lftp", "openssh-client", "proftpd-core", "rsync")  # of suite transfer
TOOLS = ("apt-cache", "apt-get", "dpkg-deb")
FIELD = re.compile(r"^(?P<name>[A-Za-z0-9-]+): (?P<value>.*)$", re.MULTILINE)
UPDATE = "apt-get update"
APT_OPTIONS = (
    *("-qq", "-o", "APT::Sandbox::User=root", "-o", "APT::Get::AllowUnauthenticated=false"),
    *("-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=20"),
)


class Package(Frozen):
    """One package of an image; size: of its download, in bytes."""

    name: str
    version: str
    size: int
    sha256: str


class _Stanza(Package):
    section: str
    needs: tuple[str, ...]


def require_apt() -> None:
    """Check that this machine has Debian's tools. Raises ServiceFailed."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        what = f"has no {', '.join(missing)}: guests are built from Debian's packages"
        raise ServiceFailed(what, where="this machine", how="build on Debian 12")


def same_as_now(packages: Sequence[Package]) -> bool:
    """Whether apt would install the same versions; one call for all packages, so it is quick."""
    now = {stanza.name: stanza for stanza in _show([p.name for p in packages])}
    return all(p.name in now and now[p.name].version == p.version for p in packages)


def packages_now(*, transfers: bool = False) -> tuple[Package, ...]:
    """Return the packages of an image now: programs, their libraries down to libc, and a kernel.

    transfers: with the programs of the suite `transfer`. Raises ServiceFailed if apt does not have
    one.
    """
    selected: dict[str, _Stanza] = {}
    programs = (*PROGRAMS_OF, *(TRANSFERS_OF if transfers else ()))
    todo = {KERNEL, *programs}
    while todo:
        shown = {stanza.name: stanza for stanza in _show(sorted(todo))}
        if missing := sorted(todo & {KERNEL, *programs} - shown.keys()):
            what = f"has no package {', '.join(missing)}"
            raise ServiceFailed(what, where="apt", how=f"{UPDATE}; guests need Debian 12 on x86-64")
        included = {name: stanza for name, stanza in shown.items() if _belongs(stanza, programs)}
        visited = selected.keys() | todo
        selected |= included
        todo = {need for stanza in included.values() for need in stanza.needs} - visited
    return tuple(
        Package(name=each.name, version=each.version, size=each.size, sha256=each.sha256)
        for _, each in sorted(selected.items())
        if each.name != KERNEL  # a package that only refers to the current kernel
    )


def kernel_of(packages: Iterable[Package]) -> Package:
    """Return the package of the kernel itself."""
    return next(package for package in packages if package.name.startswith("linux-image-"))


def _belongs(stanza: _Stanza, programs: Collection[str]) -> bool:
    """Whether a package is included; of dependencies only libraries, so that no script runs."""
    return stanza.name in programs or stanza.section in ("libs", "kernel")


def _show(names: Sequence[str]) -> Iterator[_Stanza]:
    """Yield apt's data of packages, each in the version that it would install."""
    done = subprocess.run(  # noqa: S603 - names are ours or apt's
        ["apt-cache", "show", "--no-all-versions", *names],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    for text in done.stdout.strip().split("\n\n"):
        fields = {each["name"]: each["value"] for each in FIELD.finditer(text)}
        if "SHA256" in fields:
            yield _stanza(fields)


def _stanza(fields: Mapping[str, str]) -> _Stanza:
    needs = f"{fields.get('Depends', '')},{fields.get('Pre-Depends', '')}".split(",")
    return _Stanza(
        name=fields["Package"],
        version=fields["Version"],
        size=int(fields["Size"]),
        sha256=fields["SHA256"],
        section=fields["Section"].rpartition("/")[2],
        needs=tuple(name for need in needs if (name := re.split(r"[ (|:]", need.strip())[0])),
    )


def download(packages: Sequence[Package], directory: Path) -> dict[str, Path]:
    """Fetch packages into a directory, from apt's sources; returns the file of each.

    Raises ServiceFailed if a download fails, or does not match apt's lists.
    """
    specs = [f"{package.name}={package.version}" for package in packages]
    done = subprocess.run(  # noqa: S603 - names and versions are apt's
        ["apt-get", *APT_OPTIONS, "download", *specs],  # noqa: S607
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )
    files = {path.name.partition("_")[0]: path for path in directory.glob("*.deb")}
    if done.returncode != 0 or files.keys() != {package.name for package in packages}:
        errors = [line for line in done.stderr.splitlines() if line.startswith("E:")]
        why = errors[0].removeprefix("E: ") if errors else "apt-get download failed"
        how = f"check that the mirror answers ({UPDATE}) and the disk is not full; nothing was kept"
        raise ServiceFailed(why, where="apt", how=how)
    for package in packages:
        _check(files[package.name], package)
    return files


def _check(file: Path, package: Package) -> None:
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != package.sha256:
        raise ServiceFailed(f"{file.name} does not match apt's lists", where="apt", how=UPDATE)


def unpack(files: Iterable[Path], directory: Path) -> None:
    """Unpack packages over each other without running their scripts. Raises ServiceFailed."""
    for file in files:
        done = subprocess.run(  # noqa: S603 - our own paths
            ["dpkg-deb", "--extract", str(file), str(directory)],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            message = (done.stderr.strip() or "dpkg-deb failed").splitlines()[0]
            raise ServiceFailed(message, where=file.name, how="check that the disk is not full")


BUILD = "rocefort lab guest build"
FORMAT = 1  # of an image: raise it when the build changes for the same packages
HALF = "half-"
RECORD = "image.json"
KEPT = 2  # images: the current one, and the one before it, which a lab may be booting


class Image(Frozen):
    """Record of an image. kernel: its release; host_key: the guests' own, a public line."""

    recipe: str
    kernel: str
    packages: tuple[Package, ...]
    host_key: str
    directory: Path = Path()

    @property
    def vmlinux(self) -> Path:
        """Kernel that QEMU boots."""
        return self.directory / "vmlinux"

    @property
    def initrd(self) -> Path:
        """Archive of the guest's files."""
        return self.directory / "initrd.gz"

    @property
    def key(self) -> Path:
        """Private key for the login of the guests' user."""
        return self.directory / "id_ed25519"


class Cache:
    """Images under a directory; one of them is current."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or _default()
        self.images = self.root / "images"
        self._current = self.root / "current"

    def current(self) -> Image | None:
        """Return the image that was built last; None if no image is whole."""
        return self._read(self._current.resolve()) if self._current.is_symlink() else None

    def require(self) -> Image:
        """Return the image that was built last. Raises ServiceFailed if there is none."""
        image = self.current()
        if image is None:
            what = f"no guest is built: nothing whole in {self.root}"
            raise ServiceFailed(what, how=BUILD)
        return image

    def find(self, digest: str) -> Image | None:
        """Return an image by its digest."""
        return self._read(self.images / digest)

    def _read(self, directory: Path) -> Image | None:
        try:
            text = (directory / RECORD).read_text(encoding="utf-8")
            image = Image.model_validate_json(text)
        except (OSError, ValidationError):
            return None
        image = image.model_copy(update={"directory": directory})
        parts = (image.vmlinux, image.initrd, image.key)
        return image if all(part.is_file() for part in parts) else None

    def keep(self, half: Path, digest: str) -> Image:
        """Move a whole image into the cache, and make it the current one."""
        target = self.images / digest
        self.images.mkdir(exist_ok=True)
        shutil.rmtree(target, ignore_errors=True)  # damaged: a part was removed by hand
        half.rename(target)
        return self.choose(digest)

    def choose(self, digest: str) -> Image:
        """Make an image the current one."""
        fresh = self.root / "current.new"
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(Path("images") / digest)
        fresh.replace(self._current)
        return self.require()

    def prune(self, in_use: Collection[Path]) -> int:
        """Remove all images except the newest two and those in use by labs; returns their number.

        The caller holds the lock.
        """
        current = self._current.resolve()
        directories = sorted(
            self.images.glob("*"), key=lambda path: path.stat().st_mtime, reverse=True
        )
        directories.sort(key=lambda path: path.resolve() != current)
        old = [path for path in directories[KEPT:] if path not in in_use]
        for path in old:
            shutil.rmtree(path)
        return len(old)

    @contextmanager
    def lock(self, say: Callable[[str], None]) -> Iterator[None]:
        """Lock the cache for one build, and remove remains of a build that was killed."""
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = (self.root / "build.lock").open("a", encoding="ascii")
        except OSError as error:
            what = f"cannot be created: {error.strerror}"
            raise ServiceFailed(what, where=str(self.root), how="set XDG_CACHE_HOME") from None
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say("waiting for another process that builds a guest")
                fcntl.flock(file, fcntl.LOCK_EX)
            for remains in self.root.glob(f"{HALF}*"):
                shutil.rmtree(remains)
            yield


def recipe(*, transfers: bool = False) -> str:
    """Return a digest of the build recipe: the guest's first program and texts, the lists."""
    first = INIT.read_text(encoding="utf-8")
    more = [TRANSFERS_OF, TRANSFER_PROGRAMS] if transfers else []
    text = json.dumps([FORMAT, first, TEXTS, PROGRAMS_OF, PROGRAMS, MODULES, *more])
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of(packages: Sequence[Package], *, transfers: bool = False) -> str:
    """Return the name of an image: a digest of its recipe and its packages."""
    text = json.dumps(
        [recipe(transfers=transfers), [[p.name, p.version, p.sha256] for p in packages]]
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _default() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    return folder / "rocefort" / "guest"


MACHINE = "x86_64"
Say = Callable[[str], None]


def build(say: Say, cache: Cache | None = None, *, transfers: bool = False) -> Image:
    """Build the image of apt's present packages, unless it exists.

    transfers: with the programs of the suite `transfer`. Raises ServiceFailed if this machine lacks
    a tool, or a package is not available.
    """
    cache = cache or Cache()
    if platform.machine() != MACHINE:
        raise ServiceFailed(f"a guest needs {MACHINE}, this machine is {platform.machine()}")
    require_apt()
    with cache.lock(say):
        current = cache.current()
        if (
            current
            and current.recipe == recipe(transfers=transfers)
            and same_as_now(current.packages)
        ):
            say(f"there already: {current.directory}")
            return current
        packages = packages_now(transfers=transfers)
        digest = digest_of(packages, transfers=transfers)
        if cache.find(digest) is not None:
            say(f"there already: {cache.images / digest}")
            return cache.choose(digest)
        try:
            with tempfile.TemporaryDirectory(dir=cache.root, prefix=HALF) as half:
                built = _build(packages, Path(half), say, transfers=transfers)
                return cache.keep(built, digest)
        except OSError as error:
            how = "check that the disk is not full; nothing was kept"
            what = f"cannot be written: {error.strerror}"
            raise ServiceFailed(what, where=str(cache.root), how=how) from None


def _build(packages: Sequence[Package], half: Path, say: Say, *, transfers: bool) -> Path:
    """Build everything in a temporary directory; returns the directory of the image."""
    megabytes = sum(package.size for package in packages) / 1e6
    say(f"downloading {len(packages)} packages, {megabytes:.0f} MB; nothing is installed here")
    (half / "debs").mkdir()
    files = download(packages, half / "debs")
    say("unpacking")
    unpack(files.values(), half / "root")
    kernel = kernel_of(packages)
    release = kernel.name.removeprefix("linux-image-")
    host, user = new_key(), new_key()
    unpacked = Packages(half / "root", release)
    image = half / "image"
    image.mkdir(mode=0o700)
    (image / "vmlinux").write_bytes(unpack_kernel(unpacked.bzimage))
    tree = guest_tree(unpacked, host, user, TRANSFER_PROGRAMS if transfers else ())
    _private(image / "initrd.gz", tree.archive())  # the host key
    _private(image / "id_ed25519", user.private)
    record = Image(
        recipe=recipe(transfers=transfers),
        kernel=release,
        packages=tuple(packages),
        host_key=host.public,
    )
    (image / RECORD).write_text(record.model_dump_json(indent=1, exclude={"directory"}), "utf-8")
    return image


def _private(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)
