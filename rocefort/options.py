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


class EngineOption(StrEnum):
    """Who verifies; the words of rocefort.validators.engine_choice.Engine."""

    AUTO = "auto"
    EMBEDDED = "embedded"
    BATFISH = "batfish"
    BOTH = "both"


class TableOption(StrEnum):
    """The words of rocefort.reports.fabric.tables.ShowTable."""

    DEVICES = "devices"
    LINKS = "links"
    ADDRESSES = "addresses"
    PORTS = "ports"
    CABLING = "cabling"
    PROFILES = "profiles"
    BONDS = "bonds"
    EXITS = "exits"


class TableFormat(StrEnum):
    """How tables are written."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


class SchemaDocument(StrEnum):
    """Files with a schema."""

    FABRIC = "fabric"
    DEMAND = "demand"
    OUTPUT = "output"


class TraceFormat(StrEnum):
    """How paths, states and measurements are written."""

    TEXT = "text"
    JSON = "json"


class ProgressOption(StrEnum):
    """How a rollout shows what it does: `auto` draws on a terminal, and writes lines elsewhere."""

    AUTO = "auto"
    PLAIN = "plain"
    JSON = "json"


class DifferenceFormat(StrEnum):
    """How differences are written."""

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
SchemaOf = Annotated[
    SchemaDocument,
    typer.Option("--of", help="Of a fabric.yaml, a demand.yaml, or the JSON that commands write."),
]
TraceFormatted = Annotated[TraceFormat, typer.Option("--format", help="How.")]
SIDE = "A fabric, a directory of configurations, or either at a git revision: HEAD~1:inventory/x."
ConnectionsFile = Annotated[
    Path, typer.Option("--connections", help="YAML: how each switch and server is reached.")
]
MaybeConnections = Annotated[
    Path | None, typer.Option("--connections", help="YAML: how each switch is reached.")
]
BatfishService = Annotated[
    str | None,
    typer.Option(
        "--batfish",
        envvar="ROCEFORT_BATFISH",
        help="Batfish service, HOST:PORT or https://HOST:PORT; `auto` asks none but this.",
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

DemandFile = Annotated[
    Path | None, typer.Option("--demand", help="YAML; otherwise demand.yaml beside the fabric.")
]

Select = Annotated[list[str] | None, typer.Option(help="Only these rules or families: PFC,BUF001.")]
Ignore = Annotated[list[str] | None, typer.Option(help="Not these rules or families: TXT,PFC004.")]
WithSecrets = Annotated[
    bool, typer.Option("--secrets", help="With the secrets, into files of mode 0600.")
]
SwitchHardware = Annotated[
    list[str] | None, typer.Option(help="Model of a switch: leaf03=CE8851-32CQ8DQ-P.")
]
SwitchReleases = Annotated[
    list[str] | None, typer.Option(help="Release of a switch: leaf03=V300R023C00.")
]
SwitchTable = Annotated[
    Path | None, typer.Option(help="CSV of switches: name, hardware, software, rack.")
]
Failures = Annotated[
    str | None,
    typer.Option(
        help="none, single, single:N (a sample), 2 (pairs), sample:N (of pairs); unasked "
        "single if quick, of Batfish single:8."
    ),
]
SingleFailures = Annotated[
    str | None,
    typer.Option("--failures", help="none, single, single:N (a sample); unasked single if quick."),
]
Against = Annotated[str | None, typer.Option(help=f"What was before, to show what changes: {SIDE}")]
Timings = Annotated[
    bool, typer.Option("--timings", help="With the time that Batfish took over each question.")
]
QuestionLimit = Annotated[
    float,
    typer.Option(
        "--batfish-limit",
        envvar="ROCEFORT_BATFISH_LIMIT",
        help="Longest that one question to Batfish may take, seconds.",
    ),
]
Ends = Annotated[
    list[str],
    typer.Argument(metavar="[FABRIC] SRC DST", help="Servers, segments, switches or addresses."),
]
Down = Annotated[list[str] | None, typer.Option(help="Has failed: spine01, or leaf01:100GE1/0/25.")]
ExitCode = Annotated[
    bool, typer.Option("--exit-code", help="End with 1 where there is a difference.")
]
PageUrl = Annotated[
    str, typer.Option(envvar="ROCEFORT_PAGE_URL", help="Where the page will be found.")
]
Running = Annotated[
    Path | None, typer.Option(help="Running configurations instead of asking the switches.")
]
Rotate = Annotated[
    list[str] | None, typer.Option(help="Set this secret again: env:NAME or file:PATH.")
]
AllowedSigners = Annotated[
    Path | None,
    typer.Option(
        "--allowed-signers",
        envvar="ROCEFORT_ALLOWED_SIGNERS",
        help="Whose signature a plan must have, as ssh-keygen(1) says.",
    ),
]
SigningKey = Annotated[
    Path | None, typer.Option("--sign", help="SSH key that signs the plan, into PLAN.sig.")
]
SealedPlan = Annotated[Path, typer.Argument(metavar="PLAN", help="A plan that `plan` has sealed.")]
ProgressShown = Annotated[ProgressOption, typer.Option("--progress", help="How it is shown.")]
Journal = Annotated[
    Path | None, typer.Option(help="Where every step is noted; PLAN.journal by default.")
]
Passwords = Annotated[
    list[str] | None, typer.Option(help="USER=env:NAME or USER=file:PATH, for each user.")
]
