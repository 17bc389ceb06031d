"""Execute a plan round by round over SSH, on servers that are locked for one run.

A process on the server has a file lock. The lock ends with that process, and the process ends with
the SSH channel. So a run that died does not keep a server locked.

A failure of one server affects only its own runs; each reports its cause. No process outlives its
run: every command has a deadline on the server and ends with its SSH channel.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from shlex import join

from nornir.core import Nornir
from nornir.core.task import Task

from rocefort.base.errors import RocefortError
from rocefort.base.progress import Step
from rocefort.fleet import ssh_exec
from rocefort.fleet.errors import Unreachable
from rocefort.fleet.nornir_session import on_hosts
from rocefort.fleet.server_scripts import BUSY, HELD, HOLD, STOP
from rocefort.fleet.ssh_exec import RemoteCommand
from rocefort.models.fabric.rdma import Rdma
from rocefort.rdma.judge.measurement import expectation, not_measured, read_run
from rocefort.rdma.parse.outcome import MEANING, Outcome
from rocefort.rdma.plan.command_lines import argv, ends_fit, prechecks
from rocefort.rdma.plan.load_rules import Load, LoadRules, load_verdict
from rocefort.rdma.rdma_plan import Program, RdmaPlan, RdmaRun, Round
from rocefort.rdma.results import CableEvent, EndedProcesses, Measurement, RawEnd
from rocefort.rdma.run.cables import CableControl, PathControl, cables_away, path_lengthened
from rocefort.rdma.run.client_server import BothOutputs, EndCommands, run_ends

LONGEST_S = 86_400.0
HOLD_S = 10.0  # longest time to get a lock
LOCK_POLL_S = 0.02
STOP_S = 20.0


@dataclass
class ServerHold:
    """Servers locked for a run. refused: servers that could not be locked, with the reason."""

    refused: dict[str, str] = field(default_factory=dict)
    keepers: dict[str, RemoteCommand] = field(default_factory=dict)

    def lost(self) -> frozenset[str]:
        """Servers that are no longer locked: `rdma stop` was run, or their session is lost."""
        return frozenset(name for name, keeper in self.keepers.items() if not keeper.running())


@contextmanager
def hold_servers(nornir: Nornir, servers: Sequence[str], run: str) -> Iterator[ServerHold]:
    """Lock servers for a run until the block ends."""
    locked = ServerHold()
    with ExitStack() as opened:

        def hold(task: Task) -> str:
            keeper, why = _hold(task, run)
            if keeper is not None:
                opened.callback(keeper.kill)
                locked.keepers[task.host.name] = keeper
            return why

        for name, why in on_hosts(nornir, servers, hold).items():
            if why:
                locked.refused[name] = f"{name}: {why}"
        yield locked


def _hold(task: Task, run: str) -> tuple[RemoteCommand | None, str]:
    try:
        keeper = ssh_exec.session(task.host, task.nornir.config).start(HOLD, LONGEST_S, run)
    except RocefortError as error:
        return None, str(error).removeprefix(f"{task.host.name}: ")
    deadline = time.monotonic() + HOLD_S
    while HELD not in keeper.output:
        if not keeper.running():
            done = keeper.wait(1.0)
            if done.exit_code == BUSY:
                return None, "another RDMA run uses it; wait for it, or end it with `rdma stop`"
            return None, f"it cannot be locked for a run: {done.complaint}"
        if time.monotonic() > deadline:
            keeper.kill()
            return None, f"it could not be locked within {HOLD_S:g} s"
        time.sleep(LOCK_POLL_S)
    return keeper, ""


def stop_all(nornir: Nornir, servers: Sequence[str]) -> tuple[EndedProcesses, ...]:
    """End all processes that any run has started on these servers, by any user."""

    def stop(task: Task) -> EndedProcesses:
        name = task.host.name
        try:
            done = ssh_exec.session(task.host, task.nornir.config).run(STOP, STOP_S)
        except RocefortError as error:
            return EndedProcesses(server=name, why=str(error))
        ended = tuple(line.strip() for line in done.stdout.splitlines())
        why = f"{name}: not all ended: {done.complaint}" if done.exit_code else ""
        return EndedProcesses(server=name, ended=ended, why=why)

    return tuple(on_hosts(nornir, servers, stop).values())


EXTRA_S = 20.0  # in addition to a duration: connecting, registering memory, printing
ITERATIONS_S = 60.0  # deadline of a run over a number of messages
STORAGE_EXTRA_S = 120.0  # fio lays out its file first
MPI_S = 900.0
TRANSFER_S = 600.0  # of files; a window of a LAN makes a WAN slow by more than ten times
PRECHECK_S = 10.0
POLL_S = 0.2


@dataclass(frozen=True)
class RunConditions:
    """Conditions under which a plan is executed.

    run: its id. note: the reason if speed is not judged on these servers. stopped: whether the user
    requested a stop. deadline_s: deadline of every run, in place of its own. lost: servers that
    are no longer locked. cables: who takes cables away; events: gets what happened to them. paths:
    who sets round trips. now: aware, the clock of this machine.
    """

    rdma: Rdma
    run: str
    note: str = ""
    stopped: Callable[[], bool] = lambda: False
    deadline_s: float | None = None
    lost: Callable[[], Collection[str]] = frozenset
    cables: CableControl | None = None
    paths: PathControl | None = None
    events: list[CableEvent] = field(default_factory=list)
    now: Callable[[], datetime] = lambda: datetime.now(UTC).astimezone()


@dataclass(frozen=True)
class RunResult:
    """Measurement of one run, and the outputs of its ends."""

    measurement: Measurement
    raw: tuple[RawEnd, ...] = ()


def execute(
    nornir: Nornir, plan: RdmaPlan, terms: RunConditions
) -> Iterator[tuple[Round, list[RunResult]]]:
    """Execute a plan and yield the results of each round when it ends.

    nornir: a fleet with the servers in it. The runs of a round that may not begin, because the
    window has closed, a stop was requested or a cable is not back, are not measured.
    """
    for each in plan.rounds:
        if terms.stopped():
            yield each, [_not_run(run, "the tests were stopped") for run in each.runs]
        elif why := _closed(each, terms):
            yield each, [_not_run(run, why) for run in each.runs]
        else:
            with (
                _ending_with(nornir, terms.stopped),
                cables_away(each, terms.cables, terms.events),
                path_lengthened(each, terms.paths) as why,
            ):
                with Step(f"round {each.number} of {len(plan.rounds)}"):
                    if why:
                        results = [_not_run(run, why) for run in each.runs]
                    else:
                        results = _run_round(nornir, plan, each, terms)
                yield each, results


def _closed(each: Round, terms: RunConditions) -> str:
    """Return the reason why a round may not begin now; empty: it may."""
    for event in terms.events:
        if event.taken_at is not None and event.back_at is None:
            return f"the cables of round {event.round} are not back: {event.problem}"
    longest = max((run.least_s for run in each.runs), default=0)
    load = Load(begins=terms.now(), lasts_s=longest)
    return load_verdict(LoadRules.of(terms.rdma), load).reason


@contextmanager
def _ending_with(nornir: Nornir, stopped: Callable[[], bool]) -> Iterator[None]:
    """Close the servers' sessions when a stop is requested; their commands end with them."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(POLL_S):
            if stopped():
                for host in nornir.inventory.hosts.values():
                    if (session := host.connections.get(ssh_exec.CONNECTION)) is not None:
                        session.close()
                return

    thread = threading.Thread(target=watch, name="rdma-stop", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _run_round(
    nornir: Nornir, plan: RdmaPlan, each: Round, terms: RunConditions
) -> list[RunResult]:
    """Run all runs of a round in parallel; every client has one run in it."""
    by_client = {run.client: run for run in each.runs}

    def measure(task: Task) -> RunResult:
        run = by_client[task.host.name]
        time.sleep(run.after_s)
        at, began = terms.now(), time.monotonic()
        ran = _run_result(nornir, plan, run, terms)
        taken = {"at": at, "seconds": time.monotonic() - began}
        return RunResult(ran.measurement.model_copy(update=taken), ran.raw)

    answers = on_hosts(nornir, by_client, measure)
    results = []
    for run in each.runs:
        if by_client[run.client] is not run:
            results.append(_not_run(run, f"{run.client} has another run in this round"))
        elif run.client in answers:
            results.append(answers[run.client])
        else:
            results.append(_not_run(run, f"{run.client} is not in the inventory"))
    return results


def _run_result(nornir: Nornir, plan: RdmaPlan, run: RdmaRun, terms: RunConditions) -> RunResult:
    hosts = plan.by_host
    if run.program.is_perftest and (mismatch := ends_fit(hosts[run.client], hosts[run.server])):
        outcome, versions = mismatch
        return RunResult(not_measured(run, outcome, f"{outcome}: {MEANING[outcome]} ({versions})"))
    try:
        server = join(argv(run, "server", hosts)) if run.program.has_server else ""
        client = join(argv(run, "client", hosts))
        commands = EndCommands(client, server, endless=run.program.is_daemon)
        both = _run_ends(nornir, run, commands, terms)
    except Unreachable as error:
        return RunResult(not_measured(run, Outcome.UNREACHABLE, f"{Outcome.UNREACHABLE}: {error}"))
    except RocefortError as error:
        return _not_run(run, str(error))
    if isinstance(both, str):
        return _not_run(run, both)
    result = read_run(run, both.client, both.server, expectation(run, terms.rdma, terms.note))
    return RunResult(result, both.raw_ends(run.id, commands))


def _run_ends(
    nornir: Nornir, run: RdmaRun, commands: EndCommands, terms: RunConditions
) -> BothOutputs | str:
    """Return the outputs of both ends, or the reason why nothing was run."""
    if gone := [name for name in run.servers if name in terms.lost()]:
        return f"{gone[0]} is no longer locked: `rdma stop` was run, or its session is lost"
    for name in (run.client, run.server if commands.server else run.client):
        if name not in nornir.inventory.hosts:
            return f"{name} is not in the inventory"
    here = ssh_exec.session(nornir.inventory.hosts[run.client], nornir.config)
    there = None
    if commands.server:
        there = ssh_exec.session(nornir.inventory.hosts[run.server], nornir.config)
    for check in prechecks(run):
        if here.run(join(check), PRECHECK_S, terms.run).exit_code != 0:
            return f"{run.client}: {join(check)} failed: is the storage mounted?"
    return run_ends(commands, here, there, _deadline_s(run, terms), terms.run)


def _deadline_s(run: RdmaRun, terms: RunConditions) -> float:
    """Return the deadline of a run; a run with `--run_infinitely` ends only by its deadline."""
    if run.every_s is not None:
        return float(run.duration_s or EXTRA_S)
    if terms.deadline_s is not None:
        return terms.deadline_s
    if run.ranks:
        return MPI_S
    if run.duration_s is None and run.transfer is not None:
        return TRANSFER_S
    extra = STORAGE_EXTRA_S if run.program is Program.FIO else EXTRA_S
    if run.duration_s is not None:
        return run.duration_s + extra
    # Messages may come at half of the rate that the fabric allows.
    return ITERATIONS_S if run.program.measures_latency else ITERATIONS_S + 2 * run.least_s


def _not_run(run: RdmaRun, why: str) -> RunResult:
    return RunResult(not_measured(run, Outcome.NOT_RUN, f"{MEANING[Outcome.NOT_RUN]}: {why}"))
