"""Derive FEC and autonegotiation of a port from the kind of its cable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from rocefort.base.documents.read import YamlPath
from rocefort.base.errors import Problem
from rocefort.design.derive.context import Context
from rocefort.design.derive.switch_context import LeafSpineLink, Scope
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.topology import CableKind, ServerIntent, Switch
from rocefort.models.hardware.media import COPPER, FASTEST_WITH_FEC_MODE, default_fec, whole_port

# CG Configuring_FEC: BASE-R is for 25GE and 50GE, and for 100GE ports that work at 50 Gb/s.
BASE_R_GBPS = (25, 50)


def port_fields(scope: Scope, port: str, kind: CableKind | None) -> Mapping[str, object]:
    """Return fields of the Interface at an end of a cable of this kind."""
    if kind is None:
        return {}
    return _fields(kind.medium, kind.fec, kind.autonegotiation, scope.speed_gbps(port))


def note_cable(scope: Scope, port: str, kind: CableKind | None, path: YamlPath) -> None:
    """Note a path as the source of the cable settings of a port."""
    for name in ("fec", "autonegotiation") if kind else ():
        scope.note(f"interfaces[{port}].{name}", *path)


@cache
def _fields(
    medium: str, fec: str | None, autonegotiation: str | None, speed_gbps: int | None
) -> dict[str, object]:
    kind = CableKind.model_validate(
        {"medium": medium, "fec": fec, "autonegotiation": autonegotiation}
    )
    on = negotiates(kind)
    fec_mode = kind.fec or (None if on else default_fec(kind.medium, speed_gbps))
    return {"fec": fec_mode, "autonegotiation": on or kind.medium != COPPER}


def negotiates(kind: CableKind) -> bool:
    """Whether the ends negotiate FEC; optics do not, and FEC that is given excludes it (CG)."""
    return kind.medium == COPPER and (kind.autonegotiation or ("off" if kind.fec else "on")) == "on"


def speed(context: Context, switch: Switch, port: str) -> int | None:
    """Speed of a port or of a part of a split one, Gb/s; None: unknown."""
    return context.speed_gbps(switch, port)


def server_kind(
    fabric: Fabric, index: int, server: ServerIntent
) -> tuple[CableKind | None, YamlPath]:
    """Return the kind of the cable of server number `index`, and its path."""
    if server.cable is not None:
        return server.cable, ("servers", index, "cable")
    return fabric.cables.server, ("cables", "server")


def cable_problems(context: Context, joints: Iterable[LeafSpineLink]) -> Iterator[Problem]:
    """Yield problems of cable kinds that a port does not support, once for each YAML path."""
    reported: set[tuple[YamlPath, str]] = set()
    for path, kind, switch, port in _ends(context, joints):
        bare = whole_port(port) != port and not context.family(switch).split_base_r
        for field, what, how in _impossible(kind, speed(context, switch, port), bare=bare):
            if (path, what) not in reported:
                reported.add((path, what))
                yield context.problem((*path, field), what, how)


def _ends(
    context: Context, joints: Iterable[LeafSpineLink]
) -> Iterator[tuple[YamlPath, CableKind, Switch, str]]:
    for joint in joints:
        if joint.kind is not None:
            for end in (joint.spine, joint.leaf):
                yield joint.kind_path, joint.kind, end.switch, end.port
    leaves = {leaf.name: leaf for leaf in context.fabric.leaves}
    for number, server in enumerate(context.fabric.servers):
        kind, path = server_kind(context.fabric, number, server)
        if kind is not None:
            for port in server.ports if server.leaf in leaves else ():
                yield path, kind, leaves[server.leaf], port
    for number, leaf in enumerate(context.fabric.leaves):
        for index, exit_ in enumerate(leaf.exits):
            if exit_.cable is not None:
                path = ("leaves", number, "exits", index, "cable")
                yield path, exit_.cable, leaf, exit_.port


def _impossible(
    kind: CableKind, speed_gbps: int | None, *, bare: bool
) -> Iterator[tuple[str, str, str]]:
    """Yield (field, what, how) of contradictions; bare: the port has no BASE-R FEC."""
    if kind.autonegotiation == "on" and kind.medium != COPPER:
        yield (
            "autonegotiation",
            f"{kind.medium} has no autonegotiation; only {COPPER} negotiates",
            "leave it out",
        )
    elif kind.autonegotiation == "on" and kind.fec:
        yield (
            "fec",
            f"FEC {kind.fec} with autonegotiation on: what is negotiated cannot be given",
            "leave one of the two out",
        )
    if speed_gbps is None or kind.fec is None:
        return
    if speed_gbps > FASTEST_WITH_FEC_MODE:
        yield (
            "fec",
            f"FEC of a port of {speed_gbps} Gb/s cannot be set: it is always on",
            "leave it out",
        )
    elif kind.fec == "base-r" and speed_gbps not in BASE_R_GBPS:
        yield (
            "fec",
            f"a port of {speed_gbps} Gb/s has no BASE-R FEC; ports of 25 Gb/s do",
            "use rs or none",
        )
    elif kind.fec == "base-r" and bare:
        yield "fec", "on these chips a part of a split port has no BASE-R FEC", "use rs or none"
