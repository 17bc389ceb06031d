"""Catalogue of hardware data: models, line cards, families; what a site adds and overrides.

A probe settles what no vendor document does. It replaces no confirmed value: a range that the
vendor states stays, and a form that the data do not list as unconfirmed is not accepted by it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from rocefort.base.clock import utc_now
from rocefort.base.documents.read import Document, YamlPath, path_text, read_document, read_text
from rocefort.base.documents.suggest import nearest
from rocefort.base.documents.validate import validate
from rocefort.base.errors import BadInput, Problem
from rocefort.base.repository import (
    DATA_FILES,
    SHIPPED,
    TEMPLATE_FILES,
    Site,
    SiteState,
    files_in,
    shortest,
)
from rocefort.design.load.profiles import profiles_of, words
from rocefort.dialects.syntax_families import FAMILY_FILE, load_families, read_families
from rocefort.models.hardware.hardware import (
    FIRST_DIALECT,
    SITE_TEMPLATES,
    Fact,
    Family,
    Hardware,
    Range,
    RefutedForm,
    SiteTemplates,
)
from rocefort.models.hardware.netbox import DeviceType, ModuleType, hardware_of
from rocefort.models.hardware.site_data import (
    FactEvidence,
    FormEvidence,
    FormOutcome,
    PlacedCommand,
    SiteCommand,
    SiteCommands,
    SiteFamily,
    SwitchFacts,
)


def with_site_commands(site: Site, families: Mapping[str, Family]) -> Mapping[str, Family]:
    """Return the families with the commands of a site; raises BadInput for a wrong file.

    The dialect checks the commands themselves.
    """
    commands = tuple(_commands(site, families))
    if not commands:
        return families
    return {
        name: SiteFamily.model_construct(
            **{key: getattr(family, key) for key in Family.model_fields}, commands=commands
        )
        if family.dialect == FIRST_DIALECT
        else family
        for name, family in families.items()
    }


def _commands(site: Site, families: Mapping[str, Family]) -> Iterator[PlacedCommand]:
    names = [str(name) for name, each in families.items() if each.dialect == FIRST_DIALECT]
    problems: list[Problem] = []
    for path in files_in(shortest(site.catalogue), DATA_FILES):
        document = read_document(path, "commands:")
        for number, command in enumerate(validate(SiteCommands, document).commands):
            at = ("commands", number)
            problems += _unknown_families(command, names, document, at)
            keys = ("", *type(command).model_fields)
            places = ((key, _where(document, (*at, key) if key else at)) for key in keys)
            yield PlacedCommand(command, tuple(places))
    if problems:
        raise BadInput(problems=problems)


def _unknown_families(
    command: SiteCommand, names: list[str], document: Document, at: YamlPath
) -> Iterator[Problem]:
    for number, family in enumerate(command.families):
        if family not in names:
            where = _where(document, (*at, "families", number))
            yield Problem(where, f"no syntax family {str(family)!r}", nearest(str(family), names))


def _where(document: Document, path: YamlPath) -> str:
    return f"{document.at(path)}: {path_text(path)}"


FIRST_KEY = "device: NAME"


def read_facts(site: Site, families: Mapping[str, Family]) -> tuple[SwitchFacts, ...]:
    """Read the facts of a site, the oldest first; raises BadInput for a wrong file."""
    files = files_in(shortest(site.facts), DATA_FILES)
    return tuple(sorted((_read(path, families) for path in files), key=lambda own: own.probed_on))


def _read(path: Path, families: Mapping[str, Family]) -> SwitchFacts:
    document = read_document(path, FIRST_KEY)
    facts = validate(SwitchFacts, document)
    family = families.get(str(facts.family))
    if family is None:
        what, how = (
            f"no syntax family {facts.family!r}",
            nearest(str(facts.family), map(str, families)),
        )
        raise BadInput(problems=[document.problem(("family",), what, how)])
    forms = {each.command for each in family.unconfirmed}
    problems = [
        document.problem(
            ("forms", number, "form"),
            f"{each.form!r} is no unconfirmed form of {family.name}",
            f"remove it, or correct it: {nearest(each.form, forms)}",
        )
        for number, each in enumerate(facts.forms)
        if each.form not in forms
    ]
    if facts.probed_on > utc_now().date():
        what = f"{facts.probed_on} is in the future"
        problems.append(document.problem(("probed_on",), what, "write the day of the probe"))
    if not facts.complete:
        what, how = (
            "the last line, `complete: true`, is missing",
            "the file is cut off; probe again",
        )
        problems.append(document.problem(("complete",), what, how))
    if problems:
        raise BadInput(problems=problems)
    return facts


def with_family_facts(
    family: Family, model: str, release: str, facts: Iterable[SwitchFacts]
) -> Family:
    """Return a family with what switches of one model and release answered."""
    for own in facts:
        if own.family == family.name and own.is_of(model, release):
            family = _settled(family, own)
    return family


def _settled(family: Family, facts: SwitchFacts) -> Family:
    wrong = [tried for tried in facts.forms if tried.outcome.is_wrong]
    settled = {each.form for each in facts.forms if each.outcome is FormOutcome.TAKEN}
    settled |= {each.form for each in wrong}
    refuted = [form for form in family.refuted if form.command not in settled]
    refuted += [
        RefutedForm(command=each.form, why=why_wrong(each), source=facts.source) for each in wrong
    ]
    still_open = (form for form in family.unconfirmed if form.command not in settled)
    update: dict[str, object] = {"unconfirmed": tuple(still_open), "refuted": tuple(refuted)}
    for fact in facts.facts:
        if fact.is_settled and fact.field in Family.model_fields:
            update[fact.field] = _value(getattr(family, fact.field), fact, facts.source)
    return family.model_copy(update=update)


def _value(present: Range | Fact | None, fact: FactEvidence, source: str) -> Range | Fact | None:
    """Return a fact as the switch shows it, or the present one if the vendor states that."""
    if present is not None and present.confirmed:
        return present
    if fact.low is not None and fact.high is not None:
        return Range(low=fact.low, high=fact.high, source=source)
    return Fact(value=fact.value, source=source) if fact.value is not None else present


def with_hardware_facts(hardware: Hardware, facts: Iterable[SwitchFacts]) -> Hardware:
    """Return a model with the size of its buffer, if its switches showed it."""
    for own in facts:
        for fact in own.facts if own.model == hardware.model else ():
            if fact.field == "buffer_kbytes":
                size = _value(hardware.buffer_kbytes, fact, own.source)
                hardware = hardware.model_copy(update={"buffer_kbytes": size})
    return hardware


def why_wrong(form: FormEvidence) -> str:
    """Return what a switch did with a form that it does not have as it is written."""
    if form.outcome is FormOutcome.REFUSED:
        return f"the switch refuses it: {form.reply}"
    saved = " / ".join(line.strip() for line in form.saved) or "nothing"
    missing = " / ".join(line.strip() for line in form.missing)
    return f"the switch does not save `{missing}`; it saves `{saved}`"


LARGEST = 64 * 1024  # bytes of a file; the largest shipped one has 3,900
MOST = 100
OTHER_FILES = (".md", ".txt")
NOT_OVERRIDDEN = ("day0.j2",)  # console input of a new switch


def site_templates(site: Site) -> SiteTemplates:
    """Return the templates of a site by name, with their texts; raises BadInput for a wrong file.

    A clone of Rocefort and the installed tool have none: their templates are the shipped ones.
    """
    folder = site.templates
    if site.is_clone or site not in site.layers[1:] or not folder.is_dir():
        return ()
    files = tuple(_files(site))
    if len(files) > MOST:
        what = f"{len(files)} files; at most {MOST} are read"
        raise BadInput(what, where=str(folder), how="remove the files without use")
    return files


def _files(site: Site) -> Iterator[tuple[str, str]]:
    real = site.root.resolve()
    for path in sorted(site.templates.rglob("*")):
        name = path.relative_to(site.root).as_posix()
        if path.resolve() != real / name:
            raise BadInput("is a symbolic link, or in one", where=name, how="copy the file")
        if path.is_dir() or path.name.startswith(".") or path.suffix in OTHER_FILES:
            continue
        if not name.startswith(f"{SITE_TEMPLATES}/") or path.name in NOT_OVERRIDDEN:
            what = "only the configuration templates of CloudEngine switches can be overridden"
            raise BadInput(what, where=name, how=f"they are in {SITE_TEMPLATES}; remove this file")
        if not path.match(TEMPLATE_FILES):
            raise BadInput("is not a template", where=name, how="its name must end in .j2")
        if not path.is_file():
            raise BadInput("is not a regular file", where=name, how="remove it")
        if path.stat().st_size > LARGEST:
            raise BadInput(f"has more than {LARGEST} bytes", where=name, how="split the template")
        text = read_text(path).replace("\r\n", "\n")
        if odd := next((c for c in text if not c.isprintable() and c not in "\n\t"), ""):
            what = f"has the control character {odd!r}"
            raise BadInput(what, where=name, how="remove it")
        yield name.removeprefix(f"{SITE_TEMPLATES}/"), text


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


def overrides(site: Site, models: Iterable[str]) -> Iterator[str]:
    """Yield a sentence on each family, model and profile that is not as shipped.

    models: those of a fabric; the others are not read. A shipped file that no file of the site
    precedes is not read again.
    """
    own, shipped = load_catalogue(site), load_catalogue()
    if own is shipped or not isinstance(own.hardware, Shelf):
        return
    for name, family in own.families.items():
        own_facts = family.shipped if isinstance(family, SiteFamily) else family
        if own_facts != shipped.families.get(name, own_facts):
            yield _sentence(f"family {name}", f"{shortest(site.hardware / FAMILY_FILE)}")
    yield from _models(site, own.hardware, shipped.hardware, models)
    if site.profiles.is_dir():
        yield from _profiles(site)


def _models(
    site: Site, own: Shelf, shipped: Mapping[str, Hardware], models: Iterable[str]
) -> Iterator[str]:
    has_cards = (site.hardware / CARDS).is_dir()
    for model in dict.fromkeys(models):
        facts, file = own[model].shipped, shortest(own.files[model])
        is_shipped = file == shortest(SHIPPED.hardware / file.name)
        if is_shipped and not has_cards:
            continue
        if facts != shipped.get(model, facts):
            if is_shipped:
                yield _sentence(f"a card of {model}", str(shortest(site.hardware / CARDS)))
            else:
                yield _sentence(model, str(file))


def _profiles(site: Site) -> Iterator[str]:
    for key, chosen in profiles_of(site).known.items():
        first = profiles_of(SHIPPED).known.get(key, chosen)
        if chosen.profile != first.profile:
            yield _sentence(f"{words(chosen.kind)} profile {chosen.name}", str(chosen.key_at()))


def _sentence(what: str, where: str) -> str:
    return f"{what} is read from {where} instead of the shipped file"
