"""Rules on management access: encrypted, by strong algorithms, for users with a role."""

from __future__ import annotations

from collections.abc import Iterator, Set

from rocefort.dialects.choose import dialect_of
from rocefort.dialects.data import AccessWeakness
from rocefort.models.device.management import PREDEFINED_GROUPS, SHORTEST_USER_NAME, LocalUser
from rocefort.models.finding import Severity
from rocefort.models.network.network import Node
from rocefort.models.wording import count_of, listing
from rocefort.validators.rules.missing import Need, default_of
from rocefort.validators.rules.registry import Subject, Verdict, rule

CR = "«the vendor's reference»"
PLAIN_SERVICES = ("ftp", "http", "telnet")  # passwords cross the network as text


@rule(
    "SEC001",
    severity=Severity.ERROR,
    source=f"{CR}, «protocol of logins» and «the check of logins» (user interface view)",
)
def remote_login(subject: Subject) -> Iterator[Verdict]:
    """Remote logins use SSH only and are checked by AAA.

    Telnet sends passwords as text. A line without AAA has no users, so that no log shows who made a
    change.

    Example: vty 0 to 4: authentication mode is password; it must be aaa
    Fix: Set «logins by SSH alone» and «logins checked by AAA» on every vty line.
    """
    for node in subject.network.nodes:
        if not node.device.vty:
            yield subject.not_judged(
                node,
                "the text has no vty lines; the release's default is not confirmed",
                default_of("the protocol of logins and their check"),
            )
        for vty in node.device.vty:
            lines, path = f"vty {vty.first} to {vty.last}", f"vty[{vty.first}]"
            if vty.protocol is None:
                yield subject.not_judged(
                    node,
                    f"{lines}: no «protocol of logins», and the release's default is not confirmed",
                    default_of("the protocol of logins"),
                    path=path,
                )
            elif vty.protocol != "ssh":
                yield subject.finding(
                    node,
                    f"{lines}: «protocol of logins» is {vty.protocol}; it must be ssh alone",
                    "set «logins by SSH alone»",
                    path=path,
                )
            if vty.authentication != "aaa":
                yield subject.finding(
                    node,
                    f"{lines}: authentication mode is {vty.authentication or 'not set'}; "
                    "it must be aaa",
                    "set «logins checked by AAA»",
                    path=path,
                )


@rule(
    "SEC002",
    severity=Severity.ERROR,
    source=f"{CR}, «the SSH server» and «the interfaces of the SSH server» (without it no "
    "interface accepts a session)",
)
def ssh_server(subject: Subject) -> Iterator[Verdict]:
    """The SSH server runs, on a named interface.

    Without it the switch is reachable only by its console. Without a source interface no interface
    accepts a session; name the management port, so that servers cannot log in.

    Example: the SSH server is off
    Fix: Turn the server on, and name the management port as its source.
    """
    for node in subject.network.nodes:
        yield from _ssh(subject, node)


def _ssh(subject: Subject, node: Node) -> Iterator[Verdict]:
    ssh = node.device.ssh
    if not ssh.stelnet:
        yield subject.finding(node, "the SSH server is off", "add «the SSH server»", path="ssh")
    more = list(filter(dialect_of(node).opens_ssh, node.unmodelled))
    for line in more:
        yield subject.finding(
            node,
            f"`{line.text}` lets sessions in on more than one interface",
            "name the management port alone, in one «interface of the SSH server»",
            path=f"unmodelled[{line.line}]",
        )
    if ssh.source_interface is None and not more and _may_be_open(subject, node):
        yield subject.not_judged(
            node,
            "no «interface of the SSH server», and the release's default is not confirmed",
            default_of("the interfaces that accept SSH sessions"),
            path="ssh",
        )
    elif ssh.source_interface is None and not more:
        yield subject.finding(
            node,
            "the SSH server has no source interface, so no interface accepts a session",
            "add «interface of the SSH server: MEth0/0/0»",
            path="ssh",
        )
    elif ssh.source_interface and ssh.source_interface not in node.device.by_interface:
        yield subject.finding(
            node,
            f"the SSH server's source interface {ssh.source_interface} is not in the configuration",
            "name an interface that the switch has, usually MEth0/0/0",
            path="ssh",
        )


def _may_be_open(subject: Subject, node: Node) -> bool:
    """Whether the server of a text may accept sessions without a line: older releases do."""
    return subject.network.origin == "text" and not (node.family and node.family.ssh_source)


@rule(
    "SEC003",
    severity=Severity.WARNING,
    source=f"{CR}, «the level of user» and «the services of user» (AAA)",
)
def local_users(subject: Subject) -> Iterator[Verdict]:
    """Local users have a level or group, and services that encrypt.

    A user with neither has the release's default level. Where a user has both, the switch uses the
    level alone. A user without a service cannot log in. Telnet, FTP and HTTP send the password as
    text.

    Example: user operator has no privilege level and no group
    Fix: Give each user the lowest sufficient level, or a group of its own, and `ssh` alone.
    """
    for node in subject.network.nodes:
        groups = {*PREDEFINED_GROUPS, *(group.name for group in node.device.user_groups)}
        for user in node.device.users:
            path = f"users[{user.name}]"
            for what, how in _rank(user, groups):
                yield subject.finding(node, f"user {user.name} {what}", how, path=path)
            if not user.service_types:
                yield subject.finding(
                    node,
                    f"user {user.name} has no service, so it cannot log in",
                    f"add «the services of user: {user.name}, ssh», or remove the user",
                    path=path,
                )
            plain = [service for service in user.service_types if service in PLAIN_SERVICES]
            if plain:
                yield subject.finding(
                    node,
                    f"user {user.name} may use {listing(plain)}, which sends the password as text",
                    f"use «the services of user: {user.name}, ssh»",
                    path=path,
                    severity=Severity.ERROR,
                )


def _rank(user: LocalUser, groups: Set[str]) -> Iterator[tuple[str, str]]:
    """Faults of a user's level, group and name, each with its fix."""
    level = f"«the level of user: {user.name}»"
    if user.level is None and user.group is None:
        yield "has no privilege level and no group", f"add {level}: 3 is everything, 1 monitoring"
    elif user.level is not None and user.group is not None:
        yield (
            f"has level {user.level}, so its group {user.group} has no effect",
            f"remove {level}, or the group",
        )
    if user.group is not None and user.group not in groups:
        yield (
            f"has group {user.group}, which the configuration does not define",
            f"define the group, or use one of {listing(PREDEFINED_GROUPS)}",
        )
    if len(user.name) < SHORTEST_USER_NAME:
        what = (
            f"has a name of {count_of(len(user.name), 'character')}; a switch refuses a new user "
            f"with less than {SHORTEST_USER_NAME} unless its name check is off"
        )
        yield what, "use a longer name, or keep the check off on purpose"


@rule(
    "SEC008",
    severity=Severity.ERROR,
    source=f"{CR}, «version of SNMP» and «an SNMP community»",
)
def snmp_version(subject: Subject) -> Iterator[Verdict]:
    """SNMP runs version 3 alone.

    Versions 1 and 2c send the community, which is their only password, as text.

    Example: SNMP runs v1 and v2c, whose only password is sent as text
    Fix: Set «version of SNMP: v3», remove communities, and give each reader a user of version 3.
    """
    for node in subject.network.nodes:
        old = [version for version in node.device.snmp.versions if version != "v3"]
        if old:
            yield subject.finding(
                node,
                f"SNMP runs {listing(old)}, whose only password is sent as text",
                "set «version of SNMP: v3» alone",
                path="snmp.versions",
            )
        elif node.device.snmp.enabled and not node.device.snmp.versions:
            yield subject.not_judged(
                node,
                "no «version of SNMP», and the release's default is not confirmed",
                default_of("the versions of SNMP"),
                path="snmp",
            )
        for line in filter(dialect_of(node).is_community, node.unmodelled):
            yield subject.finding(
                node,
                "an SNMP community is a password that is sent as text",
                "remove it; give the reader a user of version 3",
                path=f"unmodelled[{line.line}]",
            )


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
