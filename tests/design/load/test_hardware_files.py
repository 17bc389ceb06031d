"""Hardware data: unchanged device types of NetBox, cards in slots, and errors of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocefort.base.errors import BadInput
from rocefort.base.repository import Site
from rocefort.design.load.hardware_catalogue import Shelf, load_catalogue
from rocefort.models.hardware.hardware import Hardware
from rocefort.models.hardware.media import MEDIA

CATALOGUE = load_catalogue()
SEVEN = {
    "CE9860-4C-EI": 128,
    "CE8850-64CQ-EI": 64,
    "CE8851-32CQ8DQ-P": 40,
    "CE8855-32CQ4BQ": 36,
    "CE6865-48S8CQ-EI": 56,
    "CE6866-48S8CQ-P": 56,
    "CE12800E": 144,
}
# Every kind of key that a file of NetBox's library has.
NETBOX = """---
manufacturer: Huawei
model: CE9999-2CQ
slug: huawei-ce9999-2cq
part_number: 02350000
u_height: 1
is_full_depth: true
airflow: front-to-rear
weight: 6.2
weight_unit: kg
comments: '[data sheet](https://example.com)'
console-ports:
  - name: console0
    type: rj-45
power-ports:
  - {name: PSU1, type: iec-60320-c14, maximum_draw: 965}
module-bays:
  - name: FAN1
    position: '1'
interfaces:
  - name: MEth0/0/0
    type: 1000base-t
    label: ETH
    mgmt_only: true
  - name: 100GE1/0/1
    type: 100gbase-x-qsfp28
  - name: 100GE1/0/2
    type: 200gbase-x-qsfp56
"""
OURS = """rocefort:
  template: ce8850
  fabric_ports: [100GE1/0/2]
  releases:
    - {prefix: V200, family: v200}
  source: a test
"""


def shelf(tmp_path: Path, text: str, name: str = "own.yaml") -> Shelf:
    """Return the hardware of a site with one file."""
    site = Site(tmp_path)
    site.hardware.mkdir(parents=True)
    (site.hardware / name).write_text(text, encoding="utf-8")
    hardware = load_catalogue(site).hardware
    assert isinstance(hardware, Shelf)
    return hardware


def read(tmp_path: Path, text: str) -> Hardware:
    return shelf(tmp_path, text)["CE9999-2CQ"]


def test_the_seven_models_with_the_number_of_their_ports() -> None:
    ports = {model: len(h.port_names()) for model, h in CATALOGUE.hardware.items()}
    assert SEVEN.items() <= ports.items()


@pytest.mark.parametrize("model", SEVEN)
def test_each_port_has_a_speed_and_a_form_factor_that_fit_its_name(model: str) -> None:
    hardware = CATALOGUE.hardware[model]
    for port in hardware.port_names():
        assert hardware.speed_gbps(port) == int(port.partition("GE")[0])
        assert hardware.form_factor(port) in {"SFP28", "QSFP28", "QSFP56", "QSFP-DD"}
        for split_type in hardware.splits_of(port):
            count, _, speed = split_type.partition("*")
            assert int(count) * int(speed.removesuffix("GE")) <= int(port.partition("GE")[0])


def test_a_device_type_of_netbox_with_our_facts_is_a_switch(tmp_path: Path) -> None:
    hardware = read(tmp_path, NETBOX + OURS)
    assert hardware.ports == ("100GE1/0/1", "100GE1/0/2")
    # the type gives the speed, not the name
    assert [hardware.speed_gbps(p) for p in hardware.port_names()] == [100, 200]
    assert hardware.form_factor("100GE1/0/2") == "QSFP56"


def test_the_chassis_has_the_ports_of_its_cards() -> None:
    chassis = CATALOGUE.hardware["CE12800E"]
    assert chassis.ports == tuple(f"100GE{slot}/0/0-35" for slot in range(1, 5))
    assert [(c.slot, c.above_upper_ecn and c.above_upper_ecn.value) for c in chassis.cards] == [
        (slot, "dropped") for slot in "1234"
    ]
    assert not chassis.confirmed and chassis.buffer_kbytes is None


def test_only_the_models_that_are_named_are_read(tmp_path: Path) -> None:
    hardware = shelf(tmp_path, "model: BROKEN\n: no YAML: [\n")
    assert hardware["CE8850-64CQ-EI"].model == "CE8850-64CQ-EI"
    assert set(hardware.known) == {"CE8850-64CQ-EI"}
    assert "BROKEN" in hardware and hardware.get("CE1") is None
    with pytest.raises(BadInput, match="not YAML"):
        hardware["BROKEN"]


WRONG = [
    (
        ("family: v200", "family: v201"),
        "no syntax family 'v201'; did you mean 'v200'?",
    ),
    (
        ("100gbase-x-qsfp28", "100gbase-x-qsfp29"),
        "unknown interface type '100gbase-x-qsfp29'; the nearest is '100gbase-x-qsfp28'",
    ),
    (
        ("name: 100GE1/0/1", "name: Ethernet1"),
        "'Ethernet1' is not a port as a CloudEngine names it; write 100GE1/0/1, or mark it mgmt_only",
    ),
    (
        ("fabric_ports: [100GE1/0/2]", "fabric_ports: [100GE1/0/3]"),
        "rocefort: fabric_ports name 100GE1/0/3, which is not a port; it has 100GE1/0/1 and 100GE1/0/2",
    ),
    (
        ("fabric_ports: [100GE1/0/2]", "fabric_ports: [100GE1/0/2]\n  spine_ports: [100GE1/0/1-2]"),
        "rocefort: 100GE1/0/2 is in fabric_ports and spine_ports 2 times; name each port once",
    ),
    (("slug:", "slog:"), "slog: unknown key 'slog'; did you mean 'slug'?"),
    (("rocefort:", "comments:"), "'rocefort' is missing; add it"),
    (
        ("  source: a test\n", "  source: a test\n  cards: {'7': CE9860-32CQ}\n"),
        "a card in slot '7', which is the position of no module bay; add the bay, or correct the slot",
    ),
    (
        ("  source: a test\n", "  source: a test\n  cards: {'1': CE9860-32C}\n"),
        "no card 'CE9860-32C' in ",
    ),
]


@pytest.mark.parametrize(("edit", "sentence"), WRONG)
def test_what_is_wrong_with_a_file(tmp_path: Path, edit: tuple[str, str], sentence: str) -> None:
    text = (NETBOX + OURS).replace("comments: '[data sheet](https://example.com)'\n", "")
    assert edit[0] in text
    with pytest.raises(BadInput) as caught:
        read(tmp_path, text.replace(*edit, 1))
    assert sentence in str(caught.value)
    assert "own.yaml:" in str(caught.value)


def test_a_switch_without_ports_is_none(tmp_path: Path) -> None:
    text = NETBOX.partition("interfaces:")[0] + OURS
    with pytest.raises(BadInput, match="a switch without ports; give interfaces"):
        read(tmp_path, text)


def test_every_medium_names_its_own_speed() -> None:
    for name, medium in MEDIA.items():
        head = name.partition("base-")[0]
        assert medium.speed_gbps == (1 if head == "1000" else int(head.removesuffix("g")))
