"""Files of a new repository for a site."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

from rocefort.base.documents.read import document_of
from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput
from rocefort.base.options import SchemaDocument
from rocefort.base.repository import FABRIC_FILE, SETTINGS_FILE, SHIPPED, TEMPLATES
from rocefort.base.templating import text_templates
from rocefort.design.derive.derive import derive_loaded
from rocefort.design.git_revisions import git
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
    "renovate.json": "renovate.json",
    ".gitignore": "gitignore",
}
OTHERS = (SchemaDocument.OUTPUT, SchemaDocument.SCENARIO)  # not of the files in `inventory/`
EDITED: Final = tuple(each for each in SchemaDocument if each not in OTHERS)


# Steps of GitHub's jobs that the action of a source replaces, and what the files say of them.
INSTALLED: Final = re.compile(
    r" {6}- uses: actions/setup-python@.*\n {8}with:\n {10}python-version: .*\n"
    r" {6}- name: Install\n {8}run: pip install .* requirements(?P<tests>-test)?\.txt\n"
)
SENTENCES: Final = (
    ("requirements.txt names the wheel.", "Its action installs Rocefort."),
    ("GitHub takes this file and requirements.txt", "GitHub takes this file, with its action,"),
)
NAMED: Final = re.compile(r"[\w.-]+")  # part of a URL


class Source(NamedTuple):
    """Git repository of Rocefort at a tag: what a site refers to instead of copies."""

    url: str
    tag: str
    commit: str

    def with_action(self, job: str) -> str:
        """Return a file of jobs of GitHub whose steps install Rocefort by its action."""
        for sentence, other in SENTENCES:
            job = job.replace(sentence, other)
        return INSTALLED.sub(self._step, job)

    def _step(self, installed: re.Match[str]) -> str:
        name = repository_of(self.url) or self.url
        tests = '        with:\n          tests: "true"\n' if installed["tests"] else ""
        return f"      - uses: {name}@{self.commit} # {self.tag}\n{tests}"


def repository_of(url: str) -> str:
    """Return `OWNER/NAME`, the end of a repository's URL; empty: it names none."""
    prefix, _, name = url.removesuffix("/").removesuffix(".git").rpartition("/")
    *_, host, owner = ["", *re.split("[/:]", prefix)]
    return f"{owner}/{name}" if all(map(NAMED.fullmatch, (host[-1:], owner, name))) else ""


def source_at(text: str) -> Source:
    """Return the repository and the commit of `URL@TAG`; git reads the tags of the repository.

    Raises BadInput for another text, and for an unknown tag; ServiceFailed without git.
    """
    url, _, tag = text.rpartition("@")
    if not repository_of(url) or not tag:
        how = "name the git repository of Rocefort, and a tag: https://HOST/OWNER/rocefort@v1.0.0"
        raise BadInput(f"{text!r} is not URL@TAG", where="--source", how=how)
    lines = git(Path(), "ls-remote", "--tags", "--", url).splitlines()
    commits = {name: commit for commit, name in (line.split("\t") for line in lines)}
    reference = f"refs/tags/{tag}"
    if reference not in commits:
        tags = [name.removeprefix("refs/tags/") for name in commits if not name.endswith("^{}")]
        how = nearest(tag, tags) if tags else "it has no tag"
        raise BadInput(f"no tag {tag!r} in {url}", where="--source", how=how)
    return Source(url, tag, commits.get(f"{reference}^{{}}", commits[reference]))


def schema_path(document: SchemaDocument) -> str:
    """Return the path of the schema of a document in the repository."""
    return f"inventory/{document}.schema.json"


def site_files(
    name: str, fabric: str, credential: str, source: Source | None = None
) -> dict[str, str]:
    """Return the text of every file of a new repository, by its path.

    name, fabric: of its fabric, with the text of fabric.yaml. credential: of the switches, by
    reference. source: whose action and hook the files use. Raises BadInput.
    """
    page = f"inventory/{name}/{FABRIC_FILE}"
    document = document_of(fabric, page)
    derived = derive_loaded(loaded_fabric(document, SHIPPED))
    schema = schema_path(SchemaDocument.CONNECTIONS)
    return {
        page: fabric,
        CONNECTIONS: connections_text(derived, credential, schema=schema),
        **{schema_path(each): schema_text(each) for each in EDITED},
        **{path: _text(template, name, source) for path, template in FILES.items()},
    }


def _text(template: str, name: str, source: Source | None) -> str:
    if template.endswith(".j2"):
        values = {"name": name, "prefix": rule_prefix(name), "source": source}
        return text_templates(SITE).get_template(template).render(values)
    text = (SITE / template).read_text(encoding="utf-8")
    return source.with_action(text) if source and template.startswith("github") else text


def rule_prefix(name: str) -> str:
    """Return a prefix for ids of the site's rules: the first letters of a name, or SITE."""
    letters = "".join(each for each in name.upper() if "A" <= each <= "Z")[:LONGEST_PREFIX]
    return letters if len(letters) >= SHORTEST_PREFIX else "SITE"
