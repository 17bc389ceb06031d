"""Steps of `host`: write the files that each server needs, and check the servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from nornir.core import Nornir
from nornir.core.task import Task

from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.derive.host_plans import host_plans
from rocefort.dialects.host.parse import read_host
from rocefort.dialects.host.render import SCRIPT, host_files, reader_of
from rocefort.documents.suggest import chosen_names
from rocefort.errors import BadInput, RocefortError, ServiceFailed
from rocefort.fleet import ssh_exec
from rocefort.fleet.connections import Connections
from rocefort.fleet.nornir_session import on_hosts, open_fleet, require_credentials
from rocefort.models.finding import Report
from rocefort.models.network.servers import HostPlan, HostSeen, HostsSeen
from rocefort.models.wording import count_of
from rocefort.steps.fabric.subject import write_files
from rocefort.validators.checks import check_hosts

UNREADABLE = "HST101"


@dataclass(frozen=True)
class HostCheck:
    """Report on servers, and notes.

    unchecked: servers that were not queried for lack of a connection.
    """

    report: Report
    unchecked: tuple[str, ...]
    seen: tuple[HostSeen, ...] = ()

    @property
    def exit_code(self) -> int:
        """3 if a server could not be read, 1 for another error."""
        if any(finding.rule == UNREADABLE for finding in self.report.findings):
            return 3
        return int(self.report.failed)

    @property
    def notes(self) -> Iterator[str]:
        """Sentences on servers that were not queried, and on lines that no reader reads."""
        if self.unchecked:
            names, count = ", ".join(self.unchecked), count_of(len(self.unchecked), "server")
            yield f"{count} not checked, without a connection: {names}"
        for host in self.seen:
            yield from (f"{host.name} also printed: {line}" for line in host.notes)


def plans_of(fabric: Path, servers: Sequence[str]) -> tuple[DerivedNetwork, dict[str, HostPlan]]:
    """Return a fabric and plans of servers, by default of all; raises BadInput for a wrong name."""
    derived = derive(fabric)
    plans = host_plans(derived)
    names = chosen_names("--server", servers, plans, f"no server {{!r}} in {derived.network.name}")
    return derived, {name: plans[name] for name in names}


def rendered_text(plan: HostPlan) -> str:
    """Return all files of a server as one text, each below a line with its name."""
    return "".join(f"##### {name}\n{text}" for name, text in host_files(plan).items())


def write_hosts(plans: Mapping[str, HostPlan], out: Path) -> list[str]:
    """Write one directory per server; return sentences on each, and on parts left out.

    A sentence that applies to several servers is listed once.
    """
    lines, servers_of = [], dict[str, list[str]]()
    for name, plan in plans.items():
        paths = write_files(host_files(plan), out / name)
        _executable(out / name / SCRIPT)
        lines.append(f"{name}: {count_of(len(paths), 'file')} in {out / name}")
        sentences = [f"left out: {sentence}" for sentence in plan.left_out]
        sentences += [f"assumed or not confirmed: {sentence}" for sentence in plan.unconfirmed]
        for sentence in sentences:
            servers_of.setdefault(sentence, []).append(name)
    for sentence, names in servers_of.items():
        every = len(names) == len(plans) > 1
        who = f"all {len(names)} servers" if every else ", ".join(names)
        lines.append(f"{who}: {sentence}")
    return lines


def _executable(path: Path) -> None:
    try:
        path.chmod(0o755)
    except OSError as error:
        raise ServiceFailed(
            f"cannot be made executable: {error.strerror}", where=str(path)
        ) from None


def check_servers(fabric: Path, access: Connections, servers: Sequence[str]) -> HostCheck:
    """Query servers over SSH and check their answers; changes nothing there.

    Raises BadInput before the query for a name that is not in the fabric, or in the connections.
    """
    derived, plans = plans_of(fabric, servers)
    accessible = {server.name for server in access.servers}
    if lacking := [name for name in plans if name not in accessible]:
        if servers or not accessible:
            raise BadInput(problems=[access.lacks_server(name) for name in lacking])
        plans = {name: plan for name, plan in plans.items() if name in accessible}
    with open_fleet(derived.network, access) as nornir:
        require_credentials(nornir, plans)
        seen = observe_hosts(nornir, plans, access.command_timeout_s)
    reading = HostsSeen(fabric=derived.network.name, hosts=seen)
    report = check_hosts(derived.network, plans, reading, derived.sources)
    return HostCheck(report, tuple(lacking), seen)


def observe_hosts(
    nornir: Nornir, plans: Mapping[str, HostPlan], deadline_s: float
) -> tuple[HostSeen, ...]:
    """Read servers in parallel; a failure of one is in its HostSeen, never raised."""

    def read(task: Task) -> HostSeen:
        plan = plans[task.host.name]
        try:
            return _host_reading(task, plan, deadline_s)
        except RocefortError as error:
            what = f"{error.problem.what}; {error.problem.how}".removesuffix("; ")
            return HostSeen(name=plan.server, failed=what)

    return tuple(on_hosts(nornir, plans, read).values())


def reader_command(plan: HostPlan) -> str:
    """Return the command that reads a server."""
    return f"sh -c {quote(reader_of(plan))}"


def _host_reading(task: Task, plan: HostPlan, deadline_s: float) -> HostSeen:
    session = ssh_exec.session(task.host, task.nornir.config)
    done = session.run(reader_command(plan), deadline_s)
    if done.timed_out:
        return HostSeen(name=plan.server, failed=f"it did not end within {deadline_s:g} s")
    if done.exit_code != 0:
        return HostSeen(name=plan.server, failed=f"its shell refused: {done.complaint}")
    return read_host(plan, done.stdout)
