"""Request of a suite from the values of a command's options."""

from __future__ import annotations

from rocefort.rdma.compare import published_sizes
from rocefort.rdma.designed_plan import RdmaRequest
from rocefort.rdma.plan.message_sizes import size_set
from rocefort.rdma.plan.site import RdmaPlanOptions
from rocefort.rdma.rdma_plan import Suite


def request_of(suite: str, servers: str, sizes: str, **chosen: object) -> RdmaRequest:
    """Return the request of a command's options; raises BadInput for sizes that do not exist.

    servers: names with commas between. sizes: bytes, or the name of a published test. chosen:
    fields of RdmaPlanOptions.
    """
    named = size_set(sizes, published_sizes) if sizes else None
    options = RdmaPlanOptions.model_validate(chosen | {"sizes": named})
    return RdmaRequest(Suite(suite), names_of(servers), options)


def names_of(servers: str) -> tuple[str, ...]:
    """Return the names in a list with commas between."""
    return tuple(filter(None, (name.strip() for name in servers.split(","))))
