"""Values on a command line: their words in help pages, and the names that complete them.

A completion that fails offers nothing: it never prints an error into a person's command line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypedDict

import typer

from napalm_cloudengine import regular_file

MODEL_KEY = re.compile(r"(?m)^model: *['\"]?([\w-]+)")
RULE_DECORATOR = re.compile(r'(?m)^@rule\(\s*"([A-Z]{3,8}\d{3})"')
FABRIC_FILE = "fabric.yaml"


def comma_separated(text: str) -> tuple[str, ...]:
    """Return the words of an option between its commas, without empty ones."""
    return tuple(filter(None, (word.strip() for word in text.split(","))))


def fabric_names() -> list[str]:
    """Return the names of the fabrics of this site; without a site those that are shipped."""
    from rocefort.base.repository import this_site

    return sorted(path.parent.name for path in this_site().inventory.glob(f"*/{FABRIC_FILE}"))


def names_in(fabric: str | None, kinds: tuple[str, ...]) -> list[str]:
    """Return the names of items in these lists of a fabric, by default of the only one."""
    document = _document(_file_of(fabric))
    return [name for kind in kinds for name in _names(document.get(kind))]


def models() -> list[str]:
    """Return the switch models of this site and those that are shipped."""
    from rocefort.base.repository import SHIPPED, this_site

    files = {path for site in (SHIPPED, this_site()) for path in site.hardware.glob("*.yaml")}
    return sorted({name for path in files for name in MODEL_KEY.findall(path.read_text("utf-8"))})


def rule_names() -> list[str]:
    """Return the families and the ids of the rules, as their modules declare them.

    Those of the site are among them; their files are read, and not run.
    """
    from rocefort.base.repository import PACKAGE, this_site

    site = this_site()
    own = () if site.is_clone else (site.root / "validators").glob("*.py")
    modules = (*(PACKAGE / "validators" / "rules").rglob("*.py"), *own)
    ids = {name for path in modules for name in RULE_DECORATOR.findall(path.read_text("utf-8"))}
    return sorted({name.rstrip("0123456789") for name in ids}) + sorted(ids)


def waves_of(plan: str | None) -> list[str]:
    """Return the names of the waves of a plan."""
    import json

    return [wave["name"] for wave in json.loads(regular_file.read_text(Path(plan or "")))["waves"]]


def _file_of(fabric: str | None) -> Path:
    from rocefort.base.repository import places_of, this_site

    if fabric is None:
        (only,) = this_site().inventory.glob(f"*/{FABRIC_FILE}")
        return only
    places = (*places_of(Path(fabric)), this_site().inventory / fabric)
    return next(file for place in places for file in (place / FABRIC_FILE, place) if file.is_file())


def _document(file: Path) -> dict[str, Any]:
    from rocefort.base.documents.read import read_document

    data = read_document(file).data  # PyYAML's loader in C ends the process at a deep nesting
    return data if isinstance(data, dict) else {}


def _names(items: object) -> Iterator[str]:
    for item in items if isinstance(items, list) else []:
        if isinstance(item, dict) and isinstance(item.get("name"), str):
            yield item["name"]


BOUNDS = {
    "Input should be greater than or equal to": "it is at least",
    "Input should be less than or equal to": "it is at most",
}
WRONG_CHOICE = re.compile(r"(?:Value error, )?(?P<what>'(?P<value>.*?)' is not one of .*?)\.?")


def propose(error: Any) -> None:  # noqa: ANN401 - an error of Click, or of Typer's copy
    """Add the nearest name to the message of an error, if there is one; put bounds in words."""
    for theirs, ours in BOUNDS.items():
        if getattr(error, "message", "").startswith(theirs):
            error.message = error.message.replace(theirs, ours)
    from rocefort.base.documents.suggest import near  # only for an error

    if names := getattr(error, "possibilities", None):
        error.possibilities = None
        given = getattr(error, "option_name", None) or error.command_name
        stems = {name.lstrip("-"): name for name in names}  # `--` makes any two options similar
        if similar := near(given.lstrip("-"), stems):
            error.message += f"; did you mean {stems[similar]!r}?"
    elif wrong := WRONG_CHOICE.fullmatch(getattr(error, "message", "")):
        choices = error.param.type_descriptor.choices or ()
        similar = near(wrong["value"], map(str, choices))
        error.message = wrong["what"] + (f"; did you mean {similar!r}?" if similar else "")


MOST = 1_000_000  # upper limit of a number with a fraction; infinity and nan exceed it
Completer = Callable[[typer.Context, str], list[str]]


class ValueWord(TypedDict):
    """Word for a value, with what completes it."""

    metavar: str
    autocompletion: Completer


class Word(TypedDict):
    """Word for a value that nothing completes, except names of files."""

    metavar: str


def _value(metavar: str, names: Callable[[dict[str, Any]], list[str]]) -> ValueWord:
    """Return a value with its word; names: from the parameters that are given already."""

    def complete(context: typer.Context, incomplete: str) -> list[str]:
        *before, last = incomplete.split(",")
        head = "".join(f"{each}," for each in before)
        given = {*before, *(context.params.get("names") or ())}
        try:
            found = [name for name in names(context.params) if name not in given]
        except Exception:  # noqa: BLE001 - a broken file has no names
            return []
        if last.islower() and not any(name.startswith(last) for name in found):
            found = [name.lower() for name in found]
        return [f"{head}{name}" for name in found if name.startswith(last)]

    return ValueWord(metavar=metavar, autocompletion=complete)


def _in_fabric(*kinds: str) -> Callable[[dict[str, Any]], list[str]]:
    return lambda given: names_in(_text(given.get("fabric")), kinds)


def _end_names(given: dict[str, Any]) -> list[str]:
    """Return the ends of a trace; the first of three arguments is a fabric."""
    ends, fabrics = list(given.get("ends") or ()), fabric_names()
    fabric = next((end for end in ends[:1] if end in fabrics), None)
    try:
        named = names_in(fabric, ("servers", "spines", "leaves", "segments"))
    except ValueError:  # several fabrics, and none is named yet
        return fabrics
    return named if ends else [*fabrics, *named]


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def table(names: Iterable[str]) -> ValueWord:
    """Return the value of `show` that is a table."""
    return _value("TABLE", lambda _: list(names))


FABRIC = _value("FABRIC", lambda _: fabric_names())
SWITCH = _value("SWITCH", _in_fabric("spines", "leaves"))
SERVER = _value("SERVER", _in_fabric("servers"))
BEAMLINE = _value("BEAMLINE", _in_fabric("beamlines"))
SERVERS = _value("SERVER,..", _in_fabric("servers"))
NAME = _value("NAME", _in_fabric("spines", "leaves", "servers", "beamlines"))
ENDS = _value("[FABRIC] SRC DST", _end_names)
PORT = _value("SWITCH[:PORT]", _in_fabric("spines", "leaves"))
MODEL = _value("MODEL", lambda _: models())
RULES = _value("RULES", lambda _: rule_names())
RULE = _value("RULE", lambda _: [name for name in rule_names() if name[-1].isdigit()])
SEGMENTS = _value("SEGMENT,..", _in_fabric("segments"))
WAVE = _value("WAVE", lambda given: waves_of(_text(given.get("sealed"))))
FILE = Word(metavar="FILE")
DIR = Word(metavar="DIR")
