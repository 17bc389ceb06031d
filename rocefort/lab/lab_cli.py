"""Steps of `lab cli`: a fabric's command lines until the user ends them."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from rocefort.design.subject import subject_of
from rocefort.lab.background import mark_ready
from rocefort.lab.emulated_site import STATE_FILE, Rehearsal, rehearse
from rocefort.lab.lab_report import LabAccess, LabAccesses, accesses_report
from rocefort.lab.options import LabOptions
from rocefort.models.network.network import Network
from rocefort.reports.blocks import Block

Write = Callable[[LabAccesses, Callable[[LabAccesses], Iterable[Block]]], None]


def run_lab(fabric: Path, state: Path, options: LabOptions, write: Write) -> None:
    """Run a lab until it is interrupted; write the SSH command of each switch and server."""
    # No part of the design is kept here: a fabric of 200 switches has 50 MB of it.
    with rehearse(*_designed(fabric), state, options) as rehearsal:
        write(_running(rehearsal, state, options), accesses_report)
        # A shell's background job ignores Ctrl-C's signal, so `kill` must also end the lab.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        mark_ready(state)
        with suppress(KeyboardInterrupt):
            signal.pause()


def _running(rehearsal: Rehearsal, state: Path, options: LabOptions) -> LabAccesses:
    """Return the SSH access of each switch and server."""
    known = rehearsal.connections
    end = f"connections: {rehearsal.file}; passwords in {state}/*.secret; Ctrl-C ends the lab"
    return LabAccesses(
        connections=str(rehearsal.file),
        accesses=tuple(
            LabAccess(name=each.name, host=each.host, port=each.port, user=each.user)
            for each in (*known.devices, *known.servers)
        ),
        notes=(*_state_notes(rehearsal, state, options), end),
    )


def _designed(fabric: Path) -> tuple[Network, Mapping[str, str]]:
    subject = subject_of(fabric, None)
    return subject.network, subject.texts


def _state_notes(rehearsal: Rehearsal, state: Path, options: LabOptions) -> Iterator[str]:
    if rehearsal.restored:
        count, file = len(rehearsal.restored), state / STATE_FILE
        what = (
            "run their saved configuration"
            if options.power_loss
            else "continue from their last state"
        )
        yield (
            f"{count} of {len(rehearsal.switches)} switches {what}; without {file} they start again"
        )
