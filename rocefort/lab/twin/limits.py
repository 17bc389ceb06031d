"""Neighbour limit of the kernel, the one setting that all namespaces share.

Beyond net.ipv4.neigh.default.gc_thresh3 (1024 by default) new neighbours are refused: at 8 spines
and 64 leaves BGP then took 146 s instead of 1. The limit is raised only if a lab needs more, and
restored when the last lab is removed.
"""

from __future__ import annotations

from pathlib import Path

LIMITS = tuple(Path(f"/proc/sys/net/ipv4/neigh/default/gc_thresh{n}") for n in (1, 2, 3))
KEPT = "neighbours"  # file with the original limits


def raise_neighbour_limit(root: Path, needed: int) -> int | None:
    """Raise the kernel's neighbour limit; returns the new limit if it was too low."""
    before = [int(path.read_text(encoding="ascii")) for path in LIMITS]
    if before[-1] >= needed:
        return None
    if not (root / KEPT).exists():
        (root / KEPT).write_text(" ".join(map(str, before)), encoding="ascii")
    for path, value in reversed(list(zip(LIMITS, (needed // 2, needed, needed), strict=True))):
        path.write_text(str(value), encoding="ascii")
    return needed


def restore_neighbour_limit(root: Path) -> None:
    """Restore the limits before the first lab that needed more."""
    stored = root / KEPT
    if not stored.exists():
        return
    for path, value in zip(LIMITS, stored.read_text(encoding="ascii").split(), strict=True):
        path.write_text(value, encoding="ascii")
    stored.unlink()
    if not any(root.iterdir()):
        root.rmdir()
