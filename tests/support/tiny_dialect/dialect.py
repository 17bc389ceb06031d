"""TinyOS as a Dialect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Address, IPv4Interface
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rocefort.base.errors import BadInput
from rocefort.dialects.data import ConfigPatch, DialectWords, ExtraLine, ParsedConfig
from rocefort.dialects.dialect import Dialect
from rocefort.models.change.compare import compare
from rocefort.models.change.plan import Change
from rocefort.models.device.device import Device
from rocefort.models.device.packet_filters import Uses
from rocefort.models.hardware.hardware import Family, Hardware
from rocefort.models.network.network import TextLine
from tiny_dialect.lines import Tree, applied, commands_between, text_of, tree_of

# Some terms of rules and procedures are missing: TinyOS has no restart, and closes no session.
WORDS = DialectWords(
    {
        "MTU of a port": "mtu {}",
        "a port out of use": "disabled",
        "an enabled port": "no disabled",
        "an interface": "interface {}",
        "changes of the candidate": "show changes",
        "commit": "commit",
        "configure": "edit",
        "end of trial": "abort {}",
        "leave": "end",
        "leave a view": "exit",
        "list of commits": "show commits {}",
        "name of a switch": "hostname {}",
        "ports in brief": "show ports",
        "save": "save",
        "save in": "save {}",
        "state of BGP peers": "show neighbors",
        "state of the trial": "show trial",
        "the newest commit": "show commits 1",
        "what the newest commit changed": "show commits 1 changes",
    },
    {"the vendor's system": "TinyOS"},
)


class TinyOs(Dialect):
    """Dialect of the whole system, without secrets, day 0 and displays."""

    name = "TinyOS"
    words = WORDS
    how_to_save = "give the text of `show saved`"
    files = ((Path(__file__).parent, "*.py"),)
    disrupts = MappingProxyType({"interfaces[].routed": "the port goes down and comes back"})

    def render(self, device: Device, family: Family, hardware: Hardware | None = None) -> str:
        """Render ten commands; refuse fields that they cannot express."""
        text = text_of(dict(_lines(device)))
        if self.parse(text, device.name).device != device:
            raise BadInput("TinyOS has no commands for all of it", where=device.name)
        return text

    def is_config(self, text: str) -> bool:
        """Recognize a text by its first command."""
        return text.startswith("hostname ")

    def parse(self, text: str, file: str) -> ParsedConfig:
        """Parse line by line."""
        reader = _Reader()
        for number, (views, line) in enumerate(self.lines(text), 1):
            reader.read(views, line, number)
        if "name" not in reader.device:
            raise BadInput("no hostname", where=file, how=self.how_to_save)
        device = Device.model_validate(
            {**reader.device, "interfaces": tuple(reader.interfaces.values())}
        )
        unmodelled = tuple(reader.unmodelled)
        return ParsedConfig(device, reader.places, unmodelled, len(self.lines(text)))

    def lines(self, text: str) -> Sequence[tuple[tuple[str, ...], str]]:
        """Return the lines with their views, which have one level."""
        return [row for top, inside in tree_of(text).items() for row in _rows(top, inside)]

    def changed_lines(self, before: str, after: str) -> Sequence[ExtraLine]:
        """Compare sets of lines, without the fields that they set."""
        old, new = self.lines(before), self.lines(after)
        return [
            *(ExtraLine(True, *line, path="") for line in new if line not in old),
            *(ExtraLine(False, *line, path="") for line in old if line not in new),
        ]

    def command_of(self, line: TextLine, family: Family | None = None) -> str:
        """Return nothing: all commands are modelled."""
        return ""

    def written_by_itself(self, line: TextLine, family: Family | None = None) -> bool:
        """Return False: no line is implicit."""
        return False

    def forwarding_effect(self, line: TextLine) -> str:
        """Return the routes for a line with a route, which no Device has."""
        return "the routes" if line.text.startswith("route ") else ""

    def opens_ssh(self, line: TextLine) -> bool:
        """Return False: no command does."""
        return False

    def is_community(self, line: TextLine) -> bool:
        """Return False: no command does."""
        return False

    def weak_access(self, line: TextLine) -> None:
        """Return None: no command opens the switch."""

    def shows_secret(self, line: TextLine) -> bool:
        """Return False: no command contains a secret."""
        return False

    def matches_in(self, line: TextLine, classifier: str) -> bool:
        """Return False: TinyOS has no classifiers."""
        return False

    def uses(self, line: TextLine) -> Uses:
        """Return no uses: no command refers to another part of the text."""
        return Uses()

    def closed_peer(self, line: str) -> str | None:
        """Return None: no command closes a session."""
        return None

    def patch(
        self,
        running: str,
        intended: str,
        family: Family,
        kept: Sequence[tuple[str, ...]] = (),
    ) -> ConfigPatch:
        """Return commands that remove lines, then commands that add lines."""
        old, new = tree_of(running), tree_of(intended)
        return ConfigPatch(tuple(commands_between(old, new)), tuple(commands_between(new, old)))

    def applied(
        self,
        text: str,
        commands: Iterable[str],
        family: Family,
        unjudged: Iterable[Sequence[str]] = (),
    ) -> str:
        """Apply commands as the switch does."""
        return text_of(applied(tree_of(text), commands))

    def with_kept(self, text: str, kept: Iterable[Sequence[str]], family: Family) -> str:
        """Add lines at the end of their views."""
        tree = tree_of(text)
        for top, *inside in kept:
            tree.setdefault(top, []).extend(inside)
        return text_of(tree)

    def same_change(
        self, planned: Change, device_diff: str, running_text: str, family: Family
    ) -> Sequence[str]:
        """Compare the diff, which has rows `+ VIEW / LINE` or `- VIEW / LINE`."""
        tree = tree_of(running_text)
        for row in device_diff.splitlines():
            top, *inside = row[2:].split(" / ")
            _take(tree, top, inside, comes=row.startswith("+"))
        old, new = (
            self.parse(text, planned.device).device for text in (running_text, text_of(tree))
        )
        edits = compare(old, new)
        return [str(edit.path) for edit in {*edits} ^ {*planned.edits}]

    def as_saved(self, text: str) -> str:
        """Return the text unchanged: it has no secrets."""
        return text


def _lines(device: Device) -> Iterator[tuple[str, list[str]]]:
    yield f"hostname {device.name}", []
    for vlan in device.vlans:
        yield f"vlan {vlan}", []
    for port in device.interfaces:
        inside = [f"description {port.description}"] if port.description is not None else []
        inside += [f"mtu {port.mtu}"] if port.mtu is not None else []
        inside += ["routed"] if port.routed else []
        inside += [f"address {address}" for address in port.addresses]
        inside += [] if port.enabled else ["disabled"]
        yield f"interface {port.name}", inside
    if device.bgp:
        peers = [f"neighbor {peer.address} {peer.asn}" for peer in device.bgp.peers]
        yield f"bgp {device.bgp.asn}", peers


def _rows(top: str, inside: Iterable[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    yield (), top
    yield from (((top,), line) for line in inside)


def _take(tree: Tree, top: str, inside: Sequence[str], *, comes: bool) -> None:
    rows = tree.setdefault(top, []) if comes or inside else []
    for line in inside:
        if comes:
            rows.append(line)
        else:
            rows.remove(line)
    if not comes and not inside:
        del tree[top]


class _Reader:
    """Reader of lines into the fields of a Device."""

    def __init__(self) -> None:
        self.device: dict[str, Any] = {}
        self.interfaces: dict[str, dict[str, Any]] = {}
        self.places: dict[str, int] = {}
        self.unmodelled: list[TextLine] = []

    def read(self, views: tuple[str, ...], line: str, number: int) -> None:
        """Read one line."""
        word, _, rest = line.partition(" ")
        field_path = self._inside(views[0], word, rest) if views else self._top(word, rest)
        if field_path:
            self.places.setdefault(field_path, number)
        else:
            self.unmodelled.append(TextLine(views, line, number))

    def _top(self, word: str, rest: str) -> str:
        match word:
            case "hostname":
                self.device["name"] = rest
                return "name"
            case "vlan":
                self.device["vlans"] = (*self.device.get("vlans", ()), int(rest))
                return f"vlans[{rest}]"
            case "interface":
                self.interfaces[rest] = {"name": rest}
                return f"interfaces[{rest}]"
            case "bgp":
                self.device["bgp"] = {"asn": int(rest), "peers": ()}
                return "bgp.asn"
        return ""

    def _inside(self, view: str, word: str, rest: str) -> str:
        if view.startswith("bgp "):
            return self._neighbor(rest) if word == "neighbor" else ""
        name = view.removeprefix("interface ")
        port, path = self.interfaces[name], f"interfaces[{name}]"
        match word:
            case "description":
                port["description"] = rest
            case "mtu":
                port["mtu"] = int(rest)
            case "address":
                port["addresses"] = (*port.get("addresses", ()), IPv4Interface(rest))
                return f"{path}.addresses[{rest}]"
            case "routed":
                port["routed"] = True
            case "disabled":
                port["enabled"] = False
                return f"{path}.enabled"
            case _:
                return ""
        return f"{path}.{word}"

    def _neighbor(self, rest: str) -> str:
        address, _, asn = rest.partition(" ")
        bgp = self.device["bgp"]
        peer = {"address": IPv4Address(address), "asn": int(asn), "active": True}
        bgp["peers"] = (*bgp["peers"], peer)
        return f"bgp.peers[{address}]"


DIALECT: Dialect = TinyOs()
