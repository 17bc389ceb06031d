"""Hooks of MkDocs: the navigation follows docs/README.md, and pages of the root are in the site.

A page links to files of the repository as on a platform for git. The site has the pages; a link to
another file becomes its name.
"""

from __future__ import annotations

import logging
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from diagrams import DIAGRAM, name_of
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

log = logging.getLogger("mkdocs.plugins.site_hooks")

ROOT = Path(__file__).resolve().parents[2]
HOME = "README.md"  # in docs/
AT_ROOT = {  # pages of the site that are outside of docs/
    "README.md": "install.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
HEADING = re.compile(r"(#{2,3}) (.+)")
ENTRY = re.compile(r"- \[([^\]]+)\]\(([^)#]+)\)")
LINK = re.compile(r"\[([^\]\n]*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Make the navigation from the headings and lists of the home page."""
    config.nav = navigation((Path(config.docs_dir) / HOME).read_text(encoding="utf-8"))
    return config


def navigation(home: str) -> list[Any]:
    """Return MkDocs' `nav` of the pages that a page lists, under its headings of two levels."""
    top: list[Any] = [{"Home": HOME}]
    section = subsection = top
    for line in home.splitlines():
        if heading := HEADING.match(line):
            children: list[Any] = []
            if heading[1] == "##":
                section = subsection = children
                top.append({heading[2]: children})
            else:
                subsection = children
                section.append({heading[2]: children})
        elif entry := ENTRY.match(line):
            subsection.append({entry[1]: site_path(posixpath.join("docs", entry[2]))})
    return top


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are outside of docs/."""
    for source, target in AT_ROOT.items():
        files.append(File.generated(config, target, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return a page whose links lead to pages of the site."""
    del config
    by_target = {target: source for source, target in AT_ROOT.items()}
    uri = page.file.src_uri
    source = by_target.get(uri) or posixpath.join("docs", uri)

    def replaced(link: re.Match[str]) -> str:
        text, target, anchor = link[1], link[2], link[3] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        inside = site_path(path)
        if inside is not None and files.get_file_from_path(inside):
            return f"[{text}]({posixpath.relpath(inside, posixpath.dirname(uri) or '.')}{anchor})"
        if not (ROOT / path).exists():
            log.warning("%s: a link to `%s`, which does not exist", source, target)
        return text if text.startswith("`") else f"`{text}`"

    parts = FENCE.split(markdown)
    linked = (LINK.sub(replaced, part) if i % 2 == 0 else part for i, part in enumerate(parts))
    return DIAGRAM.sub(lambda diagram: _picture(diagram[1], uri, files), "".join(linked))


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Name the theme's search dialog, for screen readers."""
    del page, config
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    """Name it on the page for addresses that do not exist, too."""
    del template_name, config
    return output_content.replace('role="dialog"', 'role="dialog" aria-label="Search"')


def _picture(source: str, uri: str, files: Files) -> str:
    """Return the picture of a diagram; its source if it is not drawn."""
    path = f"pictures/diagrams/{name_of(source)}"
    if files.get_file_from_path(path) is None:
        log.info("%s: a diagram is not drawn; run `make diagrams`", uri)
        return f"```text\n{source}```"
    labels = ", ".join(re.findall(r'"([^"]+)"', source)).replace("<br>", " ")
    address = posixpath.relpath(path, posixpath.dirname(uri) or ".")
    return f"![Diagram: {labels}]({address}){{ .diagram }}"


def site_path(path: str) -> str | None:
    """Return the path in the site of a file of the repository; None if it is not in the site."""
    path = posixpath.normpath(path)
    if path in AT_ROOT:
        return AT_ROOT[path]
    return path.removeprefix("docs/") if path.startswith("docs/") else None
