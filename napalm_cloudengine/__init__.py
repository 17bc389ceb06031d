"""NAPALM driver for Huawei CloudEngine switches, found by `get_network_driver("cloudengine")`.

It is imported when it is asked for: NAPALM brings all its drivers along, which takes half a second,
and what masks secrets does without them.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from napalm_cloudengine.driver import CloudEngineDriver

# NAPALM takes the alphabetically first NetworkDriver that this module shows: show one.
__all__ = ["CloudEngineDriver"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from napalm_cloudengine.driver import CloudEngineDriver  # noqa: PLC0415

    return CloudEngineDriver


def __dir__() -> list[str]:
    return [*globals(), *__all__]
