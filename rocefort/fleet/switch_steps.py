"""Steps on switches over Nornir and NAPALM, on all at once, and their running configurations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from napalm.base.exceptions import ConnectionClosedException, NapalmException
from nornir.core import Nornir
from nornir.core.inventory import Host
from nornir.core.task import Result, Task

from rocefort.base import internal_errors
from rocefort.base.errors import DeviceFailed, ExitCode, RocefortError
from rocefort.base.secret_masking import masked
from rocefort.fleet.inventory import SESSION
from rocefort.fleet.nornir_session import run_task


def collect_running(nornir: Nornir, devices: Sequence[str]) -> dict[str, str]:
    """Running configuration by device; raises DeviceFailed with every switch without one."""
    results = run_on_switches(
        nornir, devices, lambda driver, _: driver.get_config("running")["running"]
    )
    failed = [value for value in results.values() if isinstance(value, RocefortError)]
    if failed:
        raise DeviceFailed("\n".join(map(str, failed)))
    return {device: str(text) for device, text in results.items()}


class SessionLost(DeviceFailed):
    """Error of a lost session; a new session may work."""


def run_on_switches(
    nornir: Nornir,
    devices: Sequence[str],
    step: Callable[[Any, Any], object],
    changes: Mapping[str, Any] | None = None,
    session: str = SESSION,
) -> dict[str, object]:
    """Run a step on all devices at once; return each device's result or error."""

    def task(task: Task) -> Result:
        change = changes[task.host.name] if changes else None
        try:
            return Result(host=task.host, result=step(_driver(task, session), change))
        finally:
            if session != SESSION and session in task.host.connections:
                task.host.close_connection(session)

    chosen = nornir.filter(filter_func=lambda host: host.name in set(devices))
    absent = [device for device in devices if device not in chosen.inventory.hosts]
    values: dict[str, object] = {
        name: DeviceFailed("is not in the connections", where=name, how="add its address")
        for name in absent
    }
    results = run_task(chosen, task)  # cleanup must reach failed hosts too
    for name, result in results.items():
        host = chosen.inventory.hosts[name]
        failed = result.exception
        values[name] = _error(host, failed) if failed else result[0].result
    return values


def _driver(task: Task, session: str) -> object:
    """Return the open session, or a new one if it was lost: an abort must remain possible."""
    driver = task.host.get_connection(session, task.nornir.config)
    if not driver.is_alive()["is_alive"]:
        task.host.close_connection(session)
        driver = task.host.get_connection(session, task.nornir.config)
    return driver


class _Defect(DeviceFailed):
    """Internal error at a device; its traceback is written to a file."""

    exit_code = ExitCode.INTERNAL

    def __init__(self, device: str, error: BaseException) -> None:
        what, how = internal_errors.error_report(error)
        super().__init__(what, where=device, how=how)


def _error(host: Host, error: BaseException) -> RocefortError:
    """Error of a device with its name once; the driver's messages begin with it too."""
    if isinstance(error, RocefortError):
        return error
    text = masked(" ".join(str(error).split()).removeprefix(f"{host.name}: "))
    if isinstance(error, ConnectionClosedException):
        return SessionLost(text, where=host.name)
    if isinstance(error, NapalmException):
        return DeviceFailed(text, where=host.name)
    return _Defect(host.name, error)
