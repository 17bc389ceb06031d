"""Random valid fabrics for the laws of VRP text: any size and hardware, each option on or off."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from itertools import count
from typing import Any

import pytest
from hypothesis import strategies as st

from rocefort.base.documents.read import Document
from rocefort.base.documents.validate import validate
from rocefort.design.derive.derive import derive_loaded
from rocefort.design.load.documents import LoadedFabric
from rocefort.design.load.hardware_catalogue import load_catalogue
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.hardware.hardware import Hardware
from rocefort.models.hardware.media import part_speed_gbps, parts_of
from rocefort.models.network.network import Network

Data = dict[str, Any]
CATALOGUE = load_catalogue()
MODULAR = ("CE12800E", "CE9860-4C-EI")  # all their ports are kept for the other role
MODELS = (*sorted({*CATALOGUE.hardware} - {*MODULAR}), *MODULAR)
LEAVES = (*MODELS[: -len(MODULAR)], *MODELS)  # so that most leaves have ports for servers
MOST_SPINES, MOST_LEAVES = 8, 16
RELEASES = {"V200": "V200R022C00", "V300": "V300R023C00"}
SPEEDS = (25, 50, 100, 200, 400)
SEGMENTS = ("beamline", "compute", "storage")
OUTSIDE_ASN = 64999


@dataclass(frozen=True)
class Switches:
    """Common part of a pair of fabrics: their switches."""

    spines: tuple[Data, ...]
    leaves: tuple[Data, ...]
    links_per_pair: int
    split: str | None  # how every fabric port of every switch is split

    @property
    def speed(self) -> int:
        return part_speed_gbps(self.split) if self.split else 100


def hardware_of(switch: Data) -> Hardware:
    """Hardware with the fabric ports that its model has in every role."""
    return CATALOGUE.hardware[switch["hardware"]].in_role(spine=False)


def some(draw: st.DrawFn, values: Sequence[Any], most: int | None = None) -> list[Any]:
    """Any of the values, each at most once, in any order."""
    one = st.sampled_from(values) if values else st.nothing()
    return draw(st.lists(one, unique_by=str, max_size=most if values else 0))


def given_or_not(draw: st.DrawFn, **options: st.SearchStrategy[Any]) -> Data:
    """Each key with a drawn value, or not there at all."""
    return {key: draw(values) for key, values in options.items() if draw(st.booleans())}


# -- which switches ---------------------------------------------------------------------------------


@st.composite
def switches(draw: st.DrawFn, spines: int = MOST_SPINES, leaves: int = MOST_LEAVES) -> Switches:
    """Spines and leaves, up to so many, of every model that has the ports."""
    each = draw(st.integers(1, 2))
    most = {"spines": spines, "leaves": leaves}
    counts = {role: draw(st.integers(1, number)) for role, number in most.items()}
    if each == 2:
        counts["spines"] = min(counts["spines"], 4)  # a leaf has eight fabric ports
    ids = {
        role: draw(st.permutations(range(1, MOST_SPINES // each + 1 if role == "spines" else 17)))
        for role in most
    }
    small = counts["leaves"] * each <= 8 and draw(st.booleans())
    if small:
        ids["leaves"] = [number for number in ids["leaves"] if number <= 8 // each]
    rows = {
        "spines": _rows(
            draw, "spine", ids["spines"][: counts["spines"]], MODELS if small else MODULAR
        ),
        "leaves": _rows(draw, "leaf", ids["leaves"][: counts["leaves"]], LEAVES),
    }
    splittable = all(
        hardware_of(row).splits_of(hardware_of(row).fabric_port_names()[0])
        for group in rows.values()
        for row in group
    )
    split = draw(st.sampled_from([None, "4*25GE", "2*50GE"])) if splittable else None
    return Switches(tuple(rows["spines"]), tuple(rows["leaves"]), each, split)


def _rows(draw: st.DrawFn, word: str, ids: Sequence[int], models: Sequence[str]) -> list[Data]:
    pattern = draw(st.sampled_from([f"{word}{{:02}}", f"row1-{word}{{}}", f"{{}}.{word[0]}"]))
    rows = []
    for number in ids:
        model = draw(st.sampled_from(models))
        release = RELEASES[CATALOGUE.hardware[model].releases[0].prefix]
        row = {"id": number, "name": pattern.format(number)}
        rows.append({**row, "hardware": model, "software": release})
    return rows


# -- settings of the switches
# -----------------------------------------------------------------------

PASSWORDS = st.sampled_from(
    [{"password": "env:BGP"}, {"password": "env:BGP", "version": 2}, {"password": "file:/k/bgp"}]
)
BFDS = st.fixed_dictionaries(
    {}, optional={"min_tx_ms": st.integers(3, 1000), "multiplier": st.integers(3, 50)}
)
# Times that V300 G1 takes, and that V300 G2 counts in one interval of 10, 100, 500 or 1000 ms.
DEADLOCK_MS = st.sampled_from([(10, 10), (100, 310), (150, 100), (1500, 1500), (1000, 500)])
HOSTS = ("192.0.2.1", "192.0.2.7", "198.51.100.9")
SHIPPED_ECN = ("ai-ecn-hpc", "ai-ecn-distributed-storage", "ai-ecn-centralized-storage")
POOLS = {"spine_loopbacks": "10.0.0.0/26", "leaf_loopbacks": "10.0.1.0/24", "links": "10.1.0.0/20"}
MANAGEMENT = st.fixed_dictionaries(
    {}, optional={"vrf": st.sampled_from(["MGMT", "oob"]), "gateway": st.just("10.255.0.254")}
)
WORDS = st.sampled_from(["rack 7: row b", "to/from", "x"])


@st.composite
def fabrics(draw: st.DrawFn, made_of: Switches | None = None) -> Data:
    """A fabric of the given switches, or of any, as its author's YAML is read."""
    own = draw(switches()) if made_of is None else made_of
    segments = draw(_segments())
    names = [row["name"] for row in segments]
    data: Data = {
        "fabric": "random",
        "capacity": _capacity(own),
        "pools": POOLS | {"link_prefix_length": draw(st.sampled_from([30, 31]))},
        "routing": draw(_routing()),
        "mtu": draw(st.integers(1280, 9600)),
        "cables": {"fabric_m": 50, "server_m": 5},
        "lossless": draw(st.sampled_from(["own", "own", "heps-like"])),
        "profiles": {"lossless": {"own": draw(_lossless())}, "ecn": {"fixed": draw(_thresholds())}},
        "segments": [*segments, {"name": "oob", "role": "management", "prefix": "10.255.0.0/24"}],
        "spines": [draw(_switch(row, own.split)) for row in own.spines],
        "leaves": [draw(_leaf(row, own, segments)) for row in own.leaves],
        "security": draw(_security(names)),
        "services": draw(_services()),
        "rdma": {"line_rate_fraction": 0.9, "latency_us": 5, "latency_tolerance": 0.5},
        "rollout": {"canary": own.leaves[0]["name"]},
    }
    data |= given_or_not(
        draw,
        congestion_control=st.sampled_from(["connectx-dcqcn", "pfc-only"]),
        management=MANAGEMENT,
        links_per_pair=st.integers(1, own.links_per_pair),
    )
    data["cables"] |= given_or_not(draw, fabric=_cable(own.speed, bare=own.split is not None))
    data["links"] = draw(_links(own))
    data["servers"] = _beside_leaves(draw, data["leaves"], names)
    return data


def _capacity(own: Switches) -> Data:
    """As few leaves as the smallest spine has ports for."""
    ports = min(len(hardware_of(row).fabric_port_names()) for row in own.spines)
    leaves = min(MOST_LEAVES, ports // own.links_per_pair)
    spines = MOST_SPINES // own.links_per_pair
    return {"spines": spines, "leaves": leaves, "links_per_pair": own.links_per_pair}


@st.composite
def _routing(draw: st.DrawFn) -> Data:
    plan = draw(
        st.sampled_from(
            [(65000, 65100), (64512, 64600), (4200000000, 4200000100), (100, 200), (70000, 65100)]
        )
    )
    return {
        "spine_asn": plan[0],
        "leaf_asn_base": plan[1],
        "maximum_paths": draw(st.integers(16, 128)),
    } | given_or_not(
        draw,
        spine_asns=st.sampled_from(["shared", "each"]),
        keepalive_s=st.just(20),
        hold_s=st.just(60),
        bfd=BFDS,
        authentication=PASSWORDS,
    )


@st.composite
def _lossless(draw: st.DrawFn) -> Data:
    xon, above = draw(st.integers(1, 3000)), draw(st.integers(1, 3000))
    detect, recovery = draw(DEADLOCK_MS)
    counted = {
        "detect_time": 8,
        "recovery_time": draw(st.integers(0, 31)),
        "reason": "as it counts",
    }
    cnp = draw(st.sampled_from([0, 6, 7]))
    weights = st.sampled_from([1, 15, 65])
    roce_dscp, cnp_dscp = draw(st.lists(st.integers(0, 63), min_size=2, max_size=2, unique=True))
    own: Data = {
        "queue": draw(st.integers(1, 5)),
        "roce_dscp": roce_dscp,
        "cnp_dscp": cnp_dscp,
        "cnp_queue": cnp,
        "xon_kbytes": xon,
        "xoff_kbytes": xon + above,
        "deadlock": {"detect_ms": detect, "recovery_ms": recovery, "by_family": {"v200": counted}},
        "ecn": draw(st.sampled_from([*SHIPPED_ECN, "fixed", "fixed"])),
    }
    queues = [queue for queue in some(draw, range(8)) if queue != cnp]
    own["scheduling"] = [{"queue": queue, "weight": draw(weights)} for queue in queues]
    return own | given_or_not(
        draw,
        domain=st.sampled_from(["lossless", "default"]),
        headroom_kbytes=st.integers(16, 30720),
        headroom_pool_kbytes=st.integers(16, 2048),
    )


@st.composite
def _thresholds(draw: st.DrawFn) -> Data:
    """ECN profile with thresholds for every speed that a port may have."""
    rows = {}
    for speed in SPEEDS:
        low = draw(st.integers(1, 500))
        rows[str(speed)] = {
            "kmin_kbytes": low,
            "kmax_kbytes": low + draw(st.integers(1, 2000)),
            "pmax_percent": draw(st.integers(1, 100)),
        }
    return {"kind": "static", "source": "drawn", "thresholds": rows}


@st.composite
def _segments(draw: st.DrawFn) -> list[Data]:
    """One to three segments with a VLAN, each a part large enough for every port of a leaf."""
    rows = []
    for number, name in enumerate(
        draw(st.lists(st.sampled_from(SEGMENTS), min_size=1, unique=True))
    ):
        vlan = draw(st.integers(2, 1000)) + 1000 * number
        prefix = f"10.{64 + number}.0.0/16"
        rows.append({"name": name, "role": name, "vlan": vlan, "prefix": prefix})
        rows[-1]["leaf_prefix_length"] = draw(st.sampled_from([20, 21, 22]))
    return rows


@st.composite
def _switch(draw: st.DrawFn, row: Data, split: str | None) -> Data:
    pins = given_or_not(
        draw,
        asn=st.just(4210000000 + row["id"] + (500 if "segments" in row else 0)),
        loopback=st.just(f"192.168.{'7' if 'segments' in row else '8'}.{row['id']}"),
        management=st.just(f"10.255.0.{(100 if 'segments' in row else 200) + row['id']}"),
    )
    breakout = dict.fromkeys(hardware_of(row).fabric_ports, split) if split else {}
    return {**row, "breakout": breakout} | ({"pins": pins, "rack": "row1"} if pins else {})


@st.composite
def _leaf(draw: st.DrawFn, row: Data, own: Switches, segments: list[Data]) -> Data:
    served = some(draw, segments)
    leaf: Data = draw(_switch({**row, "segments": [one["name"] for one in served]}, own.split))
    if draw(st.booleans()) and served:
        leaf["pins"] = {
            **leaf.get("pins", {}),
            "gateways": {served[0]["name"]: _last(row, served[0])},
        }
    return leaf | given_or_not(draw, links_per_pair=st.integers(1, own.links_per_pair))


def _last(leaf: Data, segment: Data) -> str:
    """The last address of a leaf's part of a segment, as a gateway."""
    length = segment["leaf_prefix_length"]
    parts = list(IPv4Network(segment["prefix"]).subnets(new_prefix=length))
    return f"{parts[leaf['id'] - 1][-2]}/{length}"


@st.composite
def _cable(draw: st.DrawFn, speed: int, *, bare: bool = False) -> Data:
    """A cable that ports of a speed can use; bare: a part of a port may have no BASE-R FEC."""
    kind: Data = {"medium": draw(st.sampled_from(["dac", "aoc", "sr4", "lr4", "dr"]))}
    fecs = ["rs", "none", *(["base-r"] if speed in (25, 50) and not bare else [])]
    setting = draw(st.sampled_from(["nothing", "fec", "autonegotiation"]))
    if setting == "fec" and speed <= 100:
        kind["fec"] = draw(st.sampled_from(fecs))
    elif setting == "autonegotiation":
        kind["autonegotiation"] = draw(
            st.sampled_from(["on", "off"] if kind["medium"] == "dac" else ["off"])
        )
    return kind


@st.composite
def _links(draw: st.DrawFn, own: Switches) -> list[Data]:
    """Some first links with a subnet, a cable or a password of their own."""
    pairs = [(spine["name"], leaf["name"]) for spine in own.spines for leaf in own.leaves]
    rows = []
    for index, (spine, leaf) in enumerate(some(draw, pairs, most=3)):
        rows.append({"spine": spine, "leaf": leaf} | given_or_not(
            draw,
            subnet=st.just(f"172.31.{index}.4/{draw(st.sampled_from([30, 31]))}"),
            cable_m=st.just(120),
            cable=_cable(own.speed, bare=own.split is not None),
            authentication=st.just({"password": "env:OWN"}),
        ))  # fmt: skip
    return rows


# -- what is on the ports of leaves ------------------------------------------------------------------


@dataclass(frozen=True)
class Port:
    """A free port of a leaf, or a part of one, and its speed in Gb/s."""

    name: str
    speed: int


def _beside_leaves(draw: st.DrawFn, leaves: list[Data], segments: list[str]) -> list[Data]:
    """Servers on free ports; leaves get the splits of those ports, and their exits, by the way."""
    servers: list[Data] = []
    exits = count(1)
    for leaf in leaves:
        free = iter(draw(_free_ports(leaf)))
        servers += _servers(draw, leaf, free)
        leaf["exits"] = [
            draw(_exit(next(exits), port, segments)) for port in some(draw, list(free), 2)
        ]
    return servers


@st.composite
def _free_ports(draw: st.DrawFn, leaf: Data) -> list[Port]:
    """Ports of every speed that the leaf has beside those kept for spines, some of them split."""
    hardware = hardware_of(leaf)
    reserved = set(hardware.fabric_port_names())
    whole = [name for name in hardware.port_names() if name not in reserved]
    free = []
    for name in [*whole[:4], *whole[-2:]]:
        ways = hardware.splits_of(name)
        split = draw(st.sampled_from([None, *ways])) if ways else None
        if split:
            leaf["breakout"][name] = split
            free += [Port(part, part_speed_gbps(split)) for part in parts_of(name, split)]
        else:
            free.append(Port(name, hardware.speed_gbps(name) or 0))
    return free


def _servers(draw: st.DrawFn, leaf: Data, free: Iterator[Port]) -> list[Data]:
    rows: list[Data] = []
    for number in range(draw(st.integers(0, 3)) if leaf["segments"] else 0):
        first = next(free, None)
        if first is None:
            break
        row: Data = {"name": f"{leaf['name']}-s{number}", "leaf": leaf["name"]}
        row["segment"] = draw(st.sampled_from(leaf["segments"]))
        second = next(free, None)
        if draw(st.booleans()) and second is not None and second.speed == first.speed:
            row["bond"] = draw(_bond([first.name, second.name], 500 + number))
        else:
            row["port"] = first.name
        rows.append(row | given_or_not(
            draw,
            description=WORDS,
            roce=st.booleans(),
            nic=st.just("connectx-dscp34"),
            cable_m=st.just(7),
            cable=_cable(first.speed, bare=":" in first.name),
            speed_gbps=st.just(first.speed),
        ))  # fmt: skip
    return rows


@st.composite
def _bond(draw: st.DrawFn, ports: list[str], number: int) -> Data:
    mode = draw(st.sampled_from(["lacp-static", "lacp-dynamic", "manual"]))
    bond = {"ports": draw(st.permutations(ports)), "mode": mode}
    if mode == "lacp-static":
        bond |= given_or_not(draw, timeout=st.sampled_from(["fast", "slow"]))
    return bond | given_or_not(draw, minimum_links=st.integers(1, 2), id=st.just(number))


@st.composite
def _exit(draw: st.DrawFn, number: int, port: Port, segments: list[str]) -> Data:
    base = number * 4
    row: Data = {"id": number, "name": f"wan{number}", "port": port.name}
    row |= {"address": f"192.0.2.{base + 1}/30", "peer": f"192.0.2.{base + 2}"}
    row |= given_or_not(
        draw,
        description=WORDS,
        mtu=st.integers(1280, 9600),
        lossless=st.booleans(),
        cable_m=st.just(30),
        cable=_cable(port.speed, bare=":" in port.name),
    )
    if draw(st.booleans()):
        return row | {"default": "static"}
    accepted = {"id": 3, "prefix": "172.20.0.0/16"}
    return row | {"asn": OUTSIDE_ASN} | given_or_not(
        draw,
        default=st.sampled_from(["accept", "static", "none"]),
        accepts=st.sampled_from([[accepted], [{**accepted, "longest": 24}, {"id": 1, "prefix": "172.21.0.0/16"}]]),
        announces=st.just(some(draw, segments)),
        bfd=BFDS,
        authentication=PASSWORDS,
    )  # fmt: skip


# -- who may, and what they use ----------------------------------------------------------------------


@st.composite
def _security(draw: st.DrawFn, segments: list[str]) -> Data:
    grants = [
        {"task_group": "ifm", "rights": ["read"]},
        {"task_group": "qos", "rights": ["debug", "read-write"]},
    ]
    names = some(draw, ["AUDIT", "beam"])
    rows = [
        {"name": name, "grants": draw(st.permutations(grants))[: draw(st.integers(1, 2))]}
        for name in names
    ]
    rights = st.sampled_from(
        [
            {"level": 0},
            {"level": 1},
            {"level": 3},
            *({"role": name} for name in [*names, "monitor-ug"]),
        ]
    )
    networks = st.sampled_from(["10.255.0.0/24", "192.0.2.9/32", "0.0.0.0/0"])
    return {
        "roles": rows,
        "users": [{"name": name, **draw(rights)} for name in some(draw, ["netops", "reader", "x"])],
        "management_access": [{"id": i, "prefix": draw(networks)} for i in some(draw, [1, 2, 7])],
    } | given_or_not(draw, policy=_policy(segments), idle_timeout_min=st.integers(1, 35791))


@st.composite
def _policy(draw: st.DrawFn, segments: list[str]) -> Data:
    services = [("any", []), ("rdma", []), ("icmp", []), ("tcp", [22]), ("udp", [5000, 5010])]
    sides = st.lists(st.sampled_from(segments), min_size=1, unique=True)
    entries = []
    for number in draw(st.lists(st.integers(1, 9999), max_size=3, unique=True)):
        protocol, ports = draw(st.sampled_from(services))
        entry = {"id": number, "protocol": protocol, "ports": ports}
        entry |= {"action": draw(st.sampled_from(["allow", "deny"]))}
        entries.append(entry | {"source": draw(sides), "destination": draw(sides)})
    return {"default": draw(st.sampled_from(["allow", "deny"])), "entries": entries}


@st.composite
def _services(draw: st.DrawFn) -> Data:
    keys = {"authentication": "env:A", "privacy": "file:/b"}
    paths = ["huawei-ifm:ifm/interfaces", "huawei-qos:qos/global"]
    subscriptions = []
    for name in some(draw, ["ports", "queues"]):
        collectors = [{"address": host, "port": 57400} for host in some(draw, HOSTS)]
        row = {"name": name, "paths": draw(st.permutations(paths)), "collectors": collectors}
        row["interval_ms"] = draw(st.sampled_from([100, 10000]))
        if collectors:
            collectors[0] |= given_or_not(draw, tls=st.booleans())
            subscriptions.append(row)
    return {
        "ntp": some(draw, HOSTS),
        "syslog": some(draw, HOSTS),
        "snmp": [{"name": name, **keys} for name in some(draw, ["monitor", "probe"])],
        "telemetry": subscriptions,
    } | given_or_not(draw, netconf=st.booleans())


def _network(data: Data) -> Network:
    document = Document("fabric.yaml", data, {}, {})
    return derive_loaded(LoadedFabric(validate(Fabric, document), document), CATALOGUE).network


@pytest.fixture(scope="session")
def network_of() -> Callable[[Data], Network]:
    """Derive the Network of a fabric's data, as of a file."""
    return _network


@pytest.fixture(scope="session")
def random_fabrics() -> Callable[..., st.SearchStrategy[Data]]:
    """Fabrics of any switches, or of the switches given."""
    return fabrics


@pytest.fixture(scope="session")
def random_switch_sets() -> Callable[..., st.SearchStrategy[Switches]]:
    """Switches of a fabric: spines, leaves at most."""
    return switches
