"""Facts of switch models and syntax families, each with its source; lines that need a restart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache, cached_property
from itertools import chain
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from rocefort.models.base import Frozen, Name
from rocefort.models.hardware.media import (
    MEDIA,
    MOST_PARTS,
    MediumName,
    SplitType,
    part_speed_gbps,
    parts_of,
    whole_port,
)
from rocefort.models.wording import listing


class Requirement(StrEnum):
    """Requirement for a switch to accept a line, or for the line to take effect."""

    SAVE = "save"  # the configuration must be saved
    REBOOT = "reboot"  # the switch must restart before the line takes effect
    RESTART_FREES = "restart-frees"  # it takes effect; a restart frees its old resources
    IDLE_PORT = "idle-port"  # the switch may refuse the line while the port carries traffic
    PFC_OFF = "pfc-off"  # the switch refuses the line while a port applies a PFC profile
    NO_ROLLBACK = "no-rollback"  # a rollback does not restore what the line removed


class Condition(Frozen):
    """Condition of a command of a syntax family, besides a commit."""

    command: str  # the words that a line begins with, `undo` included
    needs: Annotated[tuple[Requirement, ...], Field(min_length=1)]
    note: str
    source: str
    confirmed: bool = True


WORDS = {
    Requirement.SAVE: "needs a save",
    Requirement.REBOOT: "needs a restart of the switch",
    Requirement.RESTART_FREES: "frees what it held only at a restart of the switch",
    Requirement.IDLE_PORT: "needs an idle port",
    Requirement.PFC_OFF: "needs PFC off on every port",
    Requirement.NO_ROLLBACK: "has no way back by rollback",
}


class ConditionedLine(Frozen):
    """Line of a text or a patch that has a condition, with its view."""

    line: str
    view: str = ""  # `interface 100GE1/0/1`; empty: the system view
    command: str  # the condition's, with which the line begins
    needs: tuple[Requirement, ...]
    note: str

    def __str__(self) -> str:
        needs = listing(WORDS[requirement] for requirement in self.needs)
        return f"`{self.command}` {needs}: {self.note}"


class SyntaxFamily(StrEnum):
    """Syntax families of CloudEngine lossless commands.

    V300 G1 and G2 are the chip groups of the V300R023C00 command reference (DCB commands).
    """

    V200 = "v200"
    V300_G1 = "v300-g1"
    V300_G2 = "v300-g2"


class Range(Frozen):
    """Closed range of values that can be set, with its source."""

    low: int
    high: int
    source: str
    confirmed: bool = True

    def __contains__(self, value: int) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.low} to {self.high}"


Source = Annotated[
    str, Field(description="Where it was read.", examples=["data sheet of March 2024"])
]
Confirmed = Annotated[bool, Field(description="Whether a document of the vendor states it.")]
HardwareNote = Annotated[
    str,
    Field(description="What a reader of the file should know.", examples=["fans are not listed"]),
]


class Fact(Frozen):
    """Number about hardware; `confirmed` is false if the vendor's reference does not state it."""

    value: int = Field(description="The number, in the unit of its key.", examples=[65536])
    source: Source
    confirmed: Confirmed = True


class ValueSet(Frozen):
    """Set of values that can be set, ascending, with its source."""

    values: Annotated[tuple[int, ...], Field(min_length=1)]
    source: str

    def __contains__(self, value: int) -> bool:
        return value in self.values

    def __str__(self) -> str:
        *some, last = map(str, self.values)
        return f"{', '.join(some)} or {last}" if some else last


class Unconfirmed(Frozen):
    """Form of a command that no vendor source confirms for this family."""

    command: str
    note: str


class RefutedForm(Frozen):
    """Form of a command that a switch of the site does not have as it is written.

    why: what the switch did; source: the switch, its release and the day.
    """

    command: str
    why: str
    source: str

    @property
    def sentence(self) -> str:
        """The form with the evidence against it."""
        return f"`{self.command}` is wrong on {self.source}: {self.why}"


# Defaults for data from before there were other dialects.
FIRST_DIALECT, FIRST_DRIVER = "vrp", "cloudengine"
# A package of rocefort.dialects, or an entry point of an installed one (dialects/choose.py).
DialectName = Annotated[str, Field(pattern=r"^[a-z]\w*$")]
DriverName = Annotated[str, Field(pattern=r"^[a-z]\w*$")]  # napalm_NAME, or one that NAPALM has


# Families of CloudEngine are members of the enum, those of another dialect plain names.
FamilyName = Annotated[SyntaxFamily | str, Field(union_mode="left_to_right")]


# What a switch does with the packets of a deadlocked queue while the queue ignores pauses.
RecoveryBehavior = Literal["discard", "forwarding"]


class SavedLine(Frozen):
    """Line that a switch saves with nothing configured, so that it is no intent.

    line: its views and itself, with ` / ` between them. families: those that the source names;
    `unconfirmed` take it from another release. row: path of the row that it makes in a Device, with
    nothing below it; empty for a line without a model.
    """

    line: str
    families: tuple[FamilyName, ...] = ()
    unconfirmed: tuple[FamilyName, ...] = ()
    row: str = ""
    source: str


class Family(Frozen):
    """Ranges of one syntax family; None means that the family has no such setting.

    Times are milliseconds, sizes kbytes (1024 bytes).
    """

    name: FamilyName
    dialect: DialectName = FIRST_DIALECT
    driver: DriverName | None = Field(  # None: Rocefort opens no session to its switches
        default_factory=lambda data: FIRST_DRIVER if data["dialect"] == FIRST_DIALECT else None
    )
    says_defaults: bool = False  # whether a switch saves lines for default values
    saved_lines: tuple[SavedLine, ...] = ()  # with nothing configured
    deadlock_detect_ms: Range | None = None  # G1: one timer for all queues
    deadlock_recovery_ms: Range | None = None
    deadlock_detect_time: Range | None = None  # V200, G2: multiples of the interval
    deadlock_recovery_time: Range | None = None
    deadlock_interval_ms: Fact | None = None  # default; None on V200: its unit is unknown
    deadlock_intervals_ms: ValueSet | None = None  # its allowed values
    deadlock_default_ms: Fact | None = None  # of both timers, where they are in ms
    deadlock_default_time: Fact | None = None  # of both timers, where they are multiples
    recovery_behavior: RecoveryBehavior | None = None  # without a line; None: unknown
    xoff_kbytes: Range | None = None
    headroom_kbytes: Range | None = None  # per port and queue, G2 only
    headroom_default_kbytes: Fact | None = None
    headroom_pool_kbytes: Range | None = None
    pfc_queues: Range
    ecn_bytes: Range | None = None  # limits of a drop profile
    ecn_cells: Range | None = None
    cell_bytes: Fact | None = None  # of the buffer
    drop_profiles: Fact | None = None  # at most, with the built-in one
    ecn_queues: Fact | None = None  # at most, AI-ECN and static ECN together
    ecn_enable: bool = False  # whether static ECN needs `qos ecn enable`
    dot1p_pfc: bool = False  # whether PFC uses 802.1p unless a line selects DSCP
    routed_trust: bool | None = None  # whether a routed port trusts DSCP by default; None: unknown
    telnet: bool = False  # whether its Telnet server accepts sessions without a line
    ssh_source: bool | None = None  # whether no interface takes SSH without a line; None: unknown
    split_base_r: bool = True  # whether parts of split 100GE ports have BASE-R FEC
    unconfirmed: tuple[Unconfirmed, ...] = ()
    refuted: tuple[RefutedForm, ...] = Field(default=(), exclude_if=lambda own: not own)
    conditions: tuple[Condition, ...] = ()  # lines that take more than a commit

    @property
    def syntax(self) -> SyntaxFamily:
        """Name of a CloudEngine family; raises ValueError for a family of another dialect."""
        return SyntaxFamily(self.name)


class FamilyFile(Frozen):
    """Content of the file with all syntax families, and the lines that their switches save."""

    families: tuple[Family, ...]
    saved_lines: tuple[SavedLine, ...] = ()

    @property
    def with_lines(self) -> Mapping[str, Family]:
        """Families by name, each with its own of these lines."""
        return {
            family.name: family.model_copy(
                update={
                    "saved_lines": tuple(
                        each
                        for each in self.saved_lines
                        if family.name in (*each.families, *each.unconfirmed)
                    )
                }
            )
            for family in self.families
        }


PORTS = re.compile(r"(?P<head>\d+GE\d+/\d+/)(?P<first>\d+)(?:-(?P<last>\d+))?")


def check_ports(value: str) -> str:
    """Accept `100GE1/0/1` or `100GE1/0/1-32`."""
    match = PORTS.fullmatch(value)
    if not match or int(match["last"] or match["first"]) < int(match["first"]):
        raise ValueError(f"{value!r} is not a port or a range of ports; write 100GE1/0/1-32")
    return value


def expand_ports(value: str) -> tuple[str, ...]:
    """Expand a range: `100GE1/0/1-3` -> the three names in order."""
    match = PORTS.fullmatch(check_ports(value))
    if match is None:
        return ()
    first, last = int(match["first"]), int(match["last"] or match["first"])
    return tuple(f"{match['head']}{n}" for n in range(first, last + 1))


@cache
def expand_all(ranges: tuple[str, ...]) -> tuple[str, ...]:
    """Return all port names of several ranges, in order; cached, as there are few switch models."""
    return tuple(name for ports in ranges for name in expand_ports(ports))


PortRange = Annotated[
    str,
    AfterValidator(check_ports),
    WithJsonSchema({"type": "string", "pattern": r"^\d+GE\d+/\d+/\d+(-\d+)?$"}),
]


class Release(Frozen):
    """Prefix of software releases, and their syntax family on this hardware."""

    prefix: str = Field(description="First characters of the release.", examples=["V300"])
    family: FamilyName = Field(
        description="Syntax family: a name of inventory/hardware/families.yaml."
    )


class PortMedium(Frozen):
    """Ports of one interface type of NetBox."""

    ports: PortRange
    type: MediumName


class Breakout(Frozen):
    """Split types that some ports support, with the source."""

    ports: tuple[PortRange, ...] = Field(description="Ports that can be split.")
    types: tuple[SplitType, ...] = Field(min_length=1, description="Number and type of the parts.")
    source: Source
    confirmed: Confirmed = True
    note: HardwareNote = ""


class AboveUpperEcn(Frozen):
    """Treatment of packets above the upper ECN threshold, if not all of them are marked."""

    value: Literal["dropped"] = Field(description="Treatment of these packets.")
    source: Source
    confirmed: Confirmed = True


class Card(Frozen):
    """Line card in a slot of a chassis, with its ECN facts."""

    slot: str
    model: str
    above_upper_ecn: AboveUpperEcn | None = None  # None: packets are marked, as elsewhere


# A site's templates by name, each with its text: they precede the shipped ones of the same name.
SiteTemplates = tuple[tuple[str, str], ...]
SITE_TEMPLATES = "templates/vrp"  # their folder in the site

Template = Literal["ce8850", "ce8851", "ce9860", "ce6865", "ce6866", "ce8855", "ce12800"]


class Hardware(Frozen):
    """Facts of one switch model."""

    model: Name
    ports: tuple[PortRange, ...]
    fabric_ports: tuple[PortRange, ...]  # in the order in which peers take them, by peer id
    # Of a spine, after fabric_ports; none for a leaf. So they move no link of a fabric before them.
    spine_ports: tuple[PortRange, ...] = Field(default=(), exclude_if=lambda own: not own)
    media: tuple[PortMedium, ...] = ()  # of the ports; without one the speed is that of the name
    breakout: tuple[Breakout, ...] = ()
    cards: tuple[Card, ...] = ()  # of a chassis
    buffer_kbytes: Fact | None = None  # None: unknown, and never passed
    releases: tuple[Release, ...]
    template: Template | None  # None: its dialect has no templates to choose from
    site_templates: SiteTemplates = Field(default=(), exclude_if=lambda own: not own)
    source: str
    confirmed: bool = True
    note: str = ""

    @property
    def shipped(self) -> Hardware:
        """The hardware with the shipped templates alone."""
        return self.model_copy(update={"site_templates": ()}) if self.site_templates else self

    def in_role(self, *, spine: bool, own: tuple[PortRange, ...] = ()) -> Hardware:
        """The hardware with the fabric ports of a role; own: those that the switch sets itself."""
        ports = own or self.fabric_ports
        further = self.spine_ports if spine and not own else ()
        if (ports, further) == (self.fabric_ports, self.spine_ports):
            return self
        return self.model_copy(update={"fabric_ports": ports, "spine_ports": further})

    def port_names(self) -> tuple[str, ...]:
        """All front-panel ports in the hardware's order."""
        return expand_all(self.ports)

    def fabric_port_names(self) -> tuple[str, ...]:
        """Ports for leaf-spine links, in the order of the peers' ids."""
        return expand_all((*self.fabric_ports, *self.spine_ports))

    @cached_property
    def _media(self) -> Mapping[str, str]:
        return {name: medium.type for medium in self.media for name in expand_ports(medium.ports)}

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {name: index for index, name in enumerate(self.port_names())}

    def port_index(self, port: str) -> int:
        """Index of a port or of a part of one, from 0: splits of other ports do not change it.

        Whole ports and first parts come first, then all second parts, and so on. Raises LookupError
        for an unknown port.
        """
        whole, _, part = port.partition(":")
        return self._places[whole] + (int(part or 1) - 1) * len(self._places)

    def fabric_places(self, splits: Mapping[str, str]) -> tuple[str, ...]:
        """Ports and parts for leaf-spine links, by index; splits: type by split port.

        First whole ports and first parts, then all second parts, and so on, up to the first missing
        one. So a split moves no link of another port. Those of a spine alone follow them.
        """
        if not splits:
            return self.fabric_port_names()
        groups = (self.fabric_ports, self.spine_ports)
        return tuple(chain.from_iterable(_places_of(expand_all(g), splits) for g in groups))

    def speed_gbps(self, port: str, split_type: str | None = None) -> int | None:
        """Speed of a port; the speed of a part follows from its split, None without one."""
        if port != whole_port(port):
            return part_speed_gbps(split_type) if split_type else None
        medium = self._media.get(port)
        return MEDIA[medium].speed_gbps if medium else port_speed_gbps(port)

    def form_factor(self, port: str) -> str | None:
        """Form factor of a port or of its parts, such as QSFP28; None: unknown."""
        medium = self._media.get(whole_port(port))
        return MEDIA[medium].form_factor if medium else None

    @cached_property
    def _splits(self) -> Mapping[str, tuple[str, ...]]:
        return {name: entry.types for entry in self.breakout for name in expand_all(entry.ports)}

    def splits_of(self, port: str) -> tuple[str, ...]:
        """Split types of a whole port; none without data."""
        return self._splits.get(port, ())

    def family_of(self, software: str) -> str | None:
        """Syntax family of a release such as V300R023C00; None without data."""
        families = [r.family for r in self.releases if software.startswith(r.prefix)]
        return families[0] if families else None


@cache
def port_speed_gbps(interface: str) -> int | None:
    """Return the speed in a port's name: 100 for 100GE1/0/1; None for logical or split ones."""
    match = re.match(r"(\d+)GE\d[\d/]*(?!\S)", interface)
    return int(match[1]) if match else None


def _places_of(names: Sequence[str], splits: Mapping[str, str]) -> tuple[str, ...]:
    """Return ports and parts by index; splits: type by split port."""
    ports: list[str] = []
    for part in range(1, MOST_PARTS + 1):
        for name in names:
            parts = parts_of(name, splits[name]) if name in splits else (name,)
            if part > len(parts):
                return tuple(ports)
            ports.append(parts[part - 1])
    return tuple(ports)
