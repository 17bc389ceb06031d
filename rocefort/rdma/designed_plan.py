"""Step of `rdma plan`: the plan of a run, from the design alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rocefort.beamline.facility import beamline_named
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.models.network.beamlines import receivers_of
from rocefort.rdma.plan.load_rules import LoadRules, allowed_servers
from rocefort.rdma.plan.message_sizes import size_set
from rocefort.rdma.plan.site import RdmaPlanOptions
from rocefort.rdma.plan.suites import plan_suite
from rocefort.rdma.publications import published_sizes
from rocefort.rdma.rdma_plan import UNPROBED, RdmaHost, RdmaPlan, Suite


@dataclass(frozen=True)
class RdmaRequest:
    """Request for a run. servers, drained: names from the command line. run: id; empty: new.

    plan: digest of the rollout before it, for its record; empty: not known.
    """

    suite: Suite
    servers: tuple[str, ...] = ()
    options: RdmaPlanOptions = field(default_factory=RdmaPlanOptions)
    drained: tuple[str, ...] = ()
    switches: bool = True  # read their counters
    deadline_s: float | None = None
    run: str = ""
    plan: str = ""


def request_of(
    suite: str,
    servers: tuple[str, ...],
    sizes: str,
    drained: Sequence[str] | None = None,
    **chosen: object,
) -> RdmaRequest:
    """Return the request of a command's options; raises BadInput for sizes that do not exist.

    chosen: fields of RdmaPlanOptions. sizes: bytes, or the name of a published test.
    """
    named = size_set(sizes, published_sizes) if sizes else None
    options = RdmaPlanOptions.model_validate(chosen | {"sizes": named})
    return RdmaRequest(Suite(suite), servers, options, drained=tuple(drained or ()))


def servers_of(derived: DerivedNetwork, request: RdmaRequest) -> tuple[str, ...]:
    """Return the servers that a request may load; raises as `allowed_servers` does."""
    network, name = derived.network, request.options.beamline
    among = None
    if name:
        beamline = beamline_named(network, name)
        among = (*beamline.servers, *(s.name for s in receivers_of(network, beamline)))
    return allowed_servers(network, LoadRules.of(derived.fabric.rdma), request.servers, among)


def designed_plan(fabric: Path, request: RdmaRequest) -> RdmaPlan:
    """Return the plan of a run for servers as they are designed; none is contacted.

    Raises the errors that `run_tests` raises before it measures, except those of the window.
    """
    derived = derive(fabric)
    rdma = derived.fabric.rdma
    names = servers_of(derived, request)
    hosts = [RdmaHost(name=name, device=UNPROBED, gid_index=0) for name in names]
    return plan_suite(derived.network, rdma, request.suite, hosts, request.options)
