"""Arguments and options that several commands share, with their text in `--help`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rocefort.base.command_line import values, verbosity
from rocefort.base.errors import BadInput


class Format(StrEnum):
    """Output format of a report."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"
    MARKDOWN = "markdown"


class EngineOption(StrEnum):
    """Verification engine; the values of rocefort.validators.engine_choice.Engine."""

    AUTO = "auto"
    EMBEDDED = "embedded"
    BATFISH = "batfish"
    BOTH = "both"


class SeverityOption(StrEnum):
    """Severity of a rule; the values of rocefort.models.finding.Severity."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class TableOption(StrEnum):
    """Table of `show`; the values of rocefort.design.results.ShowTable."""

    DEVICES = "devices"
    LINKS = "links"
    ADDRESSES = "addresses"
    PORTS = "ports"
    CABLING = "cabling"
    PROFILES = "profiles"
    BONDS = "bonds"
    EXITS = "exits"
    LOSSLESS = "lossless"
    SLURM_TOPOLOGY = "slurm-topology"
    SLURM_BLOCKS = "slurm-blocks"
    KUBERNETES_LABELS = "kubernetes-labels"


class SchemaDocument(StrEnum):
    """Document with a JSON Schema."""

    FABRIC = "fabric"
    DEMAND = "demand"
    PROFILES = "profiles"
    CATALOGUE = "catalogue"
    CONNECTIONS = "connections"
    SETTINGS = "settings"
    SCENARIO = "scenario"
    OUTPUT = "output"


class ObjectiveOption(StrEnum):
    """Objective of a search; the values of rocefort.tune.search.search.OBJECTIVES."""

    LATENCY = "latency"
    THROUGHPUT = "throughput"
    BOTH = "both"


class MethodOption(StrEnum):
    """Method of a search; the values of rocefort.tune.search.search.METHODS."""

    AUTO = "auto"
    GRID = "grid"
    NSGA2 = "nsga2"
    TPE = "tpe"
    ANNEALING = "annealing"


class TraceFormat(StrEnum):
    """Output format of paths, states and measurements."""

    TEXT = "text"
    JSON = "json"


class ProgressOption(StrEnum):
    """Progress display: `auto` draws on a terminal and writes lines elsewhere."""

    AUTO = "auto"
    PLAIN = "plain"
    JSON = "json"
    NONE = "none"


class ColorOption(StrEnum):
    """Colors of output: `auto` follows the terminal, NO_COLOR and FORCE_COLOR."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class DifferenceFormat(StrEnum):
    """Output format of differences."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


ENVIRONMENT = "ROCEFORT_"  # begins each variable; the rest in small letters is the setting's key
QUESTION_LIMIT_S = 600.0  # rocefort.validators.batfish.access.LIMIT_S


def _only() -> Path:
    """Return the only fabric of this site."""
    from rocefort.base.repository import only_fabric  # noqa: PLC0415 - not for `--help`

    return only_fabric()


def fabric_unless(configs: Path | None, fabric: Path | None) -> Path | None:
    """Return the named or only fabric; None if configurations are named instead."""
    return fabric if fabric or configs else _only()


def fabric_and_table(first: Path, second: str | None) -> tuple[Path, TableOption]:
    """Return the arguments of `show` in either order; a table alone is one of the only fabric."""
    tables = [str(table) for table in TableOption]
    for name, table in ((first, second), (second, first)):
        if str(table) in tables:
            return Path(name) if name else _only(), TableOption(str(table))
    what = f"no table {second!r}" if second else "no table is named"
    from rocefort.base.documents.suggest import nearest  # noqa: PLC0415 - only for this error

    raise BadInput(what, where=f"show {first}", how=nearest(second or str(first), tables))


FABRIC = "A fabric.yaml, its directory, or a name: heps."
BY_DEFAULT = "By default the only fabric of the site."
OUTPUT_FORMAT = "Output format."
PATCH = "Show the commands of each change."
SIDE = "a fabric, a directory of configurations, or either at a git revision: HEAD~1:inventory/x."

Color = Annotated[
    ColorOption,
    typer.Option(
        "--color",
        envvar="ROCEFORT_COLOR",
        help="Colors; auto follows the terminal, NO_COLOR and FORCE_COLOR.",
    ),
]
TableName = Annotated[
    str | None,
    typer.Argument(help=f"Table: {', '.join(TableOption)}.", **values.table(TableOption)),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "-q",
        "--quiet",
        is_eager=True,
        callback=verbosity.be_quiet,
        help="Write errors and results only: no notes, no progress.",
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "-v",
        "--verbose",
        is_eager=True,
        callback=verbosity.be_verbose,
        help="Report on standard error what is read, requested and done, with times.",
    ),
]
LogFile = Annotated[
    Path | None,
    typer.Option(
        "--log-file",
        envvar="ROCEFORT_LOG_FILE",
        is_eager=True,
        callback=verbosity.log_to_file,
        help="Append what --verbose reports to a file, with timestamps and without secrets.",
        **values.FILE,
    ),
]
NamedFabric = Annotated[Path, typer.Argument(help=FABRIC, **values.FABRIC)]
Fabric = Annotated[
    Path,
    typer.Argument(
        help=f"{FABRIC} {BY_DEFAULT}",
        default_factory=_only,
        show_default=False,
        **values.FABRIC,
    ),
]
MaybeFabric = Annotated[Path | None, typer.Argument(help=f"{FABRIC} {BY_DEFAULT}", **values.FABRIC)]
Configs = Annotated[
    Path | None,
    typer.Option(help="Directory of configurations, instead of a fabric.", **values.DIR),
]
JudgedConfigs = Annotated[
    Path | None,
    typer.Option(
        "--configs",
        help="Directory of configurations: instead of a fabric, or beside one, to judge them by "
        "its intent.",
        **values.DIR,
    ),
]
# Without a variable: a check contacts switches only by this option.
RunningConnections = Annotated[
    Path | None,
    typer.Option(
        "--connections",
        help="YAML file of connections: read what the switches run now, to judge it by the intent.",
        **values.FILE,
    ),
]
Formatted = Annotated[
    Format, typer.Option("--format", envvar="ROCEFORT_FORMAT", help=OUTPUT_FORMAT)
]
DifferenceFormatted = Annotated[
    DifferenceFormat, typer.Option("--format", envvar="ROCEFORT_FORMAT", help=OUTPUT_FORMAT)
]
TraceFormatted = Annotated[
    TraceFormat, typer.Option("--format", envvar="ROCEFORT_FORMAT", help=OUTPUT_FORMAT)
]
SchemaOf = Annotated[
    SchemaDocument,
    typer.Option(
        "--of",
        help="Document: fabric.yaml, demand.yaml, a file of profiles, connections.yaml, "
        "rocefort.toml, a scenario of `tune simulate`, or the JSON of the commands.",
    ),
]
VerificationEngine = Annotated[
    EngineOption,
    typer.Option("--engine", envvar="ROCEFORT_ENGINE", help="Verification engine."),
]
ConnectionsFile = Annotated[
    Path,
    typer.Option(
        "--connections",
        envvar="ROCEFORT_CONNECTIONS",
        help="YAML file: address and credentials of each switch and server.",
        **values.FILE,
    ),
]
MaybeConnections = Annotated[
    Path | None,
    typer.Option(
        "--connections",
        envvar="ROCEFORT_CONNECTIONS",
        help="YAML file: address and credentials of each switch.",
        **values.FILE,
    ),
]
BatfishService = Annotated[
    str | None,
    typer.Option(
        "--batfish",
        metavar="HOST:PORT",
        envvar="ROCEFORT_BATFISH",
        help="Batfish service, also https://HOST:PORT; the engine `auto` uses no other one.",
    ),
]

LEAF_HARDWARE, SPINE_HARDWARE = "CE8851-32CQ8DQ-P", "CE9860-4C-EI"  # of a new fabric
ServersPerLeaf = Annotated[int, typer.Option(min=0, help="Number of servers on each leaf.")]
LinksPerPair = Annotated[
    int, typer.Option(min=1, help="Number of links from each leaf to each spine.")
]
LeafHardware = Annotated[str, typer.Option(help="Model of the leaves.", **values.MODEL)]
SpineHardware = Annotated[str, typer.Option(help="Model of the spines.", **values.MODEL)]
AddSpines = Annotated[int, typer.Option("--add-spines", min=0, help="Number of spines to add.")]
AddLeaves = Annotated[int, typer.Option("--add-leaves", min=0, help="Number of leaves to add.")]
NewHardware = Annotated[
    list[str] | None,
    typer.Option(
        "--hardware",
        metavar="ROLE=MODEL",
        help="Hardware of new switches: leaves=MODEL or spines=MODEL@RELEASE.",
    ),
]
NewServers = Annotated[
    int, typer.Option("--servers", min=0, help="Number of servers on each new leaf.")
]
NewRacks = Annotated[
    list[str] | None,
    typer.Option(
        "--racks", metavar="ROLE=RACK,..", help="Racks, filled in order: leaves=RACK,RACK."
    ),
]
NewLike = Annotated[
    list[str] | None,
    typer.Option(
        "--like",
        help="Leaf (or spine) that new ones are like: hardware, segments, ports, NICs.",
        **values.SWITCH,
    ),
]
NewSegments = Annotated[
    str | None, typer.Option("--segments", help="Segments of new leaves.", **values.SEGMENTS)
]
NewNames = Annotated[
    list[str] | None,
    typer.Option(
        "--names",
        metavar="ROLE=NAME,..",
        help="Names of new switches: leaves=NAME,NAME or spines=NAME.",
    ),
]

DemandFile = Annotated[
    Path | None,
    typer.Option(
        "--demand",
        help="Demand file; by default demand.yaml next to fabric.yaml.",
        **values.FILE,
    ),
]

Select = Annotated[
    list[str] | None,
    typer.Option(help="Run only these rules or families: PFC,BUF001.", **values.RULES),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(help="Skip these rules or families: TXT,PFC004.", **values.RULES),
]
WithSecrets = Annotated[
    bool, typer.Option("--secrets", help="Include the secrets; the files have mode 0600.")
]
SwitchHardware = Annotated[
    list[str] | None,
    typer.Option(metavar="SWITCH=MODEL", help="Model of a switch: leaf03=CE8851-32CQ8DQ-P."),
]
SwitchReleases = Annotated[
    list[str] | None,
    typer.Option(metavar="SWITCH=RELEASE", help="Release of a switch: leaf03=V300R023C00."),
]
SwitchTable = Annotated[
    Path | None,
    typer.Option(
        help="CSV of switches, as NetBox or Excel writes it: name, hardware, software, rack.",
        **values.FILE,
    ),
]
Failures = Annotated[
    str | None,
    typer.Option(
        help="Failures to verify: none, single, single:N (sample), 2 (pairs), sample:N (sample of "
        "pairs). By default single if it is fast, with Batfish single:8."
    ),
]
SingleFailures = Annotated[
    str | None,
    typer.Option(
        "--failures",
        help="Failures to compute: none, single, single:N (sample), 2 (every pair, by kinds). By "
        "default single if it is fast.",
    ),
]
Against = Annotated[
    str | None,
    typer.Option(metavar="STATE", help=f"Earlier state to compare with: {SIDE}"),
]
Timings = Annotated[
    bool, typer.Option("--timings", help="Show the time that Batfish needed for each question.")
]
QuestionLimit = Annotated[
    float,
    typer.Option(
        "--batfish-limit",
        envvar="ROCEFORT_BATFISH_LIMIT",
        metavar="SECONDS",
        min=0,
        max=values.MOST,
        help="Time limit of each question to Batfish (s).",
    ),
]
Ends = Annotated[
    list[str],
    typer.Argument(help="Two servers, segments, switches or addresses.", **values.ENDS),
]
Down = Annotated[
    list[str] | None,
    typer.Option(help="Failed switch or port: spine01 or leaf03:100GE1/0/25.", **values.PORT),
]
ExitCode = Annotated[
    bool, typer.Option("--exit-code", help="Exit with 1 if there is a difference.")
]
PageUrl = Annotated[
    str, typer.Option(envvar="ROCEFORT_PAGE_URL", metavar="URL", help="URL of the published page.")
]
Running = Annotated[
    Path | None,
    typer.Option(
        help="Directory of running configurations, instead of reading the switches.",
        **values.DIR,
    ),
]
Rotate = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SECRET", help="Secret to set again on the switches: env:NAME or file:PATH."
    ),
]
Limit = Annotated[
    list[str] | None,
    typer.Option(help="Only these switches: a name or a pattern, 'leaf0*'.", **values.SWITCH),
]
AllowedSigners = Annotated[
    Path | None,
    typer.Option(
        "--allowed-signers",
        envvar="ROCEFORT_ALLOWED_SIGNERS",
        help="Allowed signers file of a plan, in the format of ssh-keygen(1).",
        **values.FILE,
    ),
]
SigningKey = Annotated[
    Path | None,
    typer.Option(
        "--sign",
        help="SSH key that signs the plan; the signature goes into PLAN.sig.",
        **values.FILE,
    ),
]
PlanPage = Annotated[
    Path | None, typer.Option("--html", help="File for an HTML page of the plan.", **values.FILE)
]
RolloutPage = Annotated[
    Path | None,
    typer.Option(
        "--html",
        help="File for an HTML page of the rollout; it is renewed while the rollout runs.",
        **values.FILE,
    ),
]
SealedPlan = Annotated[Path, typer.Argument(metavar="PLAN", help="Sealed plan, written by `plan`.")]


def _show_progress(context: typer.Context, kind: ProgressOption) -> ProgressOption:
    """Show the progress of a command until it ends, unless its output is to be quiet."""
    root, words = context.find_root(), context.command_path.split()
    if not context.resilient_parsing and not root.params.get("quiet"):
        from rocefort.base.progress_display import progress_display  # noqa: PLC0415 - not for `--help`

        context.with_resource(progress_display(kind.value, " ".join(words[1:])))
    return kind


# Without a variable: the events of a rollout are its result.
ProgressShown = Annotated[ProgressOption, typer.Option("--progress", help="Progress display.")]
StepProgress = Annotated[
    ProgressOption,
    typer.Option(
        "--progress",
        envvar="ROCEFORT_PROGRESS",
        callback=_show_progress,
        help="Progress on standard error, of a command that lasts.",
    ),
]
Journal = Annotated[
    Path | None,
    typer.Option(help="Journal of the rollout; PLAN.journal by default.", **values.FILE),
]
Passwords = Annotated[
    list[str] | None,
    typer.Option(
        metavar="USER=SECRET", help="Password of a user: USER=env:NAME or USER=file:PATH."
    ),
]

Drained = Annotated[
    list[str] | None, typer.Option(metavar="NODE", help="Treat this Kubernetes node as drained.")
]
