"""Impact of a wave on traffic, and remaining capacity of the other spines.

The policy is models.fabric.Rollout: it defines refusals, drains and warnings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rocefort.base.errors import Refused
from rocefort.change.effects.drain import (
    RemainingCapacity,
    ServiceDuringRollout,
    can_drain,
    drained_change,
    uplinks_without,
)
from rocefort.change.effects.switch_configs import SwitchConfigs
from rocefort.models.change.plan import Wave
from rocefort.models.fabric.fabric import Rollout
from rocefort.models.network.network import Network, SwitchRole
from rocefort.models.wording import listing, names_text
from rocefort.validators.capacity.capacity_results import CapacityReport


@dataclass(frozen=True)
class WaveImpact:
    """Assessment of the waves of one rollout. capacity: the demand file of the fabric, if any."""

    network: Network
    sides: Mapping[str, SwitchConfigs]
    policy: Rollout
    capacity: CapacityReport | None = None
    service: ServiceDuringRollout = field(init=False)

    def __post_init__(self) -> None:
        running = {name: sides.running for name, sides in self.sides.items()}
        object.__setattr__(self, "service", ServiceDuringRollout(self.network, running))

    def assess(self, waves: Sequence[Wave]) -> tuple[Wave, ...]:
        """Return the waves with their impact on servers and traffic; raises Refused."""
        done: set[str] = set()
        assessed = []
        for wave in waves:
            assessed.append(self._wave(wave, frozenset(done)))
            done.update(wave.devices)
        return tuple(assessed)

    def _wave(self, wave: Wave, done: frozenset[str]) -> Wave:
        felt = [name for name in wave.devices if self.sides[name].whole.service_affecting]
        spines = [name for name in felt if self.network.by_name[name].role is SwitchRole.SPINE]
        warnings = tuple(self._busy(wave, spines))
        if not spines:
            return wave.model_copy(
                update={"unavailable": tuple(away_with(self.network, felt)), "warnings": warnings}
            )
        (spine,) = spines  # a wave has one spine at most
        return self._spine(wave, spine, done, warnings)

    def _spine(
        self, wave: Wave, spine: str, done: frozenset[str], warnings: tuple[str, ...]
    ) -> Wave:
        try:
            remaining = self.service.without(spine, done)
        except Refused as error:
            how = f"not drained: routing without {spine} is not judged: {error}"
            return wave.model_copy(update={"warnings": (*warnings, how)})
        self._refuse_loss(spine, remaining)
        uplinks, narrow = self._uplinks(spine)
        meanwhile = f"without {spine}: {remaining}" + (f"; {uplinks}" if uplinks else "")
        warnings = (*warnings, *narrow, *self._demand(spine))
        why_not = self._why_not_drained(spine, remaining)
        if why_not:
            return wave.model_copy(
                update={
                    "unavailable": (meanwhile,),
                    "warnings": (*warnings, f"not drained: {why_not}"),
                }
            )
        drained = drained_change(self.sides[spine], meanwhile)
        return wave.model_copy(
            update={"drained": (drained,), "unavailable": (meanwhile,), "warnings": warnings}
        )

    def _refuse_loss(self, spine: str, remaining: RemainingCapacity) -> None:
        least = self.policy.least_ecmp_width
        if remaining.least < least:
            raise Refused(
                "its change is service-affecting; without it ECMP between leaves is "
                f"{remaining.least} paths wide, but rollout.least_ecmp_width is {least}",
                where=spine,
                how="add links or spines first, or lower rollout.least_ecmp_width",
            )
        if remaining.lost and least:
            raise Refused(
                f"its change is service-affecting: {remaining} while it is down",
                where=spine,
                how="fix the routing of the other spines first, or accept the loss by "
                "rollout.least_ecmp_width: 0",
            )

    def _why_not_drained(self, spine: str, remaining: RemainingCapacity) -> str:
        sides = self.sides[spine]
        if not self.policy.drain:
            return "rollout.drain is false"
        if remaining.lost or not remaining.least:
            return f"it would lose traffic that it must keep: {remaining}"
        if not (can_drain(sides.running) and can_drain(sides.intended)):
            return "not every peer has an export policy of its own that could deny, or one denies"
        return ""

    def _uplinks(self, spine: str) -> tuple[str, tuple[str, ...]]:
        """Remaining uplinks of leaves, with a warning if they are below the policy."""
        uplinks = uplinks_without(self.network, spine)
        speeds = [(each.gbps_left or 0, each.gbps) for each in uplinks.values() if each.gbps]
        if not speeds:
            return "", ()
        now, was = min(speeds, key=lambda row: row[0] / row[1])
        text = f"leaves keep at least {now:,} of {was:,} Gb/s of uplinks"
        limit = self.network.oversubscription
        over = [name for name, each in uplinks.items() if each.gbps and each.exceeds(limit)]
        if not over:
            return text, ()
        verb = "is" if len(over) == 1 else "are"
        above = f"above the {limit:g} to 1 of policy.oversubscription"
        return text, (f"without {spine}, {names_text(over)} {verb} oversubscribed {above}",)

    def _demand(self, spine: str) -> Iterator[str]:
        """Warning if the whole fabric lacks capacity; raises Refused if only the spine is missing.

        Shares are of the fullest cable at `peak_share` of the demand's peak.
        """
        failures = self.capacity.failures if self.capacity else ()
        after = next((f.utilisation for f in failures if f.kind == "spine" and spine in f.at), None)
        if self.capacity is None or self.capacity.asked is None or after is None:
            return
        share = self.policy.peak_share
        whole, rest = self.capacity.utilisation * share, after * share
        demand = self.capacity.asked
        gbps = f"{demand.peak_gbps * share:,.0f} Gb/s of demand {demand.name}"
        text = f"{gbps} fill the fullest cable to {whole:.0%}, without {spine} to {rest:.0%}"
        if rest <= 1:
            return
        if whole <= 1:
            raise Refused(
                f"its change is service-affecting; the other spines cannot carry its load: {text}",
                where=spine,
                how="add capacity, or change it at lower load and state that in rollout.peak_share",
            )
        yield f"{text}: the whole fabric cannot carry that either; make the change at lower load"

    def _busy(self, wave: Wave, spines: Collection[str]) -> Iterator[str]:
        """Warnings for lines that a switch may refuse on a busy port; the wave then rolls back."""
        names = [n for n in wave.devices if not (n in spines and self.policy.drain)]
        lines = [line for name in names for line in self.sides[name].whole.conditions]
        if lines:
            commands = listing(f"`{c}`" for c in dict.fromkeys(line.command for line in lines))
            yield f"{commands} may be refused while a port is congested; then the wave rolls back"


def away_with(network: Network, devices: Collection[str]) -> Iterator[str]:
    """Sentences on the servers and exits that a change of leaves affects."""
    gone = set(devices)
    servers_by_leaf: dict[str, list[str]] = {}
    for server in network.servers or ():
        if {port.device for port in server.ports} <= set(gone):
            servers_by_leaf.setdefault(server.port.device, []).append(server.name)
    for server_leaf, names in servers_by_leaf.items():
        yield f"servers of {server_leaf}: {names_text(names)} (single-homed, so it is not drained)"
    exits = [exit_.name for exit_ in network.exits or () if exit_.leaf in gone]
    if exits:
        every = len(network.exits or ())
        yield f"exits {listing(exits)}: {every - len(exits)} of {every} are left"
