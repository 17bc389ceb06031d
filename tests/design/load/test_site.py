"""Hardware and profiles of a site: its files precede the shipped ones, model by model."""

from __future__ import annotations

import copy
import shutil
from pathlib import Path

import pytest

from rocefort.base.documents.read import document_of
from rocefort.base.errors import BadInput
from rocefort.base.repository import HARDWARE, INVENTORY, PROFILES, SHIPPED, Site, site_of
from rocefort.design.derive.derive import derive
from rocefort.design.expand import GrowthRequest, grow
from rocefort.design.load.documents import load_fabric
from rocefort.design.load.hardware_catalogue import load_catalogue, overrides
from rocefort.design.load.profiles import profiles_of
from rocefort.models.fabric.lossless import Lossless
from rocefort.models.hardware.hardware import SyntaxFamily

SPINE = "CE9860-4C-EI"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A site with HEPS and without hardware and profiles."""
    here = Site(tmp_path / "site")
    shutil.copytree(INVENTORY / "heps", here.inventory / "heps")
    here.hardware.mkdir()
    here.profiles.mkdir()
    return here


def copy_of(model: str, name: str, site: Site) -> Path:
    """Write the file of a shipped model into a site, under another name of the model."""
    source = HARDWARE / f"{model.lower()}.yaml"
    target = site.hardware / f"{name.lower()}.yaml"
    target.write_text(source.read_text().replace(f"model: {model}", f"model: {name}"))
    return target


def test_the_site_is_the_nearest_folder_with_an_inventory_or_settings(tmp_path: Path) -> None:
    outer, inner = tmp_path, tmp_path / "sites" / "a"
    (outer / "inventory" / "heps").mkdir(parents=True)
    (inner / "lab").mkdir(parents=True)
    assert site_of(inner / "lab" / "fabric.yaml") == Site(outer)
    (inner / "rocefort.toml").touch()
    assert site_of(inner / "lab" / "fabric.yaml") == Site(inner)
    assert site_of(outer / "inventory" / "heps" / "fabric.yaml") == Site(outer)


def test_the_top_of_a_repository_ends_the_search(tmp_path: Path) -> None:
    (tmp_path / "inventory").mkdir()
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    assert site_of(tmp_path / "repository" / "fabric.yaml") is None


def test_a_model_of_the_site_precedes_the_shipped_one(site: Site) -> None:
    file = copy_of(SPINE, SPINE, site)
    file.write_text(file.read_text().replace("template: ce9860", "template: ce8850"))
    copy_of("CE8850-64CQ-EI", "CE8850-MINE", site)
    hardware = load_catalogue(site).hardware
    assert set(hardware) == {*load_catalogue().hardware, "CE8850-MINE"}
    assert (hardware[SPINE].template, hardware["CE8850-MINE"].template) == ("ce8850", "ce8850")
    assert load_catalogue().hardware[SPINE].template == "ce9860"


def test_a_card_of_the_site_precedes_the_shipped_one(site: Site) -> None:
    card = HARDWARE / "cards" / "ce9860-32cq.yaml"
    before = load_catalogue(site).hardware[SPINE]
    own = site.hardware / "cards" / card.name
    own.parent.mkdir()
    text = card.read_text()
    assert text.count("100gbase-x-qsfp28") == 32
    own.write_text(text.replace("100gbase-x-qsfp28", "200gbase-x-qsfp56", 1))
    after = load_catalogue(site).hardware[SPINE]
    assert list(overrides(site, [SPINE, "CE8850-64CQ-EI"])) == [
        f"a card of {SPINE} is read from {own.parent} instead of the shipped file"
    ]
    speeds = [[each.speed_gbps(port) for port in each.port_names()] for each in (before, after)]
    assert 200 not in speeds[0]
    assert 200 in speeds[1]


def test_a_family_of_the_site_precedes_the_shipped_one(site: Site) -> None:
    text = (HARDWARE / "families.yaml").read_text()
    one = text[: text.index("  - name: ", text.index("- name: v300-g1"))]
    (site.hardware / "families.yaml").write_text(one.replace("high: 1500", "high: 1400"))
    families, shipped = load_catalogue(site).families, load_catalogue().families
    limit = families[SyntaxFamily.V300_G1].deadlock_detect_ms
    assert limit is not None
    assert limit.high == 1400
    assert {name for name in shipped if families[name] != shipped[name]} == {SyntaxFamily.V300_G1}


def test_a_profile_of_the_site_precedes_the_shipped_one(site: Site) -> None:
    text = (PROFILES / "lossless.yaml").read_text()
    (site.profiles / "ours.yaml").write_text(
        text.replace("xoff_kbytes: 600", "xoff_kbytes: 650", 1)
    )
    chosen = profiles_of(site).get("lossless", "heps-like")
    assert chosen is not None
    assert isinstance(chosen.profile, Lossless)
    assert chosen.profile.xoff_kbytes == 650
    assert chosen.document.file == str(site.profiles / "ours.yaml")
    assert set(profiles_of(site).known) == set(profiles_of().known)


def test_a_changed_file_is_read_again(site: Site) -> None:
    file = copy_of(SPINE, "MINE", site)
    assert "MINE" in load_catalogue(site).hardware
    assert load_catalogue(site) is load_catalogue(site)
    file.unlink()
    assert "MINE" not in load_catalogue(site).hardware


def test_only_what_differs_from_the_shipped_file_is_an_override(site: Site) -> None:
    file = copy_of(SPINE, SPINE, site)
    shutil.copy(PROFILES / "lossless.yaml", site.profiles / "l.yaml")
    shutil.copy(HARDWARE / "families.yaml", site.hardware)
    assert list(overrides(site, [SPINE])) == []
    for path, old, new in (
        (file, "template: ce9860", "template: ce8850"),
        (site.profiles / "l.yaml", "xoff_kbytes: 600", "xoff_kbytes: 650"),
        (site.hardware / "families.yaml", "high: 1500", "high: 1400"),
    ):
        path.write_text(path.read_text().replace(old, new, 2))
    assert list(overrides(site, [SPINE])) == [
        f"{what} instead of the shipped file"
        for what in (
            f"family v300-g1 is read from {site.hardware}/families.yaml",
            f"{SPINE} is read from {file}",
            f"lossless profile heps-like is read from {site.profiles}/l.yaml:4:3",
        )
    ]
    assert list(overrides(SHIPPED, [SPINE])) == []


def test_an_unknown_model_lists_those_of_the_site_and_the_shipped_ones(site: Site) -> None:
    copy_of("CE8850-64CQ-EI", "CE8850-MINE", site)
    fabric = site.inventory / "heps" / "fabric.yaml"
    text = fabric.read_text()
    for wrong, right in (("CE8850-MIN", "CE8850-MINE"), ("CE9860-4C-E", SPINE)):
        fabric.write_text(text.replace(f"hardware: {SPINE}", f"hardware: {wrong}", 1))
        with pytest.raises(BadInput, match=f"did you mean '{right}'"):
            derive(fabric)


def test_an_error_names_the_file_of_the_site(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site.root)
    file = copy_of(SPINE, SPINE, site)
    file.write_text(file.read_text().replace("rocefort:", "rocefart:"))
    with pytest.raises(BadInput) as caught:
        derive(site.inventory / "heps")
    assert {Path(problem.where.partition(":")[0]) for problem in caught.value.problems} == {
        file.relative_to(site.root)
    }


def test_the_shipped_inventory_is_a_site_of_one_layer(tmp_path: Path) -> None:
    (tmp_path / "inventory").symlink_to(INVENTORY)
    assert Site(tmp_path).layers == (SHIPPED,)
    assert load_catalogue(Site(tmp_path)).hardware.keys() == load_catalogue().hardware.keys()


def test_derivation_and_growth_leave_the_shared_content_of_files_as_it_is(site: Site) -> None:
    """Files with the same text share their data, so no function may change it."""
    copy_of("CE8850-64CQ-EI", "CE8850-MINE", site)
    fabric = site.inventory / "heps" / "fabric.yaml"
    texts = [path.read_text() for path in (fabric, *site.files, *SHIPPED.files)]
    shared = [document_of(text, "").data for text in texts]
    before = copy.deepcopy(shared)
    loaded = load_fabric(fabric)
    derive(fabric)
    request = GrowthRequest(1, 1, 1, like=("leaf08",))
    assert grow(fabric.read_text(), loaded, load_catalogue(site), request).new
    assert shared == before
    assert all(document_of(text, "").data is one for text, one in zip(texts, shared, strict=True))
