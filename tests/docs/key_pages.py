"""Tables of every key of a document, from the models that read it, for pages of docs/reference."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from rocefort.base.documents.read import read_document
from rocefort.models.hardware.netbox import NOT_USED
from rocefort.models.wording import WHY

Node = Mapping[str, Any]  # of a JSON Schema

HEADS = ("key", "type", "unit", "default", "example", "meaning")
TYPES = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "true or false",
    "any": "any value",
}
UNITS = {  # by the end of a key
    "kbytes": "kbytes",
    "bytes": "bytes",
    "mtu": "bytes",
    "gbps": "Gb/s",
    "mbps": "Mb/s",
    "pps": "packets/s",
    "percent": "%",
    "ms": "ms",
    "us": "us",
    "s": "s",
    "min": "minutes",
    "h": "hours",
    "m": "m",
    "height": "rack units",
}
LONGEST_EXAMPLE = 60  # characters


class Part(NamedTuple):
    """Keys of one model, with the paths in the document that have them."""

    model: str  # empty for the document itself
    node: Node
    paths: list[str]
    owner: str = ""  # named by headings, where a page has several documents

    @property
    def heading(self) -> str:
        """Return the first path, with the kind of a model of several kinds."""
        kind = self.node["properties"].get("kind", {}).get("const")
        return f"`{self.paths[0]}`" + (f" of kind `{kind}`" if kind else "") + self.owner

    @property
    def anchor(self) -> str:
        """Return the anchor of the heading, as platforms for git and the site make it."""
        return re.sub(r"[^\w\- ]", "", self.heading.lower()).replace(" ", "-")


class Keys:
    """All keys of a document; examples come from the models, and from files that use the keys."""

    def __init__(
        self,
        model: type[BaseModel] | Node,
        files: Iterable[Path] = (),
        elsewhere: Mapping[str, str] | None = None,
        owner: str = "",
    ) -> None:
        """model: or its JSON Schema; elsewhere: pages with the keys of a model, by its name; owner: of the headings."""
        schema = model if isinstance(model, Mapping) else model.model_json_schema()
        self.schema: Node = schema
        self.models: Mapping[str, Node] = self.schema.get("$defs", {})
        self.elsewhere = elsewhere or {}
        self.owner = owner
        self.used: dict[tuple[str, str], Any] = {}
        for path in files:
            for name, key, value in self._values(self.schema, read_document(path).data):
                if value not in (None, "", []):
                    self.used.setdefault((name, key), value)

    def text(self) -> str:
        """Return a table of the document's keys, and a section for each model that it contains."""
        own = Part("", self.schema, [])
        sections = [
            f"{'###' if self.owner else '##'} {part.heading}\n\n{_about(part)}\n\n{self._table(part)}"
            for part in self.parts.values()
        ]
        return "\n".join((self._table(own), *sections))

    @cached_property
    def parts(self) -> Mapping[str, Part]:
        """Models by name, each before those that it contains."""
        parts: dict[str, Part] = {}

        def add(path: str, node: Node) -> None:
            for key, about in node["properties"].items():
                for model, suffix in self.references(about):
                    if model in self.elsewhere:
                        continue
                    where = f"{path}.{key}{suffix}".lstrip(".")
                    if model in parts:
                        parts[model].paths.append(where)
                    else:
                        parts[model] = Part(model, self.models[model], [where], self.owner)
                        add(where, self.models[model])

        add("", self.schema)
        return parts

    def rows(self, part: Part) -> Iterator[tuple[str, ...]]:
        """Yield the cells of each key of a model."""
        usual, *_ = part.node.get("anyOf", ({},))  # the first of several sets: that of a fabric
        required = {*part.node.get("required", ()), *usual.get("required", ())}
        for key, about in part.node["properties"].items():
            if about.get("description") == NOT_USED:
                continue
            models = [name for name, _ in self.references(about)]
            default = "required" if key in required else _default(about, bool(models))
            example = "" if models else self._example(part, key, about)
            unit = "" if models else unit_of(key)
            yield (
                f"`{key}`",
                self.type_of(about),
                unit,
                default,
                example,
                self.meaning(about, models),
            )

    def _table(self, part: Part) -> str:
        return table(HEADS, self.rows(part))

    def meaning(self, about: Node, models: list[str]) -> str:
        text = about.get("description") or next(
            (self.models[name].get("description", "") for name in models), ""
        )
        why = about.get(WHY)
        return f"{sentence(text).removesuffix('.')} ({why})." if why else sentence(text)

    def _example(self, part: Part, key: str, about: Node) -> str:
        kinds = (about, *self._targets(about))
        given = (example for kind in kinds for example in kind.get("examples", ()))
        values = (value for kind in kinds for value in _choices(kind))
        candidates = (next(given, None), self.used.get((part.model, key)))
        value = next((each for each in candidates if each is not None), about.get("default"))
        value = next(values, None) if value in (None, "", []) else value
        return "" if value is None else f"`{shown(value)}`"

    def type_of(self, about: Node) -> str:
        """Type of a key with its range or its values; a model is a link to its keys."""
        if "$ref" in about:
            name = about["$ref"].rpartition("/")[2]
            if "properties" not in self.models[name]:
                return self.type_of(self.models[name])
            page = self.elsewhere.get(name)
            return f"[keys]({page})" if page else f"[keys](#{self.parts[name].anchor})"
        if kinds := [each for each in _kinds(about) if each.get("type") != "null"]:
            return " or ".join(dict.fromkeys(self.type_of({**_bounds(about), **k}) for k in kinds))
        if values := _choices(about):
            return ", ".join(f"`{shown(value)}`" for value in values)
        of_type = about.get("type", "any")
        if of_type in {"array", "object"}:
            text = "list of " if of_type == "array" else "map of names to "
            inner = about.get("items") or next(iter(_map_values(about)), None)
            return text + (self.type_of(inner) if inner else "values")
        return TYPES[of_type] + range_of(about)

    def _targets(self, about: Node) -> Iterator[Node]:
        if "$ref" in about:
            yield self.models[about["$ref"].rpartition("/")[2]]
        for kind in _kinds(about):
            yield kind
            yield from self._targets(kind)

    def references(self, about: Node, suffix: str = "") -> Iterator[tuple[str, str]]:
        """Yield models of a key, with what follows the key in a path: `[]`, `.NAME`."""
        if "$ref" in about:
            name = about["$ref"].rpartition("/")[2]
            if "properties" in self.models[name]:
                yield name, suffix
        for kind in _kinds(about):
            yield from self.references(kind, suffix)
        if isinstance(about.get("items"), Mapping):
            yield from self.references(about["items"], f"{suffix}[]")
        for inner in _map_values(about):
            yield from self.references(inner, f"{suffix}.NAME")

    def _values(self, node: Node, data: object, name: str = "") -> Iterator[tuple[str, str, Any]]:
        """Yield model, key and value of the short values of a document."""
        if "$ref" in node:
            name = node["$ref"].rpartition("/")[2]
            node = self.models[name]
        children: list[tuple[Node, object]] = [(kind, data) for kind in _kinds(node)]
        if isinstance(data, Mapping):
            keys = node.get("properties", {})
            if data.keys() <= keys.keys():
                children += [(keys[key], value) for key, value in data.items()]
                short = {k: v for k, v in data.items() if len(shown(v)) <= LONGEST_EXAMPLE}
                yield from ((name, key, value) for key, value in short.items())
            children += [(inner, v) for inner in _map_values(node) for v in data.values()]
        elif isinstance(data, list) and "items" in node:
            children += [(node["items"], value) for value in data]
        for child, value in children:
            yield from self._values(child, value, name)


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table of Markdown."""
    lines = (heads, ("---",) * len(heads), *rows)
    cells = ((cell.replace("|", "\\|") for cell in line) for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def sentence(text: str) -> str:
    """Return a description on one line, as a sentence of Markdown."""
    line = re.sub(r"(?<!`)<([^`>]*)>", r"`<\1>`", " ".join(text.split()))
    return line if not line or line.endswith(".") else f"{line}."


def shown(value: object) -> str:
    """Return a value as in YAML, on one line."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.replace('"', "")


def unit_of(key: str) -> str:
    """Return the unit that a key names."""
    return next((unit for end, unit in UNITS.items() if re.search(rf"(^|_){end}$", key)), "")


def range_of(about: Node) -> str:
    """Return the range of a number: ` 2 to 4094`, ` above 0`."""
    low, over = about.get("minimum"), about.get("exclusiveMinimum")
    high, under = about.get("maximum"), about.get("exclusiveMaximum")
    top = f" to {number(high)}" if high is not None else ""
    top = f" to below {number(under)}" if under is not None else top
    if over is not None:
        return f" above {number(over)}{top}"
    if low is not None:
        return f" {number(low)}{top}" if top else f" from {number(low)}"
    return top


def number(value: float) -> str:
    """Return a number without a fraction of zero."""
    return str(value).removesuffix(".0")


def _about(part: Part) -> str:
    also = ", ".join(f"`{path}`" for path in part.paths[1:])
    return sentence(part.node.get("description", "")) + (f" Also in {also}." if also else "")


def _default(about: Node, has_keys: bool) -> str:
    if has_keys:
        return "of its keys" if "$ref" in about else "none"
    default = about.get("default")
    return "none" if default in (None, "", [], {}) else f"`{shown(default)}`"


def _choices(about: Node) -> list[Any]:
    return [about["const"]] if "const" in about else list(about.get("enum", ()))


def _kinds(about: Node) -> tuple[Node, ...]:
    return (*about.get("anyOf", ()), *about.get("oneOf", ()), *about.get("allOf", ()))


def _map_values(about: Node) -> list[Node]:
    inner = [about.get("additionalProperties"), *about.get("patternProperties", {}).values()]
    return [each for each in inner if isinstance(each, Mapping)]


def _bounds(about: Node) -> Node:
    return {key: value for key, value in about.items() if key.lower().endswith("imum")}
