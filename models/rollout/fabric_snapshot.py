"""What a run needs of its fabric, as it was when the run began: edits of the files do not count."""

from __future__ import annotations

from rocefort.models.base import Frozen
from rocefort.models.fabric.fabric import Rollout
from rocefort.models.network.network import Network


class KeptFabric(Frozen):
    """The Network, by which switches are reached and judged, and the policy of its rollouts.

    Secrets stand in it by reference alone.
    """

    network: Network
    policy: Rollout
