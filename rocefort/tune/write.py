"""Write the choice of a search into its fabric.yaml, as profiles that the fabric then uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from rocefort.base.clock import utc_now
from rocefort.base.documents.edit import line_comments, with_entry, with_line_comments
from rocefort.base.documents.read import YamlPath
from rocefort.base.documents.repair import value_at
from rocefort.base.errors import Problem, Refused
from rocefort.change.edit import FabricFile, read_fabric, versions_of
from rocefort.design.remove import EditedFabric, read_back
from rocefort.models.fabric.types import Sourced
from rocefort.tune.fabric_search import FabricSearch
from rocefort.tune.model import SearchResult
from rocefort.tune.run import Searched
from rocefort.tune.switch_values import ecn_thresholds

REFUSAL = "the choice cannot be written"
Entries = Mapping[tuple[str, ...], object]


def write_choice(searched: Searched, measured: str = "") -> SearchResult:
    """Write the choice and return the result with what was written.

    measured: for its source, where servers measured it, so that they have compared it with today's
    values. Raises Refused if the verdict keeps today's values, or if `check` would have a new
    error; then the file is untouched.
    """
    own, result = searched.plan.fabric, searched.result
    if own is None:
        raise Refused("a search of scenarios has no fabric", how="search a fabric")
    file = read_fabric(own.file, REFUSAL)
    if file.text != searched.plan.text:
        what = "the fabric has changed since the search began"
        raise Refused(what, file=str(file.path), how="search again; simulations are kept")
    if not measured:
        _refuse_keep(file, result)
    versions = versions_of(file, lambda: candidate(file, own, result, measured))
    versions.refuse(())
    versions.write()
    name = profile_name(result)
    kinds = "lossless and ECN" if changes_ecn(result) else "lossless"
    notes = [f"{file.path} now uses {kinds} profile {name}"]
    if result.chosen.settings.nic:
        notes[0] += ", and congestion control profile " + name
    notes += [f"new warning: {warning}" for warning in versions.warnings]
    notes.append(f"`rocefort diff HEAD:{file.path} {file.path} --patch` shows the commands")
    return result.model_copy(update={"written": tuple(notes)})


def _refuse_keep(file: FabricFile, result: SearchResult) -> None:
    """Raise Refused with the verdict if it keeps today's values."""
    if result.verdict.decision == "keep":
        how = "keep today's values, or search without --write to see the comparison"
        problem = Problem("", result.verdict.sentence.removesuffix("."), how, str(file.path))
        raise file.untouched([problem])


def changes_ecn(result: SearchResult) -> bool:
    """Whether the choice has other ECN thresholds than today."""
    return result.chosen.settings.ecn != result.start.settings.ecn


def profile_name(result: SearchResult) -> str:
    """Return the name of the profiles of an objective."""
    return f"tuned-{result.objective}"


def candidate(
    file: FabricFile, own: FabricSearch, result: SearchResult, measured: str = ""
) -> EditedFabric:
    """Return a fabric with the choice of a result."""
    entries: Entries = dict(_entries(own, result, measured))
    text, expected = file.text, deepcopy(file.loaded.document.data)
    for path, value in entries.items():
        text = with_entry(text, path, value)
        _set(expected, path, value)
    text = with_line_comments(text, dict(_comments(file, own, entries)))
    return EditedFabric(text, read_back(text, file.loaded, expected))


def _comments(
    file: FabricFile, own: FabricSearch, entries: Entries
) -> Iterator[tuple[YamlPath, str]]:
    """Yield comments of values that a new profile has from the fabric's own, by their new path."""
    fabric, data = own.derived.fabric, file.loaded.document.data
    for kind, name in (
        ("lossless", fabric.lossless),
        ("congestion_control", fabric.congestion_control),
    ):
        before = value_at(data, ("profiles", kind, str(name)))
        new = next((path for path in entries if path[:2] == ("profiles", kind)), None)
        if not isinstance(before, dict) or new is None:
            continue
        after = entries[new]
        for path, comment in line_comments(file.text, ("profiles", kind, str(name))).items():
            of_value = path, ("sources", path[0])
            if all(_alike(value_at(before, at), value_at(after, at)) for at in of_value):
                yield (*new, *path), comment


def _alike(one: object, other: object) -> bool:
    """Whether two values are equal, or both lists or mappings, whose items have comments too."""
    both = isinstance(one, dict | list) and isinstance(other, dict | list)
    return both or one == other


def _set(data: Any, path: tuple[str, ...], value: object) -> None:  # noqa: ANN401 - of YAML
    for part in path[:-1]:
        if data.get(part) is None:
            data[part] = {}
        data = data[part]
    data[path[-1]] = value


def _entries(
    own: FabricSearch, result: SearchResult, measured: str
) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield the profiles of the choice by their paths, and the keys that name them."""
    name = profile_name(result)
    source = (
        f"rocefort tune search, {utc_now():%Y-%m-%d}, objective {result.objective}, simulated "
        f"with {len(result.verdict.seeds)} fresh seeds{measured}"
    )
    if changes_ecn(result):
        yield (
            ("profiles", "ecn", name),
            {
                "kind": "static",
                "source": source,
                "confirmed": False,
                "thresholds": ecn_thresholds(result.chosen.switch_values),
            },
        )
    pfc = {row.key: round(row.value) for row in result.chosen.switch_values if row.gbps is None}
    tuned: dict[str, object] = {key: pfc[key] for key in ("xoff_kbytes", "xon_kbytes")}
    if changes_ecn(result):
        tuned["ecn"] = name
    yield ("profiles", "lossless", name), _with(own.derived.lossless, tuned, source)
    yield ("lossless",), name
    if own.congestion_control is not None and result.chosen.settings.nic:
        nic: dict[str, object] = {str(k): v for k, v in result.chosen.settings.nic.items()}
        nic["lossless"] = name
        profile = _with(own.congestion_control, nic, source)
        yield ("profiles", "congestion_control", name), profile
        yield ("congestion_control",), name


def _with(profile: Sourced, tuned: Mapping[str, object], source: str) -> dict[str, object]:
    """Return the data of a profile with other values, which have a source of their own."""
    data = profile.model_dump(mode="json", exclude_defaults=True)
    sources = {k: v for k, v in profile.sources.items() if k not in tuned}
    sources |= {key: source for key in tuned if key != "lossless"}
    assumed = [key for key in profile.assumed if key not in tuned]
    marks = {"source": profile.source, "sources": sources, "assumed": assumed}
    kept = {key: value for key, value in marks.items() if value}
    out = {**kept, **{k: v for k, v in data.items() if k not in marks}, **tuned}
    if "kind" in out:
        out = {"kind": out.pop("kind"), **out}
    return out
