"""Debian packages of a guest: selected, downloaded and unpacked, never installed here."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rocefort.base.errors import ServiceFailed
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


def packages_now() -> tuple[Package, ...]:
    """Return the packages of an image now: programs, their libraries down to libc, and a kernel.

    Raises ServiceFailed if apt does not have one.
    """
    selected: dict[str, _Stanza] = {}
    todo = {KERNEL, *PROGRAMS_OF}
    while todo:
        shown = {stanza.name: stanza for stanza in _show(sorted(todo))}
        if missing := sorted(todo & {KERNEL, *PROGRAMS_OF} - shown.keys()):
            what = f"has no package {', '.join(missing)}"
            raise ServiceFailed(what, where="apt", how=f"{UPDATE}; guests need Debian 12 on x86-64")
        included = {name: stanza for name, stanza in shown.items() if _belongs(stanza)}
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


def _belongs(stanza: _Stanza) -> bool:
    """Whether a package is included; of dependencies only libraries, so that no script runs."""
    return stanza.name in PROGRAMS_OF or stanza.section in ("libs", "kernel")


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
