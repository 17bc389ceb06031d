"""Templates of all pages, which escape every value, and shared files such as their style."""

from __future__ import annotations

from functools import cache
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from rocefort.base.paths import TEMPLATES
from rocefort.models.wording import count_of
from rocefort.reports.blocks import plain

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
