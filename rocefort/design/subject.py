"""Read the network to check: a fabric through its rendered text, or a directory of texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rocefort.base.errors import BadInput, Problem, Refused
from rocefort.base.repository import Site, site_of, this_site
from rocefort.design.config_directory import (
    CONFIG_ENDINGS,
    ConfigDirectory,
    ConfigFile,
    DisplayFile,
    read_directory,
)
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.infer import LldpNeighbour, infer, with_hardware
from rocefort.design.load.hardware_catalogue import Catalogue, load_catalogue
from rocefort.design.load.overrides import overrides
from rocefort.dialects.choose import dialect_of, load_dialect
from rocefort.dialects.data import ParsedConfig, sources_of
from rocefort.dialects.network_text import (
    read_back,
    render_all,
    template_sources,
    with_commands,
)
from rocefort.dialects.overrides import has_templates
from rocefort.models.hardware.site_commands import SiteFamily
from rocefort.models.network.network import Network, Node, Position, Sources
from rocefort.models.network.sources import with_rows
from rocefort.validators.rules.running.subject import RunningComparison

__all__ = ["CONFIG_ENDINGS", "ReadNetwork", "subject_of"]

# Saved by V200R005C10 on a CE6880: FIELD, published configurations.
BOARD = re.compile(r"device board \d+ board-type (CE\S+)", re.ASCII)


@dataclass(frozen=True)
class ReadNetwork:
    """Network to check, with Devices read from text and the source position of each value."""

    network: Network
    sources: Sources
    texts: Mapping[str, str]
    notes: tuple[str, ...] = ()  # on the files: lines understood in each, files not used, overrides
    running: RunningComparison | None = None  # texts beside a fabric, which they are judged by
    unread: tuple[str, ...] = ()  # the notes on files that are not used, alone


def subject_of(fabric: Path | None, configs: Path | None) -> ReadNetwork:
    """Read a fabric through its rendered text, or a directory of texts."""
    if (fabric is None) == (configs is None):
        raise BadInput(
            "name either a fabric or --configs DIR", how="for example: rocefort check heps"
        )
    if configs is not None:
        return subject_of_texts(configs)
    return subject_of_derived(derive(fabric or Path()))


def subject_of_derived(derived: DerivedNetwork) -> ReadNetwork:
    """Render a fabric and read the text back, so that checks cover the delivered text."""
    texts = render_all(derived.network)
    network = read_back(derived.network, texts)
    sources = with_rows(derived.sources, template_sources(network))
    models = [node.hardware.model for node in network.nodes if node.hardware]
    return ReadNetwork(network, sources, texts, tuple(overrides(derived.site, models)))


def with_template_lines(derived: DerivedNetwork) -> DerivedNetwork:
    """Return a derived fabric with the lines that templates of its site add, if it has any."""
    nodes = derived.network.nodes
    if not any(has_templates(node) or isinstance(node.family, SiteFamily) for node in nodes):
        return derived
    read = subject_of_derived(derived)
    return replace(derived, network=read.network, sources=read.sources)


def subject_of_texts(directory: Path, site: Site | None = None) -> ReadNetwork:
    """Infer a Network from a directory of configurations and outputs of switches.

    site: whose hardware they have if the directory is in none; by default that of the current one.
    """
    catalogue = load_catalogue(site_of(directory) or site or this_site())
    saved = read_directory(directory)
    table: dict[str, Position] = {}
    for config in saved.configs:
        table |= sources_of(config.parsed, str(config.path))
    for file in saved.displays:
        for neighbour in file.display.neighbours:
            position = Position(str(file.path), neighbour.line)
            table[f"{file.device}/interfaces[{neighbour.local}].lldp"] = position
    nodes = [_node(config, saved.displays, catalogue) for config in saved.configs]
    network = infer(directory.resolve().name, nodes, _lldp_neighbours(saved))
    texts = {config.parsed.device.name: config.text for config in saved.configs}
    configs = {config.parsed.device.name: config for config in saved.configs}
    notes = (*coverage_notes(configs, nodes), *saved.notes)
    return ReadNetwork(network, Sources(table), texts, notes, unread=saved.notes)


def _node(config: ConfigFile, displays: Sequence[DisplayFile], catalogue: Catalogue) -> Node:
    """A switch from its text and its outputs."""
    parsed = config.parsed
    model, software = hardware_of(config, displays)
    node = Node(
        device=parsed.device,
        unmodelled=parsed.unmodelled,
        read_by=config.read_by,
        cut_off_at=parsed.cut_off_at,
    )
    if (model or software) and (model is not None or not _is_campus(parsed)):
        node = with_hardware(node, model, software, catalogue)
    lines = with_commands(node.unmodelled, load_dialect(config.read_by), node.family)
    return node.model_copy(update={"unmodelled": lines})


def hardware_of(
    config: ConfigFile, displays: Sequence[DisplayFile]
) -> tuple[str | None, str | None]:
    """Model and release of a switch, by its outputs and its text; None: not stated."""
    parsed = config.parsed
    own = [file.display for file in displays if file.device == parsed.device.name]
    model = next((display.model for display in own if display.model), board_of(parsed))
    return model, next((d.software for d in own if d.software), parsed.software)


def _is_campus(parsed: ParsedConfig) -> bool:
    """Whether the port names are those of a campus switch, which also has V200 releases."""
    return any("GigabitEthernet" in interface.name for interface in parsed.device.interfaces)


def board_of(parsed: ParsedConfig) -> str | None:
    """Model of a fixed switch, saved as the type of its only board; a chassis has several."""
    boards = [match for line in parsed.unmodelled if (match := BOARD.fullmatch(line.text))]
    return boards[0][1] if len(boards) == 1 else None


def _lldp_neighbours(saved: ConfigDirectory) -> list[LldpNeighbour]:
    return [
        LldpNeighbour(file.device, neighbour.local, neighbour.device, neighbour.port or None)
        for file in saved.displays
        for neighbour in file.display.neighbours
    ]


def coverage_notes(configs: Mapping[str, ConfigFile], nodes: Iterable[Node]) -> tuple[str, ...]:
    """A sentence on each switch with a text and lines that are not in its Device."""
    return tuple(
        coverage_note(node, configs[node.name].parsed.total_lines)
        for node in nodes
        if node.unmodelled and node.name in configs
    )


def coverage_note(node: Node, total: int) -> str:
    """Number of lines of a text that its Device contains, and of the others by kind.

    Lines of another design, such as OSPF, are one kind, whether or not they are known.
    """
    lines, dialect = node.unmodelled, dialect_of(node)
    other = [line for line in lines if not dialect.foreign_design(line)]
    foreign = len(lines) - len(other)
    count = total - len(lines)
    share = count * 100 // total  # never 100 % where a line is missing
    recognised = sum(1 for line in other if line.command)
    rest = [f"{foreign} of other designs"] if foreign else []
    rest += [f"{recognised} known, but not modelled"] if recognised else []
    rest += [f"{len(other) - recognised} unknown"] if recognised < len(other) else []
    return f"{node.name}: {count} of {total} lines understood ({share} %); {', '.join(rest)}"


def running_texts(source: Path, say: Callable[[str], None] | None = None) -> dict[str, str]:
    """Texts by sysname, read from a directory of configurations or rendered from a fabric.

    say: receives notes on files that are not read.
    """
    if not source.is_dir() or (source / "fabric.yaml").exists():
        return render_all(derive(source).network)
    saved = read_directory(source)
    if say is not None:
        for note in saved.notes:
            say(note)
    return {config.parsed.device.name: config.text for config in saved.configs}


def refuse_refuted(network: Network, names: Collection[str]) -> None:
    """Raise Refused if a text has a form that a switch of its model and release does not have."""
    problems = [
        Problem(node.name, form.sentence, "`rocefort check` lists the switches that use it")
        for node in network.nodes
        if node.name in names and node.family
        for form in node.family.refuted
        if dialect_of(node).in_use(form.command, node.device)
    ]
    if problems:
        raise Refused(problems=problems)


def write_texts(texts: Mapping[str, str], directory: Path, *, private: bool = False) -> list[Path]:
    """Write NAME.cfg for each switch, atomically; private: readable by the owner only."""
    files = {f"{name}.cfg": text for name, text in texts.items()}
    return write_files(files, directory, private=private)


def write_files(files: Mapping[str, str], directory: Path, *, private: bool = False) -> list[Path]:
    """Write files by name into a directory, each atomically; private: with mode 0600."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            part = directory / f".{name}.part"
            part.unlink(missing_ok=True)
            part.touch(mode=0o600 if private else 0o666)
            part.write_text(text, encoding="utf-8")
            part.replace(directory / name)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", file=str(directory)) from None
    return [directory / name for name in files]
