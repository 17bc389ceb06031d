"""Build of a guest's image from Debian packages; an interrupted build leaves nothing."""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from rocefort.base.errors import ServiceFailed
from rocefort.lab.guest import debian
from rocefort.lab.guest.cache import HALF, RECORD, Cache, Image, digest_of, recipe
from rocefort.lab.guest.debian import Package
from rocefort.lab.guest.kernel import unpack_kernel
from rocefort.lab.guest.keys import new_key
from rocefort.lab.guest.rootfs import Packages, guest_tree

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
