"""Verify a fabric: engines, sessions, routes and the reachability matrix."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rocefort.base.repository import FABRIC_FILE
from rocefort.design.derive.derive import derive
from rocefort.design.git_revisions import checked_out, looks_like_revision, revision_of, site_beside
from rocefort.design.subject import ReadNetwork, subject_of_derived, subject_of_texts
from rocefort.dialects.designs import designs_in
from rocefort.models.finding import Report
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Note, Section, Table, TableColumn
from rocefort.validators import checks, engine_choice
from rocefort.validators.batfish.access import LIMIT_S, Service, service_at
from rocefort.validators.engine_choice import Engine, StudyOptions, VerificationResult
from rocefort.validators.routing.engine import with_servers_of
from rocefort.validators.routing_results import (
    FailureStudy,
    NotCertain,
    Reachability,
    RoutingChange,
    RoutingState,
    SessionStatus,
    Timing,
)
from rocefort.validators.rules.certainty import certain, sentences, uncertain
from rocefort.validators.rules.running.running_subject import RunningSubject
from rocefort.validators.rules.verification.answers import verify_failures
from rocefort.validators.verification.batfish_session import DEFAULT, disagreeing
from rocefort.verification.failures import NONE, FailureReport, study_failures

TEXT_OF_EACH = "TXT201"
TOKEN = "ROCEFORT_BATFISH_TOKEN"  # noqa: S105 - the name of a variable

NOT_ASKED = "Batfish was not asked: no service is named; to ask it: --batfish HOST:PORT"


@dataclass(frozen=True)
class VerifyRequest:
    """Options of `verify` on the command line."""

    engine: Engine
    batfish: str | None
    failures: str | None = None
    against: str | None = None
    limit_s: float = LIMIT_S


@dataclass(frozen=True)
class VerifyResult:
    """Results of `verify`: engine results, findings, failure studies and notes."""

    verified: VerificationResult
    report: Report
    studies: tuple[FailureStudy, ...] = ()
    notes: tuple[str, ...] = ()


def service_of(address: str | None, limit_s: float = LIMIT_S) -> Service | None:
    """Service at an address, with the token of the environment; None without an address."""
    return None if address is None else service_at(address, os.environ.get(TOKEN, ""), limit_s)


def verify_subject(subject: ReadNetwork, name: str, asked: VerifyRequest) -> VerifyResult:
    """Verify a network; name: of the subject on the command line, for `--against REV:`."""
    service = service_of(asked.batfish, asked.limit_s)
    before = None
    if asked.against is not None:
        before = subject_of_side(asked.against, name).network
        # A configuration text has no servers: it gets those of the other side.
        subject = replace(subject, network=with_servers_of(before, subject.network))
        before = with_servers_of(subject.network, before)
    wishes = StudyOptions(_forks(asked), before, subject.running is not None)
    verified = engine_choice.run(subject.network, subject.sources, asked.engine, service, wishes)
    subject = replace(subject, network=verified.readings.first.network)
    done = _with_failures(subject, verified, asked)
    designs = map(str, designs_in(subject.network))  # those that change no answer
    unasked = [NOT_ASKED] if asked.engine is Engine.AUTO and service is None else []
    done = replace(done, notes=(*sentences(verified.readings), *done.notes, *designs, *unasked))
    if subject.running is None:
        return done
    # A switch without a text counts as intended; a verification of what runs reports it, too.
    texts = checks.check(
        subject.network,
        subject.sources,
        run=checks.rules((TEXT_OF_EACH,), judges=RunningSubject),
        running=subject.running,
    )
    return replace(done, report=texts.joined(done.report))


def segment_pairs_of(subject: ReadNetwork, verified: VerificationResult) -> tuple[int, int] | None:
    """Delivered and all pairs of segments of texts; None: a fabric alone, or no engine probed."""
    alone = subject.network.servers is not None and subject.running is None
    if alone or verified.solution is None:
        return None
    return verified.solution.gateways.delivered, verified.solution.gateways.pairs


def uncertain_answers(verified: VerificationResult) -> NotCertain | None:
    """Numbers of answers that depend on a doubtful line; None: no line is doubtful."""
    return uncertain(verified.solutions) if len(verified.solutions) > 1 else None


def _forks(asked: VerifyRequest) -> str | None:
    """Failures for Batfish: by default a sample, but none with the engine `auto`."""
    if asked.failures == NONE or asked.engine is Engine.EMBEDDED:
        return None
    return asked.failures or (None if asked.engine is Engine.AUTO else DEFAULT)


def subject_of_side(text: str, other: str) -> ReadNetwork:
    """Read the text of a fabric or a directory of configurations, or of either at a revision."""
    if looks_like_revision(text):
        with checked_out(revision_of(text, other)) as files:
            if not files.is_fabric:
                return subject_of_texts(files.source, files.site)
            return subject_of_derived(files.derive())
    path = Path(text)
    if path.is_dir() and not (path / FABRIC_FILE).exists():
        return subject_of_texts(path, site_beside(other))
    return subject_of_derived(derive(path))


def _with_failures(
    subject: ReadNetwork, verified: VerificationResult, asked: VerifyRequest
) -> VerifyResult:
    done = VerifyResult(verified, verified.report)
    theirs = verified.asked.study if verified.asked else None
    if asked.engine is not Engine.BATFISH:
        failing = _of_all_readings(
            subject, study_failures(subject, asked.failures, verified.solution), verified, asked
        )
        studies = (failing.study,) if failing.study else ()
        report = done.report.joined(failing.report) if failing.report else done.report
        done = replace(
            done, report=report, studies=studies, notes=(failing.note,) if failing.note else ()
        )
    if theirs is None:
        return done
    if not done.studies:
        judged = verify_failures(subject.network, theirs, subject.sources)
        return replace(done, report=done.report.joined(judged), studies=(theirs,))
    return _compared_studies(subject, done, theirs)


def _of_all_readings(
    subject: ReadNetwork, first: FailureReport, verified: VerificationResult, asked: VerifyRequest
) -> FailureReport:
    """Findings of failures that all readings share; first: of the first reading."""
    read = verified.readings
    if not read.doubts or first.study is None or first.report is None:
        return first
    rows = zip(read.all[1:], verified.solutions[1:], strict=True)
    others = [
        study_failures(replace(subject, network=reading.network), asked.failures, solution)
        for reading, solution in rows
    ]
    reports = [first.report, *(other.report for other in others if other.report)]
    report = certain(reports, read, subject.network)
    if all(other.study and other.study.circles == first.study.circles for other in others):
        return replace(first, report=report)
    circles = f"not judged: {'; '.join(doubt.words for doubt in read.doubts)}"
    return replace(first, report=report, study=first.study.model_copy(update={"circles": circles}))


def _compared_studies(
    subject: ReadNetwork, done: VerifyResult, theirs: FailureStudy
) -> VerifyResult:
    """Compare the effects of the same failures between both engines."""
    names = (done.verified.engines[0], done.verified.engines[-1])
    both, findings = disagreeing(done.studies[0], theirs, names, subject.sources)
    count = len(theirs.effects)
    note = f"{names[1]} asked about {count} of {theirs.population} failures of {theirs.scope!r}"
    note += f", a sample with seed {theirs.seed}" if theirs.seed is not None else ""
    note += f"; {both} compared with {names[0]}: {'a difference' if findings else 'no difference'}"
    report = Report(network=done.report.network, rules=(), findings=findings)
    return replace(
        done,
        report=done.report.joined(report),
        studies=(*done.studies, theirs),
        notes=(*done.notes, note),
    )


SEGMENTS = 8  # side by side


def verified_report(  # noqa: PLR0913, PLR0917 - what the report is about, and what it takes off
    state: RoutingState,
    engines: Sequence[str],
    note: str = "",
    segment_pairs: tuple[int, int] | None = None,
    uncertain: NotCertain | None = None,
    denied: int = 0,
) -> Section:
    """Show the verified state and the engines.

    segment_pairs: delivered, and all; of texts, between gateways. uncertain: to take off. denied:
    pairs of servers that are not delivered, as the policy requires.
    """
    unsure = uncertain or NotCertain()
    up = sum(s.status is SessionStatus.ESTABLISHED for s in state.sessions)
    widths = Counter(route.width for route in state.routes)
    reached = state.reachability
    shares = ", ".join(f"{widths[width]} of width {width}" for width in sorted(widths))
    sentences = (
        f"verified by: {' and '.join(engines)}" + (f" ({note})" if note else ""),
        f"BGP sessions established: {_certain(up, len(state.sessions), unsure.sessions, ' ends')}",
        f"BGP routes: {len(state.routes)} ({shares or 'none'})",
        *_pairs(reached, segment_pairs, unsure, denied),
    )
    return Section("", (*map(Note, sentences), *segments(reached)))


def _certain(good: int, total: int, uncertain: int, unit: str = "") -> str:
    """`30 of 32 ends`, or `30 of 32 ends, 2 not judged`."""
    rest = f", {uncertain} not judged" if uncertain else ""
    return f"{good - uncertain} of {total}{unit}{rest}"


def _pairs(
    reached: Reachability, segment_pairs: tuple[int, int] | None, unsure: NotCertain, denied: int
) -> Iterator[str]:
    """Pairs of servers and of segments that were probed, each kind in a sentence."""
    if reached.pairs:
        unit = " that the policy allows" if denied else ""
        share = _certain(reached.delivered, reached.pairs - denied, unsure.pairs, unit)
        yield f"server pairs delivered by every path: {share}"
    else:
        yield "server pairs: none, no two servers are known"
    if segment_pairs is None:
        return
    delivered, pairs = segment_pairs
    if pairs:
        share = _certain(delivered, pairs, unsure.segment_pairs)
        yield f"segment pairs delivered by every path between gateways: {share}"
    else:
        yield "segment pairs: none, fewer than two switches have a gateway that is up"


def segments(reached: Reachability) -> Iterator[Table]:
    """Show the reachability matrix of segments: all, some or none of the pairs."""
    names = reached.segments
    if len(names) < 2:
        return
    cells = {(pair.source, pair.destination): pair.share for pair in reached.by_segment()}
    for start in range(0, len(names), SEGMENTS):
        others = list(enumerate(names, 1))[start : start + SEGMENTS]
        heads = (TableColumn(str(number), "right") for number, _ in others)
        rows = (
            (f"{number:>4} {name}", *(cells[name, other] for _, other in others))
            for number, name in enumerate(names, 1)
        )
        yield Table((TableColumn("pairs delivered, from segment"), *heads), tuple(rows))


def change_report(change: RoutingChange, against: str) -> Section:
    """Show the differences of two versions, by one engine."""
    routes = (
        ("gone", change.gone),
        ("new", change.new),
        ("narrower", change.narrower),
        ("wider", change.wider),
        ("over other next hops", change.moved),
    )
    moved = ", ".join(f"{len(some)} {what}" for what, some in routes if some)
    pairs = f"{count_of(len(change.lost), 'server pair')} lost, {len(change.gained)} gained"
    first = Note(f"against {against}, by {change.engine}: {pairs}")
    return Section("", (first, Note(f"BGP routes: {moved or 'as before'}")))


def timings_report(timings: Sequence[Timing], version: str) -> Section:
    """Show the time of each question; equal questions share a row."""
    seconds: dict[str, list[float]] = {}
    for timing in timings:
        seconds.setdefault(timing.question.partition(",")[0], []).append(timing.seconds)
    total = sum(timing.seconds for timing in timings)
    rows = tuple(
        (question, f"{len(own)} x", f"{sum(own):.2f} s")
        for question, own in sorted(seconds.items(), key=lambda item: -sum(item[1]))
    )
    head = Note(f"Batfish {version}: {count_of(len(timings), 'question')}, {total:.1f} s")
    heads = (TableColumn(), TableColumn(align="right"), TableColumn(align="right"))
    return Section("", (head, Table(heads, rows)))
