"""Imports of texts that Rocefort did not write: errors, reports, and imported values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from rocefort.base.errors import BadInput, Refused
from rocefort.base.repository import HARDWARE
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.importing.hardware import SwitchInputs, read_facts
from rocefort.design.importing.import_texts import facts_of, import_fabric, imported_report
from rocefort.design.results import ImportedFabric
from rocefort.design.subject import write_texts
from rocefort.dialects.network_text import render_all
from rocefort.reports.writers.terminal import text_of

Edit = Callable[[dict[str, str]], None]
Import = Callable[[Edit], ImportedFabric]


@pytest.fixture(scope="module")
def texts(heps: DerivedNetwork) -> Mapping[str, str]:
    return render_all(heps.network)


@pytest.fixture(scope="module")
def facts(heps: DerivedNetwork) -> SwitchInputs:
    nodes = heps.network.nodes
    return SwitchInputs(
        {node.name: node.hardware.model for node in nodes if node.hardware},
        {node.name: node.software for node in nodes if node.software},
    )


@pytest.fixture
def imported(texts: Mapping[str, str], facts: SwitchInputs, tmp_path: Path) -> Import:
    """Import edited texts of HEPS."""

    def run(edit: Edit) -> ImportedFabric:
        mine = dict(texts)
        edit(mine)
        configs = tmp_path / "configs"
        configs.mkdir()
        for name, text in mine.items():
            (configs / f"{name}.cfg").write_text(text, encoding="utf-8")
        hardware = {name: model for name, model in facts.hardware.items() if name in mine}
        inputs = SwitchInputs(hardware, {name: facts.software[name] for name in hardware})
        return import_fabric(configs, tmp_path / "inventory" / "site", inputs)

    return run


def replace(name: str, old: str, new: str) -> Edit:
    def edit(texts: dict[str, str]) -> None:
        assert old in texts[name]
        texts[name] = texts[name].replace(old, new)

    return edit


def drop(*names: str) -> Edit:
    def edit(texts: dict[str, str]) -> None:
        for name in names:
            del texts[name]

    return edit


def without_bgp(texts: dict[str, str]) -> None:
    for name, text in texts.items():
        texts[name] = re.sub(r"^bgp .*?^#\n(?=\S)", "", text, flags=re.DOTALL | re.MULTILINE)
        assert "bgp" not in texts[name]


def one_loopback(texts: dict[str, str]) -> None:
    texts["leaf02"] = texts["leaf02"].replace("10.0.1.2 ", "10.0.1.1 ")


def spines_linked(texts: dict[str, str]) -> None:
    for name, own, far in (("spine01", 4, 5), ("spine02", 5, 4)):
        port = (
            f"interface 100GE1/4/32\n undo portswitch\n ip address 172.31.9.{own} 255.255.255.254\n"
        )
        text = texts[name].replace("bgp 65000\n", f"{port}#\nbgp 65000\n")
        peer = f" peer 172.31.9.{far} as-number 65000\n"
        texts[name] = text.replace(" peer 10.1.0.1 as", f"{peer} peer 10.1.0.1 as", 1)


def leaf_alone(texts: dict[str, str]) -> None:
    for line in (r" peer 10\.1\.0\..*\n", r" ip address 10\.1\.0\..*\n"):
        texts["leaf03"] = re.sub(line, "", texts["leaf03"])


def session_missing(texts: dict[str, str]) -> None:
    texts["leaf03"] = re.sub(r" +peer 10\.1\.0\.34 .*\n", "", texts["leaf03"])
    texts["spine02"] = re.sub(r" +peer 10\.1\.0\.35 .*\n", "", texts["spine02"])


def wide_link(texts: dict[str, str]) -> None:
    for name, own, far in (
        ("leaf03", "10.1.0.33", "10.1.0.32"),
        ("spine01", "10.1.0.32", "10.1.0.33"),
    ):
        new = {"10.1.0.33": "172.31.0.1", "10.1.0.32": "172.31.0.2"}
        text = texts[name].replace(f" {own} 255.255.255.254", f" {new[own]} 255.255.255.248")
        texts[name] = text.replace(f" peer {far} ", f" peer {new[far]} ")


REFUSED = {
    "no BGP": (without_bgp, "nothing here looks like a fabric: none of 10 switches has BGP"),
    "one loopback": (one_loopback, "leaf02 and leaf01 both have loopback 10.0.1.1"),
    "a spine-spine link": (
        spines_linked,
        "spine01 100GE1/4/32 - spine02 100GE1/4/32 joins two spines; a fabric has links between "
        "leaves and spines only",
    ),
    "alone": (leaf_alone, "leaf03 peers with none of the other switches; take its text out"),
    "no spines": (
        drop("spine01", "spine02"),
        "no spines: none of these switches peers with another; add the texts of the spines",
    ),
    "incomplete": (session_missing, "leaf03 has 0 sessions with spine02 and 1 with spine01"),
    "wide": (wide_link, "leaf03 100GE1/0/25 - spine01 100GE1/1/3 has subnet 172.31.0.0/29"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_fabric_is_one_clear_error(name: str, imported: Import, tmp_path: Path) -> None:
    edit, sentence = REFUSED[name]
    with pytest.raises(BadInput) as error:
        imported(edit)
    assert sentence in str(error.value)
    assert len(error.value.problems) == 1
    assert not (tmp_path / "inventory").exists()


LEFT = {
    "a trunk": (
        replace(
            "leaf01",
            "interface 100GE1/0/57\n",
            "interface 100GE1/0/40\n port link-type trunk\n port trunk allow-pass vlan 120\n#\n"
            "interface 100GE1/0/57\n",
        ),
        "leaf01.cfg:{}: interfaces[100GE1/0/40] name=100GE1/0/40, link_type=trunk, "
        "trunk_vlans=120 is not carried over",
        "interface 100GE1/0/40",
    ),
    "an unknown line": (
        replace("leaf01", "lldp enable\n", "lldp enable\nsome unheard of command\n"),
        "leaf01.cfg:{}: some unheard of command is not understood",
        "some unheard of command",
    ),
    "a line that is known": (
        replace("leaf01", "lldp enable\n", "lldp enable\nclock timezone CET add 01:00:00\n"),
        "leaf01.cfg:{}: clock timezone CET add 01:00:00 is known, but no fabric sets it",
        "clock timezone",
    ),
    "other thresholds": (
        replace(
            "leaf02", "xoff static 600 kbytes xon offset 50", "xoff static 700 kbytes xon offset 50"
        ),
        "leaf02.cfg:{}: interfaces[100GE1/0/1].thresholds[4].xoff_kbytes 700 becomes 600",
        "xoff static 700",
    ),
    "a static route": (
        replace(
            "leaf01", "bgp 65101\n", "ip route-static 10.9.0.0 255.255.0.0 NULL0\n#\nbgp 65101\n"
        ),
        "leaf01.cfg:{}: static_routes[10.9.0.0/16 NULL0] prefix=10.9.0.0/16 is not carried over",
        "ip route-static",
    ),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_no_fabric_says_is_told_by_file_and_line(
    name: str, imported: Import, tmp_path: Path
) -> None:
    edit, sentence, marker = LEFT[name]
    done = imported(edit)
    file = next(iter(sentence.split(":")))
    lines = (tmp_path / "configs" / file).read_text().splitlines()
    number = next(n for n, line in enumerate(lines, 1) if marker in line)
    expected = f"{tmp_path / 'configs'}/{sentence.format(number)}"
    assert expected in done.left
    assert expected in Path(done.file).read_text()
    shown = text_of(*imported_report(done), width=80)
    assert expected in " ".join(shown.split())
    assert "line not carried over:" in shown or "lines not carried over:" in shown
    assert all(len(line) <= 80 or " " not in line.strip() for line in shown.splitlines()[:-1])


EBGP = "Rocefort computes routes of eBGP only"
OVERLAY = "a fabric routes IPv4 between its leaves, without an overlay"
LABELS = "a fabric forwards IPv4, without labels"
SERVERS = "in a fabric, each server is on one leaf"
FOREIGN = [
    ("ospf 1\n area 0", "OSPF", 2, EBGP),
    ("isis 1\n cost-style wide", "IS-IS", 2, EBGP),
    ("rip 1\n network 10.0.0.0", "RIP", 2, EBGP),
    ("evpn-overlay enable", "EVPN", 1, OVERLAY),
    ("bridge-domain 10\n vxlan vni 10", "VXLAN", 2, OVERLAY),
    ("interface Nve1\n source 10.0.1.1", "VXLAN", 1, OVERLAY),
    ("dfs-group 1\n source ip 10.0.1.1", "M-LAG", 2, SERVERS),
    ("interface Eth-Trunk100\n peer-link 1", "M-LAG", 1, SERVERS),
    (
        "stack\n stack member 1 domain 10",
        "a stack",
        1,  # an empty section is of no design
        "each switch has a configuration of its own",
    ),
    ("mpls lsr-id 10.0.1.1", "MPLS", 1, LABELS),
    ("segment-routing ipv6\n locator a", "segment routing", 2, LABELS),
    ("ipv6 route-static :: 0 2001:db8::1", "IPv6", 1, "Rocefort judges IPv4 only"),
]


@pytest.mark.parametrize(("lines", "design", "count", "contrast"), FOREIGN)
def test_another_design_is_one_sentence_and_the_first(
    lines: str, design: str, count: int, contrast: str, imported: Import
) -> None:
    def edit(texts: dict[str, str]) -> None:
        for name in ("leaf01", "leaf02", "leaf05"):
            texts[name] = texts[name].replace("lldp enable\n", f"lldp enable\n#\n{lines}\n#\n")

    done = imported(edit)
    [sentence] = done.designs
    assert sentence.startswith(
        f"{design} is not modelled: {3 * count} lines on 3 switches (leaf01, leaf02 and leaf05); "
    )
    assert sentence.endswith(f"{contrast}; this import is not the whole truth")
    assert not done.whole
    assert not any(line in row for line in lines.split("\n") for row in done.left)
    assert " ".join(text_of(*imported_report(done), width=80).split()).startswith(sentence)
    assert f"#   {sentence}\n" in Path(done.file).read_text()


def test_equal_lines_of_several_switches_are_together(imported: Import) -> None:
    def edit(texts: dict[str, str]) -> None:
        for name, text in texts.items():
            line = "some other command" if name == "leaf03" else "some unheard of command"
            texts[name] = text.replace("lldp enable\n", f"lldp enable\n{line}\n")

    done = imported(edit)
    assert done.lines_left == 10
    assert [row.rpartition("/")[2] for row in done.left] == [
        "spine01.cfg:5: some unheard of command is not understood (9 switches: spine01, spine02, "
        "leaf01, leaf02 and leaf04 to leaf08)",
        "leaf03.cfg:7: some other command is not understood",
    ]
    shown = text_of(*imported_report(done), width=80)
    assert "10 lines not carried over:\n" in shown
    assert done.designs == ()


def test_texts_without_bgp_but_another_protocol_are_told_so(imported: Import) -> None:
    def edit(texts: dict[str, str]) -> None:
        without_bgp(texts)
        for name, text in texts.items():
            texts[name] = text.replace("lldp enable\n", "lldp enable\nospf 1\n")

    with pytest.raises(BadInput) as error:
        imported(edit)
    [ospf] = error.value.problems
    assert ospf.what == (
        "OSPF is not modelled: 10 lines on 10 switches (leaf01, leaf02, leaf03, leaf04, leaf05, "
        f"leaf06 and 4 more); {EBGP}"
    )


def test_switches_that_differ_are_one_sentence_and_most_of_them_win(imported: Import) -> None:
    done = imported(replace("leaf02", " idle-timeout 15 0", " idle-timeout 20 0"))
    assert done.differences == ("the idle timeout, s: 900 is taken; 1200 on leaf02",)
    assert done.left[0].endswith("vty[0].idle_timeout_s 1200 becomes 900")
    assert derive(Path(done.file)).fabric.security.idle_timeout_min == 15


def test_a_changed_address_is_a_pin_and_the_others_stay_allocated(imported: Import) -> None:
    def edit(texts: dict[str, str]) -> None:
        for name in ("leaf05", "spine01"):
            for old, new in (("10.1.0.64", "172.31.0.8"), ("10.1.0.65", "172.31.0.9")):
                texts[name] = texts[name].replace(f"{old} ", f"{new} ")
        texts["leaf07"] = texts["leaf07"].replace("10.64.6.", "10.64.77.")

    done = imported(edit)
    fabric = derive(Path(done.file)).fabric
    assert [(p.spine, p.leaf, str(p.subnet)) for p in fabric.links] == [
        ("spine01", "leaf05", "172.31.0.8/31")
    ]
    pins = {leaf.name: leaf.pins.gateways for leaf in fabric.leaves if leaf.pins.gateways}
    assert {name: str(gateways["beamline"]) for name, gateways in pins.items()} == {
        "leaf07": "10.64.77.1/24"
    }
    assert done.left == ()


def test_a_hidden_password_becomes_a_reference_that_is_told(imported: Import) -> None:
    def edit(texts: dict[str, str]) -> None:
        for name, text in texts.items():
            group = "SPINE" if "leaf" in name else "LEAF"
            line = f" group {group} external\n"
            cipher = f" peer {group} password cipher %^%#a{len(name)}Qp{name}%^%#\n"
            texts[name] = text.replace(line, line + cipher)

    done = imported(edit)
    authentication = derive(Path(done.file)).fabric.routing.authentication
    assert authentication is not None
    assert authentication.password == "env:BGP_PASSWORD"
    assert any("env:BGP_PASSWORD is to hold a password" in line for line in done.assumed)
    assert (done.left, done.added) == ((), ())


def test_spines_without_pool_lists_get_pools_around_the_addresses(imported: Import) -> None:
    def edit(texts: dict[str, str]) -> None:
        for name in ("spine01", "spine02"):
            texts[name] = re.sub(r"ip ip-prefix .*\n", "", texts[name])

    done = imported(edit)
    fabric = derive(Path(done.file)).fabric
    assert str(fabric.pools.leaf_loopbacks) == "10.0.1.0/28"
    assert {s.name: str(s.prefix) for s in fabric.segments if s.vlan}["compute"] == "10.65.0.0/21"
    assert all("prefix_lists[FABRIC]" in line for line in done.added)
    assert any(line.startswith("segments[0].prefix: holds the gateways") for line in done.assumed)


def test_hardware_that_nobody_names_is_the_one_whose_ports_and_timers_fit(
    texts: Mapping[str, str], tmp_path: Path
) -> None:
    configs = tmp_path / "configs"
    configs.mkdir()
    for name, text in texts.items():
        header = "!Software Version V200R022C00SPC500\n" if name == "spine01" else ""
        (configs / f"{name}.cfg").write_text(header + text)
    table = tmp_path / "switches.csv"
    table.write_text("name,hardware,rack\nspine02,CE9860-4C-EI,net2\n")
    done = import_fabric(configs, tmp_path / "site", facts_of(["spine01=CE9860-4C-EI"], [], table))
    network = derive(Path(done.file)).network
    models = {n.name: n.hardware.model for n in network.nodes if n.hardware}
    assert models["leaf01"] == "CE8850-64CQ-EI"
    assert models["leaf03"] == "CE8851-32CQ8DQ-P"
    assert models["leaf05"] == "CE6866-48S8CQ-P"  # CE6865 has the ports, but no default timers
    assert network.by_name["spine01"].software == "V200R022C00SPC500"
    assert network.by_name["spine02"].rack == "net2"
    text = Path(done.file).read_text()
    assert "hardware: CE8850-64CQ-EI  # assumed: CE8850-64CQ-EI, whose ports fit\n" in text
    assert "spines[0].hardware" not in "".join(done.assumed)


@pytest.fixture
def two_alike(texts: Mapping[str, str], tmp_path: Path) -> Path:
    """Configurations of HEPS in a site that has a model with the ports of CE8850-64CQ-EI."""
    configs, models = tmp_path / "configs", tmp_path / "inventory" / "hardware"
    models.mkdir(parents=True)
    configs.mkdir()
    for name, text in texts.items():
        (configs / f"{name}.cfg").write_text(text, encoding="utf-8")
    copy = (HARDWARE / "ce8850-64cq-ei.yaml").read_text(encoding="utf-8")
    (models / "twin.yaml").write_text(copy.replace("model: CE8850-64CQ-EI", "model: CE8850-TWIN"))
    return configs


def test_models_that_fit_alike_are_not_chosen_by_their_order(
    two_alike: Path, tmp_path: Path
) -> None:
    out = tmp_path / "inventory" / "site"
    with pytest.raises(BadInput) as error:
        import_fabric(two_alike, out, SwitchInputs())
    assert str(error.value) == (
        "CE8850-64CQ-EI and CE8850-TWIN have the ports of leaf01 and leaf02; no text shows "
        "the model; name it by --hardware leaf01=MODEL, or by a column hardware of --switches"
    )
    assert not out.exists()


def test_of_models_that_fit_alike_the_one_on_other_switches_is_taken(
    two_alike: Path, tmp_path: Path
) -> None:
    inputs = facts_of(["leaf02=CE8850-TWIN"], [], None)
    done = import_fabric(two_alike, tmp_path / "inventory" / "site", inputs)
    models = {leaf.name: leaf.hardware for leaf in derive(Path(done.file)).fabric.leaves}
    assert (models["leaf01"], models["leaf02"]) == ("CE8850-TWIN", "CE8850-TWIN")
    assert (
        "leaves[0].hardware: CE8850-TWIN, whose ports fit, as on other switches; CE8850-64CQ-EI "
        "would fit, too"
    ) in done.assumed


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("leaf03", "--hardware 'leaf03' is not NAME=VALUE; write --hardware leaf03=.."),
        ("leaf99=CE8851-32CQ8DQ-P", "hardware of leaf99, which has no text"),
        (
            "leaf03=CE8851",
            "no hardware 'CE8851' in inventory/hardware; did you mean 'CE8851-32CQ8DQ-P'?",
        ),
    ],
)
def test_wrong_facts_are_told(
    option: str, sentence: str, texts: Mapping[str, str], tmp_path: Path
) -> None:
    configs = tmp_path / "configs"
    configs.mkdir()
    for name, text in texts.items():
        (configs / f"{name}.cfg").write_text(text)
    with pytest.raises(BadInput, match=re.escape(sentence)):
        import_fabric(configs, tmp_path / "site", facts_of([option], [], None))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "f.csv:1: an empty table"),
        ("\n;;\n", "f.csv:1: an empty table"),
        ("leaf01,CE8851-32CQ8DQ-P\n", "f.csv:1: no column with the names of switches"),
        ("name,colour\nleaf01,red\n", "none of the columns hardware, software and rack"),
        ("name,hardware\nleaf01,A\nleaf01,B\n", "f.csv:3: leaf01 is there twice"),
        ("name,hardware\nleaf01,A,B\n", "f.csv:2: more values than columns"),
        ("name;hardware\n\nleaf01;A\n;;\nleaf01;B\n", "f.csv:5: leaf01 is there twice"),
        (f"name,hardware\nleaf01,{'x' * 131_073}\n", "f.csv:2: not CSV: field larger than"),
        (f"name,{'x' * 131_073}\nleaf01,A\n", "f.csv:1: not CSV: field larger than"),
    ],
)
def test_a_bad_table_of_switches_is_told_by_line(text: str, sentence: str) -> None:
    with pytest.raises(BadInput) as error:
        read_facts(text, "f.csv")
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("head", "note"),
    [
        ("Hardware,Name,name", "Name and name are columns of one meaning; Name is read"),
        ("Name,Type,Hardware", "Type and Hardware are columns of one meaning; Hardware is read"),
        ("Name,Hardware,Colour", "columns that are not used: Colour"),
    ],
)
def test_two_columns_of_one_meaning_are_one_note(head: str, note: str) -> None:
    assert read_facts(f"{head}\nleaf01,A,B\n", "f.csv").notes == (f"f.csv: {note}",)


NETBOX = (
    "Name,Status,Tenant,Site,Location,Rack,Role,Manufacturer,Type,IP Address\n"
    "leaf01,Active,,DC1,,R01,leaf,Huawei,CE8850-64CQ-EI,10.255.0.9/24\n"
)
BULK_IMPORT = "name,role,device_type,site,rack\nleaf01,leaf,Huawei CE8850-64CQ-EI,DC1,R01\n"
OF_NETBOX = (
    "columns that are not used: Status, Tenant, Site, Location, Role, Manufacturer, IP Address"
)
TWO_TYPES = "Type and Model are columns of one meaning; Model is read"
SEMICOLONS = "NAME;Hardware;Rack\nleaf01;CE8850-64CQ-EI;R01\n"


@pytest.mark.parametrize(
    ("data", "notes"),
    [
        (NETBOX.encode(), [OF_NETBOX]),
        (BULK_IMPORT.encode(), ["columns that are not used: role, site"]),
        (SEMICOLONS.encode("utf-8-sig"), []),
        (SEMICOLONS.replace(";", "\t").encode("utf-16"), []),
        (f"sep=;\n{SEMICOLONS}".encode(), []),
        (SEMICOLONS.replace("\n", "\r\n").encode() + b";;\r\n\r\n", []),
        (f"{SEMICOLONS};Shelf;R02\n".encode(), ["1 row without a name"]),
        (b'"Device", "Type", "Rack"\n"leaf01", "CE8850-64CQ-EI", "R01"\n', []),
        (b"Hostname,Type,Model,Rack\nleaf01,Switch,CE8850-64CQ-EI,R01\n", [TWO_TYPES]),
    ],
    ids=[
        "NetBox",
        "bulk import",
        "BOM",
        "UTF-16",
        "sep",
        "empty rows",
        "nameless",
        "quotes",
        "two",
    ],
)
def test_tables_of_other_tools_are_read(data: bytes, notes: list[str], tmp_path: Path) -> None:
    table = tmp_path / "devices.csv"
    table.write_bytes(data)
    facts = facts_of((), (), table)
    assert facts.hardware == {"leaf01": "CE8850-64CQ-EI"}
    assert facts.rack == {"leaf01": "R01"}
    assert facts.listed == ("leaf01",)
    assert len(facts.notes) == len(notes)
    for note, expected in zip(facts.notes, notes, strict=True):
        assert note.startswith(f"{table}: ")
        assert note.endswith(expected)


def test_other_devices_of_a_table_are_a_note(
    texts: Mapping[str, str], facts: SwitchInputs, tmp_path: Path
) -> None:
    configs, table = tmp_path / "configs", tmp_path / "devices.csv"
    write_texts(texts, configs)
    rows = [f"{name},{model},Huawei" for name, model in facts.hardware.items()]
    table.write_text("\n".join(["Name,Type,Manufacturer", *rows, "pdu1,AP8959,APC", "srv1,,"]))
    done = import_fabric(configs, tmp_path / "site", facts_of((), (), table))
    assert done.notes == (
        f"{table}: columns that are not used: Manufacturer",
        "--switches: 2 rows of devices without a configuration: pdu1 and srv1",
    )
    assert done.notes[0] in " ".join(text_of(*imported_report(done), width=200).split())
    table.write_text("Name,Type\nleaf5,CE8850-64CQ-EI\n")
    with pytest.raises(BadInput) as error:
        import_fabric(configs, tmp_path / "other", facts_of((), (), table))
    assert str(error.value) == (
        "--switches: no row of the table names a switch that has a text; did you mean 'leaf05'?"
    )


def test_a_workbook_is_no_table(tmp_path: Path) -> None:
    table = tmp_path / "devices.xlsx"
    table.write_bytes(b"PK\x03\x04rest")
    with pytest.raises(BadInput, match=r"a binary file .*; save it as CSV, UTF-8"):
        facts_of((), (), table)


def test_a_fabric_that_is_there_stays(imported: Import, tmp_path: Path) -> None:
    path = tmp_path / "inventory" / "site" / "fabric.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("mine\n")
    with pytest.raises(Refused, match="is there already"):
        imported(lambda _: None)
    assert path.read_text() == "mine\n"
