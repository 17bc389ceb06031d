"""Read what the switches of a fabric run, to judge it by the fabric's intent."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

from rocefort.base.errors import BadInput, Problem
from rocefort.base.progress import tracked
from rocefort.change.referenced_acls import with_used
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.subject import (
    ConfigDirectory,
    ConfigFile,
    ReadNetwork,
    coverage_notes,
    hardware_of,
    live_configs,
    read_directory,
    subject_of,
    with_template_lines,
)
from rocefort.dialects.choose import dialect_of, load_dialect
from rocefort.dialects.data import sources_of
from rocefort.dialects.network_text import with_commands
from rocefort.dialects.secrets import with_known_secrets
from rocefort.models.change.compare import compare
from rocefort.models.change.edits import Edit
from rocefort.models.device.device import Device
from rocefort.models.finding import Report
from rocefort.models.network.network import Network, Node, Position, Sources
from rocefort.validators import checks
from rocefort.validators.rules.registry import Rule, Subject
from rocefort.validators.rules.running.running_subject import (
    RunningComparison,
    RunningSubject,
    VoteSubject,
)

SWITCHES = "the switches"


def judged_subject(
    fabric: Path | None, configs: Path | None, running: Mapping[str, str] | None = None
) -> ReadNetwork:
    """Read the network to judge: a fabric, texts, or what runs beside a fabric's intent.

    running: texts read from the switches of the fabric, by name, instead of a directory's.
    """
    if fabric is None or (configs is None and running is None):
        return subject_of(fabric, configs)
    if running is not None:
        saved, source = live_configs(running), SWITCHES
    else:
        saved, source = read_directory(configs or Path()), str(configs)
    return subject_of_running(derive(fabric), saved, source)


def judging_rules(
    fabric: Path | None, *, texts: bool, select: Sequence[str], ignore: Sequence[str]
) -> tuple[Rule, ...]:
    """Rules of the options, on what `judged_subject` reads; texts: of files or of switches."""
    own = (RunningSubject if fabric else VoteSubject,) if texts else ()
    return checks.rules(select, ignore, (Subject, *own))


def check_subject(subject: ReadNetwork, chosen: Sequence[Rule]) -> Report:
    """Run rules on what was read."""
    return checks.check(subject.network, subject.sources, run=chosen, running=subject.running)


def _announced(network: Network) -> Iterator[tuple[str, IPv4Network]]:
    """Yield the prefixes that each switch announces inside: those of no static route."""
    for node in network.nodes:
        static = {route.prefix for route in node.device.static_routes}
        for prefix in node.device.bgp.networks if node.device.bgp else ():
            if prefix not in static:
                yield node.name, prefix


def subject_of_running(derived: DerivedNetwork, saved: ConfigDirectory, source: str) -> ReadNetwork:
    """Return the intended network with the Devices that its switches run.

    Links, servers, hardware and policies are those of the fabric. The position of a value is its
    line of the text, beside that of the fabric.
    """
    fabric = with_template_lines(derived)
    matched = _matched(fabric.network, saved.configs)
    _refuse_other_systems(fabric.network, matched.by_node)
    table: dict[str, Position] = {}
    for name, config in matched.by_node.items():
        table |= _sources(name, config)
    nodes = tuple(
        _running_node(node, matched.by_node[node.name]) if node.name in matched.by_node else node
        for node in fabric.network.nodes
    )
    comparison = RunningComparison(
        source=source,
        missing=tuple(
            n.name for n in nodes if n.name not in matched.by_node.keys() | matched.copies.keys()
        ),
        copies=matched.copies,
        withheld={
            node.name: len(_edits(node, config))
            for config in saved.configs
            if (node := fabric.network.by_name.get(config.parsed.device.name))
            and matched.by_node.get(node.name) is not config
        },
        strangers={
            config.parsed.device.name: Position(str(config.path), config.parsed.lines["name"])
            for config in matched.strangers
        },
        renamed={
            name: config.parsed.device.name
            for name, config in matched.by_node.items()
            if config.parsed.device.name != name
        },
        edits={
            node.name: _edits(node, matched.by_node[node.name])
            for node in tracked(fabric.network.nodes, "compare")
            if node.name in matched.by_node
        },
        facts={
            node.name: tuple(_facts(node, matched.by_node[node.name], saved))
            for node in fabric.network.nodes
            if node.name in matched.by_node
        },
    )
    return ReadNetwork(
        network=fabric.network.model_copy(
            update={"nodes": nodes, "announced": tuple(_announced(fabric.network))}
        ),
        sources=Sources(table, intent=fabric.sources),
        texts={name: config.text for name, config in matched.by_node.items()},
        notes=(*coverage_notes(matched.by_node, nodes), *saved.notes),
        running=comparison,
    )


@dataclass(frozen=True)
class _Matched:
    """Text of each switch by its name in the fabric, and the texts of no switch.

    copies: switches whose text is that of another one, which has its own, too.
    """

    by_node: Mapping[str, ConfigFile]
    strangers: Sequence[ConfigFile]
    copies: Mapping[str, str]


def _matched(network: Network, configs: Sequence[ConfigFile]) -> _Matched:
    """Match texts with switches by sysname; the others by addresses, then by file name.

    A text whose addresses are all those of another switch is that switch's, whatever its sysname.
    If the other switch has a text of its own, too, it is a copy, and not judged.
    """
    owners: defaultdict[IPv4Address, set[str]] = defaultdict(set)
    for node in network.nodes:
        for address in _data_addresses(node.device):
            owners[address].add(node.name)
    runs = {c.parsed.device.name: _owner(c.parsed.device, owners) for c in configs}
    own = {name for name, owner in runs.items() if owner in (None, name)}
    copies = {n: o for n, o in runs.items() if o in own - {n} and n in network.by_name and o}
    claims = Counter(runs.values())
    by_node: dict[str, ConfigFile] = {}
    for config in configs:
        name = config.parsed.device.name
        if name in network.by_name and name not in copies:
            owner = runs[name]
            by_node[owner if owner and claims[owner] == 1 else name] = config
    strangers: list[ConfigFile] = []
    for config in configs:
        if config.parsed.device.name in network.by_name:
            continue
        free = [n for n in network.nodes if n.name not in by_node and n.name not in copies]
        match = _by_addresses(free, config.parsed.device) or _by_file(free, config)
        if match is None:
            strangers.append(config)
        else:
            by_node[match.name] = config
    return _Matched(by_node, strangers, copies)


def _owner(device: Device, owners: Mapping[IPv4Address, Set[str]]) -> str | None:
    """Switch that alone intends every address of a text that the fabric has; None: no such one."""
    known = [owners[address] for address in _data_addresses(device) if address in owners]
    names = set().union(*(own for own in known if len(own) == 1))
    return next(iter(names)) if len(names) == 1 and len(known) > 1 else None


def _data_addresses(device: Device) -> set[IPv4Address]:
    """Addresses of all ports except management ports, which a site may set by hand."""
    ports = (port for port in device.interfaces if port.kind != "management")
    return {address.ip for port in ports for address in port.addresses}


def _by_addresses(nodes: Sequence[Node], device: Device) -> Node | None:
    """Return the switch that intends most of the addresses of a text, if it intends any."""
    own = _addresses(device)
    common = {node.name: len(own & _addresses(node.device)) for node in nodes}
    best = max(nodes, key=lambda node: common[node.name], default=None)
    return best if best is not None and common[best.name] else None


def _addresses(device: Device) -> set[IPv4Address]:
    return {address.ip for interface in device.interfaces for address in interface.addresses}


def _by_file(nodes: Iterable[Node], config: ConfigFile) -> Node | None:
    names = (config.path.stem, config.path.name.partition(" ")[0])
    return next((node for node in nodes if node.name in names), None)


def _refuse_other_systems(network: Network, by_node: Mapping[str, ConfigFile]) -> None:
    """Raise BadInput for texts of another operating system than that of the hardware."""
    problems = []
    for name, config in by_node.items():
        dialect, read_by = dialect_of(network.by_name[name]), load_dialect(config.read_by)
        if dialect.name != read_by.name:
            what = f"{name} runs {read_by.name}, but its hardware in the fabric runs {dialect.name}"
            problems.append(Problem("", what, "correct its hardware", file=str(config.path)))
    if problems:
        raise BadInput(problems=problems)


def _sources(name: str, config: ConfigFile) -> dict[str, Position]:
    device = config.parsed.device.model_copy(update={"name": name})
    return sources_of(replace(config.parsed, device=device), str(config.path))


def _running_node(node: Node, config: ConfigFile) -> Node:
    """Switch of the fabric with the content of its text."""
    parsed = config.parsed
    device = with_known_secrets(parsed.device, node.device, ())
    return node.model_copy(
        update={
            "device": device.model_copy(update={"name": node.name}),
            "unmodelled": with_commands(parsed.unmodelled, dialect_of(node), node.family),
            "read_by": config.read_by,
            "cut_off_at": parsed.cut_off_at,
        }
    )


def _edits(node: Node, config: ConfigFile) -> tuple[Edit, ...]:
    """Differences from what a switch runs to its intent, without those of form or of secrets."""
    if node.family is None:
        return ()
    dialect, parsed = dialect_of(node), config.parsed
    running = dialect.normal_form(parsed.device, node.family)
    running = with_known_secrets(running, node.device, ()).model_copy(update={"name": node.name})
    intended = dialect.normal_form(node.device, node.family)
    intended = with_used(intended, running, parsed.unmodelled, node.family)
    return compare(running, dialect.spelled_as(intended, running, node.family))


def _facts(node: Node, config: ConfigFile, saved: ConfigDirectory) -> Iterator[str]:
    """Differences of model and release between the outputs of a switch and the fabric."""
    model, software = hardware_of(config, saved.displays)
    if model and node.hardware and model != node.hardware.model:
        yield f"the hardware is {model}, the fabric intends {node.hardware.model}"
    if software and node.software and not _same_release(software, node.software):
        yield f"the release is {software}, the fabric intends {node.software}"


def _same_release(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)  # ..SPC500 or without it
