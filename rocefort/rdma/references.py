"""Published figures beside a run's own: what may be compared, and what keeps them apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from statistics import median

from rocefort.documents.nearest import nearest
from rocefort.documents.read import read_document
from rocefort.documents.validate import validate
from rocefort.errors import BadInput
from rocefort.models.base import Frozen
from rocefort.models.rdma_result import Measurement, RdmaResult
from rocefort.models.reference import Figure, Reference
from rocefort.paths import INVENTORY
from rocefort.rdma.site import FAR, NEAR

REFERENCES = INVENTORY / "references"
PLACES = {FAR: "across the spines", NEAR: "within a leaf"}


class Status(StrEnum):
    """Whether two figures may be read against each other."""

    COMPARABLE = "comparable"
    DIFFERS = "conditions differ"
    UNKNOWN = "conditions not known"
    NOT_MEASURED = "not measured here"


class Comparison(Frozen):
    """One published figure and ours: the median of so many runs; ratio is ours by theirs."""

    figure: Figure
    ours: float | None
    runs: int
    ratio: float | None
    status: Status
    why: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The row in words."""
        theirs = f"{self.figure.name}: {self.figure.value:g} {self.figure.unit}"
        if self.ours is None or self.ratio is None:
            return f"{theirs}; {self.status}"
        ours = f"here {self.ours:.2f} ({self.ratio:.0%}, median of {self.runs})"
        because = f": {'; '.join(self.why)}" if self.why else ""
        return f"{theirs}, {ours}; {self.status}{because}"


def reference_names(directory: Path = REFERENCES) -> tuple[str, ...]:
    """Names of the references that ship."""
    return tuple(sorted(path.stem for path in directory.glob("*.yaml")))


def load_reference(name: str, directory: Path = REFERENCES) -> Reference:
    """Read a reference by its name; raises BadInput with the nearest name, or file and line."""
    known = reference_names(directory)
    if name not in known:
        raise BadInput(f"no reference {name!r}", where="references", how=nearest(name, known))
    found = validate(Reference, read_document(directory / f"{name}.yaml", "reference: NAME"))
    if found.reference != name:
        raise BadInput(
            f"reference: {found.reference}", where=f"{name}.yaml", how="call it as its file"
        )
    return found


def compare(result: RdmaResult, reference: Reference) -> tuple[Comparison, ...]:
    """Every figure of a reference beside what this run measured of the same kind.

    Of the same kind: program (or, where the reference's is its own, unit), collective, and size
    where both say it. What differs, or is not known on one side, stands in the row.
    """
    return tuple(_compare(result, reference, figure) for figure in reference.figures)


def _compare(result: RdmaResult, reference: Reference, figure: Figure) -> Comparison:
    values = [(m, v) for m in result.measurements if (v := _value(m, figure)) is not None]
    if not values:
        return Comparison(
            figure=figure, ours=None, runs=0, ratio=None, status=Status.NOT_MEASURED, why=()
        )
    measurements = [m for m, _ in values]
    ours = median(value for _, value in values)
    differing = tuple(_differing(result, reference, figure, measurements))
    unknown = tuple(_unknown(result, reference, figure, measurements))
    status = Status.COMPARABLE
    if unknown:
        status = Status.UNKNOWN
    if differing:
        status = Status.DIFFERS
    return Comparison(
        figure=figure,
        ours=ours,
        runs=len(values),
        ratio=ours / figure.value,
        status=status,
        why=(*differing, *unknown),
    )


def _value(measurement: Measurement, figure: Figure) -> float | None:
    """Our figure of that kind; None: this measurement is none of it."""
    run, ours = measurement.run, measurement.figures
    if figure.program is not None and run.program is not figure.program:
        return None
    if figure.collective:
        sizes = measurement.sizes if run.collective == figure.collective else ()
        return next((p.average_us for p in sizes if p.size_bytes == figure.size_bytes), None)
    if ours is None or (figure.size_bytes is not None and run.size_bytes != figure.size_bytes):
        return None
    return {"Gb/s": ours.gbps, "us": ours.latency_us, "IOPS": ours.iops}[figure.unit]


def _differing(
    result: RdmaResult, reference: Reference, figure: Figure, measurements: Sequence[Measurement]
) -> Iterator[str]:
    if figure.program is None:
        programs = sorted({m.run.program.value for m in measurements})
        yield f"theirs is their own program, ours {', '.join(programs)}"
    places = {PLACES[s] for m in measurements if (s := m.run.switches) in PLACES}
    if figure.place is not None and places and places != {figure.place}:
        yield f"theirs is {figure.place}, ours {', '.join(sorted(places))}"
    rates = {m.run.reach_gbps for m in measurements if m.run.reach_gbps is not None}
    if figure.rate_gbps is not None and rates - {figure.rate_gbps}:
        listed = ", ".join(f"{rate:g}" for rate in sorted(rates))
        yield f"theirs is on {figure.rate_gbps:g} Gb/s, ours {listed}"
    for name, theirs in reference.conditions_of(figure).items():
        ours = result.conditions.get(name)
        if ours is not None and ours != theirs:
            yield f"{name.replace('_', ' ')}: theirs {theirs}, ours {ours}"


def _unknown(
    result: RdmaResult, reference: Reference, figure: Figure, measurements: Sequence[Measurement]
) -> Iterator[str]:
    lacking = [
        name.replace("_", " ")
        for name in reference.conditions_of(figure)
        if name not in result.conditions
    ]
    if lacking:
        yield f"not known here: {', '.join(lacking)}"
    absent = []
    if figure.size_bytes is None:
        absent.append("message size")
    if figure.place is None:
        absent.append("way")
    if absent:
        yield f"not published: {', '.join(absent)}"
    if figure.rate_gbps is not None and all(m.run.reach_gbps is None for m in measurements):
        yield "not known here: speed of the ports"
