"""EOS as a Dialect: written for Batfish, neither read nor deployed."""

from __future__ import annotations

from rocefort.base.repository import TEMPLATES
from rocefort.dialects.dialect import Dialect
from rocefort.dialects.eos.eos_text import render_eos
from rocefort.models.device.device import Device
from rocefort.models.hardware.hardware import Family, Hardware


class Eos(Dialect):
    """Arista EOS: the lines that determine sessions, routes and forwarding."""

    name = "EOS"
    files = ((TEMPLATES / "eos", "*"),)

    def render(self, device: Device, family: Family, hardware: Hardware | None = None) -> str:
        """Return the text of Batfish's snapshot; raises Refused for what EOS cannot express."""
        return render_eos(device)


DIALECT: Dialect = Eos()
