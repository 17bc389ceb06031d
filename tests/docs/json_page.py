"""Page of docs/reference with the keys of the JSON that each command prints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property

from key_pages import Keys, Node, Part, sentence, table

from rocefort.site.outputs import OUTPUTS, PROBLEMS, PROGRESS, output_schema

HEAD = """\
# Keys of JSON output

`make golden` writes this page from the code.

Each object begins with `schema_version` and `command` ([JSON output and exit codes](output.md)). A link
leads to the keys of an object inside. [output.schema.json](output.schema.json) is the same for programs.
"""
HEADS = ("key", "type", "meaning")
FIRST = ("schema_version", "command")


class Outputs(Keys):
    """Keys of outputs; an object inside of them is a section with its name."""

    @cached_property
    def parts(self) -> Mapping[str, Part]:
        """Objects by name."""
        nodes = sorted(self.models.items())
        return {name: Part(name, node, [name]) for name, node in nodes if "properties" in node}

    def lines(self, node: Node) -> Iterator[tuple[str, ...]]:
        """Yield the cells of each key of an object."""
        for key, about in node["properties"].items():
            if key not in FIRST:
                models = [name for name, _ in self.references(about)]
                yield f"`{key}`", self.type_of(about), self.meaning(about, models)


def json_page() -> str:
    """Return the page."""
    schema = json.loads(output_schema())
    names = [*sorted(OUTPUTS), PROBLEMS, PROGRESS]
    commands = {name: schema["$defs"].pop(name.replace(" ", "-")) for name in names}
    outputs = Outputs({"properties": {}, "$defs": schema["$defs"]})
    parts = [HEAD, "## Commands\n"]
    for name, node in commands.items():
        parts.append(f"### {f'rocefort {name}' if name in OUTPUTS else name}\n")
        for kind in node.get("anyOf", (node,)):
            parts += [
                f"{sentence(kind.get('description', ''))}\n",
                table(HEADS, outputs.lines(kind)),
            ]
    parts.append("## Objects\n")
    for part in outputs.parts.values():
        about = sentence(part.node.get("description", ""))
        parts += [f"### {part.heading}\n", f"{about}\n", table(HEADS, outputs.lines(part.node))]
    return "\n".join(parts)
