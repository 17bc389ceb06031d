"""Writer of a switch as FRR and Linux kernel configuration, which the twin runs."""

from rocefort.dialects.frr.delta import SwitchDelta, delta
from rocefort.dialects.frr.kernel import kernel_name, kernel_names
from rocefort.dialects.frr.plan import plan_switch
from rocefort.dialects.frr.state import DAEMONS, Features, LinkState, SwitchPlan

__all__ = [
    "DAEMONS",
    "Features",
    "LinkState",
    "SwitchDelta",
    "SwitchPlan",
    "delta",
    "kernel_name",
    "kernel_names",
    "plan_switch",
]
