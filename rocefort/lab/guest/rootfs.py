"""Files of a guest: kernel, programs with their libraries, keys, and their archive.

Source: the kernel's Documentation/driver-api/early-userspace/buffer-format.rst.

Everything comes from the unpacked packages, nothing from this machine.
"""

from __future__ import annotations

import gzip
import lzma
import re
import shutil
import stat
import struct
import subprocess
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rocefort.base.errors import ServiceFailed
from rocefort.base.repository import TEMPLATES

KIND = b"ssh-ed25519"


@dataclass(frozen=True)
class Key:
    """An Ed25519 key as OpenSSH writes it (private), as a line (public), and as dropbear reads it.

    Each image has its own, so that no two users share one.
    """

    private: bytes
    public: str
    dropbear: bytes


def new_key() -> Key:
    """Generate a new key."""
    key = Ed25519PrivateKey.generate()
    raw = key.private_bytes_raw()
    public = key.public_key()
    # dropbear's own format: the kind, and 64 bytes of private and public key (its ed25519.c).
    pair = raw + public.public_bytes_raw()
    return Key(
        private=key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.OpenSSH,
            serialization.NoEncryption(),
        ),
        public=public.public_bytes(
            serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
        ).decode(),
        dropbear=_string(KIND) + _string(pair),
    )


def _string(content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + content


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


CPIO_MAGIC = "070701"
END = "TRAILER!!!"


@dataclass
class Tree:
    """Files by path, without a leading slash; each with its mode and content."""

    _entries: dict[str, tuple[int, bytes]] = field(default_factory=dict)

    def __contains__(self, path: str) -> bool:
        return path in self._entries

    def file(self, path: str, content: bytes | str, mode: int = 0o644) -> None:
        """Add a file, and the directories above it."""
        data = content.encode() if isinstance(content, str) else content
        self._put(path, stat.S_IFREG | mode, data)

    def link(self, path: str, target: str) -> None:
        """Add a symbolic link."""
        self._put(path, stat.S_IFLNK | 0o777, target.encode())

    def directory(self, path: str, mode: int = 0o755) -> None:
        """Add a directory."""
        self._put(path, stat.S_IFDIR | mode, b"")

    def _put(self, path: str, mode: int, content: bytes) -> None:
        for parent in list(PurePosixPath(path).parents)[-2::-1]:
            self._entries.setdefault(str(parent), (stat.S_IFDIR | 0o755, b""))
        self._entries[path] = (mode, content)

    def archive(self) -> bytes:
        """Return the archive; equal files give equal bytes: owner root, time 0."""
        packed = bytearray()
        for number, (path, (mode, content)) in enumerate(sorted(self._entries.items()), 1):
            packed += _entry(number, path, mode, content)
        packed += _entry(0, END, 0, b"")
        return gzip.compress(bytes(packed), compresslevel=1, mtime=0)


def _entry(number: int, path: str, mode: int, content: bytes) -> bytes:
    name = path.encode() + b"\0"
    links = 2 if stat.S_ISDIR(mode) else 1
    fields = (number, mode, 0, 0, links, 0, len(content), 0, 0, 0, 0, len(name), 0)
    head = CPIO_MAGIC.encode() + b"".join(b"%08x" % value for value in fields) + name
    return _padded(head) + _padded(content)


def _padded(content: bytes) -> bytes:
    return content + b"\0" * (-len(content) % 4)


MAGIC = b"\x7fELF\x02\x01"  # 64 bits, little endian
PT_LOAD, PT_DYNAMIC = 1, 2
DT_NULL, DT_NEEDED, DT_STRTAB = 0, 1, 5


def needed_libraries(image: bytes) -> tuple[str, ...]:
    """Return names of the libraries of a program or library; none for a static or non-ELF file."""
    if not image.startswith(MAGIC):
        return ()
    headers = list(_headers(image))
    entries = [
        entry
        for kind, offset, _, size in headers
        if kind == PT_DYNAMIC
        for entry in _dynamic(image[offset : offset + size])
    ]
    strings = next((value for tag, value in entries if tag == DT_STRTAB), None)
    if strings is None:
        return ()
    start = _offset(headers, strings)
    return tuple(_text(image, start + value) for tag, value in entries if tag == DT_NEEDED)


def _headers(image: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield program headers: type, offset in the file, address, size in the file."""
    (first,) = struct.unpack_from("<Q", image, 32)
    size, count = struct.unpack_from("<HH", image, 54)
    for number in range(count):
        kind, _, offset, address, _, length = struct.unpack_from(
            "<IIQQQQ", image, first + number * size
        )
        yield kind, offset, address, length


def _dynamic(section: bytes) -> Iterator[tuple[int, int]]:
    for tag, value in struct.iter_unpack("<qQ", section[: len(section) // 16 * 16]):
        if tag == DT_NULL:
            return
        yield tag, value


def _offset(headers: list[tuple[int, int, int, int]], address: int) -> int:
    """Return the file offset of an address."""
    return next(
        address - base + offset
        for kind, offset, base, size in headers
        if kind == PT_LOAD and base <= address < base + size
    )


def _text(image: bytes, start: int) -> str:
    return image[start : image.index(b"\0", start)].decode()


INIT = TEMPLATES / "guest" / "init.sh"
LIBRARIES = "lib/x86_64-linux-gnu"
LOADER = "ld-linux-x86-64.so.2"
FOLDERS = ("usr/bin", "bin", "usr/sbin", "sbin")  # folders of programs in packages
PERFTEST = tuple(
    f"ib_{verb}_{kind}" for verb in ("write", "read", "send", "atomic") for kind in ("bw", "lat")
)
PROGRAMS = (
    *("ip", "tc", "ss", "bridge", "rdma", "dcb", "ethtool", "iperf3", "dropbear"),
    *("bash", "grep", "timeout", "stdbuf", "flock"),
    *("ibv_devinfo", "ibv_devices", "ibv_rc_pingpong"),
    *PERFTEST,
)
TRANSFER_PROGRAMS = ("iperf", "lftp", "proftpd", "rsync", "scp", "ssh")
# Loaded by name at run time, so that no NEEDED entry refers to them.
LOADED = ("usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so",)
ELSEWHERE = ("usr/libexec/coreutils/libstdbuf.so", "usr/lib/openssh/sftp-server")
SFTP = "usr/lib/sftp-server"  # dropbear looks for it here
MODULES = (
    *("virtio_pci", "virtio_net", "virtio_rng", "crc32_generic", "crc32_pclmul", "af_packet"),
    *("ib_core", "ib_uverbs", "ib_umad", "rdma_ucm", "rdma_cm", "ib_cm", "iw_cm", "rdma_rxe"),
    *("configfs", "sch_netem", "sch_red", "sch_tbf", "sch_htb", "sch_prio", "sch_ingress"),
    *("cls_u32", "cls_matchall", "cls_flower", "act_mirred", "act_gact", "ifb", "8021q"),
    *("bonding", "sch_fq", "tcp_bbr"),
)
TEXTS = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "etc/shells": "/bin/sh\n",
    "etc/hosts": "127.0.0.1 localhost\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\nprotocols: files\n",
    "etc/protocols": "icmp 1 ICMP\ntcp 6 TCP\nudp 17 UDP\n",
}
EMPTY = ("proc", "sys", "dev", "tmp", "run", "var/run", "var/log", "root")


@dataclass(frozen=True)
class Packages:
    """Packages unpacked over each other; release: of their kernel, such as 6.1.0-18-amd64."""

    root: Path
    release: str

    def program(self, name: str) -> Path:
        """Return a program by its name. Raises ServiceFailed if no package has it."""
        return self._find_file(name, FOLDERS)

    def library(self, name: str) -> Path:
        """Return a library by its name. Raises ServiceFailed if no package has it."""
        return self._find_file(name, (LIBRARIES, f"usr/{LIBRARIES}", "lib64", "usr/lib64"))

    def _find_file(self, name: str, folders: Sequence[str]) -> Path:
        root = self.root.resolve()
        for folder in folders:
            path = (root / folder / name).resolve()
            if path.is_file() and path.is_relative_to(root):  # a link may lead to this machine's
                return path
        raise ServiceFailed(f"no package has {name}", where="guest", how="build on Debian 12")

    @cached_property
    def applets(self) -> Sequence[str]:
        """Applet names of busybox, from its own list: it needs no library, so it runs here."""
        busybox = str(self.program("busybox"))
        done = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode != 0:
            raise ServiceFailed("busybox does not run here", how="build on a 64-bit PC")
        return done.stdout.split()

    @property
    def bzimage(self) -> bytes:
        """The packed kernel."""
        return (self.root / "boot" / f"vmlinuz-{self.release}").read_bytes()


def guest_tree(packages: Packages, host: Key, user: Key, more: Sequence[str] = ()) -> Tree:
    """Return all files of a guest. Raises ServiceFailed for a file that no package has.

    more: programs beside PROGRAMS. With ssh, a guest can log in to another one.
    """
    tree = Tree()
    for folder in EMPTY:
        tree.directory(folder)
    tree.link(f"usr/{LIBRARIES}", f"../../{LIBRARIES}")
    tree.file("init", INIT.read_bytes(), 0o755)
    for path, text in TEXTS.items():
        tree.file(path, text)
    tree.file("etc/os-release", _os_release(packages.release))
    _add_programs(tree, packages, (*PROGRAMS, *more))
    _add_shell(tree, packages)
    _add_modules(tree, packages)
    tree.directory("root/.ssh", 0o700)
    tree.file("root/.ssh/authorized_keys", user.public + "\n", 0o600)
    tree.file("etc/dropbear/dropbear_ed25519_host_key", host.dropbear, 0o600)
    if "ssh" in more:
        tree.file("root/.ssh/id_ed25519", user.private, 0o600)
        tree.file("root/.ssh/known_hosts", f"* {host.public}\n", 0o600)
    return tree


def _os_release(release: str) -> str:
    return f'NAME="Debian packages in a Soft-RoCE guest"\nVERSION_ID="{release}"\n'


def _add_programs(tree: Tree, packages: Packages, names: Sequence[str]) -> None:
    """Add programs, and the closure of their libraries."""
    todo = [_copy(tree, packages.program(name), f"usr/bin/{name}") for name in names]
    todo += [_copy(tree, packages.root / path, path) for path in ELSEWHERE]
    todo += [_copy(tree, packages.root / path, path.removeprefix("usr/")) for path in LOADED]
    tree.file("etc/libibverbs.d/rxe.driver", "driver rxe\n")
    tree.link(SFTP, "openssh/sftp-server")
    _add_libraries(tree, packages, todo)


def _copy(tree: Tree, source: Path, target: str) -> bytes:
    if not source.is_file():
        what = f"no package has {source.name}"
        raise ServiceFailed(what, where="guest", how="build on Debian 12")
    content = source.read_bytes()
    tree.file(target, content, 0o755)
    return content


def _add_libraries(tree: Tree, packages: Packages, todo: list[bytes]) -> None:
    while todo:
        for name in needed_libraries(todo.pop()):
            path = f"lib64/{name}" if name == LOADER else f"{LIBRARIES}/{name}"
            if path not in tree:
                todo.append(_copy(tree, packages.library(name), path))
    if f"lib64/{LOADER}" not in tree:
        _copy(tree, packages.library(LOADER), f"lib64/{LOADER}")


def _add_shell(tree: Tree, packages: Packages) -> None:
    """Add Debian's dash as sh, and busybox for the other commands."""
    _copy(tree, packages.program("dash"), "bin/sh")
    _copy(tree, packages.program("busybox"), "bin/busybox")
    for applet in packages.applets:
        if applet not in (*PROGRAMS, "sh", "busybox"):
            tree.link(f"bin/{applet}", "busybox")
    tree.link("bin/bash", "../usr/bin/bash")
    tree.link("sbin/modprobe", "../bin/busybox")  # path that the kernel uses


def _add_modules(tree: Tree, packages: Packages) -> None:
    """Add modules, unpacked, and the table of dependencies for `modprobe`."""
    folder = f"lib/modules/{packages.release}"
    modules = read_modules(_modules_of(packages))
    lines = []
    order = load_order(modules, MODULES)
    if "rdma_rxe" not in order:
        raise ServiceFailed("this kernel has no rdma_rxe", where="guest", how="use Debian 12's")
    for name in order:
        content = read_module(modules[name])
        tree.file(f"{folder}/{name}.ko", content)
        before = load_order(modules, [name])[-2::-1]  # in depmod's order: the first to load is last
        lines.append(f"{name}.ko:{''.join(f' {each}.ko' for each in before)}\n")
    tree.file(f"{folder}/modules.dep", "".join(lines))


def _modules_of(packages: Packages) -> Path:
    for folder in ("lib/modules", "usr/lib/modules"):
        path = packages.root / folder / packages.release
        if path.is_dir():
            return path
    raise ServiceFailed("the kernel's package has no modules", where="guest")
