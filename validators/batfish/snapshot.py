"""Snapshot of a Network for Batfish: a folder with EOS text, and Batfish's checks of it.

Rows have only the used part of an answer. The embedded engine has no such checks. The rules in
`rules/verification/batfish.py` turn rows into findings.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import stat
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Interface
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from rocefort.base.errors import BadInput, Problem, Refused
from rocefort.dialects.eos import EosNames, render_eos
from rocefort.models.base import NAME, Frozen
from rocefort.models.device.device import Device
from rocefort.models.device.interface import DEFAULT_VLAN, Interface
from rocefort.models.network.network import End, Network, Segment, Server
from rocefort.validators.routing.packet_filters import unevaluated
from rocefort.validators.routing.underlay import design_problems, refused_lines

HOST_PORT = "eth0"
NOWHERE = "rocefort-nowhere"  # far end of the edge that marks a switch as uncabled for Batfish
ZIP_DATE = (2020, 1, 1, 0, 0, 0)  # the bytes must not depend on when they were made

KEPT, KEPT_PREFIX = 3, "rocefort-batfish-"  # snapshots of failures: how many stay, their names

Files = Mapping[str, bytes]


def snapshot_files(network: Network) -> Files:
    """Every file of the snapshot by its path in the folder, sorted; a function of the Network.

    The Devices must come from parsed configuration text: Batfish then judges the text. Raises
    Refused with all parts of all devices that cannot be translated or are not understood, and
    BadInput for names that are equal for Batfish.
    """
    _check_names(network)
    files = _configurations(network) | _hosts(network) | _cabling(network)
    if problems := tuple(_lost_links(network)):
        raise Refused(problems=problems)
    return dict(sorted(files.items()))


def snapshot_digest(files: Files) -> str:
    """SHA-256 over the paths and bytes of all files."""
    digest = hashlib.sha256()
    for path, content in sorted(files.items()):
        digest.update(f"{path}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def write_snapshot(files: Files, folder: Path) -> None:
    """Write the files below a folder, which pybatfish's init_snapshot takes as it is."""
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def keep_snapshot(files: Files) -> str:
    """Write the files to a new temporary folder, and return a sentence that names it.

    Of this user's older ones only the newest stay.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix=KEPT_PREFIX))
        write_snapshot(files, folder)
    except OSError as error:
        return f"the snapshot could not be kept: {error.strerror}"
    for old in _kept_in(folder.parent)[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)  # another process may remove it, too
    return f"the snapshot is kept in {folder}"


def _kept_in(directory: Path) -> list[str]:
    """Folders of this user's snapshots, newest first."""
    own = []
    for folder in directory.glob(f"{KEPT_PREFIX}*"):
        with suppress(FileNotFoundError):  # another process has removed it
            facts = folder.lstat()
            if stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid():
                own.append((facts.st_mtime_ns, str(folder)))
    return [path for _, path in sorted(own, reverse=True)]


def zip_snapshot(files: Files) -> bytes:
    """Archive of the folder for the service, with the same bytes every time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(f"snapshot/{path}", ZIP_DATE), content)
    return buffer.getvalue()


def host_name(name: str) -> str:
    """Batfish's name of a switch or a server: in lower case."""
    return name.lower()


def _check_names(network: Network) -> None:
    names = [node.name for node in network.nodes] + [s.name for s in network.servers or ()]
    times = Counter(map(host_name, names))
    problems = [
        Problem(name, "the name is there twice for Batfish, which ignores case", "rename one")
        for name, count in times.items()
        if count > 1
    ]
    problems += [
        Problem(name, "the name is not one word", "use letters, digits, '.', '_' and '-'")
        for name in names
        if not NAME.fullmatch(name)
    ]
    if problems:
        raise BadInput(problems=problems)


def _configurations(network: Network) -> dict[str, bytes]:
    used = _used_ports(network)
    files: dict[str, bytes] = {}
    problems = list(design_problems(network))
    for node in network.nodes:
        problems += [
            Problem(f"{node.name} line {line.line}", what, how)
            for line, what, how in refused_lines(node)
        ]
        problems += [
            Problem(f"{node.name} {interface.name}", what)
            for interface, _, what in unevaluated(node.device)
        ]
        try:
            text = render_eos(_with_ports(node.device, used.get(node.name, set())))
        except Refused as refused:
            problems += refused.problems
        else:
            files[f"configs/{host_name(node.name)}.cfg"] = text.encode()
    problems += [
        Problem(name, "a cable ends on a switch that has no configuration", "add its text")
        for name in sorted(used.keys() - {node.name for node in network.nodes})
    ]
    if problems:
        raise Refused(problems=problems)
    return files


def _used_ports(network: Network) -> dict[str, set[str]]:
    ends = [end for server in network.servers or () for end in (server.port, *server.members)]
    ends += [end for link in network.links or () for end in (link.a, link.b)]
    used: dict[str, set[str]] = {}
    for end in ends:
        used.setdefault(end.device, set()).add(end.interface)
    return used


def _with_ports(device: Device, used: set[str]) -> Device:
    """Device with the cabled ports that are not in the text: they have their defaults."""
    absent = sorted(used - {interface.name for interface in device.interfaces})
    if not absent:
        return device
    fields = {name: getattr(device, name) for name in Device.model_fields}
    fields["interfaces"] = (*device.interfaces, *(Interface(name=name) for name in absent))
    return Device(**fields)


def _hosts(network: Network) -> dict[str, bytes]:
    devices = {node.name: node.device for node in network.nodes}
    segments = {(s.name, s.leaf): s for s in network.segments or ()}
    files = {}
    for server in network.servers or ():
        segment = segments.get((server.segment, server.port.device))
        port = _host_port(server, devices[server.port.device], segment)
        name = host_name(server.name)
        files[f"hosts/{name}.json"] = _json({"hostname": name, "hostInterfaces": {HOST_PORT: port}})
    return files


def _host_port(server: Server, leaf: Device, segment: Segment | None) -> dict[str, str | int]:
    port: dict[str, str | int] = {"name": HOST_PORT, "prefix": server.address.with_prefixlen}
    interfaces = {interface.name: interface for interface in leaf.interfaces}
    at = interfaces.get(server.port.interface) or Interface(name=server.port.interface)
    if segment is not None:
        port["gateway"] = str(segment.gateway.ip)
    elif (gateway := _vlanif_address(server, at, interfaces)) is not None:
        port["gateway"] = gateway
    if segment is not None and at.link_type == "trunk" and not at.layer3:
        port["encapsulationVlan"] = segment.vlan  # on a trunk the server tags its segment's VLAN
    return port


def _vlanif_address(
    server: Server, at: Interface, interfaces: Mapping[str, Interface]
) -> str | None:
    """The leaf's address in the server's VLAN and subnet, if no segment names a gateway."""
    vlanif = interfaces.get(f"Vlanif{at.access_vlan or DEFAULT_VLAN}")
    addresses = vlanif.addresses if vlanif else ()
    return next((str(a.ip) for a in addresses if server.address.ip in a.network), None)


def _lost_links(network: Network) -> Iterator[Problem]:
    """Cables whose ends reach each other by their own masks, but not in Batfish.

    Batfish 0.36 sends from one end to the other only if the subnet of the other end contains the
    first address of this end's subnet (`TopologyUtil.synthesizeL3Topology`).
    """
    for link in network.links or ():
        for near, far in product(_addresses(network, link.a), _addresses(network, link.b)):
            joined = far.ip in near.network and near.ip in far.network
            first = {near.network.network_address, far.network.network_address}
            if joined and len(first) > 1:
                what = f"{near} here and {far} at {link.b}: Batfish does not follow such a link"
                how = "give both ends one mask, or use --engine embedded"
                yield Problem(str(link.a), what, how)


def _addresses(network: Network, end: End) -> Sequence[IPv4Interface]:
    """Addresses in use at an end of a cable."""
    interface = network.by_name[end.device].device.by_interface.get(end.interface)
    return interface.addresses if interface and interface.layer3 else ()


def _cabling(network: Network) -> dict[str, bytes]:
    edges = [*_server_edges(network)]
    if network.cabling is not None:
        edges += [(_end(link.a), _end(link.b)) for link in network.cabling]
        edges += _uncabled(network, {end[0] for edge in edges for end in edge})
    if not edges:
        return {}
    both_ways = sorted({*edges, *((b, a) for a, b in edges)})
    rows = [{"node1": _file_names(a), "node2": _file_names(b)} for a, b in both_ways]
    return {"batfish/layer1_topology.json": _json({"edges": rows})}


Place = tuple[str, str]  # host, interface


def _server_edges(network: Network) -> Iterator[tuple[Place, Place]]:
    for server in network.servers or ():
        # Batfish's hosts have one port and no LACP: the cable of a bond ends at the Port-Channel.
        yield (host_name(server.name), HOST_PORT), _end(server.port)


def _uncabled(network: Network, cabled: set[str]) -> Iterable[tuple[Place, Place]]:
    """Dummy edges of uncabled switches; without one Batfish infers the cabling from subnets."""
    for node in network.nodes:
        ports = [i.name for i in node.device.interfaces if EosNames.is_known(i.name)]
        if host_name(node.name) not in cabled and ports:
            here = (host_name(node.name), EosNames.to_eos(ports[0]))
            yield here, (NOWHERE, HOST_PORT)


def _end(end: End) -> Place:
    return host_name(end.device), EosNames.to_eos(end.interface)


def _file_names(place: Place) -> dict[str, str]:
    return {"hostname": place[0], "interfaceName": place[1]}


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True) + "\n").encode()


T = TypeVar("T", bound=Frozen)
Row = dict[str, Any]
Ask = Callable[..., list[Row]]
CHECK_QUESTIONS = 8  # of `collect_checks`
COMPATIBLE = ("UNIQUE_MATCH", "DYNAMIC_MATCH")


class TextRow(Frozen):
    """Line of a translated text with its fault; line 0: the whole file."""

    file: str
    line: int
    what: str


class SessionMatch(Frozen):
    """Compatibility of a configured peer with the other end."""

    node: str
    peer: IPv4Address
    status: str


class LoopRow(Frozen):
    """Packet in a forwarding loop: source, destination, and the nodes in order."""

    source: str
    destination: IPv4Address
    nodes: tuple[str, ...]


class OwnerRow(Frozen):
    """Interface that is up with a duplicate address."""

    address: IPv4Address
    node: str
    interface: str


class AclRow(Frozen):
    """Line of an access list that no packet reaches, and the lines that take its packets."""

    node: str
    access_list: str
    line: str
    blocking: tuple[str, ...]
    other_action: bool


class EdgeRow(Frozen):
    """Layer-3 edge: two interfaces that are neighbours."""

    node: str
    interface: str
    far_node: str
    far_interface: str


class Checks(Frozen):
    """All checks of a snapshot, each collection sorted by its fields."""

    unread: tuple[TextRow, ...] = ()
    undefined: tuple[TextRow, ...] = ()
    mismatched: tuple[SessionMatch, ...] = ()
    loops: tuple[LoopRow, ...] = ()
    duplicates: tuple[OwnerRow, ...] = ()
    shadowed: tuple[AclRow, ...] = ()
    edges: tuple[EdgeRow, ...] = ()


def collect_checks(ask: Ask) -> Checks:
    """Send the questions; ask: returns the rows of a question by its name and parameters."""
    return Checks(
        unread=_sorted([*_files(ask("fileParseStatus")), *_issues(ask("initIssues"))]),
        undefined=_sorted(_undefined(ask("undefinedReferences"))),
        mismatched=_sorted(_mismatched(ask("bgpSessionCompatibility"))),
        loops=_sorted(_loop(row) for row in ask("detectLoops")),
        duplicates=_sorted(_owner(row) for row in ask("ipOwners", duplicatesOnly=True)),
        shadowed=_sorted(_shadowed(ask("filterLineReachability"))),
        edges=_sorted(_edge(row) for row in ask("layer3Edges")),
    )


def _sorted(rows: Iterable[T]) -> tuple[T, ...]:
    return tuple(sorted(rows, key=lambda row: tuple(str(value) for _, value in row)))


def _files(rows: list[Row]) -> Iterator[TextRow]:
    """Files that were not read completely; without files whose lines are reported."""
    for row in rows:
        if row["Status"] not in ("PASSED", "PARTIALLY_UNRECOGNIZED"):
            yield TextRow(file=row["File_Name"], line=0, what=f"the file was {row['Status']}")


def _issues(rows: list[Row]) -> Iterator[TextRow]:
    for row in rows:
        text = f"{row['Line_Text']!r}: " if row["Line_Text"] else ""
        what = f"{text}{row['Details']}"
        places = [(s["filename"], n) for s in row["Source_Lines"] or () for n in s["lines"]]
        places = places or [(f"configs/{name}.cfg", 0) for name in row["Nodes"] or ("",)]
        yield from (TextRow(file=file, line=line, what=what) for file, line in places)


def _undefined(rows: list[Row]) -> Iterator[TextRow]:
    for row in rows:
        what = f"{row['Struct_Type']} {row['Ref_Name']} ({row['Context']})"
        for line in row["Lines"]["lines"]:
            yield TextRow(file=row["Lines"]["filename"], line=line, what=what)


def _mismatched(rows: list[Row]) -> Iterator[SessionMatch]:
    for row in rows:
        if row["Configured_Status"] not in COMPATIBLE:
            peer = IPv4Address(row["Remote_IP"]["value"])
            yield SessionMatch(node=row["Node"]["name"], peer=peer, status=row["Configured_Status"])


def _loop(row: Row) -> LoopRow:
    nodes = tuple(hop["node"]["name"] for hop in row["Traces"][0]["hops"])
    flow = row["Flow"]
    return LoopRow(source=flow["ingressNode"], destination=IPv4Address(flow["dstIp"]), nodes=nodes)


def _owner(row: Row) -> OwnerRow:
    return OwnerRow(
        address=IPv4Address(row["IP"]), node=row["Node"]["name"], interface=row["Interface"]
    )


def _shadowed(rows: list[Row]) -> Iterator[AclRow]:
    for row in rows:
        for source in row["Sources"]:
            node, _, name = source.partition(": ")
            yield AclRow(
                node=node,
                access_list=name,
                line=row["Unreachable_Line"],
                blocking=tuple(row["Blocking_Lines"] or ()),
                other_action=bool(row["Different_Action"]),
            )


def _edge(row: Row) -> EdgeRow:
    near, far = row["Interface"], row["Remote_Interface"]
    return EdgeRow(
        node=near["hostname"],
        interface=near["interface"],
        far_node=far["hostname"],
        far_interface=far["interface"],
    )
