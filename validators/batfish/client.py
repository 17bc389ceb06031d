"""Client of a Batfish service, the only module that imports pybatfish.

Import it late: the extra `batfish` may be missing, and the import takes two seconds (pandas).
"""

from __future__ import annotations

import contextlib
import io
import time
import uuid
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address
from typing import Any

from pybatfish.client.options import Options
from pybatfish.exception import BatfishException
from requests import HTTPError, RequestException

# pybatfish reads it once, at import; its default of 10 waits minutes for a dead service.
Options.max_retries_to_connect_to_coordinator = 2

from pybatfish.client import restv2helper  # noqa: E402 - after the option above
from pybatfish.client.session import Session  # noqa: E402
from pybatfish.datamodel import Interface  # noqa: E402
from pybatfish.datamodel.flow import HeaderConstraints, PathConstraints  # noqa: E402

from rocefort.base.progress import Step  # noqa: E402
from rocefort.models.device.packet_filters import Flow  # noqa: E402
from rocefort.models.network.network import End  # noqa: E402
from rocefort.validators.batfish.access import (  # noqa: E402  # noqa: E402
    PLAIN,
    ServiceAccess,
    ended_after,
    interrupted_by_signals,
)
from rocefort.validators.routing_results import Timing  # noqa: E402

REFUSED = HTTPError  # a subclass of LOST: check it first
LOST = RequestException
GAVE_UP = BatfishException
MAX_TRACES = 4096
REQUEST_S = 30.0  # of one HTTP request, as pybatfish has it; a question is many of them
DELETE_S = 5.0
BASE = "intended"


class QuestionTimeout(Exception):  # noqa: N818 - reads as a sentence where it is raised
    """Question without an answer within the limit."""


class TimedSession(Session):  # type: ignore[misc]  # pybatfish has no types
    """Session with a time limit for questions, which records the duration of each.

    pybatfish polls without end, and repeats a request whose answer takes too long.
    """

    def __init__(self, host: str, port: int, access: ServiceAccess) -> None:
        self.limit_s = access.limit_s
        self.timings: list[Timing] = []
        with self.asking("version"):
            super().__init__(
                host=host,
                port=port,
                ssl=access.tls,
                **({"api_key": access.token} if access.token else {}),
                timeout=min(REQUEST_S, access.limit_s),
            )

    @contextlib.contextmanager
    def asking(self, question: str) -> Iterator[None]:
        """Measure the questions of the block, and end them at the limit."""
        before = time.monotonic()
        late = QuestionTimeout(f"{question} was not answered in {self.limit_s:g} s")
        with Step(question, limit_s=self.limit_s, counted=True), ended_after(self.limit_s, late):
            yield
        self.timings.append(Timing(question=question, seconds=time.monotonic() - before))


def network_name() -> str:
    """Unique name of a network on the service."""
    return f"rocefort-{uuid.uuid4().hex}"


@contextlib.contextmanager
def session(
    host: str, port: int, snapshot: bytes, access: ServiceAccess = PLAIN
) -> Iterator[TimedSession]:
    """Session with the zipped snapshot in a network of its own, which is deleted at the end."""
    with interrupted_by_signals(), contextlib.ExitStack() as after:
        after.callback(_hang_up)
        with Step("start", 3):
            batfish = TimedSession(host, port, access)
            name = network_name()
            after.callback(_forget, batfish, name, min(DELETE_S, access.limit_s))
            with batfish.asking("network"):
                batfish.set_network(name)
            add_snapshot(batfish, snapshot, BASE)
        yield batfish


def _forget(batfish: Session, network: str, timeout_s: float) -> None:
    """Delete the network; a failure here does not hide an earlier error."""
    batfish.timeout = timeout_s
    with (
        contextlib.suppress(RequestException, QuestionTimeout),
        ended_after(timeout_s, QuestionTimeout()),
    ):
        batfish.delete_network(network)


def _hang_up() -> None:
    """Close the connections that pybatfish would keep open for as long as the program runs."""
    restv2helper._requests_session.close()  # noqa: SLF001 - it offers no other way
    restv2helper._requests_session_fail_fast.close()  # noqa: SLF001


def add_snapshot(batfish: TimedSession, snapshot: bytes, name: str) -> None:
    """Send a zipped snapshot, which the service then parses."""
    with batfish.asking(f"snapshot {name}"):
        batfish.init_snapshot(io.BytesIO(snapshot), name=name)


def rows(
    batfish: Session,
    question: str,
    *,
    of: str | None = None,
    against: str | None = None,
    **parameters: object,
) -> list[dict[str, Any]]:
    """Rows of an answer as the service sends them, without pandas.

    of: name of a snapshot (default: the first one that was sent); against: name of the one to
    compare with.
    """
    about = {"snapshot": of or BASE, "reference_snapshot": against}
    with batfish.asking(question if of is None else f"{question}, {of}"):
        return list(getattr(batfish.q, question)(**parameters).answer(**about).rows)


def trace(
    batfish: Session,
    sources: Sequence[str],
    destination: IPv4Address,
    flow: Flow,
    of: str | None = None,
) -> list[dict[str, Any]]:
    """Every path of a flow from each host's own address to one address; a row a source.

    RoCEv2 uses the source port as entropy; traceroute follows every branch of ECMP.
    """
    headers = _headers(flow, dstIps=str(destination))
    start = _hosts(sources)
    return rows(
        batfish, "traceroute", of=of, startLocation=start, headers=headers, maxTraces=MAX_TRACES
    )


def _headers(flow: Flow, **addresses: str) -> HeaderConstraints:
    ports = {"srcPorts": str(flow.source_port), "dstPorts": str(flow.destination_port)}
    icmp = {"icmpTypes": "8", "icmpCodes": "0"}
    return HeaderConstraints(
        **addresses,
        ipProtocols=[flow.protocol],
        **(icmp if flow.protocol == "icmp" else ports),
    )


def _hosts(names: Sequence[str]) -> str:
    return ",".join(f'"{name}"' for name in names)


def _between(
    sources: Sequence[str], addresses: Sequence[IPv4Address], flow: Flow
) -> dict[str, Any]:
    """Parameters for packets of some hosts, from and to some addresses."""
    all_of_them = ",".join(map(str, addresses))
    return {
        "pathConstraints": PathConstraints(startLocation=_hosts(sources)),
        "headers": _headers(flow, srcIps=all_of_them, dstIps=all_of_them),
    }


def failing(
    batfish: Session,
    sources: Sequence[str],
    addresses: Sequence[IPv4Address],
    of: str | None = None,
) -> list[dict[str, Any]]:
    """One example a host of RDMA that some path does not deliver; empty: all is delivered."""
    headers = _between(sources, addresses, Flow())
    return rows(batfish, "reachability", of=of, actions="FAILURE", **headers)


def differing(
    batfish: Session,
    sources: Sequence[str],
    addresses: Sequence[IPv4Address],
    of: str | None,
    against: str,
) -> list[dict[str, Any]]:
    """One example a host of RDMA that only one of two snapshots delivers."""
    headers = _between(sources, addresses, Flow())
    return rows(batfish, "differentialReachability", of=of, against=against, **headers)


def fork(batfish: TimedSession, name: str, nodes: Sequence[str], ports: Sequence[End]) -> None:
    """Copy the snapshot without some switches and ports, given by Batfish's names."""
    gone = [Interface(hostname=port.device, interface=port.interface) for port in ports]
    with batfish.asking(f"fork, {name}"):
        batfish.fork_snapshot(
            BASE, name, deactivate_nodes=list(nodes), deactivate_interfaces=gone, overwrite=True
        )


def forget(batfish: TimedSession, name: str) -> None:
    """Delete a snapshot."""
    batfish.delete_snapshot(name)
