"""Settings that a search tries: one candidate, or a reference."""

from __future__ import annotations

from pydantic import Field

from rocefort.models.base import Frozen
from rocefort.models.tuning.scenario import Marking, Scenario
from rocefort.models.tuning.space import NicKey


class Settings(Frozen):
    """Thresholds of switches and parameters of NICs, kbytes of 1,000 bytes.

    A value that is left out is as the scenario has it.
    """

    ecn: Marking | None = None
    alpha: float | None = None
    xoff_kbytes: float | None = None
    xon_kbytes: float | None = None
    headroom_kbytes: float | None = None
    nic: dict[NicKey, int] = Field(default_factory=dict)

    def applied(self, scenario: Scenario) -> Scenario:
        """Return a scenario with these settings."""
        update: dict[str, object] = {}
        if self.ecn is not None:
            update["ecn"] = self.ecn
        keys = ("alpha", "headroom_kbytes", "xoff_kbytes", "xon_kbytes")
        buffer = {key: value for key in keys if (value := getattr(self, key)) is not None}
        if self.alpha is not None:
            buffer |= {"xoff_kbytes": None, "xon_kbytes": None}
        if buffer:
            update["buffer"] = scenario.buffer.like(**buffer)
        if self.nic:
            update["nic"] = scenario.nic.like(**dict(self.nic.items()))
        return scenario.like(**update)
