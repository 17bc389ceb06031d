"""Images of guests in the user's cache; an image is there whole or not at all."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from rocefort.base.errors import ServiceFailed
from rocefort.lab.guest.debian import PROGRAMS_OF, Package
from rocefort.lab.guest.rootfs import INIT, MODULES, PROGRAMS, TEXTS
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
