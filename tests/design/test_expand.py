"""Growth of a fabric: random sequences change nothing else, and a refusal changes no file."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.base.documents.read import document_of
from rocefort.base.documents.validate import validate
from rocefort.base.errors import BadInput, Refused, RocefortError
from rocefort.base.repository import INVENTORY
from rocefort.change.expand import GrowthOptions, expand, stages_of, wanted_of
from rocefort.design.derive.derive import derive_loaded
from rocefort.design.expand import GrowthRequest, grow, name_pattern
from rocefort.design.load.documents import LoadedFabric, load_catalogue
from rocefort.design.new import Size, new_fabric
from rocefort.dialects.network_text import render_all
from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.topology import Switch
from rocefort.models.network.network import Network

Edit = Callable[..., Path]
TEXT = (INVENTORY / "heps" / "fabric.yaml").read_text(encoding="utf-8")
LIKE = ("leaf08",)
DATA = document_of(TEXT, "heps").data
STYLES = {
    "as it is": TEXT,
    "no line end": TEXT.rstrip("\n"),
    "Windows": TEXT.replace("\n", "\r\n"),
    "JSON": json.dumps(DATA),
    "JSON, indented": json.dumps(DATA, indent=2) + "\n",
}


def loaded(text: str) -> LoadedFabric:
    document = document_of(text, "fabric.yaml")
    return LoadedFabric(validate(Fabric, document), document)


def network_of(text: str) -> Network:
    return derive_loaded(loaded(text), load_catalogue()).network


def assert_nothing_moved(before: Network, after: Network) -> None:
    """Check law 3 without the code that proves it to a user."""
    old, new = render_all(before), render_all(after)
    for node in before.nodes:
        later = after.by_name[node.name]
        assert (later.id, later.management, later.rack) == (node.id, node.management, node.rack)
        rest = iter(new[node.name].splitlines())
        assert all(line in rest for line in old[node.name].splitlines() if line != "#")
        interfaces = later.device.by_interface
        assert all(interfaces[i.name] == i for i in node.device.interfaces)
    assert Counter(before.links) <= Counter(after.links)
    assert Counter(before.servers) <= Counter(after.servers)


steps = st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 3)).filter(
    lambda step: step[0] + step[1] > 0
)


@settings(max_examples=tries(20))
@given(st.sampled_from(sorted(STYLES)), st.lists(steps, min_size=1, max_size=2))
def test_random_growth_moves_nothing_and_keeps_every_byte(
    style: str, sequence: list[tuple[int, int, int]]
) -> None:
    text = STYLES[style]
    network = network_of(text)
    for spines, leaves, servers in sequence:
        done = grow(
            text,
            loaded(text),
            load_catalogue(),
            GrowthRequest(spines, leaves, servers, like=LIKE[:leaves]),
        )
        bare = list(done.text)
        moved = 0
        for one in done.insertions:  # in order of place
            at = one.at + moved
            assert "".join(bare[at : at + len(one.text)]) == one.text
            moved += len(one.text)
        for one in reversed(done.insertions):
            moved -= len(one.text)
            del bare[one.at + moved : one.at + moved + len(one.text)]
        assert "".join(bare) == text
        grown = network_of(done.text)
        assert_nothing_moved(network, grown)
        assert len(grown.nodes) == len(network.nodes) + spines + leaves
        assert len(grown.servers or ()) == len(network.servers or ()) + leaves * servers
        if style.startswith("JSON"):
            assert json.loads(done.text) == document_of(done.text, "x").data
        text, network = done.text, grown


def test_one_growth_is_the_growth_in_steps() -> None:
    """Derived values depend on ids only, so the order of growth does not matter."""
    once = grow(TEXT, loaded(TEXT), load_catalogue(), GrowthRequest(2, 8, 1, like=LIKE)).text
    text = TEXT
    for spines, leaves in ((1, 3), (0, 4), (1, 1)):
        request = GrowthRequest(spines, leaves, 1, like=LIKE)
        text = grow(text, loaded(text), load_catalogue(), request).text
    assert text == once
    assert network_of(text) == network_of(once)


@pytest.mark.parametrize(
    ("spines", "leaves"), [(2, 8), pytest.param(6, 56, marks=pytest.mark.thorough)]
)
def test_heps_phase_two(spines: int, leaves: int) -> None:
    expansion = expand(Path("heps"), wanted_of(GrowthOptions(spines, leaves, 1, [], [], like=LIKE)))
    growth = expansion.growth
    assert growth.after.widths == (2 + spines, 2 + spines)
    denied = 2 * (4 + leaves)  # the policy keeps beamlines and the transfer server apart
    assert growth.after.pairs == ((12 + leaves) * (11 + leaves) - denied,) * 2
    assert growth.after.uplinks_gbps == (100 * (2 + spines),) * 2
    assert growth.after.bisection_gbps == (8 + leaves) // 2 * 100 * (2 + spines)
    assert {(a.what, a.number) for a in growth.proof.additions} == {
        ("interface", 8 * spines + 2 * leaves),
        ("BGP peer", 8 * spines + 2 * leaves),
    }
    assert len(growth.cables) == (2 + spines) * (8 + leaves) - 16 + leaves
    assert expansion.versions.file.text == TEXT
    staged = stages_of(expansion)
    assert not staged.wrong
    assert len(staged.stages) == 1 + 4 * spines + 4
    assert [stage.widths for stage in staged.stages[::4]] == [
        *((n, n) for n in range(2, 3 + spines)),
        (2 + spines, 2 + spines),
    ]


def test_the_patch_of_a_switch_that_is_there_takes_nothing_away() -> None:
    expansion = expand(Path("heps"), wanted_of(GrowthOptions(1, 1, 0, [], [], like=LIKE)))
    old, new = (
        render_all(side.network) for side in (expansion.versions.file.start, expansion.versions.end)
    )
    for name in ("spine01", "leaf01", "leaf08"):
        family = expansion.versions.file.start.network.by_name[name].family
        assert family is not None
        commands = make_patch(old[name], new[name], family.syntax).commands
        undone = [command.strip() for command in commands if "undo" in command]
        assert undone == ["undo portswitch"]  # it makes the new port a routed one


def test_a_spine_with_an_as_number_of_its_own(edit_heps: Edit) -> None:
    path = edit_heps(("  spine_asn: 65000\n", "  spine_asn: 65000\n  spine_asns: each\n"))
    expansion = expand(path, wanted_of(GrowthOptions(2, 1, 1, [], [], like=LIKE)))
    assert [s.asn for s in expansion.growth.switches] == [65003, 65004, 65109]
    assert expansion.growth.after.widths == (4, 4)
    assert not stages_of(expansion).wrong


def names(*switches: tuple[int, str]) -> list[Switch]:
    return [Switch(id=i, name=n, hardware="X", software="V2") for i, n in switches]


def test_ids_of_switches_that_are_gone_are_not_given_again(edit_heps: Edit) -> None:
    gone = edit_heps(
        ("  leaves: 64\n", "  leaves: 64\n  retired_leaves: [9, 11]\n"),
        ("  - id: 2\n    name: spine02\n", "  - id: 4\n    name: spine04\n"),
    )
    expansion = expand(gone, wanted_of(GrowthOptions(1, 2, 0, [], [], like=LIKE)))
    assert [(s.name, s.id) for s in expansion.growth.switches] == [
        ("spine05", 5),
        ("leaf12", 12),
        ("leaf13", 13),
    ]


def test_a_retired_id_in_use_is_an_error(edit_heps: Edit) -> None:
    path = edit_heps(("  leaves: 64\n", "  leaves: 64\n  retired_leaves: [3]\n"))
    with pytest.raises(BadInput) as error:
        expand(path, wanted_of(GrowthOptions(1, 0, 0, [], [])))
    assert str(error.value).endswith(
        "leaves[2].id: id 3 is of a switch that is gone (capacity.retired_leaves); give it an id "
        "that no switch has had"
    )


Replacements = list[tuple[str, str]]
GONE = "  - id: 8\n    name: leaf08\n"
ONE_AS = [
    (f"    name: spine0{n}\n", f"    name: spine0{n}\n    pins: {{asn: 64900}}\n") for n in (1, 2)
]
REFUSED: list[tuple[Replacements, tuple[int, int, int], list[str], list[str]]] = [
    (
        [],
        (7, 0, 0),
        [],
        [
            "FILE: capacity.spines: 7 more spines take ids 3 to 9; the reserved capacity is 8 "
            "spines, which leaves room for 6; ask for fewer; raising capacity.spines may "
            "move addresses: see `diff`"
        ],
    ),
    (
        [(GONE, GONE.replace("id: 8", "id: 64"))],
        (0, 1, 0),
        [],
        [
            "FILE: capacity.leaves: 1 more leaves take id 65; the reserved capacity is 64 leaves, "
            "which leaves room for 0 (56 lower ids are free, but may be of switches that are "
            "gone); ask for fewer; raising capacity.leaves may move addresses: see `diff`"
        ],
    ),
    (
        [],
        (0, 1, 49),
        [],
        [
            "FILE: leaf09: 49 servers on each new leaf, and CE6866-48S8CQ-P has 48 ports for "
            "servers like leaf08's; the others are kept for spines or of another speed; ask for "
            "at most 48"
        ],
    ),
    (
        [],
        (1, 0, 0),
        ["CE6866-48S8CQ-P@V300R023C00"],
        [
            "FILE as it would be:LINE: spines[2].hardware: CE6866-48S8CQ-P has 8 fabric ports, "
            "enough for 8 leaves with 1 link to each; the reserved capacity is 64 leaves; use "
            "CE12800E or CE8850-64CQ-EI or CE9860-4C-EI; or lower capacity.leaves to 8"
        ],
    ),
    (  # every spine needs buffer for another port
        [("      xoff_kbytes: 600", "      xoff_kbytes: 6000")],
        (6, 0, 0),
        [],
        [
            "BUF002 leaf01 and leaf02: xoff and headroom of 10 lossless ports add up to 60818 KB; "
            "the buffer of CE8850-64CQ-EI is 43008 KB, not confirmed by the vendor (third-party "
            "table (42 MB)); lower xoff to 4217 KB at most, or spread the ports over more switches"
        ],
    ),
    (
        ONE_AS,
        (1, 0, 0),
        [],
        [
            "CHG202 leaf01 to leaf08: bgp.as_path_relax changes from nothing to yes, which is no "
            "growth: paths over spines of different AS numbers take it",
            "ADR002: the spines have the AS numbers 64900, 64900 and 65000; they must all share "
            "one or each have its own; give all spines one AS number, or each another",
        ],
    ),
]


@pytest.mark.parametrize(("edits", "numbers", "hardware", "sentences"), REFUSED)
def test_what_cannot_be_is_refused_with_the_numbers(
    edit_heps: Edit,
    edits: Replacements,
    numbers: tuple[int, int, int],
    hardware: list[str],
    sentences: list[str],
) -> None:
    path = edit_heps(*edits)
    before = path.read_bytes()
    with pytest.raises(Refused) as error:
        expand(path, wanted_of(GrowthOptions(*numbers, hardware, [], like=LIKE[: numbers[1]])))
    errors = re.sub(
        r":\d+:\d+:", ":LINE:", str(error.value).replace(str(path), "FILE")
    ).splitlines()
    assert errors == [*sentences, "FILE: it cannot grow so; the file is untouched"]
    assert path.read_bytes() == before


BROKEN: list[tuple[str, str, str]] = [
    ("capacity:\n", "capacity: &c\n", "anchor &c; write the value out"),
    ("capacity:\n", "<<<<<<< ours\ncapacity:\n", "an unresolved merge conflict"),
    ("  - id: 8\n    name: leaf08\n", "  - name: leaf08\n", "leaves[7].id"),
    ("  - id: 8\n    name: leaf08\n", "  - id: 7\n    name: leaf08\n", "id '7' is given twice"),
    ("mtu: 9000", "mtu: [9000", "that opens here is not closed"),
    ("mtu: 9000", "mtu: 9000\nmtu: 9100", "key 'mtu' is there twice"),
]


@pytest.mark.parametrize(("old", "new", "sentence"), BROKEN)
def test_a_broken_fabric_is_not_touched(edit_heps: Edit, old: str, new: str, sentence: str) -> None:
    path = edit_heps((old, new))
    before = path.read_bytes()
    with pytest.raises(BadInput) as error:
        expand(path, wanted_of(GrowthOptions(1, 1, 0, [], [])))
    assert sentence in str(error.value)
    assert str(error.value).startswith(str(path))
    assert path.read_bytes() == before


KINDS = (
    "--add-leaves: the leaves are of {}: {}; name the leaf that new ones are like: --like leaf08"
)
BAD_CHOICES: list[tuple[GrowthOptions, str]] = [
    (
        GrowthOptions(0, 2, 0, [], []),
        KINDS.format(
            "5 kinds",
            "CE8850-64CQ-EI for compute and transfer (leaf01), CE8850-64CQ-EI for compute "
            "(leaf02), CE8851-32CQ8DQ-P for compute (leaf03), CE8851-32CQ8DQ-P for compute and "
            "storage (leaf04) and CE6866-48S8CQ-P for beamline (leaf05)",
        ),
    ),
    (
        GrowthOptions(0, 1, 0, [], [], segments="compute"),
        KINDS.format(
            "3 kinds",
            "CE8850-64CQ-EI (leaf01), CE8851-32CQ8DQ-P (leaf03) and CE6866-48S8CQ-P (leaf05)",
        ),
    ),
    (
        GrowthOptions(0, 1, 0, ["CE8850-64CQ-EI"], []),
        KINDS.format(
            "2 kinds", "for compute and transfer (leaf01) and for compute (leaf02)"
        ).replace("leaf08", "leaf02"),
    ),
    (
        GrowthOptions(0, 1, 0, [], [], like=["leaf9"]),
        "--like: no spine or leaf 'leaf9'; did you mean 'leaf08'?",
    ),
    (
        GrowthOptions(0, 1, 0, [], [], like=["spine01"]),
        "--like: spine01 is a spine, and no new one is requested; add --add-spines",
    ),
    (
        GrowthOptions(0, 1, 0, [], [], like=["leaf01", "leaf02"]),
        "--like: new leaves are like one leaf, not like leaf01 and leaf02; add the others by "
        "another command",
    ),
    (
        GrowthOptions(0, 1, 0, [], [], like=LIKE, segments="computer"),
        "--segments: no segment 'computer' with a VLAN; did you mean 'compute'?",
    ),
    (
        GrowthOptions(1, 0, 0, [], [], segments="compute"),
        "--segments without --add-leaves; add --add-leaves: new segments need new leaves",
    ),
    (
        GrowthOptions(0, 1, 0, [], [], like=LIKE, names=["leaf01"]),
        "--names: 'leaf01' is in use; choose another name",
    ),
    (
        GrowthOptions(0, 2, 0, [], [], like=LIKE, names=["a,a"]),
        "--names: 'a' is in use; choose another name",
    ),
    (
        GrowthOptions(0, 2, 0, [], [], like=LIKE, names=["a"]),
        "--names: 1 name for 2 new switches; name each, or leave the number out",
    ),
    (
        GrowthOptions(1, 0, 0, [], [], names=["leaves=a", "b,c"]),
        "--names: 'b,c' may be of new spines or of new leaves; write spines=b,c or leaves=b,c",
    ),
]


@pytest.mark.parametrize(("given", "sentence"), BAD_CHOICES)
def test_a_choice_that_is_open_or_wrong_is_refused(given: GrowthOptions, sentence: str) -> None:
    with pytest.raises(BadInput) as error:
        expand(Path("heps"), wanted_of(given))
    assert str(error.value) == sentence


def test_new_leaves_are_like_the_named_one(edit_heps: Edit) -> None:
    """Hardware, NICs and server ports are of leaf02; segments and names are as typed."""
    path = edit_heps(
        ("    leaf: leaf02\n    port: 100GE1/0/1\n", "    leaf: leaf02\n    port: 100GE1/0/7\n")
    )
    given = GrowthOptions(
        1, 0, 2, [], [], like=["leaf02"], segments="storage,transfer",
        names=["leaves=gpu-a,gpu-b"],
    )  # fmt: skip
    expansion = expand(path, wanted_of(given))
    growth = expansion.growth
    assert [(s.name, s.id, s.hardware) for s in growth.switches] == [
        ("spine03", 3, "CE9860-4C-EI"),
        ("gpu-a", 9, "CE8850-64CQ-EI"),
        ("gpu-b", 10, "CE8850-64CQ-EI"),
    ]
    assert growth.without_rack == ("spine03", "gpu-a", "gpu-b")
    fabric = expansion.versions.edited.loaded.fabric
    assert {leaf.segments for leaf in fabric.leaves[8:]} == {("storage", "transfer")}
    assert [(s.leaf, s.port, s.segment, s.nic) for s in fabric.servers[12:]] == [
        (leaf, port, "storage", "connectx-dscp34")
        for leaf in ("gpu-a", "gpu-b")
        for port in ("100GE1/0/2", "100GE1/0/7")
    ]


def test_a_fabric_of_one_kind_needs_no_choice(tmp_path: Path) -> None:
    path = tmp_path / "fabric.yaml"
    text = new_fabric("one", Size(2, 3, 1), "CE8851-32CQ8DQ-P", "CE9860-4C-EI")
    path.write_text(text, encoding="utf-8")
    given = GrowthOptions(0, 0, 1, [], [], names=["east"])
    assert [(s.name, s.id) for s in expand(path, wanted_of(given)).growth.switches] == [("east", 4)]


BAD_REQUESTS: list[tuple[tuple[int, int, int], list[str], list[str], str]] = [
    ((0, 0, 0), [], [], "nothing to add; add --add-spines or --add-leaves"),
    (
        (1, 0, 2),
        [],
        [],
        "--servers without --add-leaves; add --add-leaves: new servers need new leaves",
    ),
    ((1, 0, 0), ["leaves=X"], [], "--hardware: no new leaves for 'leaves=X'; write spines=.."),
    (
        (1, 1, 0),
        [],
        ["r1"],
        "--racks: 'r1' may be of new spines or of new leaves; write spines=r1 or leaves=r1",
    ),
    ((0, 1, 0), [], ["r1,r2"], "--racks: 2 racks for 1 new switch; name at most 1"),
    ((0, 2, 0), [], ["r1", "leaves=r2"], "--racks: given twice for leaves; give it once"),
    (
        (0, 1, 0),
        [],
        ["row 3"],
        "--racks: 'row 3' is not a name; use 1 to 63 letters, digits, '.', '_' or '-', beginning "
        "with a letter or digit; write RACK,RACK",
    ),
    (
        (0, 1, 0),
        ["CE8850-64CQ"],
        [],
        "--hardware: no hardware 'CE8850-64CQ' in inventory/hardware; did you mean "
        "'CE8850-64CQ-EI'?",
    ),
    (
        (0, 1, 0),
        ["CE6865-48S8CQ-EI"],
        [],
        "--hardware: CE6865-48S8CQ-EI has no release 'V300R023C00'; write one of its releases, which "
        "begin with V200: CE6865-48S8CQ-EI@RELEASE",
    ),
]


@pytest.mark.parametrize(("numbers", "hardware", "racks", "sentence"), BAD_REQUESTS)
def test_what_is_asked_wrongly(
    numbers: tuple[int, int, int], hardware: list[str], racks: list[str], sentence: str
) -> None:
    with pytest.raises(RocefortError) as error:
        expand(Path("heps"), wanted_of(GrowthOptions(*numbers, hardware, racks, like=LIKE)))
    assert str(error.value) == sentence
    assert error.value.exit_code == 2


def test_racks_and_hardware_are_as_asked_and_pins_stay_where_they_are(edit_heps: Edit) -> None:
    pinned = GONE + "    pins: {loopback: 10.0.1.99}\n"
    path = edit_heps((GONE, pinned))
    hardware, racks = ["leaves=CE8850-64CQ-EI"], ["leaves=row3,row4", "spines=net3"]
    request = wanted_of(GrowthOptions(1, 3, 2, hardware, racks, like=["leaf02"]))
    expansion = expand(path, request)
    rows = [(s.name, s.hardware, s.software, s.rack) for s in expansion.growth.switches]
    assert rows == [
        ("spine03", "CE9860-4C-EI", "V200R022C00", "net3"),
        ("leaf09", "CE8850-64CQ-EI", "V200R022C00", "row3"),
        ("leaf10", "CE8850-64CQ-EI", "V200R022C00", "row3"),
        ("leaf11", "CE8850-64CQ-EI", "V200R022C00", "row4"),
    ]
    expansion.versions.write()
    text = path.read_text(encoding="utf-8")
    assert text.count("pins:") == 1
    assert (
        "  - id: 9\n    name: leaf09\n    hardware: CE8850-64CQ-EI\n"
        "    software: V200R022C00\n    rack: row3\n    segments: [compute]\n"
    ) in text
    assert (
        "  - name: daisycn02\n    leaf: leaf09\n    port: 100GE1/0/1\n    segment: compute\n"
        "    nic: connectx-dscp34\n"
    ) in text


def test_names_follow_the_pattern_that_most_have() -> None:
    cases: list[tuple[list[tuple[int, str]], str]] = [
        ([(1, "leaf01"), (2, "leaf02")], "leaf03"),
        ([(1, "r1-leaf-101"), (2, "r1-leaf-102")], "r1-leaf-103"),
        ([(1, "leaf1.hall2"), (2, "leaf2.hall2")], "leaf3.hall2"),
        ([(1, "tokyo"), (2, "oslo")], "leaf03"),
        ([(1, "a"), (2, "leaf-02")], "leaf-03"),
    ]
    for members, following in cases:
        assert name_pattern(names(*members), "leaves")(3) == following


def test_servers_named_by_their_leaf_are_counted_on_each_leaf(edit_heps: Edit) -> None:
    path = edit_heps(("  - name: readout04\n", "  - name: leaf08-s07\n"))
    expansion = expand(path, wanted_of(GrowthOptions(0, 2, 2, [], [], like=LIKE)))
    assert expansion.growth.servers == ("leaf09-s01", "leaf09-s02", "leaf10-s01", "leaf10-s02")


def test_a_fabric_without_servers_gets_a_list_of_them() -> None:
    text = re.sub(r"(?s)\nservers:\n.*?\nsecurity:", "\nsecurity:", TEXT)
    done = grow(text, loaded(text), load_catalogue(), GrowthRequest(0, 1, 2, like=LIKE))
    assert done.new["servers"] == ("server01", "server02")
    ports = [(s.leaf, s.port) for s in done.loaded.fabric.servers]
    assert ports == [("leaf09", "25GE1/0/1"), ("leaf09", "25GE1/0/2")]
    assert_nothing_moved(network_of(text), network_of(done.text))
