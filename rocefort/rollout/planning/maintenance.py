"""Procedures for changes that no trial can make: by hand in a maintenance window."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from rocefort.base.errors import Problem, Refused
from rocefort.change.effects.drain import silent
from rocefort.change.effects.switch_configs import SwitchConfigs
from rocefort.dialects.secrets import references
from rocefort.dialects.words import in_words, line
from rocefort.models.base import Frozen
from rocefort.models.hardware.commit_conditions import ConditionedLine, Requirement
from rocefort.models.network.network import Network, Node, SwitchRole
from rocefort.models.wording import listing, names_text
from rocefort.validators.facts.roce_ports import ends_of

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
