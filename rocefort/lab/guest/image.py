"""Images of guests: built from Debian packages, and kept whole in a cache."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from rocefort.base.errors import ServiceFailed
from rocefort.lab.guest import debian
from rocefort.lab.guest.debian import PROGRAMS_OF, Package
from rocefort.lab.guest.keys import new_key
from rocefort.lab.guest.rootfs import (
    INIT,
    MODULES,
    PROGRAMS,
    TEXTS,
    Packages,
    guest_tree,
    unpack_kernel,
)
from rocefort.models.base import Frozen

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


def recipe() -> str:
    """Return a digest of the build recipe: the guest's first program and texts, the lists."""
    first = INIT.read_text(encoding="utf-8")
    text = json.dumps([FORMAT, first, TEXTS, PROGRAMS_OF, PROGRAMS, MODULES])
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of(packages: Sequence[Package]) -> str:
    """Return the name of an image: a digest of its recipe and its packages."""
    text = json.dumps([recipe(), [[p.name, p.version, p.sha256] for p in packages]])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _default() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    return folder / "rocefort" / "guest"


MACHINE = "x86_64"
Say = Callable[[str], None]


def build(say: Say, cache: Cache | None = None) -> Image:
    """Build the image of apt's present packages, unless it exists.

    Raises ServiceFailed if this machine lacks a tool, or a package is not available.
    """
    cache = cache or Cache()
    if platform.machine() != MACHINE:
        raise ServiceFailed(f"a guest needs {MACHINE}, this machine is {platform.machine()}")
    debian.require_apt()
    with cache.lock(say):
        current = cache.current()
        if current and current.recipe == recipe() and debian.same_as_now(current.packages):
            say(f"there already: {current.directory}")
            return current
        packages = debian.packages_now()
        digest = digest_of(packages)
        if cache.find(digest) is not None:
            say(f"there already: {cache.images / digest}")
            return cache.choose(digest)
        try:
            with tempfile.TemporaryDirectory(dir=cache.root, prefix=HALF) as half:
                return cache.keep(_build(packages, Path(half), say), digest)
        except OSError as error:
            how = "check that the disk is not full; nothing was kept"
            what = f"cannot be written: {error.strerror}"
            raise ServiceFailed(what, where=str(cache.root), how=how) from None


def _build(packages: Sequence[Package], half: Path, say: Say) -> Path:
    """Build everything in a temporary directory; returns the directory of the image."""
    megabytes = sum(package.size for package in packages) / 1e6
    say(f"downloading {len(packages)} packages, {megabytes:.0f} MB; nothing is installed here")
    (half / "debs").mkdir()
    files = debian.download(packages, half / "debs")
    say("unpacking")
    debian.unpack(files.values(), half / "root")
    kernel = debian.kernel_of(packages)
    release = kernel.name.removeprefix("linux-image-")
    host, user = new_key(), new_key()
    unpacked = Packages(half / "root", release)
    image = half / "image"
    image.mkdir(mode=0o700)
    (image / "vmlinux").write_bytes(unpack_kernel(unpacked.bzimage))
    _private(image / "initrd.gz", guest_tree(unpacked, host, user).archive())  # the host key
    _private(image / "id_ed25519", user.private)
    record = Image(recipe=recipe(), kernel=release, packages=tuple(packages), host_key=host.public)
    (image / RECORD).write_text(record.model_dump_json(indent=1, exclude={"directory"}), "utf-8")
    return image


def _private(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)
