"""Files of a new repository for a site."""

from __future__ import annotations

from typing import Final

from rocefort.base.documents.read import document_of
from rocefort.base.options import SchemaDocument
from rocefort.base.repository import FABRIC_FILE, SETTINGS_FILE, SHIPPED, TEMPLATES
from rocefort.base.templating import text_templates
from rocefort.design.derive.derive import derive_loaded
from rocefort.design.load.documents import loaded_fabric
from rocefort.site.connections import connections_text
from rocefort.site.schemas import schema_text

SITE: Final = TEMPLATES / "site"
CONNECTIONS: Final = "connections.yaml"
SHORTEST_PREFIX, LONGEST_PREFIX = 4, 8  # `rocefort.base.rule_files.RuleSettings`
# Files by path in the repository; a template ends in .j2, the others are copied.
FILES: Final = {
    "README.md": "README.md.j2",
    SETTINGS_FILE: "rocefort.toml.j2",
    "inventory/hardware/README.md": "hardware.md",
    "inventory/profiles/README.md": "profiles.md",
    "inventory/catalogue/README.md": "catalogue.md",
    "templates/vrp/README.md": "vrp.md",
    "validators/README.md": "validators.md.j2",
    "tests/test_network.py": "test_network.py.j2",
    "tasks.py": "tasks.py.j2",
    "requirements.txt": "requirements.txt",
    "requirements.lock": "requirements.lock",
    "requirements-test.txt": "requirements-test.txt",
    ".github/workflows/rocefort.yml": "github.yml",
    ".github/workflows/rocefort-comment.yml": "github-comment.yml",
    ".gitlab-ci.yml": "gitlab-ci.yml",
    ".pre-commit-config.yaml": "pre-commit-config.yaml.j2",
    ".gitignore": "gitignore",
}
OTHERS = (SchemaDocument.OUTPUT, SchemaDocument.SCENARIO)  # not of the files in `inventory/`
EDITED: Final = tuple(each for each in SchemaDocument if each not in OTHERS)


def schema_path(document: SchemaDocument) -> str:
    """Return the path of the schema of a document in the repository."""
    return f"inventory/{document}.schema.json"


def site_files(name: str, fabric: str, credential: str) -> dict[str, str]:
    """Return the text of every file of a new repository, by its path.

    name, fabric: of its fabric, with the text of fabric.yaml. credential: of the switches, by
    reference. Raises BadInput.
    """
    page = f"inventory/{name}/{FABRIC_FILE}"
    document = document_of(fabric, page)
    derived = derive_loaded(loaded_fabric(document, SHIPPED))
    schema = schema_path(SchemaDocument.CONNECTIONS)
    return {
        page: fabric,
        CONNECTIONS: connections_text(derived, credential, schema=schema),
        **{schema_path(each): schema_text(each) for each in EDITED},
        **{path: _text(template, name) for path, template in FILES.items()},
    }


def _text(template: str, name: str) -> str:
    if template.endswith(".j2"):
        prefix = rule_prefix(name)
        return text_templates(SITE).get_template(template).render(name=name, prefix=prefix)
    return (SITE / template).read_text(encoding="utf-8")


def rule_prefix(name: str) -> str:
    """Return a prefix for ids of the site's rules: the first letters of a name, or SITE."""
    letters = "".join(each for each in name.upper() if "A" <= each <= "Z")[:LONGEST_PREFIX]
    return letters if len(letters) >= SHORTEST_PREFIX else "SITE"
