"""Factor of an experiment: a key of a profile, and a fabric for each of its values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, cast

import yaml

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput
from rocefort.change.edit import FabricFile, versions_of
from rocefort.change.profile_edits import Entries, profile_with, with_entries
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.load.profiles import Library
from rocefort.models.fabric.lossless import AiEcnProfile, StaticEcn
from rocefort.models.fabric.types import Sourced

WHERE = "--factor"
FORM = "KEY=VALUE,VALUE"
LOSSLESS, ECN, CONTROL = "lossless", "ecn", "congestion_control"
KINDS = (LOSSLESS, ECN, CONTROL)  # profiles that a fabric has one of
# Profiles of `ecn=static` and `ecn=ai`, where the fabric's own is of the other kind.
STATIC, AI = "static", "ai"
ECN_OF_WORD = {STATIC: "huawei-throughput", AI: "ai-ecn-hpc"}
KIND_OF_WORD: dict[str, type[Sourced]] = {STATIC: StaticEcn, AI: AiEcnProfile}
NAME = "experiment"
START = "start"  # the fabric as the experiment began
WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")  # also a folder's name
LONGEST_WORD = 14  # of a profile's name, which a switch may limit to 31 characters with the speed
REFUSAL = "the level is no valid fabric"


@dataclass(frozen=True)
class LevelFabric:
    """Fabric with one value of the factor. note: meaning of the value, and its source."""

    name: str
    note: str
    text: str
    derived: DerivedNetwork

    @property
    def digest(self) -> str:
        """SHA-256 of its text."""
        return digest_of_text(self.text)


def digest_of_text(text: str) -> str:
    """Return the SHA-256 of a text."""
    return sha256(text.encode()).hexdigest()


def parsed_factor(text: str) -> tuple[str, tuple[str, ...]]:
    """Return key and values of `KEY=VALUE,VALUE`; raises BadInput."""
    key, equals, values = text.partition("=")
    words = tuple(word.strip() for word in values.split(","))
    if not equals or not key.strip() or len(words) < 2 or not all(map(WORD.fullmatch, words)):
        what = f"{text!r} names no key with two values or more"
        raise BadInput(what, where=WHERE, how=f"write {FORM}, such as ecn=static,ai")
    if START in words:
        what = f"{START!r} is the fabric as it is, and no name of a level"
        raise BadInput(what, where=WHERE, how="give the profile another name")
    if len(set(words)) < len(words):
        raise BadInput(f"{text!r} names a value twice", where=WHERE, how="name each value once")
    return key.strip(), words


def level_fabrics(file: FabricFile, key: str, words: Sequence[str]) -> tuple[LevelFabric, ...]:
    """Return a fabric for each value; raises BadInput, and Refused if `check` has a new error."""
    return tuple(_level(file, key, word) for word in words)


def _level(file: FabricFile, key: str, word: str) -> LevelFabric:
    entries, note = _Edit(file, word).entries(key)
    if not entries:
        return LevelFabric(word, f"{note} (as the fabric is)", file.text, file.start)
    versions = versions_of(file, lambda: with_entries(file, entries))
    versions.refuse(())
    return LevelFabric(word, note, versions.edited.text, versions.end)


@dataclass(frozen=True)
class _Edit:
    """Edit of a fabric for one value of the factor."""

    file: FabricFile
    word: str

    @property
    def library(self) -> Library:
        return self.file.start.profiles

    @property
    def new_name(self) -> str:
        return f"{NAME}-{re.sub('[^a-z0-9]+', '-', self.word.lower())[:LONGEST_WORD].strip('-')}"

    def in_use(self) -> dict[str, str]:
        """Names of the profiles that the fabric has, by kind."""
        fabric = self.file.start.fabric
        names = {LOSSLESS: fabric.lossless, ECN: self.file.start.lossless.ecn}
        if fabric.congestion_control:
            names[CONTROL] = fabric.congestion_control
        return names

    def profile(self, kind: str, name: str) -> Sourced:
        """Profile with a name; raises BadInput."""
        chosen = self.library.get(kind, name)
        if chosen is None:
            what, how = self.library.what_is_wrong(kind, name)
            raise BadInput(what, where=WHERE, how=how)
        return cast("Sourced", chosen.profile)

    def entries(self, key: str) -> tuple[Entries, str]:
        """Return the changed entries of fabric.yaml, and what the value is."""
        if key in KINDS:
            return self._named(key, self._name_of_word(key))
        kind, path = self._path_of(key)
        name = self.in_use()[kind]
        profile = self.profile(kind, name)
        data, value = profile.model_dump(mode="json"), yaml.safe_load(self.word)
        top = deepcopy(data.get(path[0]))
        holder: Any = {path[0]: top}
        for part in path[:-1]:
            holder = holder.get(part) if isinstance(holder, dict) else None
        if not isinstance(holder, dict) or (len(path) > 1 and path[-1] not in holder):
            what = f"profile {name} has no {'.'.join(path)}"
            raise BadInput(what, where=WHERE, how="name a key that the profile has")
        note = f"{'.'.join(path)} {self.word} in {kind} profile {name}"
        if holder[path[-1]] == value:
            return {}, note
        holder[path[-1]] = value
        changed = value if len(path) == 1 else top
        own = profile_with(profile, {path[0]: changed}, "value of an experiment")
        return self._used(kind, own), note

    def _path_of(self, key: str) -> tuple[str, tuple[str, ...]]:
        """Return kind and path of a key such as `xoff_kbytes` or `lossless.deadlock.detect_ms`."""
        parts, used = key.split("."), self.in_use()
        if parts[0] in used and len(parts) > 1:
            return parts[0], tuple(parts[1:])
        fields = {kind: type(self.profile(kind, name)).model_fields for kind, name in used.items()}
        kinds = [kind for kind, own in fields.items() if parts[0] in own]
        if len(kinds) == 1:
            return kinds[0], tuple(parts)
        if kinds:
            how = "write one of " + ", ".join(f"{kind}.{key}" for kind in kinds)
            raise BadInput(f"{key!r} is a key of several profiles", where=WHERE, how=how)
        keys = sorted({*KINDS, *(name for own in fields.values() for name in own)})
        raise BadInput(f"no profile has a key {key!r}", where=WHERE, how=nearest(parts[0], keys))

    def _name_of_word(self, kind: str) -> str:
        """Return the profile that a value names; `static` and `ai` are kinds of ECN."""
        if kind != ECN or self.word not in ECN_OF_WORD:
            return self.word
        own = self.in_use()[ECN]
        of_kind = isinstance(self.profile(ECN, own), KIND_OF_WORD[self.word])
        return own if of_kind else ECN_OF_WORD[self.word]

    def _named(self, kind: str, name: str) -> tuple[Entries, str]:
        source = self.profile(kind, name).source
        note = f"{kind} profile {name}" + (f"; {source}" if source else "")
        if self.in_use().get(kind) == name:
            return {}, note
        if kind != ECN:
            return {(kind,): name}, note
        return self._with_ecn(name), note

    def _with_ecn(self, name: str) -> dict[tuple[str, ...], object]:
        own = profile_with(self.file.start.lossless, {ECN: name}, "level of an experiment")
        return {("profiles", LOSSLESS, self.new_name): own, (LOSSLESS,): self.new_name}

    def _used(self, kind: str, own: Mapping[str, object]) -> Entries:
        """Return the entries of a new profile, and of what names it."""
        entry: dict[tuple[str, ...], object] = {("profiles", kind, self.new_name): dict(own)}
        if kind == ECN:
            return entry | self._with_ecn(self.new_name)
        return entry | {(kind,): self.new_name}
