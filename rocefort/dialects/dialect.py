"""The Dialect protocol: abilities of a network operating system, in seven groups.

A dialect is one package whose module `dialect` has `DIALECT`; a syntax family names the package
(`inventory/hardware/families.yaml`), and `choose.dialect_of` returns it. The packages above
(rollout, steps, validators) use this protocol and depend on no vendor. An ability that a dialect
does not implement raises one Refused that names the system.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from rocefort.base.clock import utc_now
from rocefort.base.errors import Refused
from rocefort.dialects.data import (
    NO_WORDS,
    ConfigPatch,
    DialectWords,
    ExtraLine,
    ForeignDesign,
    ParsedConfig,
    ProbeForm,
    ProbeQuestion,
    RoutingLine,
    SavedPart,
    WeakAccess,
)
from rocefort.models.change.plan import Change
from rocefort.models.device.device import Device
from rocefort.models.device.packet_filters import Uses
from rocefort.models.hardware.hardware import Family, Hardware
from rocefort.models.hardware.site_data import SiteCommand
from rocefort.models.network.network import Node, Position, TextLine
from rocefort.models.network.observed import StateTopic, UnreadSeen

NOT_READ = "its configuration is not read by Rocefort"
STATE_NOT_READ = "the state of its switches is not read by Rocefort"
# Answers that a line may change.
FILTERED = "the packets that are filtered"
SUBNETS = "the connected subnets"
NOT_DEPLOYED = "not deployed by Rocefort"


class OperatingSystem(Protocol):
    """A network operating system."""

    @property
    def name(self) -> str:
        """Return its name, for errors."""

    def lacks(self, what: str, where: str = "") -> Refused:
        """Return the error for an ability that this dialect does not have."""
        how = "name hardware whose family has another dialect"
        return Refused(f"{self.name}: {what}", where=where, how=how)


class ConfigTexts(OperatingSystem, Protocol):
    """Configuration text: written, read, and explained line by line."""

    @property
    def words(self) -> DialectWords:
        """Return commands for the terms of rules and reports.

        A term without one is shown itself.
        """
        return NO_WORDS

    @property
    def how_to_save(self) -> str:
        """Return the hint for a user who gave a text other than a configuration."""
        return NOT_READ

    @property
    @abstractmethod
    def files(self) -> Sequence[tuple[Path, str]]:
        """Return directories and patterns of the files that determine lines; a plan seals them.

        A plan names a file by its path in its directory, so the names within one dialect are
        unique.
        """

    def render(self, device: Device, family: Family, hardware: Hardware | None = None) -> str:
        """Write a Device of a hardware; None: not known.

        Raises BadInput for a value that the family cannot express.
        """
        raise self.lacks("its configuration is not written by Rocefort")

    def template_lines(
        self, device: Device, family: Family, hardware: Hardware
    ) -> Mapping[int, Position]:
        """Return the position in a site's templates by line of the text; none without templates."""
        return {}

    def is_config(self, text: str) -> bool:
        """Whether a text holds a configuration of this operating system."""
        return False

    def saved_parts(self, text: str) -> Sequence[SavedPart]:
        """Return what a saved file holds, for each switch: its configuration and its outputs."""
        return (SavedPart(text=text),) if self.is_config(text) else ()

    def parse(self, text: str, file: str) -> ParsedConfig:
        """Read a saved configuration; lines without a model are kept and reported.

        Raises BadInput with file and line for known commands that no Device can represent.
        """
        raise self.lacks(NOT_READ, file)

    def normal_form(self, device: Device, family: Family) -> Device:
        """Return the Device without default values: no switch saves them, so no plan sets them."""
        return device

    def lines(self, text: str) -> Sequence[tuple[tuple[str, ...], str]]:
        """Return every command of a text in its order, each with the lines that open its views."""
        raise self.lacks(NOT_READ)

    def changed_lines(self, before: str, after: str) -> Sequence[ExtraLine]:
        """Return added lines, then removed lines, each with the field that it sets."""
        raise self.lacks(NOT_READ)

    def command_of(self, line: TextLine, family: Family | None = None) -> str:
        """Return the known command of an unmodelled line, `..` for its arguments.

        Empty for none. family: of the switch, with the commands of its site.
        """
        raise self.lacks(NOT_READ)

    def site_command(self, path: Sequence[str], family: Family) -> SiteCommand | None:
        """Return the command of the site that a line is of, given as its views and itself."""
        return None

    def foreign_design(self, line: TextLine) -> ForeignDesign | None:
        """Return the design that an unmodelled line belongs to and no fabric has; None for most."""
        return None

    def written_by_itself(self, line: TextLine, family: Family | None = None) -> bool:
        """Whether a switch of a family, or of any, saves this line without any configuration."""
        raise self.lacks(NOT_READ)

    def in_one_spelling(self, devices: Iterable[tuple[Device, Family | None]]) -> Sequence[Device]:
        """Return Devices in one spelling: what has an equal meaning is equal in all of them.

        It is for judgements; a patch is made from the exact lines. family: None if not known.
        """
        return [device for device, _ in devices]

    def spelled_as(self, device: Device, other: Device, family: Family) -> Device:
        """Return the Device in the spelling of another one wherever both mean the same."""
        return device


class Changes(OperatingSystem, Protocol):
    """Changes: the commands, their effect on a text, and the switch's own view of them."""

    @property
    def disrupts(self) -> Mapping[str, str]:
        """Map a Device's field to the disruption of changing it, beside the change itself."""
        raise self.lacks(NOT_DEPLOYED)

    def patch(
        self,
        running: str,
        intended: str,
        family: Family,
        kept: Sequence[tuple[str, ...]] = (),
    ) -> ConfigPatch:
        """Return commands between two texts of one renderer, in the order of typing.

        kept: unowned lines, each given as its views and itself, which are in neither text.
        """
        raise self.lacks(NOT_DEPLOYED)

    def applied(
        self,
        text: str,
        commands: Iterable[str],
        family: Family,
        unjudged: Iterable[Sequence[str]] = (),
    ) -> str:
        """Return the running text after commands; raises BadInput for a command that is refused.

        unjudged: lines, each given as its views and itself, that count as accepted if unknown.
        """
        raise self.lacks(NOT_DEPLOYED)

    def line_key(self, path: Sequence[str], family: Family) -> Hashable:
        """Return what identifies a line, given as its views and itself.

        Of two lines with one key, the later one replaces the other.
        """
        return tuple(path)

    def with_lines(self, text: str, lines: Iterable[Sequence[str]]) -> str:
        """Return a rendered text with more lines, each given as its views and itself."""
        raise self.lacks("no template of a site adds lines")

    def with_kept(self, text: str, kept: Iterable[Sequence[str]], family: Family) -> str:
        """Return the text with more lines, each given as its views and itself."""
        raise self.lacks(NOT_DEPLOYED)

    def same_change(
        self, planned: Change, device_diff: str, running_text: str, family: Family
    ) -> Sequence[str]:
        """Return differences, as sentences, between a planned change and the switch's own diff."""
        raise self.lacks(NOT_DEPLOYED)

    def split_line(self, port: str, split_type: str) -> str:
        """Return the line that splits a port."""
        raise self.lacks("no port is split")


class UnmodelledLines(OperatingSystem, Protocol):
    """Meaning of lines that no model represents."""

    def leaves_view(self, line: TextLine, family: Family | None = None) -> bool:
        """Whether a line leads to a view outside of its own, and the lines after it, too."""
        return False

    def misplaced(self, text: str, family: Family) -> Iterable[Sequence[str]]:
        """Return known lines of a text that a switch refuses at their place, with their views."""
        return ()

    def removes(self, line: TextLine) -> bool:
        """Whether a line removes another one, and no saved text has it."""
        return False

    def removes_setting(self, line: TextLine) -> bool:
        """Whether a line removes a known setting, and no saved text has it."""
        return False

    def actions(
        self,
        text: str,
        unmodelled: Sequence[TextLine],
    ) -> Iterable[tuple[int, str]]:
        """Return number of, and a sentence on, each line of a text that is not configuration."""
        return ()

    def forwarding_effect(self, line: TextLine) -> str:
        """Return the answers of a routing engine that a line may change, in words; empty: none."""
        raise self.lacks(NOT_READ)

    def routing_line(self, line: TextLine) -> RoutingLine | None:
        """Return what a line without a model does to routing; None: no engine can represent it."""
        return None

    def other_family_peer(self, line: TextLine) -> str | None:
        """Return the BGP peer or group that a line enables in a family other than IPv4 unicast."""
        return None

    def opens_ssh(self, line: TextLine) -> bool:
        """Whether a line permits SSH sessions on some interface."""
        raise self.lacks(NOT_READ)

    def is_community(self, line: TextLine) -> bool:
        """Whether a line sets an SNMP community."""
        raise self.lacks(NOT_READ)

    def weak_access(self, line: TextLine) -> WeakAccess | None:
        """Return what a line opens to readable passwords; None: nothing."""
        raise self.lacks(NOT_READ)

    def shows_secret(self, line: TextLine) -> bool:
        """Whether the secret of a line is readable."""
        raise self.lacks(NOT_READ)

    def matches_in(self, line: TextLine, classifier: str) -> bool:
        """Whether a line is a match of a traffic classifier."""
        raise self.lacks(NOT_READ)

    def uses(self, line: TextLine) -> Uses:
        """Return ACLs and parts of traffic policies that a line names without defining them."""
        raise self.lacks(NOT_READ)

    def closed_peer(self, line: str) -> str | None:
        """Return the peer or group whose sessions a line shuts down, with its views."""
        raise self.lacks(NOT_READ)

    def in_use(self, command: str, device: Device) -> bool | None:
        """Whether a Device causes a command in its text; None: no Device determines it."""
        return None


class Secrets(OperatingSystem, Protocol):
    """Secrets in text."""

    def check_typed(self, value: str, reference: str) -> str:
        """Accept a secret that a command line takes; raises BadInput that does not repeat it."""
        raise self.lacks(NOT_DEPLOYED)

    def as_saved(self, text: str) -> str:
        """Return the text as a switch saves it: an encrypted stand-in for each placeholder."""
        raise self.lacks(NOT_DEPLOYED)


class FirstDay(OperatingSystem, Protocol):
    """Installation of a new switch at its console."""

    def day0_device(self, device: Device) -> Device:
        """Return the management part of a Device; raises BadInput where no user may log in."""
        raise self.lacks("not installed by Rocefort")

    def day0_text(self, node: Node, passwords: Mapping[str, str]) -> str:
        """Return commands for the console of a new switch; passwords: by user."""
        raise self.lacks("not installed by Rocefort")

    def check_password(self, value: str, user: str, reference: str) -> str:
        """Accept a password that a console takes; raises BadInput that does not repeat it."""
        raise self.lacks("not installed by Rocefort")


class Displays(OperatingSystem, Protocol):
    """Output of commands that show state."""

    def read_topic(
        self,
        driver: Any,  # noqa: ANN401 - NAPALM's, with what it has beside
        topic: StateTopic,
        device: str,
        ports: Iterable[str] = (),
        now: Callable[[], datetime] = utc_now,
    ) -> object:
        """Read the state of a running switch by its NAPALM driver, as in the field of DeviceSeen.

        ports: those whose queues are read. now: this machine's clock. Raises DeviceFailed for an
        answer that cannot be read, and the driver's errors.
        """
        raise self.lacks(STATE_NOT_READ)

    def unread_lines(self, driver: Any) -> Sequence[UnreadSeen]:  # noqa: ANN401
        """Lines of outputs that the last `read_topic` left out."""
        return ()


class Probes(OperatingSystem, Protocol):
    """Trials of unconfirmed forms and numbers in the candidate configuration of a switch."""

    def probe_form(self, command: str, running: str, ports: Sequence[str]) -> ProbeForm | str:
        """Return lines that try an unconfirmed form, or the reason why none can.

        running: configuration of the switch. ports: all its ports; an unused one is taken.
        """
        raise self.lacks(NOT_DEPLOYED)

    def saved_lines(
        self, form: ProbeForm, running: str, device_diff: str
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the lines that a switch saves of a form, and typed ones that it does not.

        device_diff: the switch's own difference between candidate and running configuration.
        """
        raise self.lacks(NOT_DEPLOYED)

    def probe_question(self, field: str, running: str, ports: Sequence[str]) -> ProbeQuestion | str:
        """Return the input that shows a number, or the reason why none can; the rest as above."""
        raise self.lacks(NOT_DEPLOYED)

    def read_fact(self, field: str, text: str) -> tuple[int, int] | int | None:
        """Return the range or the number that an answer shows; None: it shows none."""
        raise self.lacks(NOT_DEPLOYED)


class Dialect(ConfigTexts, UnmodelledLines, Changes, Secrets, FirstDay, Displays, Probes, Protocol):
    """One network operating system."""
