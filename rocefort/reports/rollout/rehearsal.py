"""Outcome of a plan's rehearsal."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.models.rollout.rehearsal import Loss, PlanRehearsal
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Items, Note, Section, Table, TableColumn, Tone


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
