"""New fabric from a few numbers: YAML that passes `check` and marks assumed values."""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv4Network
from itertools import chain
from pathlib import Path

from jinja2 import Template

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, Problem, Refused, ServiceFailed
from rocefort.base.repository import FABRIC_FILE, HARDWARE, PROFILES, TEMPLATES, shortest
from rocefort.base.templating import text_templates
from rocefort.design.allocation import FIRST_SERVER
from rocefort.design.derive.check_capacity import larger_hardware
from rocefort.design.load.documents import MODELINE, Catalogue, load_catalogue
from rocefort.models.base import check_name
from rocefort.models.device.interface import JUMBO_FRAME_BYTES
from rocefort.models.fabric.types import MOST_LEAVES, MOST_LINKS_PER_PAIR, MOST_PATHS, MOST_SPINES
from rocefort.models.fabric.underlay import Capacity
from rocefort.models.hardware.hardware import Family, Hardware
from rocefort.models.units import kbytes
from rocefort.models.wording import count_of
from rocefort.validators.facts.headroom import RESPONSE_QUANTA, headroom_bytes

RELEASES = ("V300R023C00", "V200R022C00")  # those of the references and of HEPS
XOFF_KBYTES, XON_GAP_KBYTES = 600, 50  # HEPS: Network 2025, 5(4), 53
XOFF_STEP_KBYTES = 50
MTU, FABRIC_M, SERVER_M = 9000, 50, 5  # assumed; a frame of that MTU is below the jumbo limit
DEADLOCK_MS, DEADLOCK_TIME = 100, 10  # V300R023C00 defaults
# RFC 6996. Two-byte numbers if they suffice: every release writes them in the same format.
ASN_2_BYTES, LAST_ASN_2_BYTES, ASN_4_BYTES = 64512, 65534, 4200000000
SPARE_ADDRESSES = 32  # of the management network: its gateway, NTP and the like


@dataclass(frozen=True, slots=True)
class Size:
    """Size of a new fabric; a capacity of None is limited by the ports of the hardware."""

    spines: int
    leaves: int
    servers_per_leaf: int
    capacity_spines: int | None = None
    capacity_leaves: int | None = None
    links_per_pair: int = 1  # of each leaf and spine, in use and reserved


@dataclass(frozen=True, slots=True)
class _Model:
    """Switch model in its role."""

    hardware: Hardware
    software: str
    family: Family

    @property
    def model(self) -> str:
        return self.hardware.model


def new_fabric(
    name: str,
    size: Size,
    leaf_hardware: str,
    spine_hardware: str,
    catalogue: Catalogue | None = None,
) -> str:
    """Return YAML text of a fabric with ids from 1; raises BadInput with all problems.

    leaf_hardware, spine_hardware: models of the catalogue, by default that of inventory/hardware.
    """
    catalogue = catalogue or load_catalogue()
    _refuse(_name_problems(name), _model_problems(catalogue, leaf_hardware, spine_hardware))
    leaf = _model(catalogue, leaf_hardware, spine=False)
    spine = _model(catalogue, spine_hardware, spine=True)
    _refuse(
        _size_problems(catalogue, size, leaf.hardware, spine.hardware),
        _server_problems(size, leaf.hardware),
        _speed_problems(leaf.hardware, spine.hardware),
    )
    capacity = Capacity(
        spines=_reserved(size, size.capacity_spines, leaf.hardware, "spines"),
        leaves=_reserved(size, size.capacity_leaves, spine.hardware, "leaves"),
        links_per_pair=size.links_per_pair,
    )
    return _template().render(
        name=name,
        modeline=MODELINE,
        size=size,
        capacity=capacity,
        leaf_hardware=leaf,
        spine_hardware=spine,
        **_addresses(capacity, leaf.hardware),
        mtu=MTU,
        fabric_m=FABRIC_M,
        server_m=SERVER_M,
        **_lossless((leaf, spine)),
        **_members(size, capacity, leaf.hardware),
    )


def write_new(name: str, text: str, directory: Path) -> Path:
    """Write directory/NAME/fabric.yaml atomically; raises Refused if it exists."""
    _refuse(_name_problems(name))
    path = directory / name / FABRIC_FILE
    part: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(prefix=f".{FABRIC_FILE}.", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(part).chmod(0o644)
        path.hardlink_to(part)  # unlike a rename, it fails where the name is taken
    except FileExistsError:
        raise Refused(
            "is there already",
            file=str(shortest(path)),
            how="choose another name, or remove it first",
        ) from None
    except OSError as error:
        raise ServiceFailed(
            f"cannot be written: {error.strerror}", where=str(shortest(path))
        ) from None
    finally:
        if part is not None:
            Path(part).unlink(missing_ok=True)
    return shortest(path)


def _refuse(*parts: Iterable[Problem]) -> None:
    if problems := list(chain.from_iterable(parts)):
        raise BadInput(problems=problems)


def _name_problems(name: str) -> Iterator[Problem]:
    try:
        check_name(name)
    except ValueError as error:
        what, _, how = str(error).partition("; ")
        yield Problem("", what, how)
    if name in (HARDWARE.name, PROFILES.name):
        what = f"a fabric named {name!r} would be mixed with other files of inventory/{name}"
        yield Problem("", what, "choose another name")


def _model_problems(catalogue: Catalogue, *names: str) -> Iterator[Problem]:
    for name in dict.fromkeys(names):
        if name not in catalogue.hardware:
            what = f"no hardware {name!r} in inventory/hardware"
            yield Problem("", what, nearest(name, catalogue.hardware))


def _model(catalogue: Catalogue, name: str, *, spine: bool) -> _Model:
    """Return the model in its role with its newest known release."""
    hardware = catalogue.hardware[name].in_role(spine=spine)
    release = hardware.releases[-1]
    matching = (software for software in RELEASES if software.startswith(release.prefix))
    return _Model(hardware, next(matching, release.prefix), catalogue.families[release.family])


def _reserved(size: Size, requested: int | None, hardware: Hardware, peers: str) -> int:
    """Capacity for the peers of a model: the requested one, or limited by its ports."""
    if requested is not None:
        return requested
    each = size.links_per_pair
    most = min(MOST_SPINES, MOST_PATHS // each) if peers == "spines" else MOST_LEAVES
    return min(len(hardware.fabric_port_names()) // each, most)


def _size_problems(
    catalogue: Catalogue, size: Size, leaf: Hardware, spine: Hardware
) -> Iterator[Problem]:
    each = size.links_per_pair
    if not 1 <= each <= MOST_LINKS_PER_PAIR:
        what = f"{count_of(each, 'link')} from each leaf to each spine"
        yield Problem("", what, f"ask for 1 to {MOST_LINKS_PER_PAIR}")
        return
    rows = (
        (leaf, "leaf", "spines", size.spines, size.capacity_spines),
        (spine, "spine", "leaves", size.leaves, size.capacity_leaves),
    )
    for hardware, role, peers, count, capacity in rows:
        ports = _reserved(size, None, hardware, peers)
        if count < 1:
            yield Problem("", f"{count} {peers}", "a fabric has one or more")
        elif max(count, capacity or 0) > ports:
            needed = max(count, capacity or 0)
            larger = larger_hardware(
                catalogue.hardware, hardware, needed * each, spine=role == "spine"
            )
            yield Problem(
                "",
                f"{hardware.model} as a {role} has ports for {ports} {peers} with "
                f"{count_of(each, 'link')} to each, not {needed}",
                f"ask for at most {ports} {peers}, or as {role} hardware {larger}",
            )
        elif capacity is not None and capacity < count:
            yield Problem(
                "",
                f"a capacity of {capacity} {peers} is less than the {count} {peers} asked for",
                f"reserve {count} or more",
            )


def _server_problems(size: Size, leaf: Hardware) -> Iterator[Problem]:
    free, requested = len(_server_ports(leaf)), size.servers_per_leaf
    if requested < 0:
        yield Problem("", f"{requested} servers per leaf", "ask for none or more")
    elif requested > free:
        yield Problem(
            "",
            f"{leaf.model} as a leaf has {free} ports for servers, not {requested}",
            f"ask for at most {free} servers per leaf, or choose another leaf hardware",
        )


def _speed_problems(leaf: Hardware, spine: Hardware) -> Iterator[Problem]:
    speeds = {
        hardware.speed_gbps(port): f"{hardware.model} {port}"
        for hardware in (leaf, spine)
        for port in hardware.fabric_port_names()
    }
    if len(speeds) > 1:
        yield Problem(
            "",
            f"leaf-spine links would join ports that differ in speed: {', '.join(speeds.values())}",
            "choose hardware whose fabric ports have one speed",
        )


def _server_ports(leaf: Hardware) -> tuple[str, ...]:
    """Ports of a leaf for servers, all of one speed: the most common of its free ports."""
    reserved = set(leaf.fabric_port_names())
    free = [port for port in leaf.port_names() if port not in reserved]
    speeds = Counter(map(leaf.speed_gbps, free)).most_common(1)
    return tuple(port for port in free if leaf.speed_gbps(port) == speeds[0][0])


def _network(base: str, addresses: int, longest: int = 30) -> IPv4Network:
    """Smallest network at an address with so many addresses."""
    length = min(32 - (addresses - 1).bit_length(), longest)
    return IPv4Network((int(IPv4Address(base)), length))


def _addresses(capacity: Capacity, leaf: Hardware) -> dict[str, object]:
    """Pools for a capacity; even the largest do not overlap."""
    highest = FIRST_SERVER + len(leaf.port_names())
    part = _network("0.0.0.0", highest + 1, longest=24)  # noqa: S104 - only its length counts
    management = _network("10.255.0.0", capacity.spines + capacity.leaves + SPARE_ADDRESSES, 24)
    two_bytes = ASN_2_BYTES + capacity.leaves <= LAST_ASN_2_BYTES
    return {
        "pools": {
            "spine_loopbacks": _network("10.0.0.0", capacity.spines + 1),
            "leaf_loopbacks": _network("10.1.0.0", capacity.leaves + 1),
            "links": _network(
                "10.2.0.0", capacity.spines * capacity.leaves * capacity.links_per_pair * 2
            ),
        },
        "asn": ASN_2_BYTES if two_bytes else ASN_4_BYTES,
        "compute": _network("10.64.0.0", capacity.leaves * part.num_addresses),
        "leaf_prefix_length": part.prefixlen,
        "management": management,
        "ntp_example": management.broadcast_address - 1,
    }


def _lossless(models: Sequence[_Model]) -> dict[str, object]:
    """Thresholds that fit the buffers, and values that only some syntax families need."""
    sizes = {model.model: size for model in models if (size := _fitting_xoff(model.hardware))}
    tight = min(sizes, key=lambda model: sizes[model], default=None)
    xoff = XOFF_KBYTES if tight is None else min(XOFF_KBYTES, sizes[tight])
    families = {model.family.name: model.family for model in models}
    pools = [
        (sum(_headrooms(model.hardware)), limits.high)
        for model in models
        if (limits := model.family.headroom_pool_kbytes)
    ]
    return {
        "xoff_kbytes": xoff,
        "xon_kbytes": xoff - XON_GAP_KBYTES,
        "xoff_reason": "assumed, as HEPS has it"
        if xoff == XOFF_KBYTES
        else f"fits the buffer of {tight} with every port lossless",
        "pool_kbytes": min(max(pools)[0], *(high for _, high in pools)) if pools else None,
        "deadlock_ms": DEADLOCK_MS,
        "deadlock_time": DEADLOCK_TIME,
        "counting": [str(name) for name, family in families.items() if _counts(family)],
    }


def _fitting_xoff(hardware: Hardware) -> int | None:
    """Largest xoff, kbytes, with which all ports and their headroom fit; None: buffer unknown."""
    if hardware.buffer_kbytes is None:
        return None
    share = hardware.buffer_kbytes.value // len(hardware.port_names())
    share -= max(_headrooms(hardware), default=0)
    return max(share // XOFF_STEP_KBYTES, 2) * XOFF_STEP_KBYTES


def _headrooms(hardware: Hardware) -> list[int]:
    """Headroom of each port over the longest cable, kbytes, by the formula of rule BUF001."""
    return [
        kbytes(headroom_bytes(JUMBO_FRAME_BYTES, JUMBO_FRAME_BYTES, speed, FABRIC_M))
        for speed in map(hardware.speed_gbps, hardware.port_names())
        if speed in RESPONSE_QUANTA
    ]


def _counts(family: Family) -> bool:
    """Whether a family needs multiples, because its unit is unknown."""
    return family.deadlock_detect_time is not None and family.deadlock_interval_ms is None


def _members(size: Size, capacity: Capacity, leaf: Hardware) -> dict[str, object]:
    ports = _server_ports(leaf)[: size.servers_per_leaf]
    leaves = _numbered("leaf", size.leaves, capacity.leaves)
    return {
        "spines": _numbered("spine", size.spines, capacity.spines),
        "leaves": leaves,
        "servers": [
            {"name": f"{leaf['name']}-s{number:02}", "leaf": leaf["name"], "port": port}
            for leaf in leaves
            for number, port in enumerate(ports, 1)
        ],
    }


def _numbered(word: str, count: int, capacity: int) -> list[dict[str, object]]:
    """Switches with ids from 1; their numbers have the width of the capacity, so names sort."""
    width = max(len(str(capacity)), 2)
    return [{"id": number, "name": f"{word}{number:0{width}}"} for number in range(1, count + 1)]


def _word(text: str) -> str:
    """Return a name as YAML text, in quotes if YAML would read a number or a boolean."""
    plain = text[0].isalpha() and text.lower() not in {"true", "false", "null"}
    return text if plain else json.dumps(text)


@cache
def _template() -> Template:
    environment = text_templates(TEMPLATES / "fabric")
    environment.filters["word"] = _word  # for input of users
    return environment.get_template("new.yaml.j2")
