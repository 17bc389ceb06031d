"""Named profiles of Rocefort and of a fabric, with lookup by kind and name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from rocefort.base.documents.read import Document, YamlPath, read_document
from rocefort.base.documents.suggest import nearest
from rocefort.base.documents.validate import validate
from rocefort.base.errors import BadInput, Problem
from rocefort.base.repository import SHIPPED, Site, SiteState, shortest
from rocefort.models.base import Frozen
from rocefort.models.fabric.fabric import Profiles
from rocefort.models.fabric.lossless import AiEcnProfile, Lossless, StaticEcn
from rocefort.models.network.network import Position

KINDS = tuple(Profiles.model_fields)


def words(kind: str) -> str:
    """Return a kind as text: `congestion control` for `congestion_control`."""
    return kind.upper() if kind in ("nic", "ecn") else kind.replace("_", " ")


@dataclass(frozen=True, slots=True)
class ProfileUse:
    """Profile with its document and path, for positions."""

    kind: str
    name: str
    profile: Frozen
    document: Document
    path: YamlPath

    def key_at(self, path: YamlPath = ()) -> Position:
        """Return the position of a key of the profile, or of the value that encloses it."""
        return self.document.key_at((*self.path, *path))

    def at(self, path: YamlPath = ()) -> Position:
        """Return the position of the value at a path in the profile."""
        return self.document.at((*self.path, *path))

    def problem(self, path: YamlPath, what: str, how: str = "") -> Problem:
        """Return a problem at a path in the profile."""
        return self.document.problem((*self.path, *path), what, how)


@dataclass(frozen=True)
class LosslessUse:
    """Lossless profile with the ECN profile that it names, and the positions of both."""

    use: ProfileUse
    library: Library

    @property
    def name(self) -> str:
        """Name of the lossless profile."""
        return self.use.name

    @property
    def profile(self) -> Lossless:
        """Values of the lossless profile."""
        if not isinstance(self.use.profile, Lossless):
            raise TypeError(f"{self.use.profile!r} among the lossless profiles")
        return self.use.profile

    @cached_property
    def ecn_use(self) -> ProfileUse:
        """ECN profile with its position; raises LookupError if there is none."""
        chosen = self.library.get("ecn", self.profile.ecn)
        if chosen is None:  # allocation_problems reports it
            raise LookupError(self.profile.ecn)
        return chosen

    @property
    def ecn(self) -> StaticEcn | AiEcnProfile:
        """Values of the ECN profile; raises LookupError if there is none."""
        profile = self.ecn_use.profile
        if not isinstance(profile, StaticEcn | AiEcnProfile):
            raise TypeError(f"{profile!r} among the ECN profiles")
        return profile

    @cached_property
    def port_places(self) -> Mapping[str, Position]:
        """Positions of the sources of a lossless port's fields, by path below the port."""
        key_at, profile = self.use.key_at, self.profile
        positions = {
            ".thresholds": key_at(("xoff_kbytes",)),
            ".pfc": key_at(("queue",)),
            ".domain": key_at(("domain",)),
            f".thresholds[{profile.queue}].xon_kbytes": key_at(("xon_kbytes",)),
            ".drr": key_at(("scheduling",)),
        }
        for index, row in enumerate(profile.scheduling):
            at = f".drr[{row.queue}]"
            positions[at] = key_at(("scheduling", index, "queue"))
            positions[f"{at}.weight"] = key_at(("scheduling", index, "weight"))
        if isinstance(self.ecn, StaticEcn):
            positions[".markings"] = self.ecn_use.key_at(("thresholds",))
        return positions


@dataclass(frozen=True)
class Library:
    """Profiles by kind and name."""

    known: Mapping[tuple[str, str], ProfileUse]

    def get(self, kind: str, name: str) -> ProfileUse | None:
        """Return the profile with a kind and a name; None if there is none."""
        return self.known.get((kind, name))

    def lossless(self, name: str) -> LosslessUse:
        """Return the lossless profile of a name; raises LookupError if there is none."""
        chosen = self.get("lossless", name)
        if chosen is None:  # allocation_problems reports it
            raise LookupError(name)
        return LosslessUse(chosen, self)

    def names(self, kind: str) -> list[str]:
        """Return all names of a kind."""
        return [name for of_kind, name in self.known if of_kind == kind]

    def joined(self, own: Library) -> Library:
        """Join these profiles with those of a fabric; of a duplicate name these have priority."""
        return Library({**own.known, **self.known})

    def what_is_wrong(self, kind: str, name: str) -> tuple[str, str]:
        """Return problem and fix for an unknown name of this kind."""
        others = [other for other in KINDS if (other, name) in self.known]
        if others:
            what = f"{name!r} is no {words(kind)} profile, but one of kind {others[0]}"
            return what, f"known here: {', '.join(sorted(self.names(kind)))}"
        valid = self.names(kind)
        how = nearest(name, valid) if valid else f"define it in profiles.{kind}"
        return f"there is no {words(kind)} profile {name!r}", how


def library_of(profiles: Profiles, document: Document, path: YamlPath = ()) -> Library:
    """Return the profiles at a path of a document."""
    return Library({(c.kind, c.name): c for c in _profile_uses(profiles, document, path)})


def _profile_uses(profiles: Profiles, document: Document, path: YamlPath) -> Iterator[ProfileUse]:
    for kind in KINDS:
        for name, profile in getattr(profiles, kind).items():
            yield ProfileUse(kind, name, profile, document, (*path, kind, name))


def profiles_of(site: Site = SHIPPED) -> Library:
    """Read the profiles of a site; raises BadInput.

    A profile of the site precedes the shipped one of the same kind and name.
    """
    return _library(site, site.state)


@lru_cache(maxsize=32)
def _library(site: Site, _state: SiteState) -> Library:
    """Return the profiles of one state of a site's files."""
    own = (_read_profiles(layer.profiles).known for layer in site.layers)
    return Library({key: chosen for known in own for key, chosen in known.items()})


def _read_profiles(directory: Path) -> Library:
    """Read the profiles of a directory; raises BadInput for two of one kind and name."""
    by_key: dict[tuple[str, str], ProfileUse] = {}
    problems: list[Problem] = []
    for path in sorted(shortest(directory).glob("[!.]*.yaml")):
        try:
            document = read_document(path, "lossless:")
            profiles = validate(Profiles, document)
        except BadInput as error:
            problems += error.problems
            continue
        for key, chosen in library_of(profiles, document).known.items():
            if key in by_key:
                problems.append(given_twice(chosen, by_key[key]))
            by_key.setdefault(key, chosen)
    if problems:
        raise BadInput(problems=problems)
    return Library(by_key)


def given_twice(chosen: ProfileUse, first: ProfileUse) -> Problem:
    """Return the problem of a name that another file gives to a profile of this kind."""
    what = f"{words(chosen.kind)} profile {chosen.name!r} is at {first.key_at()}, too"
    how = "give this one another name"
    return chosen.document.problem(chosen.path, what, how, of_key=True)
