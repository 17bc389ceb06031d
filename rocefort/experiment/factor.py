"""Factor of an experiment: a key of a profile, and a fabric for each of its values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, cast

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput
from rocefort.change.edit import FabricFile, versions_of
from rocefort.change.profile_edits import Entries, profile_with, with_entries
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.load.profiles import Library
from rocefort.models.change.plan import digest_of
from rocefort.models.fabric.lossless import AiEcnProfile, StaticEcn
from rocefort.models.fabric.types import Sourced
from rocefort.tune.fabric_search import kept_profiles_text

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
LONGEST_SHOWN = 20
LONGEST_WORD = 14  # of a profile's name, which a switch may limit to 31 characters with the speed
WHOLE = re.compile(r"0|[1-9][0-9]{0,11}")
DECIMAL = re.compile(r"(0|[1-9][0-9]{0,11})\.[0-9]{1,9}")
TRUTHS = {"true": True, "false": False}
MARKS = {"source", "sources", "assumed"}  # keys of a profile that change nothing on a switch
REFUSAL = "the level is no valid fabric"


@dataclass(frozen=True)
class LevelFabric:
    """Fabric with one value of the factor. note: meaning of the value, and its source."""

    name: str
    value: object
    note: str
    text: str
    derived: DerivedNetwork

    @cached_property
    def effect(self) -> str:
        """SHA-256 of what it makes of switches and NICs."""
        return effect_of(self.derived)

    @property
    def digest(self) -> str:
        """SHA-256 of its text and its effect."""
        return digest_of([self.text, self.effect])


def effect_of(derived: DerivedNetwork) -> str:
    """Return the SHA-256 of a network and of the profiles that the fabric has one of.

    Profiles of the site and of Rocefort may change while the text of the fabric does not.
    """
    names = {
        LOSSLESS: derived.fabric.lossless,
        ECN: derived.lossless.ecn,
        CONTROL: derived.fabric.congestion_control,
    }
    uses = {kind: derived.profiles.get(kind, name) for kind, name in names.items() if name}
    profiles = {
        kind: use.profile.model_dump(mode="json", exclude=MARKS)
        for kind, use in uses.items()
        if use
    }
    return digest_of([derived.network.model_dump(mode="json"), profiles])


def parsed_value(word: str) -> int | float | bool | str:
    """Return the value that a word of --factor is; raises BadInput.

    A number is decimal, so that 0600 is not read as octal.
    """
    if WHOLE.fullmatch(word):
        return int(word)
    if DECIMAL.fullmatch(word):
        return float(word)
    if word[0].isdigit():
        what = f"{word[:LONGEST_SHOWN]!r} is no decimal number"
        how = "write it as 600 or 0.5, without leading zeros"
        raise BadInput(what, where=WHERE, how=how)
    return TRUTHS.get(word, word)


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
    """Return a fabric for each value; raises BadInput, and Refused if `check` has a new error.

    Two values that make the same network are no levels.
    """
    levels = tuple(_level(file, key, word) for word in words)
    for one, two in combinations(levels, 2):
        if one.value == two.value or one.effect == two.effect:
            what = f"{one.name} and {two.name} are the same fabric"
            raise BadInput(what, where=WHERE, how="name values with unlike effects")
    return levels


def _level(file: FabricFile, key: str, word: str) -> LevelFabric:
    edit = _Edit(file, word)
    entries, note = edit.entries(key)
    value = edit.value(key)
    if not entries:
        return LevelFabric(word, value, f"{note} (as the fabric is)", file.text, file.start)
    kept = kept_profiles_text(file.start) if (LOSSLESS,) in entries else ""
    note = f"{note}; {kept}" if kept else note
    versions = versions_of(file, lambda: with_entries(file, entries))
    versions.refuse(())
    return LevelFabric(word, value, note, versions.edited.text, versions.end)


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

    def value(self, key: str) -> object:
        """Name of a profile, or value of a key; raises BadInput."""
        return self._name_of_word(key) if key in KINDS else parsed_value(self.word)

    def entries(self, key: str) -> tuple[Entries, str]:
        """Return the changed entries of fabric.yaml, and what the value is."""
        if key in KINDS:
            return self._named(key, str(self.value(key)))
        kind, path = self._path_of(key)
        name = self.in_use()[kind]
        profile = self.profile(kind, name)
        data, value = profile.model_dump(mode="json"), self.value(key)
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
