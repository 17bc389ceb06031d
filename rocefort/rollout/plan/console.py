"""Procedures at a console: rollback, installation (day 0), and replacement of a switch."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput
from rocefort.base.secret_references import resolve
from rocefort.design.derive.derive import derive
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.words import in_words, line
from rocefort.fleet.connections import load_connections
from rocefort.models.base import check_reference
from rocefort.models.change.plan import Change, Plan
from rocefort.models.network.network import Network, Node
from rocefort.rollout.outputs import Procedure
from rocefort.rollout.report.plan_report import Instruction, procedure_of


def console_procedure(plan: Plan, device: str, persist: str) -> Procedure:
    """Instructions that roll one switch back at its console, for every state of the rollout.

    persist: persist id of the plan's trials, with RUN in place of the run's part.
    """
    title = f"rollback of {device}, plan {plan.digest[:12]} of {plan.fabric}"
    return procedure_of(title, _rollback_steps(plan, device, persist))


def _rollback_steps(plan: Plan, device: str, persist: str) -> Iterator[Instruction]:
    change = plan.change(device)
    if change.empty:
        yield Instruction("The plan does not change this switch.")
        return
    yield Instruction(
        in_words(
            "While a trial is pending, end it and answer y: nothing else is needed. Replace RUN by "
            f"the text after {plan.digest[:12]}/ and before a comma in the newest commit's "
            f"description. The trial ends automatically within {plan.trial_s} s. A release without "
            "persist ids takes «end of a trial» alone.",
            change,
        ),
        (
            line(change, "state of the trial"),
            line(change, "the newest commit"),
            line(change, "configure"),
            line(change, "end of trial", persist),
        ),
    )
    wave = next((wave for wave in plan.waves if device in wave.devices), None)
    drained = wave.drained_change(device) if wave else None
    if drained:
        yield _typed("Confirmed: drained, and not changed yet.", [drained.drain])
        yield _typed("Confirmed: drained and changed.", [drained.drain, drained.change])
    yield _typed("Confirmed: changed." + (" No longer drained." if drained else ""), [change])
    yield Instruction(
        "Check that it runs its configuration from before the change; the rollout stores that "
        "text beside its journal.",
        (line(change, "what the newest commit changed"), line(change, "state of BGP peers")),
    )


def _typed(state: str, changes: Sequence[Change]) -> Instruction:
    """Commands that undo changes, the last change first."""
    typed = partial(line, changes[0])
    lines = [text.rstrip() for change in reversed(changes) for text in change.reverse]
    secret = any("<secret " in text for text in lines)
    note = " Type the secret instead of <secret ..>; no plan contains it." if secret else ""
    return Instruction(
        f"{state} Paste this, and answer y to its questions.{note}",
        (typed("configure"), *lines, typed("commit"), typed("leave"), typed("save")),
    )


SSH_PORT = 22
DEFAULT_KNOWN_HOSTS = Path("known_hosts")


@dataclass(frozen=True)
class Installation:
    """One switch of a fabric, the address of its SSH server, and the file of host keys."""

    fabric: Path
    network: Network
    node: Node
    host: str
    port: int
    known_hosts: Path

    @property
    def title(self) -> str:
        """Name of the switch, its required model and release."""
        hardware = self.node.hardware.model if self.node.hardware else "unknown hardware"
        return f"{self.node.name}, a {hardware} with {self.node.software}"


def installation(fabric: Path, device: str, connections: Path | None) -> Installation:
    """Find a switch of a fabric; without connections, its address is the management address."""
    network = derive(fabric).network
    if device not in network.by_name:
        raise BadInput(f"no switch {device!r}", how=nearest(device, network.by_name))
    node = network.by_name[device]
    if connections is None:
        address = str(node.management.ip) if node.management else device
        return Installation(fabric, network, node, address, SSH_PORT, DEFAULT_KNOWN_HOSTS)
    access = load_connections(connections)
    login = next((a for a in access.devices if a.name == device), None)
    if login is None:
        raise BadInput(problems=[access.lacks(device)])
    return Installation(fabric, network, node, login.host, login.port, access.known_hosts)


def day0_steps(
    switch: Installation, references: Sequence[str], *, with_secrets: bool
) -> tuple[Instruction, ...]:
    """Steps that make a new switch reachable for Rocefort.

    references: `USER=env:NAME` or `USER=file:PATH`. Only with_secrets reads them; otherwise the
    steps show a placeholder for each password.
    """
    passwords = _passwords(switch.node, references, with_secrets=with_secrets)
    dialect = dialect_of(switch.node)
    typed = tuple(dialect.day0_text(switch.node, passwords).splitlines())
    blanks = "" if with_secrets else " Type the password in place of each <..>."
    console = Instruction(
        f"On the console of {switch.node.name}. Answer Y to each prompt.{blanks}", typed
    )
    return (console, *_enrol(switch))


def _passwords(node: Node, references: Sequence[str], *, with_secrets: bool) -> dict[str, str]:
    users = [user.name for user in node.device.users]
    given = _by_user(references, users)
    if not with_secrets:
        # The blanks are intended: a switch refuses the line if the placeholder is not replaced.
        return {u: f"<password of {u}{_secret_note(given.get(u))}>" for u in users}
    missing = [user for user in users if user not in given]
    if missing:
        raise BadInput(
            f"--with-secrets, and no password for {', '.join(missing)}",
            how=f"give --password {missing[0]}=env:NAME or --password {missing[0]}=file:PATH",
        )
    check = dialect_of(node).check_password
    return {u: check(resolve(given[u]).reveal(), u, given[u]) for u in users}


def _secret_note(reference: str | None) -> str:
    return f", kept in {reference}" if reference else ""


def _by_user(references: Sequence[str], users: Sequence[str]) -> Mapping[str, str]:
    given = {}
    for item in references:
        user, equals, reference = item.partition("=")
        if not equals:  # not repeated: it may be the password
            raise BadInput("--password without a user", how="give USER=env:NAME or USER=file:PATH")
        if user not in users:
            raise BadInput(f"--password for {user!r}, who is no user", how=nearest(user, users))
        try:
            given[user] = check_reference(reference)
        except ValueError as error:
            what, _, how = str(error).partition("; ")
            raise BadInput(what, where=f"--password {user}", how=how) from None
    return given


def _enrol(switch: Installation) -> Iterator[Instruction]:
    name, interface = switch.node.name, switch.node.device.ssh.source_interface
    key, known = shlex.quote(f"{name}.hostkey"), shlex.quote(str(switch.known_hosts))
    port = "" if switch.port == SSH_PORT else f"-p {switch.port} "
    user = switch.node.device.ssh.users[0].name
    strictly = f"-o StrictHostKeyChecking=yes -o UserKnownHostsFile={known}"
    yield Instruction(
        f"Read its host key, best over a cable that leads to {interface} of {name} and nowhere "
        "else, so that no other host can intercept the connection.",
        (f"ssh-keyscan {port}{switch.host} > {key}", f"ssh-keygen -l -f {key}"),
    )
    yield Instruction(
        "Over any other way, compare the fingerprints with the ones that the console shows, and "
        "stop if they differ. The command that shows them is not confirmed for this release, nor "
        "whether it has a key pair by default: see its command reference."
    )
    yield Instruction(
        "Only then, keep the key; log in to try it.",
        (f"cat {key} >> {known}", f"ssh {port}{strictly} {user}@{switch.host}"),
    )


def replace_steps(switch: Installation, connections: Path) -> tuple[Instruction, ...]:
    """Steps that replace a failed switch; the id stays, so the configuration stays."""
    dialect_of(switch.node).day0_device(switch.node.device)  # raises as day 0 does
    return tuple(_replacing(switch, shlex.quote(str(connections))))


def _replacing(switch: Installation, connections: str) -> Iterator[Instruction]:
    name, fabric = shlex.quote(switch.node.name), shlex.quote(str(switch.fabric))
    host = switch.host if switch.port == SSH_PORT else f"[{switch.host}]:{switch.port}"
    plan = f"{name}.plan.json"
    yield Instruction(
        f"On the console of the new switch, see that it is {switch.title}; for another model or "
        f"release change {name} in {fabric} first. Its id, and so its addresses, AS number and "
        "ports, stay; the serial number is for your records, no file here holds it.",
        (line(switch.node, "model and release"), line(switch.node, "serial number")),
    )
    yield Instruction(
        "Forget the host key of the old switch (it may be in other known_hosts files, too).",
        (f"ssh-keygen -f {shlex.quote(str(switch.known_hosts))} -R {shlex.quote(host)}",),
    )
    yield Instruction(
        "Make the new switch reachable and enrol its host key: do what this prints.",
        (f"rocefort day0 {fabric} {name} --connections {connections}",),
    )
    yield Instruction("Cable it as the old one was.", tuple(_cables(switch)))
    yield Instruction(
        f"Plan. No other switch than {name} may change; if one does, something else is pending: "
        "settle that first.",
        (f"rocefort plan {fabric} --connections {connections} --out {plan}",),
    )
    yield Instruction(
        "Apply. It commits on trial, checks, measures, and only then confirms and saves.",
        (f"rocefort apply {plan} --connections {connections}",),
    )


def _cables(switch: Installation) -> Iterator[str]:
    """Each port of this switch with the far end of its cable."""
    name = switch.node.name
    for link in switch.network.links or ():
        for own, far in ((link.a, link.b), (link.b, link.a)):
            if own.device == name:
                yield f"{own.interface} - {far.device} {far.interface}"
    for server in switch.network.servers or ():
        for port in server.ports:
            if port.device == name:
                yield f"{port.interface} - {server.name}"
