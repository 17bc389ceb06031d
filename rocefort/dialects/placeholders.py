"""Placeholders of secrets in lines of a text or a patch: listed, and replaced before typing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from rocefort.base.errors import Refused
from rocefort.dialects.choose import OfDialect, dialect_of
from rocefort.dialects.dialect import Dialect
from rocefort.models.device.secret import PLACEHOLDER, is_reference, reference_of


def references(lines: Iterable[str]) -> tuple[str, ...]:
    """Return references, without versions, of the placeholders in lines; each once, in order."""
    secrets = (match[1] for line in lines for match in PLACEHOLDER.finditer(line))
    return tuple(dict.fromkeys(reference_of(stated) for stated in secrets if is_reference(stated)))


def takers(texts: Iterable[tuple[OfDialect, Iterable[str]]]) -> dict[str, set[Dialect]]:
    """Return references in the lines of switches, each with the dialects in which it is typed."""
    dialects: dict[str, set[Dialect]] = {}
    for switch, lines in texts:
        for reference in references(lines):
            dialects.setdefault(reference, set()).add(dialect_of(switch))
    return dialects


def filled_line(line: str, secrets: Mapping[str, str]) -> str:
    """Return a line to be typed, with its placeholders replaced by secrets, given by reference.

    Raises Refused for a secret that exists only on the switch, or that was not read before.
    """

    def secret(match: re.Match[str]) -> str:
        reference = reference_of(match[1])
        if reference not in secrets:
            raise Refused(
                "was not read before" if is_reference(match[1]) else "it exists only on the switch",
                where=match[0],
                how="nothing was typed; name the secret in the fabric by env:NAME or file:PATH",
            )
        return secrets[reference]

    return PLACEHOLDER.sub(secret, line)
