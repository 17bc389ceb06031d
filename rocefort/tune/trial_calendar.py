"""Calendars of a fabric for `tune measure`: a trial begins only when a wave of a rollout might."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rocefort.base.clock import utc_now
from rocefort.design.git_revisions import checked_out
from rocefort.design.load.documents import load_fabric
from rocefort.models.change.plan import Gate, GatePair, Wave
from rocefort.models.fabric.calendar import Calendar
from rocefort.models.fabric.fabric import Rollout
from rocefort.models.fabric.rdma import Rdma
from rocefort.models.network.network import Network
from rocefort.rdma.rdma_plan import RdmaPlan
from rocefort.rollout.plan.base_policy import file_in_git, newest
from rocefort.rollout.planning.plan_policy import calendars_of
from rocefort.rollout.planning.wave_windows import WaveWindows

NOUN = "measurement"


def calendars_in_force(fabric: Path, rollout: Rollout) -> tuple[Calendar, ...]:
    """Calendars of a fabric as it is and as it is committed, as of a rollout."""
    calendars = calendars_of(rollout, fabric)
    committed = newest(fabric) if file_in_git(fabric) else None
    if committed is not None:
        with checked_out(committed) as checkout:
            calendars += calendars_of(load_fabric(checkout.source).fabric.rollout, fabric)
    return tuple(dict.fromkeys(calendars))


@dataclass(frozen=True)
class TrialCalendar:
    """Calendars that hold trials on a canary leaf; their files are read again each time.

    plan: what loads the servers. timer_s: of a trial, s of this machine; it alone may end one.
    """

    network: Network
    calendars: tuple[Calendar, ...]
    canary: str
    plan: RdmaPlan
    rdma: Rdma
    timer_s: float
    now: Callable[[], datetime] = utc_now

    def held(self, longest_s: float) -> str:
        """Why no measurement may begin now, with the next time; empty: it may.

        longest_s: of what would begin, s of this machine, without the timer of its last trial.
        """
        if not self.calendars:
            return ""
        windows = WaveWindows(
            self.network,
            self.calendars,
            lambda _: longest_s + self.timer_s,
            self.now,
            noun=NOUN,
            test=NOUN,
        )
        return windows(Wave(name=NOUN, devices=(self.canary,), gate=self._gate()))

    def _gate(self) -> Gate:
        """The measurement as a gate of a wave: its servers are loaded."""
        speeds = {server.name: server.flow_gbps for server in self.network.servers or ()}
        pairs = {(run.client, run.server): run for run in self.plan.runs}
        return Gate(
            pairs=tuple(
                GatePair(
                    client=run.client,
                    server=run.server,
                    server_address=run.server_address,
                    client_rate_gbps=speeds[run.client],
                    server_rate_gbps=speeds[run.server],
                )
                for run in pairs.values()
            ),
            traffic_class=self.plan.runs[0].traffic_class,
            line_rate_fraction=self.rdma.line_rate_fraction,
            latency_us=self.rdma.latency_us,
            latency_tolerance=self.rdma.latency_tolerance,
            speed_judged=False,
        )
