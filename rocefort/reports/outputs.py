"""JSON of every command, as one published schema: `docs/output.schema.json`.

What `rocefort COMMAND --format json` writes is `$defs/COMMAND` of it (`lab spread`: `lab-spread`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import TypeAdapter

from rocefort.json_schema import schema_head
from rocefort.models.results.capacity import CapacityReport
from rocefort.models.results.lab_experiments import (
    Chaos,
    Failover,
    FlowSpread,
    OpinionRow,
    UnderLoad,
)
from rocefort.models.results.open_facts import OpenFacts
from rocefort.models.results.rdma_plan import RdmaPlan
from rocefort.models.results.rdma_result import RdmaExport, RdmaResult
from rocefort.models.results.trace import Trace
from rocefort.models.results.twin import LabSnapshot, LabTrace
from rocefort.models.rollout.rehearsal import PlanRehearsal
from rocefort.reports.fabric.diff import DifferenceOutput
from rocefort.reports.fabric.tables import TableOutput
from rocefort.reports.formats.json_report import FindingsOutput
from rocefort.reports.progress.events import ProgressOutput
from rocefort.reports.review.files import ReviewsOutput
from rocefort.reports.rollout.events import EndOutput, FollowedOutput, StepOutput
from rocefort.reports.rollout.status import HistoryOutput, StatusOutput

OUTPUTS: Final[Mapping[str, Any]] = {
    "check": FindingsOutput,
    "verify": FindingsOutput,
    "health": FindingsOutput,
    "host check": FindingsOutput,
    "show": TableOutput,
    "facts": OpenFacts,
    "trace": Trace,
    "diff": DifferenceOutput,
    "drift": DifferenceOutput,
    "review": ReviewsOutput,  # review.json
    "capacity": CapacityReport,
    "rehearse": PlanRehearsal,
    "apply": StepOutput | EndOutput,  # --progress json: a line each
    "resume": StepOutput | EndOutput,
    "rollback": StepOutput | EndOutput,
    "status": StatusOutput | StepOutput | FollowedOutput,  # the latter with --follow
    "history": HistoryOutput,
    "rdma plan": RdmaPlan,
    "rdma run": RdmaResult,
    "rdma show": RdmaResult,
    "rdma export": RdmaExport,
    "lab trace": LabTrace,
    "lab snapshot": LabSnapshot,
    "lab opinions": tuple[OpinionRow, ...],
    "lab chaos": Chaos,
    "lab failover": Failover,
    "lab spread": FlowSpread,
    "lab load": UnderLoad,
}
PROGRESS = "progress"  # --progress json of other commands: a line each on standard error


def output_schema() -> str:
    """The schema as JSON (draft 2020-12), ending in a newline; same models, same bytes."""
    mode: Final = "serialization"
    kinds: dict[str, Any] = {**OUTPUTS, PROGRESS: ProgressOutput}
    own, shared = TypeAdapter.json_schemas(
        (name, mode, TypeAdapter(kind)) for name, kind in kinds.items()
    )
    commands = {name.replace(" ", "-"): own[name, mode] for name in kinds}
    schema = {
        **schema_head("output", "JSON of Rocefort's commands"),
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in commands],
        "$defs": commands | shared.get("$defs", {}),
    }
    return json.dumps(schema, indent=1) + "\n"
