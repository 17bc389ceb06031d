"""Rules on weak access: plain servers, weak algorithms, SNMP without keys, endless sessions."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.dialects.choose import dialect_of
from rocefort.dialects.data import AccessWeakness
from rocefort.models.finding import Severity
from rocefort.models.wording import listing
from rocefort.validators.rules.missing import Need
from rocefort.validators.rules.registry import Subject, Verdict, rule

CR = "«the vendor's reference»"
IP_VERSIONS = ("ipv4", "ipv6")


@rule(
    "SEC014",
    severity=Severity.ERROR,
    source=f"{CR}, «the FTP server» and «no Telnet server»",
    wants=(Need.FAMILY,),
)
def plain_servers(subject: Subject) -> Iterator[Verdict]:
    """No server that takes passwords as text runs on a switch.

    Telnet, FTP, TFTP and HTTP send passwords and files as text. The Telnet server of some releases
    runs without any line, and a line turns it off.

    Example: the FTP server runs: passwords and files cross the network as text
    Fix: Turn the server off; SSH has a secure replacement for each.
    """
    yield from _weak(subject, AccessWeakness.SERVER)
    for node in subject.network.nodes:
        weak = map(dialect_of(node).weak_access, node.unmodelled)
        started = {each.telnet for each in weak if each}  # by a line: a finding of its own
        on = [v for v in IP_VERSIONS if v not in started and v not in node.device.telnet_off]
        if node.family is not None and node.family.telnet and on:
            yield subject.finding(
                node,
                f"the Telnet server runs by default for {listing(on)}",
                "add «no Telnet server», for IPv4 and for IPv6",
                path="telnet_off",
                severity=Severity.WARNING,
            )


@rule(
    "SEC015",
    severity=Severity.WARNING,
    source=f"{CR}, «ciphers of the SSH server»; RFC 8758, RFC 9142, RFC 6151",
)
def strong_algorithms(subject: Subject) -> Iterator[Verdict]:
    """SSH and SNMP use strong algorithms only.

    A client and a server of SSH agree on any algorithm that both offer. With a weak one a session
    can be read, or a switch can be impersonated. The same holds for the keys of SNMPv3 users.

    Example: SSH offers weak algorithms (cipher): 3des_cbc
    Fix: List strong algorithms alone, or remove the line: the defaults are strong.
    """
    yield from _weak(subject, AccessWeakness.ALGORITHM)


@rule(
    "SEC016",
    severity=Severity.ERROR,
    source=f"{CR}, «a group of SNMP users»; RFC 3414",
)
def snmp_security(subject: Subject) -> Iterator[Verdict]:
    """SNMPv3 users are authenticated, and their packets encrypted.

    A group without authentication takes every packet that names one of its users. Without
    encryption the values can be read on their way.

    Example: SNMP group readers reads and writes without authentication and encryption
    Fix: Give the group privacy, and its users keys with SHA-2 and AES.
    """
    yield from _weak(subject, AccessWeakness.SNMP)


@rule(
    "SEC017",
    severity=Severity.WARNING,
    source=f"{CR}, «the idle time of logins» (user interface view)",
)
def idle_sessions(subject: Subject) -> Iterator[Verdict]:
    """Idle sessions of terminal lines end.

    A session that never ends keeps one of few lines, and a person at an open terminal has its
    rights.

    Example: vty 0 to 4: an idle session never ends
    Fix: Set «the idle time of logins» to some minutes; the default is 10.
    """
    for node in subject.network.nodes:
        for vty in node.device.vty:
            if vty.idle_timeout_s == 0:
                yield subject.finding(
                    node,
                    f"vty {vty.first} to {vty.last}: an idle session never ends",
                    "set «the idle time of logins» to some minutes; the default is 10",
                    path=f"vty[{vty.first}].idle_timeout_s",
                )


def _weak(subject: Subject, kind: AccessWeakness) -> Iterator[Verdict]:
    """Findings on unmodelled lines of one kind of weakness."""
    for node in subject.network.nodes:
        for line in node.unmodelled:
            weakness = dialect_of(node).weak_access(line)
            if weakness is not None and weakness.kind is kind:
                yield subject.finding(
                    node, weakness.what, weakness.how, path=f"unmodelled[{line.line}]"
                )
