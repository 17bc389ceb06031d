"""Libraries that an ELF program asks for: the NEEDED entries of its dynamic section.

Source: System V ABI, "Dynamic Linking"; 64 bits, little endian, which is what x86-64 has.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

MAGIC = b"\x7fELF\x02\x01"  # 64 bits, little endian
PT_LOAD, PT_DYNAMIC = 1, 2
DT_NULL, DT_NEEDED, DT_STRTAB = 0, 1, 5


def needed(image: bytes) -> tuple[str, ...]:
    """Names of the libraries of a program or library; none for what is static, or no ELF."""
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
    """Program headers: type, offset in the file, address, size in the file."""
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
    """Where in the file an address is."""
    return next(
        address - base + offset
        for kind, offset, base, size in headers
        if kind == PT_LOAD and base <= address < base + size
    )


def _text(image: bytes, start: int) -> str:
    return image[start : image.index(b"\0", start)].decode()
