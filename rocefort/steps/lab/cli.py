"""Steps of `lab cli`: a fabric's command lines until the user ends them."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from rocefort.fleet.connections import Connections
from rocefort.models.network.network import Network
from rocefort.output import write_blocks
from rocefort.reports.blocks import Table, columns
from rocefort.steps.fabric.subject import subject_of
from rocefort.steps.lab.background import mark_ready
from rocefort.steps.lab.emulated_site import STATE_FILE, Rehearsal, rehearse
from rocefort.steps.lab.options import LabOptions


def run_lab(fabric: Path, state: Path, options: LabOptions, say: Callable[[str], None]) -> None:
    """Run a lab until it is interrupted; print the SSH command of each switch and server."""
    # No part of the design is kept here: a fabric of 200 switches has 50 MB of it.
    with rehearse(*_designed(fabric), state, options) as rehearsal:
        write_blocks(_accesses(rehearsal.connections))
        _say_state(rehearsal, state, options, say)
        say(f"connections: {rehearsal.file}; passwords in {state}/*.secret; Ctrl-C ends the lab")
        # A shell's background job ignores Ctrl-C's signal, so `kill` must also end the lab.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        mark_ready(state)
        with suppress(KeyboardInterrupt):
            signal.pause()


def _accesses(connections: Connections) -> Table:
    """Return the SSH command of each switch and server."""
    accesses = (*connections.devices, *connections.servers)
    rows = tuple((a.name, f"ssh -p {a.port} {a.user}@{a.host}") for a in accesses)
    return Table(columns("", ""), rows)


def _designed(fabric: Path) -> tuple[Network, Mapping[str, str]]:
    subject = subject_of(fabric, None)
    return subject.network, subject.texts


def _say_state(
    rehearsal: Rehearsal, state: Path, options: LabOptions, say: Callable[[str], None]
) -> None:
    if rehearsal.restored:
        count, file = len(rehearsal.restored), state / STATE_FILE
        what = (
            "run their saved configuration"
            if options.power_loss
            else "continue from their last state"
        )
        say(
            f"{count} of {len(rehearsal.switches)} switches {what}; without {file} they start again"
        )
