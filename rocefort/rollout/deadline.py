"""Something that must come to its end within a time, measured by a clock that nobody sets."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import TypeVar

from rocefort.errors import DeviceFailed

T = TypeVar("T")


def within(seconds: float | None, what: str, act: Callable[[], T]) -> T:
    """The result of an act, or what it raises; raises DeviceFailed where it takes longer.

    seconds: None for no limit. An act that hangs goes on in its thread, which keeps nobody from
    ending: nothing can stop it, and whoever asked has to go on without it.
    """
    if seconds is None:
        return act()
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(act())
        except BaseException as error:  # noqa: BLE001 - raised again by whoever asked
            errors.append(error)

    thread = Thread(target=run, name=what, daemon=True)
    thread.start()
    thread.join(max(0.0, seconds))
    if thread.is_alive():
        raise DeviceFailed(f"{what} did not end within the {seconds:.0f} s that its trial leaves")
    if errors:
        raise errors[0]
    return results[0]
