"""Results of the commands of `lab` and `rehearse`, by command, for the schema of all outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rocefort.base.actions import BackgroundProcess, Done
from rocefort.lab.lab_report import (
    Chaos,
    Failover,
    FaultKinds,
    FlowSpread,
    GuestImage,
    LabAccesses,
    LabGrowth,
    Labs,
    Opinions,
    RepairedFaults,
    UnderLoad,
)
from rocefort.lab.twin.status import LabSnapshot, LabStatus, LabTrace
from rocefort.rollout.planning.rehearsal import PlanRehearsal

LAB: Final[Mapping[str, Any]] = {
    "cli": LabAccesses | BackgroundProcess,
    "console": Done,
    "stop": Done,
    "faults": FaultKinds,
    "up": LabStatus,
    "down": Done,
    "list": Labs,
    "status": LabStatus,
    "break": FaultKinds | Done,
    "mend": RepairedFaults,
    "grow": LabGrowth,
    "guest build": GuestImage,
    "trace": LabTrace,
    "snapshot": LabSnapshot,
    "opinions": Opinions,
    "chaos": Chaos,
    "failover": Failover,
    "spread": FlowSpread,
    "load": UnderLoad,
}
OUTPUTS: Final[Mapping[str, Any]] = {
    "rehearse": PlanRehearsal,
    **{f"lab {name}": kind for name, kind in LAB.items()},
}
