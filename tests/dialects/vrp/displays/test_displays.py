"""Outputs of `display` commands beside a configuration: both forms of LLDP, versions, devices."""

from __future__ import annotations

import pytest
from vendor_displays import vendor_display

from napalm_cloudengine.displays.lldp import Neighbor
from rocefort.dialects.vrp.saved_text import read_display

BRIEF = """\
<leaf01>display lldp neighbor brief
Local Interface         Exptime(s) Neighbor Interface      Neighbor Device
--------------------------------------------------------------------------
100GE1/0/1                 96           10GE1/0/1          spine01
100GE1/0/2                 19           0c42-a1ff-0001     storage 01
MEth0/0/0                  19           GE1/0/7            oob
<leaf01>
"""
OLDER = """\
Local Intf       Neighbor Dev             Neighbor Intf             Exptime (sec)
100GE1/0/1       spine01                  100GE1/0/4                98
"""
PARAGRAPHS = """\
100GE1/0/1 has 2 neighbor(s):

Neighbor index                     :1
Port ID subtype                    :Interface Name
Port ID                            :100GE1/0/4
System name                        :spine01
System description                 :Huawei Versatile Routing Platform Software
VRP (R) software, Version 8.191 (CE9860 V200R020C10)
HUAWEI CE9860-4C-EI

Neighbor index                     :2
Port ID subtype                    :MAC Address
Port ID                            :0c42-a1ff-0001
System name                        :storage01
100GE1/0/2 has 0 neighbor(s):
"""


@pytest.mark.parametrize(
    ("text", "neighbours"),
    [
        (
            BRIEF,
            (
                Neighbor("100GE1/0/1", "spine01", "10GE1/0/1", 4),
                Neighbor("100GE1/0/2", "storage 01", "", 5),
                Neighbor("MEth0/0/0", "oob", "GE1/0/7", 6),
            ),
        ),
        (OLDER, (Neighbor("100GE1/0/1", "spine01", "100GE1/0/4", 2),)),
        (
            PARAGRAPHS,
            (
                Neighbor("100GE1/0/1", "spine01", "100GE1/0/4", 6),
                Neighbor("100GE1/0/1", "storage01", "", 14),
            ),
        ),
    ],
    ids=["brief", "older brief", "paragraphs"],
)
def test_neighbours(text: str, neighbours: tuple[Neighbor, ...]) -> None:
    display = read_display(text)
    assert display is not None
    assert display.neighbours == neighbours
    assert (display.model, display.software) == (None, None)  # a neighbour's are not its own


@pytest.mark.parametrize(
    ("text", "model", "software"),
    [
        (
            "VRP (R) software, Version 8.180 (CE8850EI V200R019C10SPC800)\n"
            "HUAWEI CE8850-64CQ-EI uptime is 44 days, 0 hour, 49 minutes\n",
            "CE8850-64CQ-EI",
            "V200R019C10SPC800",
        ),
        (
            "YunShan OS, Version 1.23.0.X (CloudEngine 58&68&78&88&98 V300R023C00)\n"
            "HUAWEI CE6866-48S8CQ-P uptime is 0 day, 5 hours, 32 minutes\n",
            "CE6866-48S8CQ-P",
            "V300R023C00",
        ),
        ("CE8851-32CQ8DQ-K's Device status:\n", "CE8851-32CQ8DQ-K", None),
        (vendor_display("device"), "CE6866-48S8CQ-P", None),
    ],
)
def test_models_and_releases(text: str, model: str, software: str | None) -> None:
    display = read_display(text)
    assert display is not None
    assert (display.model, display.software) == (model, software)


@pytest.mark.parametrize(
    "text", ["", "sysname a\n", "Local Interface only\n", "100GE1/0/1 up up\n"]
)
def test_other_text_is_no_output(text: str) -> None:
    assert read_display(text) is None
