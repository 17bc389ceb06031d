"""Mistakes that a person makes in fabric.yaml: the whole sentence, and the value that it marks."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from outputs import messages

Edits = list[tuple[str, str]]
Marked = list[tuple[str, str]]  # the begin of the text below which the mark is, and the sentence
MISTAKES: list[tuple[str, Edits, Marked]] = [
    ("duplicate VLAN", [("    vlan: 120\n", "    vlan: 110\n")], [("110", "segments[1].vlan: VLAN '110' is given twice; write another one: the first is on line N")]),
    ("VLAN 5000", [("vlan: 110\n", "vlan: 5000\n")], [("5000", "segments[0].vlan: 5000 is out of range; write a VLAN from 2 to 4094 (1 is the default VLAN of a switch)")]),
    ("VLAN 1", [("vlan: 110\n", "vlan: 1\n")], [("1", "segments[0].vlan: 1 is out of range; write a VLAN from 2 to 4094 (1 is the default VLAN of a switch)")]),
    ("MTU 64", [("mtu: 9000  #", "mtu: 64  #")], [("64", "mtu: 64 is out of range; write an MTU, bytes of IP, from 1280 to 9600")]),
    ("AS number 0", [("spine_asn: 65000", "spine_asn: 0")], [("0", "routing.spine_asn: 0 is out of range; write an AS number from 1 to 4294967294 (RFC 7607 and RFC 7300 reserve 0 and 4294967295)")]),
    ("text for a number", [("maximum_paths: ", "maximum_paths: all # ")], [("all", "routing.maximum_paths: 'all' is not a whole number; write the number alone")]),
    ("a unit", [("xoff_kbytes: 600", "xoff_kbytes: 600KB")], [("600KB", "profiles.lossless.heps.xoff_kbytes: '600KB' is not a whole number; write the number alone, in kbytes")]),
    ("overlapping prefixes", [("leaf_loopbacks: 10.0.1.0/24", "leaf_loopbacks: 10.0.0.0/24")], [("10.0.0.0/24", "pools.leaf_loopbacks: 10.0.0.0/24 overlaps 10.0.0.0/26; use separate prefixes")]),
    ("a pool too small", [("links: 10.1.0.0/22", "links: 10.1.0.0/24")], [("10.1.0.0/24", "pools.links: 10.1.0.0/24 has 256 addresses, the reserved capacity takes 1024; use a /22: 8 spines x 64 leaves x 1 link of 2 addresses")]),
    ("host bits", [("links: 10.1.0.0/22", "links: 10.1.0.1/22")], [("10.1.0.1/22", "pools.links: '10.1.0.1/22' has bits set behind its length; its network is 10.1.0.0/22")]),
    ("a length of 33", [("links: 10.1.0.0/22", "links: 10.1.0.0/33")], [("10.1.0.0/33", "pools.links: '10.1.0.0/33' has a length above 32; write a network, such as 10.1.0.0/22")]),
    ("a number of 265", [("links: 10.1.0.0/22", "links: 10.265.0.0/22")], [("10.265.0.0/22", "pools.links: '10.265.0.0/22' has a number above 255; write a network, such as 10.1.0.0/22")]),
    ("a port used twice", [("leaf: leaf01\n    port: 100GE1/0/2\n", "leaf: leaf01\n    port: 100GE1/0/1\n")], [("100GE1/0/1", "servers[1].port: leaf01 100GE1/0/1 is used twice, by transfer01 and k8sgn08; give each server a port of its own")]),
    ("a port for spines", [("    port: 100GE1/0/1\n    segment: transfer\n", "    port: 100GE1/0/57\n    segment: transfer\n")], [("100GE1/0/57", "servers[0].port: leaf01 100GE1/0/57 is reserved for spines; fabric ports of CE8850-64CQ-EI: 100GE1/0/57-64; fabric_ports sets others")]),
    ("a port that is not there", [("    port: 100GE1/0/1\n    segment: transfer\n", "    port: 100GE1/0/99\n    segment: transfer\n")], [("100GE1/0/99", "servers[0].port: CE8850-64CQ-EI has no port 100GE1/0/99; its ports: 100GE1/0/1-64")]),
    ("a port in small letters", [("    port: 100GE1/0/1\n    segment: transfer\n", "    port: 100ge1/0/1\n    segment: transfer\n")], [("100ge1/0/1", "servers[0].port: '100ge1/0/1' is not a port; did you mean '100GE1/0/1'?")]),
    ("a wrong model", [("name: leaf05\n    hardware: CE6866-48S8CQ-P", "name: leaf05\n    hardware: CE6866-48S8CQ")], [("CE6866-48S8CQ", "leaves[4].hardware: no hardware 'CE6866-48S8CQ' in inventory/hardware; did you mean 'CE6866-48S8CQ-P'?")]),
    ("a wrong profile", [("lossless: heps\n", "lossless: hepz\n")], [("hepz", "lossless: there is no lossless profile 'hepz'; did you mean 'heps'?")]),
    ("a wrong ECN profile", [("ecn: ai-ecn-hpc", "ecn: ai-ecn-hcp")], [("ai-ecn-hcp", "profiles.lossless.heps.ecn: there is no ECN profile 'ai-ecn-hcp'; did you mean 'ai-ecn-hpc'?")]),
    ("a wrong canary", [("canary: leaf08", "canary: leaf80")], [("leaf80", "rollout.canary: no leaf 'leaf80'; did you mean 'leaf08'?")]),
    ("a wrong leaf", [("  - name: readout03\n    leaf: leaf07", "  - name: readout03\n    leaf: leaf7")], [("leaf7", "servers[10].leaf: no leaf 'leaf7'; did you mean 'leaf07'?")]),
    ("a release that is none", [("name: leaf02\n    hardware: CE8850-64CQ-EI\n    software: V200R022C00", "name: leaf02\n    hardware: CE8850-64CQ-EI\n    software: V20R022C00")], [("V20R022C00", "leaves[1].software: CE8850-64CQ-EI has no release 'V20R022C00'; write one of its releases, which begin with V200")]),
    ("a release of another family", [("name: leaf02\n    hardware: CE8850-64CQ-EI\n    software: V200R022C00", "name: leaf02\n    hardware: CE8850-64CQ-EI\n    software: V300R023C00")], [("V300R023C00", "leaves[1].software: CE8850-64CQ-EI has no release 'V300R023C00'; write one of its releases, which begin with V200")]),
    ("a capacity below what is there", [("  leaves: 64", "  leaves: 7")], [("8", "leaves[7].id: id 8 is outside the reserved capacity of 7 leaves; use a free id up to 7; raising capacity.leaves moves addresses")]),
    ("a capacity above the ports", [("  spines: 8\n", "  spines: 16\n")], [("10.1.0.0/22", "pools.links: 10.1.0.0/22 has 1024 addresses, the reserved capacity takes 2048; use a /21: 16 spines x 64 leaves x 1 link of 2 addresses"), ("CE8850-64CQ-EI", "leaves[0].hardware: CE8850-64CQ-EI has 8 fabric ports, enough for 8 spines with 1 link to each; the reserved capacity is 16 spines; use CE12800E or CE9860-4C-EI; or lower capacity.spines to 8"), ("CE8851-32CQ8DQ-P", "leaves[2].hardware: CE8851-32CQ8DQ-P has 8 fabric ports, enough for 8 spines with 1 link to each; the reserved capacity is 16 spines; use CE12800E or CE9860-4C-EI; or lower capacity.spines to 8"), ("CE6866-48S8CQ-P", "leaves[4].hardware: CE6866-48S8CQ-P has 8 fabric ports, enough for 8 spines with 1 link to each; the reserved capacity is 16 spines; use CE12800E or CE9860-4C-EI; or lower capacity.spines to 8")]),
    ("xon above xoff", [("xon_kbytes: 550", "xon_kbytes: 650")], [("650", "profiles.lossless.heps.xon_kbytes: xon 650 kbytes is above xoff 600 kbytes; write less than 600: pauses end two frames or more below xoff")]),
    ("one DSCP for RoCE and CNP", [("cnp_dscp: 48", "cnp_dscp: 34")], [("34", "profiles.lossless.heps.cnp_dscp: DSCP 34 is that of RoCE (roce_dscp), so CNP would use the lossless queue; write another DSCP for one of the two, such as 48 for CNP")]),
    ("one DSCP for RoCE and CNP, that of CNP", [("roce_dscp: 34", "roce_dscp: 48")], [("48", "profiles.lossless.heps.cnp_dscp: DSCP 48 is that of RoCE (roce_dscp), so CNP would use the lossless queue; write another DSCP for one of the two, such as 34 for RoCE")]),
    ("two lossless queues", [("      queue: 4  ", "      queue: [3, 4]  ")], [("[3", "profiles.lossless.heps.queue: one lossless queue is supported; write the queue of RoCE alone")]),
    ("a tab", [("  hold_s: 30", "\thold_s: 30")], [("", "a tab in the indentation; indent with spaces")]),
    ("bad indentation", [("  hold_s: 30", "   hold_s: 30")], [("hold_s", "this line is indented below line N, whose key has a value already; align it with the keys it belongs to")]),
    ("an open bracket", [("ntp: [10.255.0.250]", "ntp: [10.255.0.250")], [("[10.255.0.250", "the `[` that opens here is not closed; close it with `]`")]),
    ("a missing colon", [("\nrouting:\n", "\nrouting\n")], [("routing", "no `: ` after the key in 'routing'; write `key: value`, with a space after the colon")]),
    ("a no-break space", [("hold_s: 30", "hold_s:\u00a030")], [("", "a no-break space (U+00A0) where YAML needs a space; replace it by a space")]),
    ("an open quote", [("canary: leaf08", "canary: \"leaf08")], [("\"leaf08", "the quote that opens here is not closed; close it on the same line")]),
    ("an unknown key", [("    segment: transfer\n    nic", "    segmnt: transfer\n    nic")], [("segmnt", "servers[0].segmnt: unknown key 'segmnt'; did you mean 'segment'?")]),
    ("a key twice", [("mtu: 9000  #", "mtu: 9000\nmtu: 1500  #")], [("mtu", "mtu: key 'mtu' is there twice; remove one: the first is on line N")]),
    ("an id twice", [("  - id: 4\n    name: leaf04", "  - id: 3\n    name: leaf04")], [("3", "leaves[3].id: id '3' is given twice; write another one: the first is on line N")]),
    ("a name twice", [("    name: leaf04", "    name: leaf03")], [("leaf03", "leaves[3].name: name 'leaf03' is given twice; write another one: the first is on line N")]),
    ("an anchor", [("mtu: 9000  #", "mtu: &mtu 9000  #")], [("&mtu", "mtu: anchor &mtu; write the value out")]),
    ("a placeholder", [("mtu: 9000  #", "mtu: {{ mtu }}  #")], [("{", "mtu: a mapping as a key: `{{` begins one, and nothing fills in placeholders here; write the value itself")]),
    ("a secret in clear", [("privacy: env:SNMP_PRIVACY", "privacy: Hunter2Hunter2")], [("Hunter2Hunter2", "services.snmp[0].privacy: a credential that is not a reference; write env:NAME or file:PATH, or keyring:SERVICE/USER")]),
    ("four errors at once", [("vlan: 110\n", "vlan: 1\n"), ("hold_s: 30", "hold_sec: 30"), ("leaf: leaf01\n    port: 100GE1/0/2\n", "leaf: leaf01\n    port: 100GE1/0/1\n"), ("canary: leaf08", "canary: leaf80")], [("hold_sec", "routing.hold_sec: unknown key 'hold_sec'; did you mean 'hold_s'?"), ("1", "segments[0].vlan: 1 is out of range; write a VLAN from 2 to 4094 (1 is the default VLAN of a switch)"), ("100GE1/0/1", "servers[1].port: leaf01 100GE1/0/1 is used twice, by transfer01 and k8sgn08; give each server a port of its own"), ("leaf80", "rollout.canary: no leaf 'leaf80'; did you mean 'leaf08'?")]),
    ("a path to no segment", [("\nrollout:\n", "\nwan:\n  - {between: [transfer, storag], round_trip_ms: 44, rate_gbps: 400}\n  - {between: [compute, compute], round_trip_ms: 44, rate_gbps: 400}\nrollout:\n")], [("storag", "wan[0].between[1]: no segment 'storag' with a VLAN; did you mean 'storage'?"), ("[compute", "wan[1].between: compute and compute are one segment; name two segments")]),
    ("a path twice, and no round trip", [("\nrollout:\n", "\nwan:\n  - {between: [transfer, storage], round_trip_ms: 44, rate_gbps: 400}\n  - {between: [storage, transfer], round_trip_ms: 10, rate_gbps: 400}\nrollout:\n")], [("[storage", "wan[1].between: the path between storage and transfer is given twice; remove one")]),
    ("a section in capitals", [("\nrollout:\n", "\nRollout:\n")], [("Rollout", "Rollout: unknown key 'Rollout'; did you mean 'rollout'?")]),
    ("a section in the singular", [("spines:\n  - id", "spine:\n  - id")], [("spine", "spine: unknown key 'spine'; did you mean 'spines'?")]),
    ("a section that is missing", [("mtu: 9000  # assumed\n", "")], [("fabric", "mtu: 'mtu' is missing; add it, for example mtu: 9000")]),
    ("an equals sign", [("mtu: 9000  #", "mtu = 9000  #")], [("mtu", "no `: ` after the key in 'mtu = 9000  # assumed'; write `key: value`, with a space after the colon")]),
    ("no space after the colon", [("mtu: 9000  #", "mtu:9000  #")], [("mtu:9000", "no `: ` after the key in 'mtu:9000  # assumed'; write `key: value`, with a space after the colon")]),
    ("a decimal comma", [("latency_us: 3.72 ", "latency_us: 3,72 ")], [("3", "rdma.latency_us: '3,72' is not a number; write 3.72, with a point")]),
    ("minutes", [("trial_s: 600", "trial_s: 10m")], [("10m", "rollout.trial_s: '10m' is not a whole number; write the number alone, in seconds")]),
    ("a trial that is too short", [("trial_s: 600", "trial_s: 30")], [("30", "rollout.trial_s: 30 is out of range; write a trial time from 60 to 65535 seconds")]),
    ("metres with their unit", [("fabric_m: 50", "fabric_m: 50m")], [("50m", "cables.fabric_m: '50m' is not a number; write the number alone, in metres")]),
    ("a negative length", [("fabric_m: 50", "fabric_m: -5")], [("-5", "cables.fabric_m: -5 is out of range; write a cable length above 0 and at most 10000 metres")]),
    ("a list for a name", [("canary: leaf08", "canary: [leaf08]")], [("[leaf08", "rollout.canary: a list cannot be used; write one value, without brackets")]),
    ("a name for a list", [("ntp: [10.255.0.250]", "ntp: 10.255.0.250")], [("10.255.0.250", "services.ntp: '10.255.0.250' cannot be used; write a list: [first, second], or lines that begin with `- `")]),
    ("an address above 255", [("ntp: [10.255.0.250]", "ntp: [10.255.0.256]")], [("10.255.0.256", "services.ntp[0]: '10.255.0.256' has a number above 255; write an address without a length, such as 10.0.0.1")]),
    ("an address with its length", [("ntp: [10.255.0.250]", "ntp: [10.255.0.250/24]")], [("10.255.0.250/24", "services.ntp[0]: '10.255.0.250/24' cannot be used; write an address without a length, such as 10.0.0.1")]),
    ("a network without its length", [("prefix: 10.255.0.0/24\n", "prefix: 10.255.0.0\n")], [("10.255.0.0", "segments[4].prefix: '10.255.0.0' has no prefix length; write it behind the address: /24, say; /32 is one address")]),
    ("a role in capitals", [("role: compute", "role: Compute")], [("Compute", "segments[1].role: 'Compute' cannot be used; did you mean 'compute'?")]),
    ("a role that is none", [("role: compute", "role: gpu")], [("gpu", "segments[1].role: 'gpu' cannot be used; known here: beamline, compute, management, storage, transfer")]),
    ("a level of another vendor", [("level: 3", "level: 15")], [("15", "security.users[0].level: 15 is out of range; write a privilege level from 0 to 3 (3 is everything, 1 is monitoring)")]),
    ("a leaf in capitals", [("  - name: readout03\n    leaf: leaf07", "  - name: readout03\n    leaf: Leaf07")], [("Leaf07", "servers[10].leaf: no leaf 'Leaf07'; did you mean 'leaf07'?")]),
    ("a port with spaces", [("    port: 100GE1/0/1\n    segment: transfer\n", "    port: 100GE 1/0/1\n    segment: transfer\n")], [("100GE", "servers[0].port: '100GE 1/0/1' is not a port; did you mean '100GE1/0/1'?")]),
    ("a server without a port", [("    port: 100GE1/0/1\n    segment: transfer\n", "    segment: transfer\n")], [("name", "servers[0]: neither port nor bond; give the server its one port, or the ports of its bond")]),
    ("a queue that no port has", [("{queue: 5, weight: 1}", "{queue: 8, weight: 1}")], [("8", "profiles.lossless.heps.scheduling[5].queue: 8 is out of range; write a queue from 0 to 7 (a port has eight)")]),
    ("a DSCP of more than 6 bits", [("cnp_dscp: 48", "cnp_dscp: 64")], [("64", "profiles.lossless.heps.cnp_dscp: 64 is out of range; write a DSCP from 0 to 63 (the field has 6 bits)")]),
    ("an id of 0", [("  - id: 1\n    name: leaf01", "  - id: 0\n    name: leaf01")], [("0", "leaves[0].id: 0 is out of range; write an id of at least 1")]),
    ("a rack with a space", [("name: leaf01\n    hardware: CE8850-64CQ-EI\n    software: V200R022C00\n    rack: row1", "name: leaf01\n    hardware: CE8850-64CQ-EI\n    software: V200R022C00\n    rack: row 1")], [("row", "leaves[0].rack: 'row 1' is not a name; use 1 to 63 letters, digits, '.', '_' or '-', beginning with a letter or digit")]),
    ("a ratio", [("oversubscription: 3", "oversubscription: 3:1")], [("3:1", "policy.oversubscription: '3:1' is not a number; write the number alone")]),
    ("no space behind a dash", [("  - name: readout04", "  -name: readout04")], [("-name", "this line is neither an item of the list above nor a key of its last item; begin it with `- `, or align it with those keys")]),
    ("a merge conflict", [("mtu: 9000  #", "<<<<<<< HEAD\nmtu: 9000\n=======\nmtu: 1500\n>>>>>>> other\n#")], [("<<<<<<<", "an unresolved merge conflict; resolve it, then remove its marks")]),
    ("a long name", [("name: readout04", "name: rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr")], [("rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr", "servers[11].name: a name of 70 characters; use 1 to 63")]),
    ("quotes of a word processor", [("canary: leaf08", "canary: \u201cleaf08\u201d")], [("\u201cleaf08\u201d", "rollout.canary: '\u201cleaf08\u201d' is not a name; use 1 to 63 letters, digits, '.', '_' or '-', beginning with a letter or digit")]),
    ("a pool of loopbacks too small", [("spine_loopbacks: 10.0.0.0/26", "spine_loopbacks: 10.0.0.0/30")], [("10.0.0.0/30", "pools.spine_loopbacks: 10.0.0.0/30 has 4 addresses, the reserved capacity takes 9; use a /28")]),
    ("a segment too small", [("prefix: 10.65.0.0/16", "prefix: 10.65.0.0/20")], [("10.65.0.0/20", "segments[1].prefix: 10.65.0.0/20 gives 16 leaf prefixes of /24, the reserved capacity takes 64; use a /18")]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("edits", "marked"), [pytest.param(*row, id=name) for name, *row in MISTAKES]
)
def test_a_mistake_has_its_sentence_and_its_mark(
    edit_heps: Callable[..., Path], rocefort: Callable[..., Any], edits: Edits, marked: Marked
) -> None:
    path = edit_heps(*edits)
    rows = path.read_text(encoding="utf-8").split("\n")
    done = rocefort("check", path)
    assert (done.code, done.out) == (2, "")
    shown = messages(done.err).removeprefix("rocefort: ").splitlines()
    places = [line.removeprefix(f"{path}:").split(":", 2) for line in shown]
    assert [re.sub(r"line \d+", "line N", place[2][1:]) for place in places] == [
        sentence for _, sentence in marked
    ]
    for (line, column, _), (token, _) in zip(places, marked, strict=True):
        assert rows[int(line) - 1][int(column) - 1 :].startswith(token)


def test_a_secret_in_clear_is_not_shown(
    edit_heps: Callable[..., Path], rocefort: Callable[..., Any]
) -> None:
    done = rocefort("check", edit_heps(("privacy: env:SNMP_PRIVACY", "privacy: Hunter2Hunter2")))
    assert "Hunter2" not in done.err
    assert done.err.count("\n") == 1


def test_the_page_shows_the_output_of_a_command(
    edit_heps: Callable[..., Path],
    rocefort: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = edit_heps(("hold_s: 30", "hold_sec: 30"), ("vlan: 110\n", "vlan: 1\n"))
    monkeypatch.chdir(path.parent)
    page = (Path(__file__).parents[3] / "docs" / "reference/commands.md").read_text(
        encoding="utf-8"
    )
    assert f"```text\n{rocefort('check', path.name).err}```\n" in page
