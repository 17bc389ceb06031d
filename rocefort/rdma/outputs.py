"""Results of the commands of `rdma` and `host`, by command, for the schema of all outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rocefort.base.actions import WrittenFiles
from rocefort.design.results import RenderedTexts
from rocefort.rdma.acceptance.report import AcceptanceOutput
from rocefort.rdma.rdma_plan import RdmaPlan
from rocefort.rdma.results import (
    JudgedOutputs,
    PairValues,
    RdmaExport,
    RdmaResult,
    RunComparison,
    RunList,
    StoppedServers,
)
from rocefort.rdma.run_record import RunRecord
from rocefort.reports.formats.json_report import FindingsOutput

OUTPUTS: Final[Mapping[str, Any]] = {
    "accept": AcceptanceOutput,
    "host check": FindingsOutput,
    "host render": RenderedTexts,
    "rdma plan": RdmaPlan,
    "rdma run": RdmaResult,
    "rdma judge": JudgedOutputs,
    "rdma show": RdmaResult | RunRecord | WrittenFiles,  # with --record, with --html
    "rdma compare": RunComparison,
    "rdma history": RunList | PairValues,  # the latter with --pair
    "rdma stop": StoppedServers,
    "rdma export": RdmaExport,
}
