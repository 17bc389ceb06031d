"""HEPS with beamlines on its 25G leaves, for tests of beamlines."""

from __future__ import annotations

from rocefort.base.repository import INVENTORY

HEPS = (INVENTORY / "heps" / "fabric.yaml").read_text(encoding="utf-8")
BEFORE = "\nsecurity:\n"


def entry(number: int, name: str, leaf: str, ports: str, rate: str, to: str) -> str:
    """Entry of one beamline."""
    return f"""
  - id: {number}
    name: {name}
    leaf: {leaf}
    ports: [{ports}]
    segment: beamline
    nic: connectx-dscp34
    detectors: [{{name: eiger, rate: {rate}}}]
    sends_to: [{{to: {to}}}]"""


# bl1 fills the only port of storage; bl2 shares its leaf, bl3 the leaf of storage, bl4 neither.
FOUR = "\nbeamlines:" + "".join(
    [
        entry(1, "bl1", "leaf05", "25GE1/0/11-16", "90 Gb/s", "storage"),
        entry(2, "bl2", "leaf05", "25GE1/0/21", "10 Gb/s", "transfer"),
        entry(3, "bl3", "leaf06", "25GE1/0/11", "10 Gb/s", "compute"),
        entry(4, "bl4", "leaf07", "25GE1/0/11", "10 Gb/s", "transfer"),
    ]
)


def with_beamlines(text: str = FOUR, heps: str = HEPS) -> str:
    """Return the text of HEPS with beamlines."""
    assert heps.count(BEFORE) == 1
    return heps.replace(BEFORE, f"{text}\n{BEFORE}")


def in_blocks(text: str, ports: int, per_leaf: int = 2) -> str:
    """Return the text with ports that follow from the ids of beamlines."""
    old = "  leaves: 64\n"
    assert text.count(old) == 1
    keys = f"  beamline_ports: {ports}\n  beamlines_per_leaf: {per_leaf}\n"
    return text.replace(old, old + keys)
