"""Import a fabric from configurations: its YAML with comments, and what it does not represent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from rocefort.base.documents.read import YamlPath
from rocefort.base.errors import BadInput, Problem, Refused
from rocefort.base.repository import FABRIC_FILE, SHIPPED, Site, site_of
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.importing.assumptions import Data, Notes, SwitchText
from rocefort.design.importing.bgp_graph import NoFabricError
from rocefort.design.importing.build import draft
from rocefort.design.importing.hardware import SwitchInputs, option_values, read_facts
from rocefort.design.load.documents import MODELINE, load_catalogue
from rocefort.design.load.profiles import profiles_of
from rocefort.design.new import write_new
from rocefort.design.results import ImportedFabric
from rocefort.design.subject import (
    ConfigDirectory,
    ConfigFile,
    hardware_of,
    read_directory,
    read_text,
)
from rocefort.dialects.choose import dialect_of, load_dialect
from rocefort.dialects.data import ParsedConfig, sources_of
from rocefort.dialects.designs import designs_of
from rocefort.dialects.dialect import Dialect
from rocefort.dialects.network_text import in_one_spelling
from rocefort.dialects.secrets import with_known_secrets
from rocefort.models.change.compare import compare
from rocefort.models.change.edits import Edit
from rocefort.models.device.device import Device
from rocefort.models.hardware.hardware import Family, Hardware
from rocefort.models.network.network import Node, Sources, TextLine
from rocefort.models.wording import count_of, listing, names_text
from rocefort.reports.blocks import Block, Items, Note, Section, Tone
from rocefort.reports.wording import group_items, name_ranges

WIDTH = 96
PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9._/-]*")
ADDRESS = re.compile(r"\d+(\.\d+){3}(/\d+)?")
PORT = re.compile(r"(?<!\d)\d+GE\d+/\d+/\d+")
KEYWORDS = ("true", "false", "null")
ORDER = (
    *("fabric", "capacity", "pools", "routing", "mtu", "cables", "lossless", "profiles"),
    *("segments", "spines", "leaves", "links_per_pair", "links", "servers", "management"),
    *("security", "services", "rdma", "rollout"),
)
HEADS: Mapping[str, str] = {
    "capacity": "Allocation is sized by this. Assumed: what is in use; raise it before it grows.",
    "routing": "EBGP as the switches have it.",
    "cables": "Metres; no configuration contains them.",
    "segments": "One a VLAN of the leaves' gateways, and the out-of-band network.",
    "spines": "An id is permanent. Pins: what allocation would give otherwise.",
    "links": "Links whose ports, subnets or passwords are not those that ids give.",
    "servers": "By the descriptions of leaf ports; addresses are by port, not from texts.",
    "security": "Passwords are on the switches, not here.",
    "rdma": "Assumed: replace it by what a first measurement gives.",
}


def fabric_text(data: Data, notes: Notes, origin: str) -> str:
    """Return the text of fabric.yaml; origin: the directory of the configurations."""
    lines = [
        MODELINE,
        "#",
        f"# Imported from the configurations in {one_line(origin)}. Values that no text contains",
        "# are marked `assumed`: replace them by those of your site.",
        *(f"# Switches differ in {one_line(line)}." for line in notes.differences),
    ]
    for key in ORDER:
        value = data.get(key)
        if value in (None, {}, []):
            continue
        if key != "fabric" and (key in HEADS or isinstance(value, dict | list)):
            lines.append("")
        if key in HEADS:
            lines.append(f"# {HEADS[key]}")
        lines += _entry(key, value, (key,), notes, "")
    return "\n".join(lines) + "\n"


def one_line(text: str) -> str:
    """Replace characters that would end a comment."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _entry(key: str, value: object, path: YamlPath, notes: Notes, indent: str) -> Iterator[str]:
    """Yield `key: value`, on one line if it fits, with a comment if the value is assumed."""
    why = notes.assumed.get(path)
    comment = f"  # assumed: {one_line(why)}" if why else ""
    head, inline = f"{indent}{_word(key)}:", _inline(value)
    block = isinstance(value, dict | list) and bool(value) and not indent
    if not block and _fits(value, path, notes, len(head) + len(inline)):
        yield f"{head} {inline}{comment}"
        return
    yield head + comment
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _entry(str(name), item, (*path, name), notes, indent + "  ")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _item(item, (*path, index), notes, indent + "  ")


def _fits(value: object, path: YamlPath, notes: Notes, width: int) -> bool:
    """Whether a value fits on one line: words, and short collections without a comment inside."""
    if not isinstance(value, dict | list):
        return True
    rows = value.values() if isinstance(value, dict) else value
    flat = not any(isinstance(row, dict | list) for row in rows)
    noted = any(len(at) > len(path) and at[: len(path)] == path for at in notes.assumed)
    return flat and not noted and width < WIDTH


def _item(value: object, path: YamlPath, notes: Notes, indent: str) -> Iterator[str]:
    inline = _inline(value)
    if not isinstance(value, dict) or _fits(value, path, notes, len(indent) + len(inline) + 2):
        yield f"{indent}- {inline}"
        return
    lines: list[str] = []
    for name, item in value.items():
        lines += _entry(str(name), item, (*path, name), notes, indent + "  ")
    first, *rest = lines
    yield f"{indent}- {first[len(indent) + 2 :]}"
    yield from rest


def _inline(value: object) -> str:
    """Return a value in flow style."""
    if isinstance(value, dict):
        rows = (f"{_word(str(name))}: {_inline(item)}" for name, item in value.items())
        return "{" + ", ".join(rows) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return _word(str(value))


def _word(text: str) -> str:
    """Return text as a YAML word, in quotes if YAML would read another value."""
    plain = PLAIN.fullmatch(text) and text.lower() not in KEYWORDS
    if plain or ADDRESS.fullmatch(text) or PORT.fullmatch(text):
        return text
    return json.dumps(text)


NOT_WHOLE = "this import is not the whole truth"


def facts_of(hardware: Sequence[str], software: Sequence[str], table: Path | None) -> SwitchInputs:
    """Switch facts from the user: options, then the rows of a CSV file."""
    options = SwitchInputs(
        option_values("--hardware", hardware), option_values("--software", software)
    )
    if table is None:
        return options
    text = read_text(table, "a table of switches", "save it as CSV, UTF-8")
    return options.over(read_facts(text, str(table)))


def import_fabric(directory: Path, out: Path, facts: SwitchInputs) -> ImportedFabric:
    """Write out/fabric.yaml from a directory of configurations, atomically.

    Raises Refused if the file exists, and BadInput if the texts do not describe a fabric.
    """
    if (out / FABRIC_FILE).exists():
        how = "choose another name, or remove it first"
        raise Refused("is there already", file=str(out / FABRIC_FILE), how=how)
    name = out.absolute().name
    site = site_of(out) or SHIPPED
    saved = read_directory(directory)
    read = [(load_dialect(config.read_by), config.parsed.device, None) for config in saved.configs]
    sources = [
        _source(config, device, saved)
        for config, device in zip(saved.configs, in_one_spelling(read), strict=True)
    ]
    designs = designs_of(
        (config.parsed.device.name, load_dialect(config.read_by), config.parsed.unmodelled)
        for config in saved.configs
    )
    try:
        data, notes = draft(name, sources, facts, load_catalogue(site), profiles_of(site))
    except BadInput as error:
        foreign = [Problem("", str(design), file=str(directory)) for design in designs]
        # Where no fabric is in the texts, another design is the reason.
        others = error.problems if not (foreign and isinstance(error, NoFabricError)) else ()
        raise BadInput(problems=[*others, *foreign]) from None
    text = fabric_text(data, notes, directory.name)
    derived = _derived_import(text, out, site)
    left, added = _not_carried(derived, saved.configs)
    rows = tuple(_together(left))
    sentences = tuple(f"{design}; {NOT_WHOLE}" for design in designs)
    text += _comments(sentences, rows, tuple(_together(added)))
    path = write_new(name, text, out.absolute().parent)
    return ImportedFabric(
        file=str(path),
        whole=not (rows or designs),
        designs=sentences,
        notes=(*facts.notes, *_unlisted(facts, saved.configs), *saved.notes),
        assumed=tuple(notes.sentences()),
        differences=tuple(notes.differences),
        left=rows,
        lines_left=len(left),
        added=tuple(_together(added)),
    )


def _unlisted(facts: SwitchInputs, configs: Sequence[ConfigFile]) -> Iterator[str]:
    """Note on rows of a table that are of no switch with a text."""
    names = {config.parsed.device.name for config in configs}
    if others := [name for name in facts.listed if name not in names]:
        rows = count_of(len(others), "row")
        yield f"--switches: {rows} of devices without a configuration: {names_text(others)}"


def _source(config: ConfigFile, device: Device, saved: ConfigDirectory) -> SwitchText:
    """A switch from its text, with model and release from its outputs."""
    model, software = hardware_of(config, saved.displays)
    unlike = partial(_unlike, config)
    return SwitchText(device, str(config.path), software, model, unlike)


def _unlike(config: ConfigFile, hardware: Hardware, family: Family) -> int:
    """Number of lines that a hardware would write for a switch, and its text does not have."""
    dialect = load_dialect(family.dialect)
    try:
        rendered = dialect.render(config.parsed.device, family, hardware)
    except BadInput:  # it cannot have a value of this switch
        return len(config.text)
    own = set(dialect.lines(config.text))
    return sum(line not in own for line in dialect.lines(rendered))


def _derived_import(text: str, out: Path, site: Site) -> DerivedNetwork:
    """Derive the fabric of a text before it is written; problems name the file to be written."""
    with TemporaryDirectory() as scratch:
        path = Path(scratch) / FABRIC_FILE
        path.write_text(text, encoding="utf-8")
        try:
            return derive(path, site)
        except BadInput as error:
            file = f"{out / FABRIC_FILE} (not written)"
            raise BadInput(
                problems=[replace(p, file=p.file.replace(str(path), file)) for p in error.problems]
            ) from None


@dataclass(frozen=True)
class _SwitchSentence:
    """Sentence on one switch; place: its file and line, or its name."""

    switch: str
    place: str
    sentence: str


def _not_carried(
    derived: DerivedNetwork, configs: Sequence[ConfigFile]
) -> tuple[list[_SwitchSentence], list[_SwitchSentence]]:
    """(lines that the fabric does not contain, values that it adds), switch by switch."""
    files = {c.parsed.device.name: (c.path, c.parsed) for c in configs}
    left: list[_SwitchSentence] = []
    added: list[_SwitchSentence] = []
    for node in derived.network.nodes:
        path, parsed = files[node.name]
        for edit in _edits(node, parsed):
            if edit.before is None:
                added.append(
                    _SwitchSentence(node.name, node.name, f"{edit.path} {edit.after_text}")
                )
            else:
                place = _edit_place(path, parsed, edit)
                left.append(_SwitchSentence(node.name, place, _edit_text(edit)))
        dialect = dialect_of(node)
        left += [
            _SwitchSentence(
                node.name, f"{path}:{line.line}", _unmodelled(line, dialect, node.family)
            )
            for line in parsed.unmodelled
            if not dialect.written_by_itself(line, node.family)
            and dialect.foreign_design(line) is None  # else it is one of `designs`
        ]
    return left, added


def _together(rows: Sequence[_SwitchSentence]) -> Iterator[str]:
    """Rows with equal sentences as one, with the first place and all switches."""
    for sentence, same in group_items(rows, lambda row: row.sentence).items():
        names = list(dict.fromkeys(row.switch for row in same))
        if len(names) == 1:
            yield from (f"{row.place}: {sentence}" for row in same)
        else:
            shown = f"{count_of(len(names), 'switch')}: {listing(name_ranges(names))}"
            yield f"{same[0].place}: {sentence} ({shown})"


def _unmodelled(line: TextLine, dialect: Dialect, family: Family | None) -> str:
    """A line that is not in the fabric, and the reason: command known or not understood."""
    why = (
        "is known, but no fabric sets it"
        if dialect.command_of(line, family)
        else "is not understood"
    )
    return f"{line.shown_whole} {why}"


def _edits(node: Node, parsed: ParsedConfig) -> Iterator[Edit]:
    """Differences between the text and the fabric's switch."""
    if node.family is None:
        return
    dialect = dialect_of(node)
    running = dialect.normal_form(parsed.device, node.family)
    running = with_known_secrets(running, node.device, ())
    yield from compare(running, dialect.spelled_as(node.device, running, node.family))


def _edit_place(path: Path, parsed: ParsedConfig, edit: Edit) -> str:
    position = Sources(sources_of(parsed, str(path))).find(parsed.device.name, edit.path)
    return f"{path}:{position.line}" if position else str(path)


def _edit_text(edit: Edit) -> str:
    if edit.after is None:
        return f"{edit.path} {edit.before_text} is not carried over"
    return f"{edit.path} {edit.before_text} becomes {edit.after_text}"


def _comments(designs: Sequence[str], left: Sequence[str], added: Sequence[str]) -> str:
    """Comments at the end of the YAML: what it does not contain, and values that it adds."""
    lines: list[str] = []
    for head, rows in (
        ("Other designs in the configurations:", designs),
        ("Lines of the configurations that this fabric does not have:", left),
        ("What this fabric adds to the configurations:", added),
    ):
        if rows:
            lines += ["", f"# {head}", *(f"#   {one_line(row)}" for row in rows)]
    return "\n".join([*lines, ""]) if lines else ""


def imported_report(done: ImportedFabric) -> Iterator[Block]:
    """Report of an import: other designs, values assumed, lines not carried over, values added."""
    for design in done.designs:
        yield Note(one_line(design), Tone.WARNING)
    yield from map(Note, done.notes)
    for title, rows in (
        (f"{count_of(len(done.assumed), 'value')} assumed", done.assumed),
        (f"{count_of(len(done.differences), 'difference')} between switches", done.differences),
        (f"{count_of(done.lines_left, 'line')} not carried over", done.left),
        (count_of(len(done.added), "addition"), done.added),
    ):
        if rows:
            yield Section(f"{title}:", (Items(tuple(map(one_line, rows))),))
    yield Note(f"written to {done.file}")
