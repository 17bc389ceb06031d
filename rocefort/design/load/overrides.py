"""Notes on files of a site that precede shipped ones and differ from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rocefort.design.load.hardware_catalogue import CARDS, Shelf, load_catalogue
from rocefort.design.load.profiles import profiles_of, words
from rocefort.models.hardware.site_commands import SiteFamily
from rocefort.paths import shortest
from rocefort.site import SHIPPED, Site
from rocefort.syntax_families import FAMILY_FILE


def overrides(site: Site, models: Iterable[str]) -> Iterator[str]:
    """Yield a sentence on each family, model and profile that is not as shipped.

    models: those of a fabric; the others are not read.
    """
    own, shipped = load_catalogue(site), load_catalogue()
    if own is shipped or not isinstance(own.hardware, Shelf):
        return
    for name, family in own.families.items():
        own_facts = family.shipped if isinstance(family, SiteFamily) else family
        if own_facts != shipped.families.get(name, own_facts):
            yield _sentence(f"family {name}", f"{shortest(site.hardware / FAMILY_FILE)}")
    for model in dict.fromkeys(models):
        facts = own.hardware[model].shipped
        if facts != shipped.hardware.get(model, facts):
            file = shortest(own.hardware.files[model])
            if file == shortest(SHIPPED.hardware / file.name):
                yield _sentence(f"a card of {model}", str(shortest(site.hardware / CARDS)))
            else:
                yield _sentence(model, str(file))
    for key, chosen in profiles_of(site).known.items():
        first = profiles_of(SHIPPED).known.get(key, chosen)
        if chosen.profile != first.profile:
            yield _sentence(f"{words(chosen.kind)} profile {chosen.name}", str(chosen.key_at()))


def _sentence(what: str, where: str) -> str:
    return f"{what} is read from {where} instead of the shipped file"
