"""Catalogue of hardware data: switch models, line cards and syntax families."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from rocefort.base.documents.read import Document, read_document, read_text
from rocefort.base.documents.suggest import nearest
from rocefort.base.documents.validate import validate
from rocefort.base.errors import BadInput
from rocefort.base.repository import SHIPPED, Site, SiteState, shortest
from rocefort.design.load.site_commands import with_site_commands
from rocefort.design.load.site_facts import read_facts, with_family_facts, with_hardware_facts
from rocefort.design.load.site_templates import site_templates
from rocefort.dialects.syntax_families import FAMILY_FILE, load_families, read_families
from rocefort.models.hardware.hardware import Family, Hardware, SiteTemplates
from rocefort.models.hardware.netbox import DeviceType, ModuleType, hardware_of
from rocefort.models.hardware.site_facts import SwitchFacts

CARDS = "cards"  # directory of line cards, NetBox's module types
MODEL = re.compile(r"^model: *(['\"]?)(?P<model>[^'\"#\n]*?)\1 *(?:#.*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Catalogue:
    """Hardware by model, syntax families by name, and what switches of the site answered."""

    hardware: Mapping[str, Hardware]
    families: Mapping[str, Family]
    facts: tuple[SwitchFacts, ...] = ()

    def family(self, model: str, release: str) -> Family | None:
        """Return the syntax family of a release on a model, with the facts of such switches.

        None: the data do not have the release. Raises KeyError for an unknown model.
        """
        name = self.hardware[model].family_of(release)
        if name is None:
            return None
        return with_family_facts(self.families[name], model, release, self.facts)


@dataclass(eq=False)
class Shelf(Mapping[str, Hardware]):
    """Hardware of a site; the file of a model is read once, at its first use.

    A model with a hundred ports takes a few milliseconds, and a fabric names four of them.
    """

    site: Site
    files: Mapping[str, Path]
    families: Mapping[str, Family]
    templates: SiteTemplates
    facts: tuple[SwitchFacts, ...]
    known: dict[str, Hardware] = field(default_factory=dict)

    def __getitem__(self, model: str) -> Hardware:
        """Return facts of a model; raises KeyError without a file, BadInput for an invalid file."""
        if model not in self.known:
            hardware = read_hardware(self.files[model], self.site, self.families)
            hardware = with_hardware_facts(hardware, self.facts)
            self.known[model] = _with_templates(hardware, self.templates)
        return self.known[model]

    def __iter__(self) -> Iterator[str]:
        """Iterate over models in order of their files' names."""
        return iter(self.files)

    def __len__(self) -> int:
        """Return the number of models."""
        return len(self.files)

    def __contains__(self, model: object) -> bool:
        """Whether there is a file for a model."""
        return model in self.files


def load_catalogue(site: Site = SHIPPED) -> Catalogue:
    """Read the syntax families and list the models of a site.

    A file of the site precedes the shipped file of the same model, card or family. Each model has
    the templates of the site, and each family of CloudEngine the commands that the site adds. The
    facts of the site count for the model and the release of the switch that was probed.
    """
    return _catalogue(site, site.state)


def _with_templates(hardware: Hardware, own: SiteTemplates) -> Hardware:
    return hardware.model_copy(update={"site_templates": own}) if own else hardware


@lru_cache(maxsize=32)
def _catalogue(site: Site, _state: SiteState) -> Catalogue:
    """Return the catalogue of one state of a site's files."""
    families: dict[str, Family] = {}
    files: dict[str, Path] = {}
    for layer in site.layers:
        if (layer.hardware / FAMILY_FILE).is_file():
            families |= load_families() if layer == SHIPPED else read_families(layer.hardware)
        files |= models_in(layer.hardware)
    of_site = with_site_commands(site, families)
    facts = read_facts(site, of_site)
    shelf = Shelf(site, files, families, site_templates(site), facts)
    return Catalogue(shelf, of_site, facts)


def models_in(directory: Path) -> dict[str, Path]:
    """Return files by model; raises BadInput for two files of one model."""
    files: dict[str, Path] = {}
    for path in sorted(shortest(directory).glob("[!.]*.yaml")):
        if path.name == FAMILY_FILE:
            continue
        model = _model_of(path)
        if model in files:
            what = f"model {model!r} is in another file of this directory, too"
            raise BadInput(what, where="model", how="keep one file a model", file=str(path))
        files[model] = path
    return files


def _model_of(path: Path) -> str:
    """Return the model of a file, without reading all of it as YAML; raises for a wrong file."""
    match = MODEL.search(read_text(path, logging.DEBUG))
    if match:
        return match["model"]
    return validate(DeviceType, read_document(path, "manufacturer: NAME")).model


def read_hardware(path: Path, site: Site, families: Collection[str]) -> Hardware:
    """Read one model with the cards in its slots; raises BadInput with all problems."""
    document = read_document(path, "manufacturer: NAME")
    device = validate(DeviceType, document)
    for number, release in enumerate(device.rocefort.releases):
        if release.family not in families:
            key_path = ("rocefort", "releases", number, "family")
            what, how = (
                f"no syntax family {release.family!r}",
                nearest(release.family, map(str, families)),
            )
            raise BadInput(problems=[document.problem(key_path, what, how)])
    card_files = _card_files(site) if device.rocefort.cards else {}
    cards: dict[str, ModuleType] = {}
    for slot, name in device.rocefort.cards.items():
        if name not in card_files:
            folders = [str(shortest(layer.hardware / CARDS)) for layer in reversed(site.layers)]
            what = f"no card {name!r} in {' or '.join(folders)}"
            problem = document.problem(("rocefort", "cards", slot), what, nearest(name, card_files))
            raise BadInput(problems=[problem])
        cards[name] = cards.get(name) or _card(card_files[name])
    held = {slot: cards[name] for slot, name in device.rocefort.cards.items()}
    return _hardware(document, device, held)


def _card_files(site: Site) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for layer in site.layers:
        files |= models_in(layer.hardware / CARDS)
    return files


def _card(path: Path) -> ModuleType:
    return validate(ModuleType, read_document(path, "manufacturer: NAME"))


def _hardware(document: Document, device: DeviceType, cards: Mapping[str, ModuleType]) -> Hardware:
    try:
        return hardware_of(device, cards)
    except ValueError as error:
        what, _, how = str(error).partition("; ")
        problem = document.problem(("rocefort",), what, how, of_key=True)
        raise BadInput(problems=[problem]) from None
