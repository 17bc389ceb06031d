"""Secrets of texts and changes: placeholders in lines, references of a plan, and values."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, Problem, Refused
from rocefort.base.secret_references import Secret, resolve_all
from rocefort.dialects.choose import OfDialect, dialect_of
from rocefort.dialects.dialect import Dialect
from rocefort.models.change.plan import Plan
from rocefort.models.device.device import Device
from rocefort.models.device.routing import Bgp, BgpGroup, BgpPeer
from rocefort.models.device.secret import CIPHER, PLACEHOLDER, is_reference, reference_of
from rocefort.models.network.network import Network


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


Restate = Callable[[BgpGroup | BgpPeer], str | None]  # returns the new password reference


def as_read_back(device: Device) -> Device:
    """Return the Device as read from a switch's text, which has no references."""
    return _restated(device, lambda s: CIPHER if is_reference(s.password) else s.password)


def with_known_secrets(running: Device, intended: Device, rotate: Collection[str]) -> Device:
    """Return the running Device with the intended references for its encrypted secrets.

    A reference in `rotate` is left out, so that a difference remains.
    """
    bgp = intended.bgp
    meant = {row.key: row.password for row in _rows(bgp)} if bgp else {}

    def password_of(row: BgpGroup | BgpPeer) -> str | None:
        reference = meant.get(row.key)
        again = reference is not None and reference_of(reference) in rotate
        if row.password == CIPHER and is_reference(reference) and not again:
            return reference
        return row.password

    return _restated(running, password_of)


def _rows(bgp: Bgp) -> Iterator[BgpGroup | BgpPeer]:
    yield from bgp.groups
    yield from bgp.peers


def _restated(device: Device, restate: Restate) -> Device:
    bgp = device.bgp
    if bgp is None or all(restate(row) == row.password for row in _rows(bgp)):
        return device
    groups = tuple(g.model_copy(update={"password": restate(g)}) for g in bgp.groups)
    peers = tuple(p.model_copy(update={"password": restate(p)}) for p in bgp.peers)
    changed = bgp.model_copy(update={"groups": groups, "peers": peers})
    return device.model_copy(update={"bgp": changed})


def references_of(plan: Plan) -> dict[str, set[Dialect]]:
    """References in the patches of a plan, each with the dialects of its lines."""
    return takers((change, change.patch) for change in plan.changes)


def stated_references(network: Network) -> tuple[str, ...]:
    """References that the switches of a fabric use, in order and without repetition."""
    rows = chain.from_iterable(
        (*bgp.groups, *bgp.peers) for node in network.nodes if (bgp := node.device.bgp)
    )
    stated = (row.password for row in rows)
    return tuple(dict.fromkeys(reference_of(s) for s in stated if s and is_reference(s)))


def check_rotation(network: Network, rotate: Collection[str]) -> None:
    """Raise BadInput for references to rotate that no switch of the fabric uses."""
    references = stated_references(network)
    problems = [
        Problem(
            reference, "no switch has a secret by this reference", nearest(reference, references)
        )
        for reference in rotate
        if reference not in references
    ]
    if problems:
        raise BadInput(problems=problems)


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
