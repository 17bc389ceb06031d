"""What the display commands of an emulated switch print, as the vendor's samples show it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from rocefort.dialects.vrp.edit import children_at
from rocefort.dialects.vrp.interpret import Lines, View
from rocefort.dialects.vrp.tree import ConfigLine, indented, tree_text
from rocefort.lab.switch import Candidate, CommitPoint, EmulatedSwitch, PeerState


def configuration(switch: EmulatedSwitch, config: Lines) -> str:
    """A whole configuration with the header that a switch puts above it."""
    return (
        f"!Software Version {switch.software}\n"
        f"!Last configuration was updated at {switch.changed_at:%Y-%m-%d %H:%M:%S}+00:00\n"
        + tree_text(config)
    )


def this_view(config: Lines, view: View) -> str:
    """`display this`: the view one stands in; the system view shows all."""
    if not view:
        return tree_text(config)
    here = ConfigLine(view[-1], 0, children_at(config, view))
    return "\n".join(["#", *indented(here, 0), "#", "return", ""])


def filtered(text: str, how: str) -> str:
    """Text behind `| include X`, `| exclude X`, `| begin X`, `| section include X`."""
    words = how.split(None, 1)
    if how.startswith("section include "):
        pattern = re.compile(how.split(None, 2)[2].strip())
        kept = [section for section in _sections(text) if any(map(pattern.search, section))]
        return "\n".join("\n".join(section) for section in kept)
    pattern = re.compile(words[1].strip())
    rows = text.splitlines()
    if words[0] == "include":
        return "\n".join(row for row in rows if pattern.search(row))
    if words[0] == "exclude":
        return "\n".join(row for row in rows if not pattern.search(row))
    first = next((i for i, row in enumerate(rows) if pattern.search(row)), len(rows))
    return "\n".join(rows[first:])


def _sections(text: str) -> list[list[str]]:
    sections: list[list[str]] = []
    for row in text.splitlines():
        if row.startswith("#") or not sections:
            sections.append([])
        sections[-1].append(row)
    return sections


def section(config: Lines, wanted: str) -> str:
    """`display current-configuration interface X`, `.. configuration bgp`."""
    return tree_text(only(config, wanted))


def only(config: Lines, wanted: str) -> Lines:
    """Sections that begin with some words: `interface 100GE1/0/1`, `bgp`."""
    exact = wanted.startswith("interface ")
    return tuple(
        line
        for line in config
        if line.text == wanted or (not exact and line.text.startswith(wanted))
    )


def pending(candidate: Candidate) -> str:
    """`display configuration candidate`: the lines that were typed and not committed."""
    rows: list[str] = []
    place: View = ()
    for view, line in candidate.typed:
        entered = bool(rows) and bool(view) and rows[-1] == " " * (len(view) - 1) + view[-1]
        if not rows or (view != place and not entered):
            rows += ["#", *(" " * depth + text for depth, text in enumerate(view))]
        place = view
        rows.append(" " * len(view) + line)
    return "\n".join([*rows, "#", ""]) if rows else ""


def changes(before: Lines, after: Lines) -> str:
    """`display configuration candidate changes`: what the commit would take and give."""
    rows = list(_changed(before, after, 0))
    if not rows:
        return ""
    return "\n".join(["Building configuration", "  #", *rows, ""])


def _changed(before: Lines, after: Lines, depth: int) -> Iterator[str]:
    ends = ["  #"] if depth == 0 else []
    old, new = [line.text for line in before], [line.text for line in after]
    # Whole sections are matched by name; lines only by their text.
    for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            for line, other in zip(before[i:j], after[k:m], strict=True):
                inner = list(_changed(line.children, other.children, depth + 1))
                if inner:
                    yield f"  {' ' * depth}{line.text}"
                    yield from inner
                    yield from ends
            continue
        for sign, lines in (("-", before[i:j]), ("+", after[k:m])):
            for line in lines:
                yield from (f"{sign} {row}" for row in indented(line, depth))
                yield from ends


def commit_list(points: Sequence[CommitPoint], *, verbose: bool, count: int) -> str:
    """`display configuration commit list [verbose] [N]`, the newest first."""
    newest = list(reversed(points))[:count]
    if verbose:
        return "\n".join(_verbose(number, point) for number, point in enumerate(newest, 1))
    rows = [
        f"{number:<3} {point.number} {point.label or '-':<20} {point.user:<15} "
        f"{point.at:%Y-%m-%d %H:%M:%S}"
        for number, point in enumerate(newest, 1)
    ]
    rule = "-" * 72
    head = f"{'No.':<3} {'CommitId':<10} {'Label':<20} {'User':<15} TimeStamp"
    return "\n".join([rule, head, rule, *rows, rule])


def _verbose(number: int, point: CommitPoint) -> str:
    fields = (
        ("Label", point.label or "-"),
        ("User", point.user),
        ("User-Intf", "VTY 0"),
        ("Type", point.kind),
        ("TimeStamp", f"{point.at:%Y-%m-%d %H:%M:%S}"),
        ("Description", point.description),
    )
    rows = [f"        {name}: {value}" for name, value in fields]
    return "\n".join([f"{number}) CommitId: {point.number}", *rows])


def trial_status(switch: EmulatedSwitch) -> str:
    """`display configuration trial status`."""
    trial = switch.trial
    rows = [f"Trial status: {'ACTIVE' if trial else 'INACTIVE'}"]
    if trial and trial.persist:
        rows.append(f"Persist id: {trial.persist}")
    return "\n".join([*rows, f"Trial time left (sec): {switch.trial_left()}"])


def version(switch: EmulatedSwitch) -> str:
    """`display version`: the first line of a V200 differs from that of a V300."""
    product = switch.hardware.split("-")[0]
    if switch.software.startswith("V2"):
        system = f"VRP (R) software, Version 8.180 ({product} {switch.software})"
    else:
        system = f"YunShan OS, Version 1.23.0.1 ({product} {switch.software})"
    minutes = int(switch.clock() - switch.booted) // 60
    days, hours = divmod(minutes // 60, 24)
    return (
        f"Huawei {system}\n"
        f"HUAWEI {switch.hardware} uptime is {days} days, {hours} hours, {minutes % 60} minutes"
    )


def esn(switch: EmulatedSwitch) -> str:
    """`display device esn`."""
    return f" ESN of slot 1: {switch.serial}"


BRIEF_HEAD = (
    "PHY: Physical\n*down: administratively down\n^down: standby\n(l): loopback\n(s): spoofing\n"
    "InUti/OutUti: input utility rate/output utility rate\n"
    "Interface                  PHY      Protocol  InUti OutUti   inErrors  outErrors"
)


def interface_brief(config: Lines) -> str:
    """`display interface brief` of the interfaces that the configuration names; no traffic."""
    rows = []
    for line in config:
        if not line.text.startswith("interface "):
            continue
        own = {child.text for child in line.children}
        routed = "undo portswitch" in own or not re.match(r"interface (\d*GE|Eth-Trunk)", line.text)
        addressed = any(text.startswith("ip address ") for text in own)
        physical = "*down" if "shutdown" in own else "up"
        protocol = "up" if physical == "up" and (addressed or not routed) else "down"
        name = line.text.removeprefix("interface ")
        rows.append(
            f"{name:<23} {physical:>8}    {protocol:<8} {'0%':>4} {'0%':>6} {0:>10} {0:>10}"
        )
    return "\n".join([BRIEF_HEAD, *rows])


PEER_HEAD = "  Peer            V          AS  MsgRcvd  MsgSent  OutQ   Up/Down       State PrefRcv"


def bgp_peer(config: Lines, peers: Iterable[PeerState]) -> str:
    """`display bgp peer` from the states that the lab's model gives."""
    bgp = next((line for line in config if line.text.startswith("bgp ")), None)
    if bgp is None:
        return ""
    own = (child.text for child in bgp.children if child.text.startswith("router-id "))
    router = next((text.split()[1] for text in own), _loopback(config))
    shown = list(peers)
    rows = [
        f"  {peer.address!s:<15} {4:>1} {peer.asn:>11} {0:>8} {0:>8} {0:>5} "
        f"{'00:00:00':>9} {peer.state:>11} {peer.prefixes:>7}"
        for peer in shown
    ]
    return "\n".join(
        [
            " Status codes: * - Dynamic",
            f" BGP local router ID : {router}",
            f" Local AS number : {bgp.text.split()[1]}",
            f" Total number of peers : {len(shown)}",
            f" Peers in established state : {sum(peer.state == 'Established' for peer in shown)}",
            " Total number of dynamic peers : 0",
            PEER_HEAD,
            *rows,
        ]
    )


def _loopback(config: Lines) -> str:
    for line in config:
        if line.text.startswith("interface LoopBack"):
            for child in line.children:
                if child.text.startswith("ip address "):
                    return child.text.split()[2]
    return "0.0.0.0"  # noqa: S104 - what a router without an ID shows; nothing listens here
