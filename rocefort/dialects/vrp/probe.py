"""Unconfirmed forms of VRP commands as lines to type, and numbers in a switch's answers.

Each form takes the fewest lines, and objects whose names no site has: they exist in the candidate
configuration alone, which is discarded. A port is one without a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from rocefort.dialects.data import ProbeForm, ProbeQuestion
from rocefort.dialects.open_facts import PLACEHOLDER
from rocefort.dialects.vrp.device_diff import changed_lines
from rocefort.dialects.vrp.terms import FACTS
from rocefort.dialects.vrp.text.config_tree import ConfigLine, parse_tree

Path = tuple[str, ...]
OBJECT = "rocefort-probe"  # name of all objects
ACL = 3987  # an advanced ACL for a classifier
PRIVATE_ASN = 64512  # of a switch without BGP
UNUSED_LINES = frozenset({"shutdown", "undo shutdown"})
NO_PORT = "every port of the switch is in use"
MANAGEMENT = "interface MEth0/0/0"

# By the command in the hardware data; `{port}` and `{asn}` are filled in.
FORMS: Mapping[str, ProbeForm] = {
    "ip vpn-instance V without route-distinguisher": ProbeForm(
        (
            f"ip vpn-instance {OBJECT}",
            " ipv4-family",
            f"ip route-static vpn-instance {OBJECT} 192.0.2.0 255.255.255.0 NULL0",
        )
    ),
    "local-source-interface MEth0/0/0": ProbeForm(
        ("telemetry", f" subscription {OBJECT}", "  local-source-interface MEth0/0/0"), before=2
    ),
    "user-group G / task-group T rights": ProbeForm(
        (
            "aaa",
            f" task-group {OBJECT}",
            f" user-group {OBJECT}",
            f"  task-group {OBJECT} read-write",
        ),
        before=2,
    ),
    "info-center loghost source MEth0/0/0": ProbeForm(("info-center loghost source MEth0/0/0",)),
    "netconf / protocol inbound ssh port 830": ProbeForm(
        ("netconf", " protocol inbound ssh port 830")
    ),
    "fec mode rs": ProbeForm(("interface {port}", " fec mode rs"), before=1),
    "negotiation disable": ProbeForm(("interface {port}", " negotiation disable"), before=1),
    "snmp-agent protocol source-interface MEth0/0/0": ProbeForm(
        ("snmp-agent", "snmp-agent protocol source-interface MEth0/0/0"), before=1
    ),
    "traffic policy P": ProbeForm(
        (
            f"acl number {ACL}",
            " rule 5 permit ip",
            f"traffic classifier {OBJECT} type or",
            f" if-match acl {ACL}",
            f"traffic behavior {OBJECT}",
            f"traffic policy {OBJECT}",
            f" classifier {OBJECT} behavior {OBJECT}",
        ),
        before=2,
    ),
    "acl name X advance": ProbeForm((f"acl name {OBJECT} advance", " rule 5 permit tcp")),
    "ip binding vpn-instance (MEth0/0/0)": ProbeForm(
        (
            f"ip vpn-instance {OBJECT}",
            " ipv4-family",
            MANAGEMENT,
            f" ip binding vpn-instance {OBJECT}",
        ),
        before=3,
    ),
    "load-balancing as-path-relax": ProbeForm(
        ("bgp {asn}", " ipv4-family unicast", "  load-balancing as-path-relax"), before=2
    ),
    "telemetry": ProbeForm(
        (
            "telemetry",
            f" sensor-group {OBJECT}",
            "  sensor-path huawei-ifm:ifm/interfaces/interface/mib-statistics",
            f" destination-group {OBJECT}",
            "  ipv4-address 192.0.2.1 port 57400 protocol grpc no-tls",
            f" subscription {OBJECT}",
            f"  sensor-group {OBJECT} sample-interval 60000",
            f"  destination-group {OBJECT}",
        )
    ),
    "dcb pfc buffer Q xoff static X kbytes xon offset Y kbytes": ProbeForm(
        ("interface {port}", " dcb pfc buffer 4 xoff static 600 kbytes xon offset 50 kbytes"),
        before=1,
    ),
    "priority Q deadlock-detect time N deadlock-recovery time M": ProbeForm(
        (
            "dcb pfc",
            " priority 4",
            " priority 4 deadlock-detect time 10 deadlock-recovery time 10",
        ),
        before=2,
    ),
    "priority Q turn-off threshold N": ProbeForm(
        ("dcb pfc", " priority 4", " priority 4 turn-off threshold 20"), before=2
    ),
    "ai-service / ai-ecn": ProbeForm(
        ("ai-service", " ai-ecn", "  ai-ecn enable", "  assign queue 4 model ai_ecn_hpc")
    ),
    "diffserv domain D / ip-dscp-inbound": ProbeForm(
        (f"diffserv domain {OBJECT}", " ip-dscp-inbound 24 phb af4 green")
    ),
    # The whole command acts on ports at once, so only its word is asked for.
    "port split refresh": ProbeForm((), help_words="port split", lists="refresh"),
}
SHOWN_BY = {"deadlock_interval_ms": "deadlock_detect_time"}  # the help of a time has its unit
RANGE = re.compile(r"<(?:[a-z]+:)?(\d+)-(\d+)>", re.ASCII)  # INTEGER<1-30720>
NO_LIMIT = 2**32 - 1  # as high as any number: no limit of the setting
UNIT = re.compile(r"unit\D{0,20}(\d+) ?ms\b", re.ASCII | re.IGNORECASE)
# V200 AI Fabric best practice: `Service Pool: 12/30699  Headroom Pool: 0/4095`, in KB.
POOLS = re.compile(r"Service Pool: *\d+/(\d+)\s+Headroom Pool: *\d+/(\d+)", re.ASCII)


def probe_form(command: str, running: str, ports: Sequence[str]) -> ProbeForm | str:
    """Return the lines of a form, or the reason why there are none."""
    form = FORMS.get(command) or _as_written(command)
    if form is None:
        return "no line is known that tries it"
    filled = _filled(form.typed, running, ports)
    if isinstance(filled, str):
        return filled
    return ProbeForm(filled, form.before, form.help_words, form.lists)


def _as_written(command: str) -> ProbeForm | None:
    """Return the lines of a form that a site adds; None if a word of it is a placeholder."""
    views = command.split(" / ")
    if any(PLACEHOLDER.fullmatch(word) for line in views for word in line.split()):
        return None
    return ProbeForm(tuple(" " * n + line for n, line in enumerate(views)), before=len(views) - 1)


def probe_question(field: str, running: str, ports: Sequence[str]) -> ProbeQuestion | str:
    """Return the input of a term that shows a number; P is an unused port."""
    *views, command = FACTS[SHOWN_BY.get(field, field)].split(" / ")
    lines = tuple(f" {view}".replace(" P", " {port}").strip() for view in views)
    filled = _filled(lines, running, ports)
    if isinstance(filled, str):
        return filled
    return ProbeQuestion(filled, command.removesuffix(" ?"), command.endswith(" ?"))


def _filled(lines: Sequence[str], running: str, ports: Sequence[str]) -> tuple[str, ...] | str:
    tree = parse_tree(running)
    port = _unused_port(tree, ports)
    if port is None and any("{port}" in line for line in lines):
        return NO_PORT
    systems = (line.text.split()[1] for line in tree if line.text.startswith("bgp "))
    asn = next(systems, str(PRIVATE_ASN))
    return tuple(line.replace("{port}", port or "").replace("{asn}", asn) for line in lines)


def _unused_port(tree: Sequence[ConfigLine], ports: Sequence[str]) -> str | None:
    """Return the last port without a line of its own, one of 100GE if there is any.

    A switch lists every port; one that is split, or in a card that is not there, is not listed.
    """
    names = {line.text.removeprefix("interface ") for line in tree if _is_unused(line)}
    unused = [port for port in ports if port in names]
    fast = [port for port in unused if port.startswith("100GE")]
    return next(reversed(fast or unused), None)


def _is_unused(line: ConfigLine) -> bool:
    return line.text.startswith("interface ") and UNUSED_LINES.issuperset(
        child.text for child in line.children
    )


def saved_lines(
    form: ProbeForm, running: str, device_diff: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the added lines, or those that run already, and the typed ones that are not saved."""
    runs = set(_paths(parse_tree(running)))
    own = list(_paths(parse_tree("\n".join(form.typed))))[form.before :]
    readings = []
    for shifted in (False, True):  # see device_diff.py
        lines = changed_lines(device_diff, shifted=shifted)
        added = [(*line.path, line.text) for line in lines if line.sign == "+"]
        removed = {(*line.path, line.text) for line in lines if line.sign == "-"}
        there = (runs - removed) | set(added)
        missing = [path for path in own if path not in there]
        readings.append((added or [path for path in own if path in runs], missing))
    saved, missing = min(readings, key=lambda reading: len(reading[1]))
    return tuple(_in_views(saved)), tuple(_in_views(missing))


def _paths(tree: Sequence[ConfigLine]) -> Iterator[Path]:
    for top in tree:
        for views, line in top.walk():
            yield (*views, line.text)


def _in_views(paths: Sequence[Path]) -> Iterator[str]:
    """Yield lines as in a saved text, each below the lines that open its views."""
    shown: Path = ()
    for path in paths:
        pairs = takewhile(lambda pair: pair[0] == pair[1], zip(path, shown, strict=False))
        same = len(list(pairs))
        yield from (" " * n + path[n] for n in range(min(same, len(path) - 1), len(path)))
        shown = path


def read_fact(field: str, text: str) -> tuple[int, int] | int | None:
    """Return the one range of a help, the unit of a time, or the sum of a buffer's pools."""
    if field == "deadlock_interval_ms":
        unit = UNIT.search(text)
        return int(unit[1]) if unit else None
    if field == "buffer_kbytes":
        pools = POOLS.search(text)
        return int(pools[1]) + int(pools[2]) if pools else None
    ranges = {(int(low), int(high)) for low, high in RANGE.findall(text)}
    if len(ranges) != 1 or max(ranges)[1] >= NO_LIMIT:
        return None
    return ranges.pop()
