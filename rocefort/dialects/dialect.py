"""The Dialect protocol: what Rocefort asks of a network operating system, in six groups.

A dialect is one package whose module `dialect` has `DIALECT`; a syntax family names the package
(`inventory/hardware/families.yaml`), and `choose.dialect_of` gives it. The packages above (rollout,
steps, validators) know this protocol and no vendor. An ability that a dialect does not implement
raises one Refused that names the system.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from rocefort.clock import utc_now
from rocefort.dialects.data import (
    NO_WORDS,
    ConfigPatch,
    DialectWords,
    Display,
    ExtraLine,
    ParsedConfig,
)
from rocefort.errors import Refused
from rocefort.models.device.device import Device
from rocefort.models.device.packet_filters import Uses
from rocefort.models.hardware.hardware import Family, Hardware
from rocefort.models.network.network import Node, TextLine
from rocefort.models.network.observed import StateTopic
from rocefort.models.results.rdma_counters import MarkedSeen
from rocefort.models.rollout.plan import Change

NOT_READ = "its configuration is not read by Rocefort"
STATE_NOT_READ = "the state of its switches is not read by Rocefort"
NOT_DEPLOYED = "not deployed by Rocefort"


class OperatingSystem(Protocol):
    """A network operating system."""

    @property
    def name(self) -> str:
        """Its name, for errors."""

    def lacks(self, what: str, where: str = "") -> Refused:
        """The error for an ability that this dialect does not have."""
        how = "name hardware whose family has another dialect"
        return Refused(f"{self.name}: {what}", where=where, how=how)


class ConfigTexts(OperatingSystem, Protocol):
    """Configuration text: written, read, and explained line by line."""

    @property
    def words(self) -> DialectWords:
        """Commands for the terms of rules and reports; without one the term itself is shown."""
        return NO_WORDS

    @property
    def how_to_save(self) -> str:
        """Hint for a user who gave another text than a configuration."""
        return NOT_READ

    @property
    @abstractmethod
    def files(self) -> Sequence[tuple[Path, str]]:
        """Directories and patterns of the files that decide on lines; a plan seals them.

        A plan names a file by its path in its directory, so two of one dialect have two names.
        """

    def render(self, device: Device, family: Family, hardware: Hardware | None = None) -> str:
        """Write a Device of a hardware; None: not known.

        Raises BadInput for a value that the family cannot express.
        """
        raise self.lacks("its configuration is not written by Rocefort")

    def is_config(self, text: str) -> bool:
        """Whether a text holds a configuration of this operating system."""
        return False

    def parse(self, text: str, file: str) -> ParsedConfig:
        """Read a saved configuration; lines that no model has are kept and reported.

        Raises BadInput with file and line for known commands that no Device can hold.
        """
        raise self.lacks(NOT_READ, file)

    def normal_form(self, device: Device, family: Family) -> Device:
        """The Device without what holds anyway: no switch saves it, so no plan wants it."""
        return device

    def lines(self, text: str) -> Sequence[tuple[tuple[str, ...], str]]:
        """Every command of a text in its order, each with the lines that open its views."""
        raise self.lacks(NOT_READ)

    def changed_lines(self, before: str, after: str) -> Sequence[ExtraLine]:
        """Lines that come, then lines that go, each with the field that it sets."""
        raise self.lacks(NOT_READ)

    def command_of(self, line: TextLine) -> str:
        """Known command that an unmodelled line is, `..` for its arguments; empty for none."""
        raise self.lacks(NOT_READ)

    def written_by_itself(self, line: TextLine) -> bool:
        """Whether a switch saves this line although nobody configured it."""
        raise self.lacks(NOT_READ)


class Changes(OperatingSystem, Protocol):
    """Changes: the commands, their effect on a text, and the switch's own view of them."""

    @property
    def disrupts(self) -> Mapping[str, str]:
        """Field of a Device -> what applying a change of it disrupts beside the change itself."""
        raise self.lacks(NOT_DEPLOYED)

    def patch(self, running: str, intended: str, family: Family) -> ConfigPatch:
        """Commands between two texts of one renderer, in the order in which they are typed."""
        raise self.lacks(NOT_DEPLOYED)

    def applied(self, text: str, commands: Iterable[str], family: Family) -> str:
        """The text that a switch runs after commands; raises BadInput for one that it refuses."""
        raise self.lacks(NOT_DEPLOYED)

    def with_kept(self, text: str, kept: Iterable[Sequence[str]], family: Family) -> str:
        """The text with more lines, each given as its views and itself."""
        raise self.lacks(NOT_DEPLOYED)

    def same_change(
        self, planned: Change, device_diff: str, running_text: str, family: Family
    ) -> Sequence[str]:
        """Differences, as sentences, between a planned change and the switch's own diff."""
        raise self.lacks(NOT_DEPLOYED)

    def split_line(self, port: str, split_type: str) -> str:
        """The line that splits a port."""
        raise self.lacks("no port is split")


class UnmodelledLines(OperatingSystem, Protocol):
    """Meaning of lines that no model holds."""

    def may_forward(self, line: TextLine) -> bool:
        """Whether a line may change where packets go."""
        raise self.lacks(NOT_READ)

    def opens_ssh(self, line: TextLine) -> bool:
        """Whether a line lets SSH sessions in on some interface."""
        raise self.lacks(NOT_READ)

    def is_community(self, line: TextLine) -> bool:
        """Whether a line sets an SNMP community."""
        raise self.lacks(NOT_READ)

    def shows_secret(self, line: TextLine) -> bool:
        """Whether the secret of a line can be read."""
        raise self.lacks(NOT_READ)

    def matches_in(self, line: TextLine, classifier: str) -> bool:
        """Whether a line is a match of a traffic classifier."""
        raise self.lacks(NOT_READ)

    def uses(self, line: TextLine) -> Uses:
        """ACLs and parts of traffic policies that a line names, as one that is none of them."""
        raise self.lacks(NOT_READ)

    def closed_peer(self, line: str) -> str | None:
        """The peer or group whose sessions a line closes on purpose, its views before it."""
        raise self.lacks(NOT_READ)

    def in_use(self, command: str, device: Device) -> bool | None:
        """Whether a Device makes a command stand in its text; None: no Device tells of it."""
        return None


class Secrets(OperatingSystem, Protocol):
    """Secrets in text."""

    def check_typed(self, value: str, reference: str) -> str:
        """Accept a secret that a command line takes; raises BadInput that does not repeat it."""
        raise self.lacks(NOT_DEPLOYED)

    def as_saved(self, text: str) -> str:
        """The text as a switch saves it: an encrypted stand-in for each placeholder."""
        raise self.lacks(NOT_DEPLOYED)


class FirstDay(OperatingSystem, Protocol):
    """Installation of a new switch at its console."""

    def day0_device(self, device: Device) -> Device:
        """The part of a Device that opens management; raises BadInput where nobody may log in."""
        raise self.lacks("not installed by Rocefort")

    def day0_text(self, node: Node, passwords: Mapping[str, str]) -> str:
        """Commands for the console of a new switch; passwords: by user."""
        raise self.lacks("not installed by Rocefort")

    def check_password(self, value: str, user: str, reference: str) -> str:
        """Accept a password that a console takes; raises BadInput that does not repeat it."""
        raise self.lacks("not installed by Rocefort")


class Displays(OperatingSystem, Protocol):
    """Output of commands that show state."""

    def read_display(self, text: str) -> Display | None:
        """Saved output: neighbours by LLDP, model, release; None for text without any."""
        return None

    def read_topic(
        self,
        driver: Any,  # noqa: ANN401 - NAPALM's, with what it has beside
        topic: StateTopic,
        device: str,
        ports: Iterable[str] = (),
        now: Callable[[], datetime] = utc_now,
    ) -> object:
        """State of a running switch by its NAPALM driver, in the type of its field of DeviceSeen.

        ports: those whose queues are read. now: this machine's clock. Raises DeviceFailed for an
        answer that cannot be read, and what the driver raises.
        """
        raise self.lacks(STATE_NOT_READ)

    def ecn_marks(self, driver: Any, device: str) -> Sequence[MarkedSeen]:  # noqa: ANN401
        """Packets that each port has marked; raises DeviceFailed, and what the driver raises."""
        raise self.lacks(STATE_NOT_READ)


class Dialect(ConfigTexts, UnmodelledLines, Changes, Secrets, FirstDay, Displays, Protocol):
    """One network operating system."""
