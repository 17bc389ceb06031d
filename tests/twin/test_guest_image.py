"""Build of a guest's image, and its cache: a whole image or nothing."""

from __future__ import annotations

import errno
import gzip
import json
import lzma
import os
import stat
import struct
import sys
import threading
import zlib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from twin_labs import PACKAGE, Run, image_at

from rocefort.base.errors import ServiceFailed
from rocefort.lab.guest import image, qemu
from rocefort.lab.guest.image import Cache, Image, digest_of, recipe
from rocefort.lab.guest.rootfs import (
    Packages,
    Tree,
    load_order,
    needed_libraries,
    needs_of,
    new_key,
    read_module,
    read_modules,
    unpack_kernel,
)
from rocefort.lab.lab_report import status_report
from rocefort.lab.twin.guests import Guests
from rocefort.lab.twin.registry import LabRecord, Registry
from rocefort.lab.twin.status import LabStatus
from rocefort.reports.writers.terminal import text_of


def _apt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, show: str, get: str = "exit 1") -> None:
    _programs(monkeypatch, tmp_path, {"apt-cache": show, "apt-get": get})


def _silent(_: str) -> None:
    """Discard a message."""


# --- the parts ------------------------------------------------------------------------------------


def test_libraries_of_a_program(tmp_path: Path) -> None:
    python = Path(sys.executable).resolve().read_bytes()
    assert "libc.so.6" in needed_libraries(python)
    assert needed_libraries(b"#!/bin/sh\n") == ()
    assert needed_libraries(b"") == ()


def _bzimage(body: bytes, sectors: int = 1) -> bytes:
    """Return a kernel image by the boot protocol: setup sectors, then the packed part."""
    head = bytearray(512 * (sectors + 1))
    head[0x1F1] = sectors
    struct.pack_into("<II", head, 0x248, 7, len(body))
    return bytes(head) + b"\0" * 7 + body + b"what follows"


def test_a_kernel_is_unpacked() -> None:
    kernel = b"\x7fELF" + bytes(range(256)) * 50
    packer = zlib.compressobj(wbits=31)
    for packed in (lzma.compress(kernel), packer.compress(kernel) + packer.flush()):
        assert unpack_kernel(_bzimage(packed)) == kernel
    with pytest.raises(ServiceFailed, match="holds no ELF kernel"):
        unpack_kernel(_bzimage(lzma.compress(b"MZ")))
    with pytest.raises(ServiceFailed, match="something unknown"):
        unpack_kernel(_bzimage(b"\1\2\3\4"))


def test_modules_load_after_what_they_need(tmp_path: Path) -> None:
    folder = tmp_path / "kernel"
    folder.mkdir()
    for name, needs in {
        "rdma_rxe": b"ib_core,udp-tunnel",
        "udp_tunnel": b"",
        "virtio-net": b"failover",
        "failover": b"",
    }.items():
        (folder / f"{name}.ko").write_bytes(b"\x7fELF\0license=GPL\0depends=%s\0x=1\0" % needs)
    packed = b"depends=\0softdep=pre: failover\0"
    (folder / "ib_core.ko.xz").write_bytes(lzma.compress(packed))
    modules = read_modules(tmp_path)
    assert read_module(modules["ib_core"]) == packed
    assert needs_of(packed) == ("failover",)
    assert load_order(modules, ["rdma_rxe", "built_in", "virtio_net"]) == (
        "failover",
        "ib_core",
        "udp_tunnel",
        "rdma_rxe",
        "virtio_net",
    )


def test_an_archive_is_what_a_kernel_unpacks() -> None:
    tree = Tree()
    tree.file("usr/bin/x", b"abc", 0o755)
    tree.link("bin", "usr/bin")
    tree.directory("root", 0o700)
    archive = gzip.decompress(tree.archive())
    assert tree.archive() == tree.archive()
    assert len(archive) % 4 == 0
    entries, at = {}, 0
    while True:
        assert archive[at : at + 6] == b"070701"
        fields = [int(archive[at + 6 + 8 * n : at + 14 + 8 * n], 16) for n in range(13)]
        mode, size, length = fields[1], fields[6], fields[11]
        name = archive[at + 110 : at + 110 + length - 1].decode()
        at += -(-(110 + length) // 4) * 4
        if name == "TRAILER!!!":
            break
        entries[name] = (oct(mode), archive[at : at + size])
        at += -(-size // 4) * 4
    assert entries == {
        "usr": ("0o40755", b""),
        "usr/bin": ("0o40755", b""),
        "usr/bin/x": ("0o100755", b"abc"),
        "bin": ("0o120777", b"usr/bin"),
        "root": ("0o40700", b""),
    }
    assert list(entries) == sorted(entries)  # a directory before its content


def test_keys_are_nobody_elses() -> None:
    first, other = new_key(), new_key()
    assert first.public.startswith("ssh-ed25519 AAAA") and first.public != other.public
    assert first.private.startswith(b"-----BEGIN OPENSSH PRIVATE KEY-----")
    kind, rest = first.dropbear[:15], first.dropbear[15:]
    assert kind == b"\0\0\0\x0bssh-ed25519"
    assert rest[:4] == b"\0\0\0\x40" and len(rest) == 4 + 64


# --- the cache ------------------------------------------------------------------------------------


def test_an_image_is_found_by_what_it_is_made_of(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "c")
    assert cache.current() is None
    with cache.lock(_silent):
        stored = cache.keep(image_at(tmp_path / "half"), digest_of([PACKAGE]))
    assert cache.current() == stored == cache.find(digest_of([PACKAGE]))
    newer = PACKAGE.model_copy(update={"version": "2"})
    assert digest_of([newer]) != digest_of([PACKAGE])
    assert cache.find(digest_of([newer])) is None
    assert stat.S_IMODE(cache.root.stat().st_mode) == 0o700


def test_an_image_that_lacks_a_file_is_none(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "c")
    with cache.lock(_silent):
        stored = cache.keep(image_at(tmp_path / "half"), "d")
    stored.initrd.unlink()
    assert cache.current() is None
    with pytest.raises(ServiceFailed, match="no guest is built: nothing whole in"):
        cache.require()


def test_what_a_killed_build_left_goes(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    remains = image_at(tmp_path / "half-abc" / "image").parent
    with cache.lock(_silent):
        assert not remains.exists()


def test_builds_come_one_after_the_other(tmp_path: Path) -> None:
    cache, order, waiting = Cache(tmp_path), list[str](), threading.Event()

    def say(sentence: str) -> None:
        order.append(sentence)
        waiting.set()

    def second() -> None:
        with cache.lock(say):
            order.append("second")

    other = threading.Thread(target=second)
    with cache.lock(_silent):
        other.start()
        assert waiting.wait(20)
        order.append("first")
    other.join()
    assert order == ["waiting for another process that builds a guest", "first", "second"]


def test_where_images_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert Cache().root == tmp_path / "rocefort" / "guest"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert Cache().root == tmp_path / "home" / ".cache" / "rocefort" / "guest"


def test_the_newest_two_images_are_kept_and_those_that_run(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    with cache.lock(_silent):
        images = [cache.keep(image_at(tmp_path / "half"), str(n)).directory for n in range(5)]
        for age, path in enumerate(reversed(images)):
            os.utime(path, (10**9 - age, 10**9 - age))
        cache.choose("2")
        assert cache.prune({images[0]}) == 2
        assert cache.prune({images[0]}) == 0
    assert sorted(path.name for path in cache.images.iterdir()) == ["0", "2", "4"]
    assert cache.require().directory == images[2]


def test_an_image_is_found_by_who_has_another_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cache = Cache(tmp_path / "mine")
    with cache.lock(_silent):
        stored = cache.keep(image_at(tmp_path / "half"), "d")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "root's"))
    record = LabRecord(
        name="x",
        id="1a3e01",
        fabric="heps",
        status="up",
        started=datetime(2026, 3, 1, tzinfo=UTC),
        image=str(stored.directory),
    )
    guests = Guests(Registry(tmp_path / "run"), record)
    assert guests.image == stored
    stored.key.unlink()
    with pytest.raises(ServiceFailed, match=r"/mine/images/d: the guests' image is gone"):
        _ = guests.image


def test_nothing_of_this_machine_is_in_animage_at(tmp_path: Path) -> None:
    programs = tmp_path / "root" / "usr" / "bin"
    programs.mkdir(parents=True)
    (tmp_path / "root" / "sbin").mkdir()
    (programs / "sh").symlink_to("/bin/sh")
    (programs / "ip").symlink_to("../../sbin/ip")
    (tmp_path / "root" / "sbin" / "ip").write_bytes(b"x")
    packages = Packages(tmp_path / "root", "6.1")
    assert packages.program("ip") == (tmp_path / "root" / "sbin" / "ip").resolve()
    with pytest.raises(ServiceFailed, match="guest: no package has sh"):
        packages.program("sh")


# --- building -------------------------------------------------------------------------------------


def _programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scripts: dict[str, str]) -> None:
    """Put programs of that name before all others."""
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    for name, text in scripts.items():
        file = folder / name
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_no_debian(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ServiceFailed) as failed:
        image.build(_silent, Cache(tmp_path / "c"))
    assert str(failed.value) == (
        "this machine: has no apt-cache, apt-get, dpkg-deb: guests are built from Debian's "
        "packages; build on Debian 12"
    )
    assert not (tmp_path / "c").exists()


def test_another_kind_of_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    with pytest.raises(ServiceFailed, match="a guest needs x86_64, this machine is aarch64"):
        image.build(_silent, Cache(tmp_path))


def test_lists_without_the_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _apt(monkeypatch, tmp_path, "exit 100")
    with pytest.raises(ServiceFailed, match=r"^apt: has no package bash, .*perftest"):
        image.build(_silent, Cache(tmp_path / "c"))


SHOW = """
for name in "$@"; do case $name in -*|show) ;; *)
printf 'Package: %s\\nVersion: 1\\nSection: utils\\nSize: 5\\nSHA256: {sha}\\n' "$name"
[ "$name" != linux-image-amd64 ] || printf 'Depends: linux-image-6.1, initramfs-tools | x\\n'
[ "$name" != linux-image-6.1 ] || printf 'Section: kernel\\n'
[ "$name" != linux-image-amd64 ] || printf 'Section: kernel\\n'
[ "$name" != libc6 ] || printf 'Section: libs\\n'
[ "$name" != dash ] || printf 'Pre-Depends: libc6 (>= 2.34), debconf\\n'
echo; esac; done
"""
HELLO = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"  # of `hello`


def test_packages_are_programs_their_libraries_and_a_kernel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _apt(monkeypatch, tmp_path, SHOW.format(sha=HELLO))
    packages = image.packages_now()
    assert {p.name for p in packages} == {*image.PROGRAMS_OF, "libc6", "linux-image-6.1"}
    assert image.kernel_of(packages).name == "linux-image-6.1"
    assert image.same_as_now(packages)
    older = [p.model_copy(update={"version": "0"}) for p in packages]
    assert not image.same_as_now(older)


@pytest.mark.parametrize(
    ("apt_get", "sentence"),
    [
        (
            "echo 'E: Failed to fetch http://mirror/x.deb  Could not connect' >&2; exit 100",
            "apt: Failed to fetch http://mirror/x.deb  Could not connect; "
            "check that the mirror answers (apt-get update) and the disk is not full; nothing was kept",
        ),
        (
            'for one in "$@"; do case $one in *::*) ;; *=1) echo spoilt >"${one%=1}_1_amd64.deb"; esac; done',
            "apt: bash_1_amd64.deb does not match apt's lists; apt-get update",
        ),
        (
            "exit 0",
            "apt: apt-get download failed; "
            "check that the mirror answers (apt-get update) and the disk is not full; nothing was kept",
        ),
    ],
)
def test_a_download_that_fails_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, apt_get: str, sentence: str
) -> None:
    _apt(monkeypatch, tmp_path, SHOW.format(sha=HELLO), apt_get)
    cache = Cache(tmp_path / "c")
    message: list[str] = []
    with pytest.raises(ServiceFailed) as failed:
        image.build(message.append, cache)
    assert str(failed.value) == sentence
    assert message == ["downloading 17 packages, 0 MB; nothing is installed here"]
    assert sorted(path.name for path in cache.root.iterdir()) == ["build.lock"]


def test_what_is_no_package_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    get = 'for one in "$@"; do case $one in *::*) ;; *=1) echo hello >"${one%=1}_1_amd64.deb"; esac; done'
    _apt(monkeypatch, tmp_path, SHOW.format(sha=HELLO), get)
    with pytest.raises(ServiceFailed, match=r"_1_amd64.deb: .*; check that the disk is not full"):
        image.build(_silent, Cache(tmp_path / "c"))


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    _apt(monkeypatch, tmp_path, SHOW.format(sha=HELLO))
    monkeypatch.setattr(image, "download", full)
    cache = Cache(tmp_path / "c")
    with pytest.raises(ServiceFailed) as failed:
        image.build(_silent, cache)
    assert str(failed.value) == (
        f"{cache.root}: cannot be written: No space left on device; check that the disk is not full; "
        "nothing was kept"
    )
    assert sorted(path.name for path in cache.root.iterdir()) == ["build.lock"]


@pytest.mark.thorough
def test_a_second_build_is_the_first(guest_image: Image, tmp_path: Path) -> None:
    """Query of the real apt, for the image of this machine."""
    messages: list[str] = []
    again = image.build(messages.append)
    assert again == guest_image
    assert messages == [f"there already: {guest_image.directory}"]
    assert stat.S_IMODE(guest_image.key.stat().st_mode) == 0o600
    assert stat.S_IMODE(guest_image.initrd.stat().st_mode) == 0o600
    assert guest_image.recipe == recipe()
    assert guest_image.host_key.startswith("ssh-ed25519 ")


def test_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, run: Run) -> None:
    """An image that still matches apt's lists."""
    _apt(monkeypatch, tmp_path, SHOW.format(sha=HELLO))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    packages, cache = image.packages_now(), Cache()
    with cache.lock(_silent):
        stored = cache.keep(image_at(tmp_path / "half", packages=packages), digest_of(packages))
    output = f"there already: {stored.directory}\nguest with kernel 6.1, {len(packages)} packages\n"
    assert run("lab", "guest", "build") == (0, output, "")


# --- KVM ------------------------------------------------------------------------------------------


def _booted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, verdicts: list[bool]) -> Cache:
    """Return a machine with /dev/kvm, on which a probe ends so."""
    there = tmp_path / "kvm"
    there.touch()
    monkeypatch.setattr(qemu, "KVM", there)
    monkeypatch.setattr(qemu, "boots", lambda _: verdicts.pop(0))
    cache = Cache(tmp_path / "c")
    cache.root.mkdir()
    return cache


@pytest.mark.parametrize(("verdict", "accel"), [(True, "kvm"), (False, "tcg")])
def test_kvm_after_a_probe_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, verdict: bool, accel: str
) -> None:
    cache = _booted(monkeypatch, tmp_path, [verdict, not verdict])
    image = Image(recipe="", kernel="", packages=(), host_key="")
    messages: list[str] = []
    assert qemu.accel_for("auto", image, cache, messages.append) == accel
    assert qemu.accel_for("auto", image, cache, messages.append) == accel  # unchanged
    assert messages == ["trying KVM, for at most 10 s"]
    (cache.root / "kvm.json").write_text(json.dumps(["another boot", verdict]))
    assert qemu.accel_for("auto", image, cache, messages.append) != accel


def test_kvm_that_cannot_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cache = _booted(monkeypatch, tmp_path, [False])
    image = Image(recipe="", kernel="", packages=(), host_key="")
    with pytest.raises(Exception, match=r"--accel: no kernel boots under KVM within 10 s; use tcg"):
        qemu.accel_for("kvm", image, cache, _silent)
    assert qemu.accel_for("tcg", image, cache, _silent) == "tcg"
    monkeypatch.setattr(qemu, "KVM", tmp_path / "none")
    assert qemu.accel_for("auto", image, cache, _silent) == "tcg"


def test_a_probe_that_says_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    image = Image(recipe="", kernel="", packages=(), host_key="")
    for script, verdict in {
        "exec sleep 9": False,
        "exit 1": False,
        "echo '[0.0] Linux version 6.1'; exec sleep 9": True,
    }.items():
        _programs(monkeypatch, tmp_path, {qemu.QEMU: script})
        assert qemu.boots(image, 0.5) is verdict


def test_a_status_with_guests_in_words() -> None:
    lab = LabStatus(
        name="x",
        fabric="heps",
        whole=True,
        started=datetime(2026, 3, 1, 12, tzinfo=UTC),
        guests=("k8sgn08 by TCG, SSH at 127.0.0.1:2201",),
        wrong=("guest k8sgn08 does not run",),
    )
    assert text_of(status_report(lab), width=80).splitlines()[2:] == [
        "    guest k8sgn08 by TCG, SSH at 127.0.0.1:2201",
        "    wrong: guest k8sgn08 does not run",
    ]
