"""Passwords of BGP sessions: in words, and compared between both ends."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.models.device.routing import BgpSettings
from rocefort.models.device.secret import CIPHER, CLEAR, is_reference
from rocefort.validators.rules.missing import Missing
from rocefort.validators.rules.registry import Subject, Verdict


def authentication(settings: BgpSettings) -> str:
    """Authentication of a session, in words."""
    if settings.password is not None:
        by_reference = is_reference(settings.password)
        return f"the password of {settings.password}" if by_reference else "a password"
    return "no password" if settings.keychain is None else f"keychain {settings.keychain}"


def differing(here: BgpSettings, there: BgpSettings) -> str | None:
    """Fault between two ends, in words; None where they agree or cannot be compared."""
    one_has_password = (here.password is None) != (there.password is None)
    if one_has_password or (here.keychain is None) != (there.keychain is None):
        return "TCP does not connect"
    comparable = is_reference(here.password) and is_reference(there.password)
    return "they may differ" if comparable and here.password != there.password else None


def unreadable(subject: Subject) -> Iterator[Verdict]:
    """Report once for the network that encrypted passwords cannot be compared."""
    for node in subject.network.nodes:
        bgp = node.device.bgp
        for row in (*bgp.groups, *bgp.peers) if bgp else ():
            if row.password in (CIPHER, CLEAR):
                yield subject.not_judged(
                    None,
                    "BGP sessions have passwords; whether both ends have the same one is not in "
                    "the text",
                    Missing(
                        "whether the sessions are established",
                        "state of BGP peers",
                    ),
                )
                return
