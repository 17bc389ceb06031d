"""Patches: the order of their lines, sizes in other units, and threads."""

from __future__ import annotations

import threading
from itertools import permutations

import pytest
from canonical import canonical
from lossless_patches import candidates, unpaused
from patch_cases import BY_NAME

from rocefort.dialects.vrp.interpreter.interpreter import apply_lines
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.patch.patch import VrpPatch, make_patch
from rocefort.dialects.vrp.patch.profile_moves import ProfileMove
from rocefort.dialects.vrp.text.config_tree import parse_tree, tree_text
from rocefort.models.hardware.hardware import SyntaxFamily


def patch_of(name: str) -> VrpPatch:
    case = BY_NAME[name]
    return make_patch(case.before, case.after, case.family)


def position(patch: VrpPatch, command: str) -> int:
    return [line.strip() for line in patch.commands].index(command)


@pytest.mark.parametrize("family", list(SyntaxFamily))
def test_equal_texts_need_no_command(family: SyntaxFamily) -> None:
    text = BY_NAME["spine added to a leaf"].after
    assert make_patch(text, f"#\n{text}#\nreturn\n", family) == VrpPatch((), ())


POOL = "qos buffer headroom-pool size {} slot 1"
PAIR = "interface 100GE1/0/1\n dcb pfc buffer 4 xon static {} xoff static {}"
OFFSET = "interface 100GE1/0/1\n dcb pfc buffer 4 xoff static {} xon offset {}"


@pytest.mark.parametrize(
    ("family", "saved", "rendered"),
    [
        (SyntaxFamily.V300_G2, POOL.format("4 mbytes"), POOL.format("4096 kbytes")),
        (
            SyntaxFamily.V300_G1,
            PAIR.format("1 mbytes", "2 mbytes"),
            PAIR.format("1024 kbytes", "2048 kbytes"),
        ),
        (
            SyntaxFamily.V300_G2,
            OFFSET.format("2 mbytes", "50 kbytes"),
            OFFSET.format("2048 kbytes", "50 kbytes"),
        ),
    ],
)
def test_a_size_in_mbytes_is_not_said_again_in_kbytes(
    family: SyntaxFamily, saved: str, rendered: str
) -> None:
    head = "sysname leaf01\nntp unicast-server 10.255.0.{}\n"
    running, intended = f"{head.format(5)}{saved}\n", f"{head.format(6)}{rendered}\n"
    assert make_patch(saved, rendered, family) == VrpPatch((), ())
    patch = make_patch(running, intended, family)
    clocks = {f"{undo}ntp unicast-server 10.255.0.{n}" for undo in ("", "undo ") for n in (5, 6)}
    assert {*patch.commands, *patch.reverse} == clocks
    config = apply_lines(canonical(parse_tree(running), family), patch.commands, family)
    assert parse(tree_text(config), "a").device == parse(intended, "b").device


def test_a_size_in_mbytes_is_undone_as_it_was_saved() -> None:
    old, new = POOL.format("4 mbytes"), POOL.format("5 mbytes")
    family = SyntaxFamily.V300_G2
    assert make_patch(old, new, family) == VrpPatch((new,), (old,))
    assert make_patch(old, "sysname a", family).commands == ("sysname a", f"undo {old}")


def test_a_description_may_name_a_size() -> None:
    texts = [f"interface 100GE1/0/1\n description {size}" for size in ("4 mbytes", "4096 kbytes")]
    patch = make_patch(texts[0], texts[1], SyntaxFamily.V300_G2)
    assert patch.commands == ("interface 100GE1/0/1", " description 4096 kbytes", " quit")


def test_a_queue_is_paused_before_traffic_enters_it_and_until_traffic_has_left() -> None:
    patch = patch_of("PFC queue 3 to 4 while ports use it")
    order = [
        "dcb pfc buffer 4 xon static 550 kbytes xoff static 600 kbytes",
        "priority 4",
        "assign queue 4 model ai_ecn_hpc",
        "ip-dscp-inbound 34 phb af4 green",
        "undo assign queue 3",
        "undo priority 3",
    ]
    positions = [position(patch, line) for line in order]
    assert positions == sorted(positions)


def test_a_port_gets_pfc_when_thresholds_stand_and_queue_3_is_off() -> None:
    patch = patch_of("PFC switched on for the first time")
    enabled = position(patch, "dcb pfc enable mode manual")
    assert position(patch, "undo priority 3") < enabled
    assert (
        position(patch, "dcb pfc buffer 4 xon static 550 kbytes xoff static 600 kbytes") < enabled
    )
    assert enabled < position(patch, "dcb pfc deadlock-detect timer 10")


def test_pfc_leaves_a_port_after_its_traffic_and_before_its_thresholds() -> None:
    patch = patch_of("PFC leaves a port")
    order = [
        "undo trust upstream",
        "undo dcb pfc enable",
        "undo dcb pfc buffer 4 xon static 550 kbytes xoff static 600 kbytes",
        "priority 3",
        "undo priority 4",
    ]
    positions = [position(patch, line) for line in order]
    assert positions == sorted(positions)


def test_no_order_of_the_lines_pauses_traffic_that_crosses_with_its_port() -> None:
    """So the patch names the port and its queues; the law of random switches excepts them."""
    name, port = "a port and its traffic cross from queue 4 to queue 3", "100GE1/0/1"
    case, patch = BY_NAME[name], patch_of(name)
    views = [view.split("\n") for view in "\n".join(patch.commands).split("\n quit") if view]
    orders = [[line for view in order for line in (*view, "quit")] for order in permutations(views)]
    bare = [
        {queue for _, now in candidates(f"sysname a\n{case.before}", order, case.family)
         for queue in unpaused(now, port)}
        for order in orders
    ]  # fmt: skip
    assert bare == [{4}, {3}]
    assert patch.unpaused == (ProfileMove(port, frozenset({4}), frozenset({3})),)


def test_threads_make_the_same_patch() -> None:
    case = BY_NAME["spine added to a leaf"]
    patches: list[VrpPatch] = []

    def work() -> None:
        patches.append(make_patch(case.before, case.after, case.family))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(patches) == 8
    assert len(set(patches)) == 1
