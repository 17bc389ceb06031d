"""A fabric as a Nornir inventory plugin, for any Nornir program: `InitNornir(inventory=..)`.

```yaml
inventory:
  plugin: FabricInventory
  options: {fabric: heps, connections: connections.yaml, plan: plan.json}
```
"""

from __future__ import annotations

from pathlib import Path

from nornir.core.inventory import Inventory

from rocefort.base.errors import Refused
from rocefort.design.derive.derive import derive
from rocefort.fleet.connections import load_connections
from rocefort.fleet.inventory import NetworkInventory
from rocefort.models.change.plan import Plan, Wave
from rocefort.rollout.planning.sealed_files import read_plan


class FabricInventory:
    """Nornir inventory plugin: the switches and servers of a fabric, and their connections.

    fabric: a fabric.yaml, its directory, or a name. connections: the file with the address of each
    host and the reference of its credential (read when a session opens, never held). plan: a sealed
    plan, whose waves become groups, too. Other groups as in NetworkInventory.
    """

    def __init__(
        self, fabric: str | Path, connections: str | Path, plan: str | Path | None = None
    ) -> None:
        self.fabric, self.connections, self.plan = fabric, connections, plan

    def load(self) -> Inventory:
        """Build the inventory; raises BadInput, and Refused for a plan of another fabric."""
        network = derive(Path(self.fabric)).network
        waves: tuple[Wave, ...] = ()
        if self.plan:
            sealed = read_plan(Path(self.plan))
            _check(sealed, network.name, Path(self.plan))
            waves = sealed.waves
        access = load_connections(Path(self.connections))
        return NetworkInventory(network, access, waves).load()


def _check(plan: Plan, fabric: str, path: Path) -> None:
    if plan.fabric != fabric:
        raise Refused(
            f"plan is for fabric {plan.fabric}, not for {fabric}",
            file=str(path),
            how="give a plan of this fabric",
        )
