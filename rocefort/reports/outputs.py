"""JSON of every command, as one published schema: `docs/output.schema.json`.

What `rocefort COMMAND --format json` writes is `$defs/COMMAND` of it (`lab spread`: `lab-spread`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from rocefort.models.capacity import Capacity
from rocefort.models.lab_trials import Chaos, Failover, OpinionRow, Spread, UnderLoad
from rocefort.models.open_fact import OpenFacts
from rocefort.models.plan_rehearsal import PlanRehearsal
from rocefort.models.rdma_plan import RdmaPlan
from rocefort.models.rdma_result import RdmaExport, RdmaResult
from rocefort.models.trace import Trace
from rocefort.models.twin import LabSnapshot, LabTrace
from rocefort.reports.as_json import FindingsOutput
from rocefort.reports.differences import DifferenceOutput
from rocefort.reports.review_files import ReviewOutput
from rocefort.reports.rollout_lines import EndOutput, FollowedOutput, StepOutput
from rocefort.reports.rollout_status import HistoryOutput, StatusOutput
from rocefort.reports.show import TableOutput

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
    "review": ReviewOutput,  # review.json
    "capacity": Capacity,
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
    "lab spread": Spread,
    "lab load": UnderLoad,
}


def output_schema() -> str:
    """The schema as JSON (draft 2020-12), ending in a newline; same models, same bytes."""
    mode: Final = "serialization"
    own, shared = TypeAdapter.json_schemas(
        (name, mode, TypeAdapter(kind)) for name, kind in OUTPUTS.items()
    )
    commands = {name.replace(" ", "-"): own[name, mode] for name in OUTPUTS}
    schema = {
        "$schema": GenerateJsonSchema.schema_dialect,
        "title": "JSON of Rocefort's commands",
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in commands],
        "$defs": commands | shared.get("$defs", {}),
    }
    return json.dumps(schema, indent=1) + "\n"
