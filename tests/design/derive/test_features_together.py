"""Features of a fabric together: exits with optics and bonds, telemetry in the management VRF."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.results import ShowTable, show_output
from rocefort.dialects.network_text import read_back, render_all
from rocefort.dialects.vrp.text.config_tree import parse_tree
from rocefort.emulator.state_model import routing_of
from rocefort.validators.checks import check
from rocefort.validators.facts.headroom import port_demands

SAMPLE = Path(__file__).parents[2] / "samples" / "border" / "fabric.yaml"
Edit = Callable[..., Path]

SERVER = "  - {name: store01, leaf: leaf03, port: 100GE1/0/1, segment: storage}\n"
BOND = """  - name: store01
    leaf: leaf03
    bond: {ports: ["100GE1/0/1:1", "100GE1/0/1:2"], mode: lacp-dynamic}
    segment: storage
"""
LEAF = "    software: V300R023C00\n    segments: [storage]\n"
SPLIT = LEAF + "    breakout: {100GE1/0/1: 4*25GE}\n"
CABLE = "        cable_m: 30\n"
SERVICES = "  syslog: [10.250.0.2]\n"
USERS = "    - {name: netops, level: 3}\n"
PATH = "huawei-ifm:ifm/interfaces/interface/mib-statistics"


def subscription(name: str, *addresses: str, paths: str = PATH) -> str:
    collectors = ", ".join(f"{{address: {address}, port: 57400}}" for address in addresses)
    return (
        f"    - {{name: {name}, interval_ms: 1000, paths: ['{paths}'], "
        f"collectors: [{collectors}]}}\n"
    )


def telemetry(*subscriptions: str) -> tuple[str, str]:
    return SERVICES, SERVICES + "  telemetry:\n" + "".join(subscriptions)


def role(grants: str) -> tuple[str, str]:
    return USERS, f"{USERS}  roles:\n    - {{name: beam, grants: [{grants}]}}\n"


def policy(rest: str) -> tuple[str, str]:
    return USERS, f"{USERS}  policy:\n    entries:\n      - {{id: 1, action: deny, {rest}}}\n"


SNMP = (
    SERVICES,
    f"{SERVICES}  snmp:\n    - {{name: monitor, authentication: 'env:A', privacy: 'env:P'}}\n",
)


@pytest.fixture
def edit(tmp_path: Path) -> Edit:
    """Write a copy of the sample with some pieces replaced; each must occur once."""

    def edited(*replacements: tuple[str, str]) -> Path:
        text = SAMPLE.read_text(encoding="utf-8")
        for old, new in replacements:
            assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
            text = text.replace(old, new)
        path = tmp_path / "fabric.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return edited


def same_after_text(derived: DerivedNetwork) -> dict[str, str]:
    """Render the texts and check that they contain the whole Devices."""
    texts = render_all(derived.network)
    back = read_back(derived.network, texts)
    assert [n.device for n in back.nodes] == [n.device for n in derived.network.nodes]
    return texts


def test_telemetry_leaves_by_the_table_of_the_management_port(edit: Edit) -> None:
    texts = same_after_text(derive(edit(telemetry(subscription("counters", "10.250.0.9")))))
    line = "  ipv4-address 10.250.0.9 port 57400 vpn-instance MGMT protocol grpc\n"
    assert all(line in text for text in texts.values())


def test_snmp_listens_at_the_management_port(edit: Edit) -> None:
    texts = same_after_text(derive(edit(SNMP)))
    line = "snmp-agent protocol source-interface MEth0/0/0\n"
    assert all(text.count(line) == 1 for text in texts.values())


def test_the_port_of_an_exit_is_told_what_its_cable_needs(edit: Edit) -> None:
    derived = derive(edit((CABLE, CABLE + "        cable: {medium: sr4}\n")))
    ports = derived.network.by_name["leaf01"].device.by_interface
    assert (ports["100GE1/0/11"].fec, ports["100GE1/0/10"].fec) == ("rs", None)
    assert ports["100GE1/0/11"].pfc is not None
    position = derived.sources.find("leaf01", "interfaces[100GE1/0/11].fec")
    assert position is not None
    assert "medium: sr4" in Path(position.file).read_text().splitlines()[position.line - 1]


def test_a_medium_of_an_exit_is_judged(edit: Edit) -> None:
    path = edit((CABLE, "        cable_m: 200\n        cable: {medium: sr4}\n"))
    messages = [f.message for f in check(derive(path).network).findings if f.rule == "TOP012"]
    assert messages == ["a cable of 200 m; 100GBASE-SR4 reaches 100 m (IEEE 802.3-2022 clause 95)"]


def test_cabling_lists_exits(edit: Edit) -> None:
    network = derive(edit((CABLE, CABLE + "        cable: {medium: sr4}\n"))).network
    rows = show_output(network, ShowTable.CABLING).model_dump(mode="json")["rows"]
    exits = {row["peer"]: row for row in rows if row["peer"].startswith("exit ")}
    assert set(exits) == {"exit wan-a", "exit wan-b", "exit beamline"}
    row = exits["exit beamline"]
    assert (row["device"], row["port"], row["length_m"]) == ("leaf01", "100GE1/0/11", 30)
    assert (row["medium"], row["fec"]) == ("100GBASE-SR4", "rs")


def test_a_bond_on_a_split_port_has_no_timeout_where_a_switch_takes_none(edit: Edit) -> None:
    texts = same_after_text(derive(edit((SERVER, BOND), (LEAF, SPLIT))))
    assert " mode lacp-dynamic\n" in texts["leaf03"]
    assert "lacp timeout" not in texts["leaf03"]
    assert "interface 100GE1/0/1:2\n description to store01\n eth-trunk 1\n" in texts["leaf03"]


BAD: list[tuple[str, list[tuple[str, str]], str]] = [
    (
        "a timeout of a dynamic bond",
        [(SERVER, BOND.replace("dynamic}", "dynamic, timeout: fast}")), (LEAF, SPLIT)],
        "servers[2].bond.timeout: a switch takes `lacp timeout` in mode lacp-static only; take it "
        "off",
    ),
    (
        "BASE-R of an exit at 100 Gb/s",
        [(CABLE, CABLE + "        cable: {medium: dac, fec: base-r}\n")],
        "leaves[0].exits[1].cable.fec: a port of 100 Gb/s has no BASE-R FEC; ports of 25 Gb/s do; "
        "use rs or none",
    ),
    (
        "BASE-R of a part of a split port, on chips without it",
        [
            (SERVER, SERVER.replace("1/0/1,", "1/0/1:1, cable: {medium: dac, fec: base-r},")),
            (
                "    hardware: CE8851-32CQ8DQ-P\n" + LEAF,
                "    hardware: CE8855-32CQ4BQ\n" + SPLIT,
            ),
        ],
        "servers[2].cable.fec: on these chips a part of a split port has no BASE-R FEC; use rs or "
        "none",
    ),
    (
        "a link pinned to the port of an exit",
        [("rdma:", "links: [{spine: spine01, leaf: leaf01, leaf_port: 100GE1/0/10}]\nrdma:")],
        "links[0].leaf_port: leaf01 100GE1/0/10 is used twice, by exit wan-a and the link "
        "spine01 - leaf01; give each link, server and exit a port of its own",
    ),
    (
        "an AS number that a leaf to come will have",
        [("asn: 64950", "asn: 65116")],
        "leaves[0].exits[1].asn: AS 65116 of exit beamline is kept: leaves take AS numbers 65101 "
        "to 65116 of the reserved capacity; use the AS number of the other end, or another plan "
        "in routing",
    ),
    (
        "a session's BFD at an exit without BGP",
        [
            ("        asn: 64950\n        default: none\n", "        default: static\n"),
            (
                "        accepts:\n          - {id: 1, prefix: 10.90.0.0/16}\n"
                "        announces: [storage]\n",
                "        bfd: {min_tx_ms: 300, min_rx_ms: 300, multiplier: 3}\n",
            ),
        ],
        "leaves[0].exits[1]: an exit without asn has no BGP: give asn, or `default: static` and "
        "neither accepts, announces, bfd nor authentication",
    ),
    (
        "one task group twice",
        [role("{task_group: t, rights: [read]}, {task_group: t, rights: [debug]}")],
        "security.roles[0].grants: t is given twice; remove one",
    ),
    (
        "one right twice",
        [role("{task_group: t, rights: [read, read]}")],
        "security.roles[0].grants[0].rights: read is given twice; remove one",
    ),
    (
        "two rights, but a switch takes one of them",
        [role("{task_group: t, rights: [read, read-write]}")],
        "security.roles[0].grants[0]: rights read and read-write; read-write alone includes both",
    ),
    (
        "one path twice",
        [telemetry(subscription("a", "10.250.0.9", paths=f"{PATH}', '{PATH}"))],
        f"services.telemetry[0].paths: {PATH} is given twice; remove one",
    ),
    (
        "one collector twice",
        [telemetry(subscription("a", "10.250.0.9", "10.250.0.9"))],
        "services.telemetry[0].collectors: 10.250.0.9 port 57400 is given twice; remove one",
    ),
    (
        "more collectors than a switch takes",
        [
            telemetry(
                subscription("a", *(f"10.250.0.{n}" for n in range(10, 20))),
                subscription("b", "10.250.0.30"),
            )
        ],
        "services: telemetry goes to 11 collectors in all; a switch takes 10",
    ),
    (
        "one segment twice in an entry",
        [policy("source: [compute, compute], destination: [storage]")],
        "security.policy.entries[0].source: compute is given twice; remove one",
    ),
    (
        "one segment twice at the other side",
        [policy("source: [compute], destination: [storage, storage]")],
        "security.policy.entries[0].destination: storage is given twice; remove one",
    ),
]


@pytest.mark.parametrize(
    ("replacements", "sentence"), [row[1:] for row in BAD], ids=[row[0] for row in BAD]
)
def test_what_a_switch_would_refuse_is_told_before(
    edit: Edit, replacements: list[tuple[str, str]], sentence: str
) -> None:
    with pytest.raises(BadInput) as caught:
        derive(edit(*replacements))
    (error,) = str(caught.value).splitlines()
    assert error.partition(": ")[2] == sentence


NEAR: list[list[tuple[str, str]]] = [
    [("asn: 64950", "asn: 65117")],
    [role("{task_group: t, rights: [read, debug]}, {task_group: u, rights: [read-write]}")],
    [
        telemetry(
            subscription("a", *(f"10.250.0.{n}" for n in range(10, 19))),
            subscription("b", "10.250.0.10"),
        )
    ],
]


@pytest.mark.parametrize("replacements", NEAR)
def test_what_a_switch_takes_is_not_refused(
    edit: Edit, replacements: list[tuple[str, str]]
) -> None:
    assert render_all(derive(edit(*replacements)).network)


def test_a_lab_shows_the_sessions_of_exits_and_runs_no_outside() -> None:
    network = derive(SAMPLE).network
    running = {name: parse_tree(text) for name, text in render_all(network).items()}
    shown = routing_of(network)(running, frozenset()).peers
    assert set(shown) == {node.name for node in network.nodes}
    states = {str(peer.address): peer.state for peer in shown["leaf01"]}
    peers = ("10.1.0.0", "10.1.0.2", "192.0.2.0", "192.0.2.6")
    assert states == dict.fromkeys(peers, "Established")


def test_a_lossless_exit_is_judged_like_any_lossless_port(edit: Edit) -> None:
    network = derive(edit((CABLE, ""))).network
    demands = {str(demand.port.end) for demand in port_demands(network)["leaf01"]}
    assert "leaf01 100GE1/0/11" in demands
    assert "leaf01 100GE1/0/10" not in demands  # PFC ends there
    reasons = [n.reason for n in check(network).not_judged if n.rule == "BUF001"]
    assert "the length of the cable is not known" in reasons


def test_forms_that_only_v300_documents_are_told_on_v200(edit: Edit) -> None:
    bond = BOND.replace("store01", "node01").replace("leaf03", "leaf01").replace(":1", "")
    bond = bond.replace("100GE1/0/1:2", "100GE1/0/2").replace(
        "segment: storage", "segment: compute"
    )
    old = "  - {name: node01, leaf: leaf01, port: 100GE1/0/1, segment: compute}\n"
    findings = check(derive(edit((old, bond))).network).findings
    forms = {(f.where.device, f.message.split("`")[1]) for f in findings if f.rule == "TXT001"}
    relax, vrf = "load-balancing as-path-relax", "ip vpn-instance V without route-distinguisher"
    assert ("leaf01", relax) in forms
    assert {("leaf02", relax), ("leaf02", vrf)} & forms == {("leaf02", vrf)}
    confirmed = {vrf, "mode lacp-static"}  # saved by switches with V200
    assert {form for leaf, form in forms if leaf == "leaf01"}.isdisjoint(confirmed)
