"""Media, FEC and autonegotiation: settings of ports by link class and by cable, and errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import derive
from rocefort.design.results import ShowTable, show_output, show_report
from rocefort.dialects.network_text import read_back, render_all
from rocefort.reports.writers.terminal import text_of
from rocefort.validators.checks import check

Edit = Callable[..., Path]
CABLES = "  fabric_m: 50\n  server_m: 5\n"
PORTS = {  # a leaf-spine port, a server's of 100 Gb/s and one of 25 Gb/s
    "fabric": ("leaf05", "100GE1/0/1"),
    "fast": ("leaf01", "100GE1/0/1"),
    "slow": ("leaf05", "25GE1/0/1"),
}


def cables(*kinds: str) -> tuple[str, str]:
    return CABLES, CABLES + "".join(f"  {kind}\n" for kind in kinds)


SLOW = "    leaf: leaf05\n    port: 25GE1/0/1\n"
SETTINGS: list[tuple[str, str, bool, str | None]] = [
    ("fabric: {medium: sr4}", "fabric", True, "rs"),
    ("fabric: {medium: lr4}", "fabric", True, "none"),
    ("fabric: {medium: lr4, fec: rs}", "fabric", True, "rs"),
    ("fabric: {medium: dr}", "fabric", True, None),  # its module may have the FEC
    ("fabric: {medium: sr4, autonegotiation: off}", "fabric", True, "rs"),  # it has none to set
    ("server: {medium: dac}", "fast", True, None),
    ("server: {medium: dac, autonegotiation: on}", "fast", True, None),
    ("server: {medium: dac, autonegotiation: off}", "fast", False, "rs"),
    ("server: {medium: dac, fec: none}", "fast", False, "none"),
    ("server: {medium: sr}", "slow", True, "rs"),
    ("fabric: {medium: sr4}", "slow", True, None),  # of the other class
]


@pytest.mark.parametrize(("kind", "port", "negotiates", "fec"), SETTINGS)
def test_a_port_is_told_what_its_cable_needs(
    edit_heps: Edit, kind: str, port: str, negotiates: bool, fec: str | None
) -> None:
    device, name = PORTS[port]
    network = derive(edit_heps(cables(kind))).network
    interface = network.by_name[device].device.by_interface[name]
    assert (interface.autonegotiation, interface.fec) == (negotiates, fec)


def test_a_cable_of_its_own_goes_before_its_class(edit_heps: Edit) -> None:
    path = edit_heps(
        cables("fabric: {medium: sr4}", "server: {medium: dac}"),
        (SLOW, SLOW + "    cable: {medium: dac, fec: base-r}\n"),
        (
            "\nsecurity:",
            "\nlinks:\n  - {spine: spine01, leaf: leaf05, cable: {medium: lr4}}\n\nsecurity:",
        ),
    )
    derived = derive(path)
    network = derived.network
    leaf = network.by_name["leaf05"].device.by_interface
    assert [leaf[f"100GE1/0/{n}"].fec for n in (1, 2)] == ["none", "rs"]
    assert (leaf["25GE1/0/1"].fec, leaf["25GE1/0/1"].autonegotiation) == ("base-r", False)
    by_port = {link.b.interface: link.medium for link in network.links or ()}
    assert by_port["100GE1/0/1"] == "lr4" or by_port["100GE1/0/2"] == "sr4"
    position = derived.sources.find("leaf05", "interfaces[25GE1/0/1].fec")
    assert position
    line = path.read_text(encoding="utf-8").splitlines()[position.line - 1]
    assert "cable: {medium: dac, fec: base-r}" in line


def test_what_is_set_is_written_read_back_and_judged(edit_heps: Edit) -> None:
    derived = derive(edit_heps(cables("fabric: {medium: sr4}", "server: {medium: dac}")))
    texts = render_all(derived.network)
    assert texts["spine01"].count("\n fec mode rs\n") == 8
    assert "negotiation disable" not in "".join(texts.values())
    report = check(read_back(derived.network, texts), derived.sources)
    about = [f for f in report.findings if f.rule in ("TOP010", "TOP011", "TOP012")]
    assert about == []
    assert [n.rule for n in report.not_judged if n.rule in ("TOP010", "TOP011", "TOP012")] == []
    unconfirmed = {
        str(f.where.device): f.message for f in report.findings if "`fec mode" in f.message
    }
    assert unconfirmed["spine01"] == (
        "`fec mode rs` is not confirmed on v200: from the reference of V300; the line that "
        "V200 saves was not found"
    )


def test_without_a_medium_nothing_is_set_and_nothing_judged(edit_heps: Edit) -> None:
    network = derive(edit_heps()).network
    ports = [i for node in network.nodes for i in node.device.interfaces]
    assert {(i.fec, i.autonegotiation) for i in ports} == {(None, True)}
    reasons = {n.rule: n.reason for n in check(network).not_judged}
    unknown = "no cable has a medium (cables.fabric.medium, cables.server.medium)"
    assert (reasons["TOP011"], reasons["TOP012"]) == (unknown, unknown)


def test_cabling_tells_medium_and_fec(edit_heps: Edit) -> None:
    network = derive(edit_heps(cables("fabric: {medium: sr4}", "server: {medium: dac}"))).network
    rows = {
        (row["device"], row["port"]): row
        for row in show_output(network, ShowTable.CABLING).model_dump(mode="json")["rows"]
    }
    link, server = rows["spine01", "100GE1/1/5"], rows["leaf05", "25GE1/0/1"]
    assert (link["medium"], link["fec"], link["length_m"]) == ("100GBASE-SR4", "rs", 50)
    assert (server["medium"], server["fec"]) == ("25GBASE-CR", "negotiated")
    assert (server["transceiver_gbps"], server["label_at_peer"]) == (
        25,
        "readout01 / leaf05 25GE1/0/1",
    )
    assert (
        max(map(len, text_of(*show_report(network, ShowTable.CABLING), width=80).splitlines()))
        <= 80
    )


BAD: list[tuple[str, str]] = [
    (
        "fabric: {medium: sr4, autonegotiation: on}",
        "cables.fabric.autonegotiation: sr4 has no autonegotiation; only dac negotiates; leave it "
        "out",
    ),
    (
        "server: {medium: dac, fec: rs, autonegotiation: on}",
        "cables.server.fec: FEC rs with autonegotiation on: what is negotiated cannot be given; "
        "leave one of the two out",
    ),
    (
        "fabric: {medium: dac, fec: base-r}",
        "cables.fabric.fec: a port of 100 Gb/s has no BASE-R FEC; ports of 25 Gb/s do; use rs or "
        "none",
    ),
    (
        "fabric: {medium: sr44}",
        "cables.fabric.medium: ",
    ),
    ("fabric: {fec: rs}", "cables.fabric.medium: 'medium' is missing; add it"),
    ("fabric: {medium: dac, autonegotiation: maybe}", "cables.fabric.autonegotiation: "),
]


@pytest.mark.parametrize(("kind", "sentence"), BAD)
def test_what_no_port_can_do_is_refused(edit_heps: Edit, kind: str, sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        derive(edit_heps(cables(kind)))
    (error,) = str(caught.value).splitlines()
    assert error.partition(": ")[2].startswith(sentence)


def test_fec_of_400_gb_s_cannot_be_set(edit_heps: Edit) -> None:
    before = (
        "    port: 100GE1/0/1\n    segment: compute\n    nic: connectx-dscp34\n  - name: daisygn02"
    )
    after = before.replace("100GE1/0/1", "400GE1/0/1").replace(
        "    segment", "    cable: {medium: sr8, fec: rs}\n    segment"
    )
    with pytest.raises(BadInput) as caught:
        derive(edit_heps((before, after)))
    (error,) = str(caught.value).splitlines()
    assert error.partition(": ")[2] == (
        "servers[4].cable.fec: FEC of a port of 400 Gb/s cannot be set: it is always on; leave it "
        "out"
    )
