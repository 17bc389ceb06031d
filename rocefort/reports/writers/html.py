"""Blocks as HTML in the look of the report page; the template escapes every value."""

from __future__ import annotations

from markupsafe import Markup

from rocefort.reports.blocks import Block, visible_blocks
from rocefort.reports.writers.templates import environment


def html_of(*blocks: Block, level: int = 2) -> Markup:
    """Blocks as the content of a page. level: of the headings of sections."""
    template = environment().get_template("blocks.html.j2")
    return Markup(template.render(blocks=visible_blocks(blocks), level=level))  # noqa: S704 - escaped by the template
