"""Rules on management access: encrypted, on a named interface, by users with a role."""

from __future__ import annotations

from collections.abc import Iterator, Set

from rocefort.dialects.choose import dialect_of
from rocefort.models.device.management import PREDEFINED_GROUPS, SHORTEST_USER_NAME, LocalUser
from rocefort.models.finding import Severity
from rocefort.models.network.network import Node
from rocefort.models.wording import count_of, listing
from rocefort.validators.rules.missing import default_of
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
