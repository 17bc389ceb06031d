"""Day 0: the configuration that an operator types on a new switch's console to enable SSH."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from rocefort.base.errors import BadInput
from rocefort.dialects.vrp.render import environment, render, template_of
from rocefort.dialects.vrp.text.config_tree import parse_tree
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.device.routing import StaticRoute
from rocefort.models.network.network import Node

# V300R023C00, `local-user password`: 8 to 128 characters; blanks end it, `?` is the help key.
PASSWORD = re.compile(r"[!->@-~]{8,128}")


def day0_device(device: Device) -> Device:
    """Return the management part of a Device: its port and route, users, SSH, ACL.

    Raises BadInput where it would enable nothing: no user may log in.
    """
    if not device.ssh.users or not device.ssh.stelnet or device.ssh.source_interface is None:
        raise BadInput(
            "no user may log in by SSH", where=device.name, how="add a user to security.users"
        )
    ports = tuple(i for i in device.interfaces if i.name == device.ssh.source_interface)
    tables = {port.vrf for port in ports}
    return Device(
        name=device.name,
        telnet_off=device.telnet_off,
        acls=tuple(a for a in device.acls if a.number in {v.acl for v in device.vty}),
        vrfs=tuple(vrf for vrf in device.vrfs if vrf.name in tables),
        interfaces=ports,
        static_routes=tuple(r for r in device.static_routes if _leads_on(r, ports)),
        users=device.users,
        ssh=device.ssh,
        vty=device.vty,
    )


def _leads_on(route: StaticRoute, ports: Iterable[Interface]) -> bool:
    """Whether a static route leaves by one of the ports."""
    return route.next_hop is not None and any(
        route.vrf == port.vrf and route.next_hop in address.network
        for port in ports
        for address in port.addresses
    )


def day0_text(node: Node, passwords: Mapping[str, str]) -> str:
    """Return the console input of a new switch, from the user view to the saved configuration.

    passwords: by user, the text for each; the switch stores a digest of it. Raises BadInput where
    the switch's hardware is not known or no user may log in.
    """
    if node.family is None or node.hardware is None:
        raise BadInput("its syntax family is not known", where=node.name, how="name its hardware")
    saved = render(day0_device(node.device), node.family.syntax, template_of(node.hardware))
    template = environment().get_template("day0.j2")
    return template.render(sections=parse_tree(saved), passwords=passwords)


def check_password(value: str, user: str, reference: str) -> str:
    """Accept a password that a console takes as one word; an error does not repeat it."""
    if not PASSWORD.fullmatch(value):
        raise BadInput(
            f"the password of {user} cannot be typed on a console",
            where=reference,
            how="use 8 to 128 printable ASCII characters without blanks and '?'",
        )
    return value
