"""Fabric of a run as it was at the start of the run: later edits of files do not count."""

from __future__ import annotations

from rocefort.models.base import Frozen
from rocefort.models.fabric.fabric import Rollout
from rocefort.models.network.network import Network


class KeptFabric(Frozen):
    """Network, by which switches are reached and checked, and the policy of its rollouts.

    It contains secrets by reference only.
    """

    network: Network
    policy: Rollout
