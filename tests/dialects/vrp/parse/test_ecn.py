"""Drop profiles and ECN of queues: text both ways, refusals of a switch, effects of a change."""

from __future__ import annotations

import re
from typing import Any

import pytest
from canonical import canonical

from rocefort.base.errors import BadInput
from rocefort.dialects.syntax_families import load_families
from rocefort.dialects.vrp.dialect import DISRUPTS
from rocefort.dialects.vrp.interpreter.interpreter import VrpRefusal, apply_lines, replay
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.render import render
from rocefort.dialects.vrp.text.config_tree import parse_tree, tree_text
from rocefort.models.change.compare import classify, compare
from rocefort.models.change.plan import ChangeKind
from rocefort.models.device.device import Device, without_defaults
from rocefort.models.device.interface import Interface
from rocefort.models.device.lossless_queue import (
    ColourLimits,
    DropLimits,
    DropProfile,
    QueueMarking,
)
from rocefort.models.hardware.hardware import SyntaxFamily

V200, G1, G2 = SyntaxFamily.V200, SyntaxFamily.V300_G1, SyntaxFamily.V300_G2
TEMPLATE = {V200: "ce9860", G1: "ce8851", G2: "ce8855"}
LIMITS = DropLimits(low=7168, high=512_000, percent=30, unit="bytes")
ROCE = DropProfile(name="roce", ecn=LIMITS)
FULL = ColourLimits(colour="green", low=100, high=100, percent=100)
EARLY = ColourLimits(colour="red", low=40, high=60, percent=40)


def read(*lines: str) -> Device:
    return parse("\n".join(["sysname a", *lines]), "a.cfg").device


def unread(*lines: str) -> list[str]:
    return [line.text for line in parse("\n".join(["sysname a", *lines]), "a.cfg").unmodelled]


def device(*drops: DropProfile, markings: tuple[QueueMarking, ...] = (), **more: Any) -> Device:
    port = Interface(name="100GE1/0/1", markings=markings)
    return Device(name="a", drop_profiles=drops, interfaces=(port,), **more)


@pytest.mark.parametrize(
    ("words", "unit"),
    [
        ("low-limit 20 high-limit 30", "percent"),
        ("buffer-size low-limit 20 high-limit 30", "bytes"),
        ("buffer-size cell low-limit 20 high-limit 30", "cells"),
    ],
)
def test_three_forms_of_limits(words: str, unit: Any) -> None:
    lines = [f" color red {words} discard-percentage 5", f" ecn {words} discard-percentage 5"]
    device = read("drop-profile roce", *lines)
    limits = {"low": 20, "high": 30, "percent": 5, "unit": unit}
    profile = DropProfile(
        name="roce", colours=(ColourLimits(colour="red", **limits),), ecn=DropLimits(**limits)
    )
    assert device.drop_profiles == (profile,)
    for family in SyntaxFamily:
        written = render(device, family, TEMPLATE[family])
        assert "\n".join(["drop-profile roce", *lines]) in written


def test_what_a_port_says_of_its_queues() -> None:
    device = read("interface 100GE1/0/1", " qos queue 4 ecn", " qos queue 4 wred roce")
    assert device.interfaces[0].markings == (QueueMarking(queue=4, profile="roce", ecn=True),)
    alone = read("interface 100GE1/0/1", " qos queue 4 ecn")
    assert alone.interfaces[0].markings == (QueueMarking(queue=4, ecn=True),)
    assert read("qos ecn enable").ecn_enabled
    assert not read("lldp enable").ecn_enabled


@pytest.mark.parametrize(
    "line",
    [
        " color non-tcp low-limit 20 high-limit 30 discard-percentage 5",  # V200 has it
        " ecn weight 4",
        " ecn buffer-size low-limit 20 high-limit 30",
    ],
)
def test_other_lines_of_a_profile_are_kept_and_reported(line: str) -> None:
    assert unread("drop-profile roce", line) == [line.strip()]


@pytest.mark.parametrize(
    ("found", "family", "message"),
    [
        (
            device(ecn_enabled=True),
            G2,
            "a: ecn_enabled on v300-g2: no `qos ecn enable`; leave it out",
        ),
        (
            device(markings=(QueueMarking(queue=4),)),
            G1,
            "a: interfaces[100GE1/0/1].markings[4] on v300-g1: it is empty, so no line would "
            "create it; give it a profile",
        ),
        (
            device(DropProfile(name="brie")),
            G1,
            "a: drop_profiles[brie] on v300-g1: a drop profile cannot have this name of 4 "
            "characters; use 31 at most, and not the beginning of `brief`",
        ),
        (
            device(DropProfile(name="n" * 32)),
            V200,
            f"a: drop_profiles[{'n' * 32}] on v200: a drop profile cannot have this name of 32 "
            "characters; use 31 at most, and not the beginning of `brief`",
        ),
    ],
)
def test_what_a_family_cannot_say(found: Device, family: SyntaxFamily, message: str) -> None:
    with pytest.raises(BadInput, match=re.escape(message)):
        render(found, family, TEMPLATE[family])


def test_the_longest_name_is_written() -> None:
    longest = device(DropProfile(name="n" * 31, ecn=LIMITS), ecn_enabled=True)
    assert parse(render(longest, G1, "ce8851"), "a").device == longest


BUILT_IN = "drop-profile default\n color green low-limit 80 high-limit 90 discard-percentage 10\n"
MARKED = (
    "drop-profile roce\n ecn low-limit 20 high-limit 30 discard-percentage 5\n"
    "interface 100GE1/0/1\n qos queue 4 wred roce\n qos queue 4 ecn\n"
)
AT = "interface 100GE1/0/1"


def after(before: str, typed: str, family: SyntaxFamily = G1) -> list[str]:
    """Type lines (separated by ;) into a configuration, and read the result."""
    config, refusals = replay(parse_tree(before), family)
    assert not refusals
    text = tree_text(canonical(apply_lines(config, typed.split(";"), family), family))
    return [line.strip() for line in text.splitlines() if line not in ("#", "return")]


@pytest.mark.parametrize(
    ("before", "typed", "stands"),
    [
        pytest.param(
            MARKED,
            "drop-profile roce;ecn buffer-size low-limit 128 high-limit 128 discard-percentage 1",
            [
                "drop-profile roce",
                "ecn buffer-size low-limit 128 high-limit 128 discard-percentage 1",
                AT,
                "qos queue 4 wred roce",
                "qos queue 4 ecn",
            ],
            id="ecn overwrites in any unit",
        ),
        pytest.param(
            MARKED,
            "drop-profile roce;undo ecn;interface 100GE1/0/1;undo qos queue 4 ecn;"
            "undo qos queue 4 wred;quit;undo drop-profile roce",
            [],
            id="all taken back",
        ),
        pytest.param(
            MARKED,
            f"drop-profile new;{AT};qos queue 4 wred new",
            [
                "drop-profile new",
                "drop-profile roce",
                "ecn low-limit 20 high-limit 30 discard-percentage 5",
                AT,
                "qos queue 4 wred new",
                "qos queue 4 ecn",
            ],
            id="one profile a queue",
        ),
        pytest.param(
            BUILT_IN,
            "drop-profile default;undo color green",
            [],
            id="the built-in profile has only changed lines",
        ),
        pytest.param(
            BUILT_IN,
            "drop-profile default;color green low-limit 100 high-limit 100 discard-percentage 100",
            [],
            id="a colour as by default is not saved",
        ),
        pytest.param("", f"{AT};qos queue 1 wred default", [AT, "qos queue 1 wred default"]),
        pytest.param("qos ecn enable\n", "undo qos ecn enable", []),
    ],
)
def test_what_a_line_does(before: str, typed: str, stands: list[str]) -> None:
    assert after(before, typed) == stands


WRONG = "Error: Wrong parameter found at '^' position."


@pytest.mark.parametrize(
    ("typed", "family", "message"),
    [
        (f"{AT};qos queue 4 wred none", G1, "Error: none does not exist."),
        (f"{AT};qos queue 4 ecn", G1, "Error: qos queue 4 wred does not exist."),
        ("undo drop-profile default", G1, WRONG),
        ("drop-profile a;ecn low-limit 31 high-limit 30 discard-percentage 5", G1, WRONG),
        ("drop-profile a;ecn low-limit 30 high-limit 101 discard-percentage 5", G1, WRONG),
        ("drop-profile a;ecn low-limit 30 high-limit 30 discard-percentage 0", G1, WRONG),
        (
            "drop-profile a;ecn buffer-size low-limit 127 high-limit 300 discard-percentage 1",
            G1,
            WRONG,
        ),
        (
            "drop-profile a;ecn buffer-size low-limit 319 high-limit 400 discard-percentage 1",
            G2,
            WRONG,
        ),
        (
            "drop-profile a;color red buffer-size cell low-limit 1 high-limit 106497 "
            "discard-percentage 1",
            G2,
            WRONG,
        ),
        ("qos ecn enable", G2, "Error: Unrecognized command found at '^' position."),
    ],
)
def test_what_a_switch_refuses(typed: str, family: SyntaxFamily, message: str) -> None:
    with pytest.raises(VrpRefusal, match=re.escape(message)):
        after("", typed, family)


def test_the_normal_form_has_no_default() -> None:
    family = load_families()[G1]
    spoken = device(
        DropProfile(name="default", colours=(FULL,)),
        DropProfile(name="a", colours=(EARLY, FULL)),
        DropProfile(name="b"),
        ROCE,
    )
    assert without_defaults(spoken, family).drop_profiles == (
        DropProfile(name="a", colours=(EARLY,)),
        DropProfile(name="b"),
        ROCE,
    )
    for other in ({"low": 99}, {"high": 101}, {"percent": 99}, {"unit": "bytes"}):
        near = DropProfile(name="default", colours=(FULL.model_copy(update=other),))
        assert without_defaults(device(near), family).drop_profiles == (near,)


AT_OTHER_DEPTHS = "100GE1/0/1 marks or drops the packets of a queue at other depths"
QUEUE_4 = QueueMarking(queue=4, profile="roce", ecn=True)
OF_PROFILE = "queues with drop profile {} mark or drop packets at other depths"


@pytest.mark.parametrize(
    ("running", "intended", "kind", "reasons"),
    [
        (device(), device(ROCE), ChangeKind.ADDITIVE, ()),
        (device(ROCE), device(), ChangeKind.REMOVING, ("drop profile roce is removed",)),
        (
            device(ROCE),
            device(ROCE.model_copy(update={"ecn": LIMITS.model_copy(update={"low": 8192})})),
            ChangeKind.MODIFYING,
            (OF_PROFILE.format("roce"),),
        ),
        (
            device(ROCE),
            device(ROCE.model_copy(update={"colours": (EARLY,)})),
            ChangeKind.ADDITIVE,
            (OF_PROFILE.format("roce"),),
        ),
        (
            device(),
            device(DropProfile(name="default", ecn=LIMITS)),
            ChangeKind.ADDITIVE,
            (OF_PROFILE.format("default"),),
        ),
        (
            device(ROCE),
            device(ROCE, markings=(QUEUE_4,)),
            ChangeKind.ADDITIVE,
            (AT_OTHER_DEPTHS,),
        ),
        (
            device(ROCE, markings=(QUEUE_4,)),
            device(ROCE, markings=(QUEUE_4.model_copy(update={"ecn": False}),)),
            ChangeKind.REMOVING,
            (AT_OTHER_DEPTHS,),
        ),
        (
            device(ROCE),
            device(ROCE, ecn_enabled=True),
            ChangeKind.ADDITIVE,
            ("static ECN of the whole switch begins or ceases to mark packets",),
        ),
    ],
)
def test_what_a_change_means(
    running: Device, intended: Device, kind: ChangeKind, reasons: tuple[str, ...]
) -> None:
    assert classify(compare(running, intended), ["a line"], DISRUPTS) == (kind, reasons)
