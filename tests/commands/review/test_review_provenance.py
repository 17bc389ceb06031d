"""Each changed line of configuration names the line of YAML that was changed for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocefort.base.repository import HARDWARE, PROFILES, Site

Clone = Any  # of tests/commands/conftest.py
Review = Callable[..., Any]
FILE = "inventory/heps/fabric.yaml"
SPINE = "  - id: 3\n    name: spine03\n    hardware: CE9860-4C-EI\n    software: V200R022C00\n"
WITH_SPINE = ("\n# Published: 8 leaves", SPINE + "\n# Published: 8 leaves")

# What is written instead of what, and how many lines of configuration come at least.
VALUES: list[tuple[str, str, int]] = [
    ("xoff_kbytes: 600", "xoff_kbytes: 620", 44),
    ("xon_kbytes: 550", "xon_kbytes: 540", 44),
    ("{queue: 1, weight: 15}", "{queue: 1, weight: 20}", 44),
    ("{queue: 5, weight: 1}", "{queue: 5, weight: 2}", 44),
    ("keepalive_s: 10", "keepalive_s: 5", 10),
    ("hold_s: 30", "hold_s: 40", 10),
    ("mtu: 9000", "mtu: 8900", 32),
    ("min_tx_ms: 300", "min_tx_ms: 400", 10),
    ("multiplier: 3", "multiplier: 4", 10),
    ("idle_timeout_min: 15", "idle_timeout_min: 20", 10),
    ("syslog: [10.255.0.251]", "syslog: [10.255.0.252]", 10),
    ("detect_time: 10 ", "detect_time: 11 ", 4),
    ("recovery_ms: 100\n", "recovery_ms: 200\n", 6),
]


def _told(review: Review) -> list[tuple[bool, str, str, str]]:
    lines = review("--failures", "none").json["lines"]
    return [
        (line["added"], switch["device"], line["text"], line["place"])
        for switch in lines
        for line in switch["lines"]
    ]


@pytest.mark.parametrize(("old", "new", "lines"), VALUES, ids=lambda value: str(value).strip())
def test_every_line_of_a_changed_value_names_it(
    clone: Clone, review: Review, old: str, new: str, lines: int
) -> None:
    number = clone.line(old)
    clone.edit((old, new))
    told = _told(review)
    assert {place for added, _, _, place in told if added} == {f"{FILE}:{number}"}
    assert {place for added, _, _, place in told if not added} <= {f"HEAD:{FILE}:{number}"}
    assert sum(added for added, *_ in told) >= lines


def test_a_new_spine_is_named_by_what_it_brings(clone: Clone, review: Review) -> None:
    clone.edit(WITH_SPINE)
    place = f"{FILE}:{clone.line('- id: 3')}"
    told = [text for _, device, text, at in _told(review) if device == "leaf02" and at == place]
    assert "interface 100GE1/0/59" in told
    assert "ip address 10.1.0.21 255.255.255.254" in told
    assert "peer 10.1.0.20 as-number 65000" in told
    assert told.count("peer 10.1.0.20 group SPINE") == 2
    assert not any("dcb" in text for text in told)  # values of the profile name their own line


def test_a_spine_that_goes_is_named_by_what_it_takes(clone: Clone, review: Review) -> None:
    clone.edit(WITH_SPINE)
    clone.commit("three spines")
    place = f"HEAD:{FILE}:{clone.line('- id: 3')}"
    clone.edit((SPINE, ""))
    told = [text for _, device, text, at in _told(review) if device == "leaf02" and at == place]
    assert "interface 100GE1/0/59" in told
    assert "peer 10.1.0.20 as-number 65000" in told


def test_lines_of_changed_hardware_and_profiles_of_the_site_name_its_files(
    clone: Clone, review: Review
) -> None:
    """Only files of the site change: first a model's ports, then a shipped profile's threshold."""
    site = Site(clone.top)
    model, profile = site.hardware / "spine.yaml", site.profiles / "lossless.yaml"
    for folder in (site.hardware, site.profiles):
        folder.mkdir()
    model.write_text((HARDWARE / "ce9860-4c-ei.yaml").read_text())
    clone.edit(("\nlossless: heps\n", "\nlossless: heps-like\n"))
    clone.commit("a model of the site")
    ports, swapped = "[100GE1/1/1-32, 100GE1/2/1-32,", "[100GE1/2/1-32, 100GE1/1/1-32,"
    assert ports in model.read_text()
    model.write_text(model.read_text().replace(ports, swapped))
    number = model.read_text().partition(swapped)[0].count("\n") + 1
    told = _told(review)
    places = f"inventory/hardware/spine.yaml:{number}"
    assert {at for added, device, text, at in told if added and text.startswith("interface")} == {
        places
    }
    assert {device for _, device, _, at in told if at == places} >= {"spine01", "spine02", "leaf01"}
    clone.git("checkout", "--quiet", ".")
    shipped = (PROFILES / "lossless.yaml").read_text()
    profile.write_text(shipped.replace("xoff_kbytes: 600", "xoff_kbytes: 650", 1))
    number = profile.read_text().partition("xoff_kbytes: 650")[0].count("\n") + 1
    told = _told(review)
    assert told
    assert {at for added, *_, at in told if added} == {f"inventory/profiles/lossless.yaml:{number}"}
