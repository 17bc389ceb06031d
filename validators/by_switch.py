"""What is said of one switch by itself: judged once, however many versions of a network have it.

A review judges two versions of a network, and nearly all their switches are the very same objects.
What a rule says of a Switch, given the same facts, it says of it in every version; only the file
and the line are each version's own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar, TypeVarTuple, cast

from rocefort.models.finding import Severity
from rocefort.models.lossless import DiffservDomain
from rocefort.models.network import End, Node, Port

T = TypeVar("T")
Facts = TypeVarTuple("Facts")


class Said(NamedTuple):
    """A verdict on a switch, before anybody looks up in which line of a file that is."""

    path: str  # of the field at fault, from the Device on
    interface: str | None
    message: str  # of what is not judged the reason
    hint: str | None  # None: not judged
    severity: Severity | None  # None: the rule's own


@dataclass(frozen=True, eq=False)
class Switch:
    """One switch and its ports that RoCE passes: all that is looked at to judge it by itself."""

    node: Node
    roce_ports: tuple[Port, ...]

    def finding(
        self,
        place: Node | End,
        message: str,
        hint: str,
        *,
        path: str = "",
        severity: Severity | None = None,
    ) -> Said:
        """Build a violation at the switch or a port of it; otherwise as `Subject.finding`."""
        return Said(*self._at(place, path), message, hint, severity)

    def not_judged(self, place: Node | End, reason: str, *, path: str = "") -> Said:
        """Say what could not be decided; otherwise as `Subject.not_judged`."""
        return Said(*self._at(place, path), reason, None, None)

    def _at(self, place: Node | End, path: str) -> tuple[str, str | None]:
        if isinstance(place, End):
            if place.device != self.node.name:
                raise ValueError(f"{place} is no port of {self.node.name}, which alone is judged")
            return path_at(place, path), place.interface
        if place is not self.node:
            raise ValueError(f"{place.name} is not {self.node.name}, which alone is judged")
        return path, None

    @cached_property
    def domains(self) -> tuple[DiffservDomain, ...]:
        """Each diffserv domain that its RoCE ports use, once."""
        ports = (port.interface for port in self.roce_ports)
        unlike = {(port.domain, port.eth_trunk): port for port in ports}  # a trunk has its own
        found = map(self.node.device.domain_of, unlike.values())
        return tuple({domain.name: domain for domain in found if domain is not None}.values())


def path_at(end: End, path: str) -> str:
    """Path from the Device to a field of a port."""
    return f"interfaces[{end.interface}]" + (f".{path}" if path else "")


class Judgements:
    """What was said of switches; the versions of a network that share it are judged together."""

    def __init__(self) -> None:
        self._switches: dict[int, Switch] = {}
        self._made: dict[Hashable, dict[int, tuple[Node, object]]] = {}
        self._said: dict[Hashable, dict[Switch, tuple[Said, ...]]] = {}

    def switch(self, node: Node, roce_ports: Sequence[Port]) -> Switch:
        """The switch of a node: the one known before, if nothing that belongs to it is another."""
        known = self._switches.get(id(node))  # it keeps its node, so no other node has this id
        if known is None or not _same(known.roce_ports, roce_ports):
            known = self._switches[id(node)] = Switch(node, tuple(roce_ports))
        return known

    def made(self, make: Callable[[Node], T], node: Node) -> T:
        """What is made of a Node and of nothing else, such as an index of it: made once."""
        known = self._made.setdefault(make, {})
        if id(node) not in known:
            known[id(node)] = node, make(node)  # the node is kept, so no other node has its id
        return cast("T", known[id(node)][1])

    def said(
        self,
        judge: Callable[[Switch, *Facts], Iterator[Said]],
        switches: Sequence[Switch],
        *facts: *Facts,
    ) -> Iterator[tuple[Switch, tuple[Said, ...]]]:
        """What a function says of each switch by these facts; of one that it has seen, as then."""
        known = self._said.setdefault((judge, facts), {})
        for switch in switches:
            if switch not in known:
                known[switch] = tuple(judge(switch, *facts))
            yield switch, known[switch]


def _same(known: Sequence[Port], ports: Sequence[Port]) -> bool:
    """Whether the RoCE ports of one and the same node are as they were."""
    return len(known) == len(ports) and all(
        a.interface is b.interface and a.cable_m == b.cable_m and a.speed_gbps == b.speed_gbps
        for a, b in zip(known, ports, strict=True)
    )
