"""Parts around a plan: changes without it, connections to nothing, journal rows, calendars, git."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rocefort.base.repository import INVENTORY
from rocefort.change.effects.switch_configs import sides_of
from rocefort.fleet.connections import Connections, ServerAccess, SshAccess
from rocefort.models.change.plan import Change, ChangeKind, Plan, Wave
from rocefort.models.network.network import Network
from rocefort.rollout.journal.events import (
    Act,
    ActPhase,
    ApplyRules,
    Event,
    HealthEvent,
    RunStarted,
    event_of,
)
from rocefort.rollout.journal.history import RunProgress
from rocefort.rollout.journal.runs import JournalContents, RolloutStatus, Run

BEGAN = datetime(2026, 11, 23, 20, 29, tzinfo=UTC)
STEP = timedelta(seconds=4)
ACTS = (Act.PRECHECK, Act.LOAD, Act.TRIAL, Act.CHECK, Act.SOAK, Act.CONFIRM, Act.SAVE)
MEASURED = "1 pair measured, speed not judged"


def make_changes(
    network: Network, running: Mapping[str, str], rotate: Collection[str] = ()
) -> tuple[Change, ...]:
    """Return the change of every device, in the network's order; raises as `sides_of` does."""
    return tuple(sides.whole for sides in sides_of(network, running, rotate))


def unreached(network: Network) -> Connections:
    """Return connections of all switches and servers; none of them listens.

    Each process has its own address, because `apply` locks the addresses of its switches.
    """
    high, low = divmod(os.getpid() % 65000, 255)
    one = {"host": f"127.{high}.{low}.1", "user": "none", "credential": "env:NONE"}
    servers = tuple(
        ServerAccess(name=server.name, rdma_device="mlx5_0", gid_index=3, **one)
        for server in network.servers or ()
        if server.roce
    )
    devices = tuple(SshAccess(name=node.name, **one) for node in network.nodes)
    return Connections(known_hosts=Path("known_hosts"), devices=devices, servers=servers)


def make_event(
    wave: str,
    device: str,
    act: str,
    phase: ActPhase,
    detail: str = "",
    code: int = 0,
    **values: object,
) -> Event:
    """Return an event of any kind; values: fields of that kind."""
    step = {"wave": wave, "device": device, "act": act, "phase": phase}
    return event_of({**step, "detail": detail, "code": code, **values})


def wave_events(plan: Plan, wave: Wave) -> Iterator[Event]:
    """Yield the events of a wave that is confirmed; a drained switch has three parts."""
    yield _health(wave, "before")
    for part in range(max(len(plan.parts(wave, device)) for device in wave.devices)):
        for act in ACTS:
            for phase in (ActPhase.INTENT, ActPhase.DONE):
                for device in wave.devices:
                    of = len(plan.parts(wave, device))
                    yield make_event(wave.name, device, act, phase, part=part, of=of)
            if act is Act.SOAK:
                yield _health(wave, "during")
                yield make_event(wave.name, "", "gate", ActPhase.INTENT)
                yield make_event(wave.name, "", "gate", ActPhase.DONE, MEASURED)
    yield _health(wave, "after")


def _health(wave: Wave, when: str) -> Event:
    return HealthEvent(
        wave=wave.name, phase=ActPhase.DONE, when=when, detail=f"{when}: 3 switches read"
    )


def begun(rules: ApplyRules | None = None) -> RunStarted:
    """Return the first row of a run."""
    by = {"user": "ada", "host": "ops1", "process": 4711, "tool": "0.2.0"}
    first = RunStarted(phase=ActPhase.INTENT, run="8c20ae79", rules=rules or ApplyRules(1))
    return first.model_copy(update=by)


def run_of(plan: Plan, *events: Event) -> Run:
    """Return a run with these rows, four seconds apart."""
    run = Run(plan.digest)
    for number, event in enumerate(events):
        run = run.after((BEGAN + number * STEP).isoformat(timespec="milliseconds"), event)
    return run


def status_of(plan: Plan, run: Run | None, state: str, holder: str = "") -> RolloutStatus:
    """Return the status of a run, as of its last row."""
    rows = len(run.events) + 1 if run else 0
    journal = JournalContents("plan.json.journal", (run,) if run else (), rows, "62d887a61ea2")
    progress = RunProgress(plan, run.history) if run else RunProgress(plan)
    code = run.code if run else 0
    now = BEGAN + rows * STEP
    return RolloutStatus(
        plan.digest, plan.fabric, state, holder, progress, run, journal, now, code=code
    )


def unchanged(waves: Iterable[Wave]) -> tuple[Change, ...]:
    """Changes without commands of the switches of waves, for a plan whose names alone count."""
    digests = {"running_digest": "0", "intended_digest": "1"}
    return tuple(
        Change(device=name, kind=ChangeKind.ADDITIVE, edits=(), patch=(), reverse=(), **digests)
        for wave in waves
        for name in wave.devices
    )


def git(where: Path, *words: str) -> str:
    """Run git in a directory, as an author without settings; returns its output."""
    settings = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(where), *settings, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def event(
    title: str,
    begin: str,
    end: str,
    *lines: str,
    zone: str = "",
    kinds: str = "",
    location: str = "",
) -> str:
    """One VEVENT; a begin of eight digits is a day. lines: further properties."""
    value = f";TZID={zone}" if zone else ";VALUE=DATE" if len(begin) == 8 else ""
    rows = (
        "BEGIN:VEVENT",
        f"UID:{title}@facility.example",
        "DTSTAMP:20260101T000000Z",
        f"SUMMARY:{title}",
        f"DTSTART{value}:{begin}",
        f"DTEND{value}:{end}",
        *([f"CATEGORIES:{kinds}"] if kinds else []),
        *([f"LOCATION:{location.replace(',', chr(92) + ',')}"] if location else []),
        *lines,
        "END:VEVENT",
    )
    return "".join(f"{row}\r\n" for row in rows)


def calendar_text(*events: str) -> bytes:
    """A calendar of these components."""
    head = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//facility//operation//EN\r\n"
    return f"{head}{''.join(events)}END:VCALENDAR\r\n".encode()


_HEPS = (INVENTORY / "heps" / "fabric.yaml").read_text(encoding="utf-8")
_POLICY = _HEPS[_HEPS.index("  policy:\n") : _HEPS.index("\nservices:\n")]


def own_policy(security: str = "") -> tuple[str, str]:
    """Return the edit of HEPS that replaces its policy by that of a `security` block, or by none."""
    return _POLICY, security.removeprefix("\nsecurity:\n")
