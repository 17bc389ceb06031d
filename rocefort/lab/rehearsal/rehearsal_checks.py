"""Checks of a rehearsed plan on its twin, and the report of its rehearsal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from rocefort.base.errors import Refused, ServiceFailed
from rocefort.lab.network import three_opinions
from rocefort.lab.roce_probes import FLOWS, SMALL, Pair, RoceProbes, not_delivered, pair_length
from rocefort.lab.twin.config_sync import refusals
from rocefort.lab.twin.twin import Twin
from rocefort.models.network.network import Network
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Items, Note, Section, Table, TableColumn, Tone
from rocefort.rollout.planning.rehearsal import Loss, PlanRehearsal, RehearsedCheck
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing.reachability_matrix import reachability_of

CONVERGED_S = 30.0  # after the last wave, which has checked the sessions of its switches
PATIENCE_S = 3.0
MOST_SPEAKERS = 48  # servers that send to each other: 2,256 pairs


def speakers_of(network: Network, twin: Twin, without: Collection[str] = ()) -> list[str]:
    """Representative servers: one for each leaf and segment, if there are many."""
    there = twin.topology.by_host
    servers = [s for s in network.servers or () if s.name in there and s.name not in without]
    if len(servers) > MOST_SPEAKERS:
        by_place = {(s.port.device, s.segment): s for s in reversed(servers)}
        servers = [s for s in servers if by_place[s.port.device, s.segment] is s]
    return [server.name for server in servers[:MOST_SPEAKERS]]


def delivered_pairs(
    probes: RoceProbes, twin: Twin, pairs: Sequence[Pair], patience_s: float
) -> set[Pair]:
    """Pairs that deliver RoCE packets, small and of full size, from every source port."""
    lost = set(not_delivered(probes, pairs, SMALL, patience_s))
    remaining = [pair for pair in pairs if pair not in lost]
    lengths = {pair: pair_length(twin, pair) for pair in remaining}
    return set(remaining) - set(not_delivered(probes, remaining, lengths, patience_s))


def checks_after(
    network: Network, twin: Twin, probes: RoceProbes, before: Collection[Pair]
) -> Iterator[RehearsedCheck]:
    """All checks of a twin against an intended network.

    before: pairs that delivered before the plan.
    """
    yield _rehearsed_check("command lines", lambda: _sync_message(twin))
    yield _rehearsed_check("BGP sessions", lambda: _sessions(twin))
    yield _rehearsed_check("kernel routes", lambda: _routes(network, twin))
    yield _rehearsed_check("server pairs", lambda: _pairs(network, twin, probes, before))


class _CheckFailed(Exception):  # noqa: N818 - what a check found, in a sentence
    """A check with a result other than intended."""


def _rehearsed_check(what: str, look: Callable[[], str]) -> RehearsedCheck:
    try:
        return RehearsedCheck(what=what, passed=True, found=look())
    except _CheckFailed as wrong:
        return RehearsedCheck(what=what, passed=False, found=str(wrong))


def _sync_message(twin: Twin) -> str:
    refused = refusals(twin.registry, twin.record)
    for switch, why in refused.items():
        raise _CheckFailed(f"{switch} runs commands that no twin emulates: {why}")
    return "the kernel of every switch has applied its configuration"


def _sessions(twin: Twin) -> str:
    try:
        twin.converge(CONVERGED_S)
    except ServiceFailed as error:
        raise _CheckFailed(error.problem.what) from None
    expected = twin.topology.sessions if twin.choice.expected is None else twin.choice.expected
    return f"all {sum(map(len, expected.values()))} intended sessions are up"


def _routes(network: Network, twin: Twin) -> str:
    try:
        opinions = three_opinions(network, twin.fibs(protocols=["bgp"]))
    except Refused as error:
        return f"not judged by the embedded engine: {error.problem.what}"
    if opinions.differences:
        count = count_of(len(opinions.differences), "route")
        raise _CheckFailed(f"{count} not as intended, the first: {opinions.differences[0]}")
    return f"{opinions.compared} as the embedded engine has them"


def _pairs(network: Network, twin: Twin, probes: RoceProbes, before: Collection[Pair]) -> str:
    names = list(probes.senders)
    pairs = [(source, target) for source in names for target in names if source != target]
    meant = _expected_pairs(network, pairs, before)
    now = delivered_pairs(probes, twin, pairs, PATIENCE_S)
    if lost := [pair for pair in pairs if pair in meant and pair not in now]:
        source, target = lost[0]
        was = "as it did before the plan" if lost[0] in before else "as intended"
        count = count_of(len(lost), "pair")
        raise _CheckFailed(f"{count} lost, the first: {source} does not deliver to {target} {was}")
    size = "small and of full size"
    return f"{len(now)} of {len(pairs)} deliver RoCE packets, {size}, from {FLOWS} ports each"


def _expected_pairs(network: Network, pairs: Sequence[Pair], before: Collection[Pair]) -> set[Pair]:
    """Pairs that must deliver: by the engine, or as before the plan if the engine refuses."""
    try:
        reach = reachability_of(analyse(network).trips)
    except Refused:
        return set(before)
    return {pair for pair in pairs if reach.delivers(*pair)}


def rehearsal_report(report: PlanRehearsal) -> Section:
    """Show the verdict, waves, checks, packet loss, and the limits of a twin."""
    verdict = "PASSED" if report.passed else f"FAILED: {report.failure}"
    title = Note(
        f"rehearsal of plan {report.plan[:12]} of {report.fabric} {verdict}",
        Tone.GOOD if report.passed else Tone.ERROR,
    )
    rows = Table((TableColumn(), TableColumn(wraps=True)), tuple(_rows(report)))
    unjudged = Section("not judged, because a twin cannot show it:", (Items(report.not_judged),))
    return Section("", (title, rows, unjudged))


def _rows(report: PlanRehearsal) -> Iterator[tuple[str, str]]:
    began, ended = f"{report.began:%Y-%m-%d %H:%M:%S}", f"{report.ended:%H:%M:%S} UTC"
    yield "when, who", f"{began} to {ended}, {report.by} on {report.host}, {report.tool}"
    guests = f"; RDMA between {', '.join(report.guests)}" if report.guests else ""
    yield "twin", f"FRR {report.frr}, Linux {report.kernel}{guests}"
    for wave in report.waves:
        gate = f"; gate: {wave.gate}" if wave.gate else ""
        took = f", {wave.seconds:.1f} s" if wave.seconds else ""
        yield wave.name, f"{wave.ended}{took}: {', '.join(wave.devices)}{gate}"
    for check in report.checks:
        yield check.what, f"{'ok' if check.passed else 'FAILED'}: {check.found}"
    if report.loss is not None:
        yield "packet loss", loss_text(report.loss)


def loss_text(loss: Loss) -> str:
    """Return the number of lost packets, and the duration of the loss."""
    sent = f"{loss.sent} packets of {count_of(loss.streams, 'stream')}"
    if not loss.lost:
        return f"none of {sent}"
    return f"{loss.lost} of {sent}, at most {loss.longest_ms} ms, {loss.worst} most"
