"""Read the state of switches into an `Observed`, topic by topic."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from napalm.base.exceptions import CommandErrorException, ConnectionException
from nornir.core import Nornir
from nornir.core.inventory import Host
from nornir.core.task import Result, Task

from rocefort.base.clock import utc_now
from rocefort.base.errors import DeviceFailed, RocefortError
from rocefort.dialects.choose import dialect_of
from rocefort.fleet.inventory import LIVE_SESSION
from rocefort.fleet.nornir_session import run_task
from rocefort.models.network.network import Network
from rocefort.models.network.observed import DeviceSeen, Observed, StateTopic, UnreadSeen

UNREADABLE = "the output of the switch could not be read (LIV001)"
# Topics of a neighbour of a change: those that the change may affect and that are quick to read.
# The clock is one, because the clock of one switch alone does not show which clock is wrong.
BESIDE = (
    StateTopic.FACTS,
    StateTopic.PEERS,
    StateTopic.ROUTES,
    StateTopic.NEIGHBOURS,
    StateTopic.PORTS,
    StateTopic.CLOCK,
)
NOT_BESIDE = "it is read only on switches that change"
# Topics that no live rule reads: `health` and runs of RDMA tests record them.
RECORDED = (StateTopic.ECN_MARKS, StateTopic.CPU, StateTopic.MEMORY)
CHECKED = tuple(topic for topic in StateTopic if topic not in RECORDED)
NOT_REQUESTED = "it is not part of this reading"


def observe(  # noqa: PLR0913 - topics, switches and options
    nornir: Nornir,
    network: Network,
    devices: Sequence[str],
    now: Callable[[], datetime] = utc_now,
    beside: Collection[str] = (),
    *,
    topics: Collection[StateTopic] = CHECKED,
    keep: bool = False,
) -> Observed:
    """Read switches at once; an error of a switch is in its DeviceSeen, never raised.

    beside: neighbours, for which only the topics BESIDE are read. topics: of the other switches.
    keep: leave the sessions open for the next reading. The sessions are separate from those of the
    rollout: files are listed in the user view, and a session of the rollout may hold a candidate.
    """
    began = now()

    def task(task: Task) -> Result:
        host = task.host
        near = host.name in beside
        of_host, other = (BESIDE, NOT_BESIDE) if near else (topics, NOT_REQUESTED)

        def read() -> DeviceSeen:
            driver = host.get_connection(LIVE_SESSION, task.nornir.config)
            return _device_reading(driver, network, host.name, now, (of_host, other))

        try:
            return Result(host=host, result=_in_session(host, read))
        finally:
            if not keep:
                close_sessions([host])

    chosen = nornir.filter(filter_func=lambda host: host.name in set(devices))
    results = run_task(chosen, task)
    seen = []
    for name in devices:
        if name not in results:
            seen.append(_unread(name, began, "it is not in the connections"))
        elif results[name].failed:
            error = results[name].exception
            seen.append(_unread(name, began, _error_text(name, error), _cures(name, error)))
        else:
            seen.append(results[name][0].result)
    return Observed(fabric=network.name, at=began, devices=tuple(seen))


def _in_session(host: Host, read: Callable[[], DeviceSeen]) -> DeviceSeen:
    """Read in an open session, or in a new one if the open session was lost."""
    was_open = LIVE_SESSION in host.connections
    try:
        return read()
    except ConnectionException:
        if not was_open:
            raise
    close_sessions([host])
    return read()


def close_sessions(hosts: Iterable[Host]) -> None:
    """End the sessions that readings left open."""
    for host in hosts:
        if LIVE_SESSION in host.connections:
            host.close_connection(LIVE_SESSION)


def as_beside(seen: DeviceSeen) -> DeviceSeen:
    """Reduce the reading of a switch to the topics BESIDE."""
    others = [topic for topic in StateTopic if topic not in BESIDE]
    missing = {topic: why for topic, why in seen.missing.items() if topic in BESIDE}
    missing |= dict.fromkeys(others, NOT_BESIDE)
    unread = {topic: lines for topic, lines in seen.unread.items() if topic in BESIDE}
    return seen.model_copy(update={"missing": missing, "unread": unread, **dict.fromkeys(others)})


def _unread(
    name: str, at: datetime, why: str, cures: Mapping[str, str] = MappingProxyType({})
) -> DeviceSeen:
    missing = dict.fromkeys(StateTopic, why)
    return DeviceSeen(name=name, at=at, failed=(why,), cures=dict(cures), missing=missing)


def _cures(name: str, error: BaseException | None) -> dict[str, str]:
    """Return the fix of an error by its sentence, where the error has one."""
    hows = [p.how for p in error.problems if p.how] if isinstance(error, RocefortError) else []
    return {_error_text(name, error): "; ".join(hows)} if hows else {}


def _error_text(name: str, error: BaseException | None) -> str:
    """Text of an error without the switch's name, which the finding has as its position."""
    if isinstance(error, RocefortError):
        return "; ".join(p.what for p in error.problems)
    return " ".join(str(error).split()).removeprefix(f"{name}: ")


def _device_reading(
    driver: Any,  # noqa: ANN401 - NAPALM's, as the dialect of the switch takes it
    network: Network,
    name: str,
    now: Callable[[], datetime],
    requested: tuple[Collection[StateTopic], str],
) -> DeviceSeen:
    """Topics of one switch; a lost session ends the reading, other errors are recorded.

    requested: topics to read, and the reason why the others are missing.
    """
    topics, why = requested
    values: dict[str, Any] = {"name": name, "at": now()}
    failed: list[str] = []
    cures: dict[str, str] = {}
    missing: dict[StateTopic, str] = {}
    unread: dict[StateTopic, tuple[UnreadSeen, ...]] = {}
    dialect = dialect_of(network.by_name[name])
    ports = [port.end.interface for port in network.roce_ports if port.end.device == name]
    for topic in StateTopic:
        if topic not in topics:
            missing[topic] = why
            continue
        try:
            values[topic.value] = dialect.read_topic(driver, topic, name, ports, now)
            if lines := tuple(dialect.unread_lines(driver)):
                unread[topic] = lines
        except ConnectionException:
            raise
        except (CommandErrorException, NotImplementedError) as error:
            missing[topic] = _refusal_text(name, error)
        except DeviceFailed as error:
            failed.append(_error_text(name, error))
            cures |= _cures(name, error)
            missing[topic] = UNREADABLE
    return DeviceSeen(**values, failed=tuple(failed), cures=cures, missing=missing, unread=unread)


def _refusal_text(name: str, error: Exception) -> str:
    if isinstance(error, NotImplementedError):
        return "the driver does not support it"
    return f"the switch does not report it: {_error_text(name, error)}"
