"""Running and intended configuration of each switch: the change, its soak time, unowned drift.

Each edit has a timer after which its fault shows (in its Effect). A fault without a timer shows at
once, or waiting does not reveal it. An example is a neighbour of a gateway whose address changes:
ARP entries last 20 minutes, so the gate of the wave sends traffic through the gateway instead.

The plan may overwrite a value of the last intent: the new intent changes it on purpose. A value of
neither intent was typed by hand, and a plan must not remove it without permission. Unmodelled lines
are never changed; a plan lists them as kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from ipaddress import IPv4Address
from math import ceil

from rocefort.base.errors import BadInput, Problem, Refused
from rocefort.change.effects.blast_radius import EVERY_SESSION, AffectedPart, timed
from rocefort.change.referenced_acls import with_used
from rocefort.dialects.changes import Path as LinePath
from rocefort.dialects.changes import Paths, change_of, conditions_of, joined, replaced_lines
from rocefort.dialects.choose import dialect_of, load_dialect, reader_of
from rocefort.dialects.data import ParsedConfig
from rocefort.dialects.dialect import Dialect
from rocefort.dialects.secrets import as_read_back, with_known_secrets
from rocefort.models.change.compare import compare
from rocefort.models.change.edits import Edit
from rocefort.models.change.plan import Change, Soak, digest_of
from rocefort.models.device.device import Device
from rocefort.models.device.routing import HOLD_S, Bgp
from rocefort.models.effect import FaultDelay
from rocefort.models.hardware.hardware import Family
from rocefort.models.network.network import Network, Node, TextLine

# Added to the timer: switches count in whole seconds, and the far end counts from the last packet
# that it has received; assumed.
MARGIN_S = 5
ADVERTISE_S = 30  # `peer route-update-interval` of EBGP peers, V300R023C00: 30 s by default
LACP_S = 90  # `lacp timeout slow`, V300R023C00, the default
DEADLOCK_MS = 100  # both timers of V300 G1, by default
DEADLOCK_TIME = 10  # both timers of V300 G2, by default, in intervals
LONGEST_INTERVAL_MS = 1000  # of V300 G2; the unit of V200 is unknown


def soak_of(old: Device, new: Device, edits: Iterable[Edit], family: Family) -> Soak | None:
    """Soak time of a change from one Device to another, with the reason; None without a soak."""
    touched = timed(old, edits, dialect_of(family).disrupts)
    timers = [
        *_sessions(old, new, touched.get(FaultDelay.HOLD)),
        *([(ADVERTISE_S, "BGP sends routes again")] if FaultDelay.ADVERTISE in touched else []),
        *([(LACP_S, "LACP of its bonds times out")] if FaultDelay.LACP in touched else []),
        *(_deadlock(each, family) for each in (old, new) if FaultDelay.DEADLOCK in touched),
    ]
    if not timers:
        return None
    seconds, why = max(timers, key=lambda each: each[0])
    return Soak(seconds=seconds + MARGIN_S, why=f"{why} ({seconds} s), and {MARGIN_S} s more")


def _sessions(old: Device, new: Device, touched: AffectedPart | None) -> Iterator[tuple[int, str]]:
    """Longest hold time of the sessions that a change may end.

    The two ends use the lower of their hold times, so the value of this end is an upper bound.
    """
    if touched is None:
        return
    holds = [
        (_hold_s(bgp, peer.address), str(peer.address))
        for device in (old, new)
        for bgp in [device.bgp]
        if bgp is not None
        for peer in bgp.peers
        if _may_end(device, peer.address, peer.group, touched)
    ]
    if holds:
        seconds, peer = max(holds, key=lambda each: each[0])
        yield seconds, f"BGP's hold time of peer {peer}"


def _hold_s(bgp: Bgp, peer: IPv4Address) -> int:
    """Hold time of a peer; 0 (the session never times out) counts as the default."""
    settings = bgp.settings_at(peer)
    return (settings.hold_s if settings else None) or HOLD_S


def _may_end(device: Device, peer: IPv4Address, group: str | None, touched: AffectedPart) -> bool:
    if touched.peers & {EVERY_SESSION, str(peer), group}:
        return True
    return any(
        peer in address.network
        for name in touched.ports
        if name in device.by_interface
        for address in device.by_interface[name].addresses
    )


def _deadlock(device: Device, family: Family) -> tuple[int, str]:
    """Time until a PFC deadlock is found and ended, with the reason."""
    pfc, why = device.pfc, "a PFC deadlock is found and ended"
    if family.deadlock_detect_ms is not None:
        both = [DEADLOCK_MS if ms is None else ms for ms in (pfc.detect_ms, pfc.recovery_ms)]
        return ceil(sum(both) / 1000), why
    interval_ms = family.deadlock_interval_ms
    unit_ms = LONGEST_INTERVAL_MS if interval_ms is None else pfc.interval_ms or interval_ms.value
    times = [
        sum(DEADLOCK_TIME if t is None else t for t in (timer.detect_time, timer.recovery_time))
        for profile in pfc.profiles
        for timer in profile.timers
    ]
    return ceil(max(times, default=2 * DEADLOCK_TIME) * unit_ms / 1000), why


def device_digest(device: Device) -> str:
    """Digest of the meaning of a device's text, without its form and its secrets."""
    return digest_of(as_read_back(device).model_dump(mode="json"))


def running_digest(parsed: ParsedConfig, family: Family) -> str:
    """Digest of a running configuration: its meaning and its unowned lines."""
    return _digest(running_device(parsed, family), kept_lines(parsed))


def _digest(device: Device, lines: Iterable[str]) -> str:
    return digest_of([device_digest(device), *sorted(lines)])


def running_device(parsed: ParsedConfig, family: Family) -> Device:
    """Device of a running configuration without default values."""
    return dialect_of(family).normal_form(parsed.device, family)


def kept_lines(parsed: ParsedConfig) -> tuple[str, ...]:
    """Unmodelled lines of a configuration, each with its view."""
    return tuple(map(joined, _paths(parsed.unmodelled)))


def _paths(lines: Iterable[TextLine]) -> Iterator[LinePath]:
    return ((*line.path, line.text) for line in lines)


@dataclass(frozen=True)
class SwitchConfigs:
    """Configuration of a switch before and after its change, in the form that it saves.

    `kept`: its unowned lines, which no intent has. `lines`: those of the site's templates that no
    model has, before and after.
    """

    node: Node
    family: Family
    running: Device
    intended: Device
    kept: Paths
    lines: tuple[Paths, Paths] = ((), ())

    @cached_property
    def whole(self) -> Change:
        """The complete planned change."""
        change = self.change(self.running, self.intended)
        return change.model_copy(update={"conditions": conditions_of(change.patch, self.family)})

    @property
    def none(self) -> Change:
        """Change of nothing, for a switch that a plan leaves out."""
        return self.change_before(self.running, self.running)

    def change(self, old: Device, new: Device, lines: tuple[Paths, Paths] | None = None) -> Change:
        """Change of this switch from one Device to another.

        lines: of the site's templates, before and after; by default those of the whole change.
        """
        was, will = lines or self.lines
        same = old == new  # true for most switches of most plans
        text, digest = self._text(old), self.digest(old, was)
        intended = text if same else self._text(new)
        change = change_of(text, old, intended, new, self.family, self.kept, (was, will))
        return change.model_copy(
            update={
                "running_digest": digest,
                "intended_digest": digest
                if same and was == will
                else _digest(new, (*change.kept_after, *map(joined, will))),
                "soak": soak_of(old, new, change.edits, self.family),
            }
        )

    def change_before(self, old: Device, new: Device) -> Change:
        """Change while the lines of templates are the running ones."""
        return self.change(old, new, (self.lines[0], self.lines[0]))

    def change_after(self, old: Device, new: Device) -> Change:
        """Change while the lines of templates are the intended ones."""
        return self.change(old, new, (self.lines[1], self.lines[1]))

    def digest(self, device: Device, lines: Paths) -> str:
        """Digest of a running configuration that means this Device, with its other lines."""
        return _digest(device, map(joined, (*self.kept, *lines)))

    def _text(self, device: Device) -> str:
        hardware = self.node.hardware and self.node.hardware.shipped
        return dialect_of(self.family).render(device, self.family, hardware)


def sides_of(
    network: Network,
    running: Mapping[str, str],
    rotate: Collection[str] = (),
    last: Mapping[str, Paths] | None = None,
) -> tuple[SwitchConfigs, ...]:
    """Both sides of every switch, in the network's order; raises BadInput for missing texts.

    An encrypted secret of a switch counts as the intended one, because no text shows it. Secrets of
    the references `rotate` are set again. last: lines of the site's templates by switch in the last
    intent, which a plan removes if the new intent lacks them.
    """
    missing = [node.name for node in network.nodes if node.name not in running]
    if missing:
        raise BadInput(
            problems=[
                Problem(name, "no running configuration", "collect it, or name its file")
                for name in missing
            ]
        )
    return tuple(
        _sides(node, running[node.name], rotate, (last or {}).get(node.name, ()))
        for node in network.nodes
    )


def _sides(node: Node, running_text: str, rotate: Collection[str], last: Paths) -> SwitchConfigs:
    if node.family is None or node.hardware is None:
        raise Refused("its syntax family is not known", where=node.name, how="name its hardware")
    dialect = dialect_of(node)
    _refuse_other_system(node, dialect, running_text)
    parsed = dialect.parse(running_text, f"{node.name} (running)")
    if parsed.device.name != node.name:
        raise Refused(
            f"the switch reports the name {parsed.device.name!r}",
            where=node.name,
            how="check its management address; nothing was changed",
        )
    _refuse_as_change(node, parsed.device)
    running = with_known_secrets(running_device(parsed, node.family), node.device, rotate)
    # A stated default would be planned again for ever: no switch shows it.
    saved = dialect.normal_form(node.device, node.family)
    intended = with_used(saved, running, parsed.unmodelled, node.family)
    own = tuple(_paths(node.unmodelled))
    present = tuple(_paths(parsed.unmodelled))
    owned = {*last, *replaced_lines(present, own, node.family)}
    lines = (tuple(path for path in present if path in owned), own)
    kept = tuple(path for path in present if path not in owned)
    return SwitchConfigs(node, node.family, running, intended, kept, lines)


def _refuse_other_system(node: Node, intended: Dialect, running_text: str) -> None:
    """Raise Refused if hardware and text belong to different operating systems."""
    runs = load_dialect(reader_of(running_text))
    if runs.is_config(running_text) and not intended.is_config(running_text):
        raise Refused(
            f"it runs {runs.name}, but its hardware runs {intended.name}: no patch leads "
            "from one system to another",
            where=node.name,
            how="replace the switch (`rocefort replace`), or correct its hardware",
        )


def _refuse_as_change(node: Node, running: Device) -> None:
    """Raise Refused for a new AS: one candidate cannot delete a process and create another."""
    old, new = running.bgp, node.device.bgp
    if old and new and old.asn != new.asn:
        raise Refused(
            f"its BGP AS changes from {old.asn} to {new.asn}, which needs a commit in between",
            where=node.name,
            how="no trial supports it: delete the BGP process by hand, then plan again",
        )


def drift_edits(sides: SwitchConfigs, last: Device | None) -> tuple[Edit, ...]:
    """Return the drift from the last intent that the plan would overwrite.

    Each edit has the running value and the value of the last intent. last: Device of the last
    intent in the form that the switch saves; None if that intent did not have the switch.
    """
    if last is None:
        return ()
    last = with_known_secrets(last, sides.intended, ())
    changes = [edit.path for edit in sides.whole.edits]
    return tuple(
        Edit(path=edit.path, before=edit.after, after=edit.before)
        for edit in compare(last, sides.running)
        if any(_overlap(edit.path, path) for path in changes)
    )


def _overlap(a: str, b: str) -> bool:
    """Whether two paths are equal, or one encloses the other."""
    short, long = sorted((a, b), key=len)
    return long == short or (long.startswith(short) and long[len(short)] in ".[")


def adopted_drift(
    sides: Iterable[SwitchConfigs], last: Mapping[str, Device], adopt: Sequence[str]
) -> tuple[str, ...]:
    """Drift that `adopt` names, each `device: path`; raises Refused for all other drift.

    adopt: `leaf01` for all of a switch, or `leaf01:PATTERN` with `*` for any part of a path.
    Raises BadInput for one that names nothing.
    """
    drift = [
        (each.node.name, edit) for each in sides for edit in drift_edits(each, _last(each, last))
    ]
    idle = [word for word in adopt if not any(_names(word, n, e.path) for n, e in drift)]
    if idle:
        raise BadInput(
            problems=[Problem(f"--adopt {word}", "names no drift", "leave it out") for word in idle]
        )
    owned = [(n, e) for n, e in drift if any(_names(word, n, e.path) for word in adopt)]
    problems = list(_problems((n, e) for n, e in drift if (n, e) not in owned))
    if problems:
        raise Refused(problems=problems)
    return tuple(f"{name}: {edit.path}" for name, edit in owned)


def _last(sides: SwitchConfigs, last: Mapping[str, Device]) -> Device | None:
    return last.get(sides.node.name)


def _names(word: str, device: str, path: str) -> bool:
    name, colon, pattern = word.partition(":")
    return name == device and (not colon or fnmatchcase(path, _literal(pattern)))


def _literal(pattern: str) -> str:
    """Pattern in which only `*` is special, because a path has brackets."""
    return pattern.replace("[", "[[]").replace("?", "[?]")


def _problems(drift: Iterable[tuple[str, Edit]]) -> Iterator[Problem]:
    for name, edit in drift:
        runs, meant = edit.before_text or "nothing", edit.after_text or "nothing"
        what = f"{edit.path}: it runs {runs}, the last intent had {meant}; the plan overwrites that"
        how = f"put it into the fabric, or allow the overwrite by --adopt '{name}:{edit.path}'"
        yield Problem(name, what, how)
