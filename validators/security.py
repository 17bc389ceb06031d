"""Management access: encrypted, from a named interface, by users with a role."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.models.finding import Severity
from rocefort.validators.rules import Subject, Verdict, rule
from rocefort.validators.wording import listing

CR = "V300R023C00 command reference"
PLAIN_SERVICES = ("ftp", "http", "telnet")  # passwords cross the network as text


@rule(
    "SEC001",
    severity=Severity.ERROR,
    source=f"{CR}, `protocol inbound` and `authentication-mode` (user interface view)",
)
def remote_login(subject: Subject) -> Iterator[Verdict]:
    """Remote logins use SSH only and are checked by AAA.

    Telnet sends passwords as text, and a line without AAA knows no users, so nobody can tell who
    changed what. Set `protocol inbound ssh` and `authentication-mode aaa` on every vty line.
    """
    for node in subject.network.nodes:
        if not node.device.vty:
            yield subject.not_judged(
                node, "the text has no vty lines; what the release makes them is not confirmed"
            )
        for vty in node.device.vty:
            lines, path = f"vty {vty.first} to {vty.last}", f"vty[{vty.first}]"
            if vty.protocol is None:
                yield subject.not_judged(
                    node,
                    f"{lines}: no `protocol inbound`, and the release's default is not confirmed",
                    path=path,
                )
            elif vty.protocol != "ssh":
                yield subject.finding(
                    node,
                    f"{lines}: protocol inbound is {vty.protocol}; it must be ssh alone",
                    "set `protocol inbound ssh`",
                    path=path,
                )
            if vty.authentication != "aaa":
                yield subject.finding(
                    node,
                    f"{lines}: authentication mode is {vty.authentication or 'not set'}; "
                    "it must be aaa",
                    "set `authentication-mode aaa`",
                    path=path,
                )


@rule(
    "SEC002",
    severity=Severity.ERROR,
    source=f"{CR}, `stelnet server enable` and `ssh server-source` (without it no interface "
    "accepts a session)",
)
def ssh_server(subject: Subject) -> Iterator[Verdict]:
    """The SSH server runs, on a named interface.

    Without it nobody reaches the switch but by its console. Without a source interface no
    interface accepts a session; name the management port, so that servers cannot log in.
    """
    for node in subject.network.nodes:
        ssh = node.device.ssh
        if not ssh.stelnet:
            yield subject.finding(
                node, "the SSH server is off", "add `stelnet server enable`", path="ssh"
            )
        more = [line for line in node.unmodelled if line.text.startswith("ssh server-source ")]
        for line in more:
            yield subject.finding(
                node,
                f"`{line.text}` lets sessions in on more than one interface",
                "name the management port alone, in one `ssh server-source -i`",
                path=f"unmodelled[{line.line}]",
            )
        if ssh.source_interface is None and not more:
            yield subject.finding(
                node,
                "the SSH server has no source interface, so no interface accepts a session",
                "add `ssh server-source -i MEth0/0/0`",
                path="ssh",
            )
        elif ssh.source_interface and ssh.source_interface not in node.device.by_interface:
            yield subject.finding(
                node,
                f"the SSH server's source interface {ssh.source_interface} is not in the "
                "configuration",
                "name an interface that the switch has, usually MEth0/0/0",
                path="ssh",
            )


@rule(
    "SEC003",
    severity=Severity.WARNING,
    source=f"{CR}, `local-user privilege level` and `local-user service-type` (AAA)",
)
def local_users(subject: Subject) -> Iterator[Verdict]:
    """Every local user has a level, and services that encrypt.

    A user without a level has the release's default, which nobody chose. Telnet, FTP and HTTP
    send the password as text. Give each user the lowest level that does, and `ssh` alone.
    """
    for node in subject.network.nodes:
        for user in node.device.users:
            path = f"users[{user.name}]"
            if user.level is None:
                yield subject.finding(
                    node,
                    f"user {user.name} has no privilege level",
                    f"add `local-user {user.name} privilege level`: 3 is everything, 1 monitoring",
                    path=path,
                )
            plain = [service for service in user.service_types if service in PLAIN_SERVICES]
            if plain:
                yield subject.finding(
                    node,
                    f"user {user.name} may use {listing(plain)}, which sends the password as text",
                    f"use `local-user {user.name} service-type ssh`",
                    path=path,
                    severity=Severity.ERROR,
                )
