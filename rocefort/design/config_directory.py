"""Read a directory of saved configurations and saved outputs of switches."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from napalm_cloudengine import regular_file
from rocefort.base.errors import BadInput, Problem
from rocefort.base.progress import tracked
from rocefort.dialects.choose import NoConfigurationError, dialect_of, load_dialect, reader_of
from rocefort.dialects.data import ParsedConfig, SavedDisplays, SavedPart, UnreadOutput
from rocefort.dialects.words import in_words
from rocefort.models.wording import listing

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
