"""Speaks with a Batfish service through pybatfish; the only module that imports it.

Import it late: the extra `batfish` may be missing, and the import takes two seconds (pandas).
"""

from __future__ import annotations

import contextlib
import io
import uuid
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address
from typing import Any

from pybatfish.client.options import Options
from pybatfish.exception import BatfishException
from requests import HTTPError, RequestException

# pybatfish reads it once, when its client is imported; its 10 wait minutes for a dead service.
Options.max_retries_to_connect_to_coordinator = 2

from pybatfish.client.session import Session  # noqa: E402 - after the option above
from pybatfish.datamodel.flow import HeaderConstraints  # noqa: E402

REFUSED = HTTPError  # is a LOST too: ask for it first
LOST = RequestException
GAVE_UP = BatfishException
ROCE_PORT = 4791  # UDP destination of RoCEv2, IANA
SOURCE_PORT = 49152  # RoCEv2 uses it as entropy; traceroute follows every branch of ECMP
MAX_TRACES = 4096


def network_name() -> str:
    """A name on the service that nobody else uses."""
    return f"rocefort-{uuid.uuid4().hex}"


@contextlib.contextmanager
def session(host: str, port: int, snapshot: bytes) -> Iterator[Session]:
    """A session with the zipped snapshot in a network of its own, deleted at the end."""
    batfish = Session(host=host, port=port)
    name = network_name()
    batfish.set_network(name)
    try:
        batfish.init_snapshot(io.BytesIO(snapshot), name="intended")
        yield batfish
    finally:
        # If the service is gone so is the network, and what went wrong first must be told.
        with contextlib.suppress(RequestException):
            batfish.delete_network(name)


def rows(batfish: Session, question: str, **parameters: object) -> list[dict[str, Any]]:
    """The rows of an answer as the service sent them, without the detour through pandas."""
    return list(getattr(batfish.q, question)(**parameters).answer().rows)


def trace(
    batfish: Session, sources: Sequence[str], destination: IPv4Address
) -> list[dict[str, Any]]:
    """Every path of RoCE from each host's own address to one address; a row a source."""
    headers = HeaderConstraints(
        dstIps=str(destination),
        ipProtocols=["udp"],
        srcPorts=str(SOURCE_PORT),
        dstPorts=str(ROCE_PORT),
    )
    start = ",".join(f'"{source}"' for source in sources)
    return rows(batfish, "traceroute", startLocation=start, headers=headers, maxTraces=MAX_TRACES)
