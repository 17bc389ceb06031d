"""Laws 1, 2 and 4 on HEPS: whatever options its fabric takes, text and patches say them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from rocefort.design.derive import derive_loaded
from rocefort.design.load import Loaded, load_catalogue
from rocefort.dialects.vrp.parse import parse
from rocefort.dialects.vrp.patch import make_patch
from rocefort.dialects.vrp.texts import read_back, render_all
from rocefort.documents.read import Document, read_document
from rocefort.documents.validate import validate
from rocefort.models.fabric import Fabric
from rocefort.models.hardware import SyntaxFamily
from rocefort.models.network import Network
from rocefort.paths import INVENTORY

MeaningOf = Callable[[str, Sequence[str], SyntaxFamily], frozenset[tuple[str, ...]]]

HEPS = read_document(INVENTORY / "heps" / "fabric.yaml")
LEAVES = {
    "CE8850-64CQ-EI": "V200R022C00",
    "CE6865-48S8CQ-EI": "V200R005C00",
    "CE8851-32CQ8DQ-P": "V300R023C00",
    "CE6866-48S8CQ-P": "V300R023C00",
    "CE8855-32CQ4BQ": "V300R023C00",
}
TIMERS = st.one_of(
    st.none(),
    st.builds(
        lambda low, high: {"min_tx_ms": low, "min_rx_ms": high, "multiplier": 3},
        st.integers(3, 1000),
        st.integers(3, 1000),
    ),
)


# Times that V300 G2 counts in one interval of 10, 100, 500 or 1000 ms; others are refused.
DEADLOCK_MS = [(10, 10), (100, 310), (150, 100), (1500, 1500), (500, 10000), (10000, 10000)]
HARDWARE = st.lists(st.sampled_from(sorted(LEAVES)), min_size=8, max_size=8)  # a leaf each


@st.composite
def options(draw: st.DrawFn, hardware: list[str] | None = None) -> dict[str, Any]:
    """HEPS with other hardware, timers, thresholds, queue, MTU, links, servers and users."""
    data: dict[str, Any] = dict(HEPS.data) if isinstance(HEPS.data, dict) else {}
    routing = {**data["routing"], "bfd": draw(TIMERS)}
    routing["maximum_paths"] = draw(st.integers(1, 128))
    lossless = dict(data["lossless"])
    lossless["queue"] = draw(st.sampled_from([3, 4, 5]))
    lossless["roce_dscp"] = draw(st.integers(0, 63))
    lossless["xon_kbytes"] = draw(st.integers(1, 3000))
    lossless["xoff_kbytes"] = lossless["xon_kbytes"] + draw(st.integers(1, 3000))
    lossless["headroom_kbytes"] = draw(st.none() | st.integers(16, 30720))
    weighted = draw(st.sets(st.integers(0, 5)))
    lossless["scheduling"] = [
        {"queue": queue, "weight": draw(st.sampled_from([1, 15, 65]))} for queue in weighted
    ]
    lossless["headroom_pool_kbytes"] = draw(st.none() | st.integers(16, 2048))
    deadlock = dict(lossless["deadlock"])
    deadlock["detect_ms"], deadlock["recovery_ms"] = draw(st.sampled_from(DEADLOCK_MS))
    lossless["deadlock"] = deadlock
    leaves = [
        {**leaf, "hardware": model, "software": LEAVES[model]}
        for leaf, model in zip(data["leaves"], hardware or draw(HARDWARE), strict=True)
    ]
    data |= {
        "routing": routing,
        "lossless": lossless,
        "leaves": leaves,
        "mtu": draw(st.integers(1280, 9600)),
        "servers": draw(st.sampled_from([[], [server(leaf) for leaf in leaves]])),
        "services": draw(services()),
        "security": draw(security()),
    }
    length = draw(st.sampled_from([30, 31]))
    data["pools"] = {**data["pools"], "link_prefix_length": length, "links": "10.1.0.0/21"}
    return data


HOSTS = st.sampled_from([[], ["192.0.2.1"], ["192.0.2.7", "192.0.2.1"]])


@st.composite
def services(draw: st.DrawFn) -> dict[str, Any]:
    reader = {"authentication": "env:A", "privacy": "file:/b"}
    readers = draw(st.sets(st.sampled_from(["monitor", "probe"])))
    return {
        "ntp": draw(HOSTS),
        "syslog": draw(HOSTS),
        "netconf": draw(st.booleans()),
        "snmp": [{"name": name, **reader} for name in sorted(readers)],
    }


@st.composite
def security(draw: st.DrawFn) -> dict[str, Any]:
    networks = st.sampled_from(["10.255.0.0/24", "192.0.2.9/32", "0.0.0.0/0"])
    ids = draw(st.sets(st.integers(1, 3)))
    return {
        "users": draw(st.sampled_from([[], [{"name": "netops", "level": 2}]])),
        "management_access": [{"id": i, "prefix": draw(networks)} for i in sorted(ids)],
        "idle_timeout_min": draw(st.none() | st.integers(1, 60)),
    }


def server(leaf: dict[str, Any]) -> dict[str, Any]:
    speed = 25 if leaf["hardware"].startswith("CE68") else 100
    port = f"{speed}GE1/0/3"
    return {
        "name": f"srv-{leaf['name']}",
        "leaf": leaf["name"],
        "port": port,
        "segment": leaf["segments"][0],
        "roce": leaf["id"] % 2 == 0,
    }


def network_of(data: dict[str, Any]) -> Network:
    document = Document(HEPS.file, data, HEPS.values, HEPS.keys)
    return derive_loaded(Loaded(validate(Fabric, document), document), load_catalogue()).network


@settings(max_examples=40, deadline=None)
@given(options())
def test_parse_of_render_is_the_device_for_any_options(data: dict[str, Any]) -> None:
    network = network_of(data)
    texts = render_all(network)
    assert read_back(network, texts) == network
    for node in network.nodes:
        assert parse(texts[node.name], node.name).device == node.device


@settings(max_examples=15, deadline=None)
@given(options(), st.randoms(use_true_random=False))
def test_the_same_intent_gives_the_same_bytes_in_any_order(
    data: dict[str, Any], random: Any
) -> None:
    shuffled = dict(random.sample(sorted(data.items()), len(data)))
    for key in ("spines", "leaves", "segments", "servers"):
        shuffled[key] = random.sample(shuffled[key], len(shuffled[key]))
    assert render_all(network_of(shuffled)) == render_all(network_of(data))


UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)  # to shrink ten switches takes minutes


@settings(max_examples=6, deadline=None, phases=UNSHRUNK)
@given(data=st.data(), hardware=HARDWARE)
def test_law_4_a_patch_leads_from_any_options_to_any_others_and_back(
    meaning: MeaningOf, data: st.DataObject, hardware: list[str]
) -> None:
    """The switches stay what they are; everything else may change at once."""
    old, new = (network_of(data.draw(options(hardware))) for _ in range(2))
    before, after = render_all(old), render_all(new)
    for node in old.nodes:
        assert node.syntax is not None
        a, b, family = before[node.name], after[node.name], node.syntax
        patch = make_patch(a, b, family)
        assert meaning(a, patch.commands, family) == meaning(b, (), family)
        assert meaning(b, patch.reverse, family) == meaning(a, (), family)
