"""Candidate comparison of a switch against the planned change: by meaning, without secrets."""

from __future__ import annotations

import pytest

from rocefort.design.load.hardware_catalogue import load_catalogue
from rocefort.dialects.changes import change_of
from rocefort.dialects.vrp.device_diff import changed_lines, same_change
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.render import render
from rocefort.models.change.plan import Change
from rocefort.models.device.device import Device, without_defaults
from rocefort.models.device.routing import Bgp
from rocefort.models.hardware.hardware import SyntaxFamily

G1 = SyntaxFamily.V300_G1
FAMILY = load_catalogue().families[G1]
RUNNING = """#
sysname leaf01
#
interface 100GE1/0/1
 mtu 9000
#
bgp 65101
 peer 10.1.0.0 as-number 65001
 peer 10.1.0.0 password cipher %^%#olDoNe%^%#
 #
 ipv4-family unicast
  peer 10.1.0.0 enable
#
local-user-note x
#
return
"""
SAMPLE = """Building configuration
  #
  interface 100GE1/0/1
- mtu 9000
+  mtu 9100
  #
"""
ROTATED = """Building configuration
  #
  bgp 65101
-  peer 10.1.0.0 password cipher %^%#olDoNe%^%#
+  peer 10.1.0.0 password cipher %^%#neWoNe%^%#
  #
"""


def device(mtu: int = 9000, password: str = "env:P") -> Device:
    running = without_defaults(parse(RUNNING, "leaf01").device, FAMILY)
    port = running.by_interface["100GE1/0/1"].model_copy(update={"mtu": mtu})
    assert isinstance(running.bgp, Bgp)
    peer = running.bgp.peers[0].model_copy(update={"password": password})
    bgp = running.bgp.model_copy(update={"peers": (peer,)})
    return running.model_copy(update={"interfaces": (port,), "bgp": bgp})


MTU = device(9100)
ROTATION = device(password="env:P version 2")


def planned(new: Device) -> Change:
    texts = [render(each, G1, "ce8851") for each in (device(), new)]
    return change_of(texts[0], device(), texts[1], new, FAMILY, ())


def differences(new: Device, diff: str) -> tuple[str, ...]:
    return same_change(planned(new), diff, RUNNING, FAMILY)


@pytest.mark.parametrize(
    "diff", [SAMPLE, SAMPLE.replace("- mtu", "-  mtu"), SAMPLE.replace("  #\n  int", "  #\n  int")]
)
def test_the_sample_of_the_reference_and_a_regular_form_mean_the_same(diff: str) -> None:
    assert differences(MTU, diff) == ()


def test_views_of_changed_lines_are_those_they_stand_in() -> None:
    assert [(line.sign, line.path, line.text) for line in changed_lines(ROTATED)] == [
        ("-", ("bgp 65101",), "peer 10.1.0.0 password cipher %^%#olDoNe%^%#"),
        ("+", ("bgp 65101",), "peer 10.1.0.0 password cipher %^%#neWoNe%^%#"),
    ]


@pytest.mark.parametrize(
    ("new", "diff", "expected"),
    [
        (
            MTU,
            SAMPLE.replace("9100", "9200"),
            (
                "planned, but not in the switch's diff: interfaces[100GE1/0/1].mtu: 9000 -> 9100",
                "not planned: interfaces[100GE1/0/1].mtu: 9000 -> 9200",
            ),
        ),
        (
            MTU,
            "",
            ("planned, but not in the switch's diff: interfaces[100GE1/0/1].mtu: 9000 -> 9100",),
        ),
        (
            MTU,
            SAMPLE.replace("mtu 9000", "mtu 8000"),
            ("the diff removes a line that is not running: - mtu 8000",),
        ),
        (
            MTU,
            SAMPLE + "+ frobnicate password cipher hunter2\n  #\n",
            (
                "not planned: + frobnicate password <removed>",
                "not planned: + frobnicate password cipher <removed>",
            ),
        ),
        (MTU, SAMPLE + "- local-user-note x\n  #\n", ("not planned: - local-user-note x",)),
        (ROTATION, ROTATED, ()),
        (
            ROTATION,
            "",
            (
                "planned, but not in the switch's diff: + bgp 65101 / peer 10.1.0.0 password "
                "<removed> (env:P version 2)",
            ),
        ),
        (
            MTU,
            SAMPLE + ROTATED.partition("\n")[2],
            ("not planned: + bgp 65101 / peer 10.1.0.0 password <removed>",),
        ),
    ],
)
def test_what_differs_is_said_without_any_secret(
    new: Device, diff: str, expected: tuple[str, ...]
) -> None:
    sentences = differences(new, diff)
    assert sentences == expected
    assert not [sentence for sentence in sentences if "hunter2" in sentence or "neWoNe" in sentence]
