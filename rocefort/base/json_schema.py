"""JSON Schema of a document, for completion and checks in editors."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from rocefort import __version__
from rocefort.models.wording import VALUE, WHY, in_range

_ADDRESS = r"\d{1,3}(\.\d{1,3}){3}"
# Formats that JSON Schema does not have.
_PATTERNS = {
    "ipv4network": f"^{_ADDRESS}/[0-9]{{1,2}}$",
    "ipv4interface": f"^{_ADDRESS}/[0-9]{{1,2}}$",
}
_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


def schema_of(model: type[BaseModel], name: str) -> str:
    """Return the schema as JSON (draft 2020-12), with a final newline; it is deterministic.

    It requires addresses with a length in the usual form, 10.0.0.0/24. The loader also accepts
    other forms.
    """
    head = schema_head(name, f"Rocefort {name}")
    schema = model.model_json_schema(schema_generator=_Schema)
    return json.dumps(_closed(head | {**schema, **head}), indent=2) + "\n"


def schema_head(name: str, title: str) -> dict[str, str]:
    """Return the first keys of a schema: its draft, its id with the version of Rocefort, a title.

    The id is a URN (RFC 8141): it identifies a schema, and nothing is downloaded.
    """
    identity = f"urn:rocefort:schema:{name}:{__version__}"
    return {"$schema": GenerateJsonSchema.schema_dialect, "$id": identity, "title": title}


class _Schema(GenerateJsonSchema):
    """Pydantic's schema without parts that a user of an editor does not need."""

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 - pydantic's hook
        """Leave out titles that repeat the key."""
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Keep defaults that a person could write: words and numbers."""
        generated = super().default_schema(schema)
        if not isinstance(generated.get("default"), (str, int, float)):
            generated.pop("default", None)
        return generated


def _closed(node: Any) -> Any:  # noqa: ANN401 - walks JSON
    """Give address formats a pattern, close maps whose keys have one, and describe ranges."""
    if isinstance(node, list):
        return [_closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    out = {key: _closed(value) for key, value in node.items()}
    if isinstance(out.get("format"), str) and out["format"] in _PATTERNS:
        out["pattern"] = _PATTERNS[out.pop("format")]
    if value := out.pop(VALUE, None):
        every = (out, *out.get("anyOf", ()))
        bounds = {name: one[key] for one in every for name, key in _BOUNDS.items() if key in one}
        range_ = in_range(value, out.pop(WHY, ""), bounds)
        sentence = f"{range_[:1].upper()}{range_[1:]}."
        out["description"] = " ".join(filter(None, (out.get("description"), sentence)))
    if "patternProperties" in out:
        out["additionalProperties"] = False
    return out
