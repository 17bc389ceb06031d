"""The schema that editors read is the one of the models (`make golden` writes it anew)."""

from __future__ import annotations

from rocefort.design.schema import SCHEMA_FILE, fabric_schema


def test_the_shipped_schema_is_the_generated_one(golden_update: bool) -> None:
    if golden_update:
        SCHEMA_FILE.write_text(fabric_schema(), encoding="utf-8")
    assert SCHEMA_FILE.read_text(encoding="utf-8") == fabric_schema(), "run `make golden`"
