"""Write the choice of a search into its fabric.yaml, as profiles that the fabric then uses."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.base.clock import utc_now
from rocefort.base.errors import Problem, Refused
from rocefort.change.edit import FabricFile, read_fabric, versions_of
from rocefort.change.profile_edits import profile_with, with_entries
from rocefort.design.remove import EditedFabric
from rocefort.tune.fabric_search import FabricSearch, kept_profiles_text
from rocefort.tune.model import SearchResult
from rocefort.tune.run import Searched
from rocefort.tune.switch_values import ecn_thresholds

REFUSAL = "the choice cannot be written"


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
    if kept := kept_profiles_text(own.derived):
        notes.append(kept)
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
    return with_entries(file, dict(_entries(own, result, measured)))


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
    yield ("profiles", "lossless", name), profile_with(own.derived.lossless, tuned, source)
    yield ("lossless",), name
    if own.congestion_control is not None and result.chosen.settings.nic:
        nic: dict[str, object] = {str(k): v for k, v in result.chosen.settings.nic.items()}
        nic["lossless"] = name
        profile = profile_with(own.congestion_control, nic, source)
        yield ("profiles", "congestion_control", name), profile
        yield ("congestion_control",), name
