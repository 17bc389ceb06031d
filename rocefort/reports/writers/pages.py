"""Templates of all pages, blocks as HTML, and the frame that pages share."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from napalm_cloudengine.text import visible
from rocefort.base.repository import TEMPLATES
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Block, plain, visible_blocks

FOLDER = TEMPLATES / "report"


@cache
def environment() -> Environment:
    """Templates of the pages, which escape every value."""
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": True, "separators": (",", ":")}
    environment.filters |= {
        "anchor": _anchor,
        "code": _code,
        "counted": count_of,
        "cell": plain,
        "number": "{:,}".format,
    }
    return environment


@cache
def file_text(name: str) -> str:
    """A file of the pages, such as their style."""
    return (FOLDER / name).read_text(encoding="utf-8")


def _anchor(device: str) -> str:
    """Fragment of a device's configuration; `/LINE` leads on to one line of it."""
    return f"config/{quote(device, safe='', errors='replace')}"


def _code(text: str) -> Markup:
    """Return a sentence with text between backquotes as code; everything is escaped."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    code = Markup("<code>{}</code>")
    marked = (code.format(part) if n % 2 else escape(part) for n, part in enumerate(parts))
    return Markup().join(marked)


def html_of(*blocks: Block, level: int = 2) -> Markup:
    """Blocks as the content of a page. level: of the headings of sections."""
    template = environment().get_template("blocks.html.j2")
    return Markup(template.render(blocks=visible_blocks(blocks), level=level))  # noqa: S704 - escaped by the template


STYLE = "page.css"


@dataclass(frozen=True, slots=True)
class PageHead:
    """Head of a page: what it is about, its verdict, its figures, its origin, its sections.

    title: of the window. tone, and the kinds of tiles, are CSS classes. provenance: names and
    values. sections: ids and titles.
    """

    title: str
    heading: str
    verdict: str
    tone: Literal["failed", "clean", "busy", "stopped"]
    sizes: Sequence[str] = ()
    tiles: Sequence[tuple[str, str]] = ()
    provenance: Sequence[tuple[str, str]] = ()
    sections: Sequence[tuple[str, str]] = ()


def framed_page(
    template: str,
    head: PageHead,
    content: dict[str, object],
    *,
    files: Sequence[str] = (),
    data: object = None,
) -> str:
    """Return a page. files: styles after the common one, and scripts; data: for the scripts.

    The template escapes every value. The script is the only one that the page's own
    Content-Security-Policy lets run.
    """
    script = "".join(file_text(name) for name in files if name.endswith(".js"))
    styles = [name for name in files if name.endswith(".css")]
    page = environment().get_template(template)
    text = page.render(
        head=head,
        style="".join(map(file_text, (STYLE, *styles))),
        script=script,
        script_hash=_hash(script),
        data=data,
        **content,
    )
    return visible(text)  # also in the data of scripts: JSON spells a character in the same way


def _hash(script: str) -> str:
    """Return the hash of the script in the page's Content-Security-Policy."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
