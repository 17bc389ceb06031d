"""Notes on files of a site that precede shipped ones and differ from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rocefort.base.repository import SHIPPED, Site, shortest
from rocefort.design.load.hardware_catalogue import CARDS, Shelf, load_catalogue
from rocefort.design.load.profiles import profiles_of, words
from rocefort.dialects.syntax_families import FAMILY_FILE
from rocefort.models.hardware.hardware import Hardware
from rocefort.models.hardware.site_commands import SiteFamily


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
