"""FRR as a Dialect: written for the twin, which deploys it by its own plan."""

from __future__ import annotations

from rocefort.base.repository import TEMPLATES
from rocefort.dialects.dialect import Dialect
from rocefort.dialects.frr.plan import plan_switch
from rocefort.models.device.device import Device
from rocefort.models.hardware.hardware import Family, Hardware


class Frr(Dialect):
    """FRR on a Linux kernel: its daemons' configuration; links and sysctls are a SwitchPlan."""

    name = "FRR"
    files = ((TEMPLATES / "frr", "*"),)

    def render(self, device: Device, family: Family, hardware: Hardware | None = None) -> str:
        """Return the text of every daemon, one after the other.

        Raises Refused as `plan_switch` does.
        """
        return "".join(text for _, text in plan_switch(device).daemons)


DIALECT: Dialect = Frr()
