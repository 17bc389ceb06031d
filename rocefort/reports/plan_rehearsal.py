"""What came of a plan's rehearsal, as text of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from rocefort.models.plan_rehearsal import Loss, PlanRehearsal
from rocefort.models.wording import counted
from rocefort.reports.wording import WIDTH

HEAD = 16


def rehearsal_text(report: PlanRehearsal) -> str:
    """Verdict, waves, checks, what was lost meanwhile, and what no twin tells."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: PlanRehearsal) -> Iterator[str]:
    verdict = "PASSED" if report.passed else f"FAILED: {report.failure}"
    yield from _wrapped(f"rehearsal of plan {report.plan[:12]} of {report.fabric} {verdict}", 2)
    began, ended = f"{report.began:%Y-%m-%d %H:%M:%S}", f"{report.ended:%H:%M:%S} UTC"
    yield from _row("when, who", f"{began} to {ended}, {report.by} on {report.host}, {report.tool}")
    guests = f"; RDMA between {', '.join(report.guests)}" if report.guests else ""
    yield from _row("twin", f"FRR {report.frr}, Linux {report.kernel}{guests}")
    for wave in report.waves:
        gate = f"; gate: {wave.gate}" if wave.gate else ""
        took = f", {wave.seconds:.1f} s" if wave.seconds else ""
        yield from _row(wave.name, f"{wave.ended}{took}: {', '.join(wave.devices)}{gate}")
    for check in report.checks:
        yield from _row(check.what, f"{'ok' if check.passed else 'FAILED'}: {check.found}")
    if report.loss is not None:
        yield from _row("loss meanwhile", loss_text(report.loss))
    yield "not judged, for a twin cannot tell:"
    for what in report.not_judged:
        yield from _wrapped(f"  {what}", 4)


def loss_text(loss: Loss) -> str:
    """Packets that were lost, and for how long."""
    sent = f"{loss.sent} packets of {counted(loss.streams, 'stream')}"
    if not loss.lost:
        return f"none of {sent}"
    return f"{loss.lost} of {sent}, at most {loss.longest_ms} ms, {loss.worst} most"


def _row(head: str, text: str) -> Iterator[str]:
    width = max(HEAD, len(head) + 1)
    yield from _wrapped(f"{head:<{width}}{text}", width)


def _wrapped(text: str, indent: int) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
