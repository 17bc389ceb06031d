"""Common steps of `expand`, `remove` and `rename`: both versions of a fabric are judged."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from rocefort.base.documents.edit import replace_file
from rocefort.base.documents.read import document_of, read_text
from rocefort.base.errors import BadInput, Problem, Refused
from rocefort.design.derive.derive import DerivedNetwork, derive_loaded
from rocefort.design.load.documents import LoadedFabric, find_fabric, loaded_fabric
from rocefort.design.subject import ReadNetwork, subject_of_derived
from rocefort.models.finding import Finding, Report, Severity
from rocefort.models.wording import listing
from rocefort.reports.wording import device_ports, group_items, name_ranges
from rocefort.validators.capacity.bisection import Bandwidth, bandwidth
from rocefort.validators.checks import check


class Edited(Protocol):
    """Fabric that was edited in memory, with its text."""

    @property
    def text(self) -> str:
        """Text of the file after the edit."""

    @property
    def loaded(self) -> LoadedFabric:
        """Fabric of this text."""


E = TypeVar("E", bound=Edited)


@dataclass(frozen=True)
class FabricFile:
    """File of a fabric before an edit. refusal: why an edit is refused, in a word."""

    path: Path
    text: str
    loaded: LoadedFabric
    start: DerivedNetwork
    refusal: str

    def untouched(self, problems: Iterable[Problem]) -> Refused:
        """Return the refusal with its problems."""
        end = Problem("", self.refusal, "the file is untouched", str(self.path))
        return Refused(problems=[*problems, end])


def read_fabric(name: Path, refusal: str) -> FabricFile:
    """Read and derive the fabric to edit."""
    path = find_fabric(name)
    text = read_text(path)
    loaded = loaded_fabric(document_of(text, str(path)))
    loaded.refuse_bench()
    return FabricFile(path, text, loaded, derive_loaded(loaded), refusal)


@dataclass(frozen=True)
class Versions(Generic[E]):
    """Fabric before and after an edit, both derived and checked. later: new names by old ones."""

    file: FabricFile
    edited: E
    end: DerivedNetwork
    old: ReadNetwork
    new: ReadNetwork
    was: Report
    will: Report
    later: Mapping[str, str]

    @cached_property
    def fresh(self) -> list[Finding]:
        """Findings that the edit brings."""
        earlier = {_key(finding, self.later) for finding in self.was.findings}
        return [finding for finding in self.will.findings if _key(finding, {}) not in earlier]

    @property
    def warnings(self) -> Iterator[str]:
        """New warnings, as text."""
        for finding in self.fresh:
            if finding.severity is Severity.WARNING:
                place = " ".join(filter(None, (finding.where.device, finding.where.interface)))
                yield f"{finding.rule} {place}: {finding.message}"

    @property
    def not_judged(self) -> int:
        """Number of verdicts that need a missing fact, beyond those before the edit."""
        return len(self.will.not_judged) - len(self.was.not_judged)

    @cached_property
    def bandwidths(self) -> tuple[Bandwidth, Bandwidth]:
        """Bandwidth before and after."""
        old, new = (bandwidth(side.network, side.sources) for side in (self.old, self.new))
        return old, new

    def write(self) -> None:
        """Replace the file by the edited text, atomically."""
        replace_file(self.file.path, self.file.text, self.edited.text)

    def refuse(self, findings: Sequence[Finding]) -> None:
        """Raise Refused for findings of the proof, and for new errors."""
        errors = [finding for finding in self.fresh if finding.severity is Severity.ERROR]
        alike = group_items(
            [*findings, *errors], lambda finding: (finding.rule, finding.message, finding.hint)
        )
        problems = [
            Problem(f"{rule} {listing(_places(same))}".rstrip(), message, hint)
            for (rule, message, hint), same in alike.items()
        ]
        if problems:
            raise self.file.untouched(problems)


def versions_of(
    file: FabricFile, edit: Callable[[], E], later: Mapping[str, str] | None = None
) -> Versions[E]:
    """Edit a fabric in memory, derive and check it; refusals say that the file is untouched."""
    try:
        edited = edit()
    except Refused as error:
        raise file.untouched(error.problems) from None
    try:
        end = derive_loaded(edited.loaded)
    except BadInput as error:
        raise file.untouched(error.problems) from None
    old, new = subject_of_derived(file.start), subject_of_derived(end)
    was, will = check(old.network, old.sources), check(new.network, new.sources)
    return Versions(file, edited, end, old, new, was, will, later or {})


def _key(finding: Finding, later: Mapping[str, str]) -> tuple[str, str | None, str | None, str]:
    """Rule, place and message of a finding, under later names."""
    device, message = finding.where.device, finding.message
    for old, new in later.items():
        message = whole_word(old).sub(new, message)
    return finding.rule, later.get(device or "", device), finding.where.interface, message


def whole_word(name: str) -> re.Pattern[str]:
    """Pattern of a name that is not a part of another name."""
    return re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)")


def _places(findings: Iterable[Finding]) -> Iterator[str]:
    """`leaf01 to leaf08`, or each switch with its ports."""
    return name_ranges(device_ports(finding.where for finding in findings))
