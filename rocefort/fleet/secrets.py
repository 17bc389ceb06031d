"""Secrets of texts and plans, read by their references."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rocefort.base.errors import BadInput, Problem
from rocefort.dialects.dialect import Dialect
from rocefort.dialects.placeholders import filled_line, takers
from rocefort.fleet.credentials import Secret, resolve_all
from rocefort.models.network.network import Network


def with_secrets(texts: Mapping[str, str], network: Network) -> dict[str, str]:
    """Replace every reference by its secret, for files that only their owner may read.

    Raises one error for all references without a secret, or with one that cannot be typed.
    """
    references = takers((network.by_name[name], text.splitlines()) for name, text in texts.items())
    secrets = {name: secret.reveal() for name, secret in read_secrets(references).items()}
    return {name: filled_line(text, secrets) for name, text in texts.items()}


def read_secrets(references: Mapping[str, Iterable[Dialect]]) -> dict[str, Secret]:
    """Read secrets by reference; raises one error for all that are missing or cannot be typed.

    references: each reference with the dialects in which it is typed.
    """
    secrets = resolve_all(list(references))
    problems: list[Problem] = []
    for reference, secret in secrets.items():
        for dialect in references[reference]:
            try:
                dialect.check_typed(secret.reveal(), reference)
            except BadInput as error:
                problems += error.problems
    if problems:
        raise BadInput(problems=problems)
    return secrets
