"""What of a switch a change touches: ports, sessions and VLANs, and which of them it takes down."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto

from rocefort.dialects.vrp.compare import classify
from rocefort.models.change import Edit
from rocefort.models.device import Device

EVERY_SESSION = "*"
PORT = re.compile(r"interfaces\[([^]]+)\].*")


class Timer(Enum):
    """By what the fault of an edit shows that does not show at once."""

    NONE = auto()
    HOLD = auto()  # BGP's hold time: the far end is not told
    ADVERTISE = auto()  # BGP announces and withdraws routes by an interval
    LACP = auto()
    DEADLOCK = auto()  # of a lossless queue


# Path of an Edit that traffic feels -> what it touches, in the words of `_add`, {0} is group 1; by
# which timer a fault shows.
TOUCHES: tuple[tuple[str, str, Timer], ...] = (
    (r"interfaces\[Vlanif(\d+)\].*", "vlan", Timer.NONE),
    (
        (
            r"interfaces\[([^]]+)\]\.(?:(?:other_)?thresholds|pfc|drr|markings|trust_dscp|domain"
            r"|flow_control)\b.*"
        ),
        "port",
        Timer.DEADLOCK,
    ),
    (r"interfaces\[([^]]+)\]\.(?:eth_trunk|bond)\b.*", "port", Timer.LACP),
    (r"interfaces\[([^]]+)\].*", "port", Timer.HOLD),
    (r"splits\[([^]]+)\].*", "split", Timer.HOLD),
    (r"bgp\.peers\[([^]]+)\]\.(?:import|export)_policy", "peer", Timer.ADVERTISE),
    (r"bgp\.peers\[([^]]+)\].*", "peer", Timer.HOLD),
    (r"bgp\.networks\[([^]]+)\]", "prefix", Timer.ADVERTISE),
    (r"bgp\.(?:maximum_paths|as_path_relax)", "sessions", Timer.NONE),
    (r"bgp\.groups\[[^]]+\]\.(?:import|export)_policy", "sessions", Timer.ADVERTISE),
    (r"(?:prefix_lists|route_policies)\b.*", "sessions", Timer.ADVERTISE),
    (r"bgp\b.*", "sessions", Timer.HOLD),
    (r"(?:domains|pfc|drop_profiles|ai_ecn|ecn_enabled)\b.*", "lossless", Timer.DEADLOCK),
    (r"vlans\[(\d+)\]", "vlan", Timer.NONE),
    (r"filters\b.*", "vlans", Timer.HOLD),
)
# What of it goes down meanwhile: (path, whether only a value that goes or changes does that).
TAKES_DOWN: tuple[tuple[str, bool], ...] = (
    (r"interfaces\[[^]]+\]", True),
    (
        (
            r"interfaces\[[^]]+\]\.(?:enabled|routed|link_type|access_vlan|eth_trunk|vrf"
            r"|autonegotiation|fec|bond\..*)"
        ),
        False,
    ),
    (r"interfaces\[[^]]+\]\.(?:addresses|trunk_vlans)\[.*", True),
    (r"splits\[.*", False),
    (r"vlans\[.*", True),
    (r"bgp(?:\.(?:asn|router_id))?", True),
    (r"bgp\.(?:peers|groups)\[[^]]+\]", True),
    (
        (
            r"bgp\.(?:peers|groups)\[[^]]+\]\.(?:asn|group|external|active|keepalive_s|hold_s"
            r"|password|keychain)"
        ),
        False,
    ),
)


@dataclass
class Touched:
    """What of one switch is touched; `whole`: why all of it is, empty: it is not."""

    ports: set[str] = field(default_factory=set)
    peers: set[str] = field(default_factory=set)  # addresses; EVERY_SESSION
    vlans: set[int] = field(default_factory=set)
    prefixes: set[str] = field(default_factory=set)
    whole: str = ""

    @property
    def any(self) -> bool:
        """Whether there is anything."""
        return bool(self.ports or self.peers or self.vlans or self.prefixes or self.whole)


@dataclass(frozen=True)
class Touch:
    """What a change of one switch touches, and what of that it takes down for a while."""

    felt: Touched
    down: Touched


def touch_of(device: Device, edits: Iterable[Edit], lossless: Iterable[str]) -> Touch:
    """What edits of a switch touch. device: before; lossless: names of its lossless ports."""
    felt, down = Touched(), Touched()
    names = tuple(lossless)
    for edit in _felt(edits):
        _add(felt, device, edit, names)
        if _takes_down(edit):
            _add(down, device, edit, names)
    return Touch(felt, down)


def replaced(why: str) -> Touch:
    """The touch of a switch that goes as a whole."""
    return Touch(Touched(whole=why), Touched(whole=why))


def _felt(edits: Iterable[Edit]) -> Iterator[Edit]:
    """Edits that traffic feels; those of one port are judged together."""
    groups: dict[str, list[Edit]] = defaultdict(list)
    for edit in edits:
        match = PORT.fullmatch(edit.path)
        groups[match[1] if match else f" {edit.path}"].append(edit)
    for group in groups.values():
        if classify(group, ())[1]:
            yield from group


def timed(device: Device, edits: Iterable[Edit]) -> dict[Timer, Touched]:
    """What edits touch whose faults show only by a timer. device: before.

    Of a filter that changes, the routed ports that apply one: it may drop what BGP sends.
    """
    found: dict[Timer, Touched] = {}
    for edit in _felt(edits):
        _, kind, timer = _row(edit) or ("", "", Timer.NONE)
        if timer is Timer.NONE:
            continue
        touched = found.setdefault(timer, Touched())
        _add(touched, device, edit, ())
        if kind == "vlans":
            touched.ports |= {i.name for i in device.interfaces if i.filter_in or i.filter_out}
    return found


def _row(edit: Edit) -> tuple[str, str, Timer] | None:
    """What an edit touches: the name in its path, the kind, the timer of its fault."""
    for pattern, kind, timer in TOUCHES:
        if match := re.fullmatch(pattern, edit.path):
            return match[1] if match.groups() else "", kind, timer
    return None


def _takes_down(edit: Edit) -> bool:
    return any(
        re.fullmatch(pattern, edit.path) and (edit.before is not None or not gone)
        for pattern, gone in TAKES_DOWN
    )


def _add(to: Touched, device: Device, edit: Edit, lossless: tuple[str, ...]) -> None:
    row = _row(edit)
    if row is None:
        return
    name, kind, _ = row
    if kind == "port":
        to.ports.add(name)
    elif kind == "split":
        to.ports |= {i.name for i in device.interfaces if i.name.partition(":")[0] == name}
    elif kind in ("peer", "sessions"):
        to.peers.add(name or EVERY_SESSION)
    elif kind == "prefix":
        to.prefixes.add(name)
    elif kind == "lossless":
        to.ports.update(lossless)
    else:
        to.vlans |= {int(name)} if name else set(device.vlans)
