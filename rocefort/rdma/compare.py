"""Steps of `rdma compare`: compare a run with published figures, or with another run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import reduce
from statistics import median

from rocefort.base.errors import BadInput
from rocefort.models.base import Frozen
from rocefort.models.wording import count_of, listing, names_text
from rocefort.rdma.judge.measurement import SWITCH_LATENCY
from rocefort.rdma.judge.path_difference import direct_and_switched, path_differences
from rocefort.rdma.judge.run_store import LAST, RdmaHistory
from rocefort.rdma.plan.command_lines import DEFAULT_BYTES
from rocefort.rdma.plan.site import PLACES
from rocefort.rdma.publications import (
    MEASURED,
    Publication,
    PublishedFigure,
    load_reference,
    printed_errors,
    reference_names,
)
from rocefort.rdma.rdma_plan import Program, RdmaRun, Round
from rocefort.rdma.results import Measurement, RdmaResult, RunComparison
from rocefort.rdma.run_pairs import comparison_lines, unlike

SWITCH = "through one switch"

Valued = tuple[Measurement, float]
PROCESSES = "processes_per_server"  # no reference states it yet
# Conditions without which a figure is of another experiment: algorithm, factor and load. Others,
# such as the NIC, stay beside a comparison as differences.
DECISIVE = (
    *("congestion_control", "ecn", "network", "mtu", "qps", "queue_pairs", "processes"),
    *("depth", "targets", "background", "streams", PROCESSES),
)
EMULATED = "the figures of this run are constants of an emulator"
NO_SUCH_RUN = "the run has no measurement of this kind"


class Comparability(StrEnum):
    """Comparability of a published figure with the measured one."""

    COMPARABLE = "comparable"
    DIFFERS = "conditions differ"
    UNKNOWN = "conditions not known"
    NOT_MEASURED = "not measured here"


class Reasons(Frozen):
    """Reasons why two figures are not comparable.

    differing: sentences. unknown, unpublished: names of conditions.
    """

    differing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    unpublished: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """All reasons as sentences."""
        unknown = f"not known here: {', '.join(self.unknown)}" if self.unknown else ""
        unpublished = f"not published: {', '.join(self.unpublished)}" if self.unpublished else ""
        return (*self.differing, *filter(None, (unknown, unpublished)))

    def shared_with(self, other: Reasons) -> Reasons:
        """Reasons that are in both."""
        return self._each(lambda name, mine: [x for x in mine if x in getattr(other, name)])

    def without(self, other: Reasons) -> Reasons:
        """Reasons that are not in the other."""
        return self._each(lambda name, mine: [x for x in mine if x not in getattr(other, name)])

    def _each(self, keep: Callable[[str, tuple[str, ...]], Iterable[str]]) -> Reasons:
        names = ("differing", "unknown", "unpublished")
        return Reasons.model_validate({n: tuple(keep(n, getattr(self, n))) for n in names})


class Comparison(Frozen):
    """One published figure and ours. ours: median of `runs` runs. ratio: ours divided by theirs."""

    figure: PublishedFigure
    ours: float | None
    runs: int
    ratio: float | None
    status: Comparability
    reasons: Reasons = Reasons()

    @property
    def why(self) -> tuple[str, ...]:
        """Reasons why the two are not comparable, as sentences."""
        return self.reasons.sentences

    @property
    def sentence(self) -> str:
        """The row as a sentence."""
        return self.row_text(Reasons())

    @property
    def published(self) -> str:
        """Name, value and unit of the published figure, and the doubt that its source leaves."""
        doubt = f" ({self.figure.unconfirmed})" if self.figure.unconfirmed else ""
        return f"{self.figure.name}: {self.figure.text}{doubt}"

    def row_text(self, reported: Reasons) -> str:
        """The row as a sentence, without reasons that are reported already."""
        if self.ours is None or self.ratio is None:
            why = f" ({'; '.join(self.why)})" if self.why else ""
            return f"{self.published}; {self.status}{why}"
        of = f"{self.ratio:.0%}" if self.ratio >= 0.01 else f"1/{1 / self.ratio:.0f} of it"
        mine = f"{self.ours:.0f}" if self.figure.unit == "IOPS" else f"{self.ours:.2f}"
        ours = f"here {mine} ({of}, median of {self.runs})"
        because = "; ".join(self.reasons.without(reported).sentences)
        return f"{self.published}, {ours}; {self.status}{': ' if because else ''}{because}"


def shared_reasons(compared: Iterable[Comparison]) -> Reasons:
    """Reasons common to all figures that were measured here; none for a single figure."""
    reasons = [each.reasons for each in compared if each.ours is not None]
    if len(reasons) < 2:
        return Reasons()
    return reduce(Reasons.shared_with, reasons)


def compare(result: RdmaResult, reference: Publication) -> tuple[Comparison, ...]:
    """Compare every figure of a reference with this run's measurements of the same kind.

    The kind is the program (the unit, if the reference used its own program), collective, depth,
    and the size if both give it. Of these, the nearest are taken: same path, same port speed, and
    perftest's default size if none is published. Runs of a round with a failure are left out. A
    figure of another program, path, port speed, or of another condition in DECISIVE is not measured
    here. So is every figure beside a run on emulated servers. Another condition that differs, or is
    unknown on one side, is in the row.
    """
    figures = [f for f in reference.figures if f.compared and (f.unit in MEASURED or f.verdict)]
    return tuple(compare_figure(result, reference, figure) for figure in figures)


def compare_figure(
    result: RdmaResult, reference: Publication, figure: PublishedFigure
) -> Comparison:
    """Compare one figure of a reference; see `compare`."""
    if result.emulated:
        return _not_comparable(figure, EMULATED)
    if figure.place == SWITCH:
        return _switch(result, reference, figure)
    if figure.verdict is not None:
        return _by_verdict(result, reference, figure)
    faulty = {run.id for each in result.plan.rounds if each.fault for run in each.runs}
    whole = [m for m in result.measurements if m.run.id not in faulty]
    values = [(m, v) for m in whole if (v := _value(m, figure)) is not None]
    if not values:
        return _not_comparable(figure, NO_SUCH_RUN)
    values = _nearest(values, figure)
    measurements = [m for m, _ in values]
    if excluding := list(_excluding(result, reference, figure, measurements)):
        return _not_comparable(figure, *excluding)
    reasons = Reasons(
        differing=tuple(_differing(result, reference, figure, measurements)),
        unknown=tuple(_unknown(result, reference, figure, measurements)),
        unpublished=_unpublished(reference, figure, measurements),
    )
    return _figure_comparison(figure, [value for _, value in values], reasons)


def _not_comparable(figure: PublishedFigure, *why: str) -> Comparison:
    """Return a figure that is beside nothing of this run, with the reasons."""
    return _figure_comparison(figure, [], Reasons(differing=why))


def _excluding(
    result: RdmaResult,
    reference: Publication,
    figure: PublishedFigure,
    measurements: Sequence[Measurement],
) -> Iterator[str]:
    """Yield the reasons why a figure is of another experiment than these measurements."""
    programs = sorted({m.run.program.value for m in measurements})
    if figure.program is None and not figure.collective and programs != [figure.method_of]:
        yield f"theirs is their own program, ours {', '.join(programs)}"
    places = {PLACES[s] for m in measurements if (s := m.run.switches) is not None}
    if figure.place is not None and places and places != {figure.place}:
        yield f"theirs is {figure.place}, ours {', '.join(sorted(places))}"
    rates = {m.run.reach_gbps for m in measurements if m.run.reach_gbps is not None}
    if figure.rate_gbps is not None and rates - {figure.rate_gbps}:
        listed = ", ".join(f"{rate:.4g}" for rate in sorted(rates))
        yield f"theirs is on {figure.rate_gbps:g} Gb/s, ours {listed}"
    here = _conditions(result, measurements)
    for name, theirs in reference.conditions_of(figure).items():
        ours = here.get(name, "not known")
        if name in DECISIVE and ours != theirs:
            yield f"{name.replace('_', ' ')}: theirs {theirs}, ours {ours}"


def _figure_comparison(
    figure: PublishedFigure, values: Sequence[float], reasons: Reasons
) -> Comparison:
    ours = median(values) if values else None
    status = Comparability.COMPARABLE
    if ours is None:
        status = Comparability.NOT_MEASURED
    elif reasons.differing:
        status = Comparability.DIFFERS
    elif reasons.unknown or reasons.unpublished:
        status = Comparability.UNKNOWN
    ratio = ours / figure.value if ours is not None and figure.value else None
    return Comparison(
        figure=figure, ours=ours, runs=len(values), ratio=ratio, status=status, reasons=reasons
    )


def _switch(result: RdmaResult, reference: Publication, figure: PublishedFigure) -> Comparison:
    """Compare the latency of a switch with the one by subtraction, if a sweep gave one."""
    values = [j.value for j in result.judged if j.subject == SWITCH_LATENCY and j.value is not None]
    if not values:
        return _not_comparable(figure, NO_SUCH_RUN)
    reasons = Reasons(
        differing=("theirs is nominal, ours by subtraction",),
        unknown=tuple(_unknown(result, reference, figure, ())),
        unpublished=_unpublished(reference, figure, ()),
    )
    return _figure_comparison(figure, values, reasons)


def _by_verdict(result: RdmaResult, reference: Publication, figure: PublishedFigure) -> Comparison:
    """Compare a figure over several runs, such as a ratio, with that of a verdict."""
    values = [j.value for j in result.judged if j.subject == figure.verdict and j.value is not None]
    if not values:
        return _not_comparable(figure, NO_SUCH_RUN)
    reasons = Reasons(
        differing=tuple(_differing(result, reference, figure, ())),
        unknown=tuple(_unknown(result, reference, figure, ())),
    )
    return _figure_comparison(figure, values, reasons)


def _value(measurement: Measurement, figure: PublishedFigure) -> float | None:
    """Return our figure of the same kind; None: this measurement is of another kind."""
    run, ours = measurement.run, measurement.figures
    if figure.program is not None and run.program is not figure.program:
        return None
    if figure.collective:
        sizes = measurement.sizes if run.collective == figure.collective else ()
        return next((p.average_us for p in sizes if p.size_bytes == figure.size_bytes), None)
    if ours is None or (figure.size_bytes is not None and run.size_bytes != figure.size_bytes):
        return None
    for name in ("depth", "targets"):
        theirs = figure.conditions.get(name)
        if None not in (theirs, run.storage) and theirs != str(getattr(run.storage, name)):
            return None
    values = {"Gb/s": ours.gbps, "us": ours.latency_us, "IOPS": ours.iops}
    if figure.program is not None:
        values["%"] = ours.cpu_percent
    elif figure.method_of is not None and figure.rate_gbps and ours.gbps is not None:
        values["%"] = 100 * ours.gbps / figure.rate_gbps
    return values.get(figure.unit)


def _nearest(values: list[Valued], figure: PublishedFigure) -> list[Valued]:
    """Return the values nearest to the conditions of a figure; all, if none are nearer."""

    def usual(run: RdmaRun) -> bool:
        return run.size_bytes == (2 if run.program.measures_latency else DEFAULT_BYTES)

    for condition, fits in (
        (figure.place, lambda run: PLACES.get(run.switches or 0) == figure.place),
        (figure.rate_gbps, lambda run: run.reach_gbps == figure.rate_gbps),
        (figure.method_of, lambda run: run.program is figure.method_of),
        (figure.program if figure.size_bytes is None else None, usual),
    ):
        near = [(m, v) for m, v in values if fits(m.run)]
        values = near if condition is not None and near else values
    return values


def _differing(
    result: RdmaResult,
    reference: Publication,
    figure: PublishedFigure,
    measurements: Sequence[Measurement],
) -> Iterator[str]:
    here = _conditions(result, measurements)
    if figure.method_of is not None:
        yield f"theirs is their own program, ours {figure.method_of}"
    for name, theirs in reference.conditions_of(figure).items():
        ours = here.get(name)
        if ours is not None and ours != theirs:
            yield f"{name.replace('_', ' ')}: theirs {theirs}, ours {ours}"


def _conditions(result: RdmaResult, measurements: Iterable[Measurement]) -> dict[str, str]:
    """Return the known conditions of these measurements, from the servers and from the runs."""
    own: dict[str, set[str]] = {}
    rounds = {run.id: each for each in result.plan.rounds for run in each.runs}
    for run in (m.run for m in measurements):
        own.setdefault("background", set()).add(_background(run, rounds.get(run.id)))
        if run.program.is_perftest:
            own.setdefault("qps", set()).add(str(run.qps))
        if run.program is Program.IPERF3:
            own.setdefault("streams", set()).add(str(run.qps))
        if run.ranks:
            own.setdefault("processes", set()).add(f"{len(run.ranks)} servers")
            own.setdefault(PROCESSES, set()).add(str(run.processes_per_server))
        if run.storage is not None:
            own.setdefault("depth", set()).add(str(run.storage.depth))
            own.setdefault("targets", set()).add(str(run.storage.targets))
    return result.conditions | {name: ", ".join(sorted(values)) for name, values in own.items()}


def _background(run: RdmaRun, beside: Round | None) -> str:
    """Return the other load of a run's round; TCP in the words of references."""
    others = [each for each in (beside.runs if beside else ()) if each.id != run.id]
    tcp = [each for each in others if each.program is Program.IPERF3]
    rates = {each.limit_gbps for each in tcp}
    rate = f" at {rates.pop():g} Gb/s each" if len(rates) == 1 and None not in rates else ""
    loads = [f"{count_of(len(tcp), 'server')} iperf{rate}"] if tcp else []
    rest = Counter(
        f"{each.label} over {each.pair}" if each.ranks else each.label
        for each in others
        if each not in tcp
    )
    loads += [f"{count_of(number, 'run')} of {what}" for what, number in rest.items()]
    return " and ".join(loads) or "none"


def _unknown(
    result: RdmaResult,
    reference: Publication,
    figure: PublishedFigure,
    measurements: Sequence[Measurement],
) -> Iterator[str]:
    here = _conditions(result, measurements)
    for name in reference.conditions_of(figure):
        if name not in here:
            yield name.replace("_", " ")
    reached = [m.run.reach_gbps for m in measurements]
    if figure.rate_gbps is not None and reached and not any(reached):
        yield "speed of the ports"


def _unpublished(
    reference: Publication, figure: PublishedFigure, measurements: Sequence[Measurement]
) -> tuple[str, ...]:
    lacking = ["message size"] if figure.size_bytes is None else []
    if figure.place is None:
        lacking.append("way")
    if figure.collective and PROCESSES not in reference.conditions_of(figure):
        each = sorted({m.run.processes_per_server for m in measurements})
        lacking.append(f"processes a server (here {listing(each)})")
    return tuple(lacking)


def compare_with(past: RdmaHistory, run: str, other: str, *, judged: bool = False) -> RunComparison:
    """Compare a run with a reference in the package, or with another run; raises BadInput.

    judged: whether regressions must be judged, which a reference does not allow.
    """
    result = past.load(run)
    if other in reference_names():
        if judged:
            what = f"{other} holds published figures, which cannot judge a regression"
            raise BadInput(what, where="--exit-code", how="compare with an earlier run")
        return _with_reference(result, other)
    if all(other not in (line.id, LAST) for line in past.runs()):
        references = ", ".join(reference_names())
        how = f"a reference ({references}), or a run of `rdma history`"
        raise BadInput(f"nothing to compare with is called {other!r}", where="--with", how=how)
    earlier = past.load(other)
    if earlier.id == result.id:
        raise BadInput(f"run {result.id} cannot be compared with itself", where="--with")
    title = f"run {result.id} beside run {earlier.id} of {earlier.began:%Y-%m-%d %H:%M} UTC"
    notes = tuple(unlike(result, earlier))
    if emulated := [each.id for each in (result, earlier) if each.emulated]:
        what = f"the figures of {names_text(emulated)} are constants of an emulator"
        if judged:
            raise BadInput(f"{what}, which cannot judge a regression", where="--exit-code")
        return RunComparison(title=title, notes=notes, lines=(f"not compared: {what}",))
    if paths := direct_and_switched(result, earlier):
        if judged:
            what = f"{names_text(each.id for each in paths)} are of two paths, back to back and not"
            how = "compare runs of one bench"
            raise BadInput(f"{what}: none is a regression", where="--exit-code", how=how)
        rows = path_differences(*paths)
        title = f"run {paths[1].id} through a switch less run {paths[0].id} back to back"
        return RunComparison(title=title, notes=notes, lines=tuple(row.sentence for row in rows))
    lines = tuple(comparison_lines(result, earlier, past.good(result)))
    return RunComparison(
        title=title,
        notes=notes,
        lines=tuple(each.sentence for each in lines),
        slower=any(each.slower for each in lines),
    )


# --- published figures ----------------------------------------------------------------------------


def _with_reference(result: RdmaResult, name: str) -> RunComparison:
    reference = load_reference(name)
    compared = compare(result, reference)
    shared = shared_reasons(compared)
    notes = [f"caution: {reference.caution}"] if reference.caution else []
    notes += [f"error in print: {sentence}" for sentence in printed_errors(reference)]
    notes += [f"here: {name}: {value}" for name, value in result.conditions.items()]
    if shared.sentences:
        notes.append(f"of every figure: {'; '.join(shared.sentences)}")
    rows = [
        each.row_text(shared) for each in compared if each.status is not Comparability.NOT_MEASURED
    ]
    return RunComparison(
        title=f"run {result.id} beside {reference.title} ({reference.source})",
        notes=tuple(notes),
        lines=(*rows, *_not_measured(compared)),
    )


def _not_measured(compared: Iterable[Comparison]) -> Iterator[str]:
    """Yield a line for each reason, with its figures."""
    figures: dict[str, list[str]] = {}
    for each in compared:
        if each.status is Comparability.NOT_MEASURED:
            figures.setdefault("; ".join(each.why), []).append(each.published)
    for why, listed in figures.items():
        yield f"not measured here ({why}): {'; '.join(listed)}"
