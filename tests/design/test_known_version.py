"""A fabric derived beside another version of it: the same Network, with what stays taken over."""

from __future__ import annotations

from pathlib import Path

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.design.derive import Derived, derive, derive_loaded
from rocefort.design.load import Loaded, load_catalogue
from rocefort.documents.read import document_of
from rocefort.documents.validate import validate
from rocefort.models.fabric import Fabric

HEPS = derive(Path("heps"))
TEXT = Path(HEPS.document.file).read_text(encoding="utf-8")
EDITS = [
    ("\n# nothing but a line more\n", ""),
    ("xoff_kbytes: 600", "xoff_kbytes: 640"),
    ("mtu: 9000", "mtu: 9100"),
    ("leaf_asn_base: ", "leaf_asn_base: 1"),
    ("leaf02", "other02"),
    ("keepalive_s: 10", "keepalive_s: 20"),
    ("fabric_m: 50", "fabric_m: 60"),
    ("port: 100GE1/0/1\n", "port: 100GE1/0/9\n"),
]


def derived(text: str, known: Derived | None = None) -> Derived:
    document = document_of(text, HEPS.document.file)
    loaded = Loaded(validate(Fabric, document), document)
    return derive_loaded(loaded, load_catalogue(), known=known)


@pytest.mark.parametrize(("old", "new"), EDITS)
def test_what_is_known_changes_nothing(old: str, new: str) -> None:
    text = TEXT.replace(old, new) if new else f"{old}{TEXT}"
    assert text != TEXT
    alone, beside = derived(text), derived(text, HEPS)
    assert beside.network == alone.network
    assert dict(beside.sources.table) == dict(alone.sources.table)


VERSIONS = st.lists(st.sampled_from([edit for edit in EDITS if edit[1]]), max_size=3, unique=True)


@settings(max_examples=tries(20))
@given(before=VERSIONS, after=VERSIONS)
def test_no_pair_of_versions_tells_that_one_was_known(
    before: list[tuple[str, str]], after: list[tuple[str, str]]
) -> None:
    base, text = TEXT, TEXT
    for edit in before:
        base = base.replace(*edit)
    for edit in after:
        text = text.replace(*edit)
    alone, beside = derived(text), derived(text, derived(base))
    assert beside.network.model_dump_json() == alone.network.model_dump_json()
    assert dict(beside.sources.table) == dict(alone.sources.table)


def test_ports_and_peers_that_stay_are_the_same_objects() -> None:
    beside = derived(f"# a line more\n{TEXT}", HEPS)
    for node in beside.network.nodes:
        known = HEPS.network.by_name[node.name].device
        assert node.device.bgp is not None
        assert known.bgp is not None
        for port in node.device.interfaces:
            if port.kind == "ethernet":
                assert port is known.by_interface[port.name], port.name
        for peer in node.device.bgp.peers:
            assert peer is known.bgp.by_address[peer.address]
