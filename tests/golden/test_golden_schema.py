"""The schemas for editors and programs agree with the models (`make golden` rewrites them)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from outputs import SCHEMA_FILE as OUTPUT_SCHEMA_FILE

from rocefort.design.load.documents import (
    DEMAND_SCHEMA_FILE,
    SCHEMA_FILE,
    demand_schema,
    fabric_schema,
)
from rocefort.site.outputs import output_schema


@pytest.mark.parametrize(
    ("file", "schema"),
    [
        (SCHEMA_FILE, fabric_schema),
        (DEMAND_SCHEMA_FILE, demand_schema),
        (OUTPUT_SCHEMA_FILE, output_schema),
    ],
)
def test_the_shipped_schema_is_the_generated_one(
    golden_update: bool, file: Path, schema: Callable[[], str]
) -> None:
    if golden_update:
        file.write_text(schema(), encoding="utf-8")
    assert file.read_text(encoding="utf-8") == schema(), "run `make golden`"
