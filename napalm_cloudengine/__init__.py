"""NAPALM driver for Huawei CloudEngine switches, found by `get_network_driver("cloudengine")`.

The driver is imported on first use: NAPALM imports all its own drivers, which takes half a second,
and masking secrets does not need them.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from napalm_cloudengine.driver import CloudEngineDriver

__version__ = "0.2.0.dev0"  # as that of Rocefort, which requires exactly this one

# NAPALM takes the alphabetically first NetworkDriver that this module exports: export one.
__all__ = ["CloudEngineDriver"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from napalm_cloudengine.driver import CloudEngineDriver  # noqa: PLC0415

    return CloudEngineDriver


def __dir__() -> list[str]:
    return [*globals(), *__all__]
