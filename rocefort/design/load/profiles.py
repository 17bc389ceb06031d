"""Named profiles: those that ship with Rocefort, those of a fabric, and which one a name means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rocefort.design.load.load import shortest
from rocefort.documents.read import Document, YamlPath, path_text, read_document
from rocefort.documents.suggest import nearest
from rocefort.documents.validate import validate
from rocefort.errors import BadInput, Problem
from rocefort.models.base import Frozen
from rocefort.models.fabric.profiles import Profiles
from rocefort.models.network.network import Position
from rocefort.paths import PROFILES

KINDS = tuple(Profiles.model_fields)


def words(kind: str) -> str:
    """`congestion_control` as one reads it in a sentence."""
    return kind.upper() if kind in ("nic", "ecn") else kind.replace("_", " ")


@dataclass(frozen=True, slots=True)
class ProfileUse:
    """A profile with the document and the path at which it stands, for positions."""

    kind: str
    name: str
    profile: Frozen
    document: Document
    path: YamlPath

    def key_at(self, path: YamlPath = ()) -> Position:
        """Where a key of the profile stands, or what encloses it."""
        return self.document.key_at((*self.path, *path))

    def at(self, path: YamlPath = ()) -> Position:
        """Where the value at a path in the profile stands."""
        return self.document.at((*self.path, *path))

    def problem(self, path: YamlPath, what: str, how: str = "") -> Problem:
        """One problem at a path in the profile."""
        position = self.at(path)
        where = f"{position}: {path_text((*self.path, *path))}"
        return Problem(where, what, how, position.line)


@dataclass(frozen=True)
class Library:
    """Profiles by kind and name."""

    known: Mapping[tuple[str, str], ProfileUse]

    def get(self, kind: str, name: str) -> ProfileUse | None:
        """The profile that a name means; None where there is none of this kind."""
        return self.known.get((kind, name))

    def names(self, kind: str) -> list[str]:
        """All names of a kind."""
        return [name for of_kind, name in self.known if of_kind == kind]

    def joined(self, own: Library) -> Library:
        """These profiles and those of a fabric; the first of a name given twice stays."""
        return Library({**own.known, **self.known})

    def what_is_wrong(self, kind: str, name: str) -> tuple[str, str]:
        """What and how for a name that means no profile of this kind."""
        others = [other for other in KINDS if (other, name) in self.known]
        if others:
            what = f"{name!r} is no {words(kind)} profile, but one of kind {others[0]}"
            return what, f"known here: {', '.join(sorted(self.names(kind)))}"
        known = self.names(kind)
        how = nearest(name, known) if known else f"define it in profiles.{kind}"
        return f"there is no {words(kind)} profile {name!r}", how


def library_of(profiles: Profiles, document: Document, path: YamlPath = ()) -> Library:
    """Profiles of one document, which stand at a path of it."""
    return Library({(c.kind, c.name): c for c in _profile_uses(profiles, document, path)})


def _profile_uses(profiles: Profiles, document: Document, path: YamlPath) -> Iterator[ProfileUse]:
    for kind in KINDS:
        for name, profile in getattr(profiles, kind).items():
            yield ProfileUse(kind, name, profile, document, (*path, kind, name))


def shipped_profiles(directory: Path = PROFILES) -> Library:
    """Profiles of inventory/profiles; a site adds some by adding a file. Raises BadInput."""
    return _read_profiles(shortest(directory))


@cache
def _read_profiles(directory: Path) -> Library:
    found: dict[tuple[str, str], ProfileUse] = {}
    problems = []
    for path in sorted(directory.glob("*.yaml")):
        document = read_document(path, "lossless:")
        for key, chosen in library_of(validate(Profiles, document), document).known.items():
            if key in found:
                problems.append(given_twice(chosen, found[key]))
            found.setdefault(key, chosen)
    if problems:
        raise BadInput(problems=problems)
    return Library(found)


def given_twice(chosen: ProfileUse, first: ProfileUse) -> Problem:
    """A name that another file has already given to a profile of this kind."""
    position = chosen.key_at()
    return Problem(
        f"{position}: {path_text(chosen.path)}",
        f"{words(chosen.kind)} profile {chosen.name!r} stands at {first.key_at()}, too",
        "give this one another name",
        position.line,
    )
