"""Bad intent: each problem is one clear error (where, what, how), all of one stage together."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rocefort.base.errors import BadInput, NameFault
from rocefort.design.derive.derive import derive

Edit = Callable[..., Path]

TRANSFER = "  - name: transfer01\n    leaf: leaf01\n    port: 100GE1/0/1\n"


def at(path: Path, sentence: str) -> str:
    """Replace `<text>` in a sentence by the number of the line with that text."""
    lines = path.read_text(encoding="utf-8").splitlines()

    def number(match: re.Match[str]) -> str:
        text, _, which = match[1].partition("#")
        numbers = [n for n, line in enumerate(lines, 1) if text in line]
        return str(numbers[int(which or 1) - 1])

    return re.sub(r"<([^<>]+)>", number, sentence)


def sentences_of(path: Path) -> list[str]:
    """Return the error's sentences without the directory of the file."""
    with pytest.raises(BadInput) as caught:
        derive(path)
    assert caught.value.exit_code == 2
    return [line.removeprefix(f"{path.parent}/") for line in str(caught.value).splitlines()]


CASES = [
    pytest.param(
        [("hold_s: 30", "hold_sec: 30")],
        [
            "fabric.yaml:<hold_sec>:3: routing.hold_sec: unknown key 'hold_sec'; did you mean 'hold_s'?"
        ],
        id="unknown key names the nearest",
    ),
    pytest.param(
        [("xon_kbytes: 550  #", "xon_kbytes: 550 KB  #")],
        [
            "fabric.yaml:<550 KB>:19: profiles.lossless.heps.xon_kbytes: '550 KB' is not a "
            "whole number; write the number alone, in kbytes"
        ],
        id="wrong type",
    ),
    pytest.param(
        [("mtu: 9000  #", "mtu: 9000\nmtu: 1500  #")],
        [
            "fabric.yaml:<mtu: 1500>:1: mtu: key 'mtu' is there twice; remove one: the first is on line <mtu: 9000>"
        ],
        id="duplicate key",
    ),
    pytest.param(
        [("mtu: 9000  #", "mtu: &m 9000  #"), ("trial_s: 600", "trial_s: *m")],
        [
            "fabric.yaml:<mtu: >:6: mtu: anchor &m; write the value out",
            "fabric.yaml:<trial_s>:12: rollout.trial_s: alias *m; write the value out",
        ],
        id="anchor and alias",
    ),
    pytest.param(
        [("mtu: 9000  #", "mtu: !!int 9000  #")],
        ["fabric.yaml:<mtu: >:6: mtu: tag tag:yaml.org,2002:int; remove the tag"],
        id="tag",
    ),
    pytest.param(
        [("mtu: 9000  #", "mtu: [9000  #")],
        ["fabric.yaml:<mtu: >:6: the `[` that opens here is not closed; close it with `]`"],
        id="syntax",
    ),
    pytest.param(
        [
            (
                "    leaf: leaf01\n    port: 100GE1/0/2\n",
                "    leaf: leaf01\n    port: 100GE1/0/1\n",
            )
        ],
        [
            "fabric.yaml:<port: 100GE1/0/1#2>:11: servers[1].port: leaf01 100GE1/0/1 is used twice, by transfer01 "
            "and k8sgn08; give each server a port of its own"
        ],
        id="port used twice",
    ),
    pytest.param(
        [(TRANSFER, TRANSFER + '    description: "rack 4\\nundo bgp"\n')],
        [
            "fabric.yaml:<undo bgp>:18: servers[0].description: character '\\n' in a description would be "
            "read as a command or a key press; use printable ASCII without '|' and '?'"
        ],
        id="newline in a description",
    ),
    pytest.param(
        [("name: leaf03", "name: ../leaf03")],
        [
            "fabric.yaml:<../leaf03>:11: leaves[2].name: '../leaf03' is not a name; use 1 to 63 letters, "
            "digits, '.', '_' or '-', beginning with a letter or digit"
        ],
        id="path in a name",
    ),
    pytest.param(
        [
            ("name: leaf03\n    hardware: CE8851-32CQ8DQ-P", "name: leaf03\n    hardware: CE8851"),
            ("  - id: 4\n    name: leaf04", "  - id: 3\n    name: leaf04"),
        ],
        [
            "fabric.yaml:<hardware: CE8851#1>:15: leaves[2].hardware: no hardware 'CE8851' in inventory/hardware; "
            "did you mean 'CE8851-32CQ8DQ-P'?",
            "fabric.yaml:<id: 3#2>:9: leaves[3].id: id '3' is given twice; write another one: the first is on line <id: 3#1>",
        ],
        id="two problems of one stage together",
    ),
    pytest.param(
        [("  - id: 8\n", "  - id: 65\n")],
        [
            "fabric.yaml:<id: 65>:9: leaves[7].id: id 65 is outside the reserved capacity of 64 leaves; "
            "use a free id up to 64; raising capacity.leaves moves addresses"
        ],
        id="id outside the capacity",
    ),
    pytest.param(
        [("  leaf_loopbacks: 10.0.1.0/24", "  leaf_loopbacks: 10.0.0.0/24")],
        [
            "fabric.yaml:<leaf_loopbacks>:19: pools.leaf_loopbacks: 10.0.0.0/24 overlaps 10.0.0.0/26; "
            "use separate prefixes"
        ],
        id="overlapping pools",
    ),
    pytest.param(
        [
            (
                "          v200:\n            detect_time: 10   # assumed: as seen on public V200"
                " configurations\n            recovery_time: 10\n            reason: V200 counts in a unit"
                " that no source confirms\n",
                "",
            )
        ],
        [
            "fabric.yaml:<detect_ms: 10000>:9: profiles.lossless.heps.deadlock: spine01 is v200, whose timer unit no source "
            "confirms; give by_family.v200.detect_time and recovery_time as the switch counts"
        ],
        id="timer in a family of unknown unit",
    ),
    pytest.param(
        [
            (
                "            detect_ms: 100    # assumed: the family's default\n"
                "            recovery_ms: 100\n",
                "            detect_time: 10\n            recovery_time: 10\n",
            ),
            ("            recovery_time: 10\n            reason: V200", "            reason: V200"),
        ],
        [
            "fabric.yaml:<detect_time: 10#1>:13: profiles.lossless.heps.deadlock.by_family.v300-g1: v300-g1 takes "
            "milliseconds, not multiples; give detect_ms and recovery_ms",
            "fabric.yaml:<detect_time: 10#2>:13: profiles.lossless.heps.deadlock.by_family.v200: one of two "
            "multiples is given for v200; give by_family.v200.detect_time and recovery_time",
        ],
        id="timers in another family's form",
    ),
    pytest.param(
        [
            (
                "hardware: CE8851-32CQ8DQ-P\n    software: V300R023C00\n    rack: row2\n    segments: [compute]\n",
                "hardware: CE8855-32CQ4BQ\n    software: V300R023C00\n    rack: row2\n    segments: [compute]\n",
            ),
            ("detect_ms: 10000  ", "detect_ms: 1555  "),
        ],
        [
            "fabric.yaml:<detect_ms: 1555>:9: profiles.lossless.heps.deadlock: v300-g2 cannot express 1555 and 10000 "
            "ms: it counts intervals of 10, 100, 500 or 1000 ms; give times that are multiples of "
            "one of them, here or in by_family.v300-g2"
        ],
        id="a time that no interval divides",
    ),
    pytest.param(
        [("  - name: readout04\n", "  - name: leaf08\n")],
        [
            "fabric.yaml:<- name: leaf08>:11: servers[11].name: name 'leaf08' is given twice; "
            "write another one: the first is on line <    name: leaf08>"
        ],
        id="a server named like a switch",
    ),
    pytest.param(
        [("leaf_asn_base: 65100", "leaf_asn_base: 4294967250")],
        [
            "fabric.yaml:<leaf_asn_base>:18: routing.leaf_asn_base: leaves take AS numbers "
            "4294967251 to 4294967314 of the reserved capacity, which leaves the private 4-byte AS "
            "numbers 4200000000 to 4294967294; choose at most 4294967230, or another range"
        ],
        id="AS numbers past the end",
    ),
    pytest.param(
        [
            (
                "\nsecurity:",
                "\nlinks:\n  - spine: spine01\n    leaf: leaf08\n  - spine: spine01\n"
                "    leaf: leaf08\n    cable_m: 7\n\nsecurity:",
            )
        ],
        [
            "fabric.yaml:<- spine: spine01#2>:5: links[1]: the link spine01 - leaf08 is given "
            "twice; remove one: the first is on line <- spine: spine01#1>"
        ],
        id="a link given twice",
    ),
    pytest.param(
        [
            ("      level: 3\n", "      level: 3\n    - name: netops\n      level: 1\n"),
            ("ntp: [10.255.0.250]", "ntp: [10.255.0.250, 10.255.0.251, 10.255.0.250]"),
        ],
        [
            "fabric.yaml:<- name: netops#2>:13: security.users[1].name: user 'netops' is given "
            "twice; write another one: the first is on line <- name: netops#1>",
            "fabric.yaml:<ntp:>:37: services.ntp[2]: NTP server 10.255.0.250 is given twice; "
            "remove one",
        ],
        id="a user and an NTP server given twice",
    ),
    pytest.param(
        [
            ("syslog: [10.255.0.251]", "syslog: [10.255.0.251, 10.255.0.251]"),
            (
                "{id: 1, prefix: 10.255.0.0/24}",
                "{id: 1, prefix: 0.0.0.0/0}\n    - {id: 1, prefix: 192.0.2.0/24}",
            ),
            (
                "      privacy: env:SNMP_PRIVACY\n",
                "      privacy: env:B\n    - {name: monitor, authentication: env:A, privacy: env:B}\n",
            ),
        ],
        [
            "fabric.yaml:<prefix: 192.0.2>:12: security.management_access[1].id: id '1' is given "
            "twice; write another one: the first is on line <prefix: 0.0.0.0>",
            "fabric.yaml:<syslog:>:26: services.syslog[1]: syslog server 10.255.0.251 is given "
            "twice; remove one",
            "fabric.yaml:<name: monitor#2>:14: services.snmp[1].name: SNMP user 'monitor' is given "
            "twice; write another one: the first is on line <name: monitor#1>",
        ],
        id="management given twice",
    ),
    pytest.param(
        [("privacy: env:SNMP_PRIVACY", "privacy: Hunter2Hunter2")],
        [
            "fabric.yaml:<privacy: H>:16: services.snmp[0].privacy: a credential that is not a "
            "reference; write env:NAME or file:PATH, or keyring:SERVICE/USER",
        ],
        id="a secret where its reference belongs",
    ),
    pytest.param(
        [
            (
                "    - name: netops\n      level: 3\n",
                "    - {name: netops, role: montor-ug}\n"
                "    - {name: reader, role: halls}\n  roles:\n"
                "    - {name: halls, grants: [{task_group: monitor-tg, rights: [read]}]}\n"
                "    - {name: visit-ug, grants: [{task_group: visit-tg, rights: [read]}]}\n",
            ),
        ],
        [
            "fabric.yaml:<montor>:28: security.users[0].role: no role 'montor-ug'; "
            "did you mean 'monitor-ug'?",
            "fabric.yaml:<name: visit>:14: security.roles[1].name: role 'visit-ug' is one that "
            "every switch has, and cannot be changed; give the role a name of its own",
        ],
        id="roles that are not there or not ours",
    ),
    pytest.param(
        [("{queue: 5, weight: 1}", "{queue: 4, weight: 5}")],
        [
            "fabric.yaml:<{queue: 4#2>:19: profiles.lossless.heps.scheduling[5].queue: queue '4' is given "
            "twice; write another one: the first is on line <{queue: 4#1>",
        ],
        id="weights of one queue twice",
    ),
    pytest.param(
        [("    name: leaf08\n", "    name: leaf08\n    pins: {gateways: {beam: 10.64.9.1/24}}\n")],
        [
            "fabric.yaml:<pins: {>:29: leaves[7].pins.gateways.beam: leaf08 does not serve segment "
            "'beam'; did you mean 'beamline'?"
        ],
        id="a gateway pinned in a segment that the leaf does not serve",
    ),
    pytest.param(
        [
            (
                "\nsecurity:",
                "\nlinks:\n  - spine: spine02\n    leaf: leaf08\n    leaf_port: 25GE1/0/1\n"
                "    spine_port: 100GE1/1/1\n  - spine: spine01\n    leaf: leaf08\n"
                "    subnet: 10.1.0.16/31\n\nsecurity:",
            )
        ],
        [
            "fabric.yaml:<leaf_port>:16: links[0].leaf_port: leaf08 25GE1/0/1 is used twice, by "
            "server readout04 and the link spine02 - leaf08; give each link, server and exit a port "
            "of its own",
            "fabric.yaml:<leaf_port>:16: links[0].leaf_port: the link spine02 - leaf08 joins "
            "100GE1/1/1 and 25GE1/0/1, which differ in speed; join ports of one speed",
            "fabric.yaml:<spine_port>:17: links[0].spine_port: spine02 100GE1/1/1 is used twice, "
            "by the link spine02 - leaf01 and the link spine02 - leaf08; give each link, "
            "server and exit a port of its own",
            "fabric.yaml:<subnet:>:13: links[1].subnet: 10.1.0.16/31 of the link spine01 - leaf08 "
            "overlaps 10.1.0.16/31 of the link spine01 - leaf02; use separate prefixes",
        ],
        id="pins that clash with what is allocated",
    ),
    pytest.param(
        [
            (
                "\nsecurity:",
                "\nlinks:\n  - spine: spine02\n    leaf: leaf08\n    subnet: 10.9.0.0/29\n\nsecurity:",
            )
        ],
        [
            "fabric.yaml:<subnet:>:13: links[0].subnet: 10.9.0.0/29 is not a link's subnet; "
            "use a /30 or a /31"
        ],
        id="a pinned subnet that is no link's",
    ),
    pytest.param(
        [
            (
                "    name: leaf02\n",
                "    name: leaf02\n    pins: {gateways: {compute: 10.65.0.200/25}}\n",
            )
        ],
        [
            "fabric.yaml:<pins: {>:32: leaves[1].pins.gateways.compute: 10.65.0.128/25 of segment "
            "compute on leaf02 overlaps 10.65.0.0/24 of segment compute on leaf01; "
            "use separate prefixes"
        ],
        id="a pinned gateway inside another leaf's prefix",
    ),
    pytest.param(
        [
            ("prefix: 10.255.0.0/24\n", "prefix: 10.255.0.0/28\n"),
            ("    vlan: 110\n", "    vlan: 110\n    leaf_prefix_length: 28\n"),
            (
                "    port: 25GE1/0/1\n    segment: beamline\n    nic: connectx-dscp34\n  - name: readout02",
                "    port: 25GE1/0/9\n    segment: beamline\n    nic: connectx-dscp34\n  - name: readout02",
            ),
            (
                "leaf: leaf08\n    port: 25GE1/0/1\n",
                "leaf: leaf08\n    port: 25GE1/0/1\n    address: 10.64.0.200\n",
            ),
        ],
        [
            "fabric.yaml:<id: 7>:5: leaves[6]: management address 10.255.0.15 of leaf07 is not one "
            "of 10.255.0.0/28; use a larger prefix in segment management, or pin an address of it",
            "fabric.yaml:<id: 8>:5: leaves[7]: management address 10.255.0.16 of leaf08 is not one "
            "of 10.255.0.0/28; use a larger prefix in segment management, or pin an address of it",
            "fabric.yaml:<25GE1/0/9>:11: servers[8].port: address 10.64.0.82 of readout01 is not "
            "one of 10.64.0.64/28; that is segment beamline on leaf05: use an address of it, or a "
            "shorter leaf_prefix_length",
            "fabric.yaml:<address: 10.64.0.200>:14: servers[11].address: address 10.64.0.200 of "
            "readout04 is not one of 10.64.0.112/28; that is segment beamline on leaf08: use an "
            "address of it, or a shorter leaf_prefix_length",
        ],
        id="addresses outside their network",
    ),
    pytest.param(
        [("canary: leaf08", "canary: leaf80")],
        ["fabric.yaml:<canary>:11: rollout.canary: no leaf 'leaf80'; did you mean 'leaf08'?"],
        id="canary that is not there",
    ),
    pytest.param(
        [
            ("latency_us: 3.72          # published: across the spines\n",
             "latency_us: 3.72\n  servers: [k8sgn8]\n"),
        ],
        ["fabric.yaml:<servers: [k8sgn8]>:13: rdma.servers[0]: no server 'k8sgn8'; did you mean 'k8sgn08'?"],
        id="server kept for tests that is not there",
    ),
    pytest.param(
        [
            ("latency_us: 3.72          # published: across the spines\n",
             "latency_us: 3.72\n  servers: []\n"),
        ],
        ["fabric.yaml:<servers: []>:12: rdma.servers: lists no server; list some, or leave the key out: gates then choose"],
        id="no server kept for tests",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("replacements", "sentences"), CASES)
def test_each_error_says_where_what_and_how(
    edit_heps: Edit, replacements: list[tuple[str, str]], sentences: list[str]
) -> None:
    path = edit_heps(*replacements)
    assert sentences_of(path) == [at(path, sentence) for sentence in sentences]


SAME_ID = ("  - id: 4\n    name: leaf04", "  - id: 3\n    name: leaf04")


def test_a_problem_carries_what_is_wrong_with_a_name(edit_heps: Edit) -> None:
    """The other name of two equal ones is unknown for that reason, and is no problem of its own."""
    with pytest.raises(BadInput) as caught:
        derive(edit_heps(("    name: leaf02\n", "    name: leaf03\n")))
    assert {problem.fault for problem in caught.value.problems} == {NameFault.TWICE}
    with pytest.raises(BadInput) as caught:
        derive(edit_heps(("canary: leaf08", "canary: leaf80"), SAME_ID))
    faults = {problem.subject: problem.fault for problem in caught.value.problems}
    assert faults.pop("rollout.canary") is NameFault.UNKNOWN
    assert set(faults.values()) == {None}


def test_a_missing_file_names_the_fabrics_there_are(tmp_path: Path) -> None:
    path = tmp_path / "none.yaml"
    with pytest.raises(BadInput) as caught:
        derive(path)
    assert str(caught.value) == (
        f"{path}: no such fabric; name a fabric.yaml, its directory, or one of: eantc-hpc, eantc-storage, heps, heps-phase1, heps-phase2, redigo-direct, redigo-switch"
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "fabric.yaml:1:1: the file is empty; begin with `fabric: NAME`"),
        (b"- 1\n", "fabric.yaml:1:1: the file is not a mapping; begin with `fabric: NAME`"),
        (b"fabric: \xff\n", "fabric.yaml:1: not UTF-8 (byte 0xFF); save it as UTF-8"),
        (b"a: 1\n---\nb: 2\n", "fabric.yaml:2:1: a second document; keep one document a file"),
        (
            b"a: &a [1]\nb: [" + b"*a," * 20 + b"]\n",
            "fabric.yaml:1:4: a: anchor &a; write the value out",
        ),
    ],
)
def test_a_file_that_is_no_fabric(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "fabric.yaml"
    path.write_bytes(content)
    assert sentences_of(path)[0] == sentence
