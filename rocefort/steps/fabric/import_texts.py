"""Import a fabric from configurations, and list what the YAML does not represent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.importing.assumptions import SwitchText
from rocefort.design.importing.build import draft
from rocefort.design.importing.hardware import SwitchInputs, option_values, read_facts
from rocefort.design.importing.write import fabric_text, one_line
from rocefort.design.load.load import FABRIC_FILE, load_catalogue
from rocefort.design.load.profiles import profiles_of
from rocefort.design.new import write_new
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.data import ParsedConfig, sources_of
from rocefort.dialects.dialect import Dialect
from rocefort.errors import BadInput, Problem, Refused
from rocefort.models.network.network import Node, Sources, TextLine
from rocefort.models.rollout.compare import compare
from rocefort.models.rollout.edits import Edit
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Block, Items, Note, Section
from rocefort.rollout.planning.secrets import with_known_secrets
from rocefort.site import SHIPPED, Site, site_of
from rocefort.steps.fabric.config_directory import ConfigDirectory, ConfigFile, read_directory
from rocefort.steps.fabric.subject import board_of


@dataclass(frozen=True)
class ImportResult:
    """An imported fabric, and the points that its author must review.

    assumed: values that no text contains, with their YAML paths. differences: values in which
    switches differ. left: lines that the fabric does not derive, or derives differently, by file
    and line. added: values that the fabric would add to the switches.
    """

    path: Path
    assumed: tuple[str, ...]
    differences: tuple[str, ...]
    left: tuple[str, ...]
    added: tuple[str, ...]


def facts_of(hardware: Sequence[str], software: Sequence[str], table: Path | None) -> SwitchInputs:
    """Switch facts from the user: options, then the rows of a CSV file."""
    options = SwitchInputs(
        option_values("--hardware", hardware), option_values("--software", software)
    )
    if table is None:
        return options
    try:
        text = table.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput("not UTF-8", where=str(table), how="save it as UTF-8") from None
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", where=str(table)) from None
    return options.over(read_facts(text, str(table)))


def import_fabric(directory: Path, out: Path, facts: SwitchInputs) -> ImportResult:
    """Write out/fabric.yaml from a directory of configurations, atomically.

    Raises Refused if the file exists, and BadInput if the texts do not describe a fabric.
    """
    if (out / FABRIC_FILE).exists():
        how = "choose another name, or remove it first"
        raise Refused("is there already", where=str(out / FABRIC_FILE), how=how)
    name = out.absolute().name
    site = site_of(out) or SHIPPED
    saved = read_directory(directory)
    sources = [_source(config, saved) for config in saved.configs]
    data, notes = draft(name, sources, facts, load_catalogue(site), profiles_of(site))
    text = fabric_text(data, notes, directory.name)
    derived = _derived_import(text, out, site)
    left, added = _not_carried(derived, saved.configs)
    path = write_new(name, text + _comments(left, added), out.absolute().parent)
    return ImportResult(path, tuple(notes.sentences()), tuple(notes.differences), left, added)


def _source(config: ConfigFile, saved: ConfigDirectory) -> SwitchText:
    """A switch from its text, with model and release from its outputs."""
    parsed = config.parsed
    own = [file.display for file in saved.displays if file.device == parsed.device.name]
    model = next((display.model for display in own if display.model), board_of(parsed))
    software = next((display.software for display in own if display.software), parsed.software)
    return SwitchText(parsed.device, str(config.path), software, model)


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
                problems=[
                    Problem(p.where.replace(str(path), file), p.what, p.how, p.line)
                    for p in error.problems
                ]
            ) from None


def _not_carried(
    derived: DerivedNetwork, configs: Sequence[ConfigFile]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(lines that the fabric does not contain, values that it adds), switch by switch."""
    files = {c.parsed.device.name: (c.path, c.parsed) for c in configs}
    left: list[str] = []
    added: list[str] = []
    for node in derived.network.nodes:
        path, parsed = files[node.name]
        for edit in _edits(node, parsed):
            if edit.before is None:
                added.append(f"{node.name}: {edit.path} {edit.after_text}")
            else:
                left.append(f"{_edit_place(path, parsed, edit)}: {_edit_text(edit)}")
        dialect = dialect_of(node)
        left += [f"{path}:{line.line}: {_unmodelled(line, dialect)}" for line in parsed.unmodelled]
    return tuple(left), tuple(added)


def _unmodelled(line: TextLine, dialect: Dialect) -> str:
    """A line that is not in the fabric, and the reason: command known or not understood."""
    why = "is known, but no fabric sets it" if dialect.command_of(line) else "is not understood"
    return f"{' / '.join((*line.path, line.text))} {why}"


def _edits(node: Node, parsed: ParsedConfig) -> Iterator[Edit]:
    """Differences between the text and the fabric's switch."""
    if node.family is None:
        return
    running = dialect_of(node).normal_form(parsed.device, node.family)
    running = with_known_secrets(running, node.device, ())
    yield from compare(running, node.device)


def _edit_place(path: Path, parsed: ParsedConfig, edit: Edit) -> str:
    position = Sources(sources_of(parsed, str(path))).find(parsed.device.name, edit.path)
    return f"{path}:{position.line}" if position else str(path)


def _edit_text(edit: Edit) -> str:
    if edit.after is None:
        return f"{edit.path} {edit.before_text} is not carried over"
    return f"{edit.path} {edit.before_text} becomes {edit.after_text}"


def _comments(left: Sequence[str], added: Sequence[str]) -> str:
    """Comments at the end of the YAML: lines that it does not contain, values that it adds."""
    lines: list[str] = []
    for head, rows in (
        ("Lines of the configurations that this fabric does not have:", left),
        ("What this fabric adds to the configurations:", added),
    ):
        if rows:
            lines += ["", f"# {head}", *(f"#   {one_line(row)}" for row in rows)]
    return "\n".join([*lines, ""]) if lines else ""


def imported_report(done: ImportResult) -> Iterator[Block]:
    """Report of an import: values assumed, lines not carried over, values added."""
    for noun, what, rows in (
        ("value", " assumed", done.assumed),
        ("difference", " between switches", done.differences),
        ("line", " not carried over", done.left),
        ("addition", "", done.added),
    ):
        if rows:
            items = Items(tuple(map(one_line, rows)))
            yield Section(f"{count_of(len(rows), noun)}{what}:", (items,))
    yield Note(f"written to {done.path}")
