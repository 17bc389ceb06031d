"""Time limit for an act, by a monotonic clock."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import TypeVar

from rocefort.base.errors import DeviceFailed

T = TypeVar("T")
GRACE_S = 2.0  # for a hanging act to notice that its sessions are closed


def nothing() -> None:
    """Do nothing, as the end of an act without sessions."""


def result_within(
    seconds: float | None, what: str, act: Callable[[], T], end: Callable[[], None] = nothing
) -> T:
    """Return the result of an act; raises its exception, or DeviceFailed after the time limit.

    seconds: None for no limit; with none left the act does not begin. end: closes all sessions of
    the act with switches and servers. It is called before DeviceFailed is raised, so that the act
    does nothing beside the caller. The thread of the act cannot be stopped; it is a daemon, so the
    process can still exit.
    """
    if seconds is None:
        return act()
    if seconds <= 0:
        raise DeviceFailed(f"{what} did not begin: the trial has no time left for it")
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(act())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            errors.append(error)

    thread = Thread(target=run, name=what, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        end()
        thread.join(GRACE_S)
        raise DeviceFailed(f"{what} did not end within the {seconds:.0f} s that its trial leaves")
    if errors:
        raise errors[0]
    return results[0]
