"""Changes of a plan without the plan, for tests of single changes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rocefort.models.network.network import Network
from rocefort.models.rollout.plan import Change
from rocefort.rollout.planning.plan import sides_of


def make_changes(
    network: Network, running: Mapping[str, str], rotate: Collection[str] = ()
) -> tuple[Change, ...]:
    """Return the change of every device, in the network's order; raises as `sides_of` does."""
    return tuple(sides.whole for sides in sides_of(network, running, rotate))
