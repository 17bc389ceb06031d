"""Side table of a derived fabric: one shared table for all lossless ports, with all fields."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocefort.design.derive.derive import derive
from rocefort.models.network.network import Position, Sources
from rocefort.models.network.sources import SideTable, on_lines

HEPS = derive(Path("heps"))
PLACES = st.builds(Position, st.sampled_from(["a.yaml", "b.yaml"]), st.integers(1, 6))
PORTS = st.sampled_from([f"leaf0{n}/interfaces[100GE1/0/{n}]" for n in (1, 2, 3)])
BELOW = st.sampled_from([".pfc", ".thresholds", ".thresholds[4].xon_kbytes"])
OWN = st.dictionaries(st.one_of(PORTS, st.builds(str.__add__, PORTS, BELOW)), PLACES)
SHARED = st.lists(PORTS, unique=True)
ROWS = st.lists(st.dictionaries(BELOW, PLACES), min_size=1, max_size=2)  # of two profiles


@given(own=OWN, below=ROWS, shared=SHARED)
def test_it_is_the_flat_table_in_which_own_places_go_first(
    own: dict[str, Position], below: list[dict[str, Position]], shared: list[str]
) -> None:
    ports = {port: below[index % len(below)] for index, port in enumerate(shared)}
    flat = {f"{port}{path}": at for port, rows in ports.items() for path, at in rows.items()}
    flat |= own
    table = SideTable(own, ports)
    assert dict(table) == flat
    assert len(table) == len(flat)
    assert {key: table[key] for key in flat} == flat
    for lines in ({1}, {2, 3}, set[int]()):
        assert sorted(on_lines(table, lines)) == sorted(on_lines(flat, lines))


def test_what_is_not_there() -> None:
    table = SideTable({}, {"leaf01/interfaces[100GE1/0/1]": {".pfc": Position("a.yaml", 1)}})
    for key in ("leaf01/interfaces[100GE1/0/1].mtu", "leaf01/bgp", "", "]"):
        assert table.get(key) is None
        assert key not in table
        with pytest.raises(KeyError):
            table[key]


def test_each_field_of_a_lossless_port_of_heps_has_its_own_line() -> None:
    """Values of the lossless profile are in one table, and values of the leaf in another."""
    text = Path(HEPS.document.file).read_text(encoding="utf-8").splitlines()
    sources, port = Sources(dict(HEPS.sources.table)), "interfaces[100GE1/0/1]"
    for path in (port, f"{port}.mtu", f"{port}.pfc", f"{port}.thresholds[4].xoff_kbytes"):
        assert HEPS.sources.find("leaf01", path) == sources.find("leaf01", path)
    xoff = HEPS.sources.find("leaf01", f"{port}.thresholds[4].xoff_kbytes")
    assert xoff is not None
    assert text[xoff.line - 1].strip().startswith("xoff_kbytes: ")
