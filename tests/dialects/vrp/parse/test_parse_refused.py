"""Lines that no Device can represent are refused by number; any other text is read."""

from __future__ import annotations

import pytest
from efforts import tries
from hypothesis import event, given, settings
from hypothesis import strategies as st

from rocefort.base.errors import BadInput
from rocefort.dialects.vrp.parse.parser import parse

HEAD = "sysname a\n"
PORT = f"{HEAD}interface 100GE1/0/1\n"
PEER = f"{HEAD}bgp 65001\n peer 10.0.0.1 as-number 65002\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            f"{PORT} ip address 10.0.0.300 24\n",
            "a.cfg:3: 10.0.0.300 is not an IPv4 address; write 10.0.0.1",
        ),
        (
            f"{PORT} ip address 10.0.0.1 255.0.255.0\n",
            "a.cfg:3: 255.0.255.0 is not a mask; write 255.255.255.0 or 24",
        ),
        (
            f"{PORT} ip address 10.0.0.1 0.0.0.255\n",  # a wildcard is no mask
            "a.cfg:3: 0.0.0.255 is not a mask; write 255.255.255.0 or 24",
        ),
        (
            f"{PORT} ip address 10.0.0.1 24\n ip address 10.0.1.1 24\n",
            "a.cfg:4: a second primary address 10.0.1.1/24; 10.0.0.1/24 is on line 3; write `sub`",
        ),
        (
            f"{PORT} mtu 9000\n#\n mtu 1500\n",
            "a.cfg:5: interfaces[100GE1/0/1].mtu is 1500 here and 9000 on line 3; "
            "keep one of the two lines",
        ),
        (
            f"{PORT} dcb pfc buffer 4 xoff static 600 kbytes\n dcb pfc buffer 4 xoff dynamic 6\n",
            "a.cfg:4: xoff of queue 4 is in another unit on line 3; keep one of the two lines",
        ),
        (
            f"{PORT} dcb pfc buffer 4 xoff static 9 cells\n dcb pfc buffer 4 xoff static 9 mbytes\n",
            "a.cfg:4: xoff of queue 4 is in another unit on line 3; keep one of the two lines",
        ),
        (f"{PORT} mtu 0\n", "a.cfg:3: `mtu` 0; it is 1 to 65535"),
        (f"{PORT} mtu {'9' * 5000}\n", f"a.cfg:3: `mtu` {'9' * 20}; it is 1 to 65535"),
        (f"{HEAD}vlan batch 10 5000\n", "a.cfg:2: `vlan batch` 5000; it is 1 to 4094"),
        (f"{HEAD}vlan batch 9 to 3\n", "a.cfg:2: `vlan batch` 9 to 3; write the lower one first"),
        (f"{HEAD}bgp 0\n", "a.cfg:2: AS number 0; it is 1 to 4294967295"),
        (
            f"{HEAD}bgp 1\nbgp 2\n",
            "a.cfg:3: bgp.asn is 2 here and 1 on line 2; keep one of the two",
        ),
        (
            f"{PEER} peer 10.0.0.1 as-number 65003\n",
            "a.cfg:4: bgp.peers[10.0.0.1].asn is 65003 here and 65002 on line 3",
        ),
        (f"{PEER} peer 10.0.0.256 as-number 1\n", "a.cfg:4: 10.0.0.256 is not an IPv4 address"),
        (
            f"{PEER} ipv4-family unicast\n  network 10.0.0.1 24\n",
            "a.cfg:5: 10.0.0.1 has bits beyond the mask 24; write 10.0.0.0/24",
        ),
        (
            f"{HEAD}ip ip-prefix L index 10 permit 10.0.0.0 8\n"
            "ip ip-prefix L index 10 deny 10.0.0.0 8\n",
            "a.cfg:3: prefix_lists[L].entries[10].action is deny here and permit on line 2",
        ),
        (
            f"{HEAD}ip ip-prefix L index 10 permit 10.0.0.0 8 less-equal 33\n",
            "a.cfg:2: prefix length 33; it is 0 to 32",
        ),
        (
            f"{HEAD}diffserv domain d\n ip-dscp-inbound 64 phb af4\n",
            "a.cfg:3: `ip-dscp-inbound ..` 64; it is 0 to 63",
        ),
        (
            f"{PORT} dcb pfc buffer 4 xoff static 5 kbytes xon offset 6 kbytes\n",
            "a.cfg:3: an xon offset of 6 kbytes below an xoff of 5 kbytes; lower the offset",
        ),
        (f"{HEAD}dcb pfc\n priority 9\n", "a.cfg:3: `priority ..` 9; it is 0 to 7"),
        (f"{PORT} qos drr 5 to 8\n", "a.cfg:3: queue 8; it is 0 to 7"),
        (f"{PORT} qos drr 5 to 2\n", "a.cfg:3: queues 5 to 2; write the lower one first"),
        (
            f"{PORT} qos pq 5\n qos drr 0 to 5\n",
            "a.cfg:4: queue 5 is under both `qos pq` and `qos drr`; keep one of the two",
        ),
        (
            f"{PORT} qos queue 4 drr weight 101\n",
            "a.cfg:3: `qos queue .. drr weight` 101; it is 1 to 100",
        ),
        ("sysname a\nsysname b\n", "a.cfg:2: name is b here and a on line 1"),
        ("hostname a\nmtu 9000\n", "a.cfg: no sysname, so this is no configuration"),
        ("", "a.cfg: an empty file; give the text of `display current-configuration`"),
        (" \n\r\n", "a.cfg: an empty file"),
        ("sysname a\0", "a.cfg: a binary file"),
    ],
)
def test_what_no_device_can_hold_is_refused_with_its_line(text: str, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse(text, "a.cfg")
    assert str(refused.value).startswith(sentence)


def test_all_bad_lines_are_reported_together() -> None:
    with pytest.raises(BadInput) as refused:
        parse(f"{PORT} mtu 0\n description b\n ip address 1.2.3 8\nbgp 0\n", "a.cfg")
    assert [problem.where for problem in refused.value.problems] == [
        "a.cfg:3",
        "a.cfg:5",
        "a.cfg:6",
    ]


# -- foreign and broken text ---------------------------------------------------------------------

VOCABULARY = """
sysname interface 100GE1/0/1 bgp peer group dcb pfc buffer priority undo ip address network
10.0.0.1 24 4 to vlan batch enable static kbytes xoff # return ! aaa ssh user 99999999999
route-policy permit node index ipv4-family unicast description \u00b2
"""
WORDS = st.sampled_from([*VOCABULARY.split(), "\t", "\u2028"])
LINES = st.builds(
    lambda indent, words: " " * indent + " ".join(words),
    st.integers(0, 3),
    st.lists(WORDS, max_size=7),
)


@settings(max_examples=tries(200))
@given(st.lists(LINES, max_size=12).map("\n".join) | st.text())
def test_any_text_is_read_or_refused_with_its_place(text: str) -> None:
    """Any text is a Device whose every line is modelled or kept, or BadInput with its place."""
    try:
        parsed = parse(f"sysname a\n{text}", "a.cfg")
    except BadInput as refused:
        places = [problem.file for problem in refused.problems]
        event("refused")
    else:
        places = ["a.cfg"]
        kept = {line.line for line in parsed.unmodelled}
        assert not kept & set(parsed.lines.values())
        assert parsed.total_lines >= len(kept)
    assert set(places) == {"a.cfg"}


def test_deep_indentation_is_no_recursion() -> None:
    text = HEAD + "".join(" " * depth + "x\n" for depth in range(3000))
    assert len(parse(text, "a.cfg").unmodelled) == 3000
