"""Procedures by hand: at a console (rollback, day 0, replacement), in a maintenance window."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from stat import S_ISREG

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, Problem, Refused
from rocefort.base.secret_references import resolve
from rocefort.change.effects.drain import silent
from rocefort.change.effects.switch_configs import SwitchConfigs
from rocefort.design.derive.derive import derive
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.secrets import references
from rocefort.dialects.words import in_words, line
from rocefort.fleet.connections import load_connections
from rocefort.models.base import Frozen, check_reference
from rocefort.models.change.plan import Change, Plan
from rocefort.models.hardware.hardware import ConditionedLine, Requirement
from rocefort.models.network.network import Network, Node, SwitchRole
from rocefort.models.wording import listing, names_text
from rocefort.rollout.report.plan_report import Instruction, Procedure, procedure_of
from rocefort.validators.facts.roce_ports import ends_of


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


def console_file(console: Instruction, file: Path) -> Instruction:
    """Write the typed lines of a step to a file; return the step that names it instead.

    Raises BadInput if it cannot be written.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe has no reader
    try:
        with os.fdopen(os.open(file, flags, 0o600), "w", encoding="utf-8") as stream:
            if not S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise BadInput("no regular file", file=str(file), how="name a file")
            os.fchmod(stream.fileno(), 0o600)  # an older file may be open to others
            stream.truncate()
            stream.writelines(f"{line}\n" for line in console.lines)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", file=str(file)) from None
    return Instruction(f"{console.what} Lines: {file}")


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


# A trial that ends must be undone completely, and a confirmed one must be in effect.
BEYOND_A_TRIAL = frozenset({Requirement.SAVE, Requirement.REBOOT, Requirement.NO_ROLLBACK})


HOW = "make it by hand in a maintenance window by the printed procedure, then plan again"

PORT = re.compile(r"\b\d+GE\d+/\d+/\d+(?::\d+)?", re.ASCII)
TYPE_IT = "Type the secret itself instead of <secret ..>. "


class MaintenanceStep(Frozen):
    """One step of a procedure: an instruction and its commands."""

    what: str
    commands: tuple[str, ...] = ()


class MaintenanceProcedure(Frozen):
    """Steps that make the change of one switch by hand."""

    device: str
    why: tuple[str, ...]
    steps: tuple[MaintenanceStep, ...]


class NeedsMaintenance(Refused):
    """Error for changes that no trial can make; `procedures` has their manual steps."""

    def __init__(self, procedures: Iterable[MaintenanceProcedure]) -> None:
        self.procedures = tuple(procedures)
        super().__init__(
            problems=[
                Problem(each.device, f"no trial can make its change: {each.why[0]}", HOW)
                for each in self.procedures
            ]
        )


def refuse_beyond_trial(network: Network, sides: Mapping[str, SwitchConfigs]) -> None:
    """Raise NeedsMaintenance if a patch needs a save or a restart, or has no rollback.

    A line that needs an idle port is allowed. A switch that refuses it on a congested port ends the
    trial itself, and a spine is drained; the plan has a warning.
    """
    procedures = [
        procedure(network, each)
        for each in sides.values()
        if any(BEYOND_A_TRIAL & {*line.needs} for line in each.whole.conditions)
    ]
    if procedures:
        raise NeedsMaintenance(procedures)


def procedure(network: Network, sides: SwitchConfigs) -> MaintenanceProcedure:
    """Manual steps for the whole change of a switch, including lines that need no window."""
    change, name = sides.whole, sides.node.name
    hard = [line for line in change.conditions if BEYOND_A_TRIAL & {*line.needs}]
    needs = {need for line in change.conditions for need in line.needs}
    return MaintenanceProcedure(
        device=name,
        why=tuple(dict.fromkeys(map(str, hard))),
        steps=tuple(_steps(network, sides, change.conditions, needs)),
    )


def _steps(
    network: Network,
    sides: SwitchConfigs,
    lines: Iterable[ConditionedLine],
    needs: Iterable[Requirement],
) -> Iterator[MaintenanceStep]:
    node, conditions = sides.node, frozenset(needs)
    yield _save_step(node)
    yield _out_of_use(network, sides)
    ports = list(dict.fromkeys(port for line in lines if (port := _port(line))))
    if Requirement.IDLE_PORT in conditions and ports:
        down = _in_views(node, ports, "a port out of use")
        yield MaintenanceStep(
            what=f"Shut down {names_text(ports)}, and check that the ports carry no traffic.",
            commands=(*_entered(node, down), line(node, "leave"), line(node, "ports in brief")),
        )
    yield MaintenanceStep(
        what="Type the change at the console. "
        + (TYPE_IT if references(sides.whole.patch) else "")
        + in_words("A commit here has no timer: read «changes of the candidate» before it.", node),
        commands=_entered(node, sides.whole.patch),
    )
    if Requirement.IDLE_PORT in conditions and ports:
        remaining = [p for p in ports if p in sides.intended.by_interface]
        up = _in_views(node, remaining, "an enabled port")
        if up:
            yield MaintenanceStep(
                what="Enable the ports that the change keeps.",
                commands=_entered(node, up),
            )
    if conditions & {Requirement.SAVE, Requirement.REBOOT}:
        yield MaintenanceStep(what="Save the configuration, and answer y.", commands=_save(node))
    if Requirement.REBOOT in conditions:
        yield MaintenanceStep(
            what=f"Restart {node.name}, and answer y. Servers connected only to it are down "
            "meanwhile.",
            commands=(line(node, "restart"),),
        )
    yield from _in_use(sides)
    yield MaintenanceStep(what="Save the configuration, and answer y.", commands=_save(node))
    yield MaintenanceStep(
        what="In a shell: check the switch, and plan the remaining changes.",
        commands=("rocefort health FABRIC --connections FILE", "rocefort plan FABRIC"),
    )


def _entered(node: Node, commands: Iterable[str]) -> tuple[str, ...]:
    """Commands of the system view with a commit."""
    return line(node, "configure"), *(text.rstrip() for text in commands), line(node, "commit")


def _save(node: Node) -> tuple[str, ...]:
    return line(node, "leave"), line(node, "save")


def _in_views(node: Node, ports: Iterable[str], term: str) -> list[str]:
    """Commands of a term in the view of each port."""
    command, leave = line(node, term), line(node, "leave a view")
    return [typed for port in ports for typed in (line(node, "an interface", port), command, leave)]


def _in_use(sides: SwitchConfigs) -> Iterator[MaintenanceStep]:
    """Step that undrains a spine."""
    if sides.node.role is SwitchRole.SPINE:
        lift = sides.change_after(silent(sides.intended), sides.intended).patch
        yield MaintenanceStep(
            what=f"Let {sides.node.name} take traffic again.",
            commands=_entered(sides.node, lift),
        )


def _save_step(node: Node) -> MaintenanceStep:
    save = line(node, "save in", "before-maintenance.cfg")
    return MaintenanceStep(
        what=f"Store the configuration of {node.name} and the rollback point: a rollback does not "
        "undo all of the change.",
        commands=(save, line(node, "list of commits", 1)),
    )


def _out_of_use(network: Network, sides: SwitchConfigs) -> MaintenanceStep:
    node, name = sides.node, sides.node.name
    if node.role is SwitchRole.SPINE:
        others = [other.name for other in network.role(SwitchRole.SPINE) if other.name != name]
        return MaintenanceStep(
            what=f"Drain {name}: a first node in each export policy denies all routes. "
            f"{listing(others) or 'No other spine'} must carry all of its traffic meanwhile.",
            commands=(
                *_entered(node, sides.change_before(sides.running, silent(sides.running)).patch),
                line(node, "leave"),
                line(node, "state of BGP peers"),
            ),
        )
    servers = [
        s.name for s in network.servers or () if any(port.device == name for port in s.ports)
    ]
    links = [link for link in network.links or () if name in {e.device for e, _ in ends_of(link)}]
    return MaintenanceStep(
        what=f"Ask the owners of {names_text(servers) or 'its servers'} for a window: {name} has "
        f"{len(links)} uplinks, and servers that are connected only to it have no other path."
    )


def _port(line: ConditionedLine) -> str:
    """Port whose view has a line, or that the line splits; empty for a line of no port."""
    match = PORT.search(line.view or line.line)
    return match[0] if match else ""
