"""Import users, services and management routing that all switches share."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from rocefort.design.derive.management import ACCESS_ACL, RULE_STEP
from rocefort.design.derive.ports import MANAGEMENT
from rocefort.design.importing.assumptions import Data, SwitchText, nameable
from rocefort.design.importing.routing import AddressSpace, around
from rocefort.design.importing.survey import Survey
from rocefort.models.device.management import Acl, Telemetry, Vty
from rocefort.models.device.routing import DEFAULT_ROUTE
from rocefort.models.fabric.management_plane import TelemetryIntent

KEYS = ("authentication", "privacy")


def addresses(sources: Sequence[SwitchText]) -> dict[str, IPv4Interface]:
    """Return addresses of the management ports, by switch."""
    ports = {s.name: s.device.by_interface.get(MANAGEMENT) for s in sources}
    return {name: port.addresses[0] for name, port in ports.items() if port and port.addresses}


def management_prefix(survey: Survey, space: AddressSpace, index: int) -> IPv4Network:
    """Return the prefix of the out-of-band segment; place: its index in `segments`."""
    networks = {address.network for address in addresses(survey.switches).values()}
    whole = around(networks) if networks else None
    if whole is None or len(networks) > 1 or not space.free(whole):
        survey.notes.assume(
            ("segments", index, "prefix"),
            "around all management addresses" if networks else "no text has a management address",
        )
    if whole is not None and space.free(whole):
        return space.take(whole)
    return space.any_free(min(24, 32 - (len(survey.switches) + 34).bit_length()))


def management_of(survey: Survey, prefix: IPv4Network) -> Data:
    """Return `management` of a fabric: VRF and gateway of the management ports."""
    notes, sources = survey.notes, survey.switches
    vrf = notes.majority("the routing table of management", {s.name: _vrf(s) for s in sources})
    gateway = notes.majority(
        "the gateway of management", {s.name: _gateway(s, vrf, prefix) for s in sources}
    )
    row: Data = {} if vrf is None else {"vrf": vrf}
    return row | ({} if gateway is None else {"gateway": gateway})


def _vrf(source: SwitchText) -> str | None:
    port = source.device.by_interface.get(MANAGEMENT)
    return port.vrf if port and nameable(port.vrf) else None


def _gateway(source: SwitchText, vrf: str | None, prefix: IPv4Network) -> IPv4Address | None:
    return next(
        (
            route.next_hop
            for route in source.device.static_routes
            if (route.prefix, route.vrf) == (DEFAULT_ROUTE, vrf)
            and route.next_hop is not None
            and route.next_hop in prefix
        ),
        None,
    )


def security_of(survey: Survey) -> Data:
    """Return `security` of a fabric without its policy."""
    notes, devices = survey.notes, [(s.name, s.device) for s in survey.switches]
    users = notes.majority("local users", {name: device.users for name, device in devices}) or ()
    roles = notes.majority("user groups", {name: d.user_groups for name, d in devices}) or ()
    rows: list[Data] = []
    for user in filter(lambda user: nameable(user.name), users):
        if user.level is not None:
            rows.append({"name": user.name, "level": user.level})
        elif nameable(user.group):
            rows.append({"name": user.name, "role": user.group})
    security: Data = {"users": rows}
    if roles:
        security["roles"] = [
            {
                "name": role.name,
                "grants": [{"task_group": g.name, "rights": [*g.rights]} for g in role.grants],
            }
            for role in roles
            if role.grants and nameable(role.name) and all(g.rights for g in role.grants)
        ]
    acl = notes.majority("who may log in", {name: _access(d.acls, d.vty) for name, d in devices})
    rules = acl.rules if acl else ()
    if access := [
        {"id": rule.index // RULE_STEP, "prefix": rule.source}
        for rule in rules
        if rule.source and rule.action == "permit" and rule.index % RULE_STEP == 0 and rule.index
    ]:
        security["management_access"] = access
    timeouts = {n: next((line.idle_timeout_s for line in d.vty), None) for n, d in devices}
    idle = notes.majority("the idle timeout, s", timeouts)
    if idle and idle % 60 == 0:
        security["idle_timeout_min"] = idle // 60
    return security


def _access(acls: Sequence[Acl], lines: Sequence[Vty]) -> Acl | None:
    """Return the ACL of the VTY lines, if it has the number that derivation gives it."""
    numbers = {line.acl for line in lines}
    return next((acl for acl in acls if acl.number == ACCESS_ACL and acl.number in numbers), None)


def services_of(survey: Survey) -> Data:
    """Return `services` of a fabric."""
    notes, devices = survey.notes, [(s.name, s.device) for s in survey.switches]
    services: Data = {
        "ntp": [*(notes.majority("NTP servers", {n: d.ntp_servers for n, d in devices}) or ())],
        "syslog": [
            *(notes.majority("syslog hosts", {n: d.syslog.hosts for n, d in devices}) or ())
        ],
        "netconf": notes.majority("NETCONF", {n: d.netconf.server for n, d in devices}) or False,
    }
    readers = notes.majority(
        "SNMP users", {name: tuple(user.name for user in d.snmp.users) for name, d in devices}
    )
    for index, reader in enumerate(filter(nameable, readers or ())):
        row: Data = {"name": reader}
        for key in KEYS:
            row[key] = f"env:SNMP_{key.upper()}"
            notes.assume(("services", "snmp", index, key), "texts show no key")
        services.setdefault("snmp", []).append(row)
    telemetry = notes.majority("telemetry", {name: _telemetry(d.telemetry) for name, d in devices})
    if telemetry:
        services["telemetry"] = [row.model_dump(mode="json") for row in telemetry]
    return services


def _telemetry(telemetry: Telemetry) -> tuple[TelemetryIntent, ...]:
    """Return subscriptions with groups of their own, as intent has them."""
    sensors = {group.name: group.paths for group in telemetry.sensor_groups}
    targets = {group.name: group.collectors for group in telemetry.destination_groups}
    subscriptions = []
    for row in telemetry.subscriptions:
        interval = next((s.interval_ms for s in row.samplings if s.group == row.name), None)
        paths, collectors = sensors.get(row.name), targets.get(row.name)
        if interval is None or not paths or not collectors:
            continue
        data: Data = {
            "name": row.name,
            "paths": paths,
            "interval_ms": interval,
            "collectors": [
                {"address": c.address, "port": c.port, "tls": c.tls} for c in collectors
            ],
        }
        try:
            subscriptions.append(TelemetryIntent.model_validate(data))
        except ValueError:
            continue  # no intent accepts it: the import reports it as left out
    return tuple(subscriptions)
