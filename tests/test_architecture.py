"""docs/explanation/architecture.md lists the packages in their order, and names what exists."""

from __future__ import annotations

import pkgutil
import re
import tomllib

import grimp
import pytest

from rocefort.base.repository import ROOT
from rocefort.validators.rules.registry import registered

PAGE = (ROOT / "docs/explanation/architecture.md").read_text(encoding="utf-8")
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "importlinter"
]["contracts"]


def test_the_table_has_the_order_that_the_contract_enforces() -> None:
    (order,) = (each["layers"] for each in CONTRACTS if each["name"] == "order of packages")
    rows = re.findall(r"^\| `(?:rocefort/)?(\w+)(?:/|\.py)` \|", PAGE, re.MULTILINE)
    assert rows == [*order, "napalm_cloudengine"]


def test_every_package_is_in_the_table() -> None:
    packages = {path.parent.name for path in (ROOT / "rocefort").glob("*/__init__.py")}
    assert {name for name in packages if f"{name}/`" not in PAGE} == set()


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([\w/]+/)?`", PAGE)) - {""}))
def test_every_folder_exists(path: str) -> None:
    assert (ROOT / path).is_dir()


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([\w/]+\.py)`", PAGE))))
def test_every_file_exists(path: str) -> None:
    assert (ROOT / path).is_file()


@pytest.mark.parametrize("name", re.findall(r"`([\w.]+:\w+)`", PAGE))
def test_every_function_exists(name: str) -> None:
    assert callable(pkgutil.resolve_name(name))


def test_only_the_registry_imports_a_module_with_rules() -> None:
    """Formulas and subjects of rules are in modules of their own."""
    graph = grimp.build_graph("rocefort", cache_dir=None)
    rules = {one.judge.__module__ for one in registered()}
    assert len(rules) > 30
    importers = {
        module: found
        for module in rules
        if (found := graph.find_modules_that_directly_import(module))
    }
    assert importers == {}
