"""Who computes the patch of a replace: a function of the caller's, given itself or by its name."""

import pkgutil
from collections.abc import Callable, Iterable

# From running and wanted configuration to the commands that lead from one to the other.
Patcher = Callable[[str, str], str | Iterable[str]]


def patcher_from(value: object) -> Patcher | None:
    """The function, or the one that `module:function` names, as an inventory in YAML must give it.

    None for None; ValueError when there is no such function.
    """
    found = value
    if isinstance(value, str):
        try:
            found = pkgutil.resolve_name(value)
        except (ImportError, AttributeError, ValueError) as error:
            raise ValueError(f"patcher: there is no function '{value}': {error}") from None
    if found is not None and not callable(found):
        raise ValueError(
            "patcher: give a function of running and wanted configuration, or its name as "
            f"'module:function', not {value!r}"
        )
    return found
