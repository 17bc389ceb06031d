"""Subjects of judgement: a fabric by way of its text, or a directory of text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rocefort.design.derive import Derived, derive
from rocefort.design.infer import infer
from rocefort.dialects.vrp.parse import Parsed, parse, sources_of
from rocefort.dialects.vrp.texts import read_back, render_all
from rocefort.errors import BadInput, Problem
from rocefort.models.network import Network, Node, Position, Sources

CONFIG_ENDINGS = (".cfg", ".txt", ".conf")


@dataclass(frozen=True)
class Subject:
    """What is judged: a Network whose Devices were read from text, and where values stand."""

    network: Network
    sources: Sources
    texts: Mapping[str, str]


def subject_of(fabric: Path | None, configs: Path | None) -> Subject:
    """A fabric by way of its rendered text, or a directory of text."""
    if (fabric is None) == (configs is None):
        raise BadInput(
            "name either a fabric or --configs DIR", how="for example: rocefort check heps"
        )
    if configs is not None:
        return subject_of_texts(configs)
    return subject_of_derived(derive(fabric or Path()))


def subject_of_derived(derived: Derived) -> Subject:
    """Render, read back, and judge what was read: what is verified is what ships."""
    texts = render_all(derived.network)
    return Subject(read_back(derived.network, texts), derived.sources, texts)


def subject_of_texts(directory: Path) -> Subject:
    """Infer a Network from a directory of configurations."""
    table: dict[str, Position] = {}
    texts: dict[str, str] = {}
    nodes: list[Node] = []
    for path, parsed, text in parse_directory(directory):
        nodes.append(Node(device=parsed.device, unmodelled=parsed.unmodelled))
        table |= sources_of(parsed, str(path))
        texts[parsed.device.name] = text
    return Subject(infer(directory.name, nodes), Sources(table), texts)


def parse_directory(directory: Path) -> list[tuple[Path, Parsed, str]]:
    """Parse every configuration of a directory; all problems together, sysnames unique."""
    if not directory.is_dir():
        raise BadInput("no such directory", where=str(directory), how="check the path")
    paths = sorted(p for p in directory.iterdir() if p.suffix in CONFIG_ENDINGS)
    if not paths:
        endings = ", ".join(f"*{ending}" for ending in CONFIG_ENDINGS)
        raise BadInput("no configurations in it", where=str(directory), how=f"put {endings} there")
    problems: list[Problem] = []
    found: dict[str, tuple[Path, Parsed, str]] = {}
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
            parsed = parse(text, str(path))
        except UnicodeDecodeError:
            problems.append(Problem(str(path), "not UTF-8", "save it as UTF-8"))
            continue
        except BadInput as error:
            problems += error.problems
            continue
        name = parsed.device.name
        if name in found:
            what = f"sysname {name} is also that of {found[name][0]}"
            problems.append(Problem(str(path), what, "keep one file a switch"))
        found[name] = (path, parsed, text)
    if problems:
        raise BadInput(problems=problems)
    return list(found.values())


def running_texts(source: Path) -> dict[str, str]:
    """Texts by sysname: of a directory of configurations, or rendered from a fabric."""
    if source.is_dir() and not (source / "fabric.yaml").exists():
        return {parsed.device.name: text for _, parsed, text in parse_directory(source)}
    return render_all(derive(source).network)


def write_texts(texts: Mapping[str, str], directory: Path) -> list[Path]:
    """Write NAME.cfg a switch, each whole or not at all."""
    return write_files({f"{name}.cfg": text for name, text in texts.items()}, directory)


def write_files(files: Mapping[str, str], directory: Path) -> list[Path]:
    """Write files by name into a directory, each whole or not at all."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            part = directory / f".{name}.part"
            part.write_text(text, encoding="utf-8")
            part.replace(directory / name)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", where=str(directory)) from None
    return [directory / name for name in files]


def service_of(address: str) -> tuple[str, int]:
    """`HOST:PORT` of a service."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise BadInput(f"{address!r} is not HOST:PORT", how="for example: 127.0.0.1:9996")
    return host, int(port)
