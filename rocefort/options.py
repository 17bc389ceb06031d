"""Arguments and options that several commands share, with their words for `--help`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """How a report is written."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"
    MARKDOWN = "markdown"


class Engine(StrEnum):
    """Who verifies; the words of rocefort.validators.engines.Engine."""

    AUTO = "auto"
    EMBEDDED = "embedded"
    BATFISH = "batfish"
    BOTH = "both"


class Table(StrEnum):
    """The words of rocefort.reports.show.Kind."""

    DEVICES = "devices"
    LINKS = "links"
    ADDRESSES = "addresses"
    PORTS = "ports"
    CABLING = "cabling"
    PROFILES = "profiles"
    BONDS = "bonds"
    EXITS = "exits"


class TableFormat(StrEnum):
    """The words of rocefort.reports.show.Form."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


class TraceFormat(StrEnum):
    """How paths are written."""

    TEXT = "text"
    JSON = "json"


class DifferenceFormat(StrEnum):
    """The words of rocefort.reports.differences.WRITERS."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


Fabric = Annotated[Path, typer.Argument(help="A fabric.yaml, its directory, or a name: heps.")]
MaybeFabric = Annotated[
    Path | None, typer.Argument(help="A fabric.yaml, its directory, or a name: heps.")
]
Configs = Annotated[Path | None, typer.Option(help="Judge a directory of configurations instead.")]
Formatted = Annotated[Format, typer.Option("--format", help="How it is written.")]
DifferenceFormatted = Annotated[DifferenceFormat, typer.Option("--format", help="How.")]
SIDE = "A fabric, a directory of configurations, or either at a git revision: HEAD~1:inventory/x."
ConnectionsFile = Annotated[
    Path, typer.Option("--connections", help="YAML: how each switch and server is reached.")
]
MaybeConnections = Annotated[
    Path | None, typer.Option("--connections", help="YAML: how each switch is reached.")
]
BatfishService = Annotated[
    str,
    typer.Option(
        "--batfish",
        envvar="ROCEFORT_BATFISH",
        help="Batfish service, HOST:PORT or https://HOST:PORT.",
    ),
]

AddSpines = Annotated[int, typer.Option("--add-spines", min=0, help="How many more spines.")]
AddLeaves = Annotated[int, typer.Option("--add-leaves", min=0, help="How many more leaves.")]
NewHardware = Annotated[
    list[str] | None, typer.Option("--hardware", help="leaves=MODEL or spines=MODEL@RELEASE.")
]
NewServers = Annotated[int, typer.Option("--servers", min=0, help="Servers on each new leaf.")]
NewRacks = Annotated[
    list[str] | None, typer.Option("--racks", help="leaves=RACK,RACK: filled one by one.")
]
