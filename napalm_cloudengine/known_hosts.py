"""Reader of one host's keys in a known_hosts file that may list a thousand hosts.

paramiko's reader compares each line with all before it, at each connection: 40 hosts take it 10 ms,
1,000 hosts several seconds. This module reads a file once, and decodes only the lines of one host.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from paramiko import HostKeys, PKey
from paramiko.hostkeys import HostKeyEntry

from napalm_cloudengine import regular_file


def place_of(host: str, port: int) -> str:
    """Return the name of a host in known_hosts: its name alone, or with a port other than 22."""
    return host if port == 22 else f"[{host}]:{port}"


def keys_of(path: Path, host: str) -> tuple[PKey, ...]:
    """Return the recorded keys of one host, the first of each kind. Hashed names are supported.

    Raises OSError, UnicodeDecodeError, paramiko's InvalidHostKey for a damaged line of that host.
    """
    status = path.stat()
    record = _record(path, status.st_mtime_ns, status.st_size)
    keys: dict[str, PKey] = {}
    hashed = [at for name, at in record.hashed if HostKeys.hash_host(host, name) == name]
    for _, line in sorted((*record.plain.get(host, ()), *hashed)):  # in the order of the file
        entry = HostKeyEntry.from_line(line)
        if entry is not None:  # a kind of key that paramiko does not support
            keys.setdefault(entry.key.get_name(), entry.key)
    return tuple(keys.values())


@dataclass(frozen=True)
class _Record:
    """The lines of a file by the names in them, and those whose names are hashed."""

    plain: Mapping[str, tuple[tuple[int, str], ...]]  # each with its number
    hashed: tuple[tuple[str, tuple[int, str]], ...]


@lru_cache(maxsize=8)
def _record(path: Path, _changed_ns: int, _size: int) -> _Record:
    plain: dict[str, tuple[tuple[int, str], ...]] = {}
    hashed: list[tuple[str, tuple[int, str]]] = []
    lines = map(str.strip, regular_file.read_text(path).splitlines())
    for number, line in enumerate(lines):
        names = "" if line.startswith("#") else "".join(line.split(maxsplit=1)[:1])
        for name in names.split(","):
            if name.startswith("|1|"):
                hashed.append((name, (number, line)))
            elif name:
                plain[name] = (*plain.get(name, ()), (number, line))
    return _Record(plain, tuple(hashed))
