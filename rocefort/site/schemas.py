"""JSON Schemas by document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rocefort.base.documents.schema import schema_of
from rocefort.base.features import optional_module
from rocefort.base.options import SchemaDocument
from rocefort.design.load.documents import (
    catalogue_schema,
    demand_schema,
    fabric_schema,
    profiles_schema,
)
from rocefort.fleet.connections import connections_schema
from rocefort.site.outputs import output_schema
from rocefort.site.settings import settings_schema


def scenario_schema() -> str:
    """Return the schema of a scenario of `tune simulate`."""
    scenario = optional_module("rocefort.tune.scenario", "scenarios are files of `tune`")
    return schema_of(scenario.Scenario, "scenario")


SCHEMAS: Final[Mapping[SchemaDocument, Callable[[], str]]] = {
    SchemaDocument.FABRIC: fabric_schema,
    SchemaDocument.DEMAND: demand_schema,
    SchemaDocument.PROFILES: profiles_schema,
    SchemaDocument.CATALOGUE: catalogue_schema,
    SchemaDocument.CONNECTIONS: connections_schema,
    SchemaDocument.SETTINGS: settings_schema,
    SchemaDocument.SCENARIO: scenario_schema,
    SchemaDocument.OUTPUT: output_schema,
}


def schema_text(document: SchemaDocument) -> str:
    """Return the schema of a document as JSON, with a final newline."""
    return SCHEMAS[document]()
