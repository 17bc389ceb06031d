"""Frame that all pages share: head, style and script inline, nothing fetched."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from napalm_cloudengine.text import visible
from rocefort.reports.writers.templates import environment, file_text

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
