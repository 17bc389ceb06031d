"""Commands that a site adds to the command table: the files of `inventory/catalogue`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rocefort.base.documents.read import Document, YamlPath, path_text, read_document
from rocefort.base.documents.suggest import nearest
from rocefort.base.documents.validate import validate
from rocefort.base.errors import BadInput, Problem
from rocefort.base.repository import DATA_FILES, Site, files_in, shortest
from rocefort.models.hardware.hardware import FIRST_DIALECT, Family
from rocefort.models.hardware.site_commands import (
    PlacedCommand,
    SiteCommand,
    SiteCommands,
    SiteFamily,
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
