"""docs/explanation/architecture.md draws the packages as they import each other, and names what exists."""

from __future__ import annotations

import pkgutil
import re

import grimp
import pytest

from rocefort.base.paths import ROOT
from rocefort.validators.rules.registry import registered

PAGE = (ROOT / "docs/explanation/architecture.md").read_text(encoding="utf-8")
PACKAGES = {
    "base",
    "design",
    "dialects",
    "validators",
    "fleet",
    "rollout",
    "rdma",
    "lab",
    "tuning",
    "reports",
    "napalm_cloudengine",
}
DRAWING = re.findall(r"```mermaid\n(.*?)```", PAGE, re.DOTALL)[1]


@pytest.fixture(scope="module")
def imports() -> set[tuple[str, str]]:
    """Imports between packages: importer and imported."""
    graph = grimp.build_graph("rocefort", "napalm_cloudengine", cache_dir=None)
    return {
        (importer, imported)
        for module in graph.modules
        for other in graph.find_modules_directly_imported_by(module)
        if (importer := package(module)) != (imported := package(other))
    }


def package(module: str) -> str:
    parts = module.removeprefix("rocefort.").split(".")
    return parts[0]


def test_every_arrow_is_an_import_and_every_import_is_drawn(imports: set[tuple[str, str]]) -> None:
    between = {pair for pair in imports if PACKAGES.issuperset(pair)}
    assert set(re.findall(r"(\w+) --> (\w+)", DRAWING)) == between


def test_every_package_except_the_driver_imports_models(imports: set[tuple[str, str]]) -> None:
    importers = {importer for importer, imported in imports if imported == "models"}
    assert importers >= PACKAGES - {"napalm_cloudengine"}
    assert "napalm_cloudengine" not in importers


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([\w/]+/)?`", PAGE)) - {""}))
def test_every_folder_exists(path: str) -> None:
    assert (ROOT / path).is_dir()


@pytest.mark.parametrize("name", re.findall(r"`([\w.]+:\w+)`", PAGE))
def test_every_function_exists(name: str) -> None:
    assert callable(pkgutil.resolve_name(name))


def test_only_the_registry_imports_a_module_with_rules() -> None:
    """Formulas and subjects of rules are in modules of their own."""
    graph = grimp.build_graph("rocefort", cache_dir=None)
    rules = {one.judge.__module__ for one in registered()}
    assert len(rules) > 40
    importers = {
        module: found
        for module in rules
        if (found := graph.find_modules_that_directly_import(module))
    }
    assert importers == {}
