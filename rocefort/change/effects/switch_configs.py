"""Running and intended configuration of each switch, and the change between them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from rocefort.base.errors import BadInput, Problem, Refused
from rocefort.change.effects.soak import soak_of
from rocefort.change.referenced_acls import with_used
from rocefort.dialects.changes import Path as LinePath
from rocefort.dialects.changes import Paths, change_of, conditions_of, joined, replaced_lines
from rocefort.dialects.choose import dialect_of, load_dialect, reader_of
from rocefort.dialects.data import ParsedConfig
from rocefort.dialects.dialect import Dialect
from rocefort.dialects.secrets import as_read_back, with_known_secrets
from rocefort.models.change.plan import Change, digest_of
from rocefort.models.device.device import Device
from rocefort.models.hardware.hardware import Family
from rocefort.models.network.network import Network, Node, TextLine


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
