"""Refuse a plan that could cause a lockout: the loss of management access to a switch.

Other management changes are allowed. A change of the access path is refused unless it provably
admits every user and address that was admitted before. The commit timer would roll the switch
back, but no session could confirm the change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rocefort.base.errors import Problem, Refused
from rocefort.change.effects.switch_configs import SwitchConfigs
from rocefort.models.base import Frozen
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.device.management import Acl, AclRule
from rocefort.models.network.network import Node

HOW = "make it at the console, which cannot be locked out (`rocefort day0` prints it), plan again"


class ManagementRoute(Frozen):
    """Requirements of a session: a port with an address, its VRF, routes, SSH, a VTY, a user."""

    ports: tuple[tuple[str, bool, str | None, tuple[str, ...]], ...]
    routes: tuple[tuple[str, int | None], ...]
    ssh: tuple[bool, str | None]
    lines: tuple[tuple[int, int, str | None, str | None], ...]
    users: tuple[str, ...]


def refuse_lockout(sides: Iterable[SwitchConfigs], users: Mapping[str, str]) -> None:
    """Raise Refused for every change that could end the sessions of a rollout.

    users: the login user by switch; without an entry all users of the switch count.
    """
    problems = [
        Problem(each.node.name, f"the change could cause a lockout: {what}", HOW)
        for each in sides
        for what in cuts(each, users.get(each.node.name))
    ]
    if problems:
        raise Refused(problems=problems)


def cuts(sides: SwitchConfigs, user: str | None) -> Iterator[str]:
    """Parts of the access path that differ afterwards and may admit less."""
    ports = _ports(sides.node, sides.running)
    old, new = _path(sides.running, ports, user), _path(sides.intended, ports, user)
    if old.ports != new.ports:
        yield f"port and address of {', '.join(ports)}"
    if old.routes != new.routes:
        yield "static routes of the management network"
    if old.ssh != new.ssh:
        yield "the SSH server or its source interface"
    if set(old.lines) - set(new.lines):
        yield "login or protocol of VTY lines"
    if set(old.users) - set(new.users):
        yield f"user {user}" if user else "users"
    yield from _acls(sides.running, sides.intended)


def _ports(node: Node, running: Device) -> tuple[str, ...]:
    """Interfaces with the management address; all out-of-band ports where none has it."""
    interfaces = [
        i for i in running.interfaces if node.management and node.management in i.addresses
    ]
    interfaces = interfaces or [i for i in running.interfaces if i.name.startswith("MEth")]
    return tuple(interface.name for interface in interfaces)


def _path(device: Device, ports: Iterable[str], user: str | None) -> ManagementRoute:
    interfaces = [device.by_interface.get(name) or Interface(name=name) for name in ports]
    vrfs = {interface.vrf for interface in interfaces}
    people = [u.model_dump_json() for u in device.users if user in (None, u.name)]
    people += [u.model_dump_json() for u in device.ssh.users if user in (None, u.name)]
    groups = {u.group for u in device.users if user in (None, u.name)}
    people += [g.model_dump_json() for g in device.user_groups if g.name in groups]
    return ManagementRoute(
        ports=tuple((i.name, i.enabled, i.vrf, tuple(map(str, i.addresses))) for i in interfaces),
        routes=tuple((r.key, r.preference) for r in device.static_routes if r.vrf in vrfs),
        ssh=(device.ssh.stelnet, device.ssh.source_interface),
        lines=tuple((v.first, v.last, v.authentication, v.protocol) for v in device.vty),
        users=tuple(people),
    )


def _acls(running: Device, intended: Device) -> Iterator[str]:
    """VTY lines whose new ACL admits fewer addresses, or may."""
    old, new = ({acl.number: acl for acl in device.acls} for device in (running, intended))
    was = {line.first: line for line in running.vty}
    for line in intended.vty:
        before = was.get(line.first)
        if before is None or line.acl is None:
            continue
        if before.acl is None:
            yield f"ACL {line.acl} is new on VTY lines that admitted every address"
        elif not _as_wide(old.get(before.acl), new.get(line.acl)):
            yield f"ACL {line.acl} of the VTY lines may admit fewer addresses, or others"


def _as_wide(old: Acl | None, new: Acl | None) -> bool:
    """Whether the new ACL admits every address that the old one admits.

    It compares the rules alone: no permit rule is removed, and no deny rule is added.
    """
    if old == new:
        return True
    if old is None or new is None:
        return False
    return _rules(old, "permit") <= _rules(new, "permit") and _rules(new, "deny") <= _rules(
        old, "deny"
    )


def _rules(acl: Acl, action: str) -> frozenset[AclRule]:
    return frozenset(rule for rule in acl.rules if rule.action == action)
