"""docs/architecture.md draws the packages as they import each other, and names what exists."""

from __future__ import annotations

import pkgutil
import re

import grimp
import pytest

from rocefort.paths import ROOT

PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
PACKAGES = {
    "models",
    "documents",
    "design",
    "dialects",
    "validators",
    "fleet",
    "rollout",
    "rdma",
    "lab",
    "reports",
    "napalm_cloudengine",
}
DRAWING = re.findall(r"```mermaid\n(.*?)```", PAGE, re.DOTALL)[1]


def imports() -> set[tuple[str, str]]:
    """Imports between the packages that are drawn."""
    graph = grimp.build_graph("rocefort", "napalm_cloudengine")
    return {
        (importer, imported)
        for module in graph.modules
        for other in graph.find_modules_directly_imported_by(module)
        if (importer := package(module)) != (imported := package(other))
        and {importer, imported} <= PACKAGES
    }


def package(module: str) -> str:
    parts = module.removeprefix("rocefort.").split(".")
    return parts[0]


def test_every_arrow_is_an_import_and_every_import_is_drawn() -> None:
    assert set(re.findall(r"(\w+) --> (\w+)", DRAWING)) == imports()


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([\w/]+/)?`", PAGE)) - {""}))
def test_every_folder_exists(path: str) -> None:
    assert (ROOT / path).is_dir()


@pytest.mark.parametrize("name", re.findall(r"`([\w.]+:\w+)`", PAGE))
def test_every_function_exists(name: str) -> None:
    assert callable(pkgutil.resolve_name(name))
