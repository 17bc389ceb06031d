"""Kernel of a guest, unpacked so that no emulated CPU has to, and its modules in load order."""

from __future__ import annotations

import lzma
import re
import shutil
import struct
import subprocess
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from rocefort.base.errors import ServiceFailed

# Boot protocol (the kernel's Documentation/arch/x86/boot.rst).
SETUP_SECTORS, PAYLOAD = 0x1F1, 0x248
SECTOR = 512
XZ, GZIP = b"\xfd7zXZ\x00", b"\x1f\x8b"
TOOLS = {b"\x02\x21\x4c\x18": "lz4", b"\x28\xb5\x2f\xfd": "zstd"}
DEPENDS = re.compile(rb"(?:^|\0)depends=([^\0]*)\0")
SOFT = re.compile(rb"(?:^|\0)softdep=pre: ([^\0]*)\0")
MODULE = re.compile(r"(?P<name>.+)\.ko(?P<packed>\.xz)?")


def unpack_kernel(image: bytes) -> bytes:
    """Return the ELF kernel within a bzImage. Raises ServiceFailed if it cannot be unpacked."""
    offset, length = struct.unpack_from("<II", image, PAYLOAD)
    start = ((image[SETUP_SECTORS] or 4) + 1) * SECTOR + offset
    body = image[start : start + length]
    if body.startswith(XZ):
        kernel = lzma.LZMADecompressor().decompress(body)
    elif body.startswith(GZIP):
        kernel = zlib.decompressobj(31).decompress(body)
    else:
        kernel = _by_tool(body)
    if not kernel.startswith(b"\x7fELF"):
        raise ServiceFailed("the kernel's image holds no ELF kernel", how="use Debian 12's kernel")
    return kernel


def _by_tool(body: bytes) -> bytes:
    tool = TOOLS.get(body[:4], "")
    if not tool or shutil.which(tool) is None:
        what = f"the kernel is packed with {tool or 'something unknown'}, which is not installed"
        raise ServiceFailed(what, how=f"apt-get install -y {tool}" if tool else "use Debian 12's")
    return subprocess.run([tool, "-dc"], input=body, capture_output=True, check=False).stdout  # noqa: S603


def read_modules(directory: Path) -> dict[str, Path]:
    """Return every module of a kernel by its name."""
    paths = {}
    for path in directory.rglob("*.ko*"):
        if match := MODULE.fullmatch(path.name):
            paths[match["name"].replace("-", "_")] = path
    return paths


def load_order(modules: Mapping[str, Path], names: Iterable[str]) -> tuple[str, ...]:
    """Return modules and their dependencies, each after what it needs, without built-in ones."""
    order: list[str] = []

    def add(name: str) -> None:
        if name not in modules or name in order:
            return
        for before in needs_of(read_module(modules[name])):
            add(before)
        order.append(name)

    for name in names:
        add(name)
    return tuple(order)


def read_module(path: Path) -> bytes:
    """Return a module unpacked."""
    content = path.read_bytes()
    return lzma.decompress(content) if path.suffix == ".xz" else content


def needs_of(module: bytes) -> tuple[str, ...]:
    """Return names of the modules that one needs, from its own metadata."""
    names = [name for match in DEPENDS.findall(module)[:1] for name in match.split(b",")]
    names += [name for match in SOFT.findall(module) for name in match.split()]
    return tuple(name.decode().replace("-", "_") for name in names if name)
