"""Removal and rename in a fabric's YAML: what stays does not move, and the way back is exact."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.base.documents.edit import spliced, with_scalars
from rocefort.base.documents.read import document_of
from rocefort.base.documents.validate import validate
from rocefort.base.errors import BadInput, Refused, RocefortError
from rocefort.base.repository import INVENTORY
from rocefort.design.derive.derive import derive_loaded
from rocefort.design.expand import GrowthRequest, grow
from rocefort.design.load.documents import LoadedFabric, load_catalogue
from rocefort.design.remove import remove, rename
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.network.network import Network

Edit = Callable[..., Path]
TEXT = (INVENTORY / "heps" / "fabric.yaml").read_text(encoding="utf-8")
DATA: Any = document_of(TEXT, "heps").data
SPACED = re.sub(r"\n(  - (?:id|name): )", r"\n\n\1", TEXT)
FLOW = re.sub(  # leaves and servers in braces, each on its line
    r"(?ms)^leaves:\n.*?^servers:\n.*?^security:",
    lambda _: (
        "".join(
            f"{key}:\n" + "".join(f"  - {json.dumps(item)}  # mine\n" for item in DATA[key])
            for key in ("leaves", "servers")
        )
        + "security:"
    ),
    TEXT,
)
BRACKETS = re.sub(
    r"(?ms)^servers:\n.*?^security:",
    lambda _: (
        "servers: [\n"
        + "".join(f"  {json.dumps(item)},  # rack 7\n" for item in DATA["servers"])
        + "]\nsecurity:"
    ),
    TEXT,
)
SERVER_LIST = TEXT[TEXT.index("\nservers:\n") + 1 : TEXT.index("\nsecurity:\n")]
STYLES = {
    "as it is": TEXT,
    "no line end after servers": TEXT.replace(f"{SERVER_LIST}\n", "")
    + "\n"
    + SERVER_LIST.rstrip("\n"),
    "BOM": "\ufeff" + TEXT,
    "Windows": TEXT.replace("\n", "\r\n"),
    "blank lines between items": SPACED,
    "items in braces": FLOW,
    "lists in brackets": BRACKETS,
    "JSON": json.dumps(DATA),
    "JSON, indented": json.dumps(DATA, indent=2) + "\n",
}
CANARY = "leaf08"
SERVERS = {server["name"]: server["leaf"] for server in DATA["servers"]}
SWITCHES = [switch["name"] for key in ("spines", "leaves") for switch in DATA[key]]


def loaded(text: str) -> LoadedFabric:
    document = document_of(text, "fabric.yaml")
    return LoadedFabric(validate(Fabric, document), document)


def network_of(text: str) -> Network:
    return derive_loaded(loaded(text)).network


def assert_rest_unmoved(before: Network, after: Network) -> None:
    """Check that all that is left has the values that it had, without the code that proves it."""
    for node in after.nodes:
        was = before.by_name[node.name]
        assert (node.id, node.management, node.rack) == (was.id, was.management, was.rack)
        assert node.device.bgp is not None and was.device.bgp is not None
        assert node.device.bgp.asn == was.device.bgp.asn
        assert set(node.device.bgp.peers) <= set(was.device.bgp.peers)
        assert set(node.device.interfaces) <= set(was.device.interfaces)
    assert Counter(after.links) <= Counter(before.links)
    assert Counter(after.servers) <= Counter(before.servers)


def test_the_styles_are_the_same_fabric() -> None:
    assert all(document_of(text, "x").data == DATA for text in STYLES.values())


@settings(max_examples=tries(40))
@given(
    st.sampled_from(sorted(STYLES)),
    st.sets(st.sampled_from([*SERVERS, *(n for n in SWITCHES if n not in (CANARY, "spine01"))])),
)
def test_any_removal_moves_nothing_that_stays(style: str, names: set[str]) -> None:
    gone = names | {server for server, leaf in SERVERS.items() if leaf in names}
    text = STYLES[style]
    done = remove(text, loaded(text), sorted(gone))
    before, after = network_of(text), network_of(done.text)
    assert {node.name for node in after.nodes} == {n.name for n in before.nodes} - gone
    assert {s.name for s in after.servers or ()} == {*SERVERS} - gone
    assert_rest_unmoved(before, after)
    assert "\n\n\n" not in done.text.replace("\r", "")
    comments = re.findall(r"(?m)^ *#.*$", text)
    left = iter(re.findall(r"(?m)^ *#.*$", done.text))
    assert all(comment in left for comment in comments) or style == "BOM"
    rest = iter(text.splitlines())
    if not style.startswith("JSON") and style != "lists in brackets":
        kept = [line for line in done.text.splitlines() if "retired_" not in line]
        assert all(line.replace(" []", "") in rest for line in kept)


@settings(max_examples=tries(20))
@given(
    st.sampled_from(sorted(STYLES)),
    st.integers(0, 2),
    st.integers(0, 3),
    st.integers(0, 2),
)
def test_a_removal_is_the_way_back_of_a_growth(
    style: str, spines: int, leaves: int, servers: int
) -> None:
    """The text is the one before the growth, byte for byte, but for the retired ids."""
    text = STYLES[style]
    request = GrowthRequest(spines, leaves, servers, like=["leaf08"][:leaves])
    grown = grow(text, loaded(text), load_catalogue(), request)
    new = [name for names in grown.new.values() for name in names]
    back = remove(grown.text, loaded(grown.text), new)
    numbers = []
    for group, number in (("spines", spines), ("leaves", leaves)):
        last = len(DATA[group])
        ids = list(range(last + 1, last + number + 1))
        numbers += with_scalars(text, ("capacity", f"retired_{group}"), ids) if ids else []
    assert back.text == spliced(text, numbers)
    assert network_of(back.text) == network_of(text)


@settings(max_examples=tries(30))
@given(
    st.sampled_from(sorted(STYLES)),
    st.sampled_from([*SERVERS, *SWITCHES]),
    st.from_regex(r"\A[a-z][a-z0-9-]{0,20}\Z").filter(
        lambda name: name not in (*SERVERS, *SWITCHES, "null", "true", "false")
    ),
)
def test_a_rename_there_and_back_is_the_same_text(style: str, old: str, new: str) -> None:
    text = STYLES[style]
    there = rename(text, loaded(text), old, new)
    assert rename(there.text, there.loaded, new, old).text == text
    word = re.compile(rf"(?<![\w-]){re.escape(old)}(?![\w-])")
    assert there.text == word.sub(new, text)  # HEPS has no comment with a name
    before, after = network_of(text), network_of(there.text)
    assert [(n.role, n.id, n.management) for n in before.nodes] == [
        (n.role, n.id, n.management) for n in after.nodes
    ]
    assert [s.address for s in before.servers or ()] == [s.address for s in after.servers or ()]


PIN = "links:\n  - {spine: spine02, leaf: leaf03, cable_m: 7}  # short\nservers:\n"
WAIVER = """\nwaivers:
  # a comment above
  - {rule: BUF002, device: leaf03, why: tried, until: 2030-01-01}
  - {rule: BUF002, device: leaf04, why: tried, until: 2030-01-01}
"""


def test_what_refers_to_it_goes_with_it(edit_heps: Edit) -> None:
    path = edit_heps(
        ("servers:\n", PIN),
        ("rdma:\n", "rdma:\n  servers: [transfer01, k8sgn12]\n"),
        ("  leaves: 64\n", "  leaves: 64  # Phase II\n  retired_leaves:\n    - 40\n"),
        ("host: roce-server  # assumed\n", "host: roce-server  # assumed\n" + WAIVER),
    )
    text = path.read_text(encoding="utf-8")
    done = remove(text, loaded(text), ["leaf03", "k8sgn12", "daisygn02"])
    assert done.beside == (
        "capacity.retired_leaves keeps id 3 free: no other switch gets them",
        "the values of link 1 of spine02 and leaf03 are removed",
        "the waiver of BUF002 at leaf03 is removed",
        "rdma.servers no longer lists k8sgn12",
    )
    fabric = done.loaded.fabric
    assert fabric.capacity.retired_leaves == (40, 3)
    assert (fabric.links, fabric.rdma.servers) == ((), ("transfer01",))
    assert [waiver.device for waiver in fabric.waivers] == ["leaf04"]
    assert "  retired_leaves:\n    - 40\n    - 3\n\n" in done.text
    assert "\nlinks: []\nservers:\n" in done.text
    assert "  # a comment above\n  - {rule: BUF002, device: leaf04" in done.text
    renamed = rename(text, loaded(text), "leaf03", "gpu03")
    assert renamed.beside == (
        "leaves[2].name",
        "servers[4].leaf",
        "servers[5].leaf",
        "links[0].leaf",
        "waivers[0].device",
    )
    assert rename(text, loaded(text), "k8sgn12", "a").beside == (
        "servers[4].name",
        "rdma.servers[1]",
    )


REFUSED: list[tuple[list[str], type[RocefortError], str]] = [
    (["leaf9"], BadInput, "no spine, leaf or server 'leaf9'; did you mean 'leaf08'?"),
    (
        ["leaf01", "k8sgn08"],
        Refused,
        "leaf01: 1 server would lose the leaf: transfer01; move them to another leaf first, or "
        "remove them by the same command",
    ),
    (["spine01", "spine02"], Refused, "no spine would be left; keep one"),
    (
        ["leaf08", "readout04"],
        Refused,
        "fabric.yaml:262:11: rollout.canary: leaf08 is the canary of rollouts; name another leaf "
        "first",
    ),
]


def test_the_last_server_of_the_list_for_tests_stays(edit_heps: Edit) -> None:
    """Without any, the list would read as none, and gates would choose among all servers."""
    path = edit_heps(("rdma:\n", "rdma:\n  servers: [transfer01, k8sgn12]\n"))
    text = path.read_text(encoding="utf-8")
    with pytest.raises(Refused, match="no server would be left in the list; list another"):
        remove(text, loaded(text), ["k8sgn12", "transfer01"])
    assert remove(text, loaded(text), ["k8sgn12"]).loaded.fabric.rdma.servers == ("transfer01",)


@pytest.mark.parametrize(("names", "kind", "sentence"), REFUSED)
def test_what_cannot_go(names: list[str], kind: type[RocefortError], sentence: str) -> None:
    with pytest.raises(kind) as error:
        remove(TEXT, loaded(TEXT), names)
    assert str(error.value) == sentence


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("leaf9", "a", "no spine, leaf or server 'leaf9'; did you mean 'leaf08'?"),
        ("leaf01", "k8sgn08", "'k8sgn08' is in use; choose another name"),
        ("leaf01", "leaf01", "'leaf01' is in use; choose another name"),
        (
            "leaf01",
            "a b",
            "'a b' is not a name; use 1 to 63 letters, digits, '.', '_' or '-', beginning with a "
            "letter or digit; choose another name",
        ),
    ],
)
def test_a_name_that_cannot_be(old: str, new: str, sentence: str) -> None:
    with pytest.raises(BadInput) as error:
        rename(TEXT, loaded(TEXT), old, new)
    assert str(error.value) == sentence


def test_a_name_that_yaml_reads_as_a_value_is_in_quotes() -> None:
    done = rename(TEXT, loaded(TEXT), "leaf08", "1e5")
    assert 'canary: "1e5"' in done.text
    assert done.loaded.fabric.rollout.canary == "1e5"
