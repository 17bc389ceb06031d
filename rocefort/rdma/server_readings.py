"""Step of `host check` over SSH: read the servers, and check their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from nornir.core import Nornir
from nornir.core.task import Task

from rocefort.base.clock import utc_now
from rocefort.base.errors import BadInput, RocefortError
from rocefort.dialects.server_configuration import read_host, reader_command
from rocefort.fleet import ssh_exec
from rocefort.fleet.connections import Connections
from rocefort.fleet.nornir_session import on_hosts, open_fleet, require_credentials
from rocefort.models.network.servers import HostPlan, HostSeen
from rocefort.rdma.host_settings import HostCheck, host_check, not_checked, plans_of


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
    return host_check(derived, plans, seen, not_checked(lacking, "a connection"))


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


def _host_reading(task: Task, plan: HostPlan, deadline_s: float) -> HostSeen:
    session = ssh_exec.session(task.host, task.nornir.config)
    began = utc_now().timestamp()
    done = session.run(reader_command(plan), deadline_s)
    if done.timed_out:
        return HostSeen(name=plan.server, failed=f"it did not end within {deadline_s:g} s")
    if done.exit_code != 0:
        return HostSeen(name=plan.server, failed=f"its shell refused: {done.complaint}")
    return _with_offset(read_host(plan, done.stdout), began, utc_now().timestamp())


def _with_offset(host: HostSeen, began_s: float, ended_s: float) -> HostSeen:
    """Return a reading with the offset of its clock, as NTP computes it from four times.

    The answer takes longer here than on the server; half of the difference is the error.
    """
    if host.clock is None:
        return host
    ahead_s = (host.clock.begin_s + host.clock.end_s - began_s - ended_s) / 2
    network_s = max(0.0, ended_s - began_s - (host.clock.end_s - host.clock.begin_s))
    offset = {"clock_ahead_s": round(ahead_s, 6), "clock_error_s": round(network_s / 2, 6)}
    return host.model_copy(update=offset)
