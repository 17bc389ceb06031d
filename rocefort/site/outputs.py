"""JSON of every command, as one published schema: `docs/reference/output.schema.json`.

What `rocefort COMMAND --format json` writes is `$defs/COMMAND` of it (`lab spread`: `lab-spread`);
a command that ends without a result writes `$defs/problems`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from pydantic import TypeAdapter

from rocefort.base.actions import BackgroundProcess, Done, WrittenFiles
from rocefort.base.documents.schema import schema_head
from rocefort.base.features import installed_features
from rocefort.base.json_output import OUTPUT_VERSION
from rocefort.base.progress_display import ProgressOutput
from rocefort.beamline.facility import BeamlineView, Facility
from rocefort.beamline.onboard import Onboarding
from rocefort.beamline.stages import Stages
from rocefort.change.differences_report import DifferenceOutput
from rocefort.change.growth import GrowthOutput, RemovalOutput, RenamingOutput, StagedGrowth
from rocefort.design.results import ImportedFabric, RenderedTexts, TableOutput
from rocefort.dialects.open_facts import OpenFacts
from rocefort.fleet.trusted_keys import TrustedKeys
from rocefort.reports.formats.json_report import FindingsOutput
from rocefort.reports.formats.rule_text import RulesOutput
from rocefort.reports.problem_results import ProblemsOutput
from rocefort.rollout.facts.open_facts import ProbeResult
from rocefort.rollout.report.event_lines import EndOutput, FollowedOutput, StepOutput
from rocefort.rollout.report.plan_report import Approval, PlanOutput, PlanWindows, Procedures
from rocefort.rollout.report.status_report import HistoryOutput, StatusOutput
from rocefort.validators.capacity.capacity_results import CapacityReport
from rocefort.validators.routing_results import Trace
from rocefort.verification.review.review_files import ReviewsOutput

PROBLEMS: Final = "problems"
OUTPUTS: Final[Mapping[str, Any]] = {
    "new": WrittenFiles,
    "init": WrittenFiles,
    "connections": WrittenFiles,
    "import": ImportedFabric,
    "render": RenderedTexts,
    "report": WrittenFiles,
    "expand": GrowthOutput,
    "remove": RemovalOutput,
    "rename": RenamingOutput,
    "stages": StagedGrowth,
    "beamline list": Facility,
    "beamline show": BeamlineView,
    "beamline add": Onboarding,
    "beamline stages": Stages,
    "rules": RulesOutput,
    "explain": RulesOutput,
    "comment": Done,
    "check": FindingsOutput,
    "verify": FindingsOutput,
    "health": FindingsOutput,
    "show": TableOutput,
    "facts list": OpenFacts,
    "facts probe": ProbeResult,
    "trace": Trace,
    "diff": DifferenceOutput,
    "drift": DifferenceOutput,
    "review": ReviewsOutput,
    "capacity": CapacityReport,
    "plan": PlanOutput,
    "windows": PlanWindows,
    "plan-console": Procedures,
    "day0": Procedures,
    "replace": Procedures,
    "apply": EndOutput | StepOutput | BackgroundProcess,  # steps: --progress json
    "resume": EndOutput | StepOutput | BackgroundProcess,
    "rollback": PlanOutput | EndOutput | StepOutput,  # the latter two with --apply
    "pause": Done,
    "abort": Done,
    "approve": Approval,
    "trust": TrustedKeys,
    "status": StatusOutput | StepOutput | FollowedOutput,  # the latter with --follow
    "history": HistoryOutput,
    **{
        command: kind
        for feature in installed_features()
        for command, kind in import_module(f"rocefort.{feature}.outputs").OUTPUTS.items()
    },
}
PROGRESS = "progress"  # --progress json of other commands: a line each on standard error


def output_schema() -> str:
    """The schema as JSON (draft 2020-12), ending in a newline; same models, same bytes."""
    mode: Final = "serialization"
    kinds = {**OUTPUTS, PROBLEMS: ProblemsOutput, PROGRESS: ProgressOutput}
    own, shared = TypeAdapter.json_schemas(
        (name, mode, TypeAdapter(kind)) for name, kind in kinds.items()
    )
    defined = shared.get("$defs", {})
    commands = {
        name.replace(" ", "-"): _with_head(own[name, mode], defined, name) for name in kinds
    }
    schema = {
        **schema_head("output", "JSON of Rocefort's commands"),
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in commands],
        "$defs": commands | defined,
    }
    return json.dumps(schema, indent=1) + "\n"


def _with_head(schema: Any, defined: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 - JSON
    """Return the schema of an object, or of several, with the keys that it begins with."""
    if "$ref" in schema:
        return _with_head(defined[schema["$ref"].rsplit("/", 1)[1]], defined, name)
    if "anyOf" in schema:
        return {"anyOf": [_with_head(each, defined, name) for each in schema["anyOf"]]}
    command = {"type": "string"} if name in {PROBLEMS, PROGRESS} else {"const": name}
    head = {"schema_version": {"const": OUTPUT_VERSION}, "command": command}
    return schema | {
        "properties": head | schema["properties"],
        "required": [*head, *schema.get("required", ())],
    }
