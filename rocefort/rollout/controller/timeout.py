"""Something that must come to its end within a time, measured by a clock that nobody sets."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import TypeVar

from rocefort.errors import DeviceFailed

T = TypeVar("T")
GRACE_S = 2.0  # for what hangs to notice that its sessions are gone


def nothing() -> None:
    """For an act that holds nothing."""


def result_within(
    seconds: float | None, what: str, act: Callable[[], T], end: Callable[[], None] = nothing
) -> T:
    """The result of an act, or what it raises; raises DeviceFailed where it takes longer.

    seconds: None for no limit; where none is left the act is not begun. end: takes everything from
    the act by which it reaches a switch or a server; called before anybody hears that its time is
    over, so that nothing acts beside who goes on. Its thread, which nothing can stop, keeps nobody
    from ending.
    """
    if seconds is None:
        return act()
    if seconds <= 0:
        raise DeviceFailed(f"{what} was not begun: its trial leaves no time for it")
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(act())
        except BaseException as error:  # noqa: BLE001 - raised again by whoever asked
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
