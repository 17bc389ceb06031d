"""Verification of a Network by a Batfish service: sessions, BGP routes, reachability matrix.

Batfish does not read VRP, so it gets an EOS translation of the Devices that were parsed from VRP
text. Needs the extra `batfish`; pybatfish is imported only when a service is used.

Batfish 0.36 treats `maximum-paths` as on or off and installs all equal routes. Where a switch may
use fewer (but more than one), only the lowest next hops are kept: their number is right, but a
switch may choose others of the equal routes. Paths are followed over all of them, so that a
delivered pair is delivered in any case.
"""

from __future__ import annotations

import contextlib
import logging
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from itertools import permutations
from types import ModuleType
from typing import Any, Literal

from rocefort.base.errors import ServiceFailed, install_command
from rocefort.base.progress import Step
from rocefort.dialects.eos import translated
from rocefort.models.base import Frozen
from rocefort.models.device.device import Subnets
from rocefort.models.device.packet_filters import Flow
from rocefort.models.device.routing import Bgp
from rocefort.models.network.network import Network
from rocefort.validators.batfish.access import (
    HOST,
    PLAIN,
    PORT,
    Service,
    ServiceAccess,
    check_version,
    server_version,
)
from rocefort.validators.batfish.snapshot import (
    HOST_PORT,
    Files,
    host_name,
    keep_snapshot,
    snapshot_files,
    zip_snapshot,
)
from rocefort.validators.routing.external_peers import with_outside
from rocefort.validators.routing.packet_filters import questions
from rocefort.validators.routing_results import (
    BgpSession,
    FlowVerdict,
    Reachability,
    Route,
    RoutingState,
    ServerClass,
    SessionStatus,
    reachability,
)

LOG = logging.getLogger(__name__)

__all__ = ["HOST", "PORT", "BatfishAnswers", "ask", "collect", "interpret"]
__all__ += ["RouteRow", "SessionRow", "server_version"]

LINE = 300  # characters of a service's message, as many as a terminal shows
VERSION_S = 5.0  # a busy service still reports its version

Row = dict[str, Any]


class SessionRow(Frozen):
    """Row of bgpSessionStatus."""

    node: str
    peer: IPv4Address
    status: Literal["ESTABLISHED", "NOT_ESTABLISHED", "NOT_COMPATIBLE"]


class RouteRow(Frozen):
    """BGP route of a main table with one next hop."""

    node: str
    prefix: IPv4Network
    next_hop: IPv4Address


class TraceRow(Frozen):
    """All paths from one host to one address: disposition and last node of each."""

    source: str
    destination: IPv4Address
    ends: tuple[tuple[str, str], ...]  # disposition, last node


class FlowRow(TraceRow):
    """All paths of another flow that shows a part of the policy."""

    flow: Flow


class BatfishAnswers(Frozen):
    """Used part of the service's answers, sorted."""

    version: str
    sessions: tuple[SessionRow, ...]
    routes: tuple[RouteRow, ...]
    hosts_up: tuple[str, ...]  # hosts whose port has a link
    traces: tuple[TraceRow, ...]  # of the hosts that are up
    flows: tuple[FlowRow, ...] = ()


def ask(
    network: Network, host: str = HOST, port: int = PORT, access: ServiceAccess = PLAIN
) -> RoutingState:
    """Verify a Network, whose Devices were parsed from text, by a Batfish service.

    Raises Refused for text that cannot be translated or is not understood, BadInput for names that
    are equal for Batfish, ServiceFailed for all failures of the service. The error then names the
    folder of the snapshot.
    """
    whole = with_outside(network)
    return interpret(whole, collect(whole, host, port, access))


def collect(
    network: Network, host: str = HOST, port: int = PORT, access: ServiceAccess = PLAIN
) -> BatfishAnswers:
    """Send all questions to the service and return its answers. Raises as `ask` does."""
    with open_session(snapshot_files(network), Service(host, port, access)) as asking:
        gate(asking)
        return put_questions(asking, network)


@dataclass(frozen=True)
class BatfishSession:
    """Open session: the client module, its session, and the service's address."""

    speaker: ModuleType
    session: Any
    version: str

    def rows(self, question: str, **parameters: object) -> list[Row]:
        """Rows of an answer."""
        LOG.info("Batfish: question %s", question)
        answer: list[Row] = self.speaker.rows(self.session, question, **parameters)
        LOG.info("Batfish: %s rows of %s", len(answer), question)
        return answer


@contextlib.contextmanager
def open_session(files: Files, service: Service) -> Iterator[BatfishSession]:
    """Session with a snapshot; any failure becomes one ServiceFailed."""
    where = str(service)
    patience_s = min(VERSION_S, service.access.limit_s)
    with Step("version", limit_s=patience_s):
        version = server_version(service.host, service.port, patience_s, service.access)
    check_version(version, where)
    LOG.info("Batfish %s at %s: snapshot of %s files", version, where, len(files))
    zipped = zip_snapshot(files)
    with (
        _batfish_module(where, files) as speaker,
        speaker.session(service.host, service.port, zipped, service.access) as session,
    ):
        yield BatfishSession(speaker, session, version)


def gate(asking: BatfishSession) -> None:
    """Raise ServiceFailed if Batfish did not understand a line: its answers would be wrong."""
    _gate(asking.rows("fileParseStatus"), asking.rows("initIssues"))


def put_questions(
    asking: BatfishSession, network: Network, of: str | None = None
) -> BatfishAnswers:
    """Send the questions on routing about one snapshot, by default the first."""
    with Step("routes", 3):
        sessions = [_session_row(row) for row in asking.rows("bgpSessionStatus", of=of)]
        ports = asking.rows("interfaceProperties", of=of, interfaces=HOST_PORT)
        routes = route_rows(asking, of)
    up = sorted(row["Interface"]["hostname"] for row in ports if row["Active"])
    return BatfishAnswers(
        version=asking.version,
        sessions=tuple(sorted(sessions, key=lambda row: (row.node, row.peer))),
        routes=routes,
        hosts_up=tuple(up),
        traces=trace_rows(asking, network, up, of),
        flows=tuple(_flows(asking, network, up, of)),
    )


def route_rows(asking: BatfishSession, of: str | None = None) -> tuple[RouteRow, ...]:
    """BGP routes of all main tables."""
    routes = [_route_row(row) for row in asking.rows("routes", of=of, protocols="bgp")]
    return tuple(sorted(routes, key=lambda row: (row.node, row.prefix, row.next_hop)))


def trace_rows(
    asking: BatfishSession, network: Network, up: list[str], of: str | None = None
) -> tuple[TraceRow, ...]:
    """All paths of RDMA between all hosts that are up."""
    traces = [_trace_row(row) for row in _traces(asking, network, up, of)]
    return tuple(sorted(traces, key=lambda row: (row.source, row.destination)))


@contextlib.contextmanager
def _batfish_module(where: str, files: Files) -> Iterator[ModuleType]:
    """Client module; any failure in the block becomes one ServiceFailed.

    The snapshot is then written to a folder that the error names.
    """
    with _quiet():
        try:
            from rocefort.validators.batfish import client  # noqa: PLC0415 - may be missing
        except ImportError as error:
            how = install_command("batfish")
            raise ServiceFailed("pybatfish is not installed", where=where, how=how) from error
        try:
            yield client
        except client.REFUSED as error:
            raise _batfish_failure(where, f"Batfish refused: {_line(error)}", files) from error
        except client.LOST as error:
            raise _batfish_failure(where, "the Batfish service stopped answering", files) from error
        except client.QuestionTimeout as error:
            raise _batfish_failure(where, f"Batfish takes too long: {error}", files) from error
        except client.GAVE_UP as error:
            raise _batfish_failure(where, f"Batfish gave up: {_line(error)}", files) from error
        except ServiceFailed as error:
            raise _batfish_failure(where, error.problem.what, files) from error
        except (LookupError, TypeError, ValueError) as error:
            raise _batfish_failure(
                where, f"Batfish answered in an unknown form: {error!r}", files
            ) from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Suppress progress, retries and warnings of pybatfish, urllib3 and pandas."""
    loggers = [logging.getLogger(name) for name in ("pybatfish", "urllib3")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _batfish_failure(where: str, what: str, files: Files) -> ServiceFailed:
    return ServiceFailed(what, where=where, how=keep_snapshot(files))


CAUSES = {  # explanations of a service's error words
    "DATAPLANING_FAIL": "the service could not compute the data plane: routes that never converge, "
    "or too little memory",
    "OutOfMemoryError": "the service has too little memory",
}


def _line(error: Exception) -> str:
    """First line of pybatfish's message, its explanation, and the last cause in the log."""
    message = str(error).replace("WorkStatusCode.", "")  # the name of pybatfish's enumeration
    first, *rest = message.strip().splitlines() or [""]
    log = "\n".join(rest)
    meant = [words for word, words in CAUSES.items() if word in log]
    causes = re.findall(r"(?<!\w)\w+(?:Exception|Error): ([^\"\\\n]+)", log)
    return ": ".join([first, *meant, *(cause.strip() for cause in causes[-1:])])[:LINE]


def _traces(
    asking: BatfishSession, network: Network, up: list[str], of: str | None = None
) -> Iterator[Row]:
    """Every path of every server to each server's address, from its own address.

    traceroute follows all branches of ECMP and has one destination a question. `reachability` would
    give one example a source and might forge the source address. A host without a link cannot be
    traced.
    """
    addresses = sorted({server.address.ip for server in network.servers or ()}) if up else []
    with Step("paths", len(addresses)):
        for destination in addresses:
            yield from asking.speaker.trace(asking.session, up, destination, Flow(), of)


def _flows(
    asking: BatfishSession, network: Network, up: list[str], of: str | None = None
) -> Iterator[FlowRow]:
    """Every path of each other flow that shows a part of the policy, from hosts that are up."""
    sources: defaultdict[tuple[IPv4Address, Flow], list[str]] = defaultdict(list)
    for each in questions(network):
        if (source := host_name(each.source.name)) in up:
            sources[each.destination.address.ip, each.flow].append(source)
    with Step("flows", len(sources)):
        for (address, flow), names in sources.items():
            for row in asking.speaker.trace(asking.session, names, address, flow, of):
                yield FlowRow(**dict(_trace_row(row)), flow=flow)


def _gate(parsed: list[Row], issues: list[Row]) -> None:
    """Batfish must have understood every line; a warning means that it answers something else."""
    bad = [f"{row['File_Name']} was {row['Status']}" for row in parsed if row["Status"] != "PASSED"]
    bad += [f"{' '.join(row['Nodes'] or ())}: {row['Details']}" for row in issues]
    if bad:
        more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
        raise ServiceFailed(f"Batfish did not read the translation: {bad[0]}{more}")


def _session_row(row: Row) -> SessionRow:
    peer = IPv4Address(row["Remote_IP"]["value"])
    return SessionRow(node=row["Node"]["name"], peer=peer, status=row["Established_Status"])


def _route_row(row: Row) -> RouteRow:
    prefix, hop = IPv4Network(row["Network"]), IPv4Address(row["Next_Hop"]["ip"])
    return RouteRow(node=row["Node"]["name"], prefix=prefix, next_hop=hop)


def _trace_row(row: Row) -> TraceRow:
    traces, flow = row["Traces"], row["Flow"]
    if len(traces) != row["TraceCount"]:
        raise ServiceFailed(f"Batfish shows only {len(traces)} of {row['TraceCount']} paths")
    ends = {(trace["disposition"], trace["hops"][-1]["node"]["name"]) for trace in traces}
    destination = IPv4Address(flow["dstIp"])
    return TraceRow(source=flow["ingressNode"], destination=destination, ends=tuple(sorted(ends)))


# --- from answers to a RoutingState ---


def interpret(network: Network, answers: BatfishAnswers) -> RoutingState:
    """Routing state of this Network by the answers; ServiceFailed if they do not cover it."""
    return RoutingState(
        engine="batfish",
        sessions=_sessions(network, answers),
        routes=routes_of(network, answers.routes),
        reachability=reachability_of(network, answers),
        answers=tuple(_answers(network, answers)),
    )


def _answers(network: Network, answers: BatfishAnswers) -> Iterator[FlowVerdict]:
    ends = {(row.source, row.destination, row.flow): row.ends for row in answers.flows}
    for question in questions(network):
        source, target = question.source, question.destination
        paths = ends.get((host_name(source.name), target.address.ip, question.flow), ())
        if not paths and host_name(source.name) in answers.hosts_up:
            raise ServiceFailed(f"Batfish shows no path from {source.name} to {target.name}")
        delivered = paths == (("ACCEPTED", host_name(target.name)),)
        yield FlowVerdict(
            source=source.name, destination=target.name, flow=question.flow, delivered=delivered
        )


def _sessions(network: Network, answers: BatfishAnswers) -> tuple[BgpSession, ...]:
    statuses = {(row.node, row.peer): row.status for row in answers.sessions}
    sessions = []
    for name, bgp in _speakers(network):
        subnets = Subnets(network.by_name[name].device)
        for peer in bgp.peers:
            status = statuses.get((host_name(name), peer.address))
            if not translated(bgp, peer, subnets):
                status = "NOT_COMPATIBLE"
            if status is None:
                raise ServiceFailed(f"Batfish reports no state of {name} peer {peer.address}")
            meaning = SessionStatus(status.lower().replace("_", "-"))
            sessions.append(BgpSession(device=name, peer=peer.address, status=meaning))
    return tuple(sorted(sessions, key=lambda session: (session.device, session.peer)))


def _speakers(network: Network) -> Iterator[tuple[str, Bgp]]:
    for node in network.nodes:
        if node.device.bgp is not None:
            yield node.name, node.device.bgp


def routes_of(network: Network, rows: tuple[RouteRow, ...]) -> tuple[Route, ...]:
    """Routes with all their next hops, cut to the limit of each switch."""
    hops: dict[tuple[str, IPv4Network], set[IPv4Address]] = defaultdict(set)
    for row in rows:
        hops[row.node, row.prefix].add(row.next_hop)
    by_host = {host_name(name): (name, bgp) for name, bgp in _speakers(network)}
    routes = []
    for (host, prefix), next_hops in hops.items():
        if host not in by_host:
            raise ServiceFailed(f"Batfish shows a BGP route on {host}, which runs no BGP")
        name, bgp = by_host[host]
        usable = sorted(next_hops)
        if bgp.maximum_paths > 1:
            usable = usable[: bgp.maximum_paths]
        routes.append(Route(device=name, prefix=prefix, next_hops=tuple(usable)))
    return tuple(sorted(routes, key=lambda route: (route.device, route.prefix)))


def reachability_of(network: Network, answers: BatfishAnswers) -> Reachability:
    """Reachability matrix; each server with an undelivered pair is a class of its own."""
    ends = {(row.source, row.destination): row.ends for row in answers.traces}
    up, servers = set(answers.hosts_up), network.servers or ()
    lost_to: defaultdict[str, set[str]] = defaultdict(set)
    for source, target in permutations(servers, 2):
        host = host_name(source.name)
        paths = ends.get((host, target.address.ip), ())
        if host in up and not paths:
            raise ServiceFailed(f"Batfish shows no path from {source.name} to {target.name}")
        if paths != (("ACCEPTED", host_name(target.name)),):
            lost_to[target.name].add(source.name)
    odd = lost_to.keys() | {name for names in lost_to.values() for name in names}
    alike: defaultdict[tuple[str, str, IPv4Network, str], list[str]] = defaultdict(list)
    for one in sorted(servers, key=lambda server: server.name):
        alone = one.name if one.name in odd else ""
        alike[one.port.device, one.segment, one.address.network, alone].append(one.name)
    return reachability(
        (
            ServerClass(leaf=leaf, segment=segment, subnet=subnet, servers=tuple(names))
            for (leaf, segment, subnet, _), names in alike.items()
        ),
        lost_to,
    )
