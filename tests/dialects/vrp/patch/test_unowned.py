"""Unowned lines that commands of a patch take with them: a table of the kinds, and their words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice

import pytest
from canonical import canonical
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st
from row_changes import changes, noticed
from row_lines import samples

from rocefort.base.errors import BadInput
from rocefort.dialects.changes import change_of
from rocefort.dialects.data import TakenLine
from rocefort.dialects.syntax_families import load_families
from rocefort.dialects.vrp.commands.catalogue import rows_by_view
from rocefort.dialects.vrp.commands.command import LostLines
from rocefort.dialects.vrp.interpreter.interpreter import VrpRefusal
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.dialects.vrp.text.config_tree import parse_tree
from rocefort.dialects.vrp.unowned_lines import apply_with, with_kept
from rocefort.models.hardware.hardware import SyntaxFamily

G1 = SyntaxFamily.V300_G1
VPN = "ip vpn-instance M\n ipv4-family\n"
PORT = "interface 100GE1/0/1\n"
VLANIF = "interface Vlanif10\n description x\n"
PEER = "bgp 65001\n peer 10.0.0.1 as-number {}\n"
BOUND = f"{VPN}{VLANIF} ip binding vpn-instance M\n ip address 10.0.0.1 255.255.255.0\n"
FREE = f"{VPN}{VLANIF} ip address 10.0.0.1 255.255.255.0\n"
IPV6 = "interface Vlanif10 / ipv6 enable"

# What changes -> before, after, unowned lines that are set again, that are lost, that are untouched
CASES: Mapping[str, tuple[str, str, Sequence[str], Sequence[str], Sequence[str]]] = {
    "an interface gets a routing table": (FREE, BOUND, [IPV6], [], ["dns resolve"]),
    "an interface leaves its routing table": (BOUND, FREE, [IPV6], [], []),
    "a routing table goes with its interfaces": (
        BOUND,
        FREE.removeprefix(VPN),
        [IPV6],
        [
            "ip vpn-instance M / ipv6-family",
            "ipv6 route-static vpn-instance M 2001:DB8:: 32 2001:DB8:1::1",
            "bgp 1 / ipv4-family vpn-instance M",
            "bgp 1 / ipv4-family vpn-instance M / network 10.0.0.0 255.0.0.0",
        ],
        ["bgp 1 / ipv4-family vpn-instance N"],
    ),
    "another link type": (
        f"{PORT} port link-type trunk\n port trunk allow-pass vlan 10\n",
        f"{PORT} port default vlan 10\n",
        [],
        ["interface 100GE1/0/1 / port trunk pvid vlan 10"],
        ["interface 100GE1/0/1 / port-isolate enable group 1"],
    ),
    "another AS number of a peer": (
        PEER.format(65002),
        PEER.format(65003),
        [
            "bgp 65001 / peer 10.0.0.1 tracking",
            "bgp 65001 / ipv6-family unicast / peer 10.0.0.1 enable",
        ],
        [],
        [
            "bgp 65001 / ipv6-family unicast",
            "bgp 65001 / ipv4-family vpn-instance M",
            "bgp 65001 / ipv4-family vpn-instance M / peer 10.0.0.1 as-number 9",
        ],
    ),
    "a peer goes": (
        f"{PEER.format(65002)} peer 10.0.0.2 as-number 65003\n",
        "bgp 65001\n peer 10.0.0.2 as-number 65003\n",
        [],
        ["bgp 65001 / ipv4-family unicast / peer 10.0.0.1 next-hop-local"],
        ["bgp 65001 / peer 10.0.0.2 tracking"],
    ),
    "a group goes": (
        "bgp 65001\n router-id 1.1.1.1\n group G external\n",
        "bgp 65001\n router-id 1.1.1.1\n",
        [],
        ["bgp 65001 / peer G tracking"],
        [],
    ),
    "a node of a route policy has another mode": (
        "route-policy P permit node 10\n",
        "route-policy P deny node 10\n",
        ["route-policy P permit node 10 / if-match tag 1"],
        [],
        [],
    ),
    "a VLAN interface goes": (VLANIF, "sysname a\n", [], [IPV6], []),
    "an ACL goes": (
        "acl number 2000\n rule 5 permit\n",
        "sysname a\n",
        [],
        ["acl number 2000 / rule 10 deny vpn-instance M"],
        [],
    ),
    "a prefix list loses an entry": (
        "ip ip-prefix L index 1 permit 10.0.0.0 8\nip ip-prefix L index 2 permit 11.0.0.0 8\n",
        "ip ip-prefix L index 1 permit 10.0.0.0 8\n",
        [],
        [],
        ["ip ip-prefix L description x"],
    ),
    "a user goes": (
        "aaa\n local-user a level 3\n local-user b level 3\n",
        "aaa\n local-user b level 3\n",
        [],
        ["aaa / local-user a ftp-directory flash:"],
        ["aaa / local-user b ftp-directory flash:"],
    ),
    "a VLAN goes": (
        "vlan batch 10 20\n",
        "vlan batch 20\n",
        [],
        ["vlan 10", "vlan 10 / arp anti-attack"],
        ["vlan 20", "vlan 20 / arp anti-attack"],
    ),
    "a port is split": (
        f"{PORT} description x\n",
        "port split dimension interface 100GE1/0/1 split-type 4*25GE\n",
        [],
        ["interface 100GE1/0/1 / device transceiver 40GBASE-FIBER"],
        [],
    ),
    "a routing table loses its IPv4 family": (
        f"{VPN}{VLANIF} ip binding vpn-instance M\n",
        f"{VPN.splitlines()[0]}\n{VLANIF} ip binding vpn-instance M\n",
        [],
        [
            "bgp 1 / ipv4-family vpn-instance M",
            "interface Vlanif10 / ip address dhcp-alloc",
        ],
        ["bgp 1 / ipv6-family vpn-instance M", IPV6],
    ),
    "autonegotiation comes back": (
        f"{PORT} negotiation disable\n",
        f"{PORT} description x\n",
        ["interface 100GE1/0/1 / fec mode other"],
        [],
        [],
    ),
    "BFD goes": ("bfd\n", "sysname a\n", [], ["bfd X bind peer-ip 10.0.0.1"], []),
    "a terminal line authenticates by AAA": (
        "user-interface vty 0 4\n authentication-mode password\n",
        "user-interface vty 0 4\n authentication-mode aaa\n",
        [],
        ["user-interface vty 0 4 / set authentication password cipher <removed>"],
        [],
    ),
    "a line of the same command replaces it": (
        "sysname a\n",
        f"{PORT} trust dscp\n",
        [],
        ["interface 100GE1/0/1 / trust 8021p outer"],
        [],
    ),
}  # fmt: skip
FAMILY = {"a user goes": SyntaxFamily.V200}


def path_of(line: str) -> tuple[str, ...]:
    return tuple(line.split(" / "))


@pytest.mark.parametrize("name", CASES)
def test_lines_are_set_again_or_lost_with_a_word(name: str) -> None:
    before, after, again, lost, untouched = CASES[name]
    family = FAMILY.get(name, G1)
    kept = tuple(map(path_of, (*untouched, *again, *lost)))
    patch = make_patch(before, after, family, kept)
    state = {" / ".join(line.path): line.after is not None for line in patch.taken if line.command}
    assert state == dict.fromkeys(again, True) | dict.fromkeys(lost, False)
    tree = with_kept(canonical(parse_tree(before), family), kept, family)
    paths = frozenset(kept) | {line.after for line in patch.taken if line.after}
    there = apply_with(tree, patch.commands, family, paths)
    present = {(*views, line.text) for top in there for views, line in top.walk()}
    assert not present & set(map(path_of, lost))
    renamed = {line.path: line.after or line.path for line in patch.taken}
    assert {renamed.get(path, path) for path in map(path_of, (*again, *untouched))} <= present
    back = apply_with(there, patch.reverse, family, paths)
    present = {(*views, line.text) for top in back for views, line in top.walk()}
    secret = {line.path for line in patch.taken if not line.restored}
    assert set(kept) - secret <= present


def test_an_operator_reads_what_goes_and_what_is_set_again() -> None:
    device = [parse(f"sysname a\n{text}", "a").device for text in (BOUND, FREE.removeprefix(VPN))]
    kept = [path_of(IPV6), path_of("ip vpn-instance M / ipv6-family")]
    change = change_of(
        BOUND, device[0], FREE.removeprefix(VPN), device[1], load_families()[G1], kept
    )
    assert change.service_affecting[-2:] == (
        "`ipv6 enable` of interface Vlanif10 goes with `undo ip binding vpn-instance M`, "
        "and is set again",
        "`ipv6-family` of ip vpn-instance M goes with `undo ip vpn-instance M`, "
        "and is not set again",
    )
    assert change.unowned == ("- ip vpn-instance M / ipv6-family",)
    assert change.kept_after == (IPV6,)
    assert change.undone.unowned == ("+ ip vpn-instance M / ipv6-family",)
    assert set(change.undone.kept_after) == set(change.kept)


REFUSALS = {
    "a port becomes routed": (
        f"{PORT} description x\n", f"{PORT} undo portswitch\n", "stp bpdu-filter enable",
        "undo portswitch",
    ),
    "a port becomes switched": (
        f"{PORT} undo portswitch\n", f"{PORT} description x\n", "ipv6 enable", "portswitch",
    ),
    "a port joins an Eth-Trunk": (
        "interface Eth-Trunk1\n", f"interface Eth-Trunk1\n{PORT} eth-trunk 1\n",
        "port trunk pvid vlan 10", "eth-trunk 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_a_line_in_the_way_is_named_before_the_switch_refuses(name: str) -> None:
    before, after, line, command = REFUSALS[name]
    kept = [("interface 100GE1/0/1", line)]
    with pytest.raises(BadInput, match="a line without an owner") as caught:
        make_patch(before, after, G1, kept)
    problem = caught.value.problem
    assert problem.what.startswith(f"the switch refuses `{command}` while it has `{line}`")
    assert problem.where == "interface 100GE1/0/1"
    tree = with_kept(canonical(parse_tree(before), G1), kept, G1)
    with pytest.raises(VrpRefusal, match=line):
        apply_with(tree, make_patch(before, after, G1).commands, G1, frozenset(kept))


def test_a_secret_that_would_have_to_be_set_again_is_refused() -> None:
    secret = ("interface Vlanif10", "ospf authentication-mode md5 1 cipher <removed>")
    with pytest.raises(BadInput, match="a secret that no patch has") as caught:
        make_patch(BOUND, FREE, G1, [secret])
    assert caught.value.problem.where == "interface Vlanif10"


def test_a_queue_with_unowned_settings_stays() -> None:
    kept = [("dcb pfc", "priority 5 error-down threshold 9")]
    with pytest.raises(BadInput, match="refuses `undo priority 5`"):
        make_patch("dcb pfc\n priority 4\n priority 5\n", "dcb pfc\n priority 4\n", G1, kept)


def taken(name: str) -> list[TakenLine]:
    before, after, *kept = CASES[name]
    paths = [path_of(text) for lines in kept for text in lines]
    return list(make_patch(before, after, FAMILY.get(name, G1), paths).taken)


def test_a_declared_loss_that_is_left_out_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a case or, for lines that a patch owns, by a sample."""
    expected = {name: taken(name) for name in CASES}
    patterns = LostLines.patterns
    unnoticed = []
    for change in (one for one in changes() if one.field == "losses"):
        assert change.row
        (loss,) = {*change.before.losses} - {*change.row.losses}
        with monkeypatch.context() as patch:
            patch.setattr(
                LostLines,
                "patterns",
                lambda self, params, gone=True, left_out=loss: (
                    () if self == left_out else patterns(self, params, gone=gone)
                ),
            )
            same = all(taken(name) == expected[name] for name in CASES)
        if same and not noticed(change):
            unnoticed.append(str(change))
    assert unnoticed == []


def test_a_declared_loss_has_a_source_and_an_occasion() -> None:
    for row in (row for rows in rows_by_view().values() for row in rows):
        assert all(loss.source and loss.on in ("set", "undo", "both") for loss in row.losses)


# -- lines that lack words ---------------------------------------------------------------------------

VIEWS = {
    "system": (),
    "interface": ("interface 100GE1/0/1",),
    "bgp": ("bgp 65001",),
    "bgp-af": ("bgp 65001", "ipv4-family unicast"),
    "dcb-pfc": ("dcb pfc",),
    "aaa": ("aaa",),
    "acl": ("acl number 2000",),
    "route-policy": ("route-policy a permit node 10",),
    "vty": ("user-interface vty 0 4",),
}


def cut_lines() -> list[tuple[str, str]]:
    """Every beginning of the lines of some views, with and without `undo`, or with another word."""
    lines: dict[tuple[str, str], None] = {}
    for view in VIEWS:
        for sample in (s for row in rows_by_view()[view] for s in islice(samples(row), 4)):
            words = sample.split()
            for number in range(len(words)):
                for cut in (words[: number + 1], [*words[:number], "x", *words[number + 1 :]]):
                    text = " ".join(cut)
                    lines |= {(view, text): None, (view, f"undo {text}"): None}
    return list(lines)


def text_of(lines: Sequence[tuple[str, str]]) -> str:
    views: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for view, line in lines:
        views[VIEWS[view]].append(line)
    return "\n".join(
        line
        for heads, some in views.items()
        for line in (
            *(" " * depth + head for depth, head in enumerate(heads)),
            *(" " * len(heads) + each for each in some),
        )
    )


LINES = st.lists(st.sampled_from(cut_lines()), min_size=1, max_size=6)


@settings(max_examples=tries(150))
@given(before=LINES, after=LINES, family=st.sampled_from(SyntaxFamily))
def test_no_text_makes_another_error_than_the_documented_one(
    before: list[tuple[str, str]], after: list[tuple[str, str]], family: SyntaxFamily
) -> None:
    try:
        make_patch(text_of(before), text_of(after), family)
    except BadInput as error:
        assert "not a whole command" in str(error)  # noqa: PT017 - most texts have a patch


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("bgp 65001\n ipv4-family unicast\n  peer\n", "`bgp 65001 / ipv4-family unicast / peer`"),
        ("bgp 65001\n peer 10.0.0.1\n", "`bgp 65001 / peer 10.0.0.1`"),
        (
            "port split dimension interface 100GE1/0/1\n",
            "`port split dimension interface 100GE1/0/1`",
        ),
        ("qos buffer headroom-pool size 4\n", "`qos buffer headroom-pool size 4`"),
    ],
)
def test_a_line_that_lacks_words_is_named_both_ways(text: str, where: str) -> None:
    for texts in (("sysname a\n", text), (text, "sysname a\n")):
        with pytest.raises(BadInput, match="not a whole command") as caught:
            make_patch(*texts, G1)
        assert caught.value.problem.where == where
