"""Read a directory of saved configurations and saved outputs of switches."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from napalm_cloudengine import regular_file
from rocefort.dialects.choose import dialect_of, load_dialect, reader_of
from rocefort.dialects.data import Display, ParsedConfig
from rocefort.dialects.words import in_words
from rocefort.errors import BadInput, Problem
from rocefort.progress import tracked

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
    display: Display


@dataclass(frozen=True)
class ConfigDirectory:
    """Configurations and outputs of a directory; notes: a sentence on each unused file."""

    configs: tuple[ConfigFile, ...]
    displays: tuple[DisplayFile, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass
class _DirectoryFiles:
    configs: dict[str, ConfigFile] = field(default_factory=dict)
    displays: list[tuple[Path, Display]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_directory(directory: Path) -> ConfigDirectory:
    """Read every configuration and output of a directory, in order of names.

    Raises BadInput with all problems: files that cannot be read or are binary, text of other
    systems, one sysname twice, an output without its switch.
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
        raise BadInput("no configurations in it", file=str(directory), how=how)
    displays, notes = _outputs_by_switch(files)
    return ConfigDirectory(tuple(files.configs.values()), displays, notes)


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
    return [path for path in paths if path.suffix in CONFIG_ENDINGS + DISPLAY_ENDINGS]


def _read_file(path: Path, files: _DirectoryFiles) -> None:
    text = read_text(path)
    read_by = reader_of(text)
    dialect = load_dialect(read_by)
    display = dialect.read_display(text)
    if display is not None and not dialect.is_config(text):
        files.displays.append((path, display))
        return
    if path.suffix in DISPLAY_ENDINGS:
        how = in_words("save «neighbours of ports» there")
        raise BadInput("no output of a command that is read", file=str(path), how=how)
    parsed = dialect.parse(text, str(path))
    first = files.configs.get(parsed.device.name)
    if first is not None:
        line = parsed.lines["name"]
        what = f"sysname {parsed.device.name} is also that of {first.path}"
        raise BadInput(what, how="keep one file a switch", file=str(path), line=line)
    files.configs[parsed.device.name] = ConfigFile(path, parsed, text, read_by)


def read_text(path: Path) -> str:
    """Text of a file with plain line ends; raises BadInput with the line that is not text.

    UTF-8, or UTF-16 with a byte order mark, as some terminals save it.
    """
    try:
        if not path.is_file():
            what = "not a file" if path.exists() else "leads nowhere"
            raise BadInput(what, file=str(path), how="remove it, or put a configuration there")
        with regular_file.open_regular(path) as file:
            data = file.read(LARGEST_BYTES + 1)
    except OSError as error:  # a loop of links, no right to read
        what = f"cannot be read: {error.strerror}"
        raise BadInput(what, file=str(path), how="check the file and its rights") from None
    return decoded(data, str(path))


def decoded(data: bytes, file: str) -> str:
    """Decode the bytes of a configuration; raises BadInput with the line that is not text."""
    how = dialect_of(None).how_to_save
    if len(data) > LARGEST_BYTES:
        what = f"larger than {LARGEST_BYTES // 1024 // 1024} MB"
        raise BadInput(what, how=f"no switch has so much; {how}", file=file)
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
        text = re.sub(r"\r+\n", "\n", text)
        text = text if "\n" in text else text.replace("\r", "\n")
    return PAGER.sub("", text) if "More --" in text else text


def _line(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1


def _outputs_by_switch(files: _DirectoryFiles) -> tuple[tuple[DisplayFile, ...], tuple[str, ...]]:
    """Outputs with their switches, and a note on each output of a switch without configuration."""
    stems = {config.path.stem: name for name, config in files.configs.items()}
    used: list[DisplayFile] = []
    notes: list[str] = []
    for path, display in files.displays:
        device = _owner(path, display, files.configs, stems)
        if device is None:
            whose = display.device or path.name.split(".")[0]
            notes.append(f"{path}: not used, for no configuration of {whose} is here")
        else:
            used.append(DisplayFile(path, device, display))
    return tuple(used), tuple(notes)


def _owner(
    path: Path, display: Display, configs: Mapping[str, ConfigFile], stems: Mapping[str, str]
) -> str | None:
    """Switch of an output: by its prompt, else by the file's name, NAME.lldp or NAME.lldp.txt."""
    if display.device is not None:
        return display.device if display.device in configs else None
    name = path.name
    while "." in name:
        name = name.rpartition(".")[0]
        if name in configs:
            return name
        if name in stems:
            return stems[name]
    return None
