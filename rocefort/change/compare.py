"""Steps of `diff`: compare two fabrics, directories of configurations, or git revisions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from rocefort.base.repository import FABRIC_FILE, Site
from rocefort.change.difference import ComparedSide, ComparedSwitch, difference
from rocefort.change.results import FabricDifference
from rocefort.design.derive.derive import DerivedNetwork, derive, derive_loaded
from rocefort.design.git_revisions import checked_out, looks_like_revision, revision_of, site_beside
from rocefort.design.load.hardware_catalogue import load_catalogue
from rocefort.design.load.load import load_fabric
from rocefort.design.subject import subject_of_texts, with_template_lines
from rocefort.models.network.network import Network, Sources

Say = Callable[[str], None]


def compare_sides(before: str, after: str, say: Say | None = None) -> FabricDifference:
    """Compare two sides given on the command line; raises BadInput for one that is not a side.

    say: receives notes on files that are not read.
    """
    sides = side_of(before, after, say), side_of(after, before, say)
    return difference(*sides, load_catalogue().families)


def drift_of(fabric: Path, configs: Path, say: Say | None = None) -> FabricDifference:
    """Drift: compare a directory of running configurations with the intended fabric.

    say: as in `compare_sides`.
    """
    loaded = load_fabric(fabric)
    intended = side_of_derived(derive_loaded(loaded), str(fabric))
    running = side_of_texts(configs, str(configs), loaded.site, say)
    return difference(running, intended, load_catalogue(loaded.site).families)


def side_of(text: str, other: str, say: Say | None = None) -> ComparedSide:
    """Read one side; `REV:` alone takes its path from the other side.

    `git_revisions.py` describes the files that a revision provides. The files of a revision are
    temporary: everything is read before they are removed.
    """
    if looks_like_revision(text):
        return _side_of_revision(text, other, say)
    path = Path(text)
    if path.is_dir() and not (path / FABRIC_FILE).exists():
        return side_of_texts(path, text, site_beside(other), say)
    return side_of_fabric(path, text)


def side_of_fabric(fabric: Path, name: str) -> ComparedSide:
    """Derive a fabric as a side, without rendering it."""
    return side_of_derived(derive(fabric), name)


def side_of_derived(fabric: DerivedNetwork, name: str) -> ComparedSide:
    """Return a derived fabric as a side."""
    derived = with_template_lines(fabric)
    switches = dict(switches_of(derived.network, derived.sources, {}))
    return ComparedSide(name, switches, derived.sources)


def side_of_texts(
    directory: Path, name: str, site: Site | None = None, say: Say | None = None
) -> ComparedSide:
    """Read a directory of configurations as a side; site: as in `subject_of_texts`."""
    subject = subject_of_texts(directory, site)
    if say is not None:
        for note in subject.unread:
            say(note)
    switches = dict(switches_of(subject.network, subject.sources, subject.texts))
    return ComparedSide(name, switches, subject.sources)


def switches_of(
    network: Network, sources: Sources, texts: Mapping[str, str]
) -> Iterator[tuple[str, ComparedSwitch]]:
    """Switches of a network by name; texts: configurations that were read from files."""
    for node in network.nodes:
        place = sources.find(node.name)
        switch = ComparedSwitch(
            device=node.device,
            file=place.file if place else "",
            family=node.family,
            read_by=node.read_by,
            hardware=node.hardware,
            software=node.software or "",
            text=texts.get(node.name, ""),
            unmodelled=node.unmodelled,
            cut_off_at=node.cut_off_at,
        )
        yield node.name, switch


def _side_of_revision(text: str, other: str, say: Say | None) -> ComparedSide:
    revision = revision_of(text, other)
    with checked_out(revision) as files:
        if not files.is_fabric:
            side = side_of_texts(files.source, text, files.site, say)
        else:
            side = side_of_derived(files.derive(), text)
    switches = {
        name: replace(switch, file=files.shown(switch.file))
        for name, switch in side.switches.items()
    }
    return ComparedSide(text, switches, side.sources, files.shown)
