"""Verification by the chosen engine: embedded, Batfish, or both with a comparison."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum

from rocefort.base.errors import Refused, ServiceFailed
from rocefort.base.progress import Step, note
from rocefort.models.finding import Report
from rocefort.models.network.network import Network, Sources
from rocefort.validators.batfish.access import Service
from rocefort.validators.failures.study import single_failures
from rocefort.validators.routing.engine import (
    Solution,
    analyse,
    change_of,
    change_since,
    common_switches,
)
from rocefort.validators.routing.external_peers import with_outside
from rocefort.validators.routing.running_lines import as_it_runs
from rocefort.validators.routing_results import RoutingChange, RoutingState
from rocefort.validators.rules.certainty import NetworkReadings, certain, readings
from rocefort.validators.rules.registry import registered
from rocefort.validators.rules.verification.answers import verify, verify_change, verify_segments
from rocefort.validators.rules.verification.batfish_subject import verify_checks
from rocefort.validators.rules.verification.engine_difference import (
    EngineDifference,
    disagreement,
    disagreements,
)
from rocefort.validators.rules.waivers import sort_out
from rocefort.validators.verification.batfish_session import (
    BatfishResult,
    ask_all,
    cabled_failures,
    choose,
)


class Engine(StrEnum):
    """Verification engine. `auto`: both where a Batfish service is named, else embedded."""

    AUTO = "auto"
    EMBEDDED = "embedded"
    BATFISH = "batfish"
    BOTH = "both"


@dataclass(frozen=True)
class VerificationResult:
    """Result of a verification: report, engines, and the reason why an engine did not run."""

    report: Report
    state: RoutingState
    engines: tuple[str, ...]
    readings: NetworkReadings  # of the texts; state and solution are of the first one
    note: str = ""
    solution: Solution | None = None  # of the embedded engine, if it ran
    solutions: tuple[Solution, ...] = ()  # of every reading
    asked: BatfishResult | None = None  # of Batfish, if it ran
    changes: tuple[RoutingChange, ...] = ()  # from an earlier version, by each engine


@dataclass(frozen=True)
class StudyOptions:
    """Optional parts of a verification: failures in Batfish, an earlier version, segments."""

    failures: str | None = None  # a scope, as `chosen_failures` has it
    before: Network | None = None
    running: bool = False  # texts of switches beside an intent


def run(
    network: Network,
    sources: Sources,
    engine: Engine,
    service: Service | None = None,
    wishes: StudyOptions | None = None,
) -> VerificationResult:
    """Verify a network whose Devices were parsed from text.

    service: the service that the user names. Without it `auto` uses no Batfish, and the engines
    that need a service use the default address. Raises ServiceFailed if a required service does not
    answer, and Refused if an engine does not model the network. With `auto`, a failure of Batfish
    is a note, and the embedded result stays.
    """
    options = wishes or StudyOptions()
    read = readings(network, sources)
    network = read.first.network
    if engine is Engine.BATFISH:
        return _by_batfish(read, sources, service or Service(), options)
    solutions = tuple(analyse(reading.network, sources) for reading in read.all)
    solution = solutions[0]
    reports = [
        _reading_report(reading.network, solved.state, sources, solved, options)
        for reading, solved in zip(read.all, solutions, strict=True)
    ]
    done = VerificationResult(
        certain(reports, read, network),
        solution.state,
        (solution.state.engine,),
        read,
        solution=solution,
        solutions=solutions,
    )
    done = _with_change(done, network, sources, options)
    if engine is Engine.EMBEDDED or (engine is Engine.AUTO and service is None):
        return done
    try:
        answers = _ask(network, solution, service or Service(), options, sources)
    except (ServiceFailed, Refused) as error:
        if engine is Engine.BOTH:
            raise
        fallback = f"no answer of Batfish: {error}"
        note(fallback)
        return replace(done, note=fallback)
    report = done.report.joined(engine_comparison(network, solution, answers.state, sources))
    return _with_batfish(replace(done, report=report), answers, network, options.before, sources)


def _reading_report(
    network: Network,
    state: RoutingState,
    sources: Sources,
    solution: Solution | None,
    options: StudyOptions,
) -> Report:
    report = verify(network, state, sources, solution)
    if network.servers is None or not options.running:
        return report
    return report.joined(verify_segments(network, state, sources, solution))


def _ask(
    network: Network,
    solution: Solution | None,
    service: Service,
    options: StudyOptions,
    sources: Sources,
) -> BatfishResult:
    chosen = None
    if options.failures is not None:
        singles = single_failures(network, solution) if solution else cabled_failures(network)
        chosen = choose(singles, options.failures)
    return ask_all(as_it_runs(network, sources).network, service, chosen, options.before)


def _by_batfish(
    read: NetworkReadings, sources: Sources, service: Service, options: StudyOptions
) -> VerificationResult:
    """Verify with Batfish alone; the embedded engine adds causes if it models the network.

    It also solves further readings, if any: Batfish answers the first one.
    """
    network = read.first.network
    solution, solutions = None, tuple[Solution, ...]()
    try:
        solutions = tuple(analyse(reading.network, sources) for reading in read.all)
        solution = solutions[0]
    except Refused:
        if read.doubts:
            raise
    answers = _ask(network, solution, service, options, sources)
    reports = [_reading_report(network, answers.state, sources, solution, options)]
    reports += [
        _reading_report(reading.network, solved.state, sources, solved, options)
        for reading, solved in zip(read.all[1:], solutions[1:], strict=True)
    ]
    report = certain(reports, read, network)
    done = VerificationResult(
        report, answers.state, (answers.state.engine,), read, answers.note, asked=answers
    )
    report = report.joined(
        verify_checks(with_outside(network), answers.files, answers.checks, sources)
    )
    if answers.before is None or options.before is None:
        return replace(done, report=report)
    change = change_of(answers.before, answers.state, common_switches(options.before, network))
    report = report.joined(verify_change(network, change, sources, solution))
    return replace(done, report=report, changes=(change,))


def _with_change(
    done: VerificationResult, network: Network, sources: Sources, options: StudyOptions
) -> VerificationResult:
    """Add the embedded engine's result on a change."""
    if options.before is None:
        return done
    with Step("earlier state"):
        before = _solved_before(options.before)
    both_have = common_switches(options.before, network)
    changes = [change_since(before, one.state, one, both_have) for one in done.solutions]
    reports = [
        verify_change(reading.network, change, sources, solved)
        for reading, change, solved in zip(done.readings.all, changes, done.solutions, strict=True)
    ]
    report = done.report.joined(certain(reports, done.readings, network))
    return replace(done, report=report, changes=(changes[0],))


def _solved_before(network: Network) -> Solution:
    """Solution of the earlier version; Refused names that version."""
    try:
        return analyse(network)
    except Refused as refused:
        problem = refused.problem
        where = f"the version before, {problem.where}" if problem.where else "the version before"
        raise Refused(problem.what, where=where, how=problem.how) from refused


def _with_batfish(
    done: VerificationResult,
    answers: BatfishResult,
    network: Network,
    before: Network | None,
    sources: Sources,
) -> VerificationResult:
    """Add Batfish's checks, and differences between the changes of the two engines."""
    report, changes = done.report, done.changes
    report = report.joined(
        verify_checks(with_outside(network), answers.files, answers.checks, sources)
    )
    if changes and answers.before is not None and before is not None:
        theirs = change_of(answers.before, answers.state, common_switches(before, network))
        examples = [(example.source, example.destination) for example in answers.examples]
        findings = disagreement(changes[0], theirs, examples, sources)
        report = report.joined(Report(network=network.name, rules=(), findings=findings))
        changes = (*changes, theirs)
    names = (*done.engines, answers.state.engine)
    return replace(
        done, report=report, engines=names, note=answers.note, asked=answers, changes=changes
    )


def engine_comparison(
    network: Network,
    solution: Solution,
    other: RoutingState,
    sources: Sources,
    today: date | None = None,
) -> Report:
    """Differences between two engines; `today` as in `verify`."""
    report = Report(
        network=network.name,
        rules=tuple(one.id for one in registered(EngineDifference)),
        findings=disagreements(solution, other, sources),
    )
    return sort_out(report, network, sources, today)
