"""Templates of a site: the files of `templates/vrp` that precede the shipped ones."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.base.documents.read import read_text
from rocefort.base.errors import BadInput
from rocefort.base.repository import TEMPLATE_FILES, Site
from rocefort.models.hardware.hardware import SITE_TEMPLATES, SiteTemplates

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
