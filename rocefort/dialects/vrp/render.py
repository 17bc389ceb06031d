"""Renderer from a Device to VRP text: lines as saved, and day 0 as typed on a console.

Templates hold the words (templates/vrp/), this module holds the guards: a Device that the family
cannot express is refused before a line is written, and no value can become a second word or line.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache, partial
from operator import attrgetter
from typing import Any

from jinja2 import Environment, StrictUndefined, TemplateNotFound

from rocefort.base.errors import BadInput, Problem
from rocefort.base.repository import TEMPLATES
from rocefort.base.templating import text_templates
from rocefort.dialects.vrp.commands.catalogue import rows_by_view
from rocefort.dialects.vrp.commands.command import SYSTEM, Row
from rocefort.dialects.vrp.parse.bindings import fields_of, opened_by
from rocefort.dialects.vrp.site_templates import (
    MARK,
    ArgumentError,
    Lines,
    file_of,
    problem_of,
    rendered,
    site_environment,
)
from rocefort.dialects.vrp.text.config_tree import parse_tree
from rocefort.dialects.vrp.text.names import interface_name, is_address, ranges, snmp_version_text
from rocefort.models.base import Frozen
from rocefort.models.device.device import Device
from rocefort.models.device.interface import MANUAL, NO_BOND, NO_DOMAIN, Interface, xon_at_most_xoff
from rocefort.models.device.lossless_queue import (
    BUILT_IN_QUEUE,
    LONGEST_DROP_PROFILE,
    NO_DROP_PROFILES,
)
from rocefort.models.device.routing import StaticRoute
from rocefort.models.device.secret import placeholder
from rocefort.models.hardware.hardware import Hardware, SiteTemplates, SyntaxFamily
from rocefort.models.network.network import Node, Position

V200, G1 = SyntaxFamily.V200, SyntaxFamily.V300_G1
WORD = re.compile(r"[!-~]+")
PRINTED = r"[^\s\x00-\x1f\x7f-\x9f\ud800-\udfff]"  # neither blank nor control character
TEXT = re.compile(rf"{PRINTED}+(?: {PRINTED}+)*")
EMPTY = "it is empty, so no line would create it"
KIND_ORDER = ("management", "loopback", "vlanif", "eth-trunk", "other", "ethernet")


UNKNOWN_PATH = "?"
ANY_HARDWARE = "ce8850"  # an entry without settings beyond the family's


class FreeText(str):
    """A value that may contain single blanks: the rest of its line."""

    __slots__ = ()


def render(
    device: Device,
    family: SyntaxFamily,
    template: str = ANY_HARDWARE,
    own: SiteTemplates = (),
) -> str:
    """Write a Device as saved VRP text, `#` between sections and `return` at the end.

    template: an entry of templates/vrp without its ending, such as `ce8851`. own: the site's
    templates, which precede those. Same input, same bytes. Raises BadInput with every part of the
    Device that the family cannot express, and for an error in a template of the site.
    """
    return _rendered(device, family, template, own)[0]


def template_lines(
    device: Device, family: SyntaxFamily, hardware: Hardware
) -> Mapping[int, Position]:
    """Return template and line of each line of a text, if the site has templates of its own."""
    own = hardware.site_templates
    origins = _rendered(device, family, template_of(hardware), own)[1] if own else {}
    return {number: Position(file_of(name), line) for number, (name, line) in origins.items()}


def _rendered(
    device: Device, family: SyntaxFamily, template: str, own: SiteTemplates
) -> tuple[str, Mapping[int, tuple[str, int]]]:
    problems = [
        Problem(device.name, f"{field} on {family.value}: {what}", how)
        for field, what, how in _unsupported_values(device, family)
    ]
    if problems:
        raise BadInput(problems=problems)
    values = {
        "device": device,
        "family": family.value,
        "interfaces": sorted(device.interfaces, key=lambda i: KIND_ORDER.index(i.kind)),
        "built_in_queue": BUILT_IN_QUEUE,
    }
    try:
        if own:
            return rendered(lambda: environment(own).get_template(f"{template}.j2"), values)
        return environment().get_template(f"{template}.j2").render(values), {}
    except TemplateNotFound as error:
        raise BadInput(
            f"no VRP template {template!r}", where=device.name, how=f"use one of {_templates()}"
        ) from error
    except ArgumentError as error:
        path = _path_of(device, error.value)
        if own and path == UNKNOWN_PATH:
            raise problem_of(error) from error
        raise BadInput(
            f"{path} on {family.value}: {error}", where=device.name, how=ArgumentError.HOW
        ) from error


def template_of(hardware: Hardware | None) -> str:
    """Return the template that a hardware names; raises BadInput without one. None: not known."""
    if hardware is None:
        return ANY_HARDWARE
    if hardware.template is None:
        where, how = f"hardware {hardware.model}: template", f"name one of {_templates()}"
        raise BadInput("null, and VRP is written by a template", where=where, how=how)
    return hardware.template


def _templates() -> str:
    return ", ".join(path.stem for path in sorted((TEMPLATES / "vrp").glob("ce[0-9]*.j2")))


def environment(own: SiteTemplates = ()) -> Environment:
    """Return the environment of templates/vrp; it checks each value as one word or as free text.

    own: the site's templates, which precede those of the same name.
    """
    return _environment(own)


@lru_cache(maxsize=8)  # the two sides of a review; a process that reads other sites in turn
def _environment(own: SiteTemplates) -> Environment:
    filters: dict[str, Callable[..., object]] = {
        "free_text": FreeText,
        "settings": partial(_settings, own),
        "secret": lambda stated: FreeText(placeholder(stated)),
        "snmp_versions": lambda versions: FreeText(snmp_version_text(versions)),
        "ranges": lambda numbers: [FreeText(words) for words in ranges(numbers)],
    }
    if own:
        return site_environment(own, _argument, filters)
    environment = text_templates(TEMPLATES / "vrp", _argument)
    environment.filters.update(filters)
    return environment


# Fields that differ between ports; ports with equal other fields share the rest of their lines.
OWN = {
    name: StrictUndefined(f"{name} of a port that shares its lines with others")
    for name in ("name", "description", "addresses")
}
SHARED = tuple(name for name in Interface.model_fields if name not in OWN)
_shared_values = attrgetter(*SHARED)


def _settings(own: SiteTemplates, interface: Interface, family: str) -> Lines:
    """Return lines of a port's settings, shared by ports with equal settings."""
    return _shared_lines(_shared_values(interface), family, own)


# 500 switches have 8 different settings: they are rendered in 0.9 s CPU; without, in 1.3 s.
@lru_cache(maxsize=1024)
def _shared_lines(values: tuple[object, ...], family: str, own: SiteTemplates) -> Lines:
    fields: dict[str, Any] = {**dict(zip(SHARED, values, strict=True)), **OWN}
    port = Interface.model_construct(**fields)
    settings = environment(own).get_template("common/settings.j2")
    return Lines(settings.render(port=port, family=family))


def _argument(value: object) -> str:
    """Check a value for the text: one word, or free text in one line with single blanks."""
    if isinstance(value, Lines):
        return value
    text = MARK.sub("", str(value)) if isinstance(value, str) else str(value)
    allowed = TEXT if isinstance(value, FreeText) else WORD
    if value is None or not allowed.fullmatch(text):
        raise ArgumentError(value)
    return text


def _path_of(model: Frozen, value: object) -> str:
    """Return the path of the first field with a value; a search for error messages only."""
    return next((path for path, leaf in _leaves(model, "") if leaf == value), UNKNOWN_PATH)


def _leaves(value: object, path: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, Frozen):
        for name in type(value).model_fields:
            yield from _leaves(getattr(value, name), f"{path}.{name}".removeprefix("."))
    elif isinstance(value, tuple):
        for item in value:
            yield from _leaves(item, f"{path}[{getattr(item, 'key', item)}]")
    else:
        yield path, value


Unsayable = Iterator[tuple[str, str, str]]  # field path, error, cure


def _unsupported_values(device: Device, family: SyntaxFamily) -> Unsayable:
    for field, row in _missing(family):
        for path in _paths(device, field):
            yield path, f"no `{row.name}`", row.instead
    for interface in device.interfaces:
        yield from _unsayable_interface(interface, family)
    yield from _unsayable_timers(device, family)
    yield from _unsayable_bgp(device)
    yield from _empty_rows(device)
    yield from _reserved_words(device)


def _unsayable_interface(interface: Interface, family: SyntaxFamily) -> Unsayable:
    path = f"interfaces[{interface.name}]"
    if interface_name(interface.name) != interface.name:
        saved = interface_name(interface.name)
        yield path, "not an interface name as a switch saves it", f"use {saved}" if saved else ""
    if interface.trust_dscp and interface.layer3:
        # `trust` is refused after `undo portswitch`: the port trusts DSCP automatically
        yield f"{path}.trust_dscp", "a routed port has no `trust dscp`", "it trusts DSCP already"
    for row in interface.markings:
        if row.profile is None and not row.ecn:
            yield f"{path}.markings[{row.queue}]", EMPTY, "give it a profile"
    yield from _unsayable_bond(interface, path)
    for threshold in interface.thresholds:
        if family is not G1 and not xon_at_most_xoff(threshold.xon_kbytes, threshold.xoff_kbytes):
            at = f"{path}.thresholds[{threshold.queue}]"
            yield at, "xon above xoff cannot be an offset", "lower xon_kbytes"
    yield from _unsayable_thresholds(interface, path, family)


def _unsayable_thresholds(interface: Interface, path: str, family: SyntaxFamily) -> Unsayable:
    """Yield unsupported thresholds: cells are V200's, two shares G1's, offsets the others'."""
    kbytes = {row.queue for row in interface.thresholds}
    for row in interface.other_thresholds:
        at = f"{path}.other_thresholds[{row.queue}]"
        if row.queue in kbytes:
            yield at, "this queue has thresholds in kbytes, too", "keep one of the two"
        if row.unit == "cells" and family is not V200:
            yield at, "no thresholds in cells", "give kbytes or a share"
        if (row.xon is not None) != (family is G1):
            yield at, "only V300 G1 has xon next to xoff", "correct xon"
        if row.offset_kbytes is not None and family is G1:
            yield at, "no xon offset", "give xon"


def _unsayable_bond(interface: Interface, path: str) -> Unsayable:
    if interface.bond != NO_BOND and interface.kind != "eth-trunk":
        yield f"{path}.bond", "only an Eth-Trunk bundles ports", "set it on the Eth-Trunk"
    elif interface.bond.lacp_timeout == "fast" and interface.bond.mode == MANUAL:
        yield f"{path}.bond.lacp_timeout", "no LACP in manual mode", "use mode lacp-static"
    if interface.eth_trunk is not None and interface.kind != "ethernet":
        yield f"{path}.eth_trunk", "only a physical port can be a member", "leave it out"


def _unsayable_timers(device: Device, family: SyntaxFamily) -> Unsayable:
    for profile in device.pfc.profiles:
        for timer in profile.timers:
            given = (timer.detect_time is not None) + (timer.recovery_time is not None)
            at = f"pfc.profiles[{profile.name}].timers[{timer.queue}]"
            if given == 0:
                yield at, "a timer without a time", "give detect_time or recovery_time"
            elif given == 1 and family is V200:
                yield at, "one line sets both times", "give detect_time and recovery_time"


def _unsayable_bgp(device: Device) -> Unsayable:
    if device.bgp is None:
        return
    for peer in device.bgp.peers:
        if peer.asn is None and peer.group is None:
            yield f"bgp.peers[{peer.address}]", "a peer without AS and group", "give asn or group"
    groups = [(f"bgp.groups[{g.name}]", g) for g in device.bgp.groups]
    addressed = [(f"bgp.peers[{p.address}]", p) for p in device.bgp.peers]
    for path, settings in (*groups, *addressed):
        if (settings.keepalive_s is None) != (settings.hold_s is None):
            yield path, "one line sets keepalive and hold time", "give keepalive_s and hold_s"
        if settings.password and settings.keychain:
            yield path, "a password and a keychain exclude each other", "give one of them"


def _empty_rows(device: Device) -> Unsayable:
    """Yield objects that exist only by their lines and have none."""
    for prefixes in device.prefix_lists:
        if not prefixes.entries:
            yield f"prefix_lists[{prefixes.name}]", EMPTY, "give it an entry"
    for policy in device.route_policies:
        if not policy.nodes:
            yield f"route_policies[{policy.name}]", EMPTY, "give it a node"
    for user in device.users:
        if not user.service_types and user.level is None:
            yield f"users[{user.name}]", EMPTY, "give it a service type or a level"
    for view in device.snmp.views:
        if not view.subtrees:
            yield f"snmp.views[{view.name}]", EMPTY, "give it a subtree"


def _reserved_words(device: Device) -> Unsayable:
    """Yield names that VRP would interpret differently."""
    groups = device.bgp.groups if device.bgp else ()
    for group in groups:
        if is_address(group.name):
            yield f"bgp.groups[{group.name}]", "reads as a peer's address", "use another name"
    for profile in device.drop_profiles:
        if profile.name in NO_DROP_PROFILES or len(profile.name) > LONGEST_DROP_PROFILE:
            what = f"a drop profile cannot have this name of {len(profile.name)} characters"
            how = f"use {LONGEST_DROP_PROFILE} at most, and not the beginning of `brief`"
            yield f"drop_profiles[{profile.name}]", what, how
    if any(domain.name == NO_DOMAIN for domain in device.domains):
        yield f"domains[{NO_DOMAIN}]", f"`trust upstream {NO_DOMAIN}` names no domain", "rename it"
    for interface in device.interfaces:
        if interface.pfc is not None and interface.pfc.profile == "mode":
            yield f"interfaces[{interface.name}].pfc", "`mode` is a keyword", "rename the profile"


# --- fields without a command on the switches of a family --------------------------------------


@cache
def rows_of_fields() -> Mapping[str, tuple[Row, ...]]:
    """Return the rows that set a field of a Device, by `interfaces[].mtu`."""
    rows_by_field: dict[str, list[Row]] = defaultdict(list)
    prefixes: dict[str, str] = {SYSTEM: ""}
    waiting = [row for rows in rows_by_view().values() for row in rows]
    while some := [row for row in waiting if row.view in prefixes]:
        waiting = [row for row in waiting if row.view not in prefixes]
        for row in some:
            prefix = prefixes[row.view]
            for field in fields_of(row):
                rows_by_field[prefix + field].append(row)
            if row.opens and row.sets:
                inside = opened_by(row)
                prefixes.setdefault(row.opens, f"{prefix}{inside}." if inside else prefix)
    return {field: tuple(rows) for field, rows in rows_by_field.items()}


@cache
def _missing(family: SyntaxFamily) -> tuple[tuple[str, Row], ...]:
    return tuple(
        (field, rows[0])
        for field, rows in rows_of_fields().items()
        if all(family not in row.families for row in rows)
    )


def _paths(model: Frozen, field: str) -> Iterator[str]:
    """Yield paths of a model's field, or of nested fields, without their default values."""
    step, _, rest = field.partition(".")
    name = step.removesuffix("[]")
    value = getattr(model, name)
    if not rest:
        if value != type(model).model_fields[name].get_default(call_default_factory=True):
            yield name
    elif isinstance(value, tuple):
        for row in value:
            yield from (f"{name}[{row.key}].{path}" for path in _paths(row, rest))
    elif value is not None:
        yield from (f"{name}.{path}" for path in _paths(value, rest))


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
