"""Read the network to check: a fabric through its rendered text, or a directory of texts."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from napalm_cloudengine import regular_file
from rocefort.base.errors import BadInput, Problem, Refused
from rocefort.base.progress import tracked
from rocefort.base.repository import Site, site_of, this_site
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.infer import LldpNeighbour, infer, with_hardware
from rocefort.design.load.hardware_catalogue import Catalogue, load_catalogue, overrides
from rocefort.dialects.choose import NoConfigurationError, dialect_of, load_dialect, reader_of
from rocefort.dialects.data import ParsedConfig, SavedDisplays, SavedPart, UnreadOutput, sources_of
from rocefort.dialects.network_text import (
    read_back,
    render_all,
    template_sources,
    with_commands,
)
from rocefort.dialects.overrides import has_templates
from rocefort.dialects.words import in_words
from rocefort.models.hardware.site_data import SiteFamily
from rocefort.models.network.network import Network, Node, Position, Sources
from rocefort.models.network.sources import with_rows
from rocefort.models.wording import listing
from rocefort.validators.rules.running.running_subject import RunningComparison

CONFIG_ENDINGS = (".cfg", ".txt", ".conf")
LARGEST_BYTES = (
    4 * 1024 * 1024
)  # a switch of 128 ports takes about 200 KB; displays may be saved too
DISPLAY_ENDINGS = (".lldp",)  # of files that hold nothing but outputs
UTF16 = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
# Bytes of a binary file: control characters except tab, line ends, backspace, and escape.
CONTROL = re.compile(rb"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]")
# A recorded terminal: a pager's prompt at the beginning of a line, and codes that erase it. Blanks
# after the last code that moves left belong to the next line: its indentation marks its view. Other
# control characters are the text's own.
BACK = r"(?:\x1b\[\d*D|\x08+|\r)"
PAGER = re.compile(rf"^ *-+ More -+(?:(?: *{BACK})+(?:\x1b\[K)?| *$)", re.MULTILINE)


@dataclass(frozen=True)
class ConfigFile:
    """Configuration of one switch: its file, its parsed values, its text."""

    path: Path
    parsed: ParsedConfig
    text: str
    read_by: str  # name of the dialect


@dataclass(frozen=True)
class DisplayFile:
    """Outputs of one switch."""

    path: Path
    device: str
    display: SavedDisplays


@dataclass(frozen=True)
class ConfigDirectory:
    """Configurations and outputs of a directory; notes: a sentence on each unused file."""

    configs: tuple[ConfigFile, ...]
    displays: tuple[DisplayFile, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass
class _DirectoryFiles:
    configs: dict[str, ConfigFile] = field(default_factory=dict)
    displays: list[tuple[Path, str | None, SavedDisplays]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_directory(directory: Path) -> ConfigDirectory:
    """Read every configuration and output of a directory, in order of names.

    A file without a usual ending, as an archive has it, is judged by its content; one that is not
    read is a note. Hidden files are left out. Raises BadInput with all problems: files with a usual
    ending that cannot be read or are binary, text of other systems, one sysname twice.
    """
    files = _DirectoryFiles()
    for path in tracked(_files(directory), "read"):
        try:
            _read_file(path, files)
        except BadInput as error:
            files.problems += error.problems
    if files.problems:
        raise BadInput(problems=files.problems)
    if not files.configs:
        how = f"put {_endings(CONFIG_ENDINGS)} there"
        empty = Problem("", "no configurations in it", how, str(directory))
        raise BadInput(problems=[empty, *(Problem("", note) for note in files.notes)])
    displays, notes = _outputs_by_switch(files)
    configs = tuple(sorted(files.configs.values(), key=lambda config: config.path))
    return ConfigDirectory(configs, displays, (*files.notes, *notes))


def _endings(endings: Sequence[str]) -> str:
    return ", ".join(f"*{ending}" for ending in endings)


def _files(directory: Path) -> list[Path]:
    try:
        paths = sorted(directory.iterdir())
    except FileNotFoundError:
        raise BadInput("no such directory", file=str(directory), how="check the path") from None
    except NotADirectoryError:
        how = f"name the directory that holds {_endings(CONFIG_ENDINGS)}"
        raise BadInput("a file, not a directory", file=str(directory), how=how) from None
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise BadInput(what, file=str(directory), how="check the path and its rights") from None
    visible = (path for path in paths if not is_hidden(path.name))
    # Those with a usual ending first: another file with the same sysname is a copy of them.
    return sorted(visible, key=lambda path: not _has_usual_ending(path))


def is_hidden(name: str) -> bool:
    """Whether a file of a directory is left out without a note."""
    return name.startswith(".")


def _has_usual_ending(path: Path) -> bool:
    return path.suffix in CONFIG_ENDINGS + DISPLAY_ENDINGS


def _read_file(path: Path, files: _DirectoryFiles) -> None:
    """Read one file; it becomes a note if nothing is in it and its ending is not usual."""
    try:
        read_by, parts = _saved_parts(path)
    except BadInput as error:
        if _has_usual_ending(path):
            raise
        files.notes.append(f"{path}: not read: {error.problem.what}")
        return
    for part in parts:
        if part.text:
            _add_config(path, part, read_by, files)
        elif part.display is not None:
            files.displays.append((path, part.device, part.display))
    if unread := [each for part in parts for each in part.unread]:
        files.notes.append(f"{path}: not read: {listing(map(_output_text, unread))}")


def _saved_parts(path: Path) -> tuple[str, Sequence[SavedPart]]:
    """Return the dialect of a file and its parts; raises BadInput where nothing is in it."""
    text = read_text(path)
    read_by = reader_of(text)
    parts = load_dialect(read_by).saved_parts(text)
    if not any(part.text or part.display or part.unread for part in parts):
        if path.suffix in DISPLAY_ENDINGS:
            how = in_words("save «neighbours of ports» there")
            raise BadInput("no output of a command that is read", file=str(path), how=how)
        load_dialect(read_by).parse(text, str(path))  # raises the reason
    return read_by, parts


def _output_text(output: UnreadOutput) -> str:
    return f"the output of `{output.command}` (line {output.line})"


def _add_config(path: Path, part: SavedPart, read_by: str, files: _DirectoryFiles) -> None:
    """Add the configuration of a file with its outputs; a second one of a switch is a problem."""
    try:
        parsed = load_dialect(read_by).parse(part.text, str(path))
    except NoConfigurationError as error:
        if _has_usual_ending(path):
            raise
        files.notes.append(f"{path}: not read: {error.problem.what}")
        return
    name, line = parsed.device.name, parsed.lines["name"]
    first = files.configs.get(name)
    if not _has_usual_ending(path) and _is_prose(parsed):
        files.notes.append(f"{path}: not read: most of its lines are no configuration")
    elif first is None:
        files.configs[name] = ConfigFile(path, parsed, part.text, read_by)
        if part.display is not None:
            files.displays.append((path, name, part.display))
    elif _has_usual_ending(path) or not _has_usual_ending(first.path):
        what = f"sysname {name} is also that of {first.path}"
        files.problems.append(Problem("", what, "keep one file a switch", str(path), line))
    else:
        files.notes.append(f"{path}: not read: sysname {name} is also that of {first.path}")


def _is_prose(parsed: ParsedConfig) -> bool:
    """Whether a text only quotes a configuration: it has no end, and little of it is understood."""
    return parsed.cut_off_at is not None and len(parsed.unmodelled) * 2 > parsed.total_lines


def read_text(path: Path, content: str = "a configuration", how: str = "") -> str:
    """Text of a file with plain line ends; raises BadInput with the line that is not text.

    UTF-8, or UTF-16 with a byte order mark, as some terminals save it. content: what the file
    should hold, and how to save that; by default a configuration.
    """
    try:
        if not path.is_file():
            what = "not a file" if path.exists() else "leads nowhere"
            raise BadInput(what, file=str(path), how=f"remove it, or put {content} there")
        with regular_file.open_regular(path) as file:
            data = file.read(LARGEST_BYTES + 1)
    except OSError as error:  # a loop of links, no right to read
        what = f"cannot be read: {error.strerror}"
        raise BadInput(what, file=str(path), how="check the file and its rights") from None
    return decoded(data, str(path), how)


def decoded(data: bytes, file: str, how: str = "") -> str:
    """Decode the bytes of a saved file; raises BadInput with the line that is not text."""
    if len(data) > LARGEST_BYTES:
        what = f"larger than {LARGEST_BYTES // 1024 // 1024} MB"
        so_much = how or f"no switch has so much; {dialect_of(None).how_to_save}"
        raise BadInput(what, how=so_much, file=file)
    how = how or dialect_of(None).how_to_save
    wide = UTF16.get(data[:2])
    if wide is None and (control := CONTROL.search(data)):
        what, line = f"a binary file (byte 0x{control[0][0]:02X})", _line(data, control.start())
        raise BadInput(what, how=how, file=file, line=line)
    try:
        text = data.decode(wide or "utf-8-sig")
    except UnicodeDecodeError as error:
        byte, start = data[error.start], error.start
        what = f"not UTF-{16 if wide else 8} (byte 0x{byte:02X})"
        line = 0 if wide else _line(data, start)
        raise BadInput(what, how="save it as UTF-8", file=file, line=line) from None
    if "\r" in text:
        text = re.sub(r"(?<!\r)\r+\n", "\n", text)
        text = text if "\n" in text else text.replace("\r", "\n")
    return PAGER.sub("", text) if "More --" in text else text


def _line(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1


def _outputs_by_switch(files: _DirectoryFiles) -> tuple[tuple[DisplayFile, ...], tuple[str, ...]]:
    """Outputs with their switches, and a note on each output of a switch without configuration."""
    stems = {config.path.stem: name for name, config in files.configs.items()}
    used: list[DisplayFile] = []
    notes: list[str] = []
    for path, prompt_name, display in files.displays:
        device = _owner(path, prompt_name, files.configs, stems)
        if device is None:
            whose = prompt_name or path.name.split(".")[0]
            notes.append(f"{path}: not used, for no configuration of {whose} is here")
        else:
            used.append(DisplayFile(path, device, display))
    return tuple(used), tuple(notes)


def _owner(
    path: Path, prompt_name: str | None, configs: Mapping[str, ConfigFile], stems: Mapping[str, str]
) -> str | None:
    """Switch of an output: by its prompt, else by the file's name, NAME.lldp or NAME.lldp.txt."""
    if prompt_name is not None:
        return prompt_name if prompt_name in configs else None
    name = path.name
    while "." in name:
        name = name.rpartition(".")[0]
        if name in configs:
            return name
        if name in stems:
            return stems[name]
    return None


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
    return subject_of_configs(read_directory(directory), directory.resolve().name, catalogue)


def subject_of_configs(saved: ConfigDirectory, name: str, catalogue: Catalogue) -> ReadNetwork:
    """Infer a Network from configurations and outputs; name: of the network."""
    table: dict[str, Position] = {}
    for config in saved.configs:
        table |= sources_of(config.parsed, str(config.path))
    for file in saved.displays:
        for neighbour in file.display.neighbours:
            position = Position(str(file.path), neighbour.line)
            table[f"{file.device}/interfaces[{neighbour.local}].lldp"] = position
    nodes = [_node(config, saved.displays, catalogue) for config in saved.configs]
    network = infer(name, nodes, _lldp_neighbours(saved))
    texts = {config.parsed.device.name: config.text for config in saved.configs}
    configs = {config.parsed.device.name: config for config in saved.configs}
    notes = (*coverage_notes(configs, nodes), *saved.notes)
    return ReadNetwork(network, Sources(table), texts, notes, unread=saved.notes)


def live_configs(texts: Mapping[str, str]) -> ConfigDirectory:
    """Configurations that were read from switches; the file's name is that of the switch."""
    configs = []
    for name, text in texts.items():
        read_by = reader_of(text)
        parsed = load_dialect(read_by).parse(text, live_file(name))
        configs.append(ConfigFile(Path(live_file(name)), parsed, text, read_by))
    return ConfigDirectory(tuple(configs))


def live_file(name: str) -> str:
    """Name of the running configuration of a switch, in the place of a file's."""
    return f"{name} (running)"


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
