"""Rules on BGP passwords: equal at both ends of a session, and encrypted in the configuration."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.dialects.choose import dialect_of
from rocefort.models.device.secret import CLEAR
from rocefort.models.finding import Severity
from rocefort.models.network.network import Node
from rocefort.validators.rules.registry import Subject, Verdict, rule


@rule(
    "SEC004",
    severity=Severity.ERROR,
    source="«the vendor's reference», «password of peer» («a readable secret» is saved as "
    "it is typed)",
)
def no_readable_secret(subject: Subject) -> Iterator[Verdict]:
    """No secret is readable in a configuration.

    Every reader of the text, of a backup or of a mail with it, has the secret. «a readable secret»
    saves it as it was typed. «an encrypted secret» saves it encrypted: a value after it that no
    switch would save was typed into a file.

    Example: the BGP password of peer 10.1.1.2 can be read
    Fix: Change the secret, because it has been readable; set it with «an encrypted secret».
    """
    for node in subject.network.nodes:
        yield from _readable_passwords(subject, node)
        for line in filter(dialect_of(node).shows_secret, node.unmodelled):
            yield subject.finding(
                node,
                f"`{line.shown_text}` shows its secret",
                "set it again with «an encrypted secret», and change it",
                path=f"unmodelled[{line.line}]",
            )


def _readable_passwords(subject: Subject, node: Node) -> Iterator[Verdict]:
    bgp = node.device.bgp
    if bgp is None:
        return
    rows = [("group", group.name) for group in bgp.groups if group.password == CLEAR]
    rows += [("peer", str(peer.address)) for peer in bgp.peers if peer.password == CLEAR]
    for kind, name in rows:
        yield subject.finding(
            node,
            f"the BGP password of {kind} {name} can be read",
            "set it again with «an encrypted secret», and change it",
            path=f"bgp.{kind}s[{name}].password",
        )
