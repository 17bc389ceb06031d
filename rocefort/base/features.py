"""Optional features: packages that an installation may leave out, with what depends on them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Final

from rocefort.base.errors import Refused

# Each after those that it imports. A feature has a module `outputs` with its commands' results.
OPTIONAL: Final = ("rdma", "lab", "tune", "experiment", "paper")


def installed_features() -> tuple[str, ...]:
    """Return the optional features that are installed."""
    return tuple(name for name in OPTIONAL if is_installed(f"rocefort.{name}"))


def is_installed(module: str) -> bool:
    """Whether the package below `rocefort` that contains a module is installed."""
    return find_spec(".".join(module.split(".")[:2])) is not None


def optional_module(module: str, purpose: str) -> ModuleType:
    """Return a module of an optional feature; raises Refused if the feature is not installed.

    purpose: the main clause of the error.
    """
    if not is_installed(module):
        package = ".".join(module.split(".")[:2])
        what = f"{purpose}, and the feature {package} is not installed"
        raise Refused(what, how="install it, or run this command where it is")
    return import_module(module)
