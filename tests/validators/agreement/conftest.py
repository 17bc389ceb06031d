"""Fabrics on which both engines must agree: named ones, and generated ones from a seed.

Each is derived from intent, rendered, edited in its text to have a fault, and parsed again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from ipaddress import IPv4Interface, IPv4Network
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rocefort.design.derive.derive import derive
from rocefort.dialects.data import sources_of
from rocefort.dialects.network_text import render_all
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.models.network.network import Network, Position, Sources
from rocefort.validators.routing.external_peers import with_outside

RECORDED = Path(__file__).parents[2] / "recorded"
Intent = dict[str, Any]
Texts = dict[str, str]
Edits = Sequence[tuple[str, str, str]]  # device, pattern, replacement

SEGMENTS = {"compute": 120, "storage": 130, "beamline": 110}
LEAF = {"hardware": "CE8851-32CQ8DQ-P", "software": "V300R023C00"}
LEAVES = (LEAF, LEAF, {"hardware": "CE8850-64CQ-EI", "software": "V200R022C00"})
SPINE = {"hardware": "CE9860-4C-EI", "software": "V200R022C00"}


@dataclass(frozen=True)
class Case:
    """A fabric as both engines get it, its texts, and what was done to them."""

    name: str
    network: Network
    sources: Sources = field(default_factory=Sources)
    texts: Texts = field(default_factory=dict)
    spoilt: tuple[str, ...] = ()

    def crossed(self) -> Case:
        """The same with the first two cables crossed."""
        return replace(self, network=crossed(self.network, 0, 1)[0])


# --- intent ---


def base(spines: int = 2, leaves: int = 3, **changes: object) -> Intent:
    """The least intent of a fabric, with one server of one segment on each leaf."""
    numbers = range(1, leaves + 1)
    intent: Intent = {
        "fabric": "agreement",
        "capacity": {"spines": 4, "leaves": 16, "links_per_pair": 2},
        "pools": {
            "spine_loopbacks": "10.0.0.0/26",
            "leaf_loopbacks": "10.0.1.0/24",
            "links": "10.1.0.0/23",
        },
        "routing": {"spine_asn": 65000, "leaf_asn_base": 65100, "maximum_paths": 32},
        "mtu": 9000,
        "cables": {"fabric_m": 50, "server_m": 5},
        "lossless": "heps-like",
        "segments": [
            *(
                {"name": name, "role": name, "vlan": vlan, "prefix": f"10.{vlan}.0.0/16"}
                for name, vlan in SEGMENTS.items()
            ),
            {"name": "management", "role": "management", "prefix": "10.255.0.0/24"},
        ],
        "spines": [{"id": n, "name": f"spine{n:02}", **SPINE} for n in range(1, spines + 1)],
        "leaves": [
            {"id": n, "name": f"leaf{n:02}", **LEAF, "segments": ["compute"]} for n in numbers
        ],
        "servers": [server(n, 1, "compute") for n in numbers],
        "security": {"users": [{"name": "netops", "level": 3}]},
        "services": {"ntp": ["10.255.0.250"]},
        "rdma": {"line_rate_fraction": 0.92, "latency_us": 3.72, "latency_tolerance": 0.25},
        "rollout": {"canary": "leaf01"},
    }
    return intent | changes


def server(leaf: int, number: int, segment: str, **at: object) -> Intent:
    """Server of a leaf; by default on the port with its number."""
    names = {"name": f"s{leaf}-{number}", "leaf": f"leaf{leaf:02}", "segment": segment}
    return names | (at or {"port": f"100GE1/0/{number}"})


def drawn_intent(random: Random) -> Intent:
    """An intent with every option that decides where packets go left to chance."""
    intent = base(random.randint(1, 4), random.randint(1, 6))
    intent["links_per_pair"] = random.randint(1, 2)
    intent["pools"]["link_prefix_length"] = random.choice((31, 31, 30))
    intent["routing"]["maximum_paths"] = random.choice((32, 32, 8, 2))
    if intent["pools"]["link_prefix_length"] == 30:
        intent["pools"]["links"] = "10.1.0.0/22"
    if random.random() < 0.4:
        intent["routing"]["spine_asns"] = "each"
    for leaf in intent["leaves"]:
        leaf.update(random.choice(LEAVES))
        leaf["segments"] = random.sample(sorted(SEGMENTS), random.randint(1, 2))
        if random.random() < 0.2:
            leaf["links_per_pair"] = random.randint(1, 2)
    intent["servers"] = [one for leaf in intent["leaves"] for one in drawn_servers(random, leaf)]
    if random.random() < 0.5:
        intent["management"] = {"vrf": "MGMT", "gateway": "10.255.0.254"}
    if random.random() < 0.4:
        intent["security"]["policy"] = drawn_policy(random)
    for number in range(1, random.choice((0, 0, 1, 2)) + 1):
        leaf = random.choice(intent["leaves"])
        leaf.setdefault("exits", []).append(drawn_exit(random, number))
    return intent


def drawn_servers(random: Random, leaf: Intent) -> Iterator[Intent]:
    """Up to two servers of a leaf: on a port, on a part of a split port, or bonded."""
    for port in range(1, random.choice((0, 1, 1, 2)) + 1):
        segment, way = random.choice(leaf["segments"]), random.random()
        ports = [f"100GE1/0/{port}", f"100GE1/0/{port + 4}"]
        if way < 0.25:
            mode = random.choice(("lacp-static", "lacp-dynamic", "manual"))
            bond = {"ports": ports, "mode": mode}
            yield server(leaf["id"], port, segment, bond=bond)
        elif way < 0.45 and leaf["hardware"] == LEAF["hardware"]:
            leaf.setdefault("breakout", {})[ports[0]] = "4*25GE"
            yield server(leaf["id"], port, segment, port=f"{ports[0]}:2")
        else:
            yield server(leaf["id"], port, segment)


def drawn_policy(random: Random) -> Intent:
    """Segment policy with one to three entries."""
    entries = []
    for number in range(1, random.randint(1, 3) + 1):
        source, destination = (random.choice(sorted(SEGMENTS)) for _ in range(2))
        entry: Intent = {
            "id": number,
            "action": random.choice(("allow", "allow", "deny")),
            "source": [source],
            "destination": [destination],
        }
        entry |= random.choice(
            ({}, {"protocol": "rdma"}, {"protocol": "icmp"}, {"protocol": "tcp", "ports": [2049]})
        )
        entries.append(entry)
    return {"default": random.choice(("allow", "deny")), "entries": entries}


def drawn_exit(random: Random, number: int) -> Intent:
    """A way out of the fabric by BGP."""
    low = 4 * number
    return {
        "id": number,
        "name": f"wan{number}",
        "port": f"100GE1/0/{10 + number}",
        "address": f"192.0.2.{low + 1}/30",
        "peer": f"192.0.2.{low + 2}",
        "asn": 64900 + random.choice((0, number)),
        "default": random.choice(("accept", "none")),
        "accepts": [{"id": 1, "prefix": "172.16.0.0/12", "longest": 24}],
        "announces": random.sample(sorted(SEGMENTS), random.randint(1, 2)),
    }


# --- what spoils a text ---

Replacement = str | Callable[[re.Match[str], Random, Texts], str]


@dataclass(frozen=True)
class Spoil:
    """Lines that match are replaced; which of them, if there are several, is left to chance."""

    what: str
    pattern: str
    replacement: Replacement
    fits: Callable[[re.Match[str]], object] = bool  # which matches it is for; a match is true


def other_of(pattern: str) -> Replacement:
    """Put in the place of a match another one of all the fabric's texts."""

    def replaced(match: re.Match[str], random: Random, texts: Texts) -> str:
        found = {m[0] for text in texts.values() for m in re.finditer(pattern, text, re.MULTILINE)}
        return random.choice(sorted(found))

    return replaced


def a_network(random: Random, texts: Texts) -> IPv4Network:
    """One that some switch of the fabric announces."""
    every = "\n".join(texts[name] for name in sorted(texts))
    found = re.findall(r"^  network (\S+) (255\.255\.255\.\d+)$", every, re.MULTILINE)
    return IPv4Network("/".join(random.choice(found or [("0.0.0.0", "0")])))


def hijack(match: re.Match[str], random: Random, texts: Texts) -> str:
    """Announce another device's network from a black hole; the match ends before `aaa`."""
    stolen = a_network(random, texts)
    route = f"{stolen.network_address} {stolen.netmask}"
    return f"  network {route}\n{match[0]}ip route-static {route} NULL0\n#\n"


def static(end: str) -> Replacement:
    """A static route to a network of the fabric, or a half of it, before the match."""

    def replaced(match: re.Match[str], random: Random, texts: Texts) -> str:
        chosen = a_network(random, texts)
        if chosen.prefixlen < 32 and random.random() < 0.5:
            chosen = next(chosen.subnets(1))
        peers = re.findall(r"^ peer (\d\S+) as-number", match.string, re.MULTILINE) or ["10.1.0.0"]
        hop = end or random.choice(peers)
        return f"ip route-static {chosen.network_address} {chosen.netmask} {hop}\n#\n{match[0]}"

    return replaced


def other_masks(match: re.Match[str]) -> list[str]:
    """Masks of one end of a link with which Batfish still follows it, or neither engine does."""
    own = IPv4Interface(match[0].replace(" ", "/"))
    others = [IPv4Interface((own.ip, length)) for length in (24, 29, 30, 31)]
    return [
        other.with_netmask.replace("/", " ")
        for other in others
        if other.network.prefixlen > own.network.prefixlen
        or (other != own and other.network[0] == own.network[0])
    ]


def wrong_mask(match: re.Match[str], random: Random, _texts: Texts) -> str:
    """Give one end of a link another mask."""
    return random.choice(other_masks(match))


LOOPBACK = r"(?<=interface LoopBack0\n ip address )\S+"
PEER = (  # all lines of a peer in both views, and what is between them
    r"^ peer (\d\S+) as-number \d+\n(?: peer \1 .*\n)*"
    r"((?s:.*?))^  peer \1 enable\n(?:  peer \1 .*\n)*"
)
MASK = Spoil("wrong mask", r"(?<=^ ip address )10\.1\.\d+\.\d+ \S+$", wrong_mask, other_masks)
MASKED = 31  # from this seed on a fabric has a wrong mask, beside what is left to chance
SPOILS = (
    Spoil("shut port", r"^interface (?!MEth)\S+\n", lambda m, _r, _t: f"{m[0]} shutdown\n"),
    Spoil("removed network line", r"^  network \S+ \S+\n", ""),
    Spoil("changed AS", r"(?<=^bgp )\d+", "64777"),
    Spoil("AS of another switch", r"(?<=^bgp )\d+", other_of(r"(?<=^bgp )\d+")),
    Spoil("changed AS of a peer", r"(?<=as-number )\d+", "64777"),
    Spoil("disabled peer", r"^  peer (\d\S+) enable\n(?:  peer \1 .*\n)*", ""),
    Spoil("removed peer", PEER, r"\2"),
    Spoil("denied prefix", r"(?<=index )(\d+) permit", r"\1 deny"),
    Spoil("removed export policy", r"^  peer \S+ route-policy \S+ export\n", ""),
    Spoil("removed import policy", r"^  peer \S+ route-policy \S+ import\n", ""),
    Spoil("removed as-path-relax", r"^  load-balancing as-path-relax\n", ""),
    Spoil(
        "added as-path-relax",
        r"^  maximum load-balancing .*\n",
        r"\g<0>  load-balancing as-path-relax\n",
    ),
    Spoil("removed load balancing", r"^  maximum load-balancing .*\n", ""),
    Spoil("few paths", r"(?<=maximum load-balancing )\d+", "2"),
    Spoil("other address", r"(?<=^ ip address 10\.1\.)\d+\.\d+ ", "9.77 "),
    MASK,
    Spoil("switched port", r"^ undo portswitch\n", ""),
    Spoil("removed VLANs", r"^vlan batch .*\n", ""),
    Spoil("other VLAN", r"(?<=port default vlan )\d+", "999"),
    Spoil("black hole", r"^aaa$", static("NULL0")),
    Spoil("static route", r"^aaa$", static("")),
    Spoil("other loopback", LOOPBACK, other_of(LOOPBACK)),
    Spoil("other router id", r"(?<=^ router-id )\S+", other_of(r"(?<=^ router-id )\S+")),
    Spoil("denied by the ACL", r"(?<=^ rule )(\d+) permit", r"\1 deny"),
    Spoil("removed filter", r"^ traffic-policy \S+ inbound\n", ""),
    Spoil("other gateway", r"^( ip address 10\.1[123]0\.\d+)\.1 ", r"\1.254 "),
    Spoil(
        "smaller subnet",
        r"^( ip address 10\.1[123]0\.\S+ )255\.255\.255\.0",
        r"\g<1>255.255.255.252",
    ),
    Spoil("policy without a list", r"^ if-match ip-prefix \S+\n", ""),
    Spoil("denying policy", r"^(route-policy \S+) permit", r"\1 deny"),
    Spoil("narrowed list", r"(?<= 16 greater-equal )24 less-equal 24$", "16 less-equal 20"),
    Spoil("hijack", r"^  network \S+ \S+\n(?s:.*?)(?=^aaa$)", hijack),
    Spoil("removed bond member", r"^ eth-trunk \d+\n", ""),
)


def spoil(random: Random, texts: Texts, spoils: tuple[Spoil, ...]) -> tuple[Texts, str]:
    """The texts with one fault of the table that can be made in them, and what it is."""
    for one in random.sample(spoils, len(spoils)):
        places = [
            (name, match)
            for name in sorted(texts)
            for match in re.finditer(one.pattern, texts[name], re.MULTILINE)
            if one.fits(match)
        ]
        if not places:
            continue
        name, match = random.choice(places)
        new = (
            match.expand(one.replacement)
            if isinstance(one.replacement, str)
            else one.replacement(match, random, texts)
        )
        text = texts[name]
        line = text.count("\n", 0, match.start()) + 1
        text = text[: match.start()] + new + text[match.end() :]
        return texts | {name: text}, f"{name}:{line}: {one.what}"
    raise AssertionError("no fault of the table can be made in these texts")


def crossed(network: Network, one: int, other: int) -> tuple[Network, str]:
    """The network with the far ends of two cables in each other's place, and what was done."""
    links = list(network.links or ())
    ends = links[one].b, links[other].b
    links[one] = links[one].model_copy(update={"b": ends[1]})
    links[other] = links[other].model_copy(update={"b": ends[0]})
    what = f"cables {links[one].a} and {links[other].a} crossed"
    return network.model_copy(update={"links": tuple(links)}), what


def read(network: Network, texts: Texts) -> tuple[Network, Sources]:
    """The network as its texts say it, and whence."""
    nodes, table = [], dict[str, Position]()
    for node in network.nodes:
        parsed = parse(texts[node.name], f"{node.name}.cfg")
        table |= sources_of(parsed, f"{node.name}.cfg")
        update = {"device": parsed.device, "unmodelled": parsed.unmodelled}
        nodes.append(node.model_copy(update=update))
    return with_outside(network.model_copy(update={"nodes": tuple(nodes)})), Sources(table)


def derived(intent: Intent, folder: Path) -> Network:
    """The network of an intent."""
    path = folder / "fabric.yaml"
    path.write_text(json.dumps(intent), encoding="utf-8")
    return derive(path).network


def generated(seed: int, folder: Path) -> Case:
    """The fabric of a seed: its intent, with up to three faults in its text."""
    random = Random(seed)
    whole = derived(drawn_intent(random), folder)
    texts, done = render_all(whole), []
    for spoils in [*[(MASK,)] * (seed >= MASKED), *[SPOILS] * random.randint(0, 3)]:
        texts, what = spoil(random, texts, spoils)
        done.append(what)
    network, sources = read(whole, texts)
    if random.random() < 0.15:
        number = len(network.links or ())
        network, what = crossed(network, random.randrange(number), random.randrange(number))
        done.append(what)
    name = f"generated-{seed:02}"
    return Case(name, network.model_copy(update={"name": name}), sources, texts, tuple(done))


def edited(name: str, intent: Intent, edits: Edits, folder: Path) -> Case:
    """A named fabric: its intent, and lines of its texts replaced wherever they match."""
    whole = derived(intent, folder)
    texts = render_all(whole)
    for device, pattern, replacement in edits:
        text = re.sub(pattern, replacement, texts[device], flags=re.MULTILINE)
        assert text != texts[device], f"{name}: nothing on {device} matches {pattern}"
        texts[device] = text
    network, sources = read(whole, texts)
    return Case(name, network.model_copy(update={"name": name}), sources, texts)


# --- what tests take ---


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder for intents."""
    return tmp_path_factory.mktemp("agreement")


@pytest.fixture(scope="session")
def intent() -> Callable[..., Intent]:
    """The least intent of so many spines and leaves."""
    return base


@pytest.fixture(scope="session")
def fabric(folder: Path) -> Callable[[str, Intent, Edits], Case]:
    """A named fabric of an intent, with edits of its texts."""
    return lambda name, intent, edits: edited(name, intent, edits, folder)


@pytest.fixture(scope="session")
def generate(folder: Path) -> Callable[[int], Case]:
    """The fabric of a seed, made once."""
    return cache(lambda seed: generated(seed, folder))


@pytest.fixture(scope="session")
def recording() -> Callable[[str], Path]:
    """Path of the recorded answers about a fabric."""
    return lambda name: RECORDED / ("generated" if "generated" in name else "") / f"{name}.json"


@pytest.fixture(scope="session")
def draw_intent() -> Callable[[Random], Intent]:
    """Function that draws the intent of a healthy fabric."""
    return drawn_intent
